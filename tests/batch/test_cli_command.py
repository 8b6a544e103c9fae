"""`gpu-run` as a command: what it asks of the engine, what it refuses, what it prints and how it ends."""

import pytest
from fake_engine import Fake, ended

import lanewise as lw
from lanewise.cli.gpu_run import command, exit_status

ONE = b"\0asm the engine is a fake one"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.wasm").write_bytes(ONE)
    return tmp_path


def sentence(capfd) -> str:
    """The one line that was printed."""
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("gpu-run: ")
    assert err.count("\n") == 1
    return err.removeprefix("gpu-run: ").rstrip("\n")


def test_one_lane_streams_with_the_standard_input_of_the_host(monkeypatch):
    fake = Fake(monkeypatch)
    assert command(["app.wasm"]) == 0
    assert (fake.task.program, fake.task.name, fake.task.lanes, fake.task.streaming) == (ONE, "app.wasm", 1, True)
    assert fake.stdin() is None
    assert fake.task.limits.output is None


def test_options_end_at_the_program(monkeypatch):
    fake = Fake(monkeypatch)
    assert command(["--seed=7", "--device", "cpu", "app.wasm", "--lanes", "3", "--", "-x", "--help"]) == 0
    assert fake.arguments() == [b"app.wasm", b"--lanes", b"3", b"--", b"-x", b"--help"]
    assert (fake.task.seed, fake.task.device, fake.task.lanes) == (7, "cpu", 1)


def test_two_dashes_end_the_options_too(monkeypatch, here):
    (here / "-odd.wasm").write_bytes(ONE)
    fake = Fake(monkeypatch)
    assert command(["--", "-odd.wasm", "a"]) == 0
    assert fake.arguments() == [b"-odd.wasm", b"a"]


def test_arguments_of_a_single_run_are_passed_as_they_are(monkeypatch):
    fake = Fake(monkeypatch)
    command(["app.wasm", "{}", "{lane}", "{{lane}}", "\udcff"])
    assert fake.arguments() == [b"app.wasm", b"{}", b"{lane}", b"{{lane}}", b"\xff"]


def test_lanes_know_their_number_and_read_nothing(monkeypatch):
    fake = Fake(monkeypatch)
    assert command(["--lanes", "10_240", "app.wasm", "--seed", "{lane}", "{}"]) == 0
    assert (fake.task.lanes, fake.task.streaming, fake.task.inputs.same_arguments) == (10240, False, False)
    assert fake.arguments(10239) == [b"app.wasm", b"--seed", b"10239", b"{}"]
    assert fake.stdin(3) == b""
    assert fake.task.limits.output == 16 << 20


def test_every_limit_reaches_the_engine(monkeypatch):
    fake = Fake(monkeypatch)
    limits = "--memory 16M --stack 64K --fuel 1000 --timeout 500ms --output-limit 1G --fail-fast"
    assert command(f"{limits} app.wasm".split()) == 0
    found = fake.task.limits
    assert (found.memory, found.stack, found.fuel, found.timeout, found.output) == (16 << 20, 65536, 1000, 0.5, 1 << 30)
    assert fake.task.fail_fast


def test_a_line_is_the_input_of_its_lane_and_its_argument(monkeypatch, here):
    (here / "in.txt").write_bytes(b"one\ntwo words\r\n\nlast")
    fake = Fake(monkeypatch)
    assert command(["--each-line", "in.txt", "app.wasm", "[{}]", "{lane}"]) == 0
    assert fake.task.lanes == 4
    assert [fake.stdin(lane) for lane in range(4)] == [b"one\n", b"two words\r\n", b"\n", b"last"]
    assert fake.arguments(1)[1:] == [b"[two words]", b"1"]
    assert fake.arguments(2)[1:] == [b"[]", b"2"]
    assert fake.arguments(3)[1:] == [b"[last]", b"3"]


def test_files_are_sorted_and_their_directory_is_open(monkeypatch, here):
    for name in ("b.json", "a.json", "sub/c.json", "a.txt"):
        (here / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "data" / name).write_bytes(b"")
    (here / "data" / "dir.json").mkdir()
    fake = Fake(monkeypatch)
    assert command(["--each-file", "data/**/*.json", "app.wasm", "--in={}"]) == 0
    arguments = [fake.arguments(lane)[1] for lane in range(fake.task.lanes)]
    assert arguments == [b"--in=data/a.json", b"--in=data/b.json", b"--in=data/sub/c.json"]
    ((host, guest),) = fake.task.directories
    assert (str(host), guest) == ("data", "data")


@pytest.mark.parametrize(
    ("pattern", "guest"),
    [
        ("*.wasm", "."),
        ("./*.wasm", "."),
        ("app.wasm", "."),
        ("{here}/*.wasm", "{here}"),
        ("{here}/*/../*.wasm", "{here}"),
    ],
)
def test_the_open_directory_goes_by_the_name_in_the_glob(monkeypatch, here, pattern, guest):
    (here / "sub").mkdir()
    fake = Fake(monkeypatch)
    assert command(["--each-file", pattern.format(here=here), "app.wasm", "{}"]) == 0
    assert [name for _, name in fake.task.directories] == [guest.format(here=here)]


def test_a_directory_that_is_named_is_not_opened_twice(monkeypatch, here):
    fake = Fake(monkeypatch)
    assert command(["--dir", ".", "--each-file", "*.wasm", "app.wasm", "{}"]) == 0
    assert len(fake.task.directories) == 1


def test_directories_and_environment(monkeypatch, here):
    (here / "data").mkdir()
    monkeypatch.setenv("HERE", "yes")
    monkeypatch.delenv("ABSENT", raising=False)
    fake = Fake(monkeypatch)
    words = "--dir data --dir .::/in --env A=1=2 --env HERE --env ABSENT --env E= app.wasm"
    assert command(words.split()) == 0
    assert [(str(host), guest) for host, guest in fake.task.directories] == [("data", "data"), (".", "/in")]
    assert fake.task.environment == {"A": "1=2", "HERE": "yes", "E": ""}


def test_all_lanes_can_read_the_same_input(monkeypatch, here):
    (here / "in.txt").write_bytes(b"for all")
    fake = Fake(monkeypatch)
    assert command(["--lanes", "2", "--stdin", "in.txt", "app.wasm"]) == 0
    assert [fake.stdin(lane) for lane in range(2)] == [b"for all"] * 2


MISTAKES = {
    "": "there is no program to run; write gpu-run PROGRAM, or gpu-run --help for examples",
    "--lane 4 app.wasm": "there is no option --lane; did you mean --lanes? (the program's own options stand behind it)",
    "--lanes": "--lanes needs a value; write --lanes N",
    "--json=yes app.wasm": "--json takes no value, and --json=yes gives it one; write --json",
    "--lanes 0 app.wasm": "--lanes: '0' is not a whole number from 1 to 4294967295",
    "--lanes -3 app.wasm": "--lanes: '-3' is not a whole number from 1 to 4294967295",
    "--memory x app.wasm": "--memory: 'x' is not a size; write a number of bytes, or one with K, M or G behind it",
    "--memory 8T app.wasm": "--memory: 8T makes no sense; memory is 64K to 4G, for programs of Linux to 1T",
    "--fuel 0 app.wasm": "--fuel: '0' is not a whole number from 1 to 9223372036854775807",
    "--timeout 0 app.wasm": "--timeout: '0' is not a time to wait; write seconds above 0, or such as 500ms, 5s, 2m",
    "--timeout nan app.wasm": "--timeout: 'nan' is not a time to wait; write seconds above 0, or such as 500ms, 5s, 2m",
    "--env =x app.wasm": "--env: '=x' has no name; write NAME=VALUE, or NAME for its value here",
    "--dir ::x app.wasm": "--dir: '::x' names no directory; write HOST, or HOST::GUEST for another name in the program",
    "--dir nowhere app.wasm": "--dir nowhere: there is no such directory; name one that the program may use",
    "--dir a:/x app.wasm": "--dir a:/x: there is no such directory; write HOST::GUEST for another name in the program",
    "--stdin {} app.wasm": "--stdin {} is the file of a lane, and there are none; write --each-file GLOB beside it",
    "--dir app.wasm app.wasm": "--dir app.wasm: that is no directory; name one that the program may use",
    "--stats --placement search app.wasm": (
        "--stats slows lanes, which says nothing of placements; leave it out, or --placement search"
    ),
    "--keep-going --fail-fast app.wasm": "--keep-going and --fail-fast contradict each other; leave one of them out",
    "ap.wasm": "there is no program 'ap.wasm'; did you mean 'app.wasm'?",
    ".": "'.' is a directory; give the path of a .wasm file, or of a static AArch64 program of Linux",
    "--each-line nowhere.txt app.wasm": "there is no file 'nowhere.txt' to take lines from",
    "--each-line . app.wasm": "'.' cannot be read: Is a directory",
    "--each-line empty app.wasm": "'empty' has no lines, so there is nothing to run",
    "--each-line zero app.wasm {}": "line 2 of 'zero' has a byte 0 in it, which no argument can hold; leave {} out, "
    "and read the line from standard input",
    "--lanes 3 --each-line zero app.wasm": "--lanes says 3 and 'zero' has 2 lines; leave --lanes out",
    "--each-line zero --stdin zero app.wasm": "--each-line gives each lane its line on standard input; "
    "leave --stdin out",
    "--stdin nowhere.txt app.wasm": "there is no file 'nowhere.txt' to read from",
    "--each-line zero --each-file * app.wasm": "--each-line and --each-file both say what lanes there are; "
    "leave one of them out",
    "--each-file *.json app.wasm {}": "--each-file '*.json' matches no file",
    "--each-file * app.wasm": "--each-file tells a lane its file where an argument has {}, and none has; "
    "write gpu-run --each-file '*' app.wasm {}, or --stdin {} for standard input",
    "--each-file *.a --each-file *.b app.wasm {}": "--each-file is given twice, and there can be one; "
    "leave one of them out",
    "--lanes 2 --lanes 3 app.wasm": "--lanes is given twice, and there can be one; leave one of them out",
    "--each-file data app.wasm {}": "--each-file 'data' matches no file, since it is a directory; "
    "write 'data/*' for the files in it",
    "--each-file *.{a,b} app.wasm {}": "--each-file '*.{a,b}' matches no file; braces mean nothing in it, "
    "so run once for each of them, or write * in their place",
    "--each-file data/odd[1].txt app.wasm {}": "--each-file 'data/odd[1].txt' matches no file; "
    "to name the file itself write 'data/odd[[]1].txt'",
    "--each-file empty zero app.wasm {}": "the program 'zero' is no WebAssembly module and no program of "
    "Linux; if the shell has put file "
    "names in place of the glob, put the glob in quotes",
    "--lanes 2 --each-file * app.wasm {}": "--lanes says 2 and --each-file '*' matches 3 files; leave --lanes out",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_sentence_and_status_2(monkeypatch, capfd, here, words):
    (here / "empty").write_bytes(b"")
    (here / "zero").write_bytes(b"one\nt\0wo\n")
    (here / "data").mkdir()
    (here / "data" / "odd[1].txt").write_bytes(b"")
    fake = Fake(monkeypatch)
    assert command(words.split()) == 2
    assert sentence(capfd) == MISTAKES[words]
    assert fake.runs == []


@pytest.mark.parametrize("place", ["/proc", "/proc/new", "app.wasm/new"])
def test_outputs_that_cannot_be_written_are_found_before_any_lane_runs(monkeypatch, capfd, here, place):
    fake = Fake(monkeypatch)
    assert command(["--lanes", "2", "--output-dir", place, "app.wasm"]) == 2
    assert sentence(capfd).startswith(f"--output-dir {place}: ")
    assert [run.begun for run in fake.runs] == [False] * len(fake.runs)


def test_outputs_that_would_lie_in_each_other_are_refused(monkeypatch, capfd, here):
    (here / "k" / "a.out").mkdir(parents=True)
    for name in ("k/a", "k/a.out/b"):
        (here / name).write_bytes(b"")
    fake = Fake(monkeypatch)
    assert command(["--each-file", "k/**", "--output-dir", "out", "app.wasm", "{}"]) == 2
    assert sentence(capfd).startswith("--output-dir would write the output of 'a' where the directory of another")
    assert fake.runs == []


def test_nothing_is_made_for_a_run_that_cannot_start(monkeypatch, capfd, here):
    def refuse(task, module=None):
        raise lw.NoDeviceError("there is no device 'tpu'; write auto, cpu, cuda or cuda:1")

    monkeypatch.setattr("lanewise.batch.running.start", refuse)
    assert command(["--lanes", "2", "--output-dir", "out", "--device", "tpu", "app.wasm"]) == 2
    assert sentence(capfd) == "there is no device 'tpu'; write auto, cpu, cuda or cuda:1"
    assert not (here / "out").exists()


def test_a_device_that_fails_at_the_start_has_status_3(monkeypatch, capfd):
    def refuse(task, module=None):
        raise lw.DeviceLostError("the device is gone")

    monkeypatch.setattr("lanewise.batch.running.start", refuse)
    assert command(["app.wasm"]) == 3
    assert sentence(capfd) == "the device is gone"


@pytest.mark.parametrize(
    ("code", "status"), [(0, 0), (1, 1), (125, 125), (200, 200), (256, 1), (257, 1), (0x300, 1), (0xFFFFFFFF, 255)]
)
def test_the_exit_code_of_a_single_lane_is_the_status(monkeypatch, code, status):
    Fake(monkeypatch, lambda lane: ended(lane, code))
    assert command(["app.wasm"]) == exit_status(code) == status


def test_a_trap_of_a_single_lane_has_the_status_of_an_abort(monkeypatch, capfd):
    trap = "unreachable in main (+0x51)\n    called from _start"
    Fake(monkeypatch, lambda lane: ended(lane, trap=trap))
    assert command(["app.wasm"]) == 134
    assert capfd.readouterr() == ("", f"gpu-run: trap: {trap}\n")


@pytest.mark.parametrize(
    ("stopped", "status"),
    [("time-out after 5 s", 124), ("interrupted", 130), ("the device failed: it is on fire", 3)],
)
def test_a_single_lane_that_was_ended_says_by_what(monkeypatch, capfd, stopped, status):
    Fake(monkeypatch, lambda lane: ended(lane, trap="interrupted"), stopped=stopped)
    assert command(["app.wasm"]) == status
    assert sentence(capfd) == stopped


def test_version_and_help_run_nothing(monkeypatch, capfd):
    fake = Fake(monkeypatch)
    assert command(["--version"]) == 0
    assert capfd.readouterr().out == f"gpu-run {lw.__version__}\n"
    for words in (["--help"], ["-h"], ["--lanes", "3", "--help", "--nonsense"]):
        assert command(words) == 0
        assert "gpu-run --each-file 'data/*.json' app.wasm {}" in capfd.readouterr().out
    assert fake.runs == []


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_help_fits_the_terminal_and_names_every_option(monkeypatch, capfd, columns):
    from lanewise.cli.gpu_run_options import TABLE

    monkeypatch.setenv("COLUMNS", columns)
    assert command(["--help"]) == 0
    shown = capfd.readouterr().out
    assert max(map(len, shown.splitlines())) <= max(60, int(columns))
    for name in TABLE:
        assert f"  {name}" in shown
