"""AArch64 programs that benchmarks run: how they are loaded, and run by Lanewise, by qemu and by Unicorn.

A program computes, then writes its result: there it stops, as calls of the system are not served here.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lanewise as lw
from lanewise.arm64.linux.elf import Program, read_program
from lanewise.bench.result import WrongResultError
from lanewise.devices import Device
from lanewise.errors import LanewiseError

FOLDER = Path("out", "arm64")
_BUILD = f"sh benchmarks/arm64/build.sh {FOLDER}"
_NEVER, _SHORT, _OFTEN = 1 << 62, 3_000_000, 10
_MEMORY = 1 << 20


@dataclass(frozen=True)
class Run:
    """What a run took and gave: instructions of all lanes, seconds, and what the first lanes wrote."""

    instructions: int
    seconds: float
    output: tuple[bytes, ...]

    @property
    def rate(self) -> float:
        """Instructions a second."""
        return self.instructions / self.seconds


def program_path(name: str) -> Path:
    """The file of a program, which must have been built."""
    path = FOLDER / name
    if not path.is_file():
        raise LanewiseError(
            f"{path} is not there: {_BUILD} builds it, in a checkout of the repository and "
            "with Debian's gcc-aarch64-linux-gnu"
        )
    return path


def loaded(path: Path, rounds: int, lanes: int, device: str | Device) -> tuple[lw.ParallelCPU, Program]:
    """Lanes in which the program is about to begin, each with a seed of its own."""
    program = read_program(str(path))
    cpu = lw.ParallelCPU(lanes, _MEMORY, "private", device, program.start)
    argv = [[path.name, str(rounds), str(lane + 1)] for lane in range(lanes)]
    cpu.load_elf(str(path), argv if lanes > 1 else argv[0])
    return cpu, program


def under_lanewise(path: Path, rounds: int, lanes: int, device: str | Device, translated: bool) -> Run:
    """Run it until all lanes are about to write; what is compiled for it is not counted.

    Translations have what a short run met by addresses that are known only then.
    """
    cpu, program = loaded(path, rounds, lanes, device)
    if translated:
        translate_program(cpu, program, [program.entry])
        cpu.execute(_SHORT)
        entries = [program.entry, *(at for at, count in cpu.untranslated().items() if count >= _OFTEN)]
        cpu, program = loaded(path, rounds, lanes, device)
        translate_program(cpu, program, entries)
    cpu.prepare()
    result = cpu.execute(_NEVER)
    if set(result.stop_reasons) != {"svc"}:
        raise WrongResultError(f"benchmark arm64: {path.name} ended by {set(result.stop_reasons)} on {cpu.device.name}")
    return Run(result.total_cycles, result.elapsed_seconds, tuple(written(cpu, lane) for lane in range(min(lanes, 4))))


def translate_program(cpu: lw.ParallelCPU, program: Program, entries: list[int]) -> None:
    """Have all code of a program translated that is reached from some addresses."""
    code = [one for one in program.segments if one.executable]
    first, end = min(one.address for one in code), max(one.address + one.size for one in code)
    cpu.translate(first // 4 * 4, (end - first) // 4 * 4, entries)


def written(cpu: lw.ParallelCPU, number: int) -> bytes:
    """What a lane is about to write."""
    _, address, count = (int(one) for one in cpu.get_lane_registers(number)[:3])
    return cpu.read_memory(address, count, number)


def under_qemu(path: Path, rounds: int, seed: int = 1) -> Run | None:
    """The same by qemu's user mode, with the start of its process; None where it is not installed."""
    program = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if program is None:
        return None
    begin = time.perf_counter()
    done = subprocess.run([program, str(path), str(rounds), str(seed)], capture_output=True, check=True)
    return Run(0, time.perf_counter() - begin, (done.stdout,))


def under_unicorn(path: Path, rounds: int) -> Run | None:
    """The same by Unicorn; None where it is not installed."""
    try:
        unicorn: Any = importlib.import_module("unicorn")
        registers: Any = importlib.import_module("unicorn.arm64_const")
    except ImportError:
        return None
    cpu, program = loaded(path, rounds, 1, "cpu")
    machine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
    machine.ctl_set_cpu_model(registers.UC_CPU_ARM64_MAX)
    machine.mem_map(cpu.memory_start, cpu.memory_size)
    machine.mem_write(cpu.memory_start, cpu.read_memory(cpu.memory_start, cpu.memory_size))
    machine.reg_write(registers.UC_ARM64_REG_SP, int(cpu.get_lane_registers(0)[31]))
    machine.hook_add(unicorn.UC_HOOK_INTR, lambda machine, *_: machine.emu_stop())
    begin = time.perf_counter()
    machine.emu_start(program.entry, 0)
    seconds = time.perf_counter() - begin
    address, count = (machine.reg_read(one) for one in (registers.UC_ARM64_REG_X1, registers.UC_ARM64_REG_X2))
    return Run(0, seconds, (bytes(machine.mem_read(address, count)),))
