"""Runs of the guests in `examples/guests`: what each is given, and what NumPy says must come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

GUESTS = Path(__file__).parents[2] / "examples" / "guests"
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Buffers:
    """What a run leaves: words of 32 bits each, a picture of (height, width, 4) bytes, what each lane wrote."""

    state: Array | None = None
    output: Array | None = None
    picture: Array | None = None
    stdout: tuple[bytes, ...] | None = None


@dataclass(frozen=True)
class GuestRun:
    """A run of a guest."""

    lanes: int
    after: Buffers
    """What must come out; None for what the guest has no use for."""
    group: int = 256
    state: Array | None = None
    input: Array | None = None
    size: tuple[int, int] | None = None
    """Width and height of the picture."""
    any_order: bool = False
    """Whether the output is in an order that depends on which lane came first."""
    off_by: int = 0
    """How far a byte of the picture may be off: sines and the like are not the same everywhere."""


def integers(lanes: int, low: int = -1000, high: int = 1000) -> Array:
    return np.random.default_rng(lanes).integers(low, high, lanes).astype(np.int32)


def parallel_map(lanes: int) -> GuestRun:
    state = integers(lanes, -(2**31), 2**31)
    return GuestRun(lanes, Buffers(state * np.int32(2)), state=state)


def parallel_reduce(lanes: int) -> GuestRun:
    values = integers(lanes, -(2**31), 2**31)
    total = values.sum(dtype=np.int64).astype(np.int32)  # as atomics wrap around
    start = np.array([0, 2**31 - 1, -(2**31)], np.int32)
    return GuestRun(lanes, Buffers(np.array([total, values.min(), values.max()])), state=start, input=values)


def parallel_filter(lanes: int) -> GuestRun:
    values = integers(lanes)
    kept = np.sort(values[values > 0])
    output = np.concatenate([np.zeros(lanes - len(kept), np.int32), kept])
    after = Buffers(np.array([len(kept)], np.int32), output)
    return GuestRun(lanes, after, state=np.zeros(1, np.int32), input=values, any_order=True)


def neighbours(lanes: int, group: int = 64) -> GuestRun:
    values = integers(lanes)
    parts = [values[start : start + group] for start in range(0, lanes, group)]
    sums = np.concatenate([np.roll(part, 1) + part + np.roll(part, -1) for part in parts])
    return GuestRun(lanes, Buffers(output=sums), group, input=values)


def two_phase_sum(lanes: int, group: int = 64) -> GuestRun:
    values = integers(lanes, -(2**31), 2**31)
    total = values.sum(dtype=np.int64).astype(np.int32)
    return GuestRun(lanes, Buffers(np.array([total])), group, state=np.zeros(1, np.int32), input=values)


def maximum(lanes: int) -> GuestRun:
    values = np.random.default_rng(lanes).standard_normal(lanes).astype(np.float32)
    return GuestRun(lanes, Buffers(values.max(keepdims=True)), state=np.full(1, -np.inf, np.float32), input=values)


def who(lanes: int, group: int = 64) -> GuestRun:
    lines = tuple(
        f"lane {lane} of {lanes}, number {lane % group} in group {lane // group}, "
        f"even: {'false' if lane % 2 else 'true'}, and a half: {lane + 0.5}\n".encode()
        for lane in range(lanes)
    )
    return GuestRun(lanes, Buffers(stdout=lines), group)


def particles(lanes: int) -> GuestRun:
    f = np.float32
    rng = np.random.default_rng(lanes)
    start = (rng.random((lanes, 4)) * [1, 1, 4, 4] - [0, 0, 2, 2]).astype(f)
    x, y, vx, vy = start.T.copy()
    dt, gravity = f(0.01), f(-9.81)
    for _ in range(50):
        vy += gravity * dt
        x += vx * dt
        y += vy * dt
        vx = np.where((x < 0) | (x > 1), -vx, vx)
        x = np.clip(x, f(0), f(1))
        vy = np.where(y < 0, -vy * f(0.8), vy)
        y = np.where(y < 0, f(0), y)
    side = 16
    picture = np.zeros((side, side, 4), np.uint8)
    row = side - 1 - (y * f(side)).astype(int)
    column = np.minimum((x * f(side)).astype(int), side - 1)
    picture[row[row >= 0], column[row >= 0]] = (255, 191, 64, 255)
    after = Buffers(np.stack([x, y, vx, vy], axis=1).ravel(), picture=picture)
    return GuestRun(lanes, after, state=start.ravel(), size=(side, side))


def grayscale(lanes: int, width: int = 16) -> GuestRun:
    """A lane per pixel; `lanes` is a multiple of the width."""
    height = lanes // width
    colours = np.random.default_rng(lanes).integers(0, 256, (height, width, 3)).astype(np.int32)
    grey = (colours @ np.array([77, 150, 29])) >> 8
    picture = np.stack([grey, grey, grey, np.full_like(grey, 255)], axis=2).astype(np.uint8)
    return GuestRun(lanes, Buffers(picture=picture), input=colours.ravel(), size=(width, height), off_by=1)


def life(lanes: int) -> GuestRun:
    """A board of 16 by 16 per group; `lanes` is a multiple of 256."""
    start = (np.random.default_rng(lanes).random((lanes // 256, 16, 16)) < 0.35).astype(np.int32)
    cells = start
    for _ in range(30):
        around = -cells
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                around = around + np.roll(cells, (dy, dx), axis=(1, 2))
        cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(np.int32)
    picture = np.repeat((cells * 255).astype(np.uint8).reshape(-1, 16, 1), 4, axis=2)
    picture[:, :, 3] = 255
    after = Buffers(cells.ravel(), picture=picture)
    return GuestRun(lanes, after, state=start.ravel(), size=(16, lanes // 16))


def mandelbrot(lanes: int, width: int = 16) -> GuestRun:
    """A lane per pixel; `lanes` is a multiple of the width."""
    f, most, height = np.float32, 200, lanes // width
    row, column = np.mgrid[:height, :width].astype(f)
    x, y = column / f(width) * f(3) - f(2.25), row / f(height) * f(3) - f(1.5)
    a, b, steps = np.zeros_like(x), np.zeros_like(x), np.zeros(x.shape, int)
    for _ in range(most):
        going = a * a + b * b <= 4
        steps += going
        a, b = np.where(going, a * a - b * b + x, a), np.where(going, f(2) * a * b + y, b)
    hue = np.sqrt(steps.astype(f) / f(most)) * f(6.2831853)
    colours = np.stack([0.5 - 0.5 * np.cos(hue), 0.5 - 0.5 * np.cos(hue * 2), 0.5 + 0.5 * np.sin(hue)], axis=2)
    colours[steps == most] = 0
    picture = np.full((height, width, 4), 255, np.uint8)
    picture[:, :, :3] = np.rint(colours * 255)
    return GuestRun(lanes, Buffers(picture=picture), size=(width, height), off_by=1)


RUNS: dict[str, Callable[[int], GuestRun]] = {
    function.__name__: function
    for function in (
        grayscale,
        life,
        mandelbrot,
        maximum,
        neighbours,
        parallel_filter,
        parallel_map,
        parallel_reduce,
        particles,
        two_phase_sum,
        who,
    )
}
"""By guest: the run with that many lanes. 256, 512, 1024 and so on do for all; most take any number."""


def check(run: GuestRun, found: Buffers) -> None:
    """Assert that what came out is what must come out."""
    for name in ("state", "output"):
        wanted, got = getattr(run.after, name), getattr(found, name)
        if wanted is not None:
            assert got.dtype == wanted.dtype, name
            assert np.array_equal(np.sort(got) if run.any_order else got, wanted), name
    if run.after.picture is not None:
        assert found.picture is not None
        assert found.picture.shape == run.after.picture.shape
        apart = np.abs(found.picture.astype(int) - run.after.picture.astype(int)).max()
        assert apart <= run.off_by, f"the picture is off by {apart}"
    if run.after.stdout is not None:
        assert found.stdout == run.after.stdout
