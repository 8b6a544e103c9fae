"""The code of the exact functions."""

from __future__ import annotations

from lanewise.arm64.exact.codes import NAME
from lanewise.arm64.exact.entry import arm64_exact
from lanewise.compiler import Target
from lanewise.lang.abi import Abi
from lanewise.lang.abi_host import RuntimeAbi
from lanewise.lang.abi_nvptx import LibraryNvptxAbi
from lanewise.lang.program import lower_library


def exact_ir(target: Target) -> str:
    """All of it in LLVM's text."""
    abi: Abi = LibraryNvptxAbi() if target.kind == "nvptx" else RuntimeAbi()
    assert arm64_exact.name == NAME
    return lower_library([arm64_exact], abi)
