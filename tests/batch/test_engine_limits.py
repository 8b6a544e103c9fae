"""What ends lanes and runs before their time: limits, time, wishes. What had ended by then is kept."""

import itertools
import os
import threading
import time
from types import SimpleNamespace

import pytest
from engine_runs import SOON, Given, assembled, imports, numbers, program, run, run_all, small_waves, task_of, words

import lanewise as lw
from lanewise.batch.engine import Run
from lanewise.batch.spec import Limits

WAYS = ("return", "loop", "yield", "sleep", "sleep until", "read a pipe", "read stdin", "poll stdin", "poll a pipe")
PAGE = 65536
LANES = 6
"""Of which the last does not end."""

WAITING = program(
    """(local $way i32)
    (local.set $way (call $argument))
    (call $say (local.get $way))
    (i64.store (i32.const 0) (i64.const 77))
    (i32.store (i32.const 16) (i32.const 1))
    (i64.store (i32.const 24) (i64.const 3600000000000))
    (i32.store (i32.const 256) (i32.const 512))
    (i32.store (i32.const 260) (i32.const 16))
    (if (i32.eq (local.get $way) (i32.const 1)) (then (loop $ever (br $ever))))
    (if (i32.eq (local.get $way) (i32.const 2)) (then (loop $ever (br_if $ever (i32.eqz (call $sched_yield))))))
    (if (i32.eq (local.get $way) (i32.const 3)) (then (call $poll)))
    (if (i32.eq (local.get $way) (i32.const 4)) (then
      (i32.store (i32.const 16) (i32.const 0))
      (i32.store (i32.const 40) (i32.const 1))
      (i64.store (i32.const 24) (i64.const 0x7000000000000000))
      (call $poll)))
    (if (i32.eq (local.get $way) (i32.const 5)) (then
      (drop (call $fd_read (call $pipe) (i32.const 256) (i32.const 1) (i32.const 300)))))
    (if (i32.eq (local.get $way) (i32.const 6)) (then
      (drop (call $fd_read (i32.const 0) (i32.const 256) (i32.const 1) (i32.const 300)))))
    (if (i32.eq (local.get $way) (i32.const 7)) (then
      (i32.store8 (i32.const 8) (i32.const 1))
      (i32.store (i32.const 16) (i32.const 0))
      (call $poll)))
    (if (i32.eq (local.get $way) (i32.const 8)) (then
      (i32.store8 (i32.const 8) (i32.const 1))
      (i32.store (i32.const 16) (call $pipe))
      (call $poll)))
    (call $say (i32.const 1000))""",
    "poll_oneoff",
    "fd_read",
    "path_open",
    "sched_yield",
    more="""
  (data (i32.const 1024) "pipe")
  (func $poll
    (drop (call $poll_oneoff (i32.const 0) (i32.const 128) (i32.const 1) (i32.const 300))))
  (func $pipe (result i32)
    (if (call $path_open (i32.const 3) (i32.const 0) (i32.const 1024) (i32.const 4) (i32.const 0) (i64.const 2)
          (i64.const 0) (i32.const 0) (i32.const 304))
      (then unreachable))
    (i32.load (i32.const 304)))""",
    numbered=True,
)


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A directory with a pipe, and a standard input of the host, that nobody ever writes to."""
    os.mkfifo(tmp_path / "pipe")
    reading, writing = os.pipe()
    before = os.dup(0)
    os.dup2(reading, 0)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: 0))
    yield [(tmp_path, "/")]
    os.dup2(before, 0)
    for descriptor in (reading, writing, before):
        os.close(descriptor)


def only_the_last(way: str, stdin=lambda lane: None) -> Given:
    """Lanes of which all but the last return."""
    number = WAYS.index(way)
    given = numbers(lambda lane: number if lane == LANES - 1 else 0)
    given.stdin = stdin
    return given


@pytest.mark.parametrize("way", WAYS[1:])
def test_time_ends_a_lane_wherever_it_is(way, device, outside):
    started = time.monotonic()
    ended = run(WAITING, device, LANES, only_the_last(way), limits=Limits(timeout=0.25), directories=outside)
    assert 0.2 < time.monotonic() - started < SOON
    assert ended.stopped == "time-out after 0.25 s"
    assert [words(one) for one in ended.stdout] == [[0, 1000]] * (LANES - 1) + [[WAYS.index(way)]]
    assert ended.kinds == [None] * (LANES - 1) + ["timed out"]
    assert ended.codes == [0] * (LANES - 1) + [None]


@pytest.mark.parametrize("way", ["loop", "sleep", "read stdin"])
def test_another_thread_can_stop_a_run(way, device, outside):
    running = Run(task_of(WAITING, device, LANES, only_the_last(way), directories=outside))
    timer = threading.Timer(0.2, running.stop)
    timer.start()
    started = time.monotonic()
    outcomes = {one.lane: one for one in running.outcomes()}
    assert time.monotonic() - started < SOON
    timer.join()
    assert running.stopped == "interrupted"
    assert [outcomes[lane].exit_code for lane in range(LANES)] == [0] * (LANES - 1) + [None]
    assert outcomes[LANES - 1].kind == "interrupted"


def test_a_lane_that_ends_as_soon_as_it_is_asked_to_is_told_of(device, outside, monkeypatch):
    running = Run(task_of(WAITING, device, LANES, only_the_last("read stdin"), directories=outside))
    really_wait = running._backend.wait

    def stop_meanwhile(seconds):
        really_wait(0.5)
        running.stop()
        really_wait(0.5)  # after which the wave is over on a CPU

    monkeypatch.setattr(running._backend, "wait", stop_meanwhile)
    outcomes = {one.lane: one for one in running.outcomes()}
    assert outcomes.keys() == set(range(LANES))
    assert outcomes[LANES - 1].kind == "interrupted"


def test_a_run_whose_last_lane_fails_has_not_been_ended_early(device):
    given = numbers(lambda lane: int(lane == 2))
    ended = run(FAILING, device, 3, given, fail_fast=True)
    assert (ended.codes, ended.stopped) == ([0, 0, 3], None)


def test_a_run_that_is_stopped_before_it_begins_runs_nothing(device):
    running = Run(task_of(WAITING, device, 3, numbers(lambda lane: 0)))
    running.stop()
    assert list(running.outcomes()) == []
    assert running.stopped == "interrupted"


def test_time_also_ends_a_run_of_many_short_waves(device, monkeypatch):
    lanes = 50 * small_waves(monkeypatch, device)
    nap = program(
        """(i32.store (i32.const 16) (i32.const 1))
        (i64.store (i32.const 24) (i64.const 20000000))
        (drop (call $poll_oneoff (i32.const 0) (i32.const 128) (i32.const 1) (i32.const 300)))""",
        "poll_oneoff",
    )
    started = time.monotonic()
    ended = run(nap, device, lanes, limits=Limits(timeout=0.25))
    assert time.monotonic() - started < SOON
    assert ended.stopped == "time-out after 0.25 s"
    assert 0 < ended.kinds.count(None) < lanes


def test_lanes_of_later_waves_are_not_run_when_time_is_over(device, monkeypatch):
    wave = small_waves(monkeypatch, device)
    lanes = 20 * wave  # more than can run at the same time
    ended = run(WAITING, device, lanes, numbers(lambda lane: int(lane % wave == 2)), limits=Limits(timeout=0.25))
    assert ended.stopped == "time-out after 0.25 s"
    assert 3 <= len(ended.outcomes) < lanes
    assert {one.kind for one in ended.outcomes if one.lane % wave == 2} == {"timed out"}
    assert {(one.kind, one.exit_code) for one in ended.outcomes} <= {(None, 0), ("timed out", None)}


# --- lanes that wait for each other ----------------------------------------------------------------------------------

FUTEX = assembled(f"""(module
  {imports("args_get", "fd_write")}
  (memory (export "memory") 1 1 shared)
  (func (export "_start")
    (drop (call $args_get (i32.const 0) (i32.const 64)))
    (if (i32.eq (i32.load8_u (i32.load (i32.const 4))) (i32.const 53))
      (then (drop (memory.atomic.wait32 (i32.const 512) (i32.const 0) (i64.const -1)))))))""")


def test_time_ends_a_lane_that_waits_for_a_word_for_ever(device):
    ended = run(FUTEX, device, LANES, numbers(), limits=Limits(timeout=0.25))
    assert ended.stopped == "time-out after 0.25 s"
    assert ended.kinds == [None] * (LANES - 1) + ["timed out"]


def test_time_ends_lanes_at_a_barrier_that_one_never_comes_to(device):
    meeting = program(
        """(call $say (i32.const 1))
        (if (i32.eq (call $thread_id) (i32.const 5)) (then (loop $ever (br $ever))))
        (call $threadgroup_barrier)
        (call $say (i32.const 2))""",
        "thread_id",
        "threadgroup_barrier",
    )
    started = time.monotonic()
    ended = run(meeting, device, 8, limits=Limits(timeout=0.25))
    assert time.monotonic() - started < SOON
    assert ended.stopped == "time-out after 0.25 s"
    if device.name == "cpu":
        assert [words(one) for one in ended.stdout] == [[1]] * 8
        assert ended.kinds == ["timed out"] * 8
    else:  # the one that is ended is not waited for any more, so some of the others may still come through
        assert all(words(one)[:1] == [1] for one in ended.stdout)
        assert ended.kinds[5] == "timed out"


# --- the first that fails, and whoever does not want more ------------------------------------------------------------

FAILING = program(
    """(local $way i32)
    (local.set $way (call $argument))
    (if (i32.eq (local.get $way) (i32.const 1)) (then (call $proc_exit (i32.const 3))))
    (if (i32.eq (local.get $way) (i32.const 2)) (then unreachable))
    (if (i32.eq (local.get $way) (i32.const 3)) (then (loop $ever (br $ever))))""",
    "proc_exit",
    numbered=True,
)


@pytest.mark.parametrize(("way", "code", "kind"), [(1, 3, None), (2, None, "unreachable")])
def test_the_first_lane_that_fails_can_end_the_run(way, code, kind, device):
    given = numbers(lambda lane: (0, way, 3)[lane])
    ended = run(FAILING, device, 3, given, fail_fast=True)
    assert ended.stopped == "a lane failed"
    assert (ended.codes[1], ended.kinds[1]) == (code, kind)
    assert all(one.kind == "interrupted" for one in ended.outcomes[2:])


def test_lanes_that_fail_do_not_end_the_run_by_themselves(device):
    ended = run_all(FAILING, device, 50, numbers(lambda lane: lane % 3))
    assert ended.codes == ([0, 3, None] * 17)[:50]
    assert ended.kinds == ([None, None, "unreachable"] * 17)[:50]


def test_whoever_wants_no_more_outcomes_ends_the_run(device):
    running = Run(task_of(WAITING, device, LANES, only_the_last("loop", lambda lane: b"")))
    outcomes = running.outcomes()
    assert next(outcomes).ok
    started = time.monotonic()
    outcomes.close()
    assert time.monotonic() - started < SOON
    assert running.stopped == "interrupted"
    assert run_all(WAITING, device, 2, numbers(lambda lane: 0)).codes == [0, 0]


def test_whoever_leaves_between_waves_is_told_that_the_run_did_not_end(device, monkeypatch):
    lanes = 3 * small_waves(monkeypatch, device)
    running = Run(task_of(FAILING, device, lanes, numbers(lambda lane: 0)))
    outcomes = running.outcomes()
    assert all(one.ok for one in itertools.islice(outcomes, 2))
    outcomes.close()
    assert running.stopped == "interrupted"


@pytest.mark.parametrize("lane", [0, 3, 9])
def test_what_goes_wrong_in_the_inputs_is_told_as_it_is(lane, device, monkeypatch):
    lanes = 3 * small_waves(monkeypatch, device)

    def arguments(number):
        if number == lane:
            raise LookupError(f"nothing for lane {number}")
        return [b"program", b"0"]

    with pytest.raises(LookupError, match=f"nothing for lane {lane}"):
        run(FAILING, device, lanes, Given(arguments))
    assert run_all(FAILING, device, 2, numbers(lambda lane: 0)).codes == [0, 0]


# --- fuel ------------------------------------------------------------------------------------------------------------

COUNTING = program(
    """(local $left i32)
    (local.set $left (i32.mul (call $argument) (i32.const 10)))
    (call $say (i32.const 1))
    (loop $next
      (if (local.get $left)
        (then (local.set $left (i32.sub (local.get $left) (i32.const 1))) (br $next))))
    (call $say (i32.const 2))""",
    numbered=True,
)
LAST_WITH_FUEL = 99
"""The last lane that can count down from ten times its number: the same on every device, and whoever runs beside."""


@pytest.mark.parametrize("lanes", [LAST_WITH_FUEL + 1, 250])
def test_fuel_ends_those_lanes_alone_that_take_more_steps(lanes, device):
    ended = run_all(COUNTING, device, lanes, numbers(), limits=Limits(fuel=1000, timeout=60))
    enough = LAST_WITH_FUEL + 1
    assert ended.kinds == [None] * enough + ["out of fuel"] * (lanes - enough)
    assert [words(one) for one in ended.stdout] == [[1, 2]] * enough + [[1]] * (lanes - enough)


def test_a_lane_without_end_runs_out_of_fuel(device):
    ended = run_all(FAILING, device, 4, numbers(lambda lane: lane), limits=Limits(fuel=100_000, timeout=60))
    assert ended.kinds == [None, None, "unreachable", "out of fuel"]
    assert ended.codes == [0, 3, None, None]


# --- memory ----------------------------------------------------------------------------------------------------------

GROWING = program(
    """(local $pages i32)
    (loop $next
      (if (i32.ge_s (memory.grow (i32.const 1)) (i32.const 0))
        (then
          (i32.store8 (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 1)) (i32.const 1))
          (br_if $next (i32.lt_u (memory.size) (i32.const 100))))))
    (call $say (memory.size))
    (call $say (memory.grow (i32.const 65536)))
    (call $say (memory.grow (i32.const -1)))
    (call $say (memory.grow (i32.const 0)))""",
    memory="2 40",
)


@pytest.mark.parametrize(("limit", "pages"), [(2, 2), (5, 5), (5.5, 5), (39, 39), (40, 40), (64, 40)])
def test_memory_grows_up_to_its_limit_and_no_further(limit, pages, device):
    ended = run_all(GROWING, device, 3, limits=Limits(memory=int(limit * PAGE), timeout=60))
    assert [words(one) for one in ended.stdout] == [[pages, 2**32 - 1, 2**32 - 1, pages]] * 3


FAR = program(
    """(if (i32.lt_s (memory.grow (i32.const 4000)) (i32.const 0)) (then (unreachable)))
    (i32.store (i32.mul (memory.size) (i32.const 16384)) (i32.const 1))
    (i32.store (i32.add (i32.mul (memory.size) (i32.const 16384)) (i32.const 0x8000000)) (i32.const 7))
    (call $say (i32.load (i32.mul (memory.size) (i32.const 16384))))
    (call $say (i32.load (i32.add (i32.mul (memory.size) (i32.const 16384)) (i32.const 0x8000000))))"""
)


def test_places_128_mib_apart_are_not_the_same(device):
    """Where memories of lanes are interleaved, such addresses differ by 4 GiB."""
    ended = run_all(FAR, device, 2, limits=Limits(memory=4001 * PAGE, timeout=60))
    assert [words(one) for one in ended.stdout] == [[1, 7]] * 2


def test_a_program_that_begins_with_more_memory_than_the_limit_is_refused(device):
    words = "the program begins with 131,072 bytes of memory, more than the limit of 131,071 bytes"
    with pytest.raises(lw.ArgumentError, match=words):
        run(GROWING, device, limits=Limits(memory=2 * PAGE - 1))
    with pytest.raises(lw.ArgumentError, match="a memory of 8,589,934,592 bytes is more than a module of WebAssembly"):
        run(GROWING, device, limits=Limits(memory=8 << 30))


# --- calls -----------------------------------------------------------------------------------------------------------


def recursion(inside: str) -> str:
    return f"""(func $deeper (param $depth i32) (result i32)
      {inside}
      (i32.add (call $deeper (i32.add (local.get $depth) (i32.const 1))) (i32.const 1)))"""


CALLS = {
    "nothing": "",
    "the kernel": "(drop (call $random_get (i32.const 64) (i32.const 65)))",
    "the host": """(if (i32.eqz (i32.and (local.get $depth) (i32.const 63)))
        (then (drop (call $path_open (i32.const 3) (i32.const 0) (i32.const 1024) (i32.const 4) (i32.const 0)
          (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 304)))))""",
}


@pytest.mark.parametrize("calls", CALLS)
def test_calls_without_end_exhaust_the_stack_of_their_lane_alone(calls, device, tmp_path):
    deep = program(
        """(if (i32.eq (call $argument) (i32.const 1)) (then (drop (call $deeper (i32.const 0)))))
        (call $say (i32.const 3))""",
        "random_get",
        "path_open",
        more=recursion(CALLS[calls]),
        numbered=True,
    )
    ended = run_all(deep, device, 4, numbers(), directories=[(tmp_path, "/")])
    assert ended.kinds == [None, "call stack exhausted", None, None]
    assert [words(one) for one in ended.stdout] == [[3], [], [3], [3]]


@pytest.mark.parametrize("more", range(8))
def test_a_stack_that_ends_while_something_is_written_costs_no_other_lane_its_output(more, device):
    """The stack is to end in the middle of a write, of which nobody knows the depth: so it begins at several."""
    kept = " ".join(f"(local $kept{number} i64)" for number in range(more))
    load = " ".join(f"(local.set $kept{n} (i64.load offset={8 * n} (i32.const 0)))" for n in range(more))
    store = " ".join(f"(i64.store offset={8 * n} (i32.const 0) (local.get $kept{n}))" for n in range(more))
    deep = program(
        "(if (i32.eqz (call $argument)) (then (call $first))) (call $say (i32.const 3))",
        more=f"""(func $first {kept} {load} (drop (call $deeper (i32.const 0))) {store})
        {recursion("(if (i32.gt_u (local.get $depth) (global.get $quiet)) (then (call $say (i32.const 4))))")}
        (global $quiet i32 (i32.const {0 if device.name.startswith("cuda") else 240_000}))""",
        numbered=True,
    )
    ended = run_all(deep, device, 8, numbers())
    assert ended.kinds == ["call stack exhausted"] + [None] * 7
    assert [words(one) for one in ended.stdout[1:]] == [[3]] * 7
