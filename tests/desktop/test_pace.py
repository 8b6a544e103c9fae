"""When a running desktop makes frames, by a clock that the test moves: at beats, and between them for input."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from samples import gallery

from lanewise.desktop import ui
from lanewise.desktop.display.pace import Alarm, Pace
from lanewise.desktop.display.runner import Runner
from lanewise.desktop.display.times import Times

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "desktop_pace.py"
RATE = 100
PERIOD = 1 / RATE
MOVE = {"event_type": "pointer_move", "x": 5, "y": 5}


class FakeAlarm(Alarm):
    """Time goes on while somebody sleeps, and what is to happen meanwhile happens."""

    def __init__(self) -> None:
        self.time = 0.0
        self.planned: list[tuple[float, Callable[[], None]]] = []
        self._rung = False

    def at(self, time: float, happens: Callable[[], None]) -> None:
        self.planned.append((time, happens))
        self.planned.sort(key=lambda plan: plan[0])

    def now(self) -> float:
        return self.time

    def ring(self) -> None:
        self._rung = True

    def sleep(self, seconds: float | None) -> bool:
        until = float("inf") if seconds is None else self.time + seconds
        while not self._rung and self.planned and self.planned[0][0] <= until:
            time, happens = self.planned.pop(0)
            self.time = max(self.time, time)
            happens()
        if not self._rung:
            assert seconds is not None, "it sleeps, and nothing is planned that would wake it"
            self.time = until
        rung, self._rung = self._rung, False
        return rung


class Bench:
    """A runner that is not started: the test has it take its turns, and sees when frames begin."""

    def __init__(self, desktop: ui.Desktop, frame_seconds: float = 0.001) -> None:
        self.desktop = desktop
        self.frame_seconds = frame_seconds
        self.alarm = FakeAlarm()
        self.began: list[float] = []
        desktop.now_ms = lambda: round(self.alarm.time * 1000)
        desktop.settle()
        self.alarm.time = 1.0
        self.runner = Runner(desktop, RATE, self.alarm)
        self._step, desktop.step = desktop.step, self._timed_step

    def _timed_step(self):
        self.began.append(round(self.alarm.time - 1, 6))
        frame = self._step()
        self.alarm.time += self.frame_seconds
        return frame

    def send_at(self, time: float, event=MOVE) -> None:
        self.alarm.at(1 + time, lambda: self.runner.send(event))

    def run(self, seconds: float) -> list[float]:
        """When frames began within this time."""
        self.alarm.at(1 + seconds, self.alarm.ring)
        while self.alarm.time < 1 + seconds - 1e-9:
            self.runner._turn()
        return self.began


@pytest.fixture
def bench(device) -> Bench:
    return Bench(gallery(device, groups="one"))


def test_what_moves_has_a_frame_at_every_beat(bench):
    bench.desktop.theme = "dark"  # is faded to, which takes longer than this
    bench.runner.call(lambda: None)
    assert bench.run(0.05) == pytest.approx([0, 0.01, 0.02, 0.03, 0.04])
    assert bench.runner.stats().beats == 5


def test_an_event_between_beats_is_shown_before_the_next_and_the_beats_stay(bench):
    bench.desktop.theme = "dark"
    bench.runner.call(lambda: None)
    bench.send_at(0.017)
    assert bench.run(0.04) == pytest.approx([0, 0.01, 0.017, 0.02, 0.03])
    stats = bench.runner.stats()
    assert (stats.frames, stats.beats, stats.dropped) == (5, 4, 0)
    assert stats.latency_ms == pytest.approx(1, rel=0.01)  # the frame itself


def test_an_event_soon_after_a_frame_waits_for_half_a_period_since_it_began(bench):
    bench.desktop.theme = "dark"
    bench.runner.call(lambda: None)
    for time in (0.012, 0.013, 0.0165):
        bench.send_at(time)
    # The last of them finds a frame that began at 0.015, and the beat half a period later.
    assert bench.run(0.03) == pytest.approx([0, 0.01, 0.015, 0.02])
    assert bench.runner.stats().latency_ms_p99 == pytest.approx(4.5, rel=0.01)


def test_a_frame_for_input_shortly_before_a_beat_is_that_of_the_beat(bench):
    bench.desktop.theme = "dark"
    bench.runner.call(lambda: None)
    bench.send_at(0.0195)
    assert bench.run(0.05) == pytest.approx([0, 0.01, 0.0195, 0.03, 0.04])
    assert bench.runner.stats().beats == 5


def test_a_desktop_at_rest_shows_an_event_at_once(bench):
    bench.send_at(0.0042)
    assert bench.run(0.01)[0] == pytest.approx(0.0042)
    assert bench.runner.stats().latency_ms == pytest.approx(1, rel=0.01)


def test_steady_input_has_two_frames_a_period_at_most(device):
    desktop = ui.Desktop(width=64, height=64, device=device, groups="one")  # nothing on it moves
    bench = Bench(desktop, frame_seconds=0.0001)
    for number in range(1000):
        bench.send_at(number * 0.0001)
    began = bench.run(0.1)
    assert np.diff(began).min() >= PERIOD / 2 - 1e-6
    assert len(began) == pytest.approx(20, abs=1)


def test_beats_that_pass_in_an_overlong_frame_are_dropped_and_counted(bench):
    bench.desktop.theme = "dark"
    bench.runner.call(lambda: None)
    bench.frame_seconds = 0.025
    assert bench.run(0.02) == [0]
    bench.frame_seconds = 0.001
    # The beat at 0.01 is lost, that of 0.02 is late, and from then on they are where they were.
    assert bench.run(0.05) == pytest.approx([0, 0.025, 0.03, 0.04])
    assert bench.runner.stats().dropped == 1


def test_beats_that_pass_at_rest_are_not_dropped(bench):
    bench.send_at(0)
    bench.send_at(2)
    assert bench.run(2.01)[-1] == pytest.approx(2, abs=PERIOD)
    assert bench.runner.stats().dropped == 0


def test_a_call_waits_for_the_beat(bench):
    """So that what calls itself again after each frame is called once a beat."""
    made = []

    def again() -> None:
        made.append(bench.alarm.time - 1)
        bench.alarm.at(bench.alarm.time, lambda: bench.runner.call(again))

    bench.runner.call(again)
    bench.run(0.05)
    assert made == pytest.approx([0, 0.01, 0.02, 0.03, 0.04])


def test_events_that_mean_nothing_to_a_desktop_make_no_frame(bench):
    bench.send_at(0.005, {"event_type": "resize"})
    assert bench.run(0.05) == []


def test_an_alarm_that_rings_before_a_sleep_ends_it():
    alarm = Alarm()
    alarm.ring()
    alarm.ring()
    assert alarm.sleep(None)
    assert not alarm.sleep(0)


def test_a_pace_counts_dropped_beats_by_whole_periods():
    pace = Pace(RATE, 0)
    pace.begin(0)
    pace.end(0.019)
    assert (pace.dropped, pace.next_start(False)) == (0, pytest.approx(0.01))
    pace.begin(0.019)
    pace.end(0.0401)
    assert (pace.dropped, pace.next_start(False)) == (2, pytest.approx(0.04))


def test_the_script_runs_a_restless_desktop_and_says_what_it_measured():
    ended = subprocess.run(
        [sys.executable, SCRIPT, "--device", "cpu", "--minutes", "0.01", "--size", "64x64", "--widgets", "20"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    first, minute, whole = ended.stdout.splitlines()
    assert first.startswith("19 widgets, 64 x 64, 120 Hz, all groups on <cpu: ")
    assert whole == f"all of it: {minute}"
    figures = re.fullmatch(
        r" *(\d+) s: +([\d.]+) beats/s kept, \d+ dropped, +([\d.]+) frames/s; frame [\d.]+ ms \(p99 [\d.]+\); "
        r"(\d+) events, input to frame [\d.]+ ms \(p99 [\d.]+\); host CPU [\d.]+% of a core, [\d.]+ ms a frame; "
        r"memory \+[\d.]+ MiB",
        minute,
    )
    assert figures, minute
    beats, frames, events = float(figures[2]), float(figures[3]), int(figures[4])
    assert 0 < beats <= frames
    assert events > 0


# --- statistics ------------------------------------------------------------------------------------------------------


def test_times_of_all_frames_count_however_many():
    values = np.random.default_rng(1).lognormal(-7, 1, 20_000)
    times = Times()
    for value in values:
        times.add(value)
    assert len(times) == 20_000
    for part in (0.5, 0.99):
        assert times.milliseconds(part) == pytest.approx(np.quantile(values, part) * 1000, rel=0.011)


def test_times_beyond_what_is_told_apart_count_as_the_nearest():
    times = Times()
    times.add(0)
    times.add(1e9)
    assert times.milliseconds(0.5) == pytest.approx(0.001, rel=0.01)
    assert times.milliseconds(1) > 1_000_000


def test_times_since_a_moment_are_those_after_it():
    times = Times()
    times.add(1.0)
    before = times.copy()
    times.add(0.002)
    assert (times - before).milliseconds(0.99) == pytest.approx(2, rel=0.01)
    assert len(before) == len(times - before) == 1
    assert Times().milliseconds(0.5) == 0
