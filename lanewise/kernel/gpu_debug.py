"""The GPU vocabulary for guests: debug output, which goes to the lane's standard output."""

from lanewise.kernel.console import CONSOLE_RECORD, allowed, console_commit, console_reserve
from lanewise.kernel.guest_memory import fail, load_u8, outside
from lanewise.kernel.lane_io import TEXT_BYTES, LaneIo
from lanewise.kernel.requests import begin_request, data_of, end_request, owner, send_request
from lanewise.kernel.wasi_numbers import FAIL_OUTPUT, REQUEST_CONSOLE
from lanewise.lang.atomics import atomic_add
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, f64, i32, u8, u32, u64

STDOUT_STREAM = 1
FRACTION = 1_000_000
"""Six digits behind the point; those of a float are exact to seven in all."""
LARGE = 1e15


@device(inline=False)
def flush_text(io: Ptr[LaneIo]):
    """Write what has been put together so far."""
    count = u64(io.text_bytes)
    io.text_bytes = 0
    some = allowed(io, count)
    if some < count:
        fail(io, FAIL_OUTPUT)
    if some == 0:
        return
    atomic_add(owner(io).written, some)
    record = console_reserve(io, u32(STDOUT_STREAM), some)
    if record != 0:
        put_text(io, record + CONSOLE_RECORD, some)
        console_commit(io, record)
        return
    request = begin_request(io, u32(REQUEST_CONSOLE))
    request.arguments[0] = u64(STDOUT_STREAM)
    put_text(io, data_of(request), some)
    request.sent = u32(some)
    send_request(io, request)
    end_request(io)


@device
def put_text(io: Ptr[LaneIo], target: u64, count: u64):
    """Copy the text."""
    for at in range(count):
        Ptr[u8](target)[at] = io.text[at]


@device(inline=False)
def put(io: Ptr[LaneIo], character: u32):
    """Add a character."""
    if io.text_bytes == TEXT_BYTES:
        flush_text(io)
    io.text[io.text_bytes] = u8(character)
    io.text_bytes += 1


@device(inline=False)
def put_number(io: Ptr[LaneIo], value: u64):
    """Add a whole number."""
    digits: u8[20]
    count = u32(0)
    while count == 0 or value != 0:
        digits[count] = u8(48 + value % 10)
        value = value // 10
        count += 1
    for at in range(count):
        put(io, u32(digits[count - 1 - at]))


@device(inline=False)
def put_fraction(io: Ptr[LaneIo], value: u32):
    """Add digits behind a point, without zeros at the end; nothing for 0."""
    if value == 0:
        return
    put(io, u32(46))
    unit = u32(FRACTION // 10)
    while value != 0:
        digit = u32(0)
        while value >= unit:
            value -= unit
            digit += 1
        put(io, u32(48) + digit)
        unit = unit // 10


@device(inline=False)
def put_word(io: Ptr[LaneIo], a: u32, b: u32, c: u32):
    """Add three letters."""
    put(io, a)
    put(io, b)
    put(io, c)


@device(inline=False)
def gpu_debug_i32(io: Ptr[LaneIo], value: i32):
    if value < 0:
        put(io, u32(45))
        put_number(io, u64(0) - u64(value))
    else:
        put_number(io, u64(value))


@device(inline=False)
def gpu_debug_f32(io: Ptr[LaneIo], value: f32):
    if value != value:
        put_word(io, u32(110), u32(97), u32(110))
        return
    number = f64(value)
    if number < 0.0:
        put(io, u32(45))
        number = -number
    if number > 3.5e38:
        put_word(io, u32(105), u32(110), u32(102))
        return
    exponent = u32(0)
    if number >= LARGE:
        while number >= 10.0:
            number /= 10.0
            exponent += 1
    whole = u64(number)
    fraction = u32((number - f64(whole)) * FRACTION + 0.5)
    if fraction >= FRACTION:
        whole += 1
        fraction = 0
    put_number(io, whole)
    put_fraction(io, fraction)
    if exponent != 0:
        put(io, u32(101))
        put_number(io, u64(exponent))


@device(inline=False)
def gpu_debug_str(io: Ptr[LaneIo], text: u32, length: u32):
    if not outside(io, text, u64(length), u32(1)):
        at = u32(0)
        while at < length and io.failure == 0:
            put(io, load_u8(io, text + at))
            at += 1


@device(inline=False)
def gpu_debug_bool(io: Ptr[LaneIo], value: u32):
    if value != 0:
        put_word(io, u32(116), u32(114), u32(117))
    else:
        put_word(io, u32(102), u32(97), u32(108))
        put(io, u32(115))
    put(io, u32(101))


@device
def gpu_debug_newline(io: Ptr[LaneIo]):
    put(io, u32(10))


@device
def gpu_debug_flush(io: Ptr[LaneIo]):
    flush_text(io)
