"""Programs that a compiler has made do the same interpreted, translated and under qemu."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lanewise.bench.arm64_programs import loaded, translate_program, written

BUILD = Path(__file__).parents[2] / "benchmarks" / "arm64" / "build.sh"
ROUNDS = {"mix": 12, "sha256": 20, "matrix": 1, "heapsort": 1, "records": 20_000, "mandelbrot": 1, "json": 3, "lz": 1}
STEP = 400_009
"""Instructions after which lanes are compared: it ends in the midst of blocks."""
LANES = 3
TOP = 256
"""Bytes at the top of the stack: arguments, and those that Linux gives each process to be random by."""


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Builds a program of the benchmarks by its name."""
    if shutil.which("aarch64-linux-gnu-gcc") is None:
        pytest.skip("aarch64-linux-gnu-gcc is not installed (package gcc-aarch64-linux-gnu)")
    folder = tmp_path_factory.mktemp("compiled")

    def make(name):
        if not (folder / name).exists():
            subprocess.run(["sh", BUILD, folder, name], check=True, timeout=60)
        return folder / name

    return make


def states(path, rounds, device, translated):
    """What lanes have after each so many instructions, and what they write in the end."""
    cpu, program = loaded(path, rounds, LANES, device)
    if translated:
        translate_program(cpu, program, [program.entry])
    found = []
    while not found or "cycles" in found[-1][0]:
        result = cpu.execute(STEP)
        memory = cpu.read_memory_all(cpu.memory_start, cpu.memory_size - TOP)
        numbers = cpu.registers, cpu.vectors, cpu.flags, cpu.pcs, cpu.fpsr, result.cycles_per_lane
        found.append((result.stop_reasons, [one.tolist() for one in numbers], hash(memory.tobytes())))
    return found, [written(cpu, lane) for lane in range(LANES)]


@pytest.mark.parametrize("name", ROUNDS)
def test_a_compiled_program_does_the_same_in_both_tiers_and_under_qemu(name, compiled, qemu, device):
    path, rounds = compiled(name), ROUNDS[name]
    interpreted, output = states(path, rounds, device, translated=False)
    assert interpreted[-1][0] == ["svc"] * LANES
    assert len(interpreted) > 1
    assert states(path, rounds, device, translated=True) == (interpreted, output)
    assert [qemu(path, [name, str(rounds), str(lane + 1)])[:2] for lane in range(LANES)] == [(0, one) for one in output]
