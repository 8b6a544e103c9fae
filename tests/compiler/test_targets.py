"""Targets: the GPU generations and PTX versions that LLVM knows, and keys that tell targets apart."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from lanewise.compiler import Job, Target, WorkerPool, assemble, find_ptxas, targets
from lanewise.errors import CompileError

EMPTY_KERNEL = "define ptx_kernel void @k() { ret void }"


def test_importing_the_compiler_does_not_import_llvm(start_python: Callable[[str], subprocess.Popen[str]]) -> None:
    script = "import sys, lanewise.compiler as c; c.Target.nvptx(); sys.exit('llvmlite' in sys.modules)"
    process = start_python(script)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint


def test_the_host_is_one_target_with_a_cpu_and_a_layout() -> None:
    host = Target.host()
    assert host is Target.host()
    assert host.kind == "host"
    assert host.cpu
    assert host.data_layout.startswith("e-")


def test_the_layout_of_nvptx_is_the_one_llvm_has() -> None:
    assert str(Target.nvptx().machine().target_data) == Target.nvptx().data_layout


def test_a_machine_is_made_once_for_each_target_and_level() -> None:
    assert Target.nvptx(90).machine() is Target.nvptx(90).machine()
    assert Target.nvptx(90).machine() is not Target.nvptx(80).machine()
    assert Target.nvptx(90).machine(3) is not Target.nvptx(90).machine(0)


def test_gpus_before_turing_are_refused_with_advice() -> None:
    with pytest.raises(CompileError, match=r"sm_70 is too old: .* capability 7\.5 .*use the CPU device"):
        Target.nvptx(70)


@pytest.mark.parametrize(("sm", "cpu", "ptx"), [(75, "sm_75", 80), (90, "sm_90", 80), (120, "sm_120", 87)])
def test_the_ptx_version_is_the_oldest_that_serves(sm: int, cpu: str, ptx: int) -> None:
    target = Target.nvptx(sm)
    assert (target.cpu, target.features, target.ptx) == (cpu, f"+ptx{ptx}", ptx)


def test_an_unknown_generation_gets_the_newest_older_one() -> None:
    assert Target.nvptx(82).cpu == "sm_80"
    assert Target.nvptx(999).cpu == "sm_121"


def test_llvm_takes_every_generation_with_its_ptx_version() -> None:
    chosen = [Target.nvptx(sm) for sm in targets._PTX_NEEDED]
    with WorkerPool() as pool:  # LLVM aborts on a wrong pair
        outcomes = pool.compile([Job(EMPTY_KERNEL, target, target.cpu) for target in chosen], cache=None)
    for target, outcome in zip(chosen, outcomes, strict=True):
        assert isinstance(outcome, bytes), outcome
        version = f".version {target.ptx // 10}.{target.ptx % 10}\n.target {target.cpu}\n"
        assert version in outcome.decode()


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas of the CUDA toolkit")
@pytest.mark.parametrize("sm", [75, 90, 120])
def test_ptxas_takes_the_oldest_the_usual_and_the_newest(sm: int) -> None:
    with WorkerPool(1) as pool:
        (ptx,) = pool.compile([Job(EMPTY_KERNEL, Target.nvptx(sm))], cache=None)
    assert isinstance(ptx, bytes)
    assert assemble(ptx, sm).kernels.keys() == {"k"}


def test_keys_differ_where_the_code_may() -> None:
    keys = {Target.host().key, *(Target.nvptx(sm).key for sm in targets._PTX_NEEDED)}
    assert len(keys) == 1 + len(targets._PTX_NEEDED)
    assert "llvm 2" in Target.host().key
