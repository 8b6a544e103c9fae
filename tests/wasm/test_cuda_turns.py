"""What a call of a function on a GPU measures, and how long it may take: without a GPU."""

import math
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import wasmtime
from gpu_on_host import lanes_on_host

import lanewise as lw
from lanewise.errors import ArgumentError, CompileError, OutOfMemoryError
from lanewise.settings import WARP_SIZE
from lanewise.wasm import code_aside, cuda_lanes, tuning
from lanewise.wasm.build import check_timeout, gpu_build, host_build
from lanewise.wasm.candidates import USUAL, Reach
from lanewise.wasm.cuda_lanes import CudaLanes
from lanewise.wasm.placement import Placement, parse_placement
from lanewise.wasm.tuning import Tuner

THREADS = 256


@pytest.fixture(autouse=True)
def nothing_known(tmp_path, monkeypatch):
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(code_aside, "find_ptxas", lambda: None)  # nor is code made meanwhile


def lanes(take, *, threads=THREADS, search=True, **build) -> CudaLanes:
    """Lanes that `take` seconds for so many elements in a placement, until a deadline."""

    def launch(scalars, build, place, given, results, status, elements, indices, deadline, most):
        seconds = take(place, len(elements), deadline)
        return seconds, seconds < math.inf

    made = object.__new__(CudaLanes)
    made._pinned, made._timeout = None, None
    made._device = SimpleNamespace(stop_word=0)  # nothing is ended that is slow
    made._aside = code_aside.CodeAside(None, 0, None, None, None)
    made._build = gpu_build(lanes=True, **build)
    made._tuning, made._lock = threading.Lock(), threading.Lock()
    made.__dict__["_tuner"] = Tuner(("lanes",), "a GPU", Reach(threads), search=search)
    made._load = lambda scalars, build: (None, SimpleNamespace(can_stop=True))
    made._make_ahead = lambda scalars, places: None
    made._launch = launch
    made._interrupt = lambda status, numbers, indices: status.append(numbers)
    return made


def test_calls_with_other_work_are_not_compared_with_each_other():
    work = [1e-3]
    made = lanes(lambda place, count, deadline: count * work[0])
    for work[0], count in ((1e-3, THREADS), (1e-6, 100 * THREADS)):  # the first is too short to try anything
        made._run_placed((), [], [], None, count, None)
    assert made._tuner.known.ratios
    assert set(np.round(list(made._tuner.known.ratios.values()), 6)) == {1.0}


def test_a_call_that_counts_how_far_lanes_are_in_step_learns_nothing():
    made = lanes(lambda place, count, deadline: count * 1e-3, stats=True)
    made._run_placed((), [], [], None, 100 * THREADS, None)
    assert made._tuner.known.ratios == {}


@pytest.mark.parametrize(("stats", "lanes_per_warp"), [(False, 16), (True, 32)])
def test_few_elements_are_spread_unless_it_is_counted_how_far_they_are_in_step(stats, lanes_per_warp):
    """They go apart in whole warps; where each has a warp of its own there is nothing to count."""
    seen = []
    two_warps = 2 * 512  # that two schedulers have threads for
    made = lanes(
        lambda place, count, deadline: seen.append(place) or 1e-3, threads=two_warps, search=False, stats=stats
    )
    made._run_placed((), [], [], None, 32, None)
    assert seen == [Placement(lanes_per_warp=lanes_per_warp)]


def test_calls_at_the_same_time_are_not_measured():
    seen = []

    def take(place, count, deadline):
        if not seen:
            seen.append(None)
            made._run_placed((), [], [], None, 100 * THREADS, None)  # as from another thread
        seen.append((str(place), count))
        return count * 1e-3

    made = lanes(take)
    made._run_placed((), [], [], None, 100 * THREADS, None)
    assert seen[1] == ("interleaved/32/all", 100 * THREADS)


def test_code_that_a_trial_needs_takes_none_of_the_time_of_a_call(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(cuda_lanes, "time", SimpleNamespace(perf_counter=lambda: now[0], monotonic=lambda: now[0]))
    deadlines = []

    def take(place, count, deadline):
        deadlines.append(deadline)
        return count * 1e-5

    def load(scalars, build):
        now[0] += 2.0
        return None, SimpleNamespace(can_stop=True)

    made = lanes(take)
    made._can_end = lambda scalars, build: False
    made._load = load
    made._run_placed((), [], [], None, 100 * THREADS, 5.0)
    assert deadlines[:3] == [7.0, 9.0, 11.0]


def test_while_placements_are_compared_calls_measure_nothing():
    made = lanes(lambda place, count, deadline: count * 1e-5)

    def tune(arrays, shape, places):
        made._run_placed((), [], [], None, 100 * THREADS, None)  # as from another thread
        return {}

    made._tune = tune
    made.tune([], (), None)
    assert made._tuner.known.ratios == {}


def test_the_time_of_a_call_is_that_of_all_its_parts(monkeypatch):
    still = SimpleNamespace(perf_counter=lambda: 0.0, monotonic=lambda: 0.0)
    monkeypatch.setattr(cuda_lanes, "time", still)
    deadlines, status = [], []

    def take(place, count, deadline):
        deadlines.append(deadline)
        return math.inf if len(deadlines) == 3 else count * 1e-5

    lanes(take)._run_placed((), [], [], status, 100 * THREADS, 5.0)
    assert deadlines == [5.0] * 3
    assert [len(numbers) > 0 for numbers in status] == [True]


def calls_of(trial_seconds, timeout):
    """A function is called often, which takes half a second in the usual placement and so many in a trial.

    Gives how many calls were interrupted, placement and elements of each trial, and what was learned.
    """
    now, trials, status = [0.0], [], []

    def take(place, count, deadline):
        trials.extend([(place, count)] if place != USUAL else [])
        needed = (0.5 if place == USUAL else trial_seconds) * count / THREADS
        now[0] += min(needed, deadline - now[0])
        return needed if now[0] < deadline else math.inf

    made = lanes(take, search=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_lanes, "time", SimpleNamespace(perf_counter=lambda: now[0], monotonic=lambda: now[0]))
        for _ in range(3000):
            made._run_placed((), [], [], status, THREADS, now[0] + timeout)
    return len(status), trials, made._tuner.known


def test_no_call_is_a_trial_that_may_take_more_time_than_it_has():
    interrupted, trials, _ = calls_of(0.6, timeout=2.1)
    assert interrupted == 0
    assert any(count == THREADS for _, count in trials)


def test_where_a_whole_call_has_no_time_for_a_trial_a_part_of_it_may():
    interrupted, trials, _ = calls_of(1.2, timeout=1.0)
    assert interrupted == 0
    assert trials
    assert max(count for _, count in trials) <= THREADS // 4


def test_a_trial_that_is_interrupted_after_all_does_not_come_again():
    interrupted, trials, known = calls_of(5.0, timeout=2.1)
    whole = [place for place, count in trials if count == THREADS]
    assert 0 < interrupted == len(whole) == len({*whole})
    assert known.ratios.keys() == {place for place, _ in trials}
    assert max(known.ratios.values()) == pytest.approx(0.5 / 2.1)


def test_a_trial_whose_code_cannot_be_made_fails_no_call(monkeypatch):
    now, deadlines = [0.0], []
    monkeypatch.setattr(cuda_lanes, "time", SimpleNamespace(perf_counter=lambda: now[0], monotonic=lambda: now[0]))

    def load(scalars, build):
        now[0] += 2.0
        if build.layout == "words":
            raise CompileError("a frame too large")
        return None, SimpleNamespace(can_stop=True)

    def take(place, count, deadline):
        deadlines.append(deadline - now[0])
        return count * 1e-5

    made = lanes(take)
    made._load = load
    made._run_placed((), [], [], None, 100 * THREADS, 5.0)
    assert set(deadlines) == {5.0}  # what nobody asked for takes none of a call's time
    ratios = made._tuner.known.ratios
    assert {ratio for place, ratio in ratios.items() if place.layout == "words"} == {0.0}
    assert any(place.layout == "flat" for place in ratios)


@pytest.mark.parametrize(
    ("unrolls", "asked", "marks"), [(True, False, True), (False, False, False), (False, True, True)]
)
def test_what_is_unrolled_notes_where_it_stores(unrolls, asked, marks):
    made = lanes(None, marks=asked)
    made.__dict__["_reach"] = Reach(THREADS, unrolls=unrolls)
    placed = made._placed(Placement("words", unrolled=True))
    assert (placed.unrolled, placed.marks) == (unrolls, marks)
    assert made._placed(Placement("words")).marks == asked


def test_a_time_limit_that_no_lane_would_hear_of_is_refused():
    with pytest.raises(ArgumentError, match="leave meter or timeout out"):
        check_timeout(gpu_build(meter="off"), 1.0)
    check_timeout(gpu_build(meter="off"), None)
    check_timeout(gpu_build(meter="stop"), 1.0)
    check_timeout(host_build(meter="off"), 1.0)  # whose threads are stopped by the system


COUNTS = wasmtime.wat2wasm("""(module (memory 1)
  (func (export "f") (param $n i32) (result i32) (local $i i32)
    (loop $l (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (if (i32.eq (local.get $n) (i32.const 20005)) (then (unreachable)))
    (i32.load (i32.const 8))))""")


@pytest.mark.parametrize("meter", ["stop", "tally"])
def test_elements_of_a_trial_that_is_ended_run_once_more(monkeypatch, meter):
    """As if nothing had been: their results count, their traps, and nobody is told that they were interrupted."""
    ended = []
    real = Tuner.ended
    monkeypatch.setattr(Tuner, "ended", lambda tuner, turn, *more: (ended.append(turn), real(tuner, turn, *more)))
    monkeypatch.setattr(tuning, "_FEARED", 1e-9)  # each trial is ended as soon as it has begun
    numbers = np.arange(20_000, 20_000 + THREADS, dtype=np.int32)
    with lanes_on_host() as device:
        function = lw.load(COUNTS).func("f", device=device, errors="mask", meter=meter)
        function._runner._tuner.known.purse = 1e9
        for _ in range(6):
            found = function(numbers)
            assert np.flatnonzero(found.mask).tolist() == [5]
            assert (found.compressed() == np.delete(numbers, 5)).all()
            assert function._runner._tuning.acquire(blocking=False)
            function._runner._tuning.release()
    assert ended


def test_placements_are_tried_by_as_many_lanes_as_memory_has_room_for():
    """A memory that may grow has its largest size on a GPU: there is room for 32 lanes here, of 256 threads."""
    growing = wasmtime.wat2wasm("""(module (memory 1 16) (func (export "g") (drop (memory.grow (i32.const 1))))
      (func (export "f") (param i32) (result i32)
        (i32.store (i32.const 8) (local.get 0)) (i32.load (i32.const 8))))""")
    numbers = np.arange(150, dtype=np.int32)
    with lanes_on_host() as device:
        real = device.empty

        def empty(shape, dtype):
            if np.prod(shape) * np.dtype(dtype).itemsize > 33 << 20:
                raise OutOfMemoryError("no room")
            return real(shape, dtype)

        device.empty = empty
        function = lw.load(growing).func("f", device=device)
        function._runner._tuner.known.purse = 1e6
        for _ in range(9):
            assert (function(numbers) == numbers).all()
        assert function._runner._tuner._reach.room == WARP_SIZE
        assert function._runner._tuner.known.ratios


def test_tuning_tries_what_it_is_told_and_goes_on_with_the_fastest():
    numbers = np.arange(20_000, 20_000 + 2 * THREADS, dtype=np.int32) * 2
    places = ["flat/8/all", "words/32/fit/u", "interleaved/16/64"]
    with lanes_on_host() as device:
        function = lw.load(COUNTS).func("f", device=device)
        taken = function.tune(numbers, placements=places)
        assert taken.keys() == {str(USUAL), *places}
        assert all(seconds > 0 for seconds in taken.values())
        assert function._runner._tuner.known.ratios.keys() == set(map(parse_placement, places))
        fastest = min(taken, key=lambda place: taken[place])
        assert function._runner._tuner.known.best() in (parse_placement(fastest), USUAL)  # unless they are hardly apart
        assert (function(numbers) == numbers).all()


@pytest.mark.parametrize("placement", ["words/32/all/48r", "interleaved/32/64/64g", "flat/8/all"])
def test_registers_and_groups_are_those_of_the_placement(placement):
    place, builds, groups = parse_placement(placement), [], []
    with lanes_on_host() as device:
        function = lw.load(COUNTS).func("f", device=device, placement=placement)
        load, launch = function._runner._load, device.launch_native
        function._runner._load = lambda scalars, build: (builds.append(build), load(scalars, build))[1]
        device.launch_native = lambda kernel, threads, group, *more: (
            groups.append(group),
            launch(kernel, threads, group, *more),
        )[1]
        assert (function(np.arange(1, 9, dtype=np.int32)) == np.arange(1, 9)).all()
    assert builds[-1].registers == (place.registers or 0)
    assert groups == [place.group]


def test_each_thread_is_asked_to_stop_by_a_word_of_its_own():
    """Or a time-out in one would end what others run."""
    words = []
    with lanes_on_host() as device:
        function = lw.load(COUNTS).func("f", device=device)
        finish = device.finish_or_stop
        device.finish_or_stop = lambda timeout, word: (words.append(word), finish(timeout, word))[1]
        for _ in range(2):
            function(np.arange(1, 9, dtype=np.int32))
        other = threading.Thread(target=function, args=(np.arange(1, 9, dtype=np.int32),))
        other.start()
        other.join()
        assert len(words) == 3
        assert words[0] == words[1] != words[2]
        assert device.stop_word not in words
