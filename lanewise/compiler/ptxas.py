"""Check PTX with the CUDA toolkit's assembler, where it is installed: registers and spills are known without a GPU."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lanewise import settings
from lanewise.compiler.cache import Cache, default_cache
from lanewise.errors import CompileError

_MOST_REGISTERS = re.compile(rb"^\.maxnreg (\d+)$", re.MULTILINE)
"""What a kernel says of the registers that its threads may have; functions cannot say it."""
_KERNEL = re.compile(r"Compiling entry function '([^']+)'[^\n]*\n(.*?)(?=Compiling entry|\Z)", re.DOTALL)


@dataclass(frozen=True)
class KernelUsage:
    """What one kernel takes of a GPU: registers per thread, and bytes."""

    registers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int


@dataclass(frozen=True)
class PtxasReport:
    """What ptxas made of a module: the kernels by name, and the machine code."""

    kernels: Mapping[str, KernelUsage]
    cubin: bytes


def find_ptxas() -> str | None:
    """Return the path of ptxas, or None."""
    return find_toolkit_program("ptxas")


def find_toolkit_program(name: str) -> str | None:
    """The path of a program: on PATH, else in the toolkit that CUDA_HOME or CUDA_PATH names, or /usr/local/cuda."""
    if found := shutil.which(name):
        return found
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    return shutil.which(name, path=os.pathsep.join(str(Path(home) / "bin") for home in homes if home))


def assemble(ptx: bytes, sm: int = 90) -> PtxasReport:
    """Assemble PTX text for compute capability `sm` and return what its kernels use."""
    program = find_ptxas()
    if program is None:
        raise CompileError("ptxas was not found; install the CUDA toolkit or set CUDA_HOME to where it is")
    with tempfile.TemporaryDirectory(prefix="lanewise-") as directory:
        source, cubin = Path(directory, "module.ptx"), Path(directory, "module.cubin")
        source.write_bytes(ptx)
        command = [program, "-v", f"-arch=sm_{sm}", "-o", str(cubin), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        said = done.stdout + done.stderr
        if done.returncode:
            raise CompileError(f"ptxas refused the PTX: {said.replace(directory + os.sep, '').strip()}")
        return PtxasReport(_kernels(said), cubin.read_bytes())


def assemble_piece(ptx: bytes, sm: int, registers: int = 0) -> bytes:
    """Assemble a piece of a program into machine code that can be linked with the others'.

    Its threads may have that many `registers`; 0 for as many as they can use.
    """
    program = find_ptxas()
    if program is None:
        raise CompileError("ptxas was not found; install the CUDA toolkit or set CUDA_HOME to where it is")
    with tempfile.TemporaryDirectory(prefix="lanewise-") as directory:
        source, cubin = Path(directory, "piece.ptx"), Path(directory, "piece.cubin")
        source.write_bytes(ptx)
        command = [program, "-c", f"-arch=sm_{sm}", "-o", str(cubin), str(source)]
        command += [f"-maxrregcount={registers}"] if registers else []
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            said = (done.stdout + done.stderr).replace(directory + os.sep, "").strip()
            raise CompileError(f"ptxas refused the PTX: {said}")
        return cubin.read_bytes()


def most_registers(pieces: Sequence[bytes]) -> int:
    """What threads of a program may have, 0 if it does not say: the functions that a kernel calls must do with it."""
    return max((int(found[1]) for piece in pieces for found in _MOST_REGISTERS.finditer(piece)), default=0)


def assemble_pieces(pieces: Sequence[bytes], sm: int) -> list[bytes]:
    """Assemble all pieces of a program at the same time; those that some program had before come from the cache."""
    registers = most_registers(pieces)
    with ThreadPoolExecutor(settings.cpu_threads()) as pool:
        return list(pool.map(lambda piece: _kept_piece(piece, sm, registers), pieces))


def _kept_piece(ptx: bytes, sm: int, registers: int) -> bytes:
    cache, key = default_cache(), Cache.key_of("piece", f"{sm} {registers}", ptx)
    code = cache.get(key)
    if code is None:
        code = assemble_piece(ptx, sm, registers)
        cache.put(key, code)
    return code


def _kernels(said: str) -> dict[str, KernelUsage]:
    """Read the `-v` report: a block per kernel, and blocks for device functions in between that have no registers."""
    kernels = {}
    for name, block in _KERNEL.findall(said):
        own = block.partition(f"Function properties for {name}\n")[2] or block

        def number(pattern: str, text: str = own) -> int:
            found = re.search(pattern, text)
            return int(found[1]) if found else 0

        kernels[name] = KernelUsage(
            registers=number(r"Used (\d+) registers"),
            stack_bytes=number(r"(\d+) bytes stack frame"),
            spill_store_bytes=number(r"(\d+) bytes spill stores"),
            spill_load_bytes=number(r"(\d+) bytes spill loads"),
            shared_bytes=number(r"(\d+) bytes smem"),
        )
    return kernels
