"""The kernel as code for one target: compiled once, kept in the cache, linked with every program."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from lanewise import lang
from lanewise.compiler import Cache, Target, compile_module, default_cache
from lanewise.kernel import (
    descriptors,
    gpu_buffers,
    gpu_debug,
    gpu_math,
    gpu_threads,
    host_ring,
    threads,
    wasi_files,
    wasi_paths,
    wasi_poll,
    wasi_process,
    wasi_streams,
)
from lanewise.lang.abi import Abi
from lanewise.lang.abi_host import RuntimeAbi
from lanewise.lang.abi_nvptx import LibraryNvptxAbi
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.program import lower_library

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


HOST_RING = (host_ring.lw_ring_ready, host_ring.lw_ring_answer)
"""The host's own functions, for its end of the ring."""


def kernel_code(target: Target) -> bytes:
    """The kernel for a target: an object file, or PTX to be linked."""
    return _cached("kernel", target, lambda: kernel_ir(target))


def host_ring_code() -> bytes:
    """The host's end of the ring as an object file."""
    return _cached("host ring", Target.host(), lambda: lower_library(HOST_RING, _HostLibraryAbi()))


def _cached(name: str, target: Target, ir: Callable[[], str]) -> bytes:
    cache = default_cache()
    key = Cache.key_of(name, target.key, _sources())
    code = cache.get(key)
    if code is None:
        code = compile_module(ir(), target, name=name, cache=None).code
        cache.put(key, code)
    return code


def kernel_ir(target: Target) -> str:
    """The kernel as LLVM IR."""
    abi: Abi = LibraryNvptxAbi() if target.kind == "nvptx" else _HostLibraryAbi()
    return lower_library([*WASI.values(), *GPU.values(), *THREADS.values(), *_ENTRIES], abi)


class _HostLibraryAbi(RuntimeAbi):
    """Plain functions that guest programs call; they end no lane by themselves."""

    def preamble(self) -> str:
        return "declare i64 @lw_time_ns() nounwind\n"


@functools.cache
def _sources() -> str:
    """Size and time of every file that the kernel's code depends on."""
    folder, language = Path(__file__).parent, Path(str(lang.__file__)).parent
    files = [*sorted(folder.glob("*.py")), *sorted(language.glob("*.py")), folder.parent / "settings.py"]
    return repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files])
