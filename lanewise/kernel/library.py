"""What the kernel consists of, and its LLVM IR."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from lanewise.compiler import Target
from lanewise.kernel import (
    descriptors,
    gpu_buffers,
    gpu_debug,
    gpu_math,
    gpu_threads,
    host_copies,
    host_ring,
    threads,
    wasi_files,
    wasi_paths,
    wasi_poll,
    wasi_process,
    wasi_streams,
)
from lanewise.kernel.code import Signatures
from lanewise.lang.abi import Abi
from lanewise.lang.abi_host import RuntimeAbi
from lanewise.lang.abi_nvptx import LibraryNvptxAbi
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.program import lower_library
from lanewise.lang.types import VOID

_WASI_MODULES = (wasi_process, wasi_streams, wasi_files, wasi_paths, wasi_poll)
_GPU_MODULES = (gpu_threads, gpu_buffers, gpu_math, gpu_debug)


def _named(prefix: str, modules: Sequence[ModuleType]) -> dict[str, DeviceFunction]:
    """Functions of the kernel whose names begin so, without that."""
    return {
        name.removeprefix(prefix): function
        for module in modules
        for name, function in vars(module).items()
        if isinstance(function, DeviceFunction) and name.startswith(prefix)
    }


WASI = _named("wasi_", _WASI_MODULES)
"""The functions of WASI preview 1."""
GPU = _named("gpu_", _GPU_MODULES)
"""The GPU vocabulary for guests."""
THREADS = {"thread-spawn": threads.threads_spawn}
"""wasi-threads."""
_ENTRIES = (
    descriptors.kernel_begin,
    descriptors.kernel_join,
    descriptors.kernel_end,
    threads.kernel_thread_wait,
    threads.kernel_thread_argument,
    threads.kernel_thread_done,
    threads.kernel_look,
    threads.kernel_wait,
    threads.kernel_notify,
)


def kernel_ir(target: Target) -> str:
    """The kernel as LLVM IR."""
    abi: Abi = LibraryNvptxAbi() if target.kind == "nvptx" else _HostLibraryAbi()
    return lower_library([*WASI.values(), *GPU.values(), *THREADS.values(), *_ENTRIES], abi)


class _HostLibraryAbi(RuntimeAbi):
    """Plain functions that guest programs call; they end no lane by themselves."""

    def preamble(self) -> str:
        return "declare i64 @lw_time_ns() nounwind\n"


def host_ring_ir() -> str:
    """The host's end of the ring as LLVM IR."""
    return lower_library([host_ring.lw_ring_ready, host_ring.lw_ring_answer], _HostLibraryAbi())


def host_copies_ir() -> str:
    """What opens files for lanes on the host, as LLVM IR."""
    return lower_library([host_copies.lw_host_answer], _HostLibraryAbi())


_VALUES = {"u32": "i32", "i32": "i32", "u64": "i64", "i64": "i64", "f32": "f32", "f64": "f64"}


def find_signatures() -> Signatures:
    """What guests can import, from the functions themselves."""
    modules = {"wasi_snapshot_preview1": WASI, "wasi": THREADS, "gpu": GPU}
    return {
        module: {name: _signature(function) for name, function in functions.items()}
        for module, functions in modules.items()
    }


def _signature(function: DeviceFunction) -> tuple[str, list[str], list[str]]:
    """A function as guests see it: without the lane's own structure, which comes first."""
    _, *parameters = function.parameters.values()
    results = [] if function.result is VOID else [_VALUES[str(function.result)]]
    return function.name, [_VALUES[str(one)] for one in parameters], results
