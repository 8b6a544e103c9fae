"""Lanes that follow each other on a slot, and waves that follow each other: each lane finds a world of its own."""

import hashlib
import struct

import numpy as np
import pytest
from engine_runs import Given, few_slots, numbers, program, run_all, small_waves, task_of, words

from lanewise.batch.engine import Run
from lanewise.batch.spec import Limits

ENDS = ("return", "exit", "unreachable", "out of bounds", "stack", "divide", "exit below")
KINDS = (
    None,
    None,
    "unreachable",
    "out of bounds memory access",
    "call stack exhausted",
    "integer divide by zero",
    None,
)
CODES = (0, 7, None, None, None, None, 8)

SPOILING = program(
    """(local $end i32) (local $fd i32)
    (call $say (memory.size))
    (call $say (i32.load (i32.const 4096)))
    (call $say (call $anything (i32.const 0) (i32.const 4096)))
    (call $say (call $anything (i32.const 4104) (i32.const 65000)))
    (call $say (call $anything (i32.const 65536) (i32.const 131072)))
    (call $say (global.get $counter))
    (call $say (i32.wrap_i64 (i64.shr_u (global.get $wide) (i64.const 32))))
    (call $say (table.size $calls))
    (call $say (call_indirect $calls (type $gives) (i32.const 1)))
    (call $say (ref.is_null (table.get $calls (i32.const 2))))
    (call $say (ref.is_null (table.get $others (i32.const 0))))
    (memory.init $passive (i32.const 300) (i32.const 0) (i32.const 4))
    (call $say (i32.load (i32.const 300)))
    (table.init $calls $spare (i32.const 2) (i32.const 0) (i32.const 1))
    (call $say (call_indirect $calls (type $gives) (i32.const 2)))
    ;; memory and tables that grow are fresh, too
    (call $say (memory.grow (i32.const 2)))
    (call $say (call $anything (i32.const 131072) (i32.const 262144)))
    (call $say (table.grow $calls (ref.null func) (i32.const 3)))
    (call $say (ref.is_null (table.get $calls (i32.const 6))))
    ;; files: numbers and positions
    (local.set $fd (call $open (i64.const 2)))
    (call $say (local.get $fd))
    (call $say (call $read (local.get $fd)))
    (call $say (call $open (i64.const 0x42)))
    (call $say (call $read (i32.add (local.get $fd) (i32.const 1))))
    (call $say (call $read (i32.const 0)))
    (call $say (call $fd_close (i32.const 5)))
    (call $say (call $fd_renumber (local.get $fd) (i32.const 0)))
    (call $say (call $fd_renumber (i32.const 3) (i32.const 2)))
    ;; leave nothing as it was
    (local.set $end (call $argument))
    (memory.fill (i32.const 0) (i32.const 0xEE) (i32.const 262144))
    (global.set $counter (i32.const -1))
    (global.set $wide (i64.const -1))
    (table.fill $calls (i32.const 0) (ref.func $other) (i32.const 7))
    (table.set $others (i32.const 0) (ref.func $other))
    (data.drop $passive)
    (elem.drop $spare)
    (drop (call $fd_close (i32.const 1)))
    (if (i32.eq (local.get $end) (i32.const 1)) (then (call $proc_exit (i32.const 7))))
    (if (i32.eq (local.get $end) (i32.const 2)) (then unreachable))
    (if (i32.eq (local.get $end) (i32.const 3)) (then (drop (i32.load (i32.const 262141)))))
    (if (i32.eq (local.get $end) (i32.const 4)) (then (drop (call $deeper (i32.const 0)))))
    (if (i32.eq (local.get $end) (i32.const 5)) (then (drop (i32.div_u (i32.const 1) (global.get $zero)))))
    (if (i32.eq (local.get $end) (i32.const 6)) (then (drop (call $exits (i32.const 50)))))""",
    "proc_exit",
    "path_open",
    "fd_read",
    "fd_close",
    "fd_renumber",
    memory="2 8",
    numbered=True,
    more="""
  (type $gives (func (result i32)))
  (table $calls 4 10 funcref)
  (table $others 1 funcref)
  (elem (table $calls) (i32.const 1) func $one)
  (elem $spare func $two)
  (elem declare func $other)
  (data (i32.const 4096) "\\01\\02\\03\\04")
  (data $passive "\\05\\06\\07\\08")
  (global $counter (mut i32) (i32.const 11))
  (global $wide (mut i64) (i64.const 0x1200000000))
  (global $zero (mut i32) (i32.const 0))
  (func $one (result i32) (i32.const 21))
  (func $two (result i32) (i32.const 22))
  (func $other (result i32) (i32.const 99))
  (func $deeper (param i32) (result i32) (i32.add (call $deeper (local.get 0)) (i32.const 1)))
  (func $exits (param i32) (result i32)
    (if (i32.eqz (local.get 0)) (then (call $proc_exit (i32.const 8))))
    (i32.add (call $exits (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))
  (func $anything (param $at i32) (param $end i32) (result i32) (local $found i64)
    (loop $next
      (local.set $found (i64.or (local.get $found) (i64.load (local.get $at))))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (local.get $end))))
    (i64.ne (local.get $found) (i64.const 0)))
  (func $open (param $rights i64) (result i32)
    (i32.store8 (i32.const 256) (i32.const 102))
    (if (call $path_open (i32.const 3) (i32.const 0) (i32.const 256) (i32.const 1) (i32.const 0) (local.get $rights)
          (i64.const 0) (i32.const 0) (i32.const 260))
      (then (return (i32.const -1))))
    (i32.load (i32.const 260)))
  (func $read (param $fd i32) (result i32)
    (i32.store (i32.const 264) (i32.const 272))
    (i32.store (i32.const 268) (i32.const 3))
    (if (call $fd_read (local.get $fd) (i32.const 264) (i32.const 1) (i32.const 280)) (then (return (i32.const -1))))
    (i32.load (i32.const 272)))""",
)

FRESH = [2, 0x04030201, 0, 0, 0, 11, 0x12, 4, 21, 1, 1, 0x08070605, 22, 2, 0, 4, 1]
FILES = [4, 0x636261, 5, 0x636261]  # numbers of files, and the first three bytes of one


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "f").write_bytes(b"abcdef")
    return [(tmp_path, "/")]


@pytest.mark.parametrize("waves", [False, True])
def test_a_lane_finds_nothing_of_those_before_it(waves, device, folder, monkeypatch):
    lanes = 7 * 12 if device.name == "cpu" else 7 * 64
    few_slots(monkeypatch)
    if waves:
        small_waves(monkeypatch, device)
    ways = np.random.default_rng(1).integers(0, len(ENDS), lanes).tolist()
    given = Given(lambda lane: [b"program", b"%d" % ways[lane]], lambda lane: b"%03d and more" % lane)
    limits = Limits(timeout=60, memory=8 * 65536)
    ended = run_all(SPOILING, device, lanes, given, directories=folder, limits=limits)
    assert ended.kinds == [KINDS[way] for way in ways]
    assert ended.codes == [CODES[way] for way in ways]
    for lane, output in enumerate(ended.stdout):
        line = int.from_bytes(b"%03d" % lane, "little")
        assert words(output) == [*FRESH, *FILES, line, 0, 0, 0], f"lane {lane}, {ENDS[ways[lane]]}"


def test_lanes_that_ran_out_of_fuel_leave_nothing(device):
    forgetful = program(
        """(call $say (i32.load (i32.const 256)))
        (call $say (global.get $mark))
        (i32.store (i32.const 256) (i32.const 1))
        (global.set $mark (i32.const 1))
        (loop $ever (br $ever))""",
        more="(global $mark (mut i32) (i32.const 5))",
    )
    ended = run_all(forgetful, device, 200, limits=Limits(fuel=10_000, timeout=60))
    assert set(ended.kinds) == {"out of fuel"}
    assert {tuple(words(one)) for one in ended.stdout} == {(0, 5)}


# --- random numbers --------------------------------------------------------------------------------------------------

DICE = program(
    """(drop (call $random_get (i32.const 1) (i32.const 5)))
    (drop (call $random_get (i32.const 8) (i32.const 100)))
    (call $say_at (i32.const 1) (i32.const 0) (i32.const 110))
    (if (i32.and (call $argument) (i32.const 1)) (then unreachable))""",
    "random_get",
    numbered=True,
)


def rolled(device, lanes: int, seed: int | None) -> list[bytes]:
    return run_all(DICE, device, lanes, numbers(), seed=seed).stdout


def test_random_numbers_are_the_lanes_own(device, monkeypatch):
    first = rolled(device, 150, 1)
    assert len({one[1:6] for one in first} | {one[8:16] for one in first}) == 300
    assert {(one[0], one[6:8], one[108:]) for one in first} == {(0, b"\0\0", b"\0\0")}
    small_waves(monkeypatch, device)
    assert rolled(device, 150, 1) == first
    assert rolled(device, 3, 1) == first[:3]


def test_other_seeds_give_other_numbers_and_no_seed_others_each_time(device):
    runs = [tuple(rolled(device, 3, seed)) for seed in (1, 2, None, None)]
    assert len({one for outputs in runs for one in outputs}) == 12


def chacha20(key: bytes, number: int, nonce: int) -> bytes:
    """A block of the stream cipher, as it was published: 64 bits each of block number and nonce."""
    first = [
        *struct.unpack("<4I8I", b"expand 32-byte k" + key),
        *struct.unpack("<4I", struct.pack("<QQ", number, nonce)),
    ]
    block = first.copy()

    def quarter(a, b, c, d):
        for x, y, z, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            block[x] = (block[x] + block[y]) & 0xFFFFFFFF
            mixed = block[z] ^ block[x]
            block[z] = (mixed << by | mixed >> (32 - by)) & 0xFFFFFFFF

    for _ in range(10):
        for column in range(4):
            quarter(column, column + 4, column + 8, column + 12)
        for column in range(4):
            quarter(column, (column + 1) % 4 + 4, (column + 2) % 4 + 8, (column + 3) % 4 + 12)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(first, block, strict=True)))


def test_random_numbers_of_a_seed_are_a_stream_cipher_s(device):
    assert chacha20(bytes(32), 0, 0).hex().startswith("76b8e0ada0f13d90405d6ae55386bd28")
    key = hashlib.sha256(b"7").digest()
    for lane, output in enumerate(rolled(device, 3, 7)):
        blocks = [chacha20(key, number, lane) for number in range(3)]
        assert output[1:6] == blocks[0][:5]
        assert output[8:108] == (blocks[1] + blocks[2])[:100]


# --- waves -----------------------------------------------------------------------------------------------------------

ECHO = program(
    """(local $number i32)
    (local.set $number (call $argument))
    (call $say (local.get $number))
    (call $say (call $thread_id))
    (call $say (call $thread_count))
    (loop $next
      (i32.store (i32.const 264) (i32.const 272))
      (i32.store (i32.const 268) (i32.const 7))
      (drop (call $fd_read (i32.const 0) (i32.const 264) (i32.const 1) (i32.const 280)))
      (if (i32.load (i32.const 280)) (then
        (call $say_at (i32.const 1) (i32.const 272) (i32.load (i32.const 280)))
        (br $next))))
    (call $say_at (i32.const 2) (i32.const 65100) (i32.const 3))
    (if (i32.eqz (i32.rem_u (local.get $number) (i32.const 5))) (then unreachable))
    (call $proc_exit (local.get $number))""",
    "fd_read",
    "proc_exit",
    "thread_id",
    "thread_count",
    numbered=True,
)


@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("waves", [1, 3])
def test_every_lane_of_every_wave_has_its_own_arguments_input_and_output(waves, extra, device, monkeypatch):
    lanes = waves * small_waves(monkeypatch, device, 11) + extra
    asked = []

    def arguments(lane):
        asked.append(lane)
        return [b"n%02d" % (lane % 100), b"%d" % (lane * 3)]

    given = Given(arguments, lambda lane: b"line %d" % lane * (lane % 4))
    ended = run_all(ECHO, device, lanes, given)
    assert asked == list(range(lanes))
    for lane, one in enumerate(ended.outcomes):
        assert words(one.stdout[:12]) == [lane * 3, lane, lanes], lane
        assert one.stdout[12:] == b"line %d" % lane * (lane % 4), lane
        assert one.stderr == b"n%02d" % (lane % 100), lane
        if lane % 5:
            assert (one.exit_code, one.trap, one.kind) == (lane * 3, None, None)
        else:
            assert (one.exit_code, one.kind) == (None, "unreachable")
        assert 0 < one.seconds < 60


def test_inputs_are_asked_for_when_their_wave_is_about_to_run(device, monkeypatch):
    size = small_waves(monkeypatch, device)
    asked = []

    def stdin(lane):
        asked.append(lane)
        return b""

    outcomes = Run(task_of(ECHO, device, 3 * size, Given(lambda lane: [b"p", b"1"], stdin))).outcomes()
    assert asked == []
    next(outcomes)
    assert asked == list(range(size))
    outcomes.close()
    assert asked == list(range(size))


def test_the_same_arguments_are_asked_for_once_a_wave(device, monkeypatch):
    lanes = 2 * small_waves(monkeypatch, device)
    given = Given()
    asked = []
    given.arguments = lambda lane: asked.append(lane) or [b"p", b"4"]
    ended = run_all(ECHO, device, lanes, given)
    assert asked == [0, lanes // 2]
    assert ended.codes == [4] * lanes
