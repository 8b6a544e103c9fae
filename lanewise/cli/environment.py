"""What Lanewise runs on: versions, the cache of compiled code, the assembler, the machine."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from lanewise import settings
from lanewise.compiler import _llvm, find_ptxas
from lanewise.devices import Device
from lanewise.version import __version__


def versions() -> dict[str, str | None]:
    """The versions that decide what Lanewise does here; None for an optional package that is not installed."""
    return {
        "lanewise": __version__,
        "python": platform.python_version(),
        "llvm": ".".join(map(str, _llvm.binding().llvm_version_info)),
        **{package: _installed(package) for package in ("llvmlite", "numpy", "cuda-bindings")},
    }


def peer_versions() -> dict[str, str | None]:
    """The versions of the peers that benchmarks compare with; CuPy's packages are named after a CUDA version."""
    cupy = next(filter(None, map(_installed, _CUPY_PACKAGES)), None)
    return {"cupy": cupy, **{package: _installed(package) for package in ("numpy", "numba", "wasmtime")}}


_CUPY_PACKAGES = ("cupy", "cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x")


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def cache() -> dict[str, Any]:
    """Where compiled code is kept, how many bytes are there and how many may be."""
    directory = settings.cache_dir()
    return {"directory": str(directory), "bytes": _bytes_under(directory), "limit": settings.cache_limit()}


def _bytes_under(directory: Path) -> int:
    total = 0
    for folder, _, files in os.walk(directory):  # skips what cannot be read
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue  # another process has just removed it
    return total


def ptxas() -> str | None:
    """The path of the CUDA toolkit's assembler, which is optional."""
    return find_ptxas()


def machine(cpu: Device) -> dict[str, Any]:
    """The computer, as benchmark figures name it."""
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": cpu.properties.name,
        "cores": cpu.properties.cores,
        "memory_bytes": cpu.properties.memory_bytes,
    }
