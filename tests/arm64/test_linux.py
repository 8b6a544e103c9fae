"""Programs of Linux in lanes do what they do under qemu-aarch64: the same output, the same exit code or signal."""

import os
import time

import numpy as np
import pytest

from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.linux import run_linux, serving
from lanewise.errors import ArgumentError, OutOfMemoryError

TEXT = b"".join(b"line %d has some words\n" % (number * number) for number in range(300)) + b"no end of line"


def outcome(program, argv, **more):
    """What a program does here."""
    found = run_linux(program, argv=argv, timeout=60, **more)[0]
    assert not found.unknown_calls
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize("name", ["bare", "hello"])
@pytest.mark.parametrize("arguments", [[], ["one", "two words", ""], ["x" * 5000] * 3])
def test_arguments(build, qemu, name, arguments):
    program, env = build(name), {"NAME": "me", "EMPTY": ""}
    argv = [f"./{name}", *arguments]
    assert outcome(program, argv, env=env) == qemu(program, argv, env=env)


def test_static_pie(build, qemu):
    program = build("hello", "-static-pie")
    assert outcome(program, ["pie", "x"]) == qemu(program, ["pie", "x"])


@pytest.mark.parametrize("stdin", [b"", b"\n", TEXT])
def test_standard_input(build, qemu, stdin):
    program = build("lines")
    assert outcome(program, ["lines"], stdin=stdin) == qemu(program, ["lines"], stdin=stdin)


def test_standard_input_that_is_given_is_a_file(build, qemu, tmp_path):
    (tmp_path / "input").write_bytes(TEXT)
    here = outcome(build("seeks"), ["seeks"], stdin=TEXT)
    assert here == qemu(build("seeks"), ["seeks"], stdin=tmp_path / "input")
    assert here[1].startswith(b"a file of %d\n" % len(TEXT))


def test_memory(build, qemu):
    program = build("memory")
    assert outcome(program, ["memory"]) == qemu(program, ["memory"])


@pytest.mark.parametrize("number", ["0", "2.5", "-1e-300", "123456789.125", "1e308"])
def test_floats(build, qemu, number):
    program = build("floats")
    assert outcome(program, ["floats", number]) == qemu(program, ["floats", number])


@pytest.mark.parametrize("number", ["1", "2.5", "-1.1", "1e300", "3e-310", "inf", "nan"])
def test_rounding_modes_and_flags(build, qemu, number):
    program = build("rounding")
    assert outcome(program, ["rounding", number]) == qemu(program, ["rounding", number])


def test_system(build, qemu):
    program = build("system")
    here = outcome(program, ["system"])
    assert b"NO" not in here[1]
    assert here == qemu(program, ["system"])


def test_what_is_ready_and_who_has_hung_up(build, qemu, tmp_path):
    program = build("polls")
    assert outcome(program, ["polls"], dirs={"/": tmp_path}) == qemu(program, ["polls"], cwd=tmp_path)


def test_select(build, qemu):
    program = build("selects")
    assert outcome(program, ["selects"]) == qemu(program, ["selects"])


@pytest.mark.parametrize("how", ["p", "pn", "p0", "pi", "s", "sn", "s0", "si"])
def test_signals_that_are_let_through_while_it_waits(build, qemu, how):
    program = build("masks")
    here = outcome(program, ["masks", how])
    assert here == qemu(program, ["masks", how])
    assert here[0] == (0 if "i" in how else -10)


@pytest.mark.parametrize("how", ["pr", "sr", "prn", "srn"])
def test_what_is_ready_at_once_comes_before_signals(build, how):
    """As the kernel has it from 5.3 on; qemu lets them through."""
    assert outcome(build("masks"), ["masks", how]) == (0, b"begin\n1\nwaiting 1, blocked 1\n", b"")


@pytest.mark.parametrize("how", ["return", "exit", "_exit", "abort", "segfault", "illegal", "trap", "kill", "assert"])
def test_endings(build, qemu, how):
    program = build("endings")
    assert outcome(program, ["endings", how]) == qemu(program, ["endings", how])


@pytest.mark.parametrize("arguments", [[], ["ignored"]])
def test_blocked_signals_wait(build, qemu, arguments):
    program, argv = build("signals"), ["signals", *arguments]
    here = outcome(program, argv)
    assert here == qemu(program, argv)
    assert here[0] == (-9 if arguments else -12)


def test_why_and_where_it_ended(build):
    found = run_linux(build("endings"), argv=["endings", "segfault"])[0]
    assert (found.signal, found.reason, found.detail, found.exit_code) == (11, "memory out of range", 0, None)
    assert str(found) == f"SIGSEGV at {found.pc:#x} in {found.function}: memory out of range at 0x0"
    assert found.function.startswith("main+0x")
    assert found.instructions > 100


def test_limits(build):
    program = build("endings")
    found = run_linux(
        program, lanes=3, argv=lambda lane: ["endings", ["loop", "exit", "loop"][lane]], max_cycles=50_000
    )
    assert [one.reason for one in found] == ["cycles", "exit", "cycles"]
    assert [found[0].instructions, found[2].instructions] == [50_000, 50_000]
    assert run_linux(program, argv=["endings", "loop"], timeout=0.3)[0].reason == "timeout"
    assert run_linux(program, argv=["endings", "exit"], timeout=10**400)[0].reason == "exit"


def test_who_calls_much_before_it_computes_is_looked_at_as_soon(build, monkeypatch):
    """Lanes that stop for calls say nothing of how long others would run."""
    lengths = []
    real = ParallelCPU.resume

    def resume(self, answers, active, slices, limit):
        lengths.append(slices.length)
        return real(self, answers, active, slices, limit)

    monkeypatch.setattr(ParallelCPU, "resume", resume)
    run_linux(build("calls"), argv=["calls", "100"])
    assert len(lengths) > 100
    assert max(lengths[:100]) == lengths[0]


# --- files ------------------------------------------------------------------------------------------------------------


def filled(path):
    """A directory with a file, and links that lead out of it."""
    path.mkdir()
    (path / "given.txt").write_text("given\n")
    (path / "inside").symlink_to("given.txt")
    (path / "outside").symlink_to("../secret")
    (path / "absolute").symlink_to("/etc/passwd")
    (path / "up").symlink_to("..")
    return path


def test_files(build, qemu, tmp_path):
    program = build("files")
    there, here = filled(tmp_path / "there"), filled(tmp_path / "here")
    assert outcome(program, ["files"], dirs={"/home": here}) == qemu(program, ["files"], cwd=there)
    assert sorted(os.listdir(here)) == sorted(os.listdir(there))


def test_room_copies_and_disks(build, qemu, tmp_path):
    program = build("keeps")
    there, here = filled(tmp_path / "there"), filled(tmp_path / "here")
    assert outcome(program, ["keeps"], dirs={"/home": here}) == qemu(program, ["keeps"], cwd=there)


def test_a_directory_is_not_removed_or_moved_by_a_dot(build, qemu, tmp_path):
    program = build("dots")
    there, here = filled(tmp_path / "there"), filled(tmp_path / "here")
    assert outcome(program, ["dots"], dirs={"/home": here}) == qemu(program, ["dots"], cwd=there)
    assert sorted(os.listdir(here)) == sorted(os.listdir(there))


def test_what_is_not_quite_what_a_call_is_for(build, qemu, tmp_path):
    program = build("refusals")
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    assert outcome(program, ["refusals"], dirs={"/home": here}) == qemu(program, ["refusals"], cwd=there)
    assert sorted(os.listdir(here)) == sorted(os.listdir(there))


def opened(program, ways, dirs):
    """What can be done with paths."""
    lines = run_linux(program, argv=["opens", *ways], dirs=dirs)[0].stdout.decode().splitlines()
    return [line[len(way) + 1 :].split() for way, line in zip(ways, lines, strict=True)]


def test_no_way_out(build, tmp_path):
    (tmp_path / "secret").write_text("secret")
    given, other = filled(tmp_path / "given"), filled(tmp_path / "other")
    dirs = {"/home": given, "/x/other": other}
    ways = [
        "../secret", "outside", "absolute", "up/secret", "up/other/given.txt", "/etc/passwd", "/home/../secret",
        "/home/../../secret", "given.txt/../../secret", "./up/../secret", str(tmp_path / "secret"),
        "/proc/self/environ", "/dev/mem", "", "/new", "../new", "up/new", "/x/new",
    ]  # fmt: skip
    assert opened(build("opens"), ways, dirs) == [[]] * len(ways)
    inside = ["given.txt", "/x/other/given.txt", "../home/given.txt", "/x/../home/./inside", "/home/../x/other/inside"]
    assert opened(build("opens"), inside, dirs) == [["opened", "found", "readable", "writable"]] * 5
    # The root is there as a directory that leads to those which were given.
    assert opened(build("opens"), ["/", "/x", "."], dirs) == [["opened", "found", "readable"]] * 3
    assert sorted(os.listdir(tmp_path)) == ["given", "other", "secret"]
    assert (tmp_path / "secret").read_text() == "secret"


def test_pipes_and_devices_of_the_host_are_not_given(build, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert opened(build("opens"), ["pipe"], {"/": tmp_path}) == [["found", "readable"]]


def test_directories_in_directories(build, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "file").write_text("inner")
    (tmp_path / "outer").mkdir()
    dirs = {"/": tmp_path / "outer", "/a": tmp_path / "inner"}
    everything = ["opened", "found", "readable", "writable"]
    assert opened(build("opens"), ["/a/file", "a/../a/file", "/../a/file"], dirs) == [everything] * 3
    assert opened(build("opens"), ["/inner/file", "a/../../inner/file"], dirs) == [[]] * 2


def test_links_lead_from_one_directory_into_another(build, tmp_path):
    outer, inner, other = (tmp_path / name for name in ("outer", "inner", "other"))
    for folder in (outer, inner, other):
        folder.mkdir()
        (folder / "file").write_text(folder.name)
    (tmp_path / "secret").write_text("secret")
    (outer / "in").symlink_to("a")
    (outer / "through").symlink_to("a/file")
    (outer / "twice").symlink_to("in/back/file")
    (inner / "back").symlink_to("../b")
    (inner / "round").symlink_to("round")
    (inner / "out").symlink_to("../../secret")
    (outer / "a").mkdir()
    (outer / "a" / "hidden").write_text("what the program has here is another directory")
    dirs = {"/": outer, "/a": inner, "/b": other}
    everything = ["opened", "found", "readable", "writable"]
    ways = ["in/file", "through", "twice", "/a/back/file", "in/../b/file", "a/back/../file"]
    assert opened(build("opens"), ways, dirs) == [everything] * len(ways)
    made = ["writable"]  # it is there only once it has been made
    assert opened(build("opens"), ["in/hidden", "a/out", "a/round", "a/round/file"], dirs) == [made, made, [], []]
    assert (inner / "hidden").exists()
    assert (outer / "secret").exists()
    assert (outer / "a" / "hidden").read_text().startswith("what")
    assert (tmp_path / "secret").read_text() == "secret"


def test_no_directories_at_all(build):
    ways = ["/", ".", "given.txt", "/etc/passwd", "/dev/null"]
    found = opened(build("opens"), ways, None)
    assert found == [[], [], [], [], ["opened", "found", "readable", "writable"]]


# --- lanes ------------------------------------------------------------------------------------------------------------


def test_each_lane_its_own(build, device):
    found = run_linux(
        build("hello"),
        lanes=50,
        argv=lambda lane: ["hello", *["x"] * (lane % 5)],
        env=[{"NAME": f"lane {lane}"} for lane in range(50)],
        device=device,
    )
    assert [one.exit_code for one in found] == [1 + lane % 5 for lane in range(50)]
    for lane, one in enumerate(found):
        assert one.stdout.startswith(b"hello lane %d\n0: hello\n" % lane)
        assert one.stderr == b"%d arguments\n" % (1 + lane % 5)
    assert found.calls >= 150
    assert "exit 1 10" in repr(found)


def test_standard_input_of_lanes(build, device):
    found = run_linux(build("lines"), lanes=3, stdin=["a\n", b"b c\nd\n", ""], device=device)
    assert [one.stdout for one in found] == [b"1 1 2\na\n", b"2 3 6\nb c\n", b"0 0 0\n"]


def test_lanes_that_call_and_lanes_that_compute(build):
    """Who calls much gets on while others compute."""
    program = build("calls")
    found = run_linux(program, lanes=3, argv=lambda lane: ["calls", "2000" if lane else "0"])
    assert [one.stdout for one in found] == [b"0\n", b"2000\n", b"2000\n"]


def test_seed(build):
    program = build("random")
    once, again, other = (run_linux(program, lanes=3, seed=seed) for seed in (1, 1, 2))
    texts = [one.stdout for one in once]
    assert texts == [one.stdout for one in again]
    assert len({*texts, *(one.stdout for one in other)}) == 6
    assert run_linux(program, lanes=3, seed=np.uint64(1))[2].stdout == texts[2]
    assert run_linux(program)[0].stdout != run_linux(program)[0].stdout


def test_unknown_calls(build):
    found = run_linux(build("unknown"), lanes=2)
    assert [one.stdout for one in found] == [b"Function not implemented\n" * 6] * 2
    assert found[0].unknown_calls == {198: 3, 220: 1, 999: 1, 1000: 1}
    assert found.unknown_calls == {198: 6, 220: 2, 999: 2, 1000: 2}


def test_waiting_for_itself(build):
    assert run_linux(build("waits"))[0].reason == "waits for itself"


def test_load_elf(build):
    cpu = ParallelCPU(2, 8 << 20, "private", "cpu")
    cpu.load_elf(build("bare"), argv=lambda lane: ["bare", *["x"] * lane])
    first = cpu.execute(1000)
    assert first.stop_reasons == ["svc", "svc"]
    assert [int(row[8]) for row in cpu.registers] == [64, 64]
    assert [int(row[19]) for row in cpu.registers] == [1, 2]
    assert cpu.read_memory(int(cpu.registers[1][1]), 5, 1) == b"bare\n"
    with pytest.raises(ArgumentError, match="share their memory"):
        ParallelCPU(2, 8 << 20, "shared", "cpu").load_elf(build("bare"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"lanes": 2, "argv": [["a"]]}, "argv is a list of 1; give a list of texts for all lanes, or a list of 2 such"),
        ({"argv": 5}, "argv is a int; give a list of texts for all lanes, or a list of 1 such"),
        ({"argv": ["a", 1]}, "an argument is 1; it is a text"),
        ({"lanes": 2, "argv": ["a", 1]}, "an argument is 1; it is a text"),
        (
            {"lanes": 2, "env": ["A=1"]},
            "env is a list of 1; give a dictionary of texts for all lanes, or a list of 2 such",
        ),
        ({"argv": ["a\0b"]}, "an argument has a 0 byte in it"),
        ({"argv": ["x" * (2 << 20)]}, "give lanes more memory .--memory; in Python memory=, or memory_size="),
        ({"stdin": [5]}, "stdin is int; it is bytes or text"),
        ({"env": [["A=1"]]}, "it is a dictionary of texts"),
        ({"dirs": {"work": "/tmp"}}, "is to begin with a slash"),
        ({"dirs": {"/home": "/nowhere/at/all"}}, "there is no directory /nowhere/at/all"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": "5"}, "timeout is '5'; it is a number of seconds above 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"output_limit": -1}, "output_limit is -1"),
        ({"output_limit": 1.5}, "output_limit is 1.5; it is a whole number"),
        ({"dirs": ["/tmp"]}, "dirs is a list; it is a dictionary"),
        ({"dirs": {1: "/tmp"}}, "the directory 1 is a int; what programs call it is a text"),
        ({"dirs": {"/x": 1}}, "the directory '/x' is a int; give the path of one here"),
        ({"dirs": {"/data": "/tmp", "/data/": "/tmp"}}, "the directory '/data/' is given twice"),
        ({"argv": ["\ud800"]}, "an argument has characters that UTF-8 has no bytes for"),
        ({"stdin": "\ud800"}, "stdin has characters that UTF-8 has no bytes for"),
        ({"max_cycles": 0}, "max_cycles is 0"),
        ({"lanes": 0}, "lanes is 0"),
        ({"seed": {}}, "seed is {}; it is a whole number"),
        ({"seed": "1"}, "seed is '1'; it is a whole number"),
        ({"seed": -1}, "seed is -1; it is 0 or more"),
    ],
)
def test_wrong_arguments(build, more, message):
    with pytest.raises(ArgumentError, match=message):
        run_linux(build("bare"), **more)


def test_directories_are_let_go_of(build):
    """Whatever is wrong with them."""
    before = set(os.listdir("/proc/self/fd"))
    for wrong in ({"/data": "/tmp", "/data/": "/tmp"}, {"/data": "/tmp", 1: "/tmp"}):
        with pytest.raises(ArgumentError):
            run_linux(build("bare"), dirs=wrong)
    assert set(os.listdir("/proc/self/fd")) <= before  # others may close theirs in the meantime


def test_far_too_many_lanes(build):
    with pytest.raises(OutOfMemoryError, match="1,000,000,000 lanes"):
        run_linux(build("bare"), lanes=10**9)


def test_when_the_time_is_over_nobody_is_served_any_more(build, monkeypatch):
    """Calls may take long, and many lanes have made one."""
    served, real = [], serving.serve

    def serve(process, number, words):
        served.append(number)
        time.sleep(0.05)
        return real(process, number, words)

    monkeypatch.setattr(serving, "serve", serve)
    result = run_linux(build("hello"), lanes=200, timeout=0.2)
    assert {one.reason for one in result} == {"timeout"}
    assert len(served) < 200
