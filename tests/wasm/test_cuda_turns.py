"""What a call of a function on a GPU measures, and how long it may take: without a GPU."""

import math
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from lanewise.errors import ArgumentError, CompileError
from lanewise.wasm import cuda_lanes
from lanewise.wasm.build import check_timeout, gpu_build, host_build
from lanewise.wasm.candidates import USUAL, Reach
from lanewise.wasm.cuda_lanes import CudaLanes
from lanewise.wasm.placement import Placement
from lanewise.wasm.tuning import Tuner

THREADS = 256


@pytest.fixture(autouse=True)
def nothing_known(tmp_path, monkeypatch):
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cuda_lanes, "find_ptxas", lambda: None)  # nor is code made meanwhile


def lanes(take, *, threads=THREADS, search=True, **build) -> CudaLanes:
    """Lanes that `take` seconds for so many elements in a placement, until a deadline."""
    made = object.__new__(CudaLanes)
    made._pinned, made._timeout, made._device = None, None, None
    made._ran, made._aside = 0.0, None
    made._build = gpu_build(lanes=True, **build)
    made._tuning, made._lock = threading.Lock(), threading.Lock()
    made.__dict__["_tuner"] = Tuner(("lanes",), "a GPU", Reach(threads), search=search)
    made._load = lambda scalars, build: (None, None)
    made._make_ahead = lambda scalars, places: None
    made._launch = lambda scalars, build, place, given, results, status, elements, indices, deadline: take(
        place, len(elements), deadline
    )
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
        return None, None

    made = lanes(take)
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
    interrupted, trials, _ = calls_of(0.6, timeout=2.0)
    assert interrupted == 0
    assert any(count == THREADS for _, count in trials)


def test_where_a_whole_call_has_no_time_for_a_trial_a_part_of_it_may():
    interrupted, trials, _ = calls_of(1.2, timeout=1.0)
    assert interrupted == 0
    assert trials
    assert max(count for _, count in trials) <= THREADS // 4


def test_a_trial_that_is_interrupted_after_all_does_not_come_again():
    interrupted, trials, known = calls_of(5.0, timeout=2.0)
    whole = [place for place, count in trials if count == THREADS]
    assert 0 < interrupted == len(whole) == len({*whole})
    assert known.ratios.keys() == {place for place, _ in trials}
    assert max(known.ratios.values()) == 0.25


def test_a_trial_whose_code_cannot_be_made_fails_no_call(monkeypatch):
    now, deadlines = [0.0], []
    monkeypatch.setattr(cuda_lanes, "time", SimpleNamespace(perf_counter=lambda: now[0], monotonic=lambda: now[0]))

    def load(scalars, build):
        now[0] += 2.0
        if build.layout == "words":
            raise CompileError("a frame too large")
        return None, None

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
