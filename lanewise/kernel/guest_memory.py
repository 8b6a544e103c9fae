"""A lane's linear memory as the kernel sees it: checked, and in cells that may be interleaved with other lanes'."""

from lanewise.kernel.lane_io import LaneIo
from lanewise.kernel.wasi_numbers import FAIL_ALIGNMENT, FAIL_POINTER
from lanewise.lang.functions import device
from lanewise.lang.intrinsics import ON_GPU
from lanewise.lang.types import Ptr, u8, u16, u32, u64


@device
def fail(io: Ptr[LaneIo], why: u32) -> u32:
    """Have the lane end when the call returns; gives 0 to return."""
    if io.failure == 0:
        io.failure = why
    return u32(0)


@device
def outside(io: Ptr[LaneIo], address: u32, count: u64, align: u32) -> bool:
    """Whether a range of guest memory may not be touched; the lane ends then."""
    if u64(address) + count > io.memory_bytes:
        fail(io, FAIL_POINTER)
        return True
    if address & (align - 1) != 0:
        fail(io, FAIL_ALIGNMENT)
        return True
    return False


@device
def place(io: Ptr[LaneIo], address: u64) -> u64:
    """Where a byte of guest memory lies."""
    return io.memory + (address >> 3) * io.stride + (address & 7)


@device
def load_u8(io: Ptr[LaneIo], address: u32) -> u32:
    """A byte of guest memory."""
    return u32(Ptr[u8](place(io, u64(address)))[0])


@device
def load_u16(io: Ptr[LaneIo], address: u32) -> u32:
    """Two aligned bytes of guest memory."""
    return u32(Ptr[u16](place(io, u64(address)))[0])


@device
def load_u32(io: Ptr[LaneIo], address: u32) -> u32:
    """An aligned word of guest memory."""
    return Ptr[u32](place(io, u64(address)))[0]


@device
def load_u64(io: Ptr[LaneIo], address: u32) -> u64:
    """An aligned double word of guest memory."""
    return Ptr[u64](place(io, u64(address)))[0]


@device
def store_u8(io: Ptr[LaneIo], address: u32, value: u32):
    """Set a byte of guest memory."""
    Ptr[u8](place(io, u64(address)))[0] = u8(value)


@device
def store_u16(io: Ptr[LaneIo], address: u32, value: u32):
    """Set two aligned bytes of guest memory."""
    Ptr[u16](place(io, u64(address)))[0] = u16(value)


@device
def store_u32(io: Ptr[LaneIo], address: u32, value: u32):
    """Set an aligned word of guest memory."""
    Ptr[u32](place(io, u64(address)))[0] = value


@device
def store_u64(io: Ptr[LaneIo], address: u32, value: u64):
    """Set an aligned double word of guest memory."""
    Ptr[u64](place(io, u64(address)))[0] = value


@device(inline=False)
def copy_to_guest(io: Ptr[LaneIo], address: u32, source: u64, count: u64):
    """Copy bytes of the device to guest memory.

    Bounds are checked here, whoever checked them before: where an address was read from guest memory, another thread of
    the lane may have changed it since.
    """
    if outside(io, address, count, u32(1)):
        return
    done = u64(0)
    at = u64(address)
    if not ON_GPU and io.stride == 8:
        target = Ptr[u8](io.memory + at)
        for byte in range(count):
            target[byte] = Ptr[u8](source)[byte]
        return
    if source & 7 == 0 and at & 7 == 0:
        while done + 8 <= count:
            Ptr[u64](place(io, at + done))[0] = Ptr[u64](source + done)[0]
            done += 8
    while done < count:
        Ptr[u8](place(io, at + done))[0] = Ptr[u8](source + done)[0]
        done += 1


@device(inline=False)
def copy_from_guest(io: Ptr[LaneIo], target: u64, address: u32, count: u64):
    """Copy bytes of guest memory to the device; see `copy_to_guest`."""
    if outside(io, address, count, u32(1)):
        return
    done = u64(0)
    at = u64(address)
    if not ON_GPU and io.stride == 8:
        source = Ptr[u8](io.memory + at)
        for byte in range(count):
            Ptr[u8](target)[byte] = source[byte]
        return
    if target & 7 == 0 and at & 7 == 0:
        while done + 8 <= count:
            Ptr[u64](target + done)[0] = Ptr[u64](place(io, at + done))[0]
            done += 8
    while done < count:
        Ptr[u8](target + done)[0] = Ptr[u8](place(io, at + done))[0]
        done += 1
