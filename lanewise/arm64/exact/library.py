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
    """All of it in LLVM's text, a module that others call."""
    abi: Abi = LibraryNvptxAbi() if target.kind == "nvptx" else RuntimeAbi()
    assert arm64_exact.name == NAME
    return lower_library([arm64_exact], abi)


def declared() -> str:
    """What a module has that calls it."""
    return f"declare i64 @{NAME}(ptr, i32, i64)\n"


def inside(target: Target) -> str:
    """The same as part of another module, which has `!0` for itself.

    On a GPU that spills half as many registers around calls: ptxas knows then which of them the function leaves alone.
    """
    return (
        exact_ir(target).replace(f"define dso_local i64 @{NAME}(", f"define internal i64 @{NAME}(").replace("!0", "!1")
    )
