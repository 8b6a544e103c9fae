"""`gpu-run`: run a program on one lane or on many, with arguments, files and output as people know them."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence

from lanewise.batch import running
from lanewise.batch.ordering import LaneOrder
from lanewise.batch.report import Tally, as_one_line, count_of, summary, unfinished_sentence
from lanewise.batch.running import Running
from lanewise.batch.spec import LaneOutcome
from lanewise.cli.compiling import compiling_told
from lanewise.cli.gpu_run_buffers import buffer_hint, write_buffers
from lanewise.cli.gpu_run_ending import Ending, PatientStream, StalledError, TimeIsOverError, alarm
from lanewise.cli.gpu_run_options import Options, parse
from lanewise.cli.gpu_run_output import FileSink, JsonSink, OutputError, Sink, Sinks, Streams, TextSink
from lanewise.cli.gpu_run_places import left_over
from lanewise.cli.gpu_run_progress import Progress
from lanewise.cli.gpu_run_task import Job, job
from lanewise.errors import CompileError, DeviceLostError, LanewiseError, OutOfMemoryError
from lanewise.version import __version__

OK, FAILED, MISTAKE, UNFINISHED, TIMED_OUT, TRAPPED = 0, 1, 2, 3, 124, 134
"""Exit statuses. 124 is that of timeout(1), 134 that of a process that aborted and of wasmtime after a trap."""
_SIGNALLED = 128
_ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
_QUIET = signal.SIGINT, signal.SIGPIPE
"""Signals by which programs end whose user has had enough: shells say nothing of them."""
_COMPLETING = "_GPU_RUN_COMPLETE"
"""What a shell sets in the environment when it asks for completions, by the rules of Typer."""


def main() -> None:
    """Run the command line of this process."""
    if sys.stdout is None:  # who starts us may have closed it: what is written there must fail
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it stays open as long as the process
    warnings.showwarning = _warn
    status = command(sys.argv[1:])
    # Taking modules and objects apart one by one would take a tenth of a second, which a small program does not.
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def command(words: Sequence[str]) -> int:
    """Run a command line and give the exit status; mistakes and failures are one sentence, never a traceback."""
    if _COMPLETING in os.environ:
        return _complete(words)
    started = time.monotonic()
    try:
        options = parse(words)
        if options.help or options.version:
            return _show(options)
        if options.install_completion or options.show_completion:
            return _complete(words)
        return _run(options, Ending(None if options.timeout is None else started + options.timeout))
    except BrokenPipeError:
        return _nobody_reads()
    except KeyboardInterrupt:
        return _SIGNALLED + signal.SIGINT
    except (OutputError, DeviceLostError, OutOfMemoryError, CompileError) as error:
        return _say(str(error), UNFINISHED)
    except LanewiseError as error:
        return _say(str(error), MISTAKE)
    except OSError as error:
        where = f"{error.filename!r} cannot be used: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}", MISTAKE)


def _show(options: Options) -> int:
    if options.version:
        text = f"gpu-run {__version__}"
    else:
        from lanewise.cli.gpu_run_help import help_text

        text = help_text()
    stream = PatientStream(sys.stdout.buffer, Ending())
    try:
        stream.write(f"{text}\n".encode())
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"output cannot be written: {error.strerror}") from None
    return OK


def _complete(words: Sequence[str]) -> int:
    from lanewise.cli.gpu_run_completion import run_completion  # brings Typer, which a run does without

    run_completion(list(words))
    return OK


def _run(options: Options, ending: Ending) -> int:
    try:
        with alarm(ending.deadline):
            what = job(options, ending.deadline)
            with compiling_told(_say_aside if _watched(options) else None):
                run = running.start(what.task)
    except TimeIsOverError:
        return _say(f"{running.TIMED_OUT} after {options.timeout:g} s; no lane had begun", TIMED_OUT)
    status = _run_alone(run, ending) if what.task.streaming else _run_batch(run, what, options, ending)
    if run.results is not None and run.stopped is None:  # of a run that was ended early, half of it would mislead
        write_buffers(options, run.results)
    remarks = [f"gpu-run: {one}" for one in run.remarks]
    lines = [*remarks, *(run.explanation if options.explain else ()), *run.statistics]
    if lines:
        _tell(lines)
    return status


def _run_alone(run: Running, ending: Ending) -> int:
    """One lane, whose output has gone through already: its exit code is ours."""
    with _signals_stop(run, ending):
        try:
            outcomes = list(run.outcomes())
        except LanewiseError as error:
            return _say(str(error), UNFINISHED)
    if run.stopped is not None:
        status = _status_when_stopped(run.stopped, ending.signals)
        return status if ending.signals else _say(run.stopped, status)
    return _status_alone(outcomes[0], run.lacking)


def _status_alone(outcome: LaneOutcome, lacking: Sequence[str]) -> int:
    if outcome.signal is not None:
        if outcome.signal not in _QUIET:
            _tell([f"gpu-run: {outcome.trap}"])
        return _SIGNALLED + outcome.signal
    if outcome.exit_code is None:
        _tell([f"gpu-run: trap: {outcome.trap}", *buffer_hint([outcome.kind], lacking)])
        return TRAPPED
    return exit_status(outcome.exit_code)


def exit_status(exit_code: int) -> int:
    """A program's exit code as the eight bits that a process has; failure stays failure."""
    return exit_code & 0xFF or (OK if exit_code == 0 else FAILED)


def _run_batch(run: Running, what: Job, options: Options, ending: Ending) -> int:
    tally = Tally(what.task.lanes, what.label)
    bar = sys.stderr if _watched(options) and not what.alone else None
    progress = Progress(tally, bar)
    sink = _sink(what, options, progress, ending)
    started = time.perf_counter()
    seen: list[LaneOutcome] = []
    try:
        with _signals_stop(run, ending), progress:
            trouble = _write_outcomes(run, tally, sink, seen)
    except StalledError as error:
        stopped = running.INTERRUPTED if ending.signals else f"{running.TIMED_OUT} after {options.timeout or 0:g} s"
        return _say(f"{stopped}, and {error}", _status_when_stopped(stopped, ending.signals))
    if not (options.quiet or what.alone):
        seconds = time.perf_counter() - started
        hint = buffer_hint([ends.kind for ends in tally.failures], run.lacking)
        _tell([*summary(tally, seconds, run.device_name, run.placement), *hint])
    if what.alone and seen and not tally.unfinished:
        return _status_alone(seen[0], run.lacking)
    return _batch_status(tally, trouble or run.stopped, ending.signals)


def _write_outcomes(run: Running, tally: Tally, sink: Sink, seen: list[LaneOutcome]) -> str | None:
    """Count lanes and write what they wrote as they end; gives what went wrong with the run, if something did.

    The first outcome is left in `seen`.
    """
    order = LaneOrder()
    trouble = None
    bursts = run.bursts()
    try:
        try:
            for burst in bursts:
                ready = []
                seen += burst[: 1 - len(seen)]
                for outcome in burst:
                    tally.add(outcome)
                    ready += order.push(outcome) if sink.ordered else [outcome]
                sink.put(ready)
                run.backlog.held = order.held_bytes
        except OutputError:
            raise
        except LanewiseError as error:
            trouble = str(error)
        sink.put(order.rest())
    except (OutputError, BrokenPipeError):  # nobody gets what the other lanes would write
        run.stop()
        for _ in bursts:
            pass
        raise
    return trouble


def _batch_status(tally: Tally, stopped: str | None, caught: list[int]) -> int:
    """A run that was stopped when all lanes had ended is like any other."""
    if tally.unfinished:
        why = stopped or "the run ended early, and the engine does not say why"
        return _say(f"{why}; {unfinished_sentence(tally)}", _status_when_stopped(why, caught))
    return OK if tally.ok == tally.lanes else FAILED


def _status_when_stopped(stopped: str, caught: list[int]) -> int:
    if stopped.startswith(running.INTERRUPTED):
        return _SIGNALLED + (caught[0] if caught else signal.SIGINT)
    if stopped.startswith(running.TIMED_OUT):
        return TIMED_OUT
    return FAILED if stopped.startswith(running.LANE_FAILED) else UNFINISHED


def _sink(what: Job, options: Options, progress: Progress, ending: Ending) -> Sink:
    out, error = (PatientStream(stream.buffer, ending) for stream in (sys.stdout, sys.stderr))
    streams = Streams(out, error, progress)
    in_files = options.output_dir is not None
    sinks: list[Sink] = []
    if options.output_dir is not None:
        _warn_of_left_over(what, options.output_dir)
        sinks.append(FileSink(options.output_dir, what.output_name))
    if options.json:
        sinks.append(JsonSink(streams, what.files, with_output=not in_files))
    return sinks[0] if len(sinks) == 1 else Sinks(*sinks) if sinks else TextSink(streams)


def _warn_of_left_over(what: Job, directory: str) -> None:
    """Whoever reads all that is in a directory should know that not all of it is of this run."""
    lanes = what.task.lanes
    names = None if what.files is None else [what.output_name(lane) for lane in range(lanes)]
    old = left_over(directory, lanes, names)
    if old:
        whose = f"{count_of(len(old), 'lane')} of an earlier run, such as {as_one_line(old[0] + '.out')}"
        advice = "name another directory if they should not"
        place = f"--output-dir {as_one_line(directory)}"
        _tell([f"gpu-run: {place}: outputs of {whose}, stay beside those of this one; {advice}"])


@contextlib.contextmanager
def _signals_stop(run: Running, ending: Ending) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and the end of the terminal end the run, so that what is finished is still written.

    A second one no longer waits for that.
    """

    def stop(number: int, frame: object) -> None:
        ending.note(number)
        if len(ending.signals) > 1:
            raise KeyboardInterrupt
        run.stop()

    heard = [number for number in _ENDING if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in heard}  # nohup has it ignore the end of the terminal
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _warn(message: Warning | str, *where: object, **more: object) -> None:
    """Warnings of the library, such as of a cache that cannot be used, as a sentence of this command."""
    _tell([f"gpu-run: {message}"])


def _watched(options: Options) -> bool:
    """Whether somebody looks at a terminal, and wants to know how far this is."""
    return sys.stderr.isatty() and not options.quiet


def _say_aside(sentence: str) -> None:
    _tell([f"gpu-run: {sentence}"])


def _say(sentence: str, status: int) -> int:
    _tell([f"gpu-run: {sentence}"])
    return status


def _tell(lines: Sequence[str]) -> None:
    """Write lines for people; that nobody reads them changes nothing about how the run went, and keeps it not long."""
    with contextlib.suppress(OSError, StalledError):
        sys.stderr.flush()
        stream = PatientStream(sys.stderr.buffer, Ending(time.monotonic()))
        stream.write("".join(f"{line}\n" for line in lines).encode(errors="backslashreplace"))
        stream.flush()


def _nobody_reads() -> int:
    """End like any program whose reader has gone; what Python still holds goes nowhere, and without complaint."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
    return _SIGNALLED + signal.SIGPIPE
