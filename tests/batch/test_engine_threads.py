"""wasi-threads: threads of a lane share its memory and its files, end with it, and nothing leaves the lane."""

import time

import pytest
from engine_runs import ARGUMENT, SAY, SOON, assembled, imports, numbers, run, run_all, words

from lanewise.batch.spec import Limits

WAYS = (
    "count",
    "limit",
    "exit",
    "trap",
    "grow",
    "files",
    "leave",
    "again",
    "write",
    "trap of the first",
    "futex",
    "globals",
    "returns a code",
    "deep",
    "wait for ever",
    "exit by the first",
)

THREADED = assembled(f"""(module
  (import "env" "memory" (memory 2 20 shared))
  (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
  {imports("fd_write", "args_get", "proc_exit", "path_open", "fd_read", "fd_close", "sched_yield")}
  (global $own (mut i32) (i32.const 7))
  {SAY} {ARGUMENT}
  ;; 0: how many threads are done; 4: a word to wait at; 8 and on: what threads leave
  (func $wait_for (param $count i32) (local $now i32)
    (loop $again
      (local.set $now (i32.atomic.load (i32.const 0)))
      (if (i32.lt_u (local.get $now) (local.get $count)) (then
        (drop (memory.atomic.wait32 (i32.const 0) (local.get $now) (i64.const -1)))
        (br $again)))))
  (func $done
    (drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1)))
    (drop (memory.atomic.notify (i32.const 0) (i32.const -1))))
  (func $for_ever (loop $ever (br $ever)))
  (func $deeper (param i32) (result i32) (i32.add (call $deeper (local.get 0)) (i32.const 1)))
  (func $open (result i32)
    (i32.store8 (i32.const 256) (i32.const 102))
    (if (call $path_open (i32.const 3) (i32.const 0) (i32.const 256) (i32.const 1) (i32.const 0) (i64.const 0x42)
          (i64.const 0) (i32.const 0) (i32.const 260)) (then unreachable))
    (i32.load (i32.const 260)))
  (func $read (param $fd i32) (result i32)
    (i32.store (i32.const 264) (i32.const 272))
    (i32.store (i32.const 268) (i32.const 3))
    (if (call $fd_read (local.get $fd) (i32.const 264) (i32.const 1) (i32.const 280)) (then (return (i32.const -1))))
    (i32.load (i32.const 272)))
  (func (export "wasi_thread_start") (param $number i32) (param $way i32) (local $at i32)
    (if (i32.eq (local.get $way) (i32.const 0)) (then
      (drop (i32.atomic.rmw.add (i32.const 8) (local.get $number)))
      (drop (i32.atomic.rmw.or (i32.const 12) (i32.shl (i32.const 1) (i32.and (local.get $number) (i32.const 31)))))))
    (if (i32.eq (local.get $way) (i32.const 1)) (then
      (drop (memory.atomic.wait32 (i32.const 4) (i32.const 0) (i64.const -1)))))
    (if (i32.eq (local.get $way) (i32.const 2)) (then (call $proc_exit (i32.const 9))))
    (if (i32.eq (local.get $way) (i32.const 3)) (then unreachable))
    (if (i32.eq (local.get $way) (i32.const 4)) (then
      (i32.store (i32.const 8) (memory.grow (i32.const 3)))
      (i32.store (i32.const 327676) (i32.const 55))))
    (if (i32.eq (local.get $way) (i32.const 5)) (then (i32.store (i32.const 8) (call $open))))
    (if (i32.eq (local.get $way) (i32.const 6)) (then (call $for_ever)))
    (if (i32.eq (local.get $way) (i32.const 8)) (then
      (local.set $at (i32.add (i32.const 8192) (i32.mul (local.get $number) (i32.const 512))))
      (i32.store (local.get $at) (i32.add (local.get $at) (i32.const 16)))
      (i32.store offset=4 (local.get $at) (i32.const 200))
      (memory.fill
        (i32.add (local.get $at) (i32.const 16)) (i32.add (i32.const 64) (local.get $number)) (i32.const 200))
      (drop (call $fd_write (i32.const 1) (local.get $at) (i32.const 1) (i32.add (local.get $at) (i32.const 8))))
      (drop (call $fd_write (i32.const 1) (local.get $at) (i32.const 1) (i32.add (local.get $at) (i32.const 8))))))
    (if (i32.eq (local.get $way) (i32.const 9)) (then (call $for_ever)))
    (if (i32.eq (local.get $way) (i32.const 10)) (then
      (i32.atomic.store (i32.const 8) (memory.atomic.wait32 (i32.const 4) (i32.const 0) (i64.const -1)))))
    (if (i32.eq (local.get $way) (i32.const 11)) (then
      (global.set $own (i32.add (global.get $own) (i32.const 1)))
      (drop (i32.atomic.rmw.add (i32.const 8) (global.get $own)))))
    (if (i32.eq (local.get $way) (i32.const 13)) (then (drop (call $deeper (i32.const 0)))))
    (if (i32.eq (local.get $way) (i32.const 15)) (then
      (drop (memory.atomic.wait32 (i32.const 4) (i32.const 0) (i64.const -1)))))
    (call $done))
  (func (export "_start") (local $way i32) (local $count i32) (local $fd i32)
    (local.set $way (call $argument))
    (if (i32.eq (local.get $way) (i32.const 0)) (then
      (drop (call $spawn (i32.const 0)))
      (drop (call $spawn (i32.const 0)))
      (drop (call $spawn (i32.const 0)))
      (call $wait_for (i32.const 3))
      (call $say (i32.popcnt (i32.load (i32.const 12))))
      (call $say (i32.load (i32.const 8)))))
    (if (i32.eq (local.get $way) (i32.const 1)) (then
      (loop $more
        (local.set $fd (call $spawn (i32.const 1)))
        (if (i32.gt_s (local.get $fd) (i32.const 0)) (then
          (local.set $count (i32.add (local.get $count) (i32.const 1)))
          (br $more))))
      (call $say (local.get $count))
      (call $say (local.get $fd))))
    (if (i32.eq (local.get $way) (i32.const 2)) (then (drop (call $spawn (i32.const 2))) (call $for_ever)))
    (if (i32.eq (local.get $way) (i32.const 3)) (then
      (drop (call $spawn (i32.const 3))) (call $wait_for (i32.const 9))))
    (if (i32.eq (local.get $way) (i32.const 4)) (then
      (drop (call $spawn (i32.const 4)))
      (call $wait_for (i32.const 1))
      (call $say (memory.size))
      (call $say (i32.load (i32.const 8)))
      (call $say (i32.load (i32.const 327676)))))
    (if (i32.eq (local.get $way) (i32.const 5)) (then
      (drop (call $spawn (i32.const 5)))
      (call $wait_for (i32.const 1))
      (local.set $fd (i32.load (i32.const 8)))
      (call $say (call $read (local.get $fd)))
      (call $say (call $open))
      (call $say (call $fd_close (local.get $fd)))
      (call $say (call $fd_close (local.get $fd)))))
    (if (i32.eq (local.get $way) (i32.const 6)) (then (drop (call $spawn (i32.const 6))) (call $say (i32.const 1))))
    (if (i32.eq (local.get $way) (i32.const 7)) (then
      (loop $more
        (if (i32.gt_s (call $spawn (i32.const 7)) (i32.const 0)) (then
          (local.set $count (i32.add (local.get $count) (i32.const 1)))
          (call $wait_for (local.get $count))))
        (br_if $more (i32.lt_u (local.get $count) (i32.const 50))))
      (call $say (i32.load (i32.const 0)))))
    (if (i32.eq (local.get $way) (i32.const 8)) (then
      (drop (call $spawn (i32.const 8)))
      (drop (call $spawn (i32.const 8)))
      (drop (call $spawn (i32.const 8)))
      (call $wait_for (i32.const 3))))
    (if (i32.eq (local.get $way) (i32.const 9)) (then (drop (call $spawn (i32.const 9))) unreachable))
    (if (i32.eq (local.get $way) (i32.const 10)) (then
      (call $say (memory.atomic.wait32 (i32.const 4) (i32.const 1) (i64.const -1)))
      (call $say (memory.atomic.wait32 (i32.const 4) (i32.const 0) (i64.const 1000000)))
      (call $say (memory.atomic.wait64 (i32.const 16) (i64.const 0) (i64.const 0)))
      (call $say (memory.atomic.notify (i32.const 4) (i32.const 5)))
      (drop (call $spawn (i32.const 10)))
      (drop (call $spawn (i32.const 10)))
      (loop $more (br_if $more (i32.eqz (memory.atomic.notify (i32.const 4) (i32.const 1)))))
      (call $wait_for (i32.const 1))
      (call $say (i32.load (i32.const 8)))
      (call $say (i32.load (i32.const 0)))
      (loop $more (br_if $more (i32.eqz (memory.atomic.notify (i32.const 4) (i32.const -1)))))
      (call $wait_for (i32.const 2))))
    (if (i32.eq (local.get $way) (i32.const 11)) (then
      (global.set $own (i32.const 100))
      (drop (call $spawn (i32.const 11)))
      (call $wait_for (i32.const 1))
      (drop (call $spawn (i32.const 11)))
      (call $wait_for (i32.const 2))
      (call $say (global.get $own))
      (call $say (i32.load (i32.const 8)))))
    (if (i32.eq (local.get $way) (i32.const 12)) (then
      (drop (call $spawn (i32.const 6))) (call $proc_exit (i32.const 5))))
    (if (i32.eq (local.get $way) (i32.const 13)) (then
      (drop (call $spawn (i32.const 13))) (call $wait_for (i32.const 9))))
    (if (i32.eq (local.get $way) (i32.const 14)) (then
      (drop (call $spawn (i32.const 6))) (call $wait_for (i32.const 9))))
    (if (i32.eq (local.get $way) (i32.const 15)) (then
      (drop (call $spawn (i32.const 15))) (call $proc_exit (i32.const 6))))
  ))""")


def runs(way: str, device, lanes: int = 5, **more):
    number = WAYS.index(way)
    more = {"threads": 3, "limits": Limits(timeout=30), **more}
    return run_all(THREADED, device, lanes, numbers(lambda lane: number), **more)


def test_threads_share_the_memory_of_their_lane_alone(device):
    for output in runs("count", device, 20).stdout:
        different, total = words(output)
        assert different == 3
        assert total == 6  # the numbers of threads begin with 1 in every lane


@pytest.mark.parametrize("threads", [1, 3, 4, 6, 15, 63])
def test_no_more_threads_can_be_started_than_there_may_be(threads, device):
    ended = runs("limit", device, 3, threads=threads)
    assert [words(one) for one in ended.stdout] == [[threads, 2**32 - 6]] * 3
    assert ended.codes == [0, 0, 0]


def test_a_program_may_be_allowed_no_thread_at_all(device):
    assert [words(one) for one in runs("limit", device, 2, threads=0).stdout] == [[0, 2**32 - 6]] * 2


@pytest.mark.parametrize(
    ("way", "code", "kind"),
    [
        ("exit", 9, None),
        ("trap", None, "unreachable"),
        ("trap of the first", None, "unreachable"),
        ("returns a code", 5, None),
        ("deep", None, "call stack exhausted"),
        ("leave", 0, None),
        ("exit by the first", 6, None),
    ],
)
def test_the_lane_ends_when_one_thread_ends_it(way, code, kind, device):
    started = time.monotonic()
    ended = runs(way, device)
    assert time.monotonic() - started < SOON
    assert ended.codes == [code] * 5
    assert ended.kinds == [kind] * 5


def test_memory_that_one_thread_grows_has_grown_for_all(device):
    assert [words(one) for one in runs("grow", device).stdout] == [[5, 2, 55]] * 5


def test_a_file_that_one_thread_opens_is_open_for_all(device, tmp_path):
    (tmp_path / "f").write_bytes(b"abcdef")
    ended = runs("files", device, directories=[(tmp_path, "/")])
    assert [words(one) for one in ended.stdout] == [[0x636261, 5, 0, 8]] * 5


def test_threads_that_have_ended_make_room_for_others(device):
    assert [words(one) for one in runs("again", device, threads=1).stdout] == [[50]] * 5


def test_what_threads_write_stays_in_one_piece(device):
    for output in runs("write", device, 8).stdout:
        pieces = [output[at : at + 200] for at in range(0, len(output), 200)]
        assert len(pieces) == 6
        assert {len(set(piece)) for piece in pieces} == {1}
        assert sorted(piece[0] for piece in pieces) == [65, 65, 66, 66, 67, 67]


def test_waiting_and_waking(device):
    for output in runs("futex", device).stdout:
        assert words(output) == [1, 2, 2, 0, 0, 1]


def test_globals_are_each_thread_s_own(device):
    assert [words(one) for one in runs("globals", device).stdout] == [[100, 16]] * 5


def test_lanes_with_all_kinds_of_threads_do_not_disturb_each_other(device, tmp_path):
    (tmp_path / "f").write_bytes(b"abcdef")
    ways = [number for number, way in enumerate(WAYS) if way not in ("wait for ever",)]
    given = numbers(lambda lane: ways[lane % len(ways)])
    ended = run_all(
        THREADED, device, 4 * len(ways), given, threads=3, directories=[(tmp_path, "/")], limits=Limits(timeout=30)
    )
    codes = {"exit": 9, "returns a code": 5, "exit by the first": 6}
    kinds = {"trap": "unreachable", "trap of the first": "unreachable", "deep": "call stack exhausted"}
    for lane, one in enumerate(ended.outcomes):
        way = WAYS[ways[lane % len(ways)]]
        assert (one.exit_code, one.kind) == (None if way in kinds else codes.get(way, 0), kinds.get(way)), way


def test_time_ends_lanes_whose_threads_never_end(device):
    given = numbers(lambda lane: WAYS.index("wait for ever" if lane == 3 else "leave"))
    started = time.monotonic()
    ended = run(THREADED, device, 4, given, threads=2, limits=Limits(timeout=0.3))
    assert time.monotonic() - started < SOON
    assert ended.stopped == "time-out after 0.3 s"
    assert ended.codes == [0, 0, 0, None]
    assert ended.kinds[3] == "timed out"


def test_fuel_ends_a_lane_in_whichever_thread_it_runs_out(device):
    given = numbers(lambda lane: WAYS.index(("count", "wait for ever", "exit", "futex")[lane]))
    ended = run_all(THREADED, device, 4, given, threads=3, limits=Limits(fuel=5_000_000, timeout=30))
    assert ended.kinds == [None, "out of fuel", None, None]
    assert ended.codes == [0, None, 9, 0]
