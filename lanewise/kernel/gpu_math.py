"""The GPU vocabulary for guests: mathematics in f32."""

from lanewise.kernel.lane_io import LaneIo
from lanewise.lang import math, vocabulary
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32


@device(inline=False)
def gpu_sin(io: Ptr[LaneIo], x: f32) -> f32:
    return math.sin(x)


@device(inline=False)
def gpu_cos(io: Ptr[LaneIo], x: f32) -> f32:
    return math.cos(x)


@device(inline=False)
def gpu_tan(io: Ptr[LaneIo], x: f32) -> f32:
    return math.tan(x)


@device(inline=False)
def gpu_asin(io: Ptr[LaneIo], x: f32) -> f32:
    return math.asin(x)


@device(inline=False)
def gpu_acos(io: Ptr[LaneIo], x: f32) -> f32:
    return math.acos(x)


@device(inline=False)
def gpu_atan(io: Ptr[LaneIo], x: f32) -> f32:
    return math.atan(x)


@device(inline=False)
def gpu_exp(io: Ptr[LaneIo], x: f32) -> f32:
    return math.exp(x)


@device(inline=False)
def gpu_log(io: Ptr[LaneIo], x: f32) -> f32:
    return math.log(x)


@device
def gpu_sqrt(io: Ptr[LaneIo], x: f32) -> f32:
    return vocabulary.sqrt(x)


@device
def gpu_floor(io: Ptr[LaneIo], x: f32) -> f32:
    return vocabulary.floor(x)


@device
def gpu_ceil(io: Ptr[LaneIo], x: f32) -> f32:
    return vocabulary.ceil(x)


@device
def gpu_fabs(io: Ptr[LaneIo], x: f32) -> f32:
    return abs(x)


@device(inline=False)
def gpu_atan2(io: Ptr[LaneIo], y: f32, x: f32) -> f32:
    return math.atan2(y, x)


@device(inline=False)
def gpu_pow(io: Ptr[LaneIo], x: f32, y: f32) -> f32:
    return math.pow(x, y)
