"""No path leads out of a preopened directory, whatever links there are and whoever swaps them meanwhile."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from worlds import ROOT, HostWorld, snapshot

from lanewise.host import paths
from lanewise.kernel import wasi_numbers as wasi

READ, WRITE = wasi.RIGHT_FD_READ, wasi.RIGHT_FD_WRITE
SECRET = b"outside"


@pytest.fixture
def worlds(tmp_path):
    """A world in `tree`, beside `outside`, which nothing may reach."""
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    for directory, content in ((tree, b"inside"), (outside, SECRET)):
        (directory / "sub" / "deep").mkdir(parents=True)
        for place in (directory, directory / "sub", directory / "sub" / "deep"):
            (place / "secret").write_bytes(content)
    world = HostWorld(tree)
    yield world, tree, outside
    world.close()


def hostile_paths(tree, outside):
    """Paths that would lead out if they were believed; makes the links that they need."""
    links = {
        "up": "..",
        "up_slash": "../",
        "up_twice": "sub/../..",
        "root": "/",
        "out": "../outside",
        "out_slash": "../outside/",
        "out_absolute": str(outside),
        "secret_relative": "../outside/secret",
        "secret_absolute": str(outside / "secret"),
        "back_in": f"../{tree.name}/secret",
        "back_in_absolute": str(tree / "secret"),
        "chain_1": "chain_2",
        "chain_2": "sub/chain_3",
        "sub/chain_3": "../out",
        "sub/up": "../..",
        "sub/deep/far": "../../../outside",
        "to_deep": "sub/deep",
        "dotted": "./.././outside/./secret",
        "proc": "/proc/self/root",
        "new_outside": "../outside/new",
    }
    for name, content in links.items():
        os.symlink(content, tree / name)
    found = [b"..", b"../", b"../outside/secret", b"./../outside/secret", b"sub/../../outside/secret"]
    found += [b"sub/deep/../../../outside/secret", b"/", b"//", bytes(outside), bytes(outside / "secret")]
    found += [b"/" + bytes(outside), b"../tree/secret", b".././outside", b"sub/deep/../../..", b"..//..//etc/passwd"]
    found += [b"to_deep/../../../outside/secret", b"to_deep/../../..", b"sub/./../.././outside/sub/secret"]
    found += [b"..\\outside\\secret", b"../outside/new", b"sub/../../outside/new"]
    for link in links:
        name = link.encode()
        found += [name, name + b"/", name + b"/.", name + b"/..", name + b"/secret", name + b"/sub/secret"]
        found += [name + b"/outside/secret", name + b"/new", b"sub/../" + name, b"to_deep/../../" + name + b"/secret"]
    return found


OPERATIONS = {
    "open": lambda world, path, fd: world.open(path, 1, 0, READ, fd=fd),
    "open, not following": lambda world, path, fd: world.open(path, 0, 0, READ, fd=fd),
    "open to write": lambda world, path, fd: world.open(path, 1, 0, READ | WRITE, fd=fd),
    "open directory": lambda world, path, fd: world.open(path, 1, wasi.OFLAG_DIRECTORY, READ, fd=fd),
    "create": lambda world, path, fd: world.open(path, 1, wasi.OFLAG_CREAT, READ | WRITE, fd=fd),
    "truncate": lambda world, path, fd: world.open(path, 1, wasi.OFLAG_TRUNC, WRITE, fd=fd),
    "create directory": lambda world, path, fd: world.create_directory(path, fd),
    "stat": lambda world, path, fd: world.path_stat(path, 1, fd),
    "set times": lambda world, path, fd: world.path_set_times(path, 1, 5, 5, 5, fd),
    "link from": lambda world, path, fd: world.link(path, b"made", 0, fd, ROOT),
    "link to": lambda world, path, fd: world.link(b"secret", path, 0, ROOT, fd),
    "rename from": lambda world, path, fd: world.rename(path, b"made", fd, ROOT),
    "rename to": lambda world, path, fd: world.rename(b"sub/secret", path, ROOT, fd),
    "symlink": lambda world, path, fd: world.symlink(b"x", path, fd),
    "readlink": lambda world, path, fd: world.readlink(path, fd=fd),
    "remove directory": lambda world, path, fd: world.remove_directory(path, fd),
    "unlink": lambda world, path, fd: world.unlink(path, fd),
}


def identities(directory):
    """Which files there are outside, by device and inode, the directory itself included."""
    found = set()
    for path, directories, files in os.walk(directory):
        for name in (".", *directories, *files):
            status = os.lstat(os.path.join(path, name))
            found.add((status.st_dev, status.st_ino))
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_hostile_paths_reach_nothing_outside(worlds, operation):
    world, tree, outside = worlds
    before, times = snapshot(outside), {path: os.stat(path).st_mtime_ns for path in outside.rglob("*")}
    forbidden = identities(outside) | {(os.stat("/").st_dev, os.stat("/").st_ino)}
    beside = sorted(os.listdir(tree.parent))
    spare = tree.parent / "spare"
    hostile = hostile_paths(tree, outside)
    shutil.copytree(tree, spare, symlinks=True)
    for path in hostile:
        for start in (b".", b"sub"):
            error, fd = world.open(start)
            assert error == 0
            result = OPERATIONS[operation](world, path, fd)
            if operation.startswith(("open", "create", "truncate")) and isinstance(result, tuple) and result[0] == 0:
                status = world.stat(result[1])[1]
                assert tuple(int.from_bytes(status[at : at + 8], "little") for at in (0, 8)) not in forbidden, path
                assert world.pread(result[1], 99, 0)[1] != SECRET, path
                world.close_file(result[1])
            if operation == "stat" and result[0] == 0:
                found = tuple(int.from_bytes(result[1][at : at + 8], "little") for at in (0, 8))
                assert found not in forbidden, path
            assert snapshot(outside) == before, path
            world.close_file(fd)
            if operation in ("unlink", "rename from", "rename to", "remove directory"):
                for name in os.listdir(spare):  # put back what may be gone
                    if not os.path.lexists(tree / name) and os.path.islink(spare / name):
                        os.symlink(os.readlink(spare / name), tree / name)
    shutil.rmtree(spare)
    assert {path: os.stat(path).st_mtime_ns for path in outside.rglob("*")} == times
    assert sorted(os.listdir(tree.parent)) == beside


def test_escapes_are_told_apart_from_what_is_missing(worlds):
    world, tree, outside = worlds
    hostile_paths(tree, outside)
    for path in (b"..", b"/", b"../outside/secret", b"out/secret", b"secret_absolute", b"chain_1/secret", b"proc"):
        assert world.open(path, 1)[0] == wasi.EPERM
    assert world.open(b"missing/../..", 1)[0] == wasi.ENOENT


def test_links_are_followed_forty_times_and_no_more(worlds):
    world, tree, _ = worlds
    os.symlink("secret", tree / "link_1")
    for number in range(2, 43):
        os.symlink(f"link_{number - 1}", tree / f"link_{number}")
    assert world.open(b"link_40", 1)[0] == 0
    assert world.open(b"link_41", 1)[0] == wasi.ELOOP
    os.symlink("ring_2", tree / "ring_1")
    os.symlink("ring_1/x", tree / "ring_2")
    assert world.open(b"ring_1", 1)[0] == wasi.ELOOP
    assert world.open(b"ring_1/y", 1)[0] == wasi.ELOOP


def test_deep_paths_hold_few_directories_open_and_lead_back(worlds, monkeypatch):
    world, _, _ = worlds
    depth, most = 300, 0
    real_open, held = os.open, set()

    def watched_open(*arguments, **options):
        nonlocal most
        descriptor = real_open(*arguments, **options)
        held.add(descriptor)
        most = max(most, len(held))
        return descriptor

    def watched_close(descriptor, real_close=os.close):
        held.discard(descriptor)
        real_close(descriptor)

    for level in range(1, depth + 1):
        assert world.create_directory(b"d/" * level) == 0
    monkeypatch.setattr(paths.os, "open", watched_open)
    monkeypatch.setattr(paths.os, "close", watched_close)
    error, fd = world.open(b"d/" * depth + b"../" * depth + b"secret")
    assert error == 0
    assert world.read(fd, 99) == (0, b"inside")
    assert most <= paths.DIRECTORIES_HELD + 2
    assert world.open(b"d/" * depth + b"../" * (depth + 1) + b"secret")[0] == wasi.EPERM
    assert held == {world.lane._files[fd].descriptor}


@contextmanager
def racing(script, *arguments):
    """Another process that does something over and over."""
    code = f"import os, sys\nhere = sys.argv[1:]\nprint(flush=True)\nwhile True:\n{script}"
    process = subprocess.Popen([sys.executable, "-S", "-c", code, *map(str, arguments)], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        yield
        assert process.poll() is None, "it was there all the time"
    finally:
        process.kill()
        process.communicate()


SWAP = """
    os.rename(here[0], here[1]); os.rename(here[2], here[0])
    os.rename(here[0], here[2]); os.rename(here[1], here[0])
"""


def test_swapping_a_directory_for_a_link_opens_no_way_out(worlds):
    world, tree, outside = worlds
    (tree / "door").mkdir()
    (tree / "door" / "secret").write_bytes(b"inside")
    os.symlink("../outside", tree / "link")
    os.symlink("door", tree / "to_door")
    before = snapshot(outside)
    beneath = identities(outside)
    seen = set()
    with racing(SWAP, tree / "door", tree / "spare", tree / "link"):
        end = time.monotonic() + 1
        while time.monotonic() < end:
            for path in (b"door/secret", b"door/../door/secret", b"to_door/secret"):
                error, fd = world.open(path, 1, 0, READ | WRITE)
                seen.add(error)
                if error == 0:
                    assert world.read(fd, 99) == (0, b"inside")
                    world.close_file(fd)
            error, status = world.path_stat(b"door/secret", 1)
            if error == 0:
                assert tuple(int.from_bytes(status[at : at + 8], "little") for at in (0, 8)) not in beneath
            error, fd = world.open(b"door", 1, wasi.OFLAG_DIRECTORY)
            if error == 0:
                assert world.open(b"sub", fd=fd)[0] == wasi.ENOENT
                world.close_file(fd)
            _, fd = world.open(b"door/made", 1, wasi.OFLAG_CREAT, WRITE)
            if fd is not None:
                world.close_file(fd)
            world.rename(b"door/made", b"door/moved")
            world.link(b"door/moved", b"door/linked")
            world.symlink(b"x", b"door/symbolic")
            world.create_directory(b"door/directory")
            world.remove_directory(b"door/directory")
            for name in (b"moved", b"linked", b"symbolic"):
                world.unlink(b"door/" + name)
            world.path_set_times(b"door/secret", 1, 5, 5, 5)
    assert snapshot(outside) == before
    assert os.stat(outside / "secret").st_mtime_ns != 5
    assert wasi.SUCCESS in seen
    assert len(seen) > 1, "the race was not won once: it tested nothing"


MOVE = """
    os.rename(here[0], here[1]); os.rename(here[1], here[0])
"""


def test_moving_a_directory_out_takes_nobody_along(worlds):
    world, tree, outside = worlds
    (tree / "one" / "two").mkdir(parents=True)
    seen = set()
    with racing(MOVE, tree / "one" / "two", outside / "sub" / "two"):
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            error, fd = world.open(b"one/two/../../secret", 1)
            seen.add(error)
            if error == 0:
                assert world.read(fd, 99) == (0, b"inside")
                world.close_file(fd)
            assert world.open(b"one/two/../../../outside/secret", 1)[0] in (wasi.EPERM, wasi.ENOENT)
    assert wasi.SUCCESS in seen
    assert seen <= {wasi.SUCCESS, wasi.ENOENT}
