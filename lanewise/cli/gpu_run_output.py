"""Where lanes' output goes: the standard streams, lines of JSON, or a file for each stream of each lane."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from lanewise.batch.report import as_one_line
from lanewise.batch.spec import LaneOutcome
from lanewise.cli.gpu_run_places import SUFFIXES
from lanewise.cli.gpu_run_progress import Progress, Writer
from lanewise.cli.mistakes import UsageMistake
from lanewise.errors import LanewiseError

_TOGETHER = 1 << 20
"""Bytes that are written at once, more or less."""


class OutputError(LanewiseError):
    """Output of lanes cannot be written; the run has no use any more."""


class Sink(Protocol):
    """Takes lanes' output; what it has taken is not held back."""

    @property
    def ordered(self) -> bool:
        """Whether it is to get lanes in the order of their numbers."""

    def put(self, outcomes: Sequence[LaneOutcome]) -> None:
        """Write the output of some lanes."""


class Streams:
    """The standard streams of this process, which a progress bar may share."""

    def __init__(self, stdout: Writer, stderr: Writer, progress: Progress) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._progress = progress

    def out(self, data: bytes) -> None:
        """Write to the standard output."""
        self._write(self._stdout, data)

    def error(self, data: bytes) -> None:
        """Write to the standard error."""
        self._write(self._stderr, data)

    def _write(self, stream: Writer, data: bytes) -> None:
        """Write all of it now: whoever reads should not wait for more lanes to end."""
        if not data:
            return
        try:
            self._progress.write(stream, data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"output cannot be written: {error.strerror}") from None


class TextSink:
    """The output of lanes as it is, each lane's on lines of its own."""

    ordered = True

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    def put(self, outcomes: Sequence[LaneOutcome]) -> None:
        """Write the output of some lanes."""
        _write_together(self._streams.out, (_whole_lines(outcome.stdout) for outcome in outcomes))
        _write_together(self._streams.error, (_whole_lines(outcome.stderr) for outcome in outcomes))


def _write_together(write: Callable[[bytes], None], pieces: Iterable[bytes]) -> None:
    """Write small pieces as one, which costs less, and large ones without a copy of all of them."""
    together: list[bytes] = []
    size = 0
    for piece in pieces:
        together.append(piece)
        size += len(piece)
        if size >= _TOGETHER:
            write(b"".join(together))
            together, size = [], 0
    write(b"".join(together))


class JsonSink:
    """A JSON object per lane, one on each line."""

    ordered = True

    def __init__(self, streams: Streams, files: Sequence[str] | None, *, with_output: bool) -> None:
        """`files` names the file of each lane, if it has one."""
        self._streams = streams
        self._files = files
        self._with_output = with_output

    def put(self, outcomes: Sequence[LaneOutcome]) -> None:
        """Write the records of some lanes."""
        _write_together(self._streams.out, (json.dumps(self._record(one)).encode() + b"\n" for one in outcomes))

    def _record(self, outcome: LaneOutcome) -> dict[str, Any]:
        record: dict[str, Any] = {"lane": outcome.lane}
        if self._files is not None:
            record |= _text_or_base64("file", os.fsencode(self._files[outcome.lane]))
        record |= {"exit_code": outcome.exit_code, "trap": outcome.trap, "seconds": round(outcome.seconds, 9)}
        if outcome.instructions is not None:
            record |= {"signal": outcome.signal, "instructions": outcome.instructions}
        if self._with_output:
            record |= _text_or_base64("stdout", outcome.stdout) | _text_or_base64("stderr", outcome.stderr)
        return record


class FileSink:
    """Two files per lane; each is there as a whole or not at all, so an old one never has half of the new content."""

    ordered = False

    def __init__(self, directory: str, name: Callable[[int], str]) -> None:
        """Make the directory if it is not there."""
        self._directory = directory
        self._name = name
        self._made: set[str] = set()
        self._unfinished = _name_of_its_own()
        """What a file is called while it is written, in the directory where it shall be."""
        try:
            self._make(directory)
            try_to_write(directory)
        except (OutputError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UsageMistake(
                f"--output-dir {as_one_line(directory)}: no files can be written there ({reason}); name another"
            ) from None

    def put(self, outcomes: Sequence[LaneOutcome]) -> None:
        """Write the files of some lanes."""
        for outcome in outcomes:
            path = os.path.join(self._directory, self._name(outcome.lane))
            self._make(os.path.dirname(path))
            for suffix, data in zip(SUFFIXES, (outcome.stdout, outcome.stderr), strict=True):
                self._replace(path + suffix, data)

    def _replace(self, path: str, data: bytes) -> None:
        new = os.path.join(os.path.dirname(path), self._unfinished)
        try:
            with open(new, "wb") as file:
                file.write(data)
            os.replace(new, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(new)
            raise OutputError(f"{path!r} cannot be written: {error.strerror}") from None

    def _make(self, directory: str) -> None:
        if directory in self._made:
            return
        try:
            os.makedirs(directory, exist_ok=True)
        except OSError as error:
            raise OutputError(f"the directory {directory!r} cannot be made: {error.strerror}") from None
        self._made.add(directory)


class Sinks:
    """Several at once."""

    def __init__(self, *sinks: Sink) -> None:
        self._sinks = sinks
        self.ordered = any(sink.ordered for sink in sinks)

    def put(self, outcomes: Sequence[LaneOutcome]) -> None:
        """Hand lanes to each."""
        for sink in self._sinks:
            sink.put(outcomes)


def try_to_write(directory: str) -> None:
    """Make a file in a directory and take it away again; raises OSError where there can be none."""
    probe = os.path.join(directory, _name_of_its_own())
    os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    os.unlink(probe)


def _name_of_its_own() -> str:
    """A short name that no other run has, on other machines that share the directory either."""
    return f".gpu-run-{os.getpid()}-{os.urandom(4).hex()}"


def _whole_lines(output: bytes) -> bytes:
    return output + b"\n" if output and not output.endswith(b"\n") else output


def _text_or_base64(name: str, output: bytes) -> dict[str, str]:
    try:
        return {name: output.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(output).decode()}
