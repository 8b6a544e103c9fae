"""What kernels for NVIDIA GPUs let LLVM assume, how they count and what they consist of; none of it needs a GPU."""

import ctypes
import re

import pytest

from lanewise.compiler import Target, compile_module, load_object, stages
from lanewise.kernel.library import kernel_ir
from lanewise.lang import (
    Ptr,
    atomic_add,
    atomic_load,
    atomic_store,
    device,
    f32,
    grid_range,
    i32,
    kernel,
    local_id,
    memory_barrier,
    thread_count,
    thread_id,
    thread_yield,
    threadgroup_barrier,
    u32,
    warp_ballot,
    warp_reduce_add,
    warp_shuffle,
)
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.abi_nvptx import NvptxAbi
from lanewise.lang.program import lower_kernel

GPU = Target.nvptx(90)


def optimised(function):
    """The kernel's own function after LLVM's passes, where the launch said that no two pointers overlap."""
    text = stages(lower_kernel(function, NvptxAbi(256, disjoint=True)).ir, GPU)["optimised"]
    start = text.index("define ptx_kernel")
    return text[start : text.index("\n}", start)]


# --- threads that communicate ----------------------------------------------------------------------------------------

BARRIER = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"


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


@kernel
def stores_before_and_after_a_barrier(flag: Ptr[u32], out: Ptr[u32]):
    flag[local_id()] = 1
    threadgroup_barrier()
    flag[local_id()] = 2
    out[thread_id()] = 0


def test_a_value_is_read_again_behind_a_barrier():
    parts = optimised(raises_a_flag_twice).split(BARRIER)
    assert len(parts) == 4
    assert "store i32 1, ptr %a0" in parts[0]
    assert "load i32, ptr %a0" in parts[1]
    assert "store i32 2, ptr %a0" in parts[2]
    assert "load i32, ptr %a0" in parts[3]


def test_a_store_before_a_barrier_stays():
    before, behind = optimised(stores_before_and_after_a_barrier).split(BARRIER)
    assert "store i32 1" in before
    assert "store i32 2" in behind


@kernel
def waits(data: Ptr[u32], ready: Ptr[u32], out: Ptr[u32]):
    before = data[0]
    while atomic_load(ready[0]) == 0:
        thread_yield()
    memory_barrier()
    out[thread_id()] = data[0] - before


def test_a_value_is_read_again_behind_a_fence():
    before, behind = optimised(waits).split("fence ")
    assert "load i32, ptr %a0" in before
    assert "load i32, ptr %a0" in behind


@kernel
def watches(flag: Ptr[u32], out: Ptr[u32]):
    out[thread_id()] = atomic_load(flag[0])


@kernel
def acquires(flag: Ptr[u32], out: Ptr[u32]):
    while atomic_load(flag[0], order="acquire") == 0:
        pass
    out[thread_id()] = 1


@kernel
def takes_a_ticket(part: Ptr[u32], count: Ptr[u32], out: Ptr[u32]):
    mine = part[thread_id()]
    part[thread_id()] = 5
    memory_barrier()
    if atomic_add(count[0], 1, order="acq_rel") == thread_count() - 1:
        out[0] = part[thread_id()] + mine


@pytest.mark.parametrize("function", [watches, acquires, waits, takes_a_ticket], ids=lambda function: function.name)
def test_atomics_compile_in_this_process_where_no_pointers_overlap(function):
    assert compile_module(lower_kernel(function, NvptxAbi(256, disjoint=True)).ir, GPU, cache=None).code


@kernel
def stores_an_atomic(data: Ptr[u32], out: Ptr[u32]):
    atomic_store(out[0], data[0])


@kernel
def adds_an_atomic(data: Ptr[u32], out: Ptr[u32]):
    atomic_add(out[0], data[0])


@kernel
def fences(data: Ptr[u32], out: Ptr[u32]):
    out[0] = data[0]
    memory_barrier(scope="group")


@kernel
def yields(data: Ptr[u32], out: Ptr[u32]):
    out[0] = data[0]
    thread_yield()


@kernel
def votes(data: Ptr[u32], out: Ptr[u32]):
    out[thread_id()] = warp_ballot(data[thread_id()] != 0)


@kernel
def shuffles(data: Ptr[u32], out: Ptr[u32]):
    out[thread_id()] = warp_shuffle(data[thread_id()], 1)


@kernel
def reduces(data: Ptr[u32], out: Ptr[u32]):
    out[thread_id()] = warp_reduce_add(data[thread_id()])


@device
def meet():
    threadgroup_barrier()


@kernel
def calls_a_barrier(data: Ptr[u32], out: Ptr[u32]):
    out[thread_id()] = data[thread_id()]
    meet()


@pytest.mark.parametrize(
    "function",
    [stores_an_atomic, adds_an_atomic, fences, yields, votes, shuffles, reduces, calls_a_barrier],
    ids=lambda function: function.name,
)
def test_pointers_of_threads_that_communicate_are_not_noalias(function):
    module = lower_kernel(function, NvptxAbi(256, disjoint=True))
    assert module.facts.communicates
    assert "noalias" not in module.ir


@kernel
def doubles(source: Ptr[f32], target: Ptr[f32]):
    target[thread_id()] = source[thread_id()] * 2.0


def test_a_plain_kernel_reads_past_the_first_level_cache_if_its_arrays_do_not_overlap():
    for disjoint in (True, False):
        module = lower_kernel(doubles, NvptxAbi(256, disjoint))
        assert ("ptr noalias" in module.ir) == disjoint
        assert ("ld.global.nc" in stages(module.ir, GPU)["ptx"]) == disjoint


# --- launches of billions of threads ---------------------------------------------------------------------------------


def run_thread(function, threads, group_size, thread, *values):
    """Run one hardware thread's part of a launch on this CPU; `thread` may lie beyond the launch's last one.

    What the thread would read from special registers is put into the IR as constants.
    """
    group, local = divmod(thread, group_size)
    registers = {"ctaid": group, "ntid": group_size, "tid": local, "nctaid": -(-threads // group_size)}
    module = lower_kernel(function, NvptxAbi())
    ir = module.ir.replace("ptx_kernel ", "dso_local ")
    ir = re.sub(
        r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(\)", lambda found: f"add i32 0, {registers[found[1]]}", ir
    )
    library = load_object(compile_module(ir, Target.host(), cache=None).code, [module.entry])
    out = (ctypes.c_uint32 * 4)()
    kinds = [ctypes.c_int32] * len(values)
    entry = ctypes.CFUNCTYPE(None, *kinds, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
    entry(library.address(module.entry))(*values, ctypes.addressof(out), threads, None)
    return list(out)


@kernel
def says_who_it_is(out: Ptr[u32]):
    out[0] = 1
    out[1] = thread_id()
    out[2] = local_id()


MANY = 2**32 - 1


@pytest.mark.parametrize(
    ("threads", "group_size", "thread", "runs"),
    [
        (1, 1, 0, True),
        (1, 256, 1, False),
        (1000, 256, 999, True),
        (1000, 256, 1000, False),
        (MANY, 1000, MANY - 1, True),
        (MANY, 1000, MANY, False),
        (MANY, 1000, MANY + 1, False),  # its number is 0 in 32 bits
        (MANY, 1000, MANY + 704, False),  # the last of its group
    ],
)
def test_exactly_the_threads_of_the_launch_run(threads, group_size, thread, runs):
    expected = [1, thread, thread % group_size, 0] if runs else [0, 0, 0, 0]
    assert run_thread(says_who_it_is, threads, group_size, thread) == expected


@kernel
def says_its_share(n: i32, out: Ptr[u32]):
    for i in grid_range(n):
        out[0] += 1
        out[1] = u32(i)
    out[2] = local_id()  # so that a hardware thread is one thread


@pytest.mark.parametrize(
    ("threads", "thread", "n", "expected"),
    [
        (1000, 7, 5008, [6, 5007]),
        (1000, 7, 7, [0, 0]),
        (1000, 0, -5, [0, 0]),
        (2**31, 7, 2**31 - 1, [1, 7]),
        (2**31, 2**31 - 1, 2**31 - 1, [0, 0]),
        (MANY, 7, 100, [1, 7]),
        (MANY, 2**31 + 5, 100, [0, 0]),
        (MANY, MANY - 1, 2**31 - 1, [0, 0]),
        (MANY, 2**31, -(2**31), [0, 0]),
    ],
)
def test_grid_range_over_a_signed_number_takes_any_number_of_threads(threads, thread, n, expected):
    assert run_thread(says_its_share, threads, 256, thread, n)[:2] == expected


@kernel
def cut(values: Ptr[f32], out: Ptr[u32]):
    me = thread_id()
    out[me] = u32(values[me])


def test_a_float_becomes_a_word_with_one_instruction_that_saturates_itself():
    found = stages(lower_kernel(cut, NvptxAbi(256)).ir, GPU)["ptx"]
    assert found.count("cvt.rzi.u32.f32") >= 1
    assert "setp.gt.f32" not in found
    assert "selp" not in found


# --- functions -------------------------------------------------------------------------------------------------------


@device(inline=False)
def squared(x: u32) -> u32:
    return x * x


@device(inline=False)
def in_two_places(x: u32) -> u32:
    return squared(x) + squared(x + 1)


@kernel
def calls_in_one_place(out: Ptr[u32]):
    out[thread_id()] = in_two_places(out[0])


@kernel
def calls_in_three_places(out: Ptr[u32]):
    out[thread_id()] = in_two_places(out[0]) + in_two_places(out[1]) + in_two_places(out[2])


@kernel
def calls_in_two_places(out: Ptr[u32]):
    out[thread_id()] = in_two_places(out[0]) + in_two_places(out[1])


@kernel
def calls_by_two_ways(out: Ptr[u32]):
    out[thread_id()] = in_two_places(out[0]) + squared(out[1])


@device(inline=False)
def sums_up(x: u32) -> u32:
    table: u32[512]
    for at in range(u32(512)):
        table[at] = x + at
    return table[x % 512]


@device(inline=False)
def counted_down(x: u32) -> u32:
    return sums_up(x) if x == 0 else counted_down(x // 2) + 1


@device(inline=False)
def even(x: u32) -> u32:
    return u32(1) if x == 0 else odd(x - 1)


@device(inline=False)
def odd(x: u32) -> u32:
    return u32(0) if x == 0 else even(x - 1)


@kernel
def calls_what_calls_itself(out: Ptr[u32]):
    out[thread_id()] = counted_down(out[0]) + even(out[1])


@device(inline=False)
def meets(out: Ptr[u32]):
    threadgroup_barrier()
    out[thread_id()] += 1


@kernel
def meets_in_two_places(out: Ptr[u32]):
    if out[0] > 5:
        meets(out)
    else:
        meets(out)


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (calls_in_one_place, set()),
        (calls_in_two_places, {"squared"}),  # it would be there four times
        (calls_in_three_places, {"in_two_places"}),
        (calls_by_two_ways, {"squared"}),
        (calls_what_calls_itself, {"counted_down", "sums_up", "even", "odd"}),
        (meets_in_two_places, {"meets"}),
    ],
)
def test_functions_that_would_be_there_twice_at_most_are_part_of_the_kernel(function, calls):
    """But not what recursive functions call, whose locals would be there for each level, nor where threads meet."""
    ir = lower_kernel(function, NvptxAbi()).ir
    functions = re.findall(r"^define .*@fn\d+_(\w+)\(.*\) (.*) \{$", ir, re.MULTILINE)
    assert {name for name, attributes in functions if "alwaysinline" not in attributes} == calls


def test_a_function_stays_one_on_a_cpu_if_it_says_so():
    assert re.search(r"@fn\d+_squared\(.* noinline \{", lower_kernel(calls_in_one_place, HostAbi()).ir)


@pytest.mark.parametrize(("group", "bounds"), [(256, [".maxntid 256"]), (1024, [".maxntid 1024", ".minnctapersm 1"])])
def test_the_largest_groups_have_all_registers(group, bounds):
    ptx = compile_module(lower_kernel(calls_in_one_place, NvptxAbi(group)).ir, GPU, name="bounds").code.decode()
    assert re.findall(r"^\.(?:max|min)n\w+ \d+", ptx, re.MULTILINE) == bounds


def test_lanes_of_guest_programs_may_come_to_a_barrier_from_different_places():
    assert "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)" in kernel_ir(GPU)
