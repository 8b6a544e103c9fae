"""What mistakes in kernels are made with: a struct, tables, and functions of every kind."""

import numpy as np

from lanewise.lang import (
    Ptr,
    device,
    f32,
    kernel,
    struct,
    threadgroup_barrier,
    u32,
)


@struct
class Point:
    """A struct to misuse."""

    x: f32
    y: f32
    tags: u32[4]


TABLE = np.arange(4, dtype=np.uint32)
SQUARE_TABLE = np.zeros((2, 2), np.float32)
NAMES = ["a", "b"]
SETTINGS = {"a": 1}
LIMIT = 5


@device
def half(x: f32) -> f32:
    return x * 0.5


@device
def nothing(x: f32):
    x = x + 1.0


@device
def both(x: f32) -> tuple[f32, f32]:
    return x, -x


@device
def waits(x: u32) -> u32:
    threadgroup_barrier()
    return x


@kernel
def launched(p: Ptr[u32]):
    p[0] = 1


def plain(x):
    return x
