"""Files that are only read come as copies, made once for all lanes; and what a lane writes it sees."""

import os
import threading
import time
from pathlib import Path

import pytest
from worlds import HostWorld

from lanewise.host import copies, filestat
from lanewise.host.files import Filesystem, LaneFiles
from lanewise.kernel import wasi_numbers as wasi

READ, WRITE = wasi.RIGHT_FD_READ, wasi.RIGHT_FD_WRITE


class Memory:
    """Where copies are put: gives addresses and counts."""

    def __init__(self, pause: float = 0) -> None:
        self.placed: list[bytes] = []
        self.full = False
        self._pause = pause

    def __call__(self, data: bytes) -> int:
        time.sleep(self._pause)
        self.placed.append(data)
        return 0 if self.full else len(self.placed) << 12

    def __getitem__(self, address: int) -> bytes:
        return self.placed[(address >> 12) - 1]


@pytest.fixture
def memory():
    return Memory()


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "file").write_bytes(b"content")
    (tmp_path / "other").write_bytes(b"other")
    settle()
    return tmp_path


@pytest.fixture
def world(tree, memory):
    world = HostWorld(tree, memory)
    yield world
    world.close()


def settle():
    """Wait until files that were just made may be copied."""
    time.sleep(filestat.SETTLED_NS / 1e9 + 0.02)


def address(world, path=b"sub/file", **options):
    """Open a file, and say where its copy is."""
    error, _ = world.open(path, 1, **options)
    assert error == 0
    return world.opened[4]


def open_files():
    return len(os.listdir("/proc/self/fd"))


def test_a_copy_is_a_filestat_and_the_content(world, memory, tree):
    found = memory[address(world)]
    handle, kind, rights, inheriting, _, written = world.opened
    assert found[wasi.FILESTAT_BYTES :] == b"content"
    status = world.path_stat(b"sub/file")[1]
    assert (found[:40], found[48:64]) == (status[:40], status[48:]), "but for the time of access, which was just now"
    assert handle >= wasi.FIRST_HANDLE
    assert (kind, written) == (wasi.REGULAR_FILE, 0)
    assert rights == inheriting == 0x3FFFFFBF


def test_ten_thousand_lanes_cost_one_read_and_no_descriptor(tree, memory):
    filesystem = Filesystem([(tree, "/")], memory)
    lanes = [LaneFiles(filesystem) for _ in range(10_000)]
    before = open_files()
    words = 0, 0, 0, 0, READ, 0
    addresses = {lane.request(wasi.REQUEST_OPEN, words, b"sub/file", 0).values[4] for lane in lanes}
    assert len(addresses) == len(memory.placed) == 1
    assert open_files() <= before  # others may close some meanwhile, such as those of compile workers that end
    filesystem.close()


def test_lanes_that_open_at_once_share_a_read(tree):
    memory = Memory(pause=0.05)
    filesystem = Filesystem([(tree, "/")], memory)
    barrier = threading.Barrier(8)
    found = []

    def run():
        lane = LaneFiles(filesystem)
        barrier.wait()
        found.append(lane.request(wasi.REQUEST_OPEN, (0, 0, 0, 0, READ, 0), b"sub/file", 0).values[4])
        lane.close()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 8
    assert len(memory.placed) == 1
    filesystem.close()


def test_a_changed_file_gets_a_new_copy_even_if_its_size_is_the_same(world, memory, tree):
    first = address(world)
    (tree / "sub" / "file").write_bytes(b"CONTENT")
    settle()
    second = address(world)
    assert (memory[first][64:], memory[second][64:]) == (b"content", b"CONTENT")
    assert address(world) == second


def test_a_file_that_was_changed_just_now_is_not_copied(world, memory, tree):
    (tree / "sub" / "file").write_bytes(b"again..")
    assert address(world) == 0
    assert world.read(world.opened[0], 99) == (0, b"again..")
    settle()
    assert memory[address(world)][64:] == b"again.."


def test_all_names_of_a_file_share_its_copy(world, memory, tree):
    os.link(tree / "sub" / "file", tree / "hard")
    os.symlink("sub/file", tree / "soft")
    settle()
    found = {address(world, path) for path in (b"sub/file", b"hard", b"soft", b"sub/../sub/./file")}
    assert len(found) == len(memory.placed) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"rights": READ | WRITE},
        {"rights": WRITE},
        {"oflags": wasi.OFLAG_CREAT},
        {"oflags": wasi.OFLAG_TRUNC},
        {"fdflags": wasi.FDFLAG_APPEND},
    ],
    ids=str,
)
def test_what_may_be_changed_is_not_copied(world, memory, options):
    assert address(world, **options) == 0
    assert memory.placed == []


def test_what_is_no_file_of_moderate_size_is_not_copied(world, memory, tree):
    with open(tree / "large", "wb") as file:
        file.truncate(copies.LARGEST_COPY + 1)
    with open(tree / "largest", "wb") as file:
        file.truncate(copies.LARGEST_COPY)
    os.mkfifo(tree / "pipe")
    settle()
    assert address(world, b"large") == 0
    assert address(world, b"pipe") == 0
    assert address(world, b"sub") == 0
    assert memory.placed == []
    assert len(memory[address(world, b"largest")]) == 64 + copies.LARGEST_COPY


def test_files_whose_size_says_nothing_are_not_copied(memory):
    world = HostWorld(Path("/proc/self"), memory)
    assert address(world, b"stat") == 0
    assert world.read(world.opened[0], 5)[1].startswith(str(os.getpid()).encode()[:5])
    world.close()


def test_a_file_that_changes_while_it_is_read_is_not_copied(world, memory, tree, monkeypatch):
    real = os.pread

    def slow(descriptor, count, offset):
        data = real(descriptor, count, offset)
        with open(tree / "sub" / "file", "r+b") as file:
            file.write(b"C")
        return data

    monkeypatch.setattr(copies.os, "pread", slow)
    assert address(world) == 0
    assert memory.placed == []


def test_without_room_files_are_files_and_are_not_read_again(world, memory, monkeypatch):
    memory.full = True
    assert address(world) == 0
    assert world.read(world.opened[0], 99) == (0, b"content")
    monkeypatch.setattr(copies, "_read", pytest.fail)
    assert address(world) == 0
    assert len(memory.placed) == 1


def test_a_lane_sees_what_it_writes(world, memory):
    first = address(world)
    copy = world.opened[0]
    assert memory[first][64:] == b"content"
    assert world.open(b"other", rights=WRITE)[0] == 0
    assert world.opened[5] == 0, "it has no copy of that one"
    error, writer = world.open(b"sub/file", rights=READ | WRITE)
    assert (error, world.opened[5]) == (0, 1), "copies must be let go of"
    reply = world.ask(wasi.REQUEST_REOPEN, copy, 3)
    assert reply.errno == 0
    assert world.pwrite(writer, b"TENT", 3) == (0, 4)
    assert world.read(reply.values[0], 99) == (0, b"TENT")
    assert world.tell(reply.values[0]) == (0, 7)
    assert world.write(reply.values[0], b"x")[0] == wasi.EBADF
    settle()
    assert address(world) == 0, "it has the file open to write"
    assert world.close_file(writer) == 0
    assert memory[address(world)][64:] == b"conTENT"


def test_truncating_without_writing_lets_go_of_copies_too(world):
    address(world)
    world.open(b"sub/file", oflags=wasi.OFLAG_TRUNC, rights=READ)
    assert world.opened[5] == 1


def test_what_one_lane_writes_does_not_concern_the_copies_of_others(world):
    other = LaneFiles(world.filesystem)
    address(world)
    reply = other.request(wasi.REQUEST_OPEN, (0, 0, 0, 0, READ | WRITE, 0), b"sub/file", 0)
    assert (reply.errno, reply.values[5]) == (0, 0)
    other.close()


def test_reopening_works_after_the_directory_it_was_opened_from_is_closed(world):
    _, sub = world.open(b"sub")
    assert address(world, b"file", fd=sub) != 0
    copy = world.opened[0]
    world.close_file(sub)
    reply = world.ask(wasi.REQUEST_REOPEN, copy, 0)
    assert world.read(reply.values[0], 99) == (0, b"content")


def test_reopening_a_file_that_is_gone_or_another_fails(world, tree, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    file = tree / "sub" / "file"
    os.link(file, outside / "file")
    settle()
    address(world)
    copy = world.opened[0]
    reopen = lambda: world.ask(wasi.REQUEST_REOPEN, copy, 0).errno  # noqa: E731
    before = open_files()
    os.rename(file, tree / "sub" / "moved")
    assert reopen() == wasi.EIO
    file.write_bytes(b"another")
    assert reopen() == wasi.EIO
    file.unlink()
    os.symlink("moved", file)
    assert reopen() == wasi.EIO
    os.rename(tree / "sub", tree / "away")
    assert reopen() == wasi.EIO
    os.symlink(outside, tree / "sub")  # the very file, but outside
    assert reopen() == wasi.EIO
    (tree / "sub").unlink()
    (tree / "sub").mkdir()
    os.rename(tree / "away" / "moved", file)
    assert open_files() == before
    assert reopen() == wasi.SUCCESS


def test_handles_of_copies_are_few_and_only_for_reopening(world):
    handles = set()
    for _ in range(100):
        address(world)
        handles.add(world.opened[0])
    assert len(handles) == 1
    copy = handles.pop()
    assert world.read(copy, 1)[0] == wasi.EBADF
    assert world.stat(copy)[0] == wasi.EBADF
    assert world.open(b"x", fd=copy)[0] == wasi.ENOTDIR
    assert world.close_file(copy) == 0
    assert world.ask(wasi.REQUEST_REOPEN, copy, 0).errno == 0, "others may have it still"
    assert world.ask(wasi.REQUEST_REOPEN, 99, 0).errno == wasi.EBADF
    assert world.ask(wasi.REQUEST_REOPEN, 0, 0).errno == wasi.EBADF
