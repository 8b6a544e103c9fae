"""A loop with loads and stores on many lanes of AArch64, interpreted and translated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import lanewise as lw
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.devices import Device

_LOOP = (
    0xF8656883,  # ldr x3, [x4, x5]
    0x8B000063,  # add x3, x3, x0
    0xCA030042,  # eor x2, x2, x3
    0xF8256883,  # str x3, [x4, x5]
    0x8B0600A5,  # add x5, x5, x6
    0x8A0700A5,  # and x5, x5, x7
    0xF1000400,  # subs x0, x0, #1
    0x54FFFF21,  # b.ne to the load
    0xD4400000,  # hlt
)
_LENGTH = len(_LOOP) - 1
_ROWS = 8
"""Words that a lane goes round in; lanes have those of a row side by side."""
_DATA = 4096
_NEVER = 1 << 62
_SECONDS, _QUICK_SECONDS = 1.0, 0.05
_FIRST = 2000
_TARGETS = {(1, False): 7e-3, (128, False): 0.8, (1, True): 0.15, (128, True): 20.0}
_BEST_TARGETS = {False: 300.0, True: 3000.0}
"""G instructions a second on one H200: for a number of lanes, and for the best; interpreted and translated."""


def run_loops(device: Device, quick: bool) -> Iterator[Result]:
    """Rates for numbers of lanes, and the best of them."""
    gpu = device.name.startswith("cuda")
    counts = [1, 128, 1024, 16_384, 65_536, 131_072, 262_144] if gpu else [1, device.properties.cores]
    for translated in (False, True):
        kind = "translated" if translated else "interpreted"
        best, where = 0.0, 0
        for lanes in counts[:3] if quick else counts:
            rate = _rate(device, lanes, translated, _QUICK_SECONDS if quick else _SECONDS) / 1e9
            if rate > best:
                best, where = rate, lanes
            above = _TARGETS.get((lanes, translated)) if gpu else None
            yield figure("arm64", device.name, f"loop, {kind}, {lanes:,} lanes", rate, "G instr/s", above=above)
        if gpu:
            above = _BEST_TARGETS[translated]
            what = f"loop, {kind}, best number of lanes"
            yield figure("arm64", device.name, what, best, "G instr/s", above=above, detail=f"{where:,} lanes")


def _rate(device: Device, lanes: int, translated: bool, seconds: float) -> float:
    """Instructions a second of a run that takes about so long."""
    row = 8 << (lanes - 1).bit_length()
    cpu = lw.ParallelCPU(lanes, _DATA + _ROWS * row, "shared", device)
    cpu.load_program(b"".join(word.to_bytes(4, "little") for word in _LOOP))
    if translated:
        cpu.translate(0, 4 * len(_LOOP), [0])
    cpu.prepare()
    rounds = _FIRST
    while True:
        registers = np.zeros((lanes, 32), np.uint64)
        registers[:, 0], registers[:, 4] = rounds, _DATA + 8 * np.arange(lanes)
        registers[:, 6], registers[:, 7] = row, _ROWS * row - 1
        cpu.registers = registers
        cpu.set_pc_all(0)
        cpu.write_memory(_DATA, bytes(_ROWS * row))
        result = cpu.execute(_NEVER)
        _check(cpu, rounds, lanes, row)
        if result.elapsed_seconds > seconds / 2:
            return result.total_cycles / result.elapsed_seconds
        rounds = int(rounds * min(20, 1 + seconds / result.elapsed_seconds))


def _check(cpu: lw.ParallelCPU, rounds: int, lanes: int, row: int) -> None:
    """What the last lane has in its words: sums of every eighth number from the rounds down."""
    at = _DATA + 8 * (lanes - 1)
    for number in range(_ROWS):
        terms = range(rounds - number, 0, -_ROWS)
        wanted = len(terms) * (terms[0] + terms[-1]) // 2 % 2**64
        if int.from_bytes(cpu.read_memory(at + number * row, 8), "little") != wanted:
            raise WrongResultError(f"benchmark arm64: lane {lanes - 1} of {cpu.device.name} computed something else")
