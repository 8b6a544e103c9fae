"""How the CUDA device calls the driver, seen by a fake one: order, contexts, lifetimes. No GPU is needed."""

import ctypes
import enum
import gc
import itertools
import os
import subprocess
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

import kernels
import numpy as np
import pytest

import lanewise as lw
from lanewise.compiler import bundle, frames
from lanewise.devices import cuda, cuda_driver, cuda_server
from lanewise.devices.cuda_remote import RemoteEngine
from lanewise.lang import f32, i32
from lanewise.lang.lane import Traps


class Status(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


OK = Status.CUDA_SUCCESS


class Names:
    """An enumeration of the driver's: every name is its own value."""

    def __getattr__(self, name):
        return name


class FakeDriver:
    """Keeps device memory on the host and runs no kernel; records the calls and gives the answers set for them."""

    CUresult = Status
    CUlimit = Names()
    CU_MEMHOSTALLOC_DEVICEMAP = CU_MEMHOSTALLOC_PORTABLE = 0
    CUdevice_attribute = CUpointer_attribute = CUstream_flags = CUjitInputType = Names()
    CUevent_flags = CUmemAllocationType = CUmemLocationType = CUmemPool_attribute = Names()

    def __init__(self, capability=(9, 0)):
        self.calls = []
        self.busy = False
        self._blocks = []
        pools = itertools.count(1)
        attributes = dict(zip(("MAJOR", "MINOR"), capability, strict=True))
        self.answers = {
            "cuDeviceGetCount": (OK, 2),
            "cuDeviceGetName": (OK, b"a fake\0\0"),
            "cuDeviceGetAttribute": lambda name, device: (OK, attributes.get(name.rpartition("_")[2], 1024)),
            "cuDevicePrimaryCtxRetain": lambda device: (OK, object()),
            "cuPointerGetAttribute": (Status.CUDA_ERROR_INVALID_VALUE, None),
            "cuMemHostAlloc": lambda size, flags: (OK, self._block(size)),
            "cuMemAlloc": lambda size: (OK, self._block(size)),
            "cuDeviceTotalMem": (OK, 1000),
            "CUmemPoolProps": lambda: SimpleNamespace(location=SimpleNamespace()),
            "cuuint64_t": lambda value: value,
            "cuMemPoolCreate": lambda wanted: (OK, f"pool {next(pools)} of GPU {wanted.location.id}"),
            "cuMemPoolTrimTo": (OK,),
            "cuMemAllocFromPoolAsync": lambda size, pool, stream: (OK, self._block(size)),
            "cuMemcpyDtoH": self._copy,
            "cuMemcpyHtoD": self._copy,
            "cuLinkComplete": lambda state: (OK, self._block(8), 8),
            "cuLinkAddData": (OK,),
            "cuCtxSetCurrent": (OK,),
            "cuLaunchKernel": (OK,),
            "cuStreamQuery": lambda stream: (Status.CUDA_ERROR_NOT_READY if self.busy else OK,),
        }

    def __getattr__(self, name):
        if not name.lower().startswith("cu"):
            raise AttributeError(name)

        def call(*args):
            self.calls.append((name, *args))
            answer = self.answers.get(name, (OK, 7))
            return answer(*args) if callable(answer) else answer

        return call

    def named(self, *names):
        return [call for call in self.calls if call[0] in names]

    def _block(self, size):
        self._blocks.append(ctypes.create_string_buffer(size))
        return ctypes.addressof(self._blocks[-1])

    def _copy(self, target, source, size):
        ctypes.memmove(target, source, size)
        return (OK,)


@pytest.fixture
def fake(monkeypatch):
    """A fake driver in place of NVIDIA's."""
    made = FakeDriver()
    monkeypatch.setattr(cuda_driver, "_started", lambda: (made, os.getpid()))
    monkeypatch.setattr(cuda, "_process_faulted", False)
    monkeypatch.delenv("LANEWISE_KEPT_MEMORY")
    return made


@pytest.fixture
def device(fake):
    return cuda.CudaDevice(0)


class Theirs:
    """An array of another library."""

    def __init__(self):
        self.__cuda_array_interface__ = {
            "shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3,
        }  # fmt: skip


@pytest.fixture
def owned(fake):
    """Every foreign address belongs to cuda:0."""
    fake.answers["cuPointerGetAttribute"] = (OK, 0)


def test_every_launch_makes_its_own_context_current(fake, device):
    other = cuda.CudaDevice(1)
    ours, theirs = device.zeros(4, f32), other.zeros(4, f32)
    for array in (ours, theirs, ours):
        kernels.scale[4](array, array, 4, 1.0)
    calls = fake.named("cuCtxSetCurrent", "cuLaunchKernel")
    entered = [before[1] for before, call in itertools.pairwise(calls) if call[0] == "cuLaunchKernel"]
    assert entered == [device._engine._context, other._engine._context, device._engine._context]


def test_freeing_puts_back_the_context_it_found(fake, device):
    array = device.zeros(4, f32)
    fake.calls.clear()
    array.free()
    assert [call[0] for call in fake.calls] == ["cuCtxPushCurrent", "cuMemFreeAsync", "cuCtxPopCurrent"]


def test_memory_that_another_library_knows_is_freed_behind_all_work(fake, device):
    array = device.zeros(4, f32)
    assert array.__cuda_array_interface__["data"] == (array.address, False)
    fake.calls.clear()
    del array
    gc.collect()
    assert [call[0] for call in fake.calls][1:3] == ["cuCtxSynchronize", "cuMemFreeAsync"]


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_foreign_temporary_lives_until_the_stream_is_idle(fake, device, owned, wrapped):
    theirs, out = Theirs(), device.zeros(4, f32)
    alive = weakref.ref(theirs)
    fake.busy = True
    kernels.scale[4](device.wrap(theirs) if wrapped else theirs, out, 4, 1.0)
    del theirs
    gc.collect()
    assert alive() is not None
    assert not device.wait(timeout=0)
    assert alive() is not None
    fake.busy = False
    device.wait()
    assert alive() is None


def test_a_launch_that_is_refused_holds_nothing(fake, device, owned):
    theirs = Theirs()
    alive = weakref.ref(theirs)
    with pytest.raises(lw.ArgumentError):
        kernels.scale[4](theirs, device.zeros(4, i32), 4, 1.0)
    del theirs
    gc.collect()
    assert alive() is None


def test_launches_with_foreign_arrays_are_held_up_to_a_bound(fake, device, owned, monkeypatch):
    monkeypatch.setattr(cuda, "_MOST_HELD", 4)
    monkeypatch.setattr(cuda.time, "sleep", lambda seconds: setattr(fake, "busy", False))
    theirs, out = Theirs(), device.zeros(4, f32)
    fake.busy = True
    for _ in range(4):
        kernels.scale[4](theirs, out, 4, 1.0)
    assert len(device._held) == 4
    kernels.scale[4](theirs, out, 4, 1.0)
    assert not device._held


@pytest.mark.parametrize("takes", [0.0, 70e-6, 1e-3, 10e-3])
def test_a_quiet_wait_sleeps_between_looks_and_ends_an_eighth_too_late_at_most(fake, device, monkeypatch, takes):
    clock = SimpleNamespace(now=0.0)

    def sleep(seconds):
        clock.now += seconds
        fake.busy = clock.now < takes

    monkeypatch.setattr(cuda.time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(cuda.time, "sleep", sleep)
    array = device.zeros(4, f32)
    fake.busy = takes > 0
    launch = kernels.scale[4](array, device.zeros(4, f32), 4, 1.0)
    fake.calls.clear()
    launch.wait_quietly()
    assert takes <= clock.now <= takes * 9 / 8 + 50e-6
    assert len(fake.named("cuStreamQuery")) <= 40


def test_memory_that_the_driver_reads_later_is_copied_first(fake, device):
    array, host = device.empty(4, f32), np.ones(4, np.float32)
    fake.calls.clear()
    array.set(host)
    fake.answers["cuPointerGetAttribute"] = (OK, 1)
    array.set(host)
    pageable, pinned = fake.named("cuMemcpyHtoDAsync")
    assert pageable[2] == host.ctypes.data
    assert pinned[2] != host.ctypes.data


def test_a_gpu_that_is_too_old_is_no_device(monkeypatch):
    old = FakeDriver(capability=(7, 0))
    monkeypatch.setattr(cuda_driver, "_started", lambda: (old, os.getpid()))
    with pytest.raises(lw.NoDeviceError, match=r"^cuda:0 has compute capability 7\.0, kernels need 7\.5 or later; use"):
        cuda.CudaDevice(0)
    assert not old.named("cuDevicePrimaryCtxRetain")


def trap(device, number, thread):
    """What a thread of the kernel loaded as this number does when it traps."""
    loaded = device._engine._functions[number]
    record = np.frombuffer((ctypes.c_char * Traps.size).from_address(loaded.traps), Traps.dtype)
    record["count"], record["first"] = 1, thread << 32
    device._engine._trap_flag.value = 1


def test_traps_of_two_kernels_are_raised_by_two_waits(device):
    x = device.zeros(4, i32)
    kernels.divide[4](x)
    kernels.need_even[4](x)
    trap(device, 0, thread=2)
    trap(device, 1, thread=3)
    with pytest.raises(lw.TrapError, match="in thread 2 of kernel divide"):
        device.wait()
    with pytest.raises(lw.TrapError, match="in thread 3 of kernel need_even"):
        x.get()
    assert device.wait()


def test_a_fault_in_this_process_makes_the_next_device_remote(fake, device):
    fake.answers["cuStreamQuery"] = (Status.CUDA_ERROR_ILLEGAL_ADDRESS,)
    with pytest.raises(lw.DeviceLostError, match="touched memory that is not its own"):
        device.wait()
    assert device.lost
    assert cuda._process_faulted


def test_the_loss_of_a_remote_engine_leaves_this_process_alone(device):
    class Remote:
        alive = False

        def idle(self):
            raise lw.DeviceLostError("the process that drove the GPU ended")

    device._engine = Remote()
    with pytest.raises(lw.DeviceLostError, match="the process that drove"):
        device.wait()
    assert device.lost
    assert not cuda._process_faulted


def test_a_device_that_came_through_a_fork_says_what_to_do_instead():
    script = """
import os, sys
sys.path.insert(0, sys.argv[1])
import kernels, lanewise as lw, test_cuda_engine as fakes
from lanewise.devices import cuda, cuda_driver
started = (fakes.FakeDriver(), os.getpid())
cuda_driver._started = lambda: started
dev = lw.device("cuda")
x, spare = dev.zeros(4, lw.lang.i32), dev.zeros(4, lw.lang.i32)
kernels.divide[4](x)
started[0].calls.clear()
child = os.fork()
if not child:
    uses = [x.get, lambda: x.set([1, 2, 3, 4]), dev.synchronize,
            lambda: kernels.divide[4](x), lambda: kernels.need_even[4](x),
            lambda: dev.zeros(1, "i4"), lambda: x.__cuda_array_interface__,
            cuda.device_count, lambda: lw.device("cuda")]
    for use in uses:
        try:
            use()
        except lw.DeviceError as error:
            print(type(error).__name__, str(error) == cuda_driver.FORKED)
    print(lw.device().name)
    x.free()
    del spare
    print(started[0].calls, flush=True)
    os._exit(0)
os.waitpid(child, 0)
x.free()
dev.synchronize()
print(len(started[0].named("cuMemFreeAsync")))
"""
    command = [sys.executable, "-W", "ignore", "-c", script, str(Path(__file__).parent)]
    clean = {key: value for key, value in os.environ.items() if key != "LANEWISE_DEVICE"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=clean)
    assert done.stderr == ""
    refused = ["DeviceError True"] * 7 + ["NoDeviceError True"] * 2
    assert done.stdout.split("\n") == [*refused, "cpu", "[]", "1", ""]


def test_frees_go_with_the_next_request_and_never_wait_for_the_lock(monkeypatch):
    monkeypatch.setattr("subprocess.Popen", lambda *args, **options: None)
    engine, headers = RemoteEngine(0), []

    def exchange(request):
        engine.free(300, False)  # as garbage collection does on the thread that holds the lock
        header, _ = frames.unpack(bytearray(request))
        headers.append((header["do"], header["freed"]))
        return 0, b""

    monkeypatch.setattr(engine, "_exchange", exchange)
    engine.free(100, False)
    engine.free(200, True)
    engine.idle()
    engine.alloc(8, "")
    assert headers == [("idle", [[100, False], [200, True]]), ("alloc", [[300, False]])]


def test_the_server_frees_before_it_does_what_is_asked(monkeypatch):
    done = []

    class Engine:
        def __init__(self, index):
            pass

        def __getattr__(self, name):
            return lambda *args: done.append((name, *args))

    monkeypatch.setattr(cuda_server, "LocalEngine", Engine)
    cuda_server.Server(0).handle({"do": "alloc", "args": [8, "what"], "freed": [[100, False], [200, True]]}, b"")
    assert done == [("free", 100, False), ("free", 200, True), ("alloc", 8, "what")]


def test_a_program_in_machine_code_is_loaded_as_it_is(fake, device):
    code = b"\x7fELF, made by nvcc -cubin"
    kernel = device.load_native([code], "by hand", "run", "QQiI", 0)
    assert fake.named("cuLinkCreate", "cuLinkAddData") == []
    assert fake.named("cuModuleLoadData") == [("cuModuleLoadData", code)]

    def arguments(*call):
        places = ctypes.cast(call[9], ctypes.POINTER(ctypes.c_void_p))
        kinds = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint32)
        seen.append(([kind.from_address(places[at]).value for at, kind in enumerate(kinds)], call[1], call[4]))
        return (OK,)

    seen = []
    fake.answers["cuLaunchKernel"] = arguments
    device.launch_native(kernel, 1000, 128, [4096, 8192, -3, 1000])
    assert seen == [([4096, 8192, -3, 1000], 8, 128)]


def test_memory_that_was_freed_is_kept_within_a_limit_for_what_comes_next(fake, device):
    small, large = "pool 1 of GPU 0", "pool 2 of GPU 0"
    assert [call[1:] for call in fake.named("cuMemPoolSetAttribute")] == [
        (pool, "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD", 250) for pool in (small, large)
    ]
    device.empty(8, np.uint8)
    assert fake.named("cuMemAllocFromPoolAsync")[-1][1:3] == (8, small)


def test_small_arrays_do_not_break_up_the_room_of_large_ones(fake, device):
    device.empty(2**26 - 1, np.uint8)
    device.empty(2**26, np.uint8)
    assert [call[2] for call in fake.named("cuMemAllocFromPoolAsync")[-2:]] == ["pool 1 of GPU 0", "pool 2 of GPU 0"]


def test_what_is_kept_is_given_up_before_memory_is_short(fake, device):
    room = [500]

    def allocate(size, pool, stream):
        return (OK, fake._block(8)) if size <= room[0] else (Status.CUDA_ERROR_OUT_OF_MEMORY, None)

    def trim(pool, keep):
        room[0] += 250
        return (OK,)

    fake.answers |= {"cuMemAllocFromPoolAsync": allocate, "cuMemPoolTrimTo": trim}
    device.empty(400, np.uint8)
    assert fake.named("cuMemPoolTrimTo") == []
    device.empty(800, np.uint8)
    assert [call[1:] for call in fake.named("cuMemPoolTrimTo")] == [("pool 1 of GPU 0", 0), ("pool 2 of GPU 0", 0)]
    with pytest.raises(lw.OutOfMemoryError):
        device.empty(2000, np.uint8)


@pytest.mark.parametrize("short", ["cuCtxSetLimit", "cuModuleLoadData", "cuMemAlloc", "cuLaunchKernel"])
def test_what_is_kept_is_given_up_for_stacks_code_and_launches_as_well(fake, device, short):
    usual = fake.answers.get(short, lambda *given: (OK, fake._block(8)))
    full = [True]

    def ask(*given):
        if full[0]:
            return (Status.CUDA_ERROR_OUT_OF_MEMORY, None)[: 1 if short in ("cuCtxSetLimit", "cuLaunchKernel") else 2]
        return usual(*given) if callable(usual) else usual

    def trim(pool, keep):
        full[0] = False
        return (OK,)

    fake.answers |= {short: ask, "cuMemPoolTrimTo": trim, "cuCtxGetLimit": (OK, 1024)}
    device._engine.load(bundle([b"code"]), "deep", "entry", [], "", 4096)
    array = device.zeros(4, f32)
    kernels.scale[4](array, array, 4, 1.0)
    assert not full[0]


@pytest.mark.parametrize("own", [False, True])
def test_kernels_are_asked_to_stop_by_their_own_word_or_by_that_of_all(fake, device, own):
    asked = []

    def poke(address, source, nbytes, stream):
        asked.append((address, ctypes.c_uint64.from_address(source).value))
        fake.busy = False
        return (OK,)

    fake.answers["cuMemcpyHtoDAsync"] = poke
    word = device.zeros(1, np.uint64).address if own else None
    fake.busy = True
    assert not device.finish_or_stop(0.001, word)
    at = word or device.stop_word
    assert asked == [(at, 1), (at, 0)]
    assert device.finish_or_stop(0.001, word)
    assert len(asked) == 2


def test_how_much_is_kept_is_the_users_to_say(fake, monkeypatch):
    kept = []
    fake.answers["cuMemPoolSetAttribute"] = lambda pool, name, value: kept.append(value) or (OK,)
    cuda.CudaDevice(0)
    monkeypatch.setenv("LANEWISE_KEPT_MEMORY", "100")
    cuda.CudaDevice(1)
    assert kept == [250, 250, 100, 100]
    monkeypatch.setenv("LANEWISE_KEPT_MEMORY", "some")
    with pytest.raises(lw.LanewiseError, match="LANEWISE_KEPT_MEMORY is 'some'; write a number of bytes"):
        cuda.CudaDevice(0)


@pytest.mark.parametrize("there_is_some", [True, False])
def test_arrays_of_middle_size_come_by_way_of_memory_that_is_kept_if_there_is_any(fake, device, there_is_some):
    if not there_is_some:
        fake.answers["cuMemHostAlloc"] = (Status.CUDA_ERROR_OUT_OF_MEMORY, None)
    array = device.empty(100_000, np.uint8)
    ctypes.memset(array.address, 7, 100_000)
    before = len(fake.named("cuMemHostAlloc"))
    for _ in range(2):
        assert (array.get() == 7).all()
    assert device.empty(100, np.uint8).get().shape == (100,)
    assert len(fake.named("cuMemHostAlloc")) == before + 1
    targets = [call[1] for call in fake.named("cuMemcpyDtoH")][-3:]
    assert (targets[0] == targets[1]) or not there_is_some
