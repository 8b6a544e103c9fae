"""Pipes and terminals: what has to be waited for is waited for, by those who may, and until they are interrupted."""

import os
import pty
import struct
import threading
import time

import pytest
from worlds import ROOT, HostWorld, make_tree

from lanewise.kernel import wasi_numbers as wasi

READ, WRITE = wasi.RIGHT_FD_READ, wasi.RIGHT_FD_WRITE
READY, HANGUP = wasi.POLL_READY, wasi.POLL_HANGUP
MILLISECOND = 1_000_000


@pytest.fixture
def world(tmp_path):
    make_tree(tmp_path / "tree")
    os.mkfifo(tmp_path / "tree" / "pipe")
    world = HostWorld(tmp_path / "tree")
    yield world
    world.close()


@pytest.fixture
def pipe(tmp_path):
    return tmp_path / "tree" / "pipe"


def poll(world, *pairs, wait=0):
    data = b"".join(struct.pack("<II", handle, kind) for handle, kind in pairs)
    reply = world.ask(wasi.REQUEST_POLL, wait, data=data)
    return reply.errno, [answer for (answer,) in struct.iter_unpack("<I", reply.data)], *reply.values


def later(act):
    thread = threading.Timer(0.05, act)
    thread.start()
    return thread


def test_opening_a_pipe_waits_for_nobody(world):
    assert world.open(b"pipe")[0] == 0
    assert world.kind(world.opened[0]) == wasi.UNKNOWN
    assert world.open(b"pipe", rights=READ | WRITE)[0] == 0


def test_a_pipe_that_nobody_reads_cannot_be_opened_to_write(world):
    assert world.open(b"pipe", rights=WRITE)[0] == wasi.ENXIO


def test_reading_waits_for_the_first_writer_and_ends_with_the_last(world, pipe):
    _, fd = world.open(b"pipe")
    assert world.lane.may_block(wasi.REQUEST_READ, (fd, 9))
    thread = later(lambda: pipe.write_bytes(b"data"))
    assert world.read(fd, 3) == (0, b"dat")
    assert world.read(fd, 3) == (0, b"a")
    thread.join()
    assert world.read(fd, 3) == (0, b"")


def test_with_nonblock_nobody_waits(world, pipe):
    _, fd = world.open(b"pipe", rights=READ, fdflags=wasi.FDFLAG_NONBLOCK)
    assert not world.lane.may_block(wasi.REQUEST_READ, (fd, 9))
    writer = os.open(pipe, os.O_WRONLY)
    assert world.read(fd, 9)[0] == wasi.EAGAIN
    os.write(writer, b"x")
    assert world.read(fd, 9) == (0, b"x")
    assert world.set_flags(fd, 0) == 0
    assert world.lane.may_block(wasi.REQUEST_READ, (fd, 9))
    os.close(writer)


def test_writing_waits_for_room_and_fails_without_a_reader(world, pipe):
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    _, fd = world.open(b"pipe", rights=WRITE)
    assert world.lane.may_block(wasi.REQUEST_WRITE, (fd,))
    total = 0
    while poll(world, (fd, wasi.EVENT_FD_WRITE))[1] == [READY]:
        total += world.write(fd, bytes(100_000))[1]
    thread = later(lambda: os.read(reader, total))
    assert world.write(fd, b"more") == (0, 4)
    thread.join()
    os.close(reader)
    assert world.write(fd, b"more")[0] == wasi.EPIPE


def test_streams_are_only_used_for_what_they_were_opened_for(world, pipe):
    _, reader = world.open(b"pipe")
    _, writer = world.open(b"pipe", rights=WRITE)
    assert world.read(writer, 1)[0] == wasi.EBADF
    assert world.write(reader, b"x")[0] == wasi.EBADF


def test_streams_have_no_positions(world):
    _, fd = world.open(b"pipe", rights=READ | WRITE)
    assert world.write(fd, b"data") == (0, 4)
    assert world.seek(fd, 0, wasi.WHENCE_CUR)[0] == wasi.ESPIPE
    assert world.tell(fd)[0] == wasi.ESPIPE
    assert world.pread(fd, 1, 0)[0] == wasi.ESPIPE
    assert world.pwrite(fd, b"x", 0)[0] == wasi.ESPIPE
    assert world.read(fd, 9) == (0, b"data")


def test_interrupting_ends_all_waiting(world):
    _, fd = world.open(b"pipe", rights=READ | WRITE)
    thread = later(world.filesystem.interrupt)
    assert world.read(fd, 1)[0] == wasi.EINTR
    thread.join()
    assert world.read(fd, 1)[0] == wasi.EINTR, "from now on"
    assert poll(world, (fd, wasi.EVENT_FD_READ), wait=(1 << 64) - 1)[0] == wasi.EINTR
    assert world.pread(world.open(b"file")[1], 5, 0) == (0, b"hello"), "what does not wait goes on"


def test_a_terminal_is_read_by_the_line(tmp_path):
    master, slave = pty.openpty()
    world = HostWorld("/dev/pts")
    error, fd = world.open(os.path.basename(os.ttyname(slave)).encode(), rights=READ | WRITE)
    assert (error, world.kind(fd)) == (0, wasi.CHARACTER_DEVICE)
    os.write(master, b"half")
    assert poll(world, (fd, wasi.EVENT_FD_READ))[1] == [0]
    os.write(master, b"line\n")
    assert world.lane.may_block(wasi.REQUEST_READ, (fd, 99))
    assert world.read(fd, 99) == (0, b"halfline\n")
    world.close()
    os.close(master)
    os.close(slave)


def test_devices_without_waiting_are_like_files():
    world = HostWorld("/dev")
    _, fd = world.open(b"null", rights=READ | WRITE)
    assert not world.lane.may_block(wasi.REQUEST_READ, (fd, 1))
    assert world.write(fd, b"gone") == (0, 4)
    assert world.read(fd, 9) == (0, b"")
    world.close()


def test_polling_files_answers_at_once(world):
    _, fd = world.open(b"file", rights=READ | WRITE)
    assert poll(world, (fd, wasi.EVENT_FD_READ), wait=10**12) == (0, [READY], 5)
    assert poll(world, (fd, wasi.EVENT_FD_WRITE)) == (0, [READY], 0)
    world.seek(fd, 0, wasi.WHENCE_END)
    assert poll(world, (fd, wasi.EVENT_FD_READ)) == (0, [READY | HANGUP], 0)
    assert poll(world, (fd, wasi.EVENT_FD_WRITE), (fd, wasi.EVENT_FD_READ))[1] == [READY, READY | HANGUP]


def test_polling_pipes_waits_for_one(world, pipe):
    _, fd = world.open(b"pipe")
    _, file = world.open(b"file")
    assert poll(world, (fd, wasi.EVENT_FD_READ)) == (0, [0], 0)
    began = time.monotonic()
    assert poll(world, (fd, wasi.EVENT_FD_READ), wait=20 * MILLISECOND) == (0, [0], 0)
    assert time.monotonic() - began >= 0.02
    assert poll(world, (fd, wasi.EVENT_FD_READ), (file, wasi.EVENT_FD_READ), wait=10**12)[1] == [0, READY]
    thread = later(lambda: pipe.write_bytes(b"data"))
    assert poll(world, (fd, wasi.EVENT_FD_READ), wait=(1 << 64) - 1)[:2] == (0, [READY])
    thread.join()
    assert poll(world, (fd, wasi.EVENT_FD_READ)) == (0, [READY], 4)
    assert world.read(fd, 9) == (0, b"data")
    assert poll(world, (fd, wasi.EVENT_FD_READ)) == (0, [READY | HANGUP], 0)


def test_polling_standard_input_asks_the_process(world):
    before = os.dup(0)
    reader, writer = os.pipe()
    os.dup2(reader, 0)
    try:
        stdin = wasi.STDIN_HANDLE, wasi.EVENT_FD_READ
        assert poll(world, stdin) == (0, [0], 0)
        os.write(writer, b"abc")
        assert poll(world, stdin, wait=10**12) == (0, [READY], 3)
        assert poll(world, (wasi.STDIN_HANDLE, wasi.EVENT_FD_WRITE))[0] == wasi.EBADF
        os.read(reader, 3)
        os.close(writer)
        assert poll(world, stdin) == (0, [READY | HANGUP], 0)
        os.close(0)
        assert poll(world, stdin, wait=10**12) == (0, [READY | HANGUP], 0)
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(reader)


def test_polling_what_is_not_there_fails_as_a_whole(world):
    _, fd = world.open(b"file")
    good = fd, wasi.EVENT_FD_READ
    for bad in (99, ROOT, 0, world.open(b"sub")[1]):
        assert poll(world, good, (bad, wasi.EVENT_FD_READ))[0] == wasi.EBADF
    for kind in (wasi.EVENT_CLOCK, 3, 1 << 31):
        assert poll(world, good, (fd, kind))[0] == wasi.EINVAL
    assert world.ask(wasi.REQUEST_POLL, 0, data=b"odd").errno == wasi.EINVAL
    assert poll(world) == (0, [], 0)


def test_only_what_may_wait_is_said_to(world):
    _, file = world.open(b"file", rights=READ | WRITE)
    _, pipe = world.open(b"pipe", rights=READ | WRITE)
    may = world.lane.may_block
    assert may(wasi.REQUEST_POLL, (1,))
    assert not may(wasi.REQUEST_POLL, (0,))
    assert may(wasi.REQUEST_SYNC, (file,))
    assert may(wasi.REQUEST_READ, (pipe, 1))
    for op in (wasi.REQUEST_READ, wasi.REQUEST_WRITE, wasi.REQUEST_SEEK, wasi.REQUEST_CLOSE):
        assert not may(op, (file, 1))
    assert not may(wasi.REQUEST_SEEK, (pipe, 0, 0))
    assert not may(wasi.REQUEST_READ, (99, 1))
    assert not may(wasi.REQUEST_READ, ())
    assert not may(wasi.REQUEST_OPEN, (0,))
