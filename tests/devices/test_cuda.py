"""What only a CUDA GPU does: faults that end the context, other libraries' arrays, and groups with many registers."""

import subprocess
import sys
import textwrap
from pathlib import Path

import kernels
import numpy as np
import pytest

import lanewise as lw
from lanewise.lang import f32, u32


@pytest.fixture(scope="module")
def cuda():
    try:
        return lw.device("cuda")
    except lw.NoDeviceError as absent:
        pytest.skip(str(absent))


def run_script(script):
    """A program of its own, since a fault breaks CUDA for the whole process."""
    setup = "import sys; sys.path.insert(0, sys.argv[1])\nimport kernels, numpy as np, lanewise as lw\n"
    setup += "from lanewise.lang import u32, i32\n"
    command = [sys.executable, "-c", setup + textwrap.dedent(script), str(Path(__file__).parent)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_a_fault_is_an_error_and_the_next_device_works(cuda):
    done = run_script("""
        dev = lw.device("cuda")
        out = dev.zeros(4, u32)
        for turn in range(2):
            try:
                kernels.wild[1](out, 2**45).wait()
            except lw.DeviceLostError as error:
                print("lost", "touched memory that is not its own" in str(error))
            try:
                out.get()
            except lw.DeviceLostError:
                print("gone")
            dev = lw.device("cuda")
            out = dev.zeros(4, u32)
            kernels.store_ids[4](out)
            print(out.get().tolist())
        x = dev.array([5, 0], i32)
        try:
            kernels.divide[2](x).wait()
        except lw.TrapError as error:
            print(error.thread, x.get().tolist())
        try:
            kernels.scale[1](x, x, 1, 1.0)
        except lw.ArgumentError as error:
            print("still checked")
    """)
    assert done.stderr == ""
    assert done.stdout.split("\n") == ["lost True", "gone", "[0, 1, 2, 3]"] * 2 + ["1 [20, 0]", "still checked", ""]
    assert done.returncode == 0


def test_ctrl_c_gives_control_back_and_the_program_can_end(cuda):
    done = run_script("""
        import os, signal, threading
        out = lw.device("cuda").zeros(1, u32)
        launch = kernels.forever[1](out)
        threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
        try:
            launch.wait()
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert done.stdout == "interrupted\n"


def test_cupy_arrays_are_used_in_place_both_ways(cuda):
    cupy = pytest.importorskip("cupy")
    theirs = cupy.arange(1000, dtype=cupy.float32)
    ours = cuda.zeros(1000, f32)
    kernels.scale[1000](theirs, ours, 1000, 2.0)
    np.testing.assert_array_equal(cupy.asarray(ours).get(), np.arange(1000) * 2)
    kernels.scale[1000](ours, theirs, 1000, 2.0).wait()
    np.testing.assert_array_equal(theirs.get(), np.arange(1000) * 4)


def test_torch_tensors_are_used_in_place_by_either_protocol(cuda):
    torch = pytest.importorskip("torch")
    tensor = torch.arange(1000, dtype=torch.float32, device="cuda")

    class OnlyDlpack:
        def __dlpack__(self, **options):
            return tensor.__dlpack__(**options)

        def __dlpack_device__(self):
            return tensor.__dlpack_device__()

    out = cuda.zeros(1000, f32)
    for array in (tensor, OnlyDlpack()):
        kernels.scale[1000](cuda.wrap(array), out, 1000, 3.0)
        np.testing.assert_array_equal(out.get(), np.arange(1000) * 3)
    with pytest.raises(lw.ArgumentError, match="is not contiguous"):
        cuda.wrap(tensor[::2])


def test_a_host_array_is_refused_with_what_to_write(cuda):
    with pytest.raises(lw.ArgumentError, match=r"argument y of kernel scale lives on the host.*device.array"):
        kernels.scale[1](cuda.zeros(1, f32), np.zeros(1, np.float32), 1, 1.0)


def test_ptx_that_the_driver_refuses_is_a_compile_error(cuda):
    with pytest.raises(lw.CompileError, match="kernel broken: the CUDA driver refused its PTX"):
        cuda._engine.load(b".version 8.0\n.target sm_90\n.address_size 64\nnonsense", "broken", "k", [], "=8x", 0)


def test_a_wait_with_a_time_limit_comes_back(cuda):
    done = run_script("""
        launch = kernels.forever[1](lw.device("cuda").zeros(1, u32))
        print(launch.wait(timeout=0.2), launch.done, flush=True)
        import os; os._exit(0)
    """)
    assert done.stdout == "False False\n"


def test_the_properties_describe_the_gpu(cuda):
    found = cuda.properties
    assert found.name
    assert found.cores > 0
    assert found.resident_threads >= found.cores * 1024
    assert dict(found.details)["compute capability"]
    assert cuda.zeros(1, u32).__cuda_array_interface__["stream"] == cuda.stream_handle
