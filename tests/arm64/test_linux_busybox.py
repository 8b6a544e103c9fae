"""busybox in lanes does what it does under qemu-aarch64.

The variable ARM64_BUSYBOX is the path of a static busybox for AArch64, such as that of Debian's package
busybox-static:arm64.
"""

import os

import pytest

from lanewise.arm64 import lane
from lanewise.arm64.linux import hot, run_linux
from lanewise.arm64.runners import Wanted

LINES = b"".join(b"%d word%d x\n" % (number * 7919 % 1000, number % 13) for number in range(500))


@pytest.fixture(scope="session")
def busybox():
    """Its path."""
    path = os.environ.get("ARM64_BUSYBOX")
    if not path:
        pytest.skip("ARM64_BUSYBOX is not set; it is the path of a static busybox for AArch64")
    return path


def filled(path):
    """A directory with files whose times are known."""
    (path / "sub").mkdir(parents=True)
    (path / "a.txt").write_bytes(LINES)
    (path / "given.txt").write_bytes(b"given\n")
    (path / "sub" / "b").write_bytes(b"b\n")
    (path / "link").symlink_to("a.txt")
    for folder, directories, files in os.walk(path):
        for name in (*directories, *files):
            os.utime(os.path.join(folder, name), (1e9, 1e9), follow_symlinks=False)
    return path


@pytest.mark.parametrize(
    ("applet", "stdin"),
    [
        (["echo", "hello", "world"], b""),
        (["cat", "given.txt", "-", "a.txt"], b"between\n"),
        (["sort", "-n", "a.txt"], b""),
        (["sort"], LINES),
        (["wc", "a.txt", "given.txt"], b""),
        (["sha256sum", "a.txt"], b""),
        (["sha1sum"], LINES),
        (["awk", "{s += $1; c[$2]++} END {for (k in c) n++; print s, n, s / 7}", "a.txt"], b""),
        (["sed", "-n", "-e", "s/word1\\([0-9]\\)/W\\1/p"], LINES),
        (["grep", "-c", "word3", "a.txt"], b""),
        (["grep", "-E", "^(1|2)[0-9] "], LINES),
        (["ls", "-ln", "sub", "link", "a.txt"], b""),
        (["ls", "nothing"], b""),
        (["find", "."], b""),
        (["cp", "a.txt", "sub/c"], b""),
        (["mv", "a.txt", "sub/d"], b""),
        (["rm", "-r", "sub"], b""),
        (["mkdir", "-p", "x/y/z"], b""),
        (["gzip", "-c", "a.txt"], b""),
        (["bc"], b"2^200/3\nscale=20;1/7\n"),
        (["seq", "1", "5", "100"], b""),
        (["date", "-u", "-d", "@1000000000"], b""),
        (["sh", "-c", "x=3; for i in 1 2 3; do x=$((x * i)); echo $x; done; cd sub; read y < b; echo $y"], b""),
        (["diff", "a.txt", "given.txt"], b""),
        (["sleep", "0.05"], b""),
        (["nothing"], b""),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else "",
)
def test_applets(busybox, qemu, tmp_path, applet, stdin):
    here, there = filled(tmp_path / "here"), filled(tmp_path / "there")
    expected = qemu(busybox, ["busybox", *applet], stdin=stdin, cwd=there)
    found = run_linux(busybox, argv=["busybox", *applet], stdin=stdin, dirs={"/": here}, timeout=60)[0]
    assert (found.returncode, found.stdout, found.stderr) == expected
    assert not found.unknown_calls
    names = [sorted(str(one.relative_to(folder)) for one in folder.rglob("*")) for folder in (here, there)]
    assert names[0] == names[1]


@pytest.mark.parametrize(
    "command",
    [
        "mkdir -m 700 new", "chmod 700 sub", "chmod 1755 sub", "chmod -R go-rwx .", "chmod 0 a.txt",
        "sed -i s/w/W/ a.txt", "cp -r sub new", "cp -p a.txt new", "cp -a sub new", "cp -a link new",
        "touch -d @5 sub",
    ],
)  # fmt: skip
def test_modes_and_times_are_as_wanted(busybox, qemu, tmp_path, command):
    here, there = filled(tmp_path / "here"), filled(tmp_path / "there")
    for folder in (here, there):
        (folder / "a.txt").chmod(0o640)
        (folder / "sub").chmod(0o750)
        (folder / "sub" / "b").chmod(0o600)
        os.utime(folder / "sub", (1e9, 1e9))
    argv = ["busybox", *command.split()]
    expected = qemu(busybox, argv, cwd=there)
    found = run_linux(busybox, argv=argv, dirs={"/": here}, timeout=60)[0]
    assert (found.returncode, found.stdout, found.stderr) == expected == (0, b"", b"")
    assert not found.unknown_calls
    assert shown(here) == shown(there)


def shown(folder):
    """Names in a directory, with their modes, and with times where these were set."""
    states = {str(one.relative_to(folder)): one.lstat() for one in folder.rglob("*")}
    return {name: (one.st_mode, one.st_mtime if one.st_mtime < 1.1e9 else None) for name, one in states.items()}


@pytest.mark.parametrize(
    "applet", [["sort", "-n", "-"], ["sha256sum"], ["awk", "{s += $1} END {print s}"], ["gzip", "-c"], ["tac"]]
)
def test_lanes_of_every_device_do_what_one_does_on_a_cpu(busybox, device, applet):
    """What that does, qemu has a say in above."""
    argv = [["busybox", *applet], ["busybox", "sed", "-e", "s/1/one/"], ["busybox", "sh", "-c", "read x; echo $x"]]
    given = [LINES[number:] for number in range(3)]
    wanted = [run_linux(busybox, argv=argv[at], stdin=given[at], device="cpu", timeout=60)[0] for at in range(3)]
    found = run_linux(busybox, argv=argv, stdin=given, lanes=3, device=device, timeout=100)
    for at in range(3):
        assert (found[at].returncode, found[at].stdout, found[at].stderr) == (0, wanted[at].stdout, b"")


ONLY_READ = [
    ["echo", "hello", "world"], ["cat", "given.txt", "/dev/stdin", "a.txt"], ["sort", "-n", "a.txt"], ["wc", "a.txt"],
    ["sha256sum", "a.txt"], ["md5sum"], ["awk", "{s += $1; c[$2]++} END {for (k in c) n++; print s, n / 7}", "a.txt"],
    ["sed", "-n", "-e", "s/word1\\([0-9]\\)/W\\1/p"], ["grep", "-E", "^(1|2)[0-9] "], ["ls", "-ln", "sub", "a.txt"],
    ["find", "."], ["gzip", "-c", "a.txt"], ["bc"], ["seq", "1", "5", "100"], ["diff", "a.txt", "given.txt"],
    ["sh", "-c", "x=3; for i in 1 2 3; do x=$((x * i)); echo $x; done; cd sub; read y < b; echo $y"], ["nothing"],
]  # fmt: skip
"""Applets that can run beside each other in one directory."""
OFTEN = 16
"""Instructions after which a lane says where it is."""


def test_applets_do_the_same_translated(busybox, qemu, tmp_path, monkeypatch):
    """Most are over before anything is translated. So here what they were seen in is translated for a second run."""
    folder, argv = filled(tmp_path / "here"), [["busybox", *applet] for applet in ONLY_READ]
    expected = [qemu(busybox, one, stdin=LINES, cwd=folder) for one in argv]
    runs = []

    def run():
        found = run_linux(busybox, argv=argv, stdin=LINES, lanes=len(argv), dirs={"/": folder}, timeout=60)
        assert [(one.returncode, one.stdout, one.stderr) for one in found] == expected
        return runs[-1]._cpu.untranslated()

    def begin(self):
        runs.append(self)
        self._cpu.use_translation(self._now)

    monkeypatch.setattr(hot.HotCode, "begin", begin)  # and never look whether there is more to translate
    monkeypatch.setattr(lane, "SAMPLED_STEPS", OFTEN)
    monkeypatch.setattr(lane, "FEW_STEPS", OFTEN)
    monkeypatch.setattr(hot, "_SHARE", 1)
    monkeypatch.setattr(hot, "_MOST_NEW", 10_000)
    met = run()
    entries = runs[0]._hot(runs[0]._now, met)
    monkeypatch.setattr(hot.HotCode, "_remembered", lambda self, key: tuple(entries))
    monkeypatch.setattr(Wanted, "is_there", lambda self, target: True)
    left = run()
    assert sum(left.values()) < sum(met.values()) / 2
