"""`lanewise.run` and `lanewise.stream`: programs on many lanes from Python, with results as arrays and lists."""

from __future__ import annotations

import atexit
import os
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lanewise.batch import amounts, given, running
from lanewise.batch.result import BatchResult
from lanewise.batch.spec import Buffers, LaneOutcome, Limits, Results, Task
from lanewise.devices import Device
from lanewise.errors import ArgumentError, LanewiseError

if TYPE_CHECKING:
    from lanewise.wasm.module import Module


def run(
    program: str | os.PathLike[str] | bytes | Module,
    *,
    lanes: int | None = None,
    args: given.Arguments = (),
    stdin: given.Input = None,
    dirs: given.Directories = None,
    env: Mapping[str, str] | None = None,
    device: str | Device = "auto",
    seed: int | None = None,
    fuel: int | None = None,
    timeout: float | str | None = None,
    memory: int | str | None = None,
    stack: int | str | None = None,
    output_limit: int | str | None = amounts.BATCH_OUTPUT,
    threads: int = Task.threads,
    state: Any = None,
    input: Any = None,
    output: int = 0,
    picture: tuple[int, int] = (0, 0),
    group: int = Buffers.group,
    fail_fast: bool = False,
    placement: str | None = None,
    check: bool = False,
) -> BatchResult:
    """Run a program on many lanes, wait for all of them, and give how each ended.

    - `program`: WebAssembly (WASI) as a path, bytes, or a module that is loaded already; or a static AArch64 program of
      Linux as a path or bytes.
    - `lanes`: how many; by default as many as `args` or `stdin` has entries for, else 1.
    - `args`: a list of arguments, in which `{lane}` is the lane's number; or a list of such lists, one per lane; or a
      function from the lane to its list.
    - `stdin`: text or bytes that every lane reads; or a list of them, one per lane; or a function from the lane.
    - `dirs`: directories that the program may use: {"name in the program": "path"}, or a list of paths.
    - `env`: its environment; empty by default.
    - `device`: auto, cpu, cuda, cuda:1, or a device.
    - `seed`: makes its random numbers the same in every run, and others in each lane.
    - `fuel`, `memory`, `stack`, `output_limit`: what a lane may use; sizes are bytes or such as "16M".
    - `timeout`: seconds that the run may take, or such as "2m".
    - `threads`: how many threads a lane may start, by wasi-threads.
    - `state`, `input`: arrays of 32-bit numbers that all lanes share by the GPU vocabulary; `output`: how many such
      words they may write; `picture`: width and height of what they paint; `group`: lanes that meet at barriers. What
      becomes of them is in the result: `state`, `output`, `picture`.
    - `fail_fast`: end the run when a lane fails.
    - `placement`: where lanes live on a GPU, such as "flat/8/all": layout of memory, lanes per warp, lanes at once; or
      "search" to try all that may be good with the first lanes, and remember the best. By default what is known to be
      best for the program.
    - `check`: raise a BatchError that names the lanes that failed, if any did.
    """
    checked = given.yes_or_no("check", check)
    with stream(
        program,
        lanes=lanes,
        args=args,
        stdin=stdin,
        dirs=dirs,
        env=env,
        device=device,
        seed=seed,
        fuel=fuel,
        timeout=timeout,
        memory=memory,
        stack=stack,
        output_limit=output_limit,
        threads=threads,
        state=state,
        input=input,
        output=output,
        picture=picture,
        group=group,
        fail_fast=fail_fast,
        placement=placement,
    ) as ending:
        started = time.perf_counter()
        outcomes = list(ending)
        seconds = time.perf_counter() - started
    result = BatchResult(
        ending.name,
        ending.lanes,
        outcomes,
        seconds=seconds,
        device=ending.device,
        stopped=ending.stopped,
        buffers=ending.results,
        remarks=ending.remarks,
    )
    return result.check() if checked else result


def stream(
    program: str | os.PathLike[str] | bytes | Module,
    *,
    lanes: int | None = None,
    args: given.Arguments = (),
    stdin: given.Input = None,
    dirs: given.Directories = None,
    env: Mapping[str, str] | None = None,
    device: str | Device = "auto",
    seed: int | None = None,
    fuel: int | None = None,
    timeout: float | str | None = None,
    memory: int | str | None = None,
    stack: int | str | None = None,
    output_limit: int | str | None = amounts.BATCH_OUTPUT,
    threads: int = Task.threads,
    state: Any = None,
    input: Any = None,
    output: int = 0,
    picture: tuple[int, int] = (0, 0),
    group: int = Buffers.group,
    fail_fast: bool = False,
    placement: str | None = None,
    check: bool = False,
) -> LaneStream:
    """Start what `run` runs, and give lanes as they end: an iterator of outcomes. Closing it ends the run.

    It takes the same, but for `check`, which is there to be refused: who gets lanes one by one looks at each.
    """
    if given.yes_or_no("check", check):
        raise ArgumentError(
            "check is for lanewise.run, which sees all lanes; of a stream look at outcome.ok of each lane"
        )
    data, name, module = given.program(program)
    task = Task(
        program=data,
        name=name,
        lanes=given.count_of_lanes(lanes, args, stdin),
        inputs=given.inputs(name, args, stdin),
        environment=given.environment(env),
        directories=given.directories(dirs),
        device=device.name if isinstance(device, Device) else device,
        seed=given.whole_or_none("seed", seed, amounts.SEEDS),
        limits=Limits(
            memory=given.size("memory", memory, amounts.MEMORY),
            stack=given.size("stack", stack, amounts.STACK),
            fuel=given.whole_or_none("fuel", fuel, amounts.FUEL),
            timeout=given.seconds("timeout", timeout),
            output=given.size("output_limit", output_limit, amounts.OUTPUT),
        ),
        threads=given.whole("threads", threads, amounts.THREADS),
        buffers=given.buffers(state, input, output, picture, group),
        fail_fast=given.yes_or_no("fail_fast", fail_fast),
        placement=given.placement(placement),
        search=placement == "search",
    )
    return LaneStream(task, module)


_streams: weakref.WeakSet[LaneStream] = weakref.WeakSet()


def _close_streams() -> None:
    """A script that is over does not wait for lanes that nobody asks for any more."""
    streams = list(_streams)
    for stream in streams:
        stream.stop()
    for stream in streams:
        with suppress(LanewiseError):
            stream.close()


class LaneStream(Iterator[LaneOutcome]):
    """Lanes in the order in which they end. Leaving it, by `close`, by `with` or by Ctrl-C, ends the run."""

    def __init__(self, task: Task, module: Module | None) -> None:
        self._run = running.start(task, module)
        self._outcomes = self._run.outcomes()
        self._process = os.getpid()
        _streams.add(self)
        atexit.unregister(_close_streams)
        atexit.register(_close_streams)  # the last to come is the first to go: the device would wait for the lanes
        self.name = task.name
        self.lanes = task.lanes

    @property
    def device(self) -> str:
        """Where it runs."""
        return self._run.device_name

    @property
    def stopped(self) -> str | None:
        """Once there are no more lanes: why that was before all had ended, or None."""
        return self._run.stopped

    @property
    def results(self) -> Results | None:
        """Once there are no more lanes: what they have left in the buffers of the GPU vocabulary."""
        return self._run.results

    @property
    def remarks(self) -> Sequence[str]:
        """Once there are no more lanes: what whoever runs the program should know, a sentence each."""
        return self._run.remarks

    def __next__(self) -> LaneOutcome:
        try:
            return next(self._outcomes)
        except StopIteration:
            raise
        except BaseException:  # Ctrl-C most of all: a notebook goes on, and the lanes must not
            self.close()
            raise

    def stop(self) -> None:
        """Have the run end soon; from any thread."""
        if self._process == os.getpid():  # else the lanes are those of the process that was forked
            self._run.stop()

    def close(self) -> None:
        """End the run; lanes that have not ended are lost."""
        self.stop()
        running_elsewhere = getattr(self._outcomes, "gi_running", False)  # another thread asks, and hears of the end
        if self._process == os.getpid() and not running_elsewhere:
            for _ in self._outcomes:
                pass

    def __enter__(self) -> LaneStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()
