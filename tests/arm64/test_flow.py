"""The interpreter against the translator on random ways: loops, calls and long straight code, in slices of any length.

    python tests/arm64/test_flow.py --count 1000 [--seed N] [--device gpu-code|cpu|cuda]

compares more programs than the tests do, and ends with 1 at the first that differs, whose seed it tells.
"""

import argparse
import random
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from assembler import add, add_imm, b, bne, br, hlt, ldr, movz, program, str_, subs_imm, svc
from gpu_on_host import LANE_DEVICES, arm64_on_host, lane_device

import lanewise as lw
from lanewise.arm64 import slices
from lanewise.arm64.slices import Slices

LANES, SIZE, MEMORY_AT = 3, 1 << 15, 1 << 14
STACK, LINK, BASE = 27, 30, 26
RET = br(LINK) | 1 << 22
PUSH, POP = 0xF81F0F7E, 0xF841077E  # str x30, [x27, #-16]!; ldr x30, [x27], #16


def bl(words):
    """A call so many words ahead."""
    return b(words) | 1 << 31


def blr(rn):
    """A call of the address in a register."""
    return br(rn) | 1 << 21


def plain_word(rng):
    """An instruction that goes nowhere: a sum, a comparison, a load or a store."""
    rd, rn, rm = (rng.randrange(16) for _ in range(3))
    offset = 8 * rng.randrange(64)
    return rng.choice(
        [
            add(rd, rn, rm),
            add_imm(rd, rn, rng.randrange(4096)),
            subs_imm(rd, rn, rng.randrange(64)),
            movz(rd, rng.randrange(9)),
            ldr(rd, BASE, offset),
            str_(rd, BASE, offset),
        ]
    )


def way_on(rng, at, starts):
    """Words that end a block: where it goes on is often known, and now and then it stops."""
    there = rng.choice(starts)
    condition, register = rng.randrange(16), rng.randrange(16)
    kinds = {
        "through": (4, lambda at: []),
        "jump": (2, lambda at: [b(there - at)]),
        "if": (8, lambda at: [bne(there - at) & ~15 | condition]),
        "if zero": (2, lambda at: [0xB4000000 | (there - at & 0x7FFFF) << 5 | register]),
        "if bit": (2, lambda at: [0x36000000 | rng.randrange(32) << 19 | (there - at & 0x3FFF) << 5 | register]),
        "call": (6, lambda at: [PUSH, bl(there - at - 1), POP]),
        "call by address": (1, lambda at: [movz(25, 4 * there), blr(25)]),
        "jump by address": (1, lambda at: [movz(25, 4 * there), br(25)]),
        "return": (4, lambda at: [RET]),
        "stop": (1, lambda at: [rng.choice([hlt(at & 0xFFF), svc(at & 0xFFF)])]),
    }
    name = rng.choices(list(kinds), [weight for weight, _ in kinds.values()])[0]
    return kinds[name][1](at)


def random_program(rng):
    """Words of some blocks, and where these begin."""
    lengths = [rng.choice([0, 1, 2, 5, 12, 40, 70, 150]) for _ in range(rng.randrange(1, 25))]
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length + 3)
    words = []
    for start, length in zip(starts, lengths, strict=False):
        body = [plain_word(rng) for _ in range(length)]
        ending = way_on(rng, start + length, starts[:-1])
        filler = [plain_word(rng) for _ in range(3 - len(ending))]
        words += [*body, *ending, *filler]
    return program(*words, hlt()), [4 * start for start in starts[:-1]]


def history(device, seed, translated):
    """What lanes have whenever they have run as far as they may."""
    rng = random.Random(seed)
    code, starts = random_program(rng)
    cpu = lw.ParallelCPU(LANES, SIZE, "private", device)
    cpu.load_program(code)
    numbers = np.random.default_rng(seed).integers(0, 200, (LANES, 32), np.uint64)
    numbers[:, STACK], numbers[:, BASE], numbers[:, LINK] = SIZE - 512, MEMORY_AT, 4 * (len(code) // 4 - 1)
    cpu.registers = numbers
    cpu.pcs = [rng.choice(starts) for _ in range(LANES)]
    entries = rng.choice([rng.sample(starts, rng.randrange(1, len(starts) + 1)), starts, None])
    if translated:
        cpu.translate(0, len(code), entries)
    length = rng.choice([1, 3, 50, 130, 700, 1 << 16])
    found = []
    with mock.patch.object(slices, "_FIRST", length), mock.patch.object(Slices, "adapt"):
        for limit in (rng.randrange(1, 400), rng.randrange(1, 30) * 97, 2000):
            result = cpu.execute(limit)
            state = cpu.registers.tolist(), cpu.flags.tolist(), cpu.read_memory_all(MEMORY_AT, 1 << 14).tolist()
            found.append([result.stop_reasons, result.cycles_per_lane.tolist(), cpu.pcs.tolist(), *state])
    return found


@pytest.mark.parametrize("seed", range(12))
def test_lanes_go_the_same_ways_translated_and_interpreted(seed, lane_device):
    assert history(lane_device, seed, translated=True) == history(lane_device, seed, translated=False)


def test_random_programs_run_for_a_while():
    """Or there would be little to compare."""
    ran = [sum(sum(step[1]) for step in history(lw.device("cpu"), seed, translated=False)) for seed in range(12)]
    assert np.median(ran) > 1000


def main():
    """Compare as many programs as are wanted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=LANE_DEVICES, default=LANE_DEVICES[0])
    given = parser.parse_args()
    (device,) = lane_device(given.device, arm64_on_host)
    for seed in range(given.seed, given.seed + given.count):
        if history(device, seed, translated=True) != history(device, seed, translated=False):
            sys.exit(f"seed {seed} differs")
    print(f"{given.count:,} programs, none differs")


if __name__ == "__main__":
    main()
