"""Calls of the system with words that no C library gives: an error for who called, and never the end of all lanes."""

import errno
import os
import random
import re
import stat
import struct
import time

import pytest

from lanewise.arm64.linux import run_linux
from lanewise.arm64.linux.call_names import NAMES
from lanewise.arm64.linux.calls import CALLS, Call

E = errno
HERE = -100


@pytest.fixture
def raw(build):
    """Does calls, each a list of words; gives their results and how the program ended."""
    program = build("raw")

    def run(*calls, **more):
        texts = [call if isinstance(call, str) else ";".join(map(str, call)) for call in calls]
        outcome = run_linux(program, argv=["raw", *texts], **{"timeout": 60, **more})[0]
        return [int(line) for line in outcome.stderr.split()], outcome

    return run


def test_lengths(raw):
    found, _ = raw(
        [56, HERE, "'/dev/zero"],
        [63, 3, -1, 0], [63, 3, "$", -1], [63, 3, "$", 2 << 20], [63, 3, -1, 5],
        [64, 3, -1, 0], [64, 3, "$", -1], [64, 3, "$", 2 << 20],
        [67, 3, "$", -5, 0], [61, 3, "$", -1],
    )  # fmt: skip
    assert found == [
        3, 0, -E.EINVAL, 1 << 20, -E.EFAULT, 0, -E.EINVAL, 1 << 20, -E.EINVAL, -E.EINVAL,
    ]  # fmt: skip


def test_vectors_are_cut(raw):
    """Parts that are too long together are moved in part; one of less than nothing is refused."""
    two = ["=$4096", "=0xc0000", "=$4096", "=0xc0000"]
    found, _ = raw([56, HERE, "'/dev/zero"], *two, [66, 3, "$", 2], [70, 3, "$", 2, 0], [65, 3, "$", 2])
    assert found == [3, 1 << 20, 1 << 20, 1 << 20]
    found, _ = raw([56, HERE, "'/dev/zero"], "=$4096", "=8", "=$4096", "=-1", [66, 3, "$", 2], [65, 3, "$", 2])
    assert found == [3, -E.EINVAL, -E.EINVAL]


def test_what_is_said_to_be_larger_than_memory(raw, tmp_path):
    """It is moved as far as memory goes, if it goes at all."""
    (tmp_path / "f").write_bytes(b"0123456789")
    far, parts = 1 << 40, ["=$4096", "=4", "=$8192", f"={1 << 40}", "=-4096", "=8", "=$4096", "=4"]
    found, _ = raw(
        *parts, [56, HERE, "'f", 2], [56, HERE, "'/dev/null", 1], [56, HERE, "'.", 0],
        [65, 3, "$", 2], [69, 3, "$", 2, 2], [65, 3, "$32", 2], [69, 3, "$16", 2, 7],
        [67, 3, "$12288", far, 4], [64, 4, "$", far], [66, 4, "$", 2], [66, 4, "$32", 1], [66, 4, "$", 0],
        [61, 5, -4096, 1 << 20], [61, 5, "$", (1 << 31) - 1], dirs={"/w": tmp_path},
    )  # fmt: skip
    assert found[3:] == [10, 8, -E.EFAULT, 3, 6, 1 << 20, 1 << 20, -E.EFAULT, 0, -E.EFAULT, 72]


def test_pipes_take_two_descriptors_or_none(raw):
    found, _ = raw(*[[23, 0]] * 1020, [59, "$", 0], [23, 0], [59, "$", 0])
    assert found[1019:] == [1022, -E.EMFILE, 1023, -E.EMFILE]


def test_kinds_of_maps_and_of_use(raw, tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    found, _ = raw(
        [56, HERE, "'f", 0], *([222, 0, 4096, 1, 0x20 | kind, -1, 0] for kind in (0, 1, 2, 3, 4)),
        *([222, 0, 4096, 1, kind, 3, 0] for kind in (0, 1, 2, 3, 4)), *([165, who, "$"] for who in (0, -1, 1, 77, -2)),
        dirs={"/w": tmp_path},
    )  # fmt: skip
    assert [min(one, 1) for one in found[1:11]] == [
        -E.EINVAL,
        1,
        1,
        -E.EINVAL,
        -E.EINVAL,
        -E.EINVAL,
        1,
        1,
        1,
        -E.EINVAL,
    ]
    assert found[11:] == [0, 0, 0, -E.EINVAL, -E.EINVAL]


def test_sendfile(raw, tmp_path):
    (tmp_path / "f").write_bytes(b"content")
    begin = [[56, HERE, "'f", 0]]
    found, done = raw(*begin, "=-1", "=2", "=0x7fffffffffffffff", [71, 1, 3, "$0", 5], [71, 1, 3, "$16", 5],
                      [71, 1, 3, "$8", 3], [71, 1, 3, 0, -1], [71, 1, 3, 0, 100], dirs={"/w": tmp_path})  # fmt: skip
    assert found == [3, -E.EINVAL, -E.EINVAL, 3, -E.EINVAL, 7]
    assert done.stdout == b"ntecontent"


@pytest.mark.parametrize("error", [ValueError, OverflowError, struct.error, UnicodeError, MemoryError, OSError])
def test_errors_that_nobody_thought_of(build, monkeypatch, error):
    """They are the matter of the lane that called, and others go on."""

    def fail(process):
        raise error("odd")

    monkeypatch.setitem(CALLS, 5000, Call(fail, 0))
    found = run_linux(build("raw"), 2, argv=lambda lane: ["raw", "5000" if lane else "172"])
    wanted = {MemoryError: E.ENOMEM, OSError: E.EIO}.get(error, E.EINVAL)
    assert [one.stderr for one in found] == [b"1000\n", b"%d\n" % -wanted]


def test_any_words(raw, tmp_path):
    """Whatever words calls are given, all lanes come to an end."""
    chance = random.Random(4)
    (tmp_path / "f").write_bytes(bytes(10000))
    odd = [0, 1, 2, 3, 4, 8, 16, -1, -2, -100, 4096, "$", "$8", "$4194300", "'f", "'..", "'g/../f", 1 << 31, 1 << 63,
           (1 << 63) - 1, (1 << 64) - 4096, 0x400000]  # fmt: skip
    ends = {93, 94, 129, 130, 131}
    numbers = sorted(set(CALLS) - ends)
    calls = [[56, HERE, "'f", 2], "=-1", "=0x7fffffffffffffff", "=0x7fffffffffffffff", "=0x7fffffffffffffff"]
    for _ in range(12):
        lines = [";".join(str(one) for one in (chance.choice(numbers), *chance.choices(odd, k=6))) for _ in range(150)]
        _, done = raw(*calls, *lines, dirs={"/w": tmp_path}, seed=1, timeout=5)
        assert done.reason


def test_times_that_there_are_none_of(raw, tmp_path):
    (tmp_path / "f").write_bytes(b"")
    found, _ = raw("=5", "=0", "=5", "=1000000000", "=5", "=-1", "=5", "=0",
                   [88, HERE, "'f", "$", 0], [88, HERE, "'f", "$32", 0], dirs={"/w": tmp_path})  # fmt: skip
    assert found == [-E.EINVAL, -E.EINVAL]


# --- memory of the host -----------------------------------------------------------------------------------------------


def test_output_limit(build, raw):
    _, done = raw([64, 1, "$", 600], [64, 1, "$", 600], [64, 1, "$", 600], output_limit=1000)
    assert (done.reason, done.exit_code, done.signal) == ("output limit", None, None)
    assert len(done.stdout) + len(done.stderr) == 1000
    assert str(done).startswith("output limit at 0x")
    assert raw([64, 1, "$", 600], output_limit=604)[1].exit_code == 0
    others = run_linux(build("raw"), 2, argv=lambda lane: ["raw", f"64;1;$;{lane * 50}"], output_limit=40)
    assert [one.reason for one in others] == ["exit", "output limit"]


def test_pipes_are_full(raw):
    found, done = raw(
        [59, "$", os.O_NONBLOCK],
        [64, 4, "$", 60000], [64, 4, "$", 60000], [64, 4, "$", 1], [63, 3, "$", 100],
        [64, 4, "$", 101], [64, 4, "$", 100], [71, 4, 0, 0, 1],
    )  # fmt: skip
    assert found == [0, 60000, 5536, -E.EAGAIN, 100, -E.EAGAIN, 100, -E.EAGAIN]
    assert done.exit_code == 0
    found, done = raw([59, "$", 0], [64, 4, "$", 65536], [64, 4, "$", 1])
    assert (found, done.reason) == ([0, 65536], "waits for itself")


def test_sendfile_into_a_pipe(raw, tmp_path):
    """What does not fit is not lost."""
    (tmp_path / "f").write_bytes(bytes(100_000))
    found, _ = raw([56, HERE, "'f", 0], [59, "$", 0], [71, 5, 3, 0, 1 << 20], [62, 3, 0, 1], dirs={"/w": tmp_path})
    assert found == [3, 0, 65536, 65536]


def test_unknown_calls_are_counted_up_to_a_limit(raw):
    assert len(raw(*([number] for number in range(5000, 6200)))[1].unknown_calls) == 1024


def test_every_call_that_linux_has_is_offered_or_has_a_name_to_be_told_of(preprocessed):
    found = re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)$", preprocessed("asm/unistd.h"), re.MULTILINE)
    wanted = {int(number): name for name, number in found if name not in ("syscalls", "arch_specific_syscall")}
    assert len(wanted) > 250
    assert {number: name for number, name in NAMES.items() if number in wanted} == {
        number: name for number, name in wanted.items() if number not in CALLS
    }
    assert not NAMES.keys() & CALLS.keys()


def test_maps_of_files(raw, tmp_path):
    (tmp_path / "f").write_bytes(b"0123456789" * 300_000)
    found, done = raw(
        [56, HERE, "'f", 0],
        [222, 0, 1 << 31, 1, 2, 3, 0], [222, 0, 20 << 20, 1, 2, 3, 0], [222, 0, 2 << 20, 1, 2, 3, 4096],
        [64, 1, "%3", 10], [56, HERE, "'/dev/urandom"], [222, 0, 4096, 1, 2, 4, 0], [222, 0, 4096, 1, 2, 1, 0],
        [56, HERE, "'/dev/zero"], [222, 0, 4096, 3, 2, 5, 0], [222, 0, 4096, 1, 2, 3, (1 << 63) - 4096],
        [216, "%9", 4096, 17 << 20, 1], [56, HERE, "'f", 1], [222, 0, 4096, 1, 2, 6, 0],
        dirs={"/w": tmp_path}, memory_size=32 << 20,
    )  # fmt: skip
    assert found[1] == -E.ENOMEM
    assert found[3] > 0
    assert done.stdout == b"6789012345"
    assert found[6:8] == [-E.ENODEV, -E.ENODEV]
    assert found[9] > 0
    assert found[10] == -E.EINVAL
    assert found[13] == -E.EACCES


def test_a_map_that_does_not_fit_is_not_read(raw, tmp_path):
    with open(tmp_path / "f", "wb") as file:
        file.truncate(1 << 40)
    found, _ = raw([56, HERE, "'f", 0], [222, 0, 15 << 20, 1, 2, 3, 0], [222, 0, 1 << 22, 1, 2, 3, 0],
                   dirs={"/w": tmp_path}, memory_size=16 << 20)  # fmt: skip
    assert found[1] == -E.ENOMEM
    assert found[2] > 0


# --- waiting ----------------------------------------------------------------------------------------------------------


def test_futex(raw):
    begin = time.monotonic()
    found, done = raw(
        "=7", "=0", "=200000000", "=0", "=-1",
        [98, "$", 0, 8, 0],
        [98, "$", 128, 7, "$8"], [98, "$", 9 | 128, 7, "$8", 0, -1], [98, "$", 9 | 256, 7, "$8", 0, -1],
        [98, "$", 9, 7, "$8", 0, 0], [98, "$2", 0, 7, "$8"], [98, "$", 0, 7, "$24"], [98, 0, 0, 7, 0], [98, "$", 1, 1],
        [98, "$", 0, 7, 0],
    )  # fmt: skip
    assert found == [
        -E.EAGAIN, -E.ETIMEDOUT, -E.ETIMEDOUT, -E.ETIMEDOUT, -E.EINVAL, -E.EINVAL, -E.EINVAL, -E.EFAULT, 0,
    ]  # fmt: skip
    assert 0.2 <= time.monotonic() - begin < 20
    assert (done.reason, done.signal, done.exit_code) == ("waits for ever", None, None)
    assert str(done).startswith("waits for ever at 0x")


def test_waiting_for_signals(raw):
    """Those that have come while they were blocked are let through; no others will come."""
    usr1, none = f"={1 << 9}", "=0"
    assert raw(usr1, none, [135, 0, "$", 0, 8], [130, 1000, 10], [133, "$8", 8])[1].signal == 10
    assert raw(usr1, none, [135, 0, "$", 0, 8], [130, 1000, 10], [133, "$", 8])[1].reason == "waits for ever"
    assert raw(usr1, [135, 0, "$", 0, 8], [130, 1000, 10], [137, "$", 0, 0, 8])[0] == [0, 0, 10]
    assert raw(usr1, [137, "$", 0, 0, 8])[1].reason == "waits for ever"


def test_signals_that_are_refused_still_wait(raw):
    found, _ = raw(f"={1 << 9}", "=0", "=-1", [135, 0, "$", 0, 8], [130, 1000, 10],
                   [137, "$", 0, "$8", 8], [137, "$", 0, 0, 8])  # fmt: skip
    assert found == [0, 0, -E.EINVAL, 10]


# --- directories ------------------------------------------------------------------------------------------------------


def test_back_to_a_directory(raw, tmp_path):
    (tmp_path / "there" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("there/deep")
    found, done = raw(
        [34, HERE, "'sub", 0o777], [49, "'sub"], [49, "'.."], [17, "$", 4096], [64, 1, "$", 3],
        [35, HERE, "'sub", 0x200], [56, HERE, "'.", 0],
        [49, "'link/.."], [17, "$", 4096], [64, 1, "$", 9],
        [49, "'../link"], [17, "$", 4096], [64, 1, "$", 14],
        [56, HERE, "'/w/link", 0], [50, 4], [49, "'.."], [17, "$", 4096], [64, 1, "$", 9],
        [49, "'nothing/.."], [49, "'/w/link/../../link/deep"], [35, HERE, "'deep/..", 0x200], [49, "'/nothing/.."],
        dirs={"/w": tmp_path},
    )  # fmt: skip
    assert found[:4] == [0, 0, 0, 3]
    assert found[5:7] == [0, 3]
    assert done.stdout == b"/w\0/w/there\0/w/there/deep\0/w/there\0"[: 3 + 9 + 14 + 9]
    assert found[18:] == [-E.ENOENT, -E.ENOENT, -E.ENOTEMPTY, -E.ENOENT]


def test_paths_from_one_directory_to_another(raw, tmp_path):
    for name in ("root/sub/deep", "data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data" / "f").write_text("f")
    (tmp_path / "root" / "link").symlink_to("sub/deep")
    ways = ["/sub/../data/f", "sub/../data/f", "/link/../../data/f", "/data/../data/f", "/sub/deep/../../data/./f"]
    wrong = ["/link/../data/f", "/nothing/../data/f", "/data/f/../f"]
    opens = [[56, HERE, "'" + way, 0] for way in [*ways, *wrong]]
    found, _ = raw(*opens, [49, "'/sub"], [56, HERE, "'../data/f", 0], dirs={
        "/": tmp_path / "root", "/data": tmp_path / "data"})  # fmt: skip
    assert found == [3, 4, 5, 6, 7, -E.ENOENT, -E.ENOENT, -E.ENOTDIR, 0, 8]


def test_modes_owners_and_times_of_what_is_open(raw, tmp_path):
    (tmp_path / "f").write_bytes(b"")
    (tmp_path / "d").mkdir()
    found, _ = raw(
        "=5", "=0", "=7", "=0",
        [56, HERE, "'f", 0], [52, 3, 0o6751], [55, 3, -1, -1], [55, 3, os.getuid(), os.getgid()],
        [54, 3, "'", -1, -1, 0x1000],
        [56, HERE, "'d", 0], [52, 4, 0o1700], [88, 4, 0, "$", 0], [82, 4], [55, 4, -1, -1],
        [52, 1, 0o700], [56, HERE, "'/", 0], [52, 5, 0o700], [82, 5], [53, HERE, "'/", 0o700], dirs={"/w": tmp_path},
    )  # fmt: skip
    assert found == [3, 0, 0, 0, 0, 4, 0, 0, 0, 0, -E.EPERM, 5, -E.EPERM, 0, -E.EACCES]
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o751
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o1700
    assert (tmp_path / "d").stat().st_mtime == 7


def test_modes_and_owners_of_nothing_outside(raw, tmp_path):
    """Neither through links, nor of pipes and devices."""
    (tmp_path / "w").mkdir()
    secret = tmp_path / "secret"
    secret.write_bytes(b"")
    secret.chmod(0o600)
    (tmp_path / "w" / "link").symlink_to("../secret")
    (tmp_path / "w" / "far").symlink_to(secret)
    os.mkfifo(tmp_path / "w" / "pipe", 0o600)
    before = secret.stat()
    found, _ = raw(
        *([53, HERE, name, 0o777] for name in ("'link", "'far", "'../secret", "'pipe")),
        *([54, HERE, name, -1, -1, 0] for name in ("'link", "'far", "'../secret", "'pipe")),
        [54, HERE, "'link", -1, -1, 0x100], dirs={"/w": tmp_path / "w"},
    )  # fmt: skip
    assert found == [*[-E.EPERM, -E.EPERM, -E.ENOENT, -E.EACCES] * 2, 0]
    assert secret.stat() == before
    assert stat.S_IMODE((tmp_path / "w" / "pipe").stat().st_mode) == 0o600


def test_no_pipes_or_devices_are_made(raw, tmp_path):
    kinds = stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK
    found, _ = raw(*([33, HERE, "'f", kind | 0o600, 0x103] for kind in kinds), dirs={"/w": tmp_path})
    assert found == [-E.EPERM] * 4
    assert not list(tmp_path.iterdir())


def test_a_dot_behind_a_link_into_another_directory(raw, tmp_path):
    for name in ("outer", "inner"):
        (tmp_path / name).mkdir()
    (tmp_path / "outer" / "link").symlink_to("inner")
    found, _ = raw([79, HERE, "'link/.", "$", 0x100], [35, HERE, "'link/./", 0x200], dirs={
        "/": tmp_path / "outer", "/inner": tmp_path / "inner"})  # fmt: skip
    assert found == [0, -E.EINVAL]


def test_names_are_bytes(raw, tmp_path):
    name = "'b\udcff.txt"
    found, _ = raw([34, HERE, "'d\udcfe", 0o777], [49, "'d\udcfe"], [56, HERE, name, 0o101, 0o600], [64, 3, "'x", 1],
                   [38, HERE, name, HERE, "'c\udcff"], [48, HERE, "'/w/d\udcfe/c\udcff", 0], [17, "$", 100],
                   dirs={"/w": tmp_path})  # fmt: skip
    assert found == [0, 0, 3, 1, 0, 0, 6]
    assert (tmp_path / "d\udcfe" / "c\udcff").read_bytes() == b"x"


def test_what_is_open_can_be_opened_by_its_number(raw, tmp_path):
    """A file gets a position of its own, and may not be used for more than before; a pipe or stream is the same."""
    (tmp_path / "f").write_bytes(b"0123456789")
    found, done = raw(
        [63, 0, "$", 3], [56, HERE, "'/dev/stdin", 0], [63, 3, "$8", 8], [64, 1, "$8", 8], [56, HERE, "'/dev/fd/0", 2],
        [56, HERE, "'f", 2], [62, 4, 7, 0], [56, HERE, "'/proc/self/fd/4", 0], [63, 5, "$", 2], [64, 5, "$", 2],
        [56, HERE, "'/dev/fd/5", 1], [56, HERE, "'/dev/fd/5", 0o1000], [59, "$16", 0], [64, 7, "'ab", 2],
        [56, HERE, "'/dev/fd/6", 0], [63, 8, "$", 9], [56, HERE, "'/dev/stdout", 1], [64, 9, "'!", 1],
        [56, HERE, "'.", 0], [56, HERE, "'/dev/fd/10", 0o40000], [56, HERE, "'/dev/fd/4", 0o40000],
        [56, HERE, "'/dev/fd/77", 0], [56, HERE, "'/dev/fd/07", 0], [56, HERE, "'/dev/fd/6", 0o10000000],
        [79, HERE, "'/dev/fd/4", "$", 0], [57, 8], [63, 6, "$", 0], dirs={"/w": tmp_path}, stdin=b"standard input",
    )  # fmt: skip
    assert found == [3, 3, 8, 8, -E.EACCES, 4, 7, 5, 2, -E.EBADF, -E.EACCES, -E.EACCES, 0, 2, 8, 2, 9, 1, 10, 11,
                     -E.ENOTDIR, -E.ENOENT, -E.ENOENT, -E.EACCES, 0, 0, 0]  # fmt: skip
    assert done.stdout == b"standard!"
    assert (tmp_path / "f").read_bytes() == b"0123456789"


def test_how_much_there_is_to_be_read(raw, tmp_path):
    (tmp_path / "f").write_bytes(b"0123456789")
    ask = 0x541B
    found, done = raw(
        [63, 0, "$64", 3], [29, 0, ask, "$"], [56, HERE, "'f", 0], [62, 3, 4, 0], [29, 3, ask, "$4"], [62, 3, 40, 0],
        [29, 3, ask, "$8"], [59, "$32", 0], [64, 5, "'abc", 3], [29, 4, ask, "$12"], [29, 1, ask, "$"],
        [29, 3, ask, -1], [64, 1, "$", 16], dirs={"/w": tmp_path}, stdin=b"standard input",
    )  # fmt: skip
    assert found == [3, 0, 3, 4, 0, 40, 0, 0, 3, 0, -E.ENOTTY, -E.EFAULT, 16]
    assert struct.unpack("<4i", done.stdout) == (11, 6, 0, 3)


def test_advice_on_files_users_and_children(raw, tmp_path):
    (tmp_path / "f").write_bytes(b"")
    found, done = raw(
        [56, HERE, "'f", 0], [223, 3, 0, 0, 2], [223, 3, 0, 0, 6], [223, 3, 0, -1, 2], [223, 1, 0, 0, 2],
        [223, 9, 0, 0, 2], [148, "$", "$4", "$8"], [150, "$12", "$16", "$20"], [148, "$", "$", -1],
        [260, -1, 0, 0, 0], [95, 0, 0, 0, 0], [64, 1, "$", 24], dirs={"/w": tmp_path},
    )  # fmt: skip
    assert found == [3, 0, -E.EINVAL, -E.EINVAL, -E.ESPIPE, -E.EBADF, 0, 0, -E.EFAULT, -E.ECHILD, -E.ECHILD, 24]
    assert struct.unpack("<6i", done.stdout) == (*os.getresuid(), *os.getresgid())


def test_room_on_the_disk(raw, tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    found, _ = raw(
        [56, HERE, "'f", 2], [47, 3, 0, 5, 10_000], [62, 3, 0, 2],
        [47, 3, 1, 0, 10], [47, 3, 0, 0, 0], [47, 3, 0, -1, 5],
        [56, HERE, "'f", 0], [47, 4, 0, 0, 10], [47, 4, 1, 0, 10], [47, 1, 0, 0, 10], [56, HERE, "'/dev/null", 2],
        [47, 5, 0, 0, 10], dirs={"/w": tmp_path},
    )  # fmt: skip
    assert found == [3, 0, 10_005, -E.EOPNOTSUPP, -E.EINVAL, -E.EINVAL, 4, -E.EBADF, -E.EBADF, -E.ESPIPE, 5, -E.ENODEV]


def test_above_the_directories_that_are_given(raw, tmp_path):
    found, done = raw(
        [43, "'/", "$"], [43, "'/a", "$"], [43, "'/dev/null", "$"], [64, 1, "$", 8], [33, HERE, "'/", 0o600],
        [34, HERE, "'/a", 0o700], [35, HERE, "'/a", 0x200], [35, HERE, "'/", 0], [36, "'x", HERE, "'/a"],
        [56, HERE, "'/a", 0o10000000], [44, 3, "$"], [80, 3, "$"], [52, 3, 0o700], [61, 3, "$", 100],
        [54, 3, "'", -1, -1, 0x1000], dirs={"/a/w": tmp_path},
    )  # fmt: skip
    assert found == [0, 0, 0, 8, -E.EEXIST, -E.EEXIST, -E.EBUSY, -E.EISDIR, -E.EEXIST,
                     3, 0, 0, -E.EBADF, -E.EBADF, -E.EPERM]  # fmt: skip
    assert done.stdout == struct.pack("<q", 0xEF53)


def test_appending(raw, tmp_path):
    (tmp_path / "f").write_bytes(b"12345")
    found, _ = raw([56, HERE, "'f", 2], [25, 3, 4, os.O_APPEND], [64, 3, "'ab", 2], [25, 3, 3], [62, 3, 0, 0],
                   [64, 3, "'c", 1], [25, 3, 4, 0], [62, 3, 0, 0], [64, 3, "'X", 1], dirs={"/w": tmp_path})  # fmt: skip
    assert found[3] & os.O_APPEND
    assert (tmp_path / "f").read_bytes() == b"X2345abc"
