"""Benchmark `run`: whole programs as `gpu-run` runs them: how soon they start and end, and how many at once."""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.bench.programs_end import end_rows
from lanewise.bench.programs_files import files_rows
from lanewise.bench.programs_many import lines_row, million_rows, start_rows
from lanewise.bench.result import Result
from lanewise.devices import Device


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    yield from start_rows(device, quick)
    yield lines_row(device, quick)
    yield from million_rows(device, quick)
    yield from files_rows(device, quick)
    yield from end_rows(device, quick)
