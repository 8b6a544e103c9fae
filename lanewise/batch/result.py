"""What a batch gave, lane by lane, as arrays and lists; a notebook shows it as a table."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lanewise.batch.report import count_of, duration, first_line
from lanewise.batch.running import CUT_OFF
from lanewise.batch.spec import LaneOutcome, Results
from lanewise.devices.arrays import DeviceArray
from lanewise.errors import LanewiseError

NOT_RUN = "not run"
"""Stands for a trap where the run ended before the lane could begin."""
_ROWS_SHOWN = 10
_WIDTH = 60
_NAMED = 5


class LaneOutputs(list[bytes]):
    """What lanes wrote to one of their streams, by lane: bytes, and as text with `text`."""

    @property
    def text(self) -> list[str]:
        """The same as text; what is no UTF-8 is replaced."""
        return [output.decode(errors="replace") for output in self]


class BatchResult:
    """How all lanes of a run ended."""

    def __init__(
        self,
        name: str,
        lanes: int,
        outcomes: Iterable[LaneOutcome],
        *,
        seconds: float,
        device: str,
        stopped: str | None,
        buffers: Results | None = None,
        remarks: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.device = device
        """Where it ran."""
        self.wall_seconds = seconds
        """How long all of it took."""
        self.stopped = stopped
        """Why the run ended before all lanes had; None if it did not."""
        self.remarks = tuple(remarks)
        """What whoever runs the program should know: of programs of Linux, calls of the system that are not known."""
        self.exit_codes: np.ndarray[Any, np.dtype[np.int64]] = np.full(lanes, -1, np.int64)
        """By lane; -1 where a lane trapped or was not run to its end."""
        self.seconds: np.ndarray[Any, np.dtype[np.float64]] = np.full(lanes, np.nan)
        """By lane; NaN where it was not run."""
        self.traps: list[str | None] = [NOT_RUN] * lanes
        """Why each lane was ended; None where it ended by itself."""
        self.state = None if buffers is None else buffers.state
        """What became of the state of the GPU vocabulary; None if the device failed."""
        self.output = None if buffers is None else buffers.output
        self._left = buffers
        self.stdout = LaneOutputs([b""] * lanes)
        self.stderr = LaneOutputs([b""] * lanes)
        for outcome in outcomes:
            lane = outcome.lane
            self.exit_codes[lane] = -1 if outcome.exit_code is None else outcome.exit_code
            self.seconds[lane] = outcome.seconds
            self.traps[lane] = outcome.trap if outcome.exit_code is None else None
            self.stdout[lane], self.stderr[lane] = outcome.stdout, outcome.stderr

    def __len__(self) -> int:
        return len(self.exit_codes)

    @property
    def picture(self) -> np.ndarray[Any, Any] | None:
        """Bytes of red, green, blue and alpha, of shape (height, width, 4); copied from the device when first asked."""
        return None if self._left is None else self._left.picture

    @property
    def picture_on_device(self) -> DeviceArray | None:
        """The same where the lanes painted it: words of shape (height, width), which a desktop on that device shows."""
        return None if self._left is None else self._left.picture_on_device

    @property
    def ok(self) -> bool:
        """Whether every lane ended by itself with 0."""
        return not self.exit_codes.any()

    @property
    def failed(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """The numbers of the lanes that did not."""
        return np.flatnonzero(self.exit_codes)

    def check(self) -> BatchResult:
        """Raise a BatchError that names the lanes that failed, if any did."""
        if not self.ok:
            raise BatchError(self)
        return self

    def _title(self) -> str:
        failed = len(self.failed)
        how = f"{failed:,} failed" if failed else "all ok" if len(self) > 1 else "ok"
        stopped = f", stopped: {self.stopped}" if self.stopped else ""
        took = f"{duration(self.wall_seconds)} on {self.device}"
        return f"{self.name}: {count_of(len(self), 'lane')}, {how}, {took}{stopped}"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """The first lanes, or the first that failed: these are what one looks for."""
        chosen: Sequence[int] = range(len(self)) if self.ok else self.failed.tolist()
        return [
            (
                str(lane),
                how_it_ended(int(self.exit_codes[lane]), self.traps[lane]),
                "" if np.isnan(self.seconds[lane]) else duration(float(self.seconds[lane])),
                _glimpse(self.stdout[lane] or self.stderr[lane]),
            )
            for lane in chosen[:_ROWS_SHOWN]
        ]

    def _more(self) -> str:
        chosen = len(self) if self.ok else len(self.failed)
        return f"... {chosen - _ROWS_SHOWN:,} more" if chosen > _ROWS_SHOWN else ""

    def __repr__(self) -> str:
        rows = [_HEADINGS, *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
        lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
        more = [f"  {self._more()}"] if self._more() else []
        return "\n".join([self._title(), *(f"  {line.rstrip()}" for line in lines), *more])

    def _repr_html_(self) -> str:
        def cells(row: Sequence[str], kind: str) -> str:
            inside = "".join(f'<{kind} style="text-align:left">{html.escape(cell)}</{kind}>' for cell in row)
            return f"<tr>{inside}</tr>"

        body = "".join(cells(row, "td") for row in self._rows())
        more = f"<div>{html.escape(self._more())}</div>" if self._more() else ""
        table = f"<table><thead>{cells(_HEADINGS, 'th')}</thead><tbody>{body}</tbody></table>"
        return f"<div><strong>{html.escape(self._title())}</strong>{table}{more}</div>"


_HEADINGS = ("lane", "ended with", "took", "wrote")


class BatchError(LanewiseError):
    """Some lanes of a run failed: `lanes` says which, `result` holds everything that there is of all lanes."""

    def __init__(self, result: BatchResult) -> None:
        self.result = result
        self.lanes = result.failed
        named = [
            f"lane {lane} {_in_a_sentence(int(result.exit_codes[lane]), result.traps[lane])}"
            for lane in self.lanes[:_NAMED].tolist()
        ]
        more = f" and {len(self.lanes) - _NAMED:,} more" if len(self.lanes) > _NAMED else ""
        stopped = f" ({result.stopped})" if result.stopped else ""
        super().__init__(
            f"{result.name}: {len(self.lanes):,} of {count_of(len(result), 'lane')} failed{stopped}: "
            + ", ".join(named)
            + more
        )


def how_it_ended(exit_code: int, trap: str | None) -> str:
    """How a lane ended, in a few words."""
    return f"exit code {exit_code}" if trap is None else first_line(trap) or "a trap"


def _in_a_sentence(exit_code: int, trap: str | None) -> str:
    if trap == NOT_RUN:
        return "was not run"
    how = how_it_ended(exit_code, trap)
    return f"was cut off ({how})" if trap in CUT_OFF else f"ended with {how}"


def _glimpse(output: bytes) -> str:
    """The beginning of what a lane wrote."""
    line = output[: 4 * _WIDTH].decode(errors="replace").strip().partition("\n")[0]
    shown = "".join(letter if letter.isprintable() else "?" for letter in line)
    return shown if len(shown) <= _WIDTH else shown[: _WIDTH - 3] + "..."
