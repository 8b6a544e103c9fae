"""The CPU device: launches that are cancelled or fault leave the process alive, and lanes that hang are found."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import kernels
import numpy as np
import pytest

import lanewise as lw
from lanewise.compiler import Target, stages
from lanewise.lang import Ptr, device, f32, kernel, thread_id, u32
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.program import lower_kernel


@pytest.fixture
def cpu():
    return lw.device("cpu")


@pytest.mark.parametrize("kernel", [kernels.forever, kernels.forever_with_barriers, kernels.poll])
def test_ctrl_c_ends_a_launch_that_never_would(cpu, kernel):
    out = cpu.zeros(1, u32)
    launch = kernel[300](out)
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        launch.wait()
    kernels.store_ids[1](out).wait()
    assert out.get()[0] == 0


def test_ctrl_c_ends_a_program_that_waits_for_a_copy():
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import kernels, lanewise as lw\n"
        "from lanewise.lang import u32\n"
        "out = lw.device('cpu').zeros(1, u32)\n"
        "kernels.forever[1](out)\n"
        "print('started', flush=True)\n"
        "out.get()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "started\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0


def test_a_timeout_comes_back_while_the_launch_goes_on(cpu):
    flag = cpu.zeros(1, u32)
    launch = kernels.poll[64](flag)
    assert not launch.wait(timeout=0.05)
    assert not launch.done
    launch.cancel()
    assert launch.done


@pytest.mark.parametrize("kernel", [kernels.wild, kernels.wild_after_barrier])
def test_memory_that_is_not_there_is_an_error_and_the_device_goes_on(cpu, kernel):
    out = cpu.zeros(300, u32)
    for _ in range(3):
        with pytest.raises(
            lw.DeviceError, match=f"kernel {kernel.name} touched memory that is not its own, at address 0x"
        ):
            kernel[300](out, 2**40).wait()
    kernels.store_ids[300](out).wait()
    np.testing.assert_array_equal(out.get(), np.arange(300))


def test_an_index_beyond_the_end_of_an_array_is_an_error_that_gives_its_size(cpu):
    out = cpu.zeros(100, u32)
    with pytest.raises(lw.DeviceError, match="behind the end of an array of 400 bytes"):
        kernels.store_ids[5000](out).wait()
    kernels.store_ids[100](out).wait()
    np.testing.assert_array_equal(out.get(), np.arange(100))


def test_lanes_that_wait_for_each_other_at_different_places_are_reported(cpu):
    flags = cpu.array([1, 0] * 32, u32)
    with pytest.raises(lw.TrapError, match="some of its threads wait at a barrier and others at a warp operation"):
        kernels.meet_at_different_places[64](flags).wait()


def test_polling_lanes_see_what_the_host_writes(cpu):
    host = np.zeros(1, np.uint32)
    launch = kernels.poll[2000](host)
    assert not launch.done
    host[0] = 1
    assert launch.wait(timeout=60)


def test_python_goes_on_while_device_code_runs(cpu):
    host = np.zeros(1, np.uint32)
    launch = kernels.forever[1](host)
    while host[0] < 1000:
        pass
    launch.cancel()
    assert host[0] >= 1000


def test_a_kernel_without_barriers_is_a_loop_that_llvm_vectorises():
    module = lower_kernel(kernels.add_one, HostAbi())
    assert not module.facts.converges
    optimised = stages(module.ir, Target.host())["optimised"]
    assert re.search(r"fadd <\d+ x float>", optimised)


def test_a_function_that_asks_to_stay_a_call_stays_one():
    @device(inline=False)
    def apart(x: f32) -> f32:
        return x * x + x

    @kernel
    def calls(out: Ptr[f32]):
        out[thread_id()] = apart(out[thread_id()])

    optimised = stages(lower_kernel(calls, HostAbi()).ir, Target.host())["optimised"]
    assert re.search(r"call .*float @fn\d+_apart", optimised)


def test_the_number_of_cores_can_be_set(tmp_path):
    script = "import lanewise as lw; print(lw.device('cpu').properties.cores)"
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "LANEWISE_CPU_THREADS": "1"},
        capture_output=True,
    )
    assert run.stdout == b"1\n"
