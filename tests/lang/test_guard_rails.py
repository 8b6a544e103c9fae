"""Device code that leaves the work to one thread is reported, and the package's own device code has none of it."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import warnings
from pathlib import Path

import pytest

import lanewise as lw
from lanewise.compiler import Target, assemble, compile_module, find_ptxas
from lanewise.lang import (
    ON_GPU,
    Ptr,
    atomic_add,
    atomic_compare_exchange,
    atomic_load,
    checks,
    device,
    f32,
    grid_range,
    group_id,
    i32,
    kernel,
    lane_id,
    local_id,
    read_shared,
    shared,
    sqrt,
    thread_id,
    thread_yield,
    threadgroup_barrier,
    threadgroup_size,
    u32,
    warp_reduce_min,
    write_shared,
)
from lanewise.lang.abi_host import HostAbi, RuntimeAbi
from lanewise.lang.abi_nvptx import NvptxAbi
from lanewise.lang.functions import DeviceFunction, Kernel
from lanewise.lang.overloads import Overloads
from lanewise.lang.program import External, Program, lower_kernel


@pytest.fixture
def fresh(monkeypatch):
    """Each warning is given once a process; these tests want to see all of them."""
    monkeypatch.setattr(checks, "_warned", set())


def warned_lines(function, abi):
    """The lines on which lowering a kernel warns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lower_kernel(function, abi)
    assert all(issubclass(warning.category, lw.LangWarning) for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    return sorted(warning.lineno for warning in caught)


def marked_lines(function):
    """The lines of a kernel that say that they warn."""
    lines, first = inspect.getsourcelines(function.function)
    return [first + index for index, line in enumerate(lines) if line.rstrip().endswith("# warns")]


@device
def work(x: u32) -> u32:
    return x + 1


# --- one thread works, the others wait -------------------------------------------------------------------------------


@kernel
def interpreter(program: Ptr[u32], length: u32):
    if thread_id() != 0:  # warns
        return
    pc = u32(0)
    while pc < length:
        pc = work(program[pc])


@kernel
def all_but_one_return_in_other_words(p: Ptr[u32], n: u32):
    tid = local_id()
    first = tid == 0
    if tid > 0:  # warns
        return
    if 1 <= lane_id():  # warns
        p[0] = 1
        return
    if not first:  # warns
        return
    if tid != n or n > 5:  # warns
        return
    if 0 < tid:  # warns
        return
    if tid == 0:  # warns
        p[0] = 2
    else:
        return


@kernel
def allocate_slot(slots: Ptr[u32], n: u32, out: Ptr[u32]):
    if thread_id() == 0:
        slot = u32(0)
        while slot < n:  # warns
            if atomic_compare_exchange(slots[slot], 0, 1):
                break
            slot += 1
        out[0] = slot


@kernel
def loops_and_calls_of_one_thread(p: Ptr[u32], n: u32):
    tid = thread_id()
    if tid == 0 and n > 3:
        for i in range(n):  # warns
            p[i] = 1
    if tid < 1:
        p[0] = work(p[1])  # warns
    if tid == n:
        if p[0] > 1:
            p[2] = work(1)  # warns
    if tid != 0:
        p[tid] = 1
    else:
        p[0] = work(2)  # warns
    p[3] = work(3) if tid == 0 else u32(1)  # warns
    if lane_id() == 0:
        p[4] = warp_reduce_min(p[4])  # warns
    while tid == 0 and p[0] > 1:  # warns
        p[0] -= 1


@kernel
def event_loop(queue: Ptr[u32]):
    while True:
        if atomic_load(queue[0]) == 99:
            break
        if local_id() == 0:
            queue[1] = work(queue[2])  # warns
        threadgroup_barrier()
        if local_id() != 0:  # warns
            return


@pytest.mark.parametrize("abi", [HostAbi, NvptxAbi])
@pytest.mark.parametrize(
    "function",
    [interpreter, all_but_one_return_in_other_words, allocate_slot, loops_and_calls_of_one_thread, event_loop],
    ids=lambda function: function.name,
)
def test_one_thread_patterns_are_reported_with_file_and_line(fresh, abi, function):
    assert marked_lines(function)
    assert warned_lines(function, abi()) == marked_lines(function)


def test_a_warning_says_what_to_do(fresh):
    with pytest.warns(lw.LangWarning, match="let every thread do a share of it"):
        lower_kernel(interpreter, HostAbi())
    with pytest.warns(lw.LangWarning, match="one thread loops here while the others wait; spread the loop over all"):
        lower_kernel(allocate_slot, HostAbi())
    with (
        pytest.warns(
            lw.LangWarning, match="one thread calls work here while the others wait; let all threads take part"
        ),
        pytest.warns(lw.LangWarning, match="all threads but one return here"),
    ):
        lower_kernel(event_loop, HostAbi())


def test_a_warning_is_given_once(fresh):
    assert warned_lines(interpreter, HostAbi())
    assert not warned_lines(interpreter, NvptxAbi())


# --- what is fine ----------------------------------------------------------------------------------------------------


@kernel
def two_phase_sum(data: Ptr[i32], n: u32, out: Ptr[i32]):
    tid = thread_id()
    if tid >= n:
        return
    write_shared(local_id(), data[tid])
    threadgroup_barrier()
    stride = threadgroup_size() // 2
    while stride > 0:
        if local_id() < stride:
            write_shared(local_id(), read_shared(local_id()) + read_shared(local_id() + stride))
        threadgroup_barrier()
        stride //= 2
    if local_id() == 0:
        group_sum = read_shared(0)
        atomic_add(out[0], group_sum)


@kernel
def parallel_slot_search(slots: Ptr[u32], n: u32, out: Ptr[u32]):
    slot = lane_id()
    found = n
    while found == n and slot < n:
        if atomic_compare_exchange(slots[slot], 0, 1):
            found = slot
        slot += 32
    winner = warp_reduce_min(found)
    if lane_id() == 0:
        out[0] = winner


@kernel
def straight_line_work(p: Ptr[f32], flags: Ptr[u32], n: u32, more: bool):
    more = more and n > 2
    opcode = shared(u32[1])
    if n < 1:
        return
    for i in grid_range(n):
        p[i] = 1.0
    if thread_id() < 4:
        for i in range(n):
            p[i] = 2.0
    if group_id() == 0:
        flags[1] = work(2)
    while atomic_load(flags[0]) == 0:
        if local_id() == 0:
            opcode[0] = flags[2]
            p[0] = sqrt(p[1]) if ON_GPU else p[1]
        threadgroup_barrier()
        flags[3] = work(opcode[0])
        threadgroup_barrier()
        thread_yield()
    if thread_id() == 0:
        atomic_add(flags[0], 1, order="release")


@pytest.mark.parametrize("abi", [HostAbi, NvptxAbi])
@pytest.mark.parametrize(
    "function", [two_phase_sum, parallel_slot_search, straight_line_work], ids=lambda function: function.name
)
def test_work_that_all_threads_share_is_not_reported(fresh, abi, function):
    assert warned_lines(function, abi()) == []


# --- the package's own device code -----------------------------------------------------------------------------------

HOST_ALONE = {"lanewise.devices.cpu_scheduler", "lanewise.devices.cpu_reset", "lanewise.kernel.host_copies"}
"""Modules that call what no GPU has."""


def device_code():
    """Every module of the package with the device functions, kernels and overloads that it defines."""
    found = {}
    for module_info in pkgutil.walk_packages(lw.__path__, "lanewise."):
        source = Path(importlib.util.find_spec(module_info.name).origin).read_text()
        if not re.search(r"@(kernel|device)\b|overloaded", source):
            continue  # some other modules run something when they are imported
        module = importlib.import_module(module_info.name)
        functions = []
        for value in vars(module).values():
            if isinstance(value, Overloads) and value.make.__module__ == module.__name__:
                functions += [value.instance(kind) for kind in value.types]
            elif isinstance(value, DeviceFunction) and value.function.__module__ == module.__name__:
                functions += [] if isinstance(value, External) else [value]
        if functions:
            found[module.__name__] = functions
    return found


def lowered_text(functions, abi):
    """Functions and all they call as one module, each kept so that the optimiser does not drop it."""
    program = Program(abi)
    lowered = program.lower(functions)
    definitions = [program.text(entry, "dso_local") for entry in lowered.values()]
    return program.module([text.replace(" alwaysinline", "") for text in definitions])


@pytest.fixture(scope="module")
def package_code():
    return device_code()


def test_the_package_has_device_code_to_check(package_code):
    names = {function.name for functions in package_code.values() for function in functions}
    assert {"warp_ballot", "warp_reduce_add_f32", "warp_shuffle_bool", "read_shared", "lw_run_groups"} <= names


@pytest.mark.parametrize("abi", [HostAbi, NvptxAbi])
def test_the_package_s_device_code_has_no_one_thread_patterns(fresh, package_code, abi):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for module, functions in package_code.items():
            program = Program(RuntimeAbi() if module in HOST_ALONE else abi())
            program.lower(functions)
            for function in functions:
                if isinstance(function, Kernel):
                    lower_kernel(function, abi())


@pytest.fixture(scope="module")
def gpu_modules(package_code):
    return {
        name: lowered_text(functions, NvptxAbi()) for name, functions in package_code.items() if name not in HOST_ALONE
    }


def test_the_package_s_device_code_compiles_for_the_host(package_code):
    for module, functions in package_code.items():
        abi = RuntimeAbi() if module in HOST_ALONE else HostAbi()
        assert compile_module(lowered_text(functions, abi), Target.host(), name=module, level=1).code


def test_the_package_s_device_code_assembles_for_a_gpu(gpu_modules):
    if find_ptxas() is None:
        pytest.skip("ptxas is not installed")
    for module, text in gpu_modules.items():
        compiled = compile_module(text, Target.nvptx(90), name=module, level=1)
        assert assemble(compiled.code, 90).cubin


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def kernels(package_code):
    """Every kernel of the package and of the examples, by file and name."""
    found = {f"{module}.{f.name}": f for module, code in package_code.items() for f in code if isinstance(f, Kernel)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("LANEWISE_DEVICE", "null")  # some examples are plain scripts, which run when they are imported
        for path in sorted(set(EXAMPLES.rglob("*.py")) - set(EXAMPLES.rglob("wasm/*.py"))):  # those have no kernels
            spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            found |= {f"{path.stem}.{f.name}": f for f in vars(module).values() if isinstance(f, Kernel)}
    return found


@pytest.mark.parametrize("disjoint", [True, False])
@pytest.mark.parametrize("group", [256, 1024])
def test_kernels_assemble_for_a_gpu_as_the_device_loads_them(kernels, group, disjoint):
    assert {"histogram.count", "lanewise.bench.map_kernels.scale", "two_phase_sum.total"} <= kernels.keys()
    ptx = {}
    for name, function in kernels.items():
        module = lower_kernel(function, NvptxAbi(group, disjoint))
        ptx[name] = module.entry, compile_module(module.ir, Target.nvptx(90), name=name, level=3).code
    if find_ptxas() is None:
        pytest.skip("compiled; ptxas, which assembles, is not installed")
    for entry, code in ptx.values():
        assert entry in assemble(code, 90).kernels
