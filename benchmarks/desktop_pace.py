"""A desktop that never rests, at the display's pace for minutes: frames, latency of input, the host's CPU and memory.

    python benchmarks/desktop_pace.py --device cuda --minutes 10 --size 1920x1080

Nobody watches, so no pixel leaves the device. A switch is always on its way from one side to the other, and somebody
moves the pointer, drags, clicks, turns the wheel and types at random times, a few to 60 times a second. All frames and
all events count; a line for every minute, then one for all of them.
"""

import argparse
import itertools
import random
import resource
import threading
import time
from dataclasses import dataclass

from desktop import crowd

import lanewise as lw
from lanewise.desktop import ui
from lanewise.desktop.display.runner import Runner
from lanewise.desktop.display.times import Stats
from lanewise.desktop.numbers import CHECKED
from lanewise.desktop.phases.animate import TOGGLE_SECONDS

FLIP_SECONDS = TOGGLE_SECONDS * 0.9
"""A switch is turned back before it has arrived."""
WARM_UP_SECONDS = 3.0
EVENTS_A_SECOND = (3.0, 60.0)
KINDS = ["pointer_move"] * 8 + ["pointer_down", "pointer_up", "wheel", "key_down", "char"]
PREPARED_EVENTS = 1 << 14
"""Made before anything is measured, so that making them up costs the host nothing; then they come again."""
KEYS = ["Tab", "ArrowLeft", "ArrowRight", "ArrowDown", "Enter", " ", "Escape"]


class Person:
    """Sends random events at random times, from a thread of its own, and keeps the desktop restless."""

    def __init__(self, runner: Runner, seed: int) -> None:
        self._runner = runner
        self._random = random.Random(seed)
        self._events = [self._event() for _ in range(PREPARED_EVENTS)]
        self._gone = threading.Event()
        self._thread = threading.Thread(target=self._act, daemon=True)
        self._switch = next(node for node in runner.desktop.nodes if isinstance(node, ui.Switch))
        runner.desktop.listen(self._reopen)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def leave(self) -> None:
        """Send no more."""
        self._gone.set()
        self._thread.join()

    def _reopen(self, event: ui.Event) -> None:
        """What was closed is opened again, or soon there would be nothing to see."""
        if event.kind == "close":
            event.widget.show()

    def _flip(self) -> None:
        machine, number = self._runner.desktop.machine, self._switch.number
        machine.change_widget(number, flags=int(machine.widget(number)["flags"]) ^ CHECKED)

    def _act(self) -> None:
        moment = next_flip = time.monotonic()
        for event in itertools.cycle(self._events):
            moment += self._random.expovariate(self._pace(moment))
            while next_flip < moment and not self._gone.wait(max(0.0, next_flip - time.monotonic())):
                self._runner.call(self._flip)
                next_flip += FLIP_SECONDS
            if self._gone.wait(max(0.0, moment - time.monotonic())):
                return
            self._runner.send(event)

    def _pace(self, moment: float) -> float:
        """Events a second: slow and fast by turns, 20 seconds from one slow time to the next."""
        low, high = EVENTS_A_SECOND
        return low + (high - low) * abs(moment % 20 / 10 - 1)

    def _event(self) -> dict[str, object]:
        choice = self._random
        desktop = self._runner.desktop
        return {
            "event_type": choice.choice(KINDS),
            "x": choice.randrange(desktop.width),
            "y": choice.randrange(desktop.height),
            "button": 1,
            "dy": choice.randrange(-300, 300),
            "key": choice.choice(KEYS),
            "data": chr(choice.randrange(32, 1200)),
        }


@dataclass(frozen=True)
class Moment:
    """What there was by some time."""

    clock: float
    cpu: float
    peak_kib: int
    stats: Stats

    @classmethod
    def of(cls, runner: Runner) -> "Moment":
        """Now."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return cls(time.perf_counter(), time.process_time(), peak, runner.stats())

    def since(self, before: "Moment") -> str:
        """What came between, in words and figures."""
        seconds = self.clock - before.clock
        found = self.stats - before.stats
        cpu = self.cpu - before.cpu
        late, late_p99 = found.latency_ms, found.latency_ms_p99
        return (
            f"{seconds:4.0f} s: {found.beats / seconds:6.1f} beats/s kept, {found.dropped} dropped, "
            f"{found.frames / seconds:6.1f} frames/s; frame {found.frame_ms:.2f} ms (p99 {found.frame_ms_p99:.2f}); "
            f"{len(found.latencies)} events, input to frame {late:.2f} ms (p99 {late_p99:.2f}); "
            f"host CPU {cpu / seconds:.2%} of a core, {cpu / max(found.frames, 1) * 1000:.3f} ms a frame; "
            f"memory +{(self.peak_kib - before.peak_kib) / 1024:.1f} MiB"
        )


def keep_pace(runner: Runner, minutes: float) -> None:
    """Run for so long, and say what is measured."""
    began = last = Moment.of(runner)
    ended = began.clock + minutes * 60
    while runner.running and last.clock < ended:
        time.sleep(max(0.0, min(60.0, ended - time.perf_counter())))
        now = Moment.of(runner)
        print(now.since(last), flush=True)
        last = now
    print(f"all of it: {last.since(began)}")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--widgets", type=int, default=256)
    parser.add_argument("--groups", choices=["one", "all"])
    parser.add_argument("--rate", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    width, height = map(int, chosen.size.split("x"))
    device = lw.device(chosen.device)
    desktop = crowd(chosen.widgets, width, height, device=device, groups=chosen.groups)
    desktop.settle()  # compiles
    drawn = "one group" if desktop.machine.one_group else "all groups"
    print(f"{len(desktop.nodes)} widgets, {width} x {height}, {chosen.rate:g} Hz, {drawn} on {device!r}", flush=True)
    runner = Runner(desktop, chosen.rate)
    person = Person(runner, chosen.seed)
    runner.start()
    person.start()
    time.sleep(WARM_UP_SECONDS)
    keep_pace(runner, chosen.minutes)
    person.leave()
    runner.close()


if __name__ == "__main__":
    main()
