"""What only a CUDA GPU does: faults that end the context, other libraries' arrays, and groups with many registers."""

import subprocess
import sys
import textwrap
from pathlib import Path

import kernels
import numpy as np
import pytest

import lanewise as lw
from lanewise.compiler import bundle
from lanewise.lang import f32, i32, u32


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


def test_a_temporary_of_cupy_lives_until_its_kernel_is_done(cuda):
    cupy = pytest.importorskip("cupy")
    for turn in range(20):  # without a hold, CuPy hands the memory of one temporary to the next while it is read
        outs = [cuda.zeros(1 << 20, f32) for _ in range(4)]
        for k, out in enumerate(outs):
            kernels.scale[1 << 20](cupy.full(1 << 20, turn + k, cupy.float32), out, 1 << 20, 2.0)
        for k, out in enumerate(outs):
            assert (out.get() == 2 * (turn + k)).all()
    assert not cuda._held


def test_memory_given_to_cupy_is_freed_after_its_kernels(cuda):
    cupy = pytest.importorskip("cupy")
    stream = cupy.cuda.Stream(non_blocking=True)
    ours = cuda.array(np.ones(1 << 22, np.float32))
    address = ours.address
    with stream:
        total = sum(cupy.asarray(ours).sum() for _ in range(50))
    ours.free()
    assert address not in cuda._shared
    cuda.zeros(1 << 22, f32)
    assert float(total) == 50 * (1 << 22)


def test_a_context_that_another_library_made_current_does_no_harm(cuda):
    from cuda.bindings import driver

    x, y = cuda.array(np.ones(10, np.float32)), cuda.zeros(10, f32)
    driver.cuCtxSetCurrent(driver.CUcontext(0))
    kernels.scale[10](x, y, 10, 2.0)
    driver.cuCtxSetCurrent(driver.CUcontext(0))
    y.get()
    driver.cuCtxSetCurrent(driver.CUcontext(0))
    x.free()
    assert int(driver.cuCtxGetCurrent()[1]) == 0
    assert (y.get() == 2).all()


def test_a_pinned_host_array_may_be_changed_at_once(cuda):
    cupy = pytest.importorskip("cupy")
    n = 1 << 24
    host = np.frombuffer(cupy.cuda.alloc_pinned_memory(4 * n), np.float32, n)
    array = cuda.empty(n, f32)
    for turn in range(5):
        host[:] = turn
        array.set(host)
        host[:] = -1
        assert (array.get() == turn).all()


def test_traps_of_two_kernels_are_raised_by_two_waits(cuda):
    x = cuda.array([5, 0], i32)
    y = cuda.array([2, 3], i32)
    kernels.divide[2](x)
    kernels.need_even[2](y)
    trapped = set()
    for _ in range(2):  # in the order in which the kernels were first loaded, perhaps by other tests
        with pytest.raises(lw.TrapError) as raised:
            cuda.synchronize()
        trapped.add(raised.value.kernel)
    assert trapped == {"divide", "need_even"}
    cuda.synchronize()


def test_a_forked_child_is_told_to_spawn(cuda):
    done = run_script("""
        import os, warnings
        warnings.simplefilter("ignore")
        out = lw.device("cuda").zeros(4, u32)
        child = os.fork()
        if not child:
            for use in (out.get, lambda: lw.device("cuda")):
                try:
                    use()
                except lw.DeviceError as error:
                    print(type(error).__name__, "'spawn'" in str(error), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        kernels.store_ids[4](out)
        print(out.get().tolist())
    """)
    assert done.stderr == ""
    assert done.stdout == "DeviceError True\nNoDeviceError True\n[0, 1, 2, 3]\n"


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
    broken = bundle([b".version 8.0\n.target sm_90\n.address_size 64\nnonsense"])
    with pytest.raises(lw.CompileError, match="kernel broken: the CUDA driver refused its PTX"):
        cuda._engine.load(broken, "broken", "k", [], "=8x", 0)


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
