"""Which waves begin beside others on a GPU, and who gets slots that become free: without a GPU."""

from types import SimpleNamespace

import pytest

from lanewise.batch import cuda_engine
from lanewise.batch.cuda_engine import CudaWaves
from lanewise.errors import OutOfMemoryError
from lanewise.wasm.placement import Placement
from lanewise.wasm.tuning import Turn


class FakeWave:
    """A wave that is as it was made."""

    def __init__(self, stream: int, *, taken: bool = True, over: bool = False) -> None:
        self.stream, self.taken, self.over, self.turn, self.seconds = stream, taken, over, None, None
        self.streams, self.lets_others_begin = [stream], taken
        self.checks = 0

    def check(self, service):
        self.checks += 1

    def reinforce(self, stream):
        self.streams.append(stream)


@pytest.fixture
def clock(monkeypatch):
    """Time passes when somebody sleeps, and a little with each look."""
    now = SimpleNamespace(seconds=0.0, sleeps=0)

    def monotonic():
        now.seconds += 1e-6
        return now.seconds

    def sleep(seconds):
        now.seconds += seconds
        now.sleeps += 1

    monkeypatch.setattr(cuda_engine, "time", SimpleNamespace(monotonic=monotonic, perf_counter=monotonic, sleep=sleep))
    return now


def waves(*running: FakeWave, left: int, free: int = 0, units: int = 64) -> CudaWaves:
    made = object.__new__(CudaWaves)
    service = SimpleNamespace(stopping=False)
    made._waves = [(wave, service) for wave in running]
    made._left, made._no_room, made._reinforced = left, False, -1.0
    made._together, made._copied, made._copies = False, 0, SimpleNamespace(size=100)
    made._slots = SimpleNamespace(free_units=lambda: (free, units), place=Placement(), count=32)
    return made


def test_when_no_lanes_are_left_to_start_waiting_is_sleeping(clock):
    made = waves(FakeWave(1), left=0)
    made.wait(0.05)
    assert clock.seconds >= 0.05
    assert 5 <= clock.sleeps <= 20


def test_when_others_may_begin_nobody_waits(clock):
    made = waves(FakeWave(1), left=5)
    made.wait(0.05)
    assert clock.sleeps == 0


def test_slots_that_become_free_go_to_a_wave_that_has_not_begun_all_lanes(clock):
    first, second = FakeWave(1), FakeWave(2, taken=False)
    made = waves(first, second, left=5, free=32)
    made.wait(0.05)
    assert first.streams == [1]
    assert second.streams[:2] == [2, 3]
    assert len(second.streams) > 2  # as long as there are any


@pytest.mark.parametrize(("taken", "free"), [(True, 32), (False, 0), (False, 3)])
def test_a_wave_is_not_started_again_for_nothing(taken, free, clock):
    second = FakeWave(2, taken=taken)
    made = waves(FakeWave(1), second, left=0, free=free)
    made.wait(0.05)
    assert second.streams == [2]


def test_without_memory_for_another_placement_nothing_is_tried_until_a_wave_is_over(clock):
    first = FakeWave(1)
    made = waves(first, left=5)
    tried = []

    def no_memory(place, *, wait):
        tried.append(place)
        raise OutOfMemoryError("none")

    made._make_slots = no_memory
    made._turn = Turn(Placement("flat"), 5)
    assert made.next_wave(5) == 0
    assert made.next_wave(5) == 0
    made.wait(0.05)
    assert (len(tried), clock.seconds >= 0.05) == (1, True)
    first.over = True
    made.wait(0.05)
    assert not made._no_room
