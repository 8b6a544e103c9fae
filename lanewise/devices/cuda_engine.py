"""The CUDA driver at work in this process: memory, copies, loaded functions and launches on one stream of one GPU.

`CudaDevice` stands on an engine. This is the ordinary one; after a fault, which breaks CUDA for the whole process, the
engine of `cuda_remote` runs another copy of this one in a process of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import struct
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from lanewise import settings
from lanewise.compiler import Cache, assemble_pieces, default_cache, find_ptxas, most_registers, unbundle
from lanewise.compiler.targets import OLDEST_SM
from lanewise.devices.cubin import largest_frame
from lanewise.devices.cuda_driver import check, driver, error_of
from lanewise.errors import CompileError, DeviceError, DeviceLostError, NoDeviceError
from lanewise.lang.lane import NO_TRAP, Traps

_WORTH_ASSEMBLING = 2
"""Pieces of a program from which assembling them at the same time is worth starting processes."""
_LOG_BYTES = 16 * 1024
_MACHINE_CODE = b"\x7fELF"
"""How machine code begins; PTX is text."""
_LARGE_BYTES = 64 * 2**20
"""Arrays from this size on do not lie among small ones: those that live on would break up the room that large ones
leave, and the next of them would find none that is long enough."""
_KEPT_SMALL = 4 * _LARGE_BYTES
_STAGED_FROM, _STAGED_BYTES = 64 * 1024, 8 * 2**20
"""Arrays of these sizes come to the host by way of memory that the GPU writes to itself, which is kept: by the driver's
own way a copy of 2 MB took longer than a millisecond."""
_HIDDEN = "I4xQ"
"""What follows a kernel's own arguments: the number of threads and the address of its trap record."""


class CudaFunction:
    """A loaded kernel: where its arguments are packed and where its threads record traps."""

    def __init__(self, module: Any, function: Any, traps: int, offsets: Sequence[int], layout: str) -> None:
        self.module = module
        self.function = function
        self.traps = traps
        self.frame_bytes = 0
        self.layout = struct.Struct(layout + _HIDDEN)
        size = struct.calcsize(layout)
        self.block = ctypes.create_string_buffer(self.layout.size)
        base = ctypes.addressof(self.block)
        addresses = [base + offset for offset in (*offsets, size, size + 8)]
        self._pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        self.parameters = ctypes.addressof(self._pointers)


class MappedMemory:
    """Memory that host and device both see: an array here, an address there. It is never moved."""

    def __init__(self, host: int, nbytes: int, address: int, owner: Any, release: Callable[[], None]) -> None:
        memory: Any = (ctypes.c_uint8 * nbytes).from_address(host)
        self.array = np.frombuffer(memory, np.uint8)
        self.host = host
        self.address = address
        self._owner = owner
        self._release = release

    def close(self) -> None:
        """Give it back; no kernel may use it any more."""
        self._release()


class Engine(Protocol):
    """What `CudaDevice` needs of a GPU, in this process or in another."""

    stream_handle: int | None
    stop_word: int
    """Where kernels look whether they are to stop; 0 if they cannot be asked."""
    alive: bool
    """False once the device faulted: no operation works any more."""

    def describe(self) -> dict[str, Any]:
        """Name, attributes and driver version."""

    def alloc(self, nbytes: int, what: str) -> int:
        """Reserve memory."""

    def free(self, address: int, shared: bool) -> None:
        """Give memory back behind the work before it; if another library may use it, behind that one's work too.

        Garbage collection calls it in the middle of anything, on any thread.
        """

    def copy_in(self, address: int, source: np.ndarray[Any, Any]) -> None:
        """Host to device, in order with launches; the source may be changed at once."""

    def copy_out(self, target: np.ndarray[Any, Any], address: int) -> None:
        """Device to host; the stream must be idle, and is again afterwards."""

    def peek(self, target: np.ndarray[Any, Any], address: int) -> None:
        """Device to host while kernels run: what they have written by now."""

    def poke(self, address: int, source: np.ndarray[Any, Any]) -> None:
        """Host to device while kernels run; they see it when it returns."""

    def alloc_mapped(self, nbytes: int) -> MappedMemory:
        """Memory of the host that kernels see, too, all zero."""

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Device to device, in order with launches."""

    def fill(self, address: int, byte: int, nbytes: int) -> None:
        """Set bytes, in order with launches."""

    def assemble_ahead(self, programs: Sequence[bytes], name: str) -> None:
        """Have machine code for programs that will be loaded, on all cores where that is possible."""

    def frame_bytes(self, handle: Any) -> int:
        """Stack that the largest frame among the functions of a loaded kernel's program takes."""

    def groups_at_once(self, handle: Any, group_size: int) -> int:
        """How many groups of a loaded kernel a multiprocessor has room for."""

    def load(self, ptx: bytes, name: str, entry: str, offsets: Sequence[int], layout: str, stack: int) -> Any:
        """Assemble and load a kernel whose arguments have this layout and offsets; gives a handle for launches.

        `ptx` is a `bundle` of modules, which are linked if there are several, or of one whole program as machine code.
        """

    def launch(
        self, handle: Any, groups: int, group_size: int, threads: int, values: Sequence[Any], stream: int = 0
    ) -> None:
        """Start a kernel."""

    def ask_to_stop(self, stop: bool, word: int) -> None:
        """Ask kernels that look at a word to end, or let later ones run."""

    def idle(self, stream: int = 0) -> bool:
        """Whether all work is done."""

    def take_traps(self) -> list[tuple[Any, int, int]]:
        """Handle, count and first record of each kernel whose threads trapped since the last call."""

    def owner_of(self, address: int) -> int:
        """Which GPU a foreign address belongs to."""

    def wait_for(self, stream: int) -> None:
        """Wait for another library's stream."""


class LocalEngine:
    """The driver in this process, on the primary context, which other libraries use too."""

    def __init__(self, index: int) -> None:
        api = self._api = driver()
        self.alive = True
        self._handle = self._check(api.cuDeviceGet(index))
        major, minor = self._attribute("COMPUTE_CAPABILITY_MAJOR"), self._attribute("COMPUTE_CAPABILITY_MINOR")
        if major * 10 + minor < OLDEST_SM:
            raise NoDeviceError(
                f"cuda:{index} has compute capability {major}.{minor}, kernels need {OLDEST_SM // 10}.{OLDEST_SM % 10} "
                "or later; use the device cpu"
            )
        self._context = self._check(api.cuDevicePrimaryCtxRetain(self._handle))
        self._lock = threading.Lock()
        self._staging = threading.Lock()
        self._stage: int | None = None
        """Where arrays come to the host, once that is needed."""
        self._functions: list[CudaFunction] = []
        self._images: dict[bytes, Any] = {}
        self._enter()
        # Work on this stream does not wait for other streams, nor they for it.
        self._stream = self._check(api.cuStreamCreate(api.CUstream_flags.CU_STREAM_NON_BLOCKING))
        self.stream_handle: int | None = int(self._stream)
        self._side_stream = self._check(api.cuStreamCreate(api.CUstream_flags.CU_STREAM_NON_BLOCKING))
        self._streams = [self._stream]
        self._event = self._check(api.cuEventCreate(api.CUevent_flags.CU_EVENT_DISABLE_TIMING))
        kept = settings.kept_memory(int(self._check(api.cuDeviceTotalMem(self._handle))))
        self._pools = [self._make_pool(index, min(kept, _KEPT_SMALL)), self._make_pool(index, kept)]
        """Of small arrays, and of large ones."""
        flags = api.CU_MEMHOSTALLOC_DEVICEMAP | api.CU_MEMHOSTALLOC_PORTABLE
        self._trap_flag = ctypes.c_uint64.from_address(int(self._check(api.cuMemHostAlloc(8, flags))))
        self._trap_flag.value = 0
        # Kernels look at it often, so it is in their own memory: a look at the host's takes thousands of cycles.
        self.stop_word = int(self._check(api.cuMemAlloc(8)))
        self.ask_to_stop(False, self.stop_word)

    def _check(self, result: Any, what: str = "") -> Any:
        """The value of a driver call, or an error; a fault is remembered, since nothing works after it."""
        if result[0]:
            raise self._failure(result[0], what)
        return result[1] if len(result) == 2 else None

    def _failure(self, status: Any, what: str = "") -> DeviceError:
        error = error_of(status, what)
        if isinstance(error, DeviceLostError):
            self.alive = False
        return error

    def _enter(self) -> None:
        """Make the context current on the calling thread: other GPUs and libraries may have left theirs."""
        (status,) = self._api.cuCtxSetCurrent(self._context)
        if status:
            raise self._failure(status)

    def _attribute(self, name: str) -> int:
        which = getattr(self._api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._check(self._api.cuDeviceGetAttribute(which, self._handle)))

    def describe(self) -> dict[str, Any]:
        api, attribute = self._api, self._attribute
        return {
            "name": self._check(api.cuDeviceGetName(128, self._handle)).split(b"\0")[0].decode(),
            "cores": attribute("MULTIPROCESSOR_COUNT"),
            "threads": attribute("MAX_THREADS_PER_MULTIPROCESSOR"),
            "group": attribute("MAX_THREADS_PER_BLOCK"),
            "major": attribute("COMPUTE_CAPABILITY_MAJOR"),
            "minor": attribute("COMPUTE_CAPABILITY_MINOR"),
            "watchdog": attribute("KERNEL_EXEC_TIMEOUT"),
            "cache": attribute("L2_CACHE_SIZE"),
            "memory": int(self._check(api.cuDeviceTotalMem(self._handle))),
            "driver": int(self._check(api.cuDriverGetVersion())),
        }

    def _make_pool(self, index: int, kept: int) -> Any:
        """Memory that was freed is kept for what comes next: to map 17 GB anew takes longer than many calls run."""
        api = self._api
        wanted = api.CUmemPoolProps()
        wanted.allocType = api.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        wanted.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        wanted.location.id = index
        pool = self._check(api.cuMemPoolCreate(wanted))
        threshold = api.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        self._check(api.cuMemPoolSetAttribute(pool, threshold, api.cuuint64_t(kept)))
        return pool

    def alloc(self, nbytes: int, what: str) -> int:
        self._enter()
        api, size = self._api, max(nbytes, 1)
        pool = self._pools[size >= _LARGE_BYTES]
        return int(self._check(self._with_room(lambda: api.cuMemAllocFromPoolAsync(size, pool, self._stream)), what))

    def _with_room(self, ask: Callable[[], Any]) -> Any:
        """What the driver answers; where it has no memory left, once more after giving back what is kept, which may lie
        in pieces that are too small, or be nothing for stacks and code."""
        answer = ask()
        if answer[0] != self._api.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            return answer
        if self.idle():  # frees count once somebody has waited for them; a kernel that runs is not waited for
            self._check(self._api.cuStreamSynchronize(self._stream))
        for kept in self._pools:
            self._check(self._api.cuMemPoolTrimTo(kept, 0))
        return ask()

    def free(self, address: int, shared: bool) -> None:
        api = self._api
        # A finalizer may run between another engine's `_enter` and its call, so the context found is put back.
        self._check(api.cuCtxPushCurrent(self._context))
        try:
            if shared:  # another library's streams are not known, and no kind of free waits for them
                self._check(api.cuCtxSynchronize())
            # In order on the stream: freeing an array of our own never waits for a kernel that still runs.
            self._check(api.cuMemFreeAsync(address, self._stream))
        finally:
            api.cuCtxPopCurrent()

    def copy_in(self, address: int, source: np.ndarray[Any, Any]) -> None:
        # From pageable memory the driver takes the bytes before it returns; from memory that it knows, such as pinned
        # arrays of other libraries, it reads them later.
        self._enter()
        attribute = self._api.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
        unknown = self._api.cuPointerGetAttribute(attribute, source.ctypes.data)[0]
        if not unknown:
            source = source.copy()
        self._check(self._api.cuMemcpyHtoDAsync(address, source.ctypes.data, source.nbytes, self._stream))

    def copy_out(self, target: np.ndarray[Any, Any], address: int) -> None:
        self._enter()
        if not (_STAGED_FROM <= target.nbytes <= _STAGED_BYTES and self._copied_by_stage(target, address)):
            self._check(self._api.cuMemcpyDtoH(target.ctypes.data, address, target.nbytes))

    def _copied_by_stage(self, target: np.ndarray[Any, Any], address: int) -> bool:
        """Copy an array by way of memory that is kept for it; False if the system has none to give."""
        with self._staging:
            if self._stage is None:
                status, place = self._api.cuMemHostAlloc(_STAGED_BYTES, 0)
                self._stage = 0 if status else int(place)
            if self._stage:
                self._check(self._api.cuMemcpyDtoH(self._stage, address, target.nbytes))
                ctypes.memmove(target.ctypes.data, self._stage, target.nbytes)
            return bool(self._stage)

    def peek(self, target: np.ndarray[Any, Any], address: int) -> None:
        self._enter()
        self._check(self._api.cuMemcpyDtoHAsync(target.ctypes.data, address, target.nbytes, self._side_stream))
        self._check(self._api.cuStreamSynchronize(self._side_stream))

    def poke(self, address: int, source: np.ndarray[Any, Any]) -> None:
        self._enter()
        self._check(self._api.cuMemcpyHtoDAsync(address, source.ctypes.data, source.nbytes, self._side_stream))
        self._check(self._api.cuStreamSynchronize(self._side_stream))

    def alloc_mapped(self, nbytes: int) -> MappedMemory:
        self._enter()
        flags = self._api.CU_MEMHOSTALLOC_DEVICEMAP | self._api.CU_MEMHOSTALLOC_PORTABLE
        host = int(self._check(self._api.cuMemHostAlloc(nbytes, flags)))
        ctypes.memset(host, 0, nbytes)
        return MappedMemory(host, nbytes, host, None, lambda: self._free_mapped(host))

    def _free_mapped(self, host: int) -> None:
        if self.alive:
            self._enter()
            self._check(self._api.cuMemFreeHost(host))

    def register(self, host: int, nbytes: int) -> int:
        """Have kernels see memory of the host that somebody else made; gives its address on the device."""
        self._enter()
        flags = self._api.CU_MEMHOSTREGISTER_DEVICEMAP | self._api.CU_MEMHOSTREGISTER_PORTABLE
        self._check(self._api.cuMemHostRegister(host, nbytes, flags))
        return int(self._check(self._api.cuMemHostGetDevicePointer(host, 0)))

    def copy(self, target: int, source: int, nbytes: int) -> None:
        self._enter()
        self._check(self._api.cuMemcpyDtoDAsync(target, source, nbytes, self._stream))

    def fill(self, address: int, byte: int, nbytes: int) -> None:
        self._enter()
        self._check(self._api.cuMemsetD8Async(address, byte, nbytes, self._stream))

    def load(self, ptx: bytes, name: str, entry: str, offsets: Sequence[int], layout: str, stack: int) -> CudaFunction:
        self._enter()
        api = self._api
        cubin = self._assembled(ptx, name)
        if stack:
            limit = api.CUlimit.CU_LIMIT_STACK_SIZE
            if int(self._check(api.cuCtxGetLimit(limit))) < stack:  # it costs that much for every resident thread
                set_limit = self._with_room(lambda: api.cuCtxSetLimit(limit, stack))
                self._check(set_limit, f"stacks for the recursion of kernel {name}")
        if cubin not in self._images:  # kernels of one program share its code, so that function addresses agree
            self._images[cubin] = self._check(self._with_room(lambda: api.cuModuleLoadData(cubin)))
        module = self._images[cubin]
        traps = int(self._check(self._with_room(lambda: api.cuMemAlloc(Traps.size))))
        function = self._check(api.cuModuleGetFunction(module, entry.encode()))
        loaded = CudaFunction(module, function, traps, offsets, layout)
        loaded.frame_bytes = largest_frame(cubin)
        self._clear_traps(loaded)
        self._functions.append(loaded)
        return loaded

    def frame_bytes(self, handle: CudaFunction) -> int:
        return handle.frame_bytes

    def groups_at_once(self, handle: CudaFunction, group_size: int) -> int:
        self._enter()
        found = self._api.cuOccupancyMaxActiveBlocksPerMultiprocessor(handle.function, group_size, 0)
        return int(self._check(found))

    def _assembled(self, ptx: bytes, name: str, least: int = _WORTH_ASSEMBLING) -> bytes:
        """Machine code for this GPU, from the cache or by the driver's own linker: no toolkit is needed."""
        version, cache = self._check(self._api.cuDriverGetVersion()), default_cache()
        key = Cache.key_of("cubin", str(version), str(self.describe()["name"]), ptx)
        cubin = cache.get(key)
        if cubin is None:
            cubin = self._linked(unbundle(ptx), name, least)
            cache.put(key, cubin)
        return cubin

    def assemble_ahead(self, programs: Sequence[bytes], name: str) -> None:
        # The pieces of large programs are assembled on all cores as they are, and would be on more than there are.
        if find_ptxas() is not None and all(len(unbundle(ptx)) < _WORTH_ASSEMBLING for ptx in programs):
            with ThreadPoolExecutor(settings.cpu_threads()) as pool:
                list(pool.map(lambda ptx: self._assemble_one(ptx, name), programs))

    def _assemble_one(self, ptx: bytes, name: str) -> None:
        self._enter()
        with contextlib.suppress(CompileError):  # whoever loads it hears why
            self._assembled(ptx, name, least=1)

    def _linked(self, pieces: list[bytes], name: str, least: int) -> bytes:
        """Machine code of a program; the pieces of a large one, `least` or more, are assembled on all cores by ptxas.

        Where that is not there the driver assembles one after the other. Machine code alone is a whole program.
        """
        if len(pieces) == 1 and pieces[0].startswith(_MACHINE_CODE):
            return pieces[0]  # the linker would take code that is not to be linked for nothing, and say nothing
        registers = most_registers(pieces)
        if len(pieces) >= least and find_ptxas() is not None:
            facts = self.describe()
            sm = facts["major"] * 10 + facts["minor"]
            try:
                return _link(self._api, assemble_pieces(pieces, sm), name, registers)
            except CompileError:
                pass  # a toolkit that the driver does not understand: the driver has an assembler of its own
        return _link(self._api, pieces, name, registers)

    def launch(
        self, handle: CudaFunction, groups: int, group_size: int, threads: int, values: Sequence[Any], stream: int = 0
    ) -> None:
        self._enter()
        on = self._numbered(stream)
        with self._lock:  # the block of arguments is one per kernel; the driver has read it when the call returns
            if stream:  # what was allocated and copied for the kernel is there first
                self._check(self._api.cuEventRecord(self._event, self._stream))
                self._check(self._api.cuStreamWaitEvent(on, self._event, 0))
            handle.layout.pack_into(handle.block, 0, *values, threads, handle.traps)
            (status,) = self._with_room(
                lambda: self._api.cuLaunchKernel(
                    handle.function, groups, 1, 1, group_size, 1, 1, 0, on, handle.parameters, 0
                )
            )
        if status:
            raise self._failure(status, "starting a kernel")

    def _numbered(self, stream: int) -> Any:
        """A stream by its number: 0 is the one that all work is on that must be in order."""
        while len(self._streams) <= stream:
            self._streams.append(self._check(self._api.cuStreamCreate(self._api.CUstream_flags.CU_STREAM_NON_BLOCKING)))
        return self._streams[stream]

    def ask_to_stop(self, stop: bool, word: int) -> None:
        self.poke(word, np.array([stop], np.uint64).view(np.uint8))

    def idle(self, stream: int = 0) -> bool:
        self._enter()
        (status,) = self._api.cuStreamQuery(self._numbered(stream))
        if status == self._api.CUresult.CUDA_ERROR_NOT_READY:
            return False
        if status:
            raise self._failure(status)
        return True

    def take_traps(self) -> list[tuple[Any, int, int]]:
        if not self._trap_flag.value:
            return []
        self._enter()
        self._trap_flag.value = 0
        found = []
        for loaded in self._functions:
            record = Traps.record()
            self._check(self._api.cuMemcpyDtoH(record.ctypes.data, loaded.traps, Traps.size))
            if record["count"]:
                found.append((loaded, int(record["count"]), int(record["first"])))
                self._clear_traps(loaded)
        return found

    def _clear_traps(self, loaded: CudaFunction) -> None:
        record = Traps.record()
        record["first"] = NO_TRAP
        record["flag"] = ctypes.addressof(self._trap_flag)
        self._check(self._api.cuMemcpyHtoD(loaded.traps, record.ctypes.data, Traps.size))

    def owner_of(self, address: int) -> int:
        self._enter()
        attribute = self._api.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return int(self._check(self._api.cuPointerGetAttribute(attribute, address)))

    def wait_for(self, stream: int) -> None:
        self._enter()
        self._check(self._api.cuStreamSynchronize(self._api.CUstream(stream)))


def _link(api: Any, pieces: Sequence[bytes], name: str, registers: int) -> bytes:
    # No options that the driver writes back to: the bindings free their memory when cuLinkCreate returns.
    options = {api.CUjit_option.CU_JIT_MAX_REGISTERS: registers} if registers else {}
    state = check(api.cuLinkCreate(len(options), list(options), list(options.values())))
    try:
        for part in pieces:
            assembled = part.startswith(_MACHINE_CODE)
            kind = api.CUjitInputType.CU_JIT_INPUT_CUBIN if assembled else api.CUjitInputType.CU_JIT_INPUT_PTX
            text = part if assembled else part + b"\0"
            (status,) = api.cuLinkAddData(state, kind, text, len(text), name.encode(), 0, [], [])
            if status:
                why = _refusal(api, text)
                raise CompileError(f"kernel {name}: the CUDA driver refused its PTX ({status.name}): {why}")
        address, size = check(api.cuLinkComplete(state))
        return ctypes.string_at(int(address), int(size))
    finally:
        api.cuLinkDestroy(state)


def _refusal(api: Any, text: bytes) -> str:
    """The assembler's own words on PTX that it refused, by loading it once more with room for a log."""
    log = bytearray(_LOG_BYTES)
    option = api.CUjit_option
    options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    api.cuModuleLoadDataEx(text, len(options), options, [log, _LOG_BYTES])
    return bytes(log).split(b"\0")[0].decode(errors="replace").strip()
