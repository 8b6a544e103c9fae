"""Which waves begin beside others on a GPU, and who gets slots that become free: without a GPU."""

from types import SimpleNamespace

import numpy as np
import pytest

from lanewise.batch import cuda_engine, cuda_wave
from lanewise.batch.cuda_engine import CudaWaves
from lanewise.errors import CompileError, OutOfMemoryError
from lanewise.wasm.candidates import Reach
from lanewise.wasm.placement import Placement
from lanewise.wasm.tuning import Tuner, Turn


class FakeWave:
    """A wave that is as it was made."""

    def __init__(self, stream: int, *, taken: bool = True, over: bool = False) -> None:
        self.stream, self.taken, self.over, self.turn, self.seconds = stream, taken, over, None, None
        self.streams, self.lets_others_begin = [stream], taken
        self.free, self.checks = 0, 0

    def check(self, service):
        self.checks += 1

    def free_units(self):
        return self.free, 64

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


def waves(*running: FakeWave, left: int, free: int = 0) -> CudaWaves:
    made = object.__new__(CudaWaves)
    service = SimpleNamespace(stopping=False)
    made._waves = [(wave, service) for wave in running]
    made._left, made._no_room, made._reinforced = left, False, -1.0
    made._together, made._copied, made._copies, made._waited = False, 0, SimpleNamespace(size=100), 0.0
    made._slots = SimpleNamespace(place=Placement(), count=32)
    for wave in running:
        wave.free = free
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
    assert (first.streams, second.streams) == ([1], [2, *cuda_engine._FOR_MORE])


def test_a_wave_that_is_left_alone_gets_the_slots_of_those_that_are_over(clock):
    alone = FakeWave(2, taken=False)
    made = waves(alone, left=5, free=60)
    made.wait(0.05)
    assert alone.streams == [2, *cuda_engine._FOR_MORE]


def test_waves_begin_though_others_were_started_again(clock):
    """Streams of waves are theirs alone: however often one was started again, there is one for the next."""
    second = FakeWave(2, taken=False)
    made = waves(FakeWave(1), second, left=5, free=32)
    made.wait(0.05)
    second.taken = second.lets_others_begin = True
    assert made._may_start()
    assert made._free_stream(cuda_engine._FOR_WAVES) == 3


def test_without_a_stream_no_wave_begins(clock):
    made = waves(*(FakeWave(number) for number in cuda_engine._FOR_WAVES), left=5)
    assert not made._may_start()


def test_without_memory_to_start_a_wave_again_its_lanes_go_on(clock):
    second = FakeWave(2, taken=False)
    made = waves(FakeWave(1), second, left=5, free=32)

    def no_memory(stream):
        raise OutOfMemoryError("none")

    second.reinforce = no_memory
    made.wait(0.05)
    assert second.streams == [2]


class Device:
    """A GPU on which one wave runs until it is told otherwise."""

    def __init__(self):
        self.ended, self.lost = False, False

    def zeros(self, shape, dtype):
        return SimpleNamespace(address=0, size=8)

    def idle(self):
        return True

    def stream_idle(self, stream):
        return self.ended

    def peek(self, address, nbytes):
        return np.full(nbytes // 8, 2**40 if self.ended else 0, np.uint64).view(np.uint8)


@pytest.fixture
def timed(clock, monkeypatch):
    """A wave whose time is taken, and its GPU."""
    monkeypatch.setattr(cuda_wave, "time", cuda_engine.time)
    device = Device()
    slots = SimpleNamespace(launch=lambda words, stream: None)
    wave = cuda_wave.CudaWave(device, slots, 1, 4, None, Turn(Placement(), 4))
    wave.begin()
    return wave, device


@pytest.mark.parametrize(("gap", "unseen"), [(0.01, False), (0.5, True)])
def test_the_time_of_a_wave_counts_if_somebody_looked_when_it_ended(gap, unseen, timed, clock):
    wave, device = timed
    service = SimpleNamespace(stopping=False)
    clock.seconds += 3  # nobody looks, which is no harm while it runs
    wave.check(service)
    assert wave.seconds is None
    clock.seconds += gap
    device.ended = True
    wave.check(service)
    assert (wave.seconds > 3, wave.unseen) == (True, unseen)


def test_a_wave_whose_time_nobody_saw_leaves_the_next_to_tell_it():
    learned = []
    made = object.__new__(CudaWaves)
    made._timed = 0.0
    made._tuner = SimpleNamespace(
        took=lambda *given: learned.append("took"), lost=lambda *given: learned.append("lost")
    )
    for unseen in (True, False):
        turn = Turn(Placement(), 4)
        made._learn(SimpleNamespace(turn=turn, seconds=1.0, lets_others_begin=True, unseen=unseen, preparing=0.0))
    assert learned == ["lost", "took"]


def test_lanes_that_nobody_waits_for_are_asked_to_stop_and_cleared_away_later(monkeypatch):
    asked, device = [], Device()
    wave = SimpleNamespace(is_idle=lambda: device.ended)
    made = object.__new__(CudaWaves)
    ring = SimpleNamespace(ask_to_stop=lambda: asked.append("stop"), close=lambda: asked.append("close"))
    made.__dict__ |= {
        "_device": device, "_waves": [(wave, None)], "_ring": ring, "_closed": False, "_settled": Placement(),
        "_slots": None, "_consoles": {},
    }  # fmt: skip
    monkeypatch.setattr(cuda_engine, "_left_behind", [])
    made.close()
    assert (asked, cuda_engine._left_behind) == (["stop"], [made])
    device.ended = True
    made.close()
    made.close()
    assert (asked, cuda_engine._left_behind) == (["stop", "close"], [])


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


def test_a_trial_whose_code_cannot_be_made_ends_no_run(clock, tmp_path, monkeypatch):
    """It is tried no more, and its lanes live where they would have lived without it."""
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path))
    threads, program = 64, ("process", b"a program")
    few_registers = Placement(registers=32)
    tuner = Tuner(program, "a GPU", Reach(threads, words=False), search=True)
    made = waves(left=100 * threads)
    del made._slots
    made._settled, made._tuner, made._turn = None, tuner, None
    made._device = SimpleNamespace(wait=lambda: None)
    made.program = SimpleNamespace(team=0)

    def make(place, *, wait):
        if place == few_registers:
            raise CompileError("ptxas refused the code")
        return SimpleNamespace(place=place, count=threads)

    made._make_slots = make
    lived = []
    while made._left:
        count = made.next_wave(made._left)
        lived.append(made._slots.place)
        tuner.took(made._turn, count * 1e-3, made._preparing)
        made._left, made._turn = made._left - count, None
    assert tuner.known.ratios[few_registers] == 0.0
    assert {Placement(), Placement("flat", 2)} <= set(lived)
    tuner.save()
    assert Tuner(program, "a GPU", Reach(threads, words=False)).known.ratios[few_registers] == 0.0


def test_code_that_cannot_be_made_ends_a_run_if_it_is_no_trial(clock):
    made = waves(left=5)
    made._settled, made._turn = Placement("flat"), None

    def make(place, *, wait):
        raise CompileError("ptxas refused the code")

    made._make_slots = make
    with pytest.raises(CompileError):
        made.next_wave(5)
