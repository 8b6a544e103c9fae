"""Mistakes with atomics, and barriers that not all threads come to."""

# The snippets are wrong on purpose, in ways that a linter sees too.
# ruff: noqa: C416, E731

import pytest
from mistakes import Mistakes, place_of
from misused import TABLE, Point, waits

import lanewise as lw
from lanewise.lang import (
    ON_GPU,
    Ptr,
    atomic_add,
    atomic_compare_exchange,
    atomic_min,
    clock,
    device,
    f32,
    f64,
    grid_range,
    i32,
    kernel,
    lane_id,
    local_id,
    thread_id,
    threadgroup_barrier,
    u8,
    u32,
)
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.abi_nvptx import NvptxAbi
from lanewise.lang.program import lower_kernel

mistake = Mistakes()


# --- atomics ----------------------------------------------------------------------------------------------------------


@mistake("a local variable is seen by one thread only", "atomic_add(«x»", "name an element of a Ptr or shared array")
def atomic_on_a_variable(x: u32):
    atomic_add(x, 1)


@mistake("a local variable is seen by one thread only", "atomic_add(«a[0]»", "name an element of a Ptr or shared array")
def atomic_on_a_local_array(p: Ptr[u32]):
    a: u32[4]
    atomic_add(a[0], 1)


@mistake("a local variable is seen by one thread only", "s.tags[1]", "name an element of a Ptr or shared array")
def atomic_on_a_local_struct(p: Ptr[u32]):
    s: Point
    atomic_add(s.tags[1], 1)


@mistake("an atomic works on memory", "atomic_add(«1», 1)", "name an element or a field, such as `p[0]` or `s.count`")
def atomic_on_a_number(p: Ptr[u32]):
    atomic_add(1, 1)


@mistake("an atomic works on memory", "TABLE[0]", "name an element or a field, such as `p[0]` or `s.count`")
def atomic_on_a_table(p: Ptr[u32]):
    atomic_add(TABLE[0], 1)


@mistake("this atomic does not work on u8", "p[0]", "it works on i32, i64, u32, u64, f32 or f64")
def atomic_on_8_bits(p: Ptr[u8]):
    atomic_add(p[0], 1)


@mistake("this atomic does not work on f32", "p[0]", "it works on i32, i64, u32, u64")
def atomic_min_of_floats(p: Ptr[f32]):
    atomic_min(p[0], 1.0)


@mistake("this atomic does not work on f64", "p[0]", "it works on i32, i64, u32, u64")
def compare_exchange_of_floats(p: Ptr[f64]):
    atomic_compare_exchange(p[0], 1.0, 2.0)


@mistake("this atomic does not work on Ptr[u32]", "p[0]", "it works on i32, i64, u32, u64, f32 or f64")
def atomic_on_a_pointer_itself(q: Ptr[u32], p: Ptr[Ptr[u32]]):
    atomic_add(p[0], 1)


@mistake("expected u32, this is i32", "p[0], «x»", "write u32(...) to convert")
def atomic_with_another_type(p: Ptr[u32], x: i32):
    atomic_add(p[0], x)


@mistake("atomic_add takes 2 arguments, this passes 1", "atomic_add(p[0])")
def atomic_without_a_value(p: Ptr[u32]):
    atomic_add(p[0])


# --- barriers that not all threads come to ----------------------------------------------------------------------------


APART = "not all threads of the group come to this barrier"


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_a_thread_number(p: Ptr[u32]):
    if local_id() < 4:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_a_variable(p: Ptr[u32]):
    me = thread_id() * 2
    odd = me % 4 == 2
    if p[0] > 1:
        if odd:
            p[0] = 1
        else:
            threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_what_memory_holds(p: Ptr[u32]):
    if p[lane_id()] > 1:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_what_an_atomic_gave(p: Ptr[u32]):
    ticket = atomic_add(p[0], 1)
    if ticket == 3:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_a_clock(p: Ptr[u32]):
    if clock() > 1000:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_a_branch_that_diverged_before(p: Ptr[u32]):
    x = u32(0)
    if local_id() > 3:
        x = 1
    if x == 1:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_loop_of_different_length(p: Ptr[u32]):
    for i in range(local_id()):
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_while_of_different_length(p: Ptr[u32]):
    i = local_id()
    while i < 100:
        threadgroup_barrier()
        i += 10


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_grid_range(n: u32):
    for i in grid_range(n):
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_loop_that_some_leave(p: Ptr[u32]):
    for i in range(4):
        if p[local_id()] == 0:
            break
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_loop_that_some_skip(p: Ptr[u32]):
    for i in range(4):
        if p[0] == 0:
            if local_id() == 1:
                continue
        threadgroup_barrier()


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_through_a_function(p: Ptr[u32]):
    if local_id() < 4:
        p[0] = p[1] + waits(1)


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_in_the_test_of_a_branch(p: Ptr[u32]):
    if local_id() < 4:
        if waits(1) == 1:
            p[0] = 1


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_in_one_side_of_a_conditional(p: Ptr[u32]):
    p[0] = waits(1) if local_id() < 4 else u32(0)


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_behind_and(p: Ptr[u32]):
    if local_id() < 4 and waits(1) == 1:
        p[0] = 1


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_what_counted_the_trips_of_a_loop_that_some_leave(p: Ptr[u32]):
    trips = u32(0)
    while True:
        if p[local_id()] == trips:
            break
        trips += 1
    if trips > 4:
        threadgroup_barrier()


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_in_the_test_of_a_loop(p: Ptr[u32]):
    i = local_id()
    while i + waits(1) < 10:
        i += 1


def test_the_hint_of_a_barrier_names_the_line_of_the_condition():
    function = kernel(barrier_under_a_thread_number)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(function, HostAbi())
    line, _, _ = place_of(barrier_under_a_thread_number, "if local_id() < 4")
    assert f"the condition on line {line} differs" in caught.value.hint


@kernel
def barriers_that_all_come_to(p: Ptr[u32], n: u32):
    if thread_id() >= n:
        return
    for i in range(n):
        if n > 3:
            threadgroup_barrier()
        if i > 2:
            break
    if local_id() < 4:
        for i in range(local_id()):
            if p[i] == 0:
                break
        if ON_GPU:
            p[0] = gpu_only(p[0])
        else:
            p[0] = cpu_only(p[0])
    threadgroup_barrier()
    p[0] += waits(1) if n > 2 else u32(0)
    x = local_id()
    x = n
    while x > 0:
        threadgroup_barrier()
        x //= 2


@device
def gpu_only(x: u32) -> u32:
    return x


@device
def cpu_only(x: u32) -> u32:
    return x


@pytest.mark.parametrize("abi", [HostAbi, NvptxAbi])
def test_barriers_that_all_threads_come_to_are_accepted(abi):
    assert lower_kernel(barriers_that_all_come_to, abi()).facts.barriers


test_each_mistake_is_an_error_with_a_caret_under_it = mistake.test()
