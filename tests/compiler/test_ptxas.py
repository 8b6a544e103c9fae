"""The helper around ptxas: what it reads from the report, and what it says when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from lanewise.compiler import KernelUsage, Target, assemble, compile_module, find_ptxas, ptxas
from lanewise.errors import CompileError

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas of the CUDA toolkit")

REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for helper
    96 bytes stack frame, 92 bytes spill stores, 88 bytes spill loads
ptxas info    : Function properties for first
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 16 bytes cumulative stack size, 256 bytes smem
ptxas info    : Compile time = 1.0 ms
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
"""


def test_a_report_is_read_kernel_by_kernel() -> None:
    assert ptxas._kernels(REPORT) == {
        "first": KernelUsage(24, stack_bytes=16, spill_store_bytes=4, spill_load_bytes=8, shared_bytes=256),
        "second": KernelUsage(4, stack_bytes=0, spill_store_bytes=0, spill_load_bytes=0, shared_bytes=0),
    }


@needs_ptxas
def test_shared_memory_and_registers_are_those_of_the_kernel() -> None:
    ir = """
@tile = internal addrspace(3) global [64 x i32] undef
define ptx_kernel void @k(ptr %p, i32 %x) {
  %q = getelementptr i32, ptr addrspace(3) @tile, i32 %x
  store volatile i32 %x, ptr addrspace(3) %q
  ret void
}
"""
    report = assemble(compile_module(ir, Target.nvptx(90), cache=None).code, 90)
    assert report.cubin.startswith(b"\x7fELF")
    assert report.kernels["k"].shared_bytes == 256
    assert report.kernels["k"].registers > 0


@needs_ptxas
def test_what_ptxas_refuses_carries_its_words() -> None:
    with pytest.raises(CompileError, match=r"ptxas refused the PTX: .*module\.ptx.*Parsing error"):
        assemble(b".version 8.0\n.target sm_90\n.address_size 64\nnonsense\n", 90)


def test_without_ptxas_the_advice_is_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptxas, "find_ptxas", lambda: None)
    with pytest.raises(CompileError, match="install the CUDA toolkit or set CUDA_HOME"):
        assemble(b"", 90)


def test_cuda_home_is_searched_when_path_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "ptxas"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert find_ptxas() == str(program)
