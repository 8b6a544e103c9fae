"""Directories are read in pieces of any size, and what happens meanwhile moves no entry."""

import os
import socket
import struct
import time

import pytest
from worlds import ROOT, HostWorld

from lanewise.host import filestat, listings
from lanewise.host.files import LaneFiles
from lanewise.kernel import wasi_numbers as wasi


@pytest.fixture
def world(tmp_path):
    world = HostWorld(tmp_path)
    yield world
    world.close()


def names(encoded):
    found = []
    while encoded:
        _, _, length, _ = struct.unpack("<QQIB3x", encoded[:24])
        found.append(encoded[24 : 24 + length].decode())
        encoded = encoded[24 + length :]
    return found


def piece(world, cookie, room, skip):
    reply = world.ask(wasi.REQUEST_READDIR, 0, cookie, room, skip)
    assert reply.errno == 0
    return reply.data


def test_pieces_put_together_are_the_whole(world, tmp_path):
    for number in range(500):
        (tmp_path / f"file{number}").touch()
    whole = piece(world, 0, 1 << 20, 0)
    assert sorted(names(whole)[2:]) == sorted(os.listdir(tmp_path))
    for room in (1, 7, 24, 1000, len(whole)):
        skips = range(0, min(len(whole), 500 * room), room)
        together = b"".join(piece(world, 0, room, skip) for skip in skips)
        assert together == whole[: len(together)]
    assert piece(world, 0, 99, len(whole)) == b""
    assert piece(world, 0, 99, (1 << 64) - 1) == b""
    assert piece(world, (1 << 64) - 1, 99, (1 << 64) - 1) == b""


def test_what_happens_during_a_pass_moves_no_entry(world, tmp_path):
    for number in range(20):
        (tmp_path / f"file{number}").touch()
    whole = piece(world, 0, 1 << 20, 0)
    for number in range(10):
        (tmp_path / f"file{number}").unlink()
        (tmp_path / f"new{number}").touch()
    assert piece(world, 0, 1 << 20, 30) == whole[30:]
    assert names(piece(world, 12, 1 << 20, 0)) == names(whole)[12:]
    assert sorted(names(piece(world, 0, 1 << 20, 0))[2:]) == sorted(os.listdir(tmp_path))


def test_entries_have_inodes_and_kinds(world, tmp_path):
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").touch()
    os.symlink("nowhere", tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
    encoded = piece(world, 0, 1 << 20, 0)
    found = {}
    while encoded:
        _, inode, length, kind = struct.unpack("<QQIB3x", encoded[:24])
        found[encoded[24 : 24 + length].decode()] = inode, kind
        encoded = encoded[24 + length :]
    inode = {name: os.lstat(tmp_path / name).st_ino for name in (".", *os.listdir(tmp_path))}
    assert found == {
        ".": (inode["."], wasi.DIRECTORY),
        "..": (inode["."], wasi.DIRECTORY),
        "directory": (inode["directory"], wasi.DIRECTORY),
        "file": (inode["file"], wasi.REGULAR_FILE),
        "link": (inode["link"], wasi.SYMBOLIC_LINK),
        "pipe": (inode["pipe"], wasi.UNKNOWN),
        "socket": (inode["socket"], wasi.UNKNOWN),
    }


def test_devices_have_their_kinds(tmp_path):
    world = HostWorld("/dev")
    assert world.path_stat(b"null")[1][16] == wasi.CHARACTER_DEVICE
    encoded = piece(world, 0, 1 << 20, 0)
    at = encoded.index(b"null") - 24
    assert encoded[at + 20] == wasi.CHARACTER_DEVICE
    world.close()


def test_lanes_share_the_listing_of_a_directory_that_rests(world, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    time.sleep(filestat.SETTLED_NS / 1e9 + 0.02)
    reads = []
    real = os.scandir
    monkeypatch.setattr(listings.os, "scandir", lambda descriptor: reads.append(descriptor) or real(descriptor))
    lanes = [LaneFiles(world.filesystem) for _ in range(50)]
    replies = {lane.request(wasi.REQUEST_READDIR, (0, 0, 999, 0), b"", 999) for lane in lanes}
    assert len(replies) == len(reads) == 1
    (tmp_path / "more").touch()
    for lane in lanes[:2]:
        assert "more" in names(lane.request(wasi.REQUEST_READDIR, (0, 0, 999, 0), b"", 999).data)
        lane.close()


def test_two_descriptors_of_a_directory_are_read_apart(world, tmp_path):
    (tmp_path / "one").touch()
    _, first = world.open(b".")
    whole = world.readdir(ROOT, 0, 999)[1]
    (tmp_path / "two").touch()
    assert len(names(world.readdir(first, 0, 999)[1])) == 4
    assert world.readdir(ROOT, 2, 999)[1] == whole[51:]
