"""Lanes whose memory is far: what calls read comes at once for all lanes, what they write goes at once, and programs do
the same. On the CPU the kernels that move it run as on a GPU."""

import os
import random

import numpy as np
import pytest

from lanewise.arm64 import runners
from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.linux import run_linux
from lanewise.arm64.linux.ahead import Ahead, FarMemory
from lanewise.arm64.slices import Slices
from lanewise.arm64.transfers import read_pieces, repeat_piece, write_pieces


def pieces(rng, room):
    """Places of all sizes and alignments that do not overlap, with bytes for them."""
    found, at = [], rng.randrange(9)
    while at < room - 20_000:
        data = rng.randbytes(rng.choice([0, 1, 5, 8, 31, 100, 4096, 10_000]))
        found.append((at, data))
        at += len(data) + rng.randrange(1, 50)
    return found


def test_pieces_come_and_go(device):
    rng, room = random.Random(5), 300_000
    memory, wanted = device.zeros(room, np.uint8), bytearray(room)
    found = pieces(rng, room)
    write_pieces(device, [(memory.address + at, data) for at, data in found])
    for at, data in found:
        wanted[at : at + len(data)] = data
    assert memory.get().tobytes() == wanted
    assert read_pieces(device, [(memory.address + at, len(data)) for at, data in found]) == [data for _, data in found]
    assert read_pieces(device, []) == []
    repeat_piece(device, [memory.address + at for at in (0, 1000, 2003, 3001)], b"the same " * 100)
    for at in (0, 1000, 2003, 3001):
        wanted[at : at + 900] = b"the same " * 100
    assert memory.get().tobytes() == wanted


@pytest.mark.parametrize(("at", "count"), [(0, 1), (4095, 2), (1, 70_000), (4096, 8192), (5000, 40_000)])
def test_a_part_of_memory_is_cleared_and_nothing_else(device, at, count):
    cpu = ParallelCPU(2, 100_000, "private", device)
    cpu.write_memory(0, np.full((2, 100_000), 0xAB, np.uint8))
    cpu.runner.clear_part(cpu.memory_place(1) + at, count)
    found, wanted = cpu.read_memory_all(0, 100_000), np.full((2, 100_000), 0xAB, np.uint8)
    wanted[1, at : at + count] = 0
    assert (found == wanted).all()


class FarRunner(runners.CpuRunner):
    """The CPU as if it were far: all goes through the kernels, and is counted."""

    far = True
    transfers = 0

    def read(self, address, count):
        FarRunner.transfers += 1
        return super().read(address, count)

    def write(self, address, data):
        FarRunner.transfers += 1
        super().write(address, data)

    def read_all(self, spans):
        FarRunner.transfers += 1
        return read_pieces(self._device, spans)

    def write_all(self, writes):
        FarRunner.transfers += 1
        write_pieces(self._device, writes)
        self._device.synchronize()

    def write_many(self, addresses, data):
        FarRunner.transfers += 1
        repeat_piece(self._device, addresses, data)
        self._device.synchronize()


@pytest.fixture
def far(monkeypatch):
    monkeypatch.setattr(runners, "CpuRunner", FarRunner)
    FarRunner.transfers = 0


def facts(result):
    return [(one.returncode, one.stdout, one.stderr, one.unknown_calls) for one in result]


@pytest.mark.parametrize("name", ["hello", "lines", "memory", "system", "waits", "unknown"])
def test_programs_do_the_same(build, monkeypatch, name):
    def run():
        return facts(run_linux(build(name), lanes=3, stdin=["one\n", "two\n", ""], env={"NAME": "x"}, timeout=60))

    near = run()
    monkeypatch.setattr(runners, "CpuRunner", FarRunner)
    assert run() == near


def test_files_are_the_same(build, tmp_path, monkeypatch):
    found = []
    for name in ("near", "far"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "given.txt").write_text("given\n")
        (folder / "inside").symlink_to("given.txt")
        result = run_linux(build("files"), dirs={"/home": folder}, timeout=60)
        found.append((facts(result), sorted(os.listdir(folder))))
        monkeypatch.setattr(runners, "CpuRunner", FarRunner)
    assert found[0] == found[1]


def test_more_lanes_take_no_more_transfers(build, far, monkeypatch):
    """In slices that are no shorter where a machine is busy."""
    monkeypatch.setattr(Slices, "adapt", lambda *given, **how: None)
    counts = []
    for lanes in (2, 40):
        FarRunner.transfers = 0
        result = run_linux(build("hello"), lanes=lanes, argv=lambda lane: ["hello", str(lane)], env={"NAME": "x"})
        assert [one.stdout.splitlines()[2] for one in result] == [b"1: %d" % lane for lane in range(lanes)]
        counts.append(FarRunner.transfers)
    assert counts[1] <= counts[0] + 10, counts  # lanes are not quite in step


def test_what_calls_that_wait_read_comes_for_all_lanes_at_once(build, far, monkeypatch):
    """Sets of descriptors, times and sets of signals; all are 0 there."""
    monkeypatch.setattr(Slices, "adapt", lambda *given, **how: None)
    calls = ["72;64;$;$256;$512;$768;0", "73;$;1;$256;$512;8", "137;$;0;$256;8", "98;$;0;0;$256", "133;$;8"]
    counts = []
    for lanes in (2, 40):
        FarRunner.transfers = 0
        result = run_linux(build("raw"), lanes=lanes, argv=["raw", *calls])
        assert {(one.reason, one.stderr) for one in result} == {("waits for ever", b"0\n0\n-11\n-110\n")}
        counts.append(FarRunner.transfers)
    assert counts[1] <= counts[0] + 10, counts


def test_what_is_sent_is_what_was_written_last(far):
    rng, size = random.Random(1), 200
    ahead = Ahead(ParallelCPU(1, 4096, "private", "cpu", 0x1000).runner)
    for _ in range(300):
        memory, wanted, written = FarMemory(ahead, 0x1000, 0x1000, 4096), bytearray(size), set()
        for _ in range(rng.randrange(1, 12)):
            at, data = rng.randrange(size - 40), rng.randbytes(rng.randrange(1, 40))
            memory.write(0x1000 + at, data)
            wanted[at : at + len(data)] = data
            written.update(range(at, at + len(data)))
        pieces = memory.take_waiting()
        assert [byte - 0x1000 for at, piece in pieces for byte in range(at, at + len(piece))] == sorted(written)
        assert all(piece == wanted[at - 0x1000 : at - 0x1000 + len(piece)] for at, piece in pieces)


@pytest.mark.parametrize("seed", range(5))
def test_what_was_written_is_seen_before_it_is_sent(far, seed):
    rng, size = random.Random(seed), 4096
    cpu = ParallelCPU(2, size, "private", "cpu", 0x1000)
    ahead = Ahead(cpu.runner)
    memories = [FarMemory(ahead, cpu.memory_place(lane), 0x1000, size) for lane in range(2)]
    wanted = [bytearray(size) for _ in range(2)]
    for _ in range(300):
        lane, at, count = rng.randrange(2), rng.randrange(size - 64), rng.randrange(64)
        what = rng.randrange(10)
        if what < 5:
            data = rng.randbytes(count)
            memories[lane].write(0x1000 + at, data)
            wanted[lane][at : at + count] = data
        elif what < 8:
            assert memories[lane].read(0x1000 + at, count) == wanted[lane][at : at + count]
        elif what == 8:
            ahead.send()
            memories[lane].clear(0x1000 + at, count)
            wanted[lane][at : at + count] = bytes(count)
        else:
            ahead.send()
            ahead.fetch([(memories[lane], 64, [1, 0x1000 + at, count, 0, 0, 0])])
    ahead.send()
    assert [cpu.read_memory(0x1000, size, lane) for lane in range(2)] == wanted
