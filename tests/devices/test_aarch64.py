"""Kernels compile for AArch64 hosts too: Linux and macOS, as object files of that machine."""

import kernels
import pytest

from lanewise.compiler import Target, compile_module
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.functions import Kernel
from lanewise.lang.program import lower_kernel

LAYOUT = "e-m:{mangling}-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32"
HOSTS = {
    "linux": (Target("host", "aarch64-unknown-linux-gnu", "generic", "", LAYOUT.format(mangling="e")), b"\x7fELF", 18),
    "macos": (
        Target("host", "arm64-apple-macosx11.0.0", "apple-m1", "", LAYOUT.format(mangling="o")),
        b"\xcf\xfa\xed\xfe",
        4,
    ),
}
MACHINES = {"linux": 0xB7, "macos": 0x0C}
ALL = [found for found in vars(kernels).values() if isinstance(found, Kernel) and found.name != "has_a_mistake"]


@pytest.mark.filterwarnings("ignore::lanewise.LangWarning")
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.name)
def test_a_kernel_compiles_to_an_object_of_that_machine(kernel, host):
    target, magic, machine_at = HOSTS[host]
    code = compile_module(lower_kernel(kernel, HostAbi()).ir, target, cache=None).code
    assert code.startswith(magic)
    assert code[machine_at] == MACHINES[host]
