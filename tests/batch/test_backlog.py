"""Output that nobody has taken yet is bounded: lanes that write more wait, and all of it comes in the end."""

import time

import pytest
import wasmtime

import lanewise as lw
from lanewise.batch import backlog, cpu_engine
from lanewise.batch.ordering import LaneOrder
from lanewise.batch.spec import LaneOutcome

PIECE = 65_536
PIECES = 8
LIMIT = 4 * PIECE
MORE = PIECES * PIECE + lw.device("cpu").properties.cores * PIECE
"""What one lane writes before which nothing comes, and what others were just writing."""
# A lane writes 8 pieces. With an argument besides its name it waits before that, for 300 ms.
WRITER = wasmtime.wat2wasm(f"""(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 3)
  (func (export "_start") (local $left i32)
    (drop (call $sizes (i32.const 0) (i32.const 4)))
    (if (i32.eq (i32.load (i32.const 0)) (i32.const 2)) (then
      (i32.store (i32.const 80) (i32.const 1))
      (i64.store (i32.const 88) (i64.const 300000000))
      (drop (call $poll (i32.const 64) (i32.const 128) (i32.const 1) (i32.const 8)))))
    (i32.store (i32.const 16) (i32.const {PIECE}))
    (i32.store (i32.const 20) (i32.const {PIECE}))
    (local.set $left (i32.const {PIECES}))
    (loop $more
      (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24)))
      (br_if $more (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))))""")


@pytest.fixture
def writer(tmp_path, monkeypatch):
    """The program, whose output all goes to the host, where little of it may wait."""
    monkeypatch.setattr(backlog, "_MOST_BYTES", LIMIT)
    monkeypatch.setattr(cpu_engine, "_CONSOLE_BYTES", 0)
    path = tmp_path / "writer.wasm"
    path.write_bytes(WRITER)
    return path


def most_waiting(stream, pause, order=None):
    """Take all outcomes, slowly; gives the lanes and the most that was seen to wait."""
    seen, most, waiting = [], 0, stream._run.backlog
    for outcome in stream:
        seen.append((outcome.lane, len(outcome.stdout)))
        if order is not None:
            order.push(outcome)
            waiting.held = order.held_bytes
        time.sleep(pause)
        most = max(most, waiting._waiting + waiting._in_hand + waiting.held)
    return sorted(seen), most


def test_lanes_wait_for_whoever_takes_their_output(writer):
    with lw.stream(writer, lanes=60, device="cpu") as stream:
        seen, most = most_waiting(stream, 0.002)
    assert seen == [(lane, PIECES * PIECE) for lane in range(60)]
    assert most <= LIMIT + MORE


def test_lanes_behind_a_slow_one_wait_where_their_output_is_held_for_it(writer):
    arguments = lambda lane: ["and"] if lane == 0 else []  # noqa: E731
    with lw.stream(writer, lanes=60, args=arguments, device="cpu") as stream:
        seen, most = most_waiting(stream, 0, LaneOrder())
    assert seen == [(lane, PIECES * PIECE) for lane in range(60)]
    assert most <= LIMIT + MORE


def test_one_lane_may_write_as_much_as_it_likes(writer):
    assert len(lw.run(writer, lanes=1, device="cpu").stdout[0]) == PIECES * PIECE


def test_lanes_that_wait_are_ended_with_the_run(writer):
    started = time.monotonic()
    with lw.stream(writer, lanes=1000, device="cpu") as stream:
        next(stream)
        time.sleep(0.2)  # by now all wait
    assert time.monotonic() - started < 30


def test_what_is_held_for_earlier_lanes_is_counted():
    order = LaneOrder()
    two, one, zero = (LaneOutcome(lane, 0, None, None, 0.0, b"out", b"err!") for lane in (2, 1, 0))
    order.push(two)
    order.push(one)
    assert order.held_bytes == 14
    assert order.push(zero) == [zero, one, two]
    assert order.held_bytes == 0
    order.push(LaneOutcome(4, 0, None, None, 0.0, b"x", b""))
    order.rest()
    assert order.held_bytes == 0
