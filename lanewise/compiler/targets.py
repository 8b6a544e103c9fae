"""What code is made for: the machine that runs this process, or an NVIDIA GPU of some generation."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal

from lanewise.compiler import _llvm
from lanewise.errors import CompileError

NVPTX_TRIPLE = "nvptx64-nvidia-cuda"
NVPTX_DATA_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
OLDEST_SM = 75
"""The oldest GPU generation that ptxas 13 takes."""

_PTX_BASE = 80
"""PTX 8.0 came with CUDA 12.0, the oldest driver that the `cuda` extra works with: every such driver reads it."""
_PTX_NEEDED = {
    75: 63,
    80: 70,
    86: 71,
    87: 74,
    88: 90,
    89: 78,
    90: 78,
    100: 86,
    101: 86,
    103: 88,
    110: 90,
    120: 87,
    121: 88,
}
"""The GPU generations LLVM 22 knows, each with the first PTX version that has it; LLVM aborts on an older one."""

_HOST_ARCHITECTURES = ("x86_64", "aarch64", "arm64")


@dataclass(frozen=True)
class Target:
    """A machine to compile for; equal targets give equal code."""

    kind: Literal["host", "nvptx"]
    triple: str
    cpu: str
    features: str
    data_layout: str
    ptx: int = 0
    """PTX version times ten, such as 80 for 8.0; 0 on the host."""

    @staticmethod
    def host() -> Target:
        """The CPU that this process runs on, with everything it can do."""
        return _host()

    @staticmethod
    def nvptx(sm: int = 90) -> Target:
        """NVIDIA GPUs of compute capability `sm` (90 for 9.0) and later.

        A generation that LLVM does not know yet gets the newest older one: PTX runs on every later GPU.
        """
        if sm < OLDEST_SM:
            raise CompileError(
                f"sm_{sm} is too old: code is made for NVIDIA GPUs of compute capability "
                f"{OLDEST_SM // 10}.{OLDEST_SM % 10} (Turing) and later; use the CPU device on this machine"
            )
        known = max(generation for generation in _PTX_NEEDED if generation <= sm)
        ptx = max(_PTX_BASE, _PTX_NEEDED[known])
        return Target("nvptx", NVPTX_TRIPLE, f"sm_{known}", f"+ptx{ptx}", NVPTX_DATA_LAYOUT, ptx)

    @property
    def key(self) -> str:
        """All that decides what code comes out, as text for cache keys."""
        return "\n".join((self.kind, self.triple, self.cpu, self.features, self.data_layout, _llvm.version()))

    def machine(self, level: int = 3) -> Any:
        """Return the llvmlite TargetMachine for this target, one per process and level; use it under `_llvm.lock`."""
        return _machine(self, level)


@functools.cache
def _host() -> Target:
    llvm = _llvm.binding()
    triple = llvm.get_process_triple()
    if not triple.startswith(_HOST_ARCHITECTURES):
        raise CompileError(f"this machine is {triple}; the CPU device runs on x86-64 and AArch64 only")
    cpu = llvm.get_host_cpu_name()
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # some systems do not tell; the CPU's name then stands for what it can do
        features = ""
    described = Target("host", triple, cpu, features, data_layout="")
    return Target("host", triple, cpu, features, str(described.machine().target_data))


@functools.cache
def _machine(target: Target, level: int) -> Any:
    llvm = _llvm.binding()
    with _llvm.lock:
        return llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu,
            features=target.features,
            opt=level,
            reloc="pic" if target.kind == "host" else "default",
            codemodel="small" if target.kind == "host" else "default",
        )
