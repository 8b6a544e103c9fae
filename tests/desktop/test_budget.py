"""What frames may take of a GPU: registers of 1,024 threads, shared memory, and no strip outside of registers."""

import pytest

from lanewise.compiler import Target, stages
from lanewise.compiler.ptxas import assemble, find_ptxas
from lanewise.desktop.frame import draw_tiles, fill_bins, gather_tiles, make_frame
from lanewise.lang.abi_nvptx import NvptxAbi
from lanewise.lang.program import lower_kernel


def usage(kernel, group_size):
    if find_ptxas() is None:
        pytest.skip("ptxas is not installed")
    ptx = stages(lower_kernel(kernel, NvptxAbi(group_size, disjoint=True)).ir, Target.nvptx(90))["ptx"]
    (found,) = assemble(ptx.encode(), 90).kernels.values()
    return found


@pytest.mark.parametrize("kernel", [fill_bins, draw_tiles], ids=["bins", "pixels"])
def test_tiles_are_drawn_in_registers(kernel):
    found = usage(kernel, 256)
    assert found.registers <= 64
    assert (found.stack_bytes, found.spill_store_bytes) == (0, 0)


def test_gathering_tiles_needs_next_to_nothing():
    assert usage(gather_tiles, 256).registers <= 32


@pytest.mark.parametrize("renders", [True, False], ids=["with pixels", "without"])
def test_a_whole_frame_fits_a_group_of_1024_threads(renders):
    found = usage(make_frame(renders, ()), 1024)
    assert found.registers <= 64
    assert found.shared_bytes < 32 * 1024
