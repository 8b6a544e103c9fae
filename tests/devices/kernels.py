"""Small kernels that the device tests launch."""

from lanewise.lang import (
    Ptr,
    atomic_add,
    atomic_load,
    device,
    f32,
    f64,
    grid_range,
    i32,
    kernel,
    local_id,
    struct,
    thread_id,
    thread_yield,
    threadgroup_barrier,
    u8,
    u32,
    u64,
    warp_ballot,
)


@struct
class Pair:
    """Two numbers of different size."""

    small: u8
    large: f64


@kernel
def store_ids(out: Ptr[u32]):
    out[thread_id()] = thread_id()


@kernel
def scale(x: Ptr[f32], y: Ptr[f32], n: u32, factor: f32):
    for i in grid_range(n):
        y[i] = x[i] * factor


@kernel
def shift_left(x: Ptr[i32], y: Ptr[i32], n: u32):
    """In place (x and y the same array) this is right only if loads do not move ahead of stores."""
    i = thread_id()
    if i == 0:
        for k in range(n - 1):
            y[k] = x[k] + x[k + 1]


@kernel
def all_scalars(a: bool, b: u8, c: i32, d: u64, e: f32, f: f64, out: Ptr[f64]):
    out[0] = 1.0 if a else 0.0
    out[1] = f64(b)
    out[2] = f64(c)
    out[3] = f64(d)
    out[4] = f64(e)
    out[5] = f


@kernel
def fill_pairs(out: Ptr[Pair]):
    out[thread_id()].small = u8(thread_id())
    out[thread_id()].large = f64(thread_id()) / 2.0


@kernel
def forever(out: Ptr[u32]):
    while True:
        atomic_add(out[0], 1)


@kernel
def forever_with_barriers(out: Ptr[u32]):
    while True:
        threadgroup_barrier()
        atomic_add(out[0], 1)


@kernel
def poll(flag: Ptr[u32]):
    while atomic_load(flag[0], order="acquire") == 0:
        thread_yield()


@kernel
def has_a_mistake(out: Ptr[u32]):
    out[0] = 1.5


@kernel
def add_one(x: Ptr[f32], y: Ptr[f32]):
    y[thread_id()] = x[thread_id()] + 1.0


@kernel
def wait_then_store(flag: Ptr[u32], out: Ptr[u32]):
    while atomic_load(flag[0], order="acquire") < 2:
        thread_yield()
    out[thread_id()] = 7


@kernel
def ids_after_barriers(out: Ptr[u32]):
    """A few barriers, then each thread's number."""
    for _ in range(5):
        threadgroup_barrier()
    out[thread_id()] = thread_id()


@kernel
def wild(p: Ptr[u32], index: u64):
    p[index] = 1


@kernel
def wild_after_barrier(p: Ptr[u32], index: u64):
    threadgroup_barrier()
    p[index] = local_id()


@device
def meet(flag: bool) -> u32:
    if flag:
        threadgroup_barrier()
        return u32(0)
    return warp_ballot(True)


@kernel
def meet_at_different_places(p: Ptr[u32]):
    p[thread_id()] = meet(p[thread_id()] != 0)


@kernel
def divide(x: Ptr[i32]):
    x[thread_id()] = 100 // x[thread_id()]


@kernel
def need_even(x: Ptr[i32]):
    assert x[thread_id()] % 2 == 0, "an odd number"


@device
def depth(n: u32) -> u32:
    if n == 0:
        return u32(0)
    return depth(n - 1) + 1


@kernel
def recurse(out: Ptr[u32], n: u32):
    out[thread_id()] = depth(n)


@kernel
def recurse_with_barrier(out: Ptr[u32], n: u32):
    threadgroup_barrier()
    out[thread_id()] = depth(n)
