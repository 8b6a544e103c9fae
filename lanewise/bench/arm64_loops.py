"""Two loops on many lanes of AArch64, interpreted and translated: one on registers alone, one with loads and stores."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterator

import numpy as np

import lanewise as lw
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.devices import Device

_PLAIN = (
    0x8B000021,  # add x1, x1, x0
    0xCA010042,  # eor x2, x2, x1
    0xF1000400,  # subs x0, x0, #1
    0x54FFFFA1,  # b.ne to the addition
    0xD4400000,  # hlt
)
_MEMORY = (
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
_ROWS = 8
"""Words that a lane goes round in; lanes have those of a row side by side."""
_DATA = 4096
_NEVER = 1 << 62
_SECONDS, _QUICK_SECONDS = 1.0, 0.05
_FIRST = 2000
_PLAIN_TARGETS = {(1, False): 7e-3, (128, False): 0.8, (1, True): 0.15, (128, True): 20.0}
_BEST_TARGETS = {False: 300.0, True: 3000.0}
"""G instructions a second on one H200: of the plain loop for a number of lanes, and of that with loads and stores for
the best number; interpreted and translated."""


def run_loops(device: Device, quick: bool) -> Iterator[Result]:
    """Rates for numbers of lanes, and the best of them."""
    gpu = device.name.startswith("cuda")
    counts = [1, 128, 1024, 16_384, 65_536, 98_304, 131_072, 262_144] if gpu else [1, device.properties.cores]
    seconds = _QUICK_SECONDS if quick else _SECONDS
    for translated in (False, True):
        kind = "translated" if translated else "interpreted"
        for lanes in counts[:2]:
            rate = _rate(device, _PLAIN, lanes, translated, seconds) / 1e9
            above = _PLAIN_TARGETS[lanes, translated] if gpu else None
            yield figure("arm64", device.name, f"plain loop, {kind}, {lanes:,} lanes", rate, "G instr/s", above=above)
        best, where = 0.0, 0
        for lanes in counts[:3] if quick else counts:
            rate = _rate(device, _MEMORY, lanes, translated, seconds) / 1e9
            if rate > best:
                best, where = rate, lanes
            yield figure("arm64", device.name, f"loads and stores, {kind}, {lanes:,} lanes", rate, "G instr/s")
        if gpu:
            what = f"loads and stores, {kind}, best number of lanes"
            above = _BEST_TARGETS[translated]
            yield figure("arm64", device.name, what, best, "G instr/s", above=above, detail=f"{where:,} lanes")


def _rate(device: Device, loop: tuple[int, ...], lanes: int, translated: bool, seconds: float) -> float:
    """Instructions a second of a run that takes about so long."""
    row = 8 << (lanes - 1).bit_length()
    cpu = lw.ParallelCPU(lanes, _DATA + _ROWS * row, "shared", device)
    cpu.load_program(b"".join(word.to_bytes(4, "little") for word in loop))
    if translated:
        cpu.translate(0, 4 * len(loop), [0])
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
        _check(cpu, loop, rounds, lanes, row)
        if result.elapsed_seconds > seconds / 2:
            return result.total_cycles / result.elapsed_seconds
        rounds = int(rounds * min(20, 1 + seconds / result.elapsed_seconds))


def _check(cpu: lw.ParallelCPU, loop: tuple[int, ...], rounds: int, lanes: int, row: int) -> None:
    """What the last lane has: the sum of the numbers from the rounds down, or of every eighth of them in each word.

    After the first rounds also what all sums on the way there come to, one by exclusive or with the other.
    """
    if loop == _PLAIN:
        found, wanted = cpu.get_lane_registers(lanes - 1)[1:2].tolist(), [rounds * (rounds + 1) // 2 % 2**64]
        if rounds == _FIRST:  # more of them would take Python long
            sums = itertools.accumulate(range(rounds, 0, -1))
            found.append(int(cpu.get_lane_registers(lanes - 1)[2]))
            wanted.append(functools.reduce(operator.xor, sums))
    else:
        places = range(_DATA + 8 * (lanes - 1), _DATA + 8 * (lanes - 1) + _ROWS * row, row)
        found = [int.from_bytes(cpu.read_memory(place, 8), "little") for place in places]
        terms = [range(rounds - number, 0, -_ROWS) for number in range(_ROWS)]
        wanted = [len(one) * (one[0] + one[-1]) // 2 % 2**64 for one in terms]
    if found != wanted:
        raise WrongResultError(f"benchmark arm64: lane {lanes - 1} of {cpu.device.name} computed something else")
