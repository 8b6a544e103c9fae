"""The threading model: who a thread is, groups and barriers, shared memory, atomics, warps and clocks."""

import numpy as np
import pytest

import lanewise as lw
from lanewise.lang import (
    Ptr,
    atomic_add,
    atomic_and,
    atomic_compare_exchange,
    atomic_compare_swap,
    atomic_exchange,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_store,
    atomic_sub,
    atomic_xor,
    clock,
    device,
    f32,
    f64,
    grid_range,
    group_count,
    group_id,
    i8,
    i32,
    i64,
    kernel,
    lane_id,
    lanes_below,
    local_id,
    memory_barrier,
    read_shared,
    shared,
    thread_count,
    thread_id,
    thread_yield,
    threadgroup_barrier,
    threadgroup_size,
    time_ns,
    u16,
    u32,
    u64,
    warp_active,
    warp_all,
    warp_any,
    warp_ballot,
    warp_prefix_sum,
    warp_reduce_add,
    warp_reduce_and,
    warp_reduce_max,
    warp_reduce_min,
    warp_reduce_or,
    warp_reduce_xor,
    warp_shuffle,
    write_shared,
)

SHAPES = [
    (threads, group)
    for threads in (1, 31, 33, 1000, 1023, 100_003)
    for group in (1, 7, 32, 256, 1024)
    if threads < 100_000 or group > 1
]


# --- who a thread is -------------------------------------------------------------------------------------------------


@device
def describe(out: Ptr[u32]):
    r = out + u64(thread_id()) * 7
    r[0] += thread_id()
    r[1] += thread_count()
    r[2] += local_id()
    r[3] += group_id()
    r[4] += group_count()
    r[5] += threadgroup_size()
    r[6] += lane_id()


@kernel
def identities(out: Ptr[u32]):
    describe(out)


@kernel
def identities_with_a_barrier(out: Ptr[u32]):
    threadgroup_barrier()
    describe(out)


@pytest.mark.parametrize("function", [identities, identities_with_a_barrier], ids=lambda function: function.name)
@pytest.mark.parametrize(("threads", "group"), SHAPES)
def test_every_thread_knows_who_it_is(device, function, threads, group):
    out = device.zeros(threads * 7, u32)
    function[threads, group](out)
    t = np.arange(threads)
    groups = -(-threads // group)
    sizes = np.minimum(group, threads - t // group * group)
    expected = [t, np.full(threads, threads), t % group, t // group, np.full(threads, groups), sizes, t % group % 32]
    assert np.array_equal(out.get().reshape(threads, 7).T, np.array(expected))


def grid_kernel(T):
    @kernel
    def visit(n: T, visits: Ptr[u32]):
        for i in grid_range(n):
            atomic_add(visits[i], 1)

    return visit


@pytest.mark.parametrize("kind", [i32, u32, i64, u64], ids=lambda kind: kind.name)
def test_grid_range_gives_each_index_to_exactly_one_thread(device, kind):
    visit = grid_kernel(kind)
    for n in (0, 1, 5, 33, 1000, 100_003):
        for threads, group in ((1, 1), (7, 3), (33, 32), (1024, 256), (100_000, 1024)):
            visits = device.zeros(max(n, 1) + 8, u32)
            visit[threads, group](n, visits)
            got = visits.get()
            assert (got[:n] == 1).all()
            assert not got[n:].any()


@kernel
def visit_below_zero(n: i32, visits: Ptr[u32]):
    for _ in grid_range(n):
        atomic_add(visits[0], 1)


def test_grid_range_of_less_than_nothing_visits_nothing(device):
    visits = device.zeros(1, u32)
    visit_below_zero[100](-5, visits)
    assert visits.get().tolist() == [0]


# --- barriers and shared memory --------------------------------------------------------------------------------------


@kernel
def raises_a_flag_twice(flag: Ptr[u32], out: Ptr[u32]):
    if local_id() == 0:
        flag[0] = 1
    threadgroup_barrier()
    first = flag[0]
    threadgroup_barrier()
    if local_id() == 0:
        flag[0] = 2
    threadgroup_barrier()
    second = flag[0]
    out[thread_id()] = first * 10 + second


def test_what_one_thread_wrote_to_an_array_all_see_behind_a_barrier(device):
    for size in (1, 33, 256, 1024):
        flag, out = device.zeros(1, u32), device.zeros(size, u32)
        raises_a_flag_twice[size, size](flag, out)
        assert out.get().tolist() == [12] * size


@kernel
def neighbours(a: Ptr[u32], out: Ptr[u32], rounds: u32):
    tile = shared(u32[1024])
    me = local_id()
    tile[me] = a[thread_id()]
    threadgroup_barrier()
    for _ in range(rounds):
        next_one = tile[(me + 1) % threadgroup_size()]
        threadgroup_barrier()
        tile[me] = next_one
        threadgroup_barrier()
    out[thread_id()] = tile[me]


@kernel
def tree_sum(a: Ptr[u32], out: Ptr[u32]):
    write_shared(local_id(), i32(a[thread_id()]))
    threadgroup_barrier()
    left = threadgroup_size()
    while left > 1:
        half = (left + 1) // 2
        if local_id() + half < left:
            write_shared(local_id(), read_shared(local_id()) + read_shared(local_id() + half))
        threadgroup_barrier()
        left = half
    if local_id() == 0:
        out[group_id()] = u32(read_shared(0))


@pytest.mark.parametrize(("threads", "group"), [s for s in SHAPES if s[0] < 100_000] + [(20_011, 1024), (20_011, 31)])
def test_groups_exchange_values_through_shared_memory(device, threads, group):
    a = np.random.default_rng(threads + group).integers(0, 2**31 // 1024, threads, dtype=np.uint32)
    out = device.zeros(threads, u32)
    neighbours[threads, group](device.array(a), out, 3)
    parts = [a[start : start + group] for start in range(0, threads, group)]
    assert np.array_equal(out.get(), np.concatenate([np.roll(part, -3) for part in parts]))
    sums = device.zeros(len(parts), u32)
    tree_sum[threads, group](device.array(a), sums)
    assert sums.get().tolist() == [int(part.sum()) for part in parts]


@kernel
def some_return_early(n: u32, out: Ptr[u32]):
    tile = shared(u32[256])
    tile[local_id()] = 0
    threadgroup_barrier()
    if local_id() >= n:
        return
    tile[local_id()] = 1
    threadgroup_barrier()
    if local_id() % 3 == 1:
        return
    threadgroup_barrier()
    count = u32(0)
    for i in range(threadgroup_size()):
        count += tile[i]
    out[thread_id()] = count


def test_threads_that_returned_do_not_hold_up_a_barrier(device):
    out = device.zeros(600, u32)
    some_return_early[600, 256](100, out)
    got = out.get()
    expected = [100 if t % 256 < 100 and t % 256 % 3 != 1 else 0 for t in range(512)]
    rest = [min(88, 100) if t < 88 and t % 3 != 1 else 0 for t in range(88)]
    assert got.tolist() == expected + rest


@kernel
def traps_before_a_barrier(bad: u32, out: Ptr[u32]):
    assert local_id() != bad
    threadgroup_barrier()
    out[thread_id()] = 1


def test_a_thread_that_traps_does_not_hold_up_a_barrier(device):
    out = device.zeros(100, u32)
    with pytest.raises(lw.TrapError) as caught:
        traps_before_a_barrier[100, 32](5, out).wait()
    assert (caught.value.thread, caught.value.threads) == (5, 3 if 100 % 32 <= 5 else 4)
    assert out.get().tolist() == [int(t % 32 != 5) for t in range(100)]


@kernel
def shared_words(index: u32, out: Ptr[i32]):
    if local_id() == 1:
        write_shared(index, -7)
    threadgroup_barrier()
    out[thread_id()] = read_shared(index)


@kernel
def write_words(index: u32):
    write_shared(index, 1)


@kernel
def read_words(index: u32, out: Ptr[i32]):
    out[thread_id()] = read_shared(index)


def test_shared_words_outside_a_group_s_memory_trap(device):
    out = device.zeros(4, i32)
    shared_words[4](2047, out)
    assert out.get().tolist() == [-7] * 4
    with pytest.raises(lw.TrapError, match="write_shared beyond the 2,048 words of a group"):
        write_words[4](2048).wait()
    with pytest.raises(lw.TrapError, match="read_shared beyond the 2,048 words of a group"):
        read_words[4](2**32 - 1, out).wait()


@device
def half_of(tile: Ptr[f32]) -> f32:
    other = shared(f32[64])
    other[local_id()] = tile[local_id()] * 0.5
    threadgroup_barrier()
    return other[(local_id() + 1) % threadgroup_size()]


@kernel
def two_shared_arrays(out: Ptr[f32]):
    tile = shared(f32[64])
    bytes = shared(i8[64])
    tile[local_id()] = f32(local_id())
    bytes[local_id()] = i8(local_id())
    threadgroup_barrier()
    out[thread_id()] = half_of(tile) + f32(bytes[0]) + tile[local_id()] * 100.0


def test_shared_arrays_of_a_kernel_and_of_what_it_calls_are_apart(device):
    out = device.zeros(64, f32)
    two_shared_arrays[64, 64](out)
    assert out.get().tolist() == [((t + 1) % 64) * 0.5 + 100 * t for t in range(64)]


# --- atomics ---------------------------------------------------------------------------------------------------------


def atomic_kernel(T):
    @kernel
    def everything(p: Ptr[T], values: Ptr[T], seen: Ptr[u32]):
        i = thread_id()
        x = values[i]
        atomic_add(p[0], x)
        atomic_sub(p[1], x, order="acquire")
        atomic_min(p[2], x, order="release", scope="group")
        atomic_max(p[3], x, order="acq_rel", scope="system")
        atomic_and(p[4], x, order="seq_cst", scope="device")
        atomic_or(p[5], x, scope="system")
        atomic_xor(p[6], x, order="seq_cst", scope="group")
        ticket = atomic_add(p[7], 1, order="acq_rel")
        atomic_add(seen[u32(ticket)], 1)
        old = atomic_exchange(p[8], T(i) + 1)
        if old != 0:
            atomic_add(seen[u32(old) - 1], 1000)
        now = atomic_load(p[9], order="acquire", scope="device")
        while x > now:
            before = atomic_compare_swap(p[9], now, x, order="acq_rel", scope="device")
            if before == now:
                now = x
            else:
                now = before
        while not atomic_compare_exchange(p[10], atomic_load(p[10]), x, order="seq_cst", scope="system"):
            thread_yield()
        atomic_store(p[11], T(5), order="release", scope="system")
        atomic_store(p[12], atomic_load(p[11], order="seq_cst") * 0 + 6, order="seq_cst")

    return everything


@pytest.mark.parametrize("kind", [i32, i64, u32, u64], ids=lambda kind: kind.name)
@pytest.mark.parametrize("group", [32, 256])
def test_atomics_lose_nothing_in_any_order_and_scope(device, kind, group):
    threads = 1000
    low = -(2**20) if kind.signed else 0
    values = np.random.default_rng(5).integers(low, 2**20, threads).astype(kind.dtype)
    start = np.zeros(13, kind.dtype)
    start[2], start[3], start[4], start[9] = kind.max_value, kind.min_value, kind.wrap(-1), kind.min_value
    p, seen = device.array(start), device.zeros(threads + 1, u32)
    atomic_kernel(kind)[threads, group](p, device.array(values), seen)
    got = p.get()
    with np.errstate(over="ignore"):
        assert got[0] == values.sum(dtype=kind.dtype)
        assert got[1] == (-values).sum(dtype=kind.dtype)
    assert (got[2], got[3], got[9]) == (values.min(), values.max(), values.max())
    assert got[4] == np.bitwise_and.reduce(values)
    assert got[5] == np.bitwise_or.reduce(values)
    assert got[6] == np.bitwise_xor.reduce(values)
    assert got[7] == threads
    assert got[10] in values
    assert got[11:].tolist() == [5, 6]
    tickets = seen.get()
    assert tickets.sum() == threads + 1000 * (threads - 1)
    assert sorted(tickets[:threads].tolist()) == [1] + [1001] * (threads - 1)


def float_atomic_kernel(T):
    @kernel
    def floats(p: Ptr[T], seen: Ptr[u32]):
        atomic_add(p[0], 0.5)
        atomic_sub(p[1], 2.0, order="seq_cst")
        old = atomic_exchange(p[2], T(thread_id()) + 1.0, scope="system")
        if old > 0.5:
            atomic_add(seen[u32(old) - 1], 1)
        atomic_store(p[3], atomic_load(p[4]) / 0.0)

    return floats


@pytest.mark.parametrize("kind", [f32, f64], ids=lambda kind: kind.name)
def test_float_atomics_add_and_exchange(device, kind):
    p, seen = device.zeros(5, kind), device.zeros(500, u32)
    float_atomic_kernel(kind)[500](p, seen)
    got = p.get()
    assert got[:2].tolist() == [250.0, -1000.0]
    assert seen.get().sum() == 499
    assert seen.get()[int(got[2]) - 1] == 0
    bits, nan = (np.uint32, 0x7FC00000) if kind is f32 else (np.uint64, 0x7FF8000000000000)
    assert got.view(bits)[3] == nan


@kernel
def stack(head: Ptr[u32], next: Ptr[u32], out: Ptr[u32]):
    """Every thread pushes itself on a lock-free stack; nothing is popped, so no address comes back."""
    me = thread_id() + 1
    while True:
        top = atomic_load(head[0])
        next[me] = top
        if atomic_compare_exchange(head[0], top, me, order="release"):
            break
        thread_yield()
    out[thread_id()] = me


def test_a_lock_free_stack_holds_every_thread_once(device):
    head, links, out = device.zeros(1, u32), device.zeros(2001, u32), device.zeros(2000, u32)
    stack[2000, 64](head, links, out)
    following, at, found = links.get(), int(head.get()[0]), []
    while at:
        found.append(at)
        at = int(following[at])
    assert sorted(found) == list(range(1, 2001))


@kernel
def passes_a_message(data: Ptr[u32], ready: Ptr[u32], out: Ptr[u32]):
    """Thread after thread of a group writes plain memory, then says so; the next waits for it and reads."""
    me = local_id()
    base = group_id() * 65
    while atomic_load(ready[group_id()], order="acquire", scope="group") != me:
        thread_yield()
    data[base + me + 1] = data[base + me] * 3 + 1
    memory_barrier(scope="group")
    atomic_store(ready[group_id()], me + 1, order="release", scope="group")
    out[thread_id()] = data[base + me + 1]


def test_messages_pass_from_thread_to_thread_of_a_group(device):
    data, ready, out = device.zeros(65 * 3, u32), device.zeros(3, u32), device.zeros(64 * 3, u32)
    passes_a_message[64 * 3, 64](data, ready, out)
    expected, value = [], 0
    for _ in range(64):
        value = (value * 3 + 1) % 2**32
        expected.append(value)
    assert out.get().tolist() == expected * 3


# --- warps -----------------------------------------------------------------------------------------------------------


@kernel
def warp_votes(a: Ptr[u32], leave: u32, out: Ptr[u32]):
    i = thread_id()
    if (leave >> lane_id()) & 1 != 0:
        return
    r = out + i * 8
    odd = a[i] % 2 == 1
    r[0] = warp_ballot(odd)
    r[1] = u32(warp_any(odd))
    r[2] = u32(warp_all(odd))
    r[3] = warp_active()
    r[4] = lanes_below(warp_ballot(odd))
    r[5] = warp_shuffle(a[i], lane_id() ^ 5)
    r[6] = warp_shuffle(a[i], u32(3))
    r[7] = u32(warp_shuffle(odd, lane_id() + 1))


LEAVING = [0, 0x80000001, 0x0000FF10, 0xFFFFFFFE]


@pytest.mark.parametrize("leave", LEAVING, ids=hex)
@pytest.mark.parametrize(("threads", "group"), [(32, 32), (7, 32), (100, 48), (300, 256)])
def test_votes_and_shuffles_count_the_lanes_that_are_here(device, leave, threads, group):
    a = np.random.default_rng(leave % 1000).integers(0, 2**31, threads, dtype=np.uint32)
    out = device.zeros(threads * 8, u32)
    warp_votes[threads, group](device.array(a), leave, out)
    got = out.get().reshape(threads, 8)
    for warp in warps(threads, group):
        here = {lane: t for lane, t in enumerate(warp) if not leave >> lane & 1}
        ballot = sum(1 << lane for lane, t in here.items() if a[t] % 2)
        active = sum(1 << lane for lane in here)
        for lane, t in enumerate(warp):
            if lane not in here:
                assert not got[t].any()
                continue
            value = {source: a[here.get(source, t)] for source in (lane ^ 5, 3, (lane + 1) % 32)}
            assert got[t].tolist() == [
                ballot, ballot != 0, ballot == active, active, (ballot & ((1 << lane) - 1)).bit_count(),
                value[lane ^ 5], value[3], value[(lane + 1) % 32] % 2,
            ]  # fmt: skip


def warps(threads, group):
    """The threads of each warp of a launch."""
    for start in range(0, threads, group):
        end = min(start + group, threads)
        for first in range(start, end, 32):
            yield range(first, min(first + 32, end))


def bits_kernel(T):
    @kernel
    def reduces(a: Ptr[T], leave: u32, out: Ptr[T]):
        i = thread_id()
        if (leave >> lane_id()) & 1 != 0:
            return
        r = out + i * 3
        r[0] = warp_reduce_and(a[i])
        r[1] = warp_reduce_or(a[i])
        r[2] = warp_reduce_xor(a[i])

    return reduces


def sum_kernel(T):
    @kernel
    def reduces(a: Ptr[T], leave: u32, out: Ptr[T]):
        i = thread_id()
        if (leave >> lane_id()) & 1 != 0:
            return
        r = out + i * 4
        r[0] = warp_reduce_add(a[i])
        r[1] = warp_reduce_min(a[i])
        r[2] = warp_reduce_max(a[i])
        r[3] = warp_prefix_sum(a[i])

    return reduces


def butterfly(values):
    """A full warp's sum in the order that the documentation fixes: lanes 16 apart first, then 8, 4, 2, 1."""
    offset = 16
    while offset:
        values = [values[lane] + values[lane + offset] for lane in range(offset)]
        offset //= 2
    return values[0]


def scan(values):
    """A full warp's prefix sums, in the order of the doubling scan."""
    offset = 1
    while offset < 32:
        values = [values[lane - offset] + values[lane] if lane >= offset else values[lane] for lane in range(32)]
        offset *= 2
    return values


@pytest.mark.parametrize("leave", LEAVING, ids=hex)
@pytest.mark.parametrize("kind", [i8, u16, i32, u64, f32, f64], ids=lambda kind: kind.name)
def test_reductions_and_prefix_sums_have_the_same_bits_everywhere(device, kind, leave):
    threads, group = 300, 80
    generator = np.random.default_rng(kind.bits)
    if kind.is_float:
        a = (generator.standard_normal(threads) * 10.0 ** generator.integers(-5, 5, threads)).astype(kind.dtype)
    else:
        a = generator.integers(kind.min_value, kind.max_value, threads, dtype=kind.dtype, endpoint=True)
    out, bits = device.zeros(threads * 4, kind), device.zeros(threads * 3, kind)
    sum_kernel(kind)[threads, group](device.array(a), leave, out)
    got = out.get().reshape(threads, 4)
    if kind.is_int:
        bits_kernel(kind)[threads, group](device.array(a), leave, bits)
    got_bits = bits.get().reshape(threads, 3)
    for warp in warps(threads, group):
        here = [t for lane, t in enumerate(warp) if not leave >> lane & 1]
        values = [a[t] for t in here]
        with np.errstate(over="ignore"):
            if len(here) == 32:
                total, prefix = butterfly(values), scan(values)
            else:
                prefix = list(np.cumsum(values, dtype=kind.dtype)) if here else []
                total = prefix[-1] if here else 0
        for index, t in enumerate(here):
            assert got[t].tolist() == [total, min(values), max(values), prefix[index]], (kind, t)
            if kind.is_int:
                reduced = [f.reduce(np.array(values)) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
                assert got_bits[t].tolist() == reduced
        for t in set(warp) - set(here):
            assert not got[t].any()


@kernel
def warps_in_a_loop(a: Ptr[u32], n: u32, out: Ptr[u32]):
    total = u32(0)
    for i in range(n):
        total += warp_reduce_add(a[thread_id()] + i)
        if lane_id() == i:
            return
        threadgroup_barrier()
    out[thread_id()] = total


def test_warp_operations_go_on_as_lanes_return_one_by_one(device):
    out = device.zeros(64, u32)
    warps_in_a_loop[64, 64](device.array(np.ones(64, np.uint32)), 20, out)
    total = sum((32 - i) * (1 + i) for i in range(20))
    assert out.get().tolist() == ([0] * 20 + [total] * 12) * 2


# --- clocks and fences -----------------------------------------------------------------------------------------------


@kernel
def clocks(out: Ptr[u64]):
    r = out + thread_id() * 2
    cycles = clock()
    now = time_ns()
    for _ in range(100):
        memory_barrier()
        memory_barrier(scope="group")
        memory_barrier(scope="device")
        memory_barrier(scope="system")
        later = time_ns()
        assert later >= now, "the clock went back"
        now = later
    r[0] = clock() - cycles
    r[1] = now


def test_clocks_never_go_back(device):
    out = device.zeros(64 * 2, u64)
    clocks[64](out)
    first = out.get().reshape(64, 2)
    clocks[64](out)
    second = out.get().reshape(64, 2)
    assert (first[:, 0] > 0).all()
    assert second[:, 1].min() >= first[:, 1].max()
