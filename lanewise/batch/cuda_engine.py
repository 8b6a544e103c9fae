"""Programs on a CUDA GPU: waves of lanes over slots that they share, with the host serving requests meanwhile.

The first waves of a run are measured one by one, where some of them try other placements. After that a wave is started
as soon as all lanes of the one before have begun, so that lanes that take long do not keep the GPU from others.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np

from lanewise.batch.backend import SHARED_BYTES, Wave, WaveBackend, count_of, results_of, words_of
from lanewise.batch.cuda_slots import CudaSlots
from lanewise.batch.cuda_wave import CudaWave
from lanewise.batch.program import Program
from lanewise.batch.ring import DATA_BYTES, HostRing
from lanewise.batch.service import HostService
from lanewise.batch.spec import Results, Task
from lanewise.batch.wave import lane_order, tell_time
from lanewise.devices.cuda import CudaDevice
from lanewise.errors import CompileError, DeviceLostError, OutOfMemoryError
from lanewise.kernel.clock_kernel import read_clock
from lanewise.wasm import lane_words as lanes
from lanewise.wasm.candidates import Reach
from lanewise.wasm.compile import code_bytes
from lanewise.wasm.lane_setup import references_alone
from lanewise.wasm.placement import Placement
from lanewise.wasm.tuning import Tuner, Turn, layout_seconds

_CONSOLE_BYTES = 256 * 2**20
_LATER_CONSOLE_BYTES = 64 * 2**20
"""Room for what lanes write: those of a wave that runs alone, and of each that runs beside others."""
_COPIES_BYTES = 1 << 30
"""Room for copies of files; a sixteenth of the GPU's memory where that is less."""
_LANES_PER_SLOT = 4
"""Lanes of a wave that a slot runs one after the other, more or less."""
_MOST_WAVES = 6
"""Waves that can run at the same time, if lanes of the first ones take so long."""
_MORE_STREAMS = 2
"""Streams besides, for waves that are started once more. All of them, with two for memory and for looks, are ten: the
driver has eight queues, and more of those make the start of every process longer."""
_FOR_WAVES = range(1, _MOST_WAVES + 1)
_FOR_MORE = range(_FOR_WAVES.stop, _FOR_WAVES.stop + _MORE_STREAMS)
_WORTH_LAUNCHING = 16
"""What part of all units must be free for that."""
_IDLE_CHECKS_SECONDS = 200e-6
_CAREFUL_CHECKS_SECONDS = 5e-3
"""How often is looked at a wave whose lanes have all begun: most of the time it is as good as over. Slots that became
free are looked for as often."""
_EXACT_CHECKS = 0.02
"""A wave whose time is taken is looked at after this part of it, more or less."""


_left_behind: list[CudaWaves] = []
"""Whose lanes still run, with what they use, though nobody waits for them."""


class CudaWaves(WaveBackend):
    """One GPU."""

    def __init__(self, task: Task, program: Program, device: CudaDevice) -> None:
        super().__init__(task, program)
        for one in tuple(_left_behind):
            one.close()
        self.device_name = f"{device.name} {device.properties.name}"
        self._device = device
        # Lanes that wait for each other, or have threads, must begin together: none may follow another on its slot.
        self._together = bool(program.meets or program.team)
        # They are in whole blocks, and threads of a lane share a memory in one piece.
        settled = Placement("flat" if program.team else "interleaved") if self._together else task.placement
        properties = device.properties
        seconds = layout_seconds(code_bytes(self.module))
        counted = () if task.limits.fuel is None else ("counted",)  # whose loops stay as they are
        key = ("process", *counted, self.module.data)
        reach = Reach(properties.resident_threads, words=False)
        self._tuner = Tuner(key, properties.name, reach, search=task.search, layout_seconds=seconds)
        if settled is None and task.stats:  # lanes that count are slower, which says nothing of placements
            settled = self._tuner.known.best()
        if settled is None:
            self._tuner.begin(task.lanes)
        self._settled = settled
        self._slots = self._make_slots(settled or self._tuner.best(task.lanes), wait=False)
        self._tuner.limit(self._slots.most)
        if settled is None:
            self._tuner.check_search()
        self._turn: Turn | None = None
        self._waves: list[tuple[CudaWave, HostService]] = []
        self._left = task.lanes
        self._no_room = False
        """Whether there was no memory for another wave beside those that run."""
        self._reinforced = 0.0
        self._consoles: dict[int, Any] = {}
        self._putting: CudaWave | None = None
        self._allocate(task)
        self._clock = self._read_clock() - time.monotonic_ns()
        self._ring = HostRing(device)
        self._waited = self._timed = 0.0
        """Seconds that were waited for lanes, and those among them that waves took whose time was taken."""
        self._closed = False

    def _make_slots(self, place: Placement, *, wait: bool) -> CudaSlots:
        made = CudaSlots(self.task, self.program, self._device, place, wait=wait)
        self.placement = str(made)
        return made

    def _allocate(self, task: Task) -> None:
        """What all waves have in common."""
        device = self._device
        copies = min(_COPIES_BYTES, device.properties.memory_bytes // 16) if task.directories else 8
        self._copies, self._copied = device.empty(copies, np.uint8), 0
        shared = self._slots.count // self._slots.group * SHARED_BYTES if self.program.meets else 0
        self._shared = device.zeros(max(8, shared), np.uint8)
        buffers = task.buffers
        self._state, self._input = device.array(words_of(buffers.state)), device.array(words_of(buffers.input))
        self._output = device.zeros(max(1, buffers.output), np.uint32)
        self._picture = device.zeros(max(1, buffers.size[0] * buffers.size[1]), np.uint32)
        self._data = device.array(np.frombuffer(self.module.data, np.uint8))
        self._references = device.array(np.array(references_alone(self.module) or [0], np.uint64))

    def place(self, content: bytes) -> int:
        at = (self._copied + 7) // 8 * 8
        if at + len(content) > self._copies.size:
            return 0
        self._copied = at + len(content)
        self._device.poke(self._copies.address + at, content)
        return self._copies.address + at

    @property
    def _copies_are_many(self) -> bool:
        return self._copied >= self._copies.size // 2

    def forget_copies(self) -> bool:
        if not self._copies_are_many:
            return False
        self._copied = 0
        return True

    # --- waves -------------------------------------------------------------------------------------------------------

    def next_wave(self, left: int) -> int:
        self._left = left
        turn = self._ready_turn(left) if self._may_start() else None
        if turn is None:
            return 0
        if turn.trial:
            return turn.lanes
        most: int = self._slots.count // max(1, self.program.team) * (1 if self._together else _LANES_PER_SLOT)
        return min(turn.lanes, most)

    def _ready_turn(self, left: int) -> Turn | None:
        """Where the next of so many lanes live, with slots there; None if they have no memory beside those that run."""
        while True:
            if self._turn is None:
                trials = not self._waves  # which have the GPU to themselves
                self._turn = Turn(self._settled, left) if self._settled else self._tuner.turn(left, trials=trials)
            start = time.perf_counter()
            try:
                there = self._live_in(self._turn.placement)
            except CompileError:
                if not self._turn.trial:
                    raise
                self._tuner.failed(self._turn, time.perf_counter() - start)
                self._turn = None
                continue
            self._preparing = time.perf_counter() - start
            return self._turn if there else None

    def _live_in(self, place: Placement) -> bool:
        """Have slots in a placement, if there is memory for them beside those of lanes that run."""
        if "_slots" in self.__dict__ and self._slots.place == place:
            return True
        if not self._waves:
            self.__dict__.pop("_slots", None)  # both may have no room beside each other
        try:
            self._slots = self._make_slots(place, wait=bool(self._waves))
        except OutOfMemoryError:
            if not self._waves:
                raise
            self._no_room = True  # lanes that are left of other waves have the memory
            return False
        if not self._waves:
            self._device.wait()  # for the memory to be cleared: trials are timed
        return True

    def _may_start(self) -> bool:
        if not self._left or self._no_room:
            return False
        if not self._waves:
            return True
        if self._together or self._copies_are_many or self._free_stream(_FOR_WAVES) is None:
            return False
        return self._waves[-1][0].lets_others_begin

    def start(self, first: int, count: int, service: HostService) -> Wave:
        try:
            wave = self._start(first, count, service)
        except OutOfMemoryError:
            self._no_room = bool(self._waves)
            raise
        finally:
            self._putting = None
        self._turn = None
        self._left -= count
        return wave

    def _start(self, first: int, count: int, service: HostService) -> CudaWave:
        stream = self._free_stream(_FOR_WAVES)
        turn = self._turn
        assert turn is not None
        assert stream is not None
        # A wave says how fast lanes are, and trials are compared with it; all others run side by side.
        timed = not self._settled and not self._waves and (turn.trial or not self._tuner.has_pace)
        measured = Turn(turn.placement, count, turn.trial) if timed else None
        wave = CudaWave(self._device, self._slots, stream, count, self._console_of(stream), measured)
        wave.preparing = self._preparing
        self._putting = wave
        run = self._run_record(first, count, service)
        tell_time(run, self.now())
        run["wave"] = stream
        run["ring"], run["stop"] = self._ring.address, self._ring.stop_address
        run["capacity"], run["stride"] = DATA_BYTES, self._slots.build.stride
        buffers = self.task.buffers
        run["state"] = (self._state.address, count_of(buffers.state))
        run["input"] = (self._input.address, count_of(buffers.input))
        run["output"] = (self._output.address, buffers.output)
        run["picture"], run["shared"] = self._picture.address, self._shared.address
        words = self._slots.words(alone=self._together)
        words[lanes.FUEL] = lanes.UNLIMITED if self.task.limits.fuel is None else self.task.limits.fuel
        words[lanes.STOP] = self._ring.stop_address
        words[lanes.DATA], words[lanes.ELEMENTS] = self._data.address, self._references.address
        if self.program.team:
            self._slots.reset_teams()
        if self.program.meets:
            self._device.fill(self._shared.buffer, 0, self._shared.buffer.nbytes)
        assert self._facts is not None
        sizes = self._facts.input_sizes
        order = None if self._together else lane_order(self.task, range(first, first + count), sizes)
        words[lanes.INDICES] = 0 if order is None else wave.put(order)
        wave.tell(run, words, in_order=self._together)
        self._ring.serve_for(stream, service)
        wave.begin()
        self._waves.append((wave, service))
        self._reinforced = time.monotonic()
        return wave

    def _free_stream(self, numbers: range) -> int | None:
        used = {stream for wave, _ in self._waves for stream in wave.streams}
        return next((number for number in numbers if number not in used), None)

    def _reinforce(self) -> None:
        """Slots that lanes of earlier waves have left go to the latest one, if that found few when it was started."""
        now = time.monotonic()
        wave, service = self._waves[-1]
        if self._together or wave.taken or service.stopping or now - self._reinforced < _CAREFUL_CHECKS_SECONDS:
            return
        self._reinforced = now
        free, units = wave.free_units()
        stream = self._free_stream(_FOR_MORE)
        if stream is not None and free >= max(1, units // _WORTH_LAUNCHING):
            with contextlib.suppress(OutOfMemoryError):  # its lanes have other slots
                wave.reinforce(stream)

    def _console_of(self, stream: int) -> Any:
        """Where lanes of the wave on a stream write; None if it goes through at once."""
        if self.task.streaming:
            return None
        if stream not in self._consoles:
            size = _LATER_CONSOLE_BYTES if self._consoles else _CONSOLE_BYTES
            self._consoles[stream] = self._device.zeros(size, np.uint8)
        return self._consoles[stream]

    def _put(self, array: np.ndarray[Any, Any]) -> int:
        assert self._putting is not None
        return self._putting.put(array)

    def _read_clock(self) -> int:
        out = self._device.zeros(1, np.uint64)
        self._device.launch(read_clock, 1, 1, [out])
        return int(out.get()[0])

    def now(self) -> int:
        return time.monotonic_ns() + self._clock

    def wait(self, seconds: float) -> None:
        began = time.monotonic()
        try:
            self._wait_until(began + seconds)
        finally:
            self._waited += time.monotonic() - began

    def _wait_until(self, deadline: float) -> None:
        while self._waves:
            for wave, service in self._waves:
                wave.check(service)
                self._learn(wave)
            running = [one for one in self._waves if not one[0].over]
            some_over, self._waves = len(running) < len(self._waves), running
            self._no_room = self._no_room and not some_over
            if some_over or self._may_start() or time.monotonic() >= deadline:
                return
            self._reinforce()
            latest = self._waves[-1][0]
            often = _IDLE_CHECKS_SECONDS
            if latest.turn is not None:
                often = max(often, min(_CAREFUL_CHECKS_SECONDS, _EXACT_CHECKS * latest.age))
            elif latest.taken:
                often = _CAREFUL_CHECKS_SECONDS
            time.sleep(often)

    def _learn(self, wave: CudaWave) -> None:
        if wave.turn is None or wave.seconds is None or not wave.lets_others_begin:
            return
        if wave.unseen:
            self._tuner.lost(wave.turn, wave.preparing)
        else:
            self._tuner.took(wave.turn, wave.seconds, wave.preparing)
            self._timed += wave.seconds
        wave.turn = None

    def stop(self) -> None:
        self._ring.ask_to_stop()
        while not all(wave.is_idle() for wave, _ in self._waves):
            time.sleep(_IDLE_CHECKS_SECONDS)

    def statistics(self) -> list[str]:
        """How far lanes were in step where they live in the end; trials of other placements are left out."""
        return [str(self._slots.divergence())]

    def explain(self) -> list[str]:
        if self._settled is not None and (self._together or self.task.placement is not None):
            why = "for lanes that wait for each other or have threads" if self._together else "as asked for"
            return [f"placement: {self._settled}, {why}"]
        return self._tuner.explain()

    def results(self) -> Results:
        return results_of(self.task.buffers, self._state.get(), self._output.get(), self._picture)

    def close(self) -> None:
        """Give the memory back at once: the next run needs it, and this object may live on in some traceback.

        Where lanes still run, for somebody would not wait for them to stop, the next run does it, or the one after.
        """
        if self._closed:
            return
        if self._any_running():
            self._ring.ask_to_stop()
            if self not in _left_behind:
                _left_behind.append(self)
            return
        self._closed = True
        if self in _left_behind:
            _left_behind.remove(self)
        self._ring.close()
        if self._settled is None and not self._device.lost:
            self._tuner.ran(max(0.0, self._waited - self._timed))
            self._tuner.save(over=True)
        self._waves = []
        self._consoles = {}
        for name in ("_slots", "_putting", "_copies", "_shared"):
            self.__dict__.pop(name, None)

    def _any_running(self) -> bool:
        """Whether lanes are still there; none are on a device that is lost."""
        try:
            return not self._device.lost and not all(wave.is_idle() for wave, _ in self._waves)
        except DeviceLostError:
            return False
