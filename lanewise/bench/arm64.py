"""Benchmark `arm64`: AArch64 code on one lane and on many; against qemu and Unicorn on one core."""

from __future__ import annotations

import math
from collections.abc import Iterator

from lanewise.bench.arm64_loops import run_loops
from lanewise.bench.arm64_programs import Run, program_path, under_lanewise, under_qemu, under_unicorn
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.devices import Device

_ONE_LANE = {
    "mix": 9_000,
    "sha256": 30_000,
    "matrix": 2_000,
    "heapsort": 1_000,
    "records": 4_000_000,
    "mandelbrot": 200,
}
"""Programs and rounds that take qemu about half a second; mix is like CoreMark, records like Dhrystone."""
_MANY = {"heapsort": 6, "json": 20, "lz": 12, "sha256": 300}
"""Programs that sort, parse, compress and hash other data in each lane."""
_LANES = 32_768
_QUICK = 50
_TURNS = 3


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device; programs that were not built are missed before anything is measured."""
    many = device.name.startswith("cuda")
    for name in _MANY if many else _ONE_LANE:
        program_path(name)
    yield from _on_many(device, quick) if many else _on_one(device, quick)
    yield from run_loops(device, quick)


def _on_one(device: Device, quick: bool) -> Iterator[Result]:
    """The best of a few turns each."""
    ratios: dict[str, list[float]] = {"qemu": [], "unicorn": []}
    for name, rounds in _ONE_LANE.items():
        path, count = program_path(name), rounds // _QUICK if quick else rounds
        runs: dict[str, list[Run]] = {"interpreted": [], "translated": [], "qemu": [], "unicorn": []}
        for _ in range(1 if quick else _TURNS):
            runs["interpreted"].append(under_lanewise(path, max(1, count // 8), 1, device, False))
            runs["translated"].append(under_lanewise(path, count, 1, device, True))
            for peer, one in (("qemu", under_qemu(path, count)), ("unicorn", under_unicorn(path, count))):
                if one is not None:
                    runs[peer].append(one)
        instructions = runs["translated"][0].instructions
        written = {one.output for kind in ("translated", "qemu", "unicorn") for one in runs[kind]}
        if len(written) != 1:
            raise WrongResultError(f"benchmark arm64: {name} gave {written}")
        ours = max(one.rate for one in runs["translated"])
        rate = max(one.rate for one in runs["interpreted"])
        yield figure("arm64", device.name, f"{name}, interpreted", rate / 1e6, "M instr/s", above=100)
        for peer, found in ratios.items():
            theirs = instructions / min(one.seconds for one in runs[peer]) if runs[peer] else None
            row = figure(
                "arm64", device.name, f"{name}, translated", ours / 1e6, "M instr/s",
                peer=peer, peer_value=theirs and theirs / 1e6,
            )  # fmt: skip
            if row.ratio is not None:
                found.append(row.ratio)
            yield row
    for peer, at_least in (("qemu", 1.5), ("unicorn", 3.0)):
        if ratios[peer]:
            mean = math.prod(ratios[peer]) ** (1 / len(ratios[peer]))
            yield figure(
                "arm64", device.name, f"geometric mean of {len(ratios[peer])}", mean, f"x {peer}",
                peer=peer, peer_value=1.0, at_least=at_least,
            )  # fmt: skip


def _on_many(device: Device, quick: bool) -> Iterator[Result]:
    """Lanes that go their own ways; the first are compared with the CPU."""
    lanes = _LANES // 16 if quick else _LANES
    for name, rounds in _MANY.items():
        path = program_path(name)
        for translated in (False, True):
            count = rounds if translated else max(1, rounds // 8)
            wanted = under_lanewise(path, count, 4, "cpu", False).output
            found = under_lanewise(path, count, lanes, device, translated)
            if found.output != wanted:
                raise WrongResultError(f"benchmark arm64: {name} gave {found.output} instead of {wanted}")
            kind = "translated" if translated else "interpreted"
            yield figure(
                "arm64", device.name, f"{name}, {kind}, {lanes:,} lanes", found.rate / 1e9, "G instr/s",
                above=54 if translated else None,
            )  # fmt: skip
