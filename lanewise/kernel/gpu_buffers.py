"""The GPU vocabulary for guests: buffers of words that lanes share, atomics on the state, and the picture."""

from lanewise.kernel.guest_memory import fail
from lanewise.kernel.lane_io import SHARED_WORDS, LaneIo, Words
from lanewise.kernel.requests import run_of
from lanewise.kernel.wasi_numbers import FAIL_INDEX
from lanewise.lang import atomics
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32, u64
from lanewise.lang.vocabulary import addressof

GROUP_BYTES = SHARED_WORDS * 4


@device
def word_of(io: Ptr[LaneIo], words: Ptr[Words], index: u32) -> u64:
    """Where a word of a buffer lies; an index past the end ends the lane."""
    if u64(index) >= words.count:
        fail(io, FAIL_INDEX)
        return u64(addressof(io.sink))
    return words.address + u64(index) * 4


@device
def state_at(io: Ptr[LaneIo], index: u32) -> Ptr[i32]:
    """A word of the state."""
    return Ptr[i32](word_of(io, addressof(run_of(io).state), index))


@device
def shared_at(io: Ptr[LaneIo], index: u32) -> u64:
    """Where a word of the group lies."""
    if index >= SHARED_WORDS:
        fail(io, FAIL_INDEX)
        return u64(addressof(io.sink))
    return run_of(io).shared + u64(io.slot >> run_of(io).group_shift) * GROUP_BYTES + u64(index) * 4


@device
def gpu_read_state(io: Ptr[LaneIo], index: u32) -> i32:
    return Ptr[i32](word_of(io, addressof(run_of(io).state), index))[0]


@device
def gpu_write_state(io: Ptr[LaneIo], index: u32, value: i32):
    Ptr[i32](word_of(io, addressof(run_of(io).state), index))[0] = value


@device
def gpu_read_state_f32(io: Ptr[LaneIo], index: u32) -> f32:
    return Ptr[f32](word_of(io, addressof(run_of(io).state), index))[0]


@device
def gpu_write_state_f32(io: Ptr[LaneIo], index: u32, value: f32):
    Ptr[f32](word_of(io, addressof(run_of(io).state), index))[0] = value


@device
def gpu_read_input(io: Ptr[LaneIo], index: u32) -> i32:
    return Ptr[i32](word_of(io, addressof(run_of(io).input), index))[0]


@device
def gpu_read_input_f32(io: Ptr[LaneIo], index: u32) -> f32:
    return Ptr[f32](word_of(io, addressof(run_of(io).input), index))[0]


@device
def gpu_write_output(io: Ptr[LaneIo], index: u32, value: i32):
    Ptr[i32](word_of(io, addressof(run_of(io).output), index))[0] = value


@device
def gpu_write_output_f32(io: Ptr[LaneIo], index: u32, value: f32):
    Ptr[f32](word_of(io, addressof(run_of(io).output), index))[0] = value


@device
def gpu_read_shared(io: Ptr[LaneIo], index: u32) -> i32:
    return Ptr[i32](shared_at(io, index))[0]


@device
def gpu_write_shared(io: Ptr[LaneIo], index: u32, value: i32):
    Ptr[i32](shared_at(io, index))[0] = value


@device
def gpu_read_shared_f32(io: Ptr[LaneIo], index: u32) -> f32:
    return Ptr[f32](shared_at(io, index))[0]


@device
def gpu_write_shared_f32(io: Ptr[LaneIo], index: u32, value: f32):
    Ptr[f32](shared_at(io, index))[0] = value


@device
def gpu_atomic_add(io: Ptr[LaneIo], index: u32, value: i32) -> i32:
    return atomics.atomic_add(state_at(io, index)[0], value, order="seq_cst")


@device
def gpu_atomic_sub(io: Ptr[LaneIo], index: u32, value: i32) -> i32:
    return atomics.atomic_sub(state_at(io, index)[0], value, order="seq_cst")


@device
def gpu_atomic_min(io: Ptr[LaneIo], index: u32, value: i32) -> i32:
    return atomics.atomic_min(state_at(io, index)[0], value, order="seq_cst")


@device
def gpu_atomic_max(io: Ptr[LaneIo], index: u32, value: i32) -> i32:
    return atomics.atomic_max(state_at(io, index)[0], value, order="seq_cst")


@device
def gpu_atomic_and(io: Ptr[LaneIo], index: u32, value: i32) -> i32:
    return atomics.atomic_and(state_at(io, index)[0], value, order="seq_cst")


@device
def gpu_atomic_or(io: Ptr[LaneIo], index: u32, value: i32) -> i32:
    return atomics.atomic_or(state_at(io, index)[0], value, order="seq_cst")


@device
def gpu_atomic_xor(io: Ptr[LaneIo], index: u32, value: i32) -> i32:
    return atomics.atomic_xor(state_at(io, index)[0], value, order="seq_cst")


@device
def gpu_atomic_exchange(io: Ptr[LaneIo], index: u32, value: i32) -> i32:
    return atomics.atomic_exchange(state_at(io, index)[0], value, order="seq_cst")


@device
def gpu_atomic_compare_exchange(io: Ptr[LaneIo], index: u32, expected: i32, value: i32) -> i32:
    return atomics.atomic_compare_swap(state_at(io, index)[0], expected, value, order="seq_cst")


@device
def gpu_atomic_load(io: Ptr[LaneIo], index: u32) -> i32:
    return atomics.atomic_load(state_at(io, index)[0], order="seq_cst")


@device
def gpu_atomic_store(io: Ptr[LaneIo], index: u32, value: i32):
    atomics.atomic_store(state_at(io, index)[0], value, order="seq_cst")


# --- the picture ------------------------------------------------------------------------------------------------------


@device
def as_byte(value: f32) -> u32:
    """A colour from 0 to 1 as a byte; NaN is black."""
    if not value > 0.0:
        return u32(0)
    if value >= 1.0:
        return u32(255)
    return u32(value * 255.0 + 0.5)


@device
def gpu_set_pixel(io: Ptr[LaneIo], x: u32, y: u32, red: f32, green: f32, blue: f32, alpha: f32):
    run = run_of(io)
    if x < run.width and y < run.height:
        colour = as_byte(red) | (as_byte(green) << 8) | (as_byte(blue) << 16) | (as_byte(alpha) << 24)
        Ptr[u32](run.picture)[u64(y) * u64(run.width) + u64(x)] = colour


@device
def gpu_screen_width(io: Ptr[LaneIo]) -> u32:
    return run_of(io).width


@device
def gpu_screen_height(io: Ptr[LaneIo]) -> u32:
    return run_of(io).height
