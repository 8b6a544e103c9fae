"""Device code on an NVIDIA GPU: thread numbers from special registers, hardware barriers, traps that end in `exit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanewise.errors import LanewiseError
from lanewise.lang.abi import Abi
from lanewise.lang.ir import Value
from lanewise.lang.lane import Traps
from lanewise.lang.types import BOOL, PointerType, Scalar, Type, u32
from lanewise.settings import MAX_GROUP_SIZE

if TYPE_CHECKING:
    from lanewise.lang.functions import Kernel
    from lanewise.lang.lowering import Facts, FunctionLowering

RECURSION_BYTES = 12 * 1024
"""How far the stack of a thread may grow by recursion before the next call traps."""


def stack_bytes(facts: Facts) -> int:
    """Stack that a thread of a recursive kernel needs: the recursion, and beyond it one frame of each function."""
    return RECURSION_BYTES + 4096 + 2 * facts.local_bytes


_TRAP = f"""
define internal void @lw_trap(ptr %traps, i32 %thread, i32 %site) noinline cold noreturn nounwind {{
  %count = getelementptr i8, ptr %traps, i64 {Traps.offsets["count"]}
  %first = getelementptr i8, ptr %traps, i64 {Traps.offsets["first"]}
  %flag_at = getelementptr i8, ptr %traps, i64 {Traps.offsets["flag"]}
  %thread_wide = zext i32 %thread to i64
  %site_wide = zext i32 %site to i64
  %upper = shl i64 %thread_wide, 32
  %key = or i64 %upper, %site_wide
  %old_count = atomicrmw add ptr %count, i32 1 monotonic
  %old_first = atomicrmw umin ptr %first, i64 %key monotonic
  %flag = load ptr, ptr %flag_at
  store volatile i32 1, ptr %flag
  call void asm sideeffect "exit;", "~{{memory}}"()
  unreachable
}}
"""

_ONCE = """
  %stride = add i32 0, 0
  %trips = add i32 0, 1
  br label %loop
"""
_STRIDES = """
  %groups = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %stride = mul i32 %groups, %size
  %behind = sub nuw i32 %n, %id
  %behind_less_one = sub nuw i32 %behind, 1
  %further = udiv i32 %behind_less_one, %stride
  %trips = add i32 %further, 1
  br label %loop
"""


def runs_in_strides(facts: Facts) -> bool:
    """Whether one hardware thread may run several threads of the launch, one after the other.

    That keeps more loads in flight than one element a thread can. It needs threads that do not know their group and
    do not meet, and that do not end early, since that would end those behind them too.
    """
    return not (facts.converges or facts.yields or facts.group_ids or facts.traps)


_SCOPES = {"group": "block", "device": "device", "system": ""}


class NvptxAbi(Abi):
    """sm_75 and up. `max_group` bounds the group size and so how many registers a thread may have.

    `disjoint` says that no two pointer arguments of the launch overlap, so that loads may move ahead of stores: without
    that, too few bytes are in flight to fill the memory's bandwidth.
    """

    on_gpu = True
    hidden_parameters: tuple[str, ...] = ("i32 %thread", "i32 %n", "ptr %traps", "i64 %stack_floor")
    hidden_arguments: tuple[str, ...] = hidden_parameters
    constant_space = "addrspace(1) "

    def __init__(self, max_group: int = MAX_GROUP_SIZE, disjoint: bool = False) -> None:
        self.max_group = max_group
        self.disjoint = disjoint

    def preamble(self) -> str:
        return _TRAP

    def _register(self, fn: FunctionLowering, name: str) -> str:
        fn.facts.group_ids = True
        return fn.block.assign(f"call i32 @llvm.nvvm.read.ptx.sreg.{name}()")

    def thread_id(self, fn: FunctionLowering) -> str:
        return "%thread"

    def thread_count(self, fn: FunctionLowering) -> str:
        return "%n"

    def local_id(self, fn: FunctionLowering) -> str:
        return self._register(fn, "tid.x")

    def group_id(self, fn: FunctionLowering) -> str:
        return self._register(fn, "ctaid.x")

    def group_threads(self, fn: FunctionLowering) -> str:
        group, size = self._register(fn, "ctaid.x"), self._register(fn, "ntid.x")
        first = fn.block.assign(f"mul i32 {group}, {size}")
        left = fn.block.assign(f"sub i32 %n, {first}")
        return fn.block.assign(f"call i32 @llvm.umin.i32(i32 {left}, i32 {size})")

    def group_count(self, fn: FunctionLowering) -> str:
        return self._register(fn, "nctaid.x")

    def barrier(self, fn: FunctionLowering) -> None:
        # The aligned form, before which the assembler has those threads of a warp meet that have not returned. By the
        # other one, to which each comes by itself, a large kernel gave wrong results (see ARCHITECTURE.md).
        fn.block.emit("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")

    def trap(self, fn: FunctionLowering, site: int) -> None:
        thread = self.thread_id(fn)
        fn.block.emit(f"call void @lw_trap(ptr %traps, i32 {thread}, i32 {site})")
        fn.block.terminate("unreachable")

    def shared(self, fn: FunctionLowering, kind: Type) -> str:
        fn.facts.group_ids = True
        offset = fn.program.shared_offset(kind.size, max(kind.align, 16))
        name = f"@shared{offset}"
        fn.program.globals.append(f"{name} = internal addrspace(3) global {kind.memory} undef, align 16")
        return fn.block.assign(f"addrspacecast ptr addrspace(3) {name} to ptr")

    def fence(self, fn: FunctionLowering, order: str, scope: str) -> None:
        fn.block.emit(f"fence {self.syncscope(scope)}{order}")

    def syncscope(self, scope: str) -> str:
        name = _SCOPES[scope]
        return f'syncscope("{name}") ' if name else ""

    def clock(self, fn: FunctionLowering) -> str:
        return fn.block.assign("call i64 @llvm.nvvm.read.ptx.sreg.clock64()")

    def time_ns(self, fn: FunctionLowering) -> str:
        return fn.block.assign("call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()")

    def cut_to_word(self, fn: FunctionLowering, ref: str, kind: Scalar) -> Value:
        # The instruction saturates and makes 0 of NaN itself; LLVM would test for both around it.
        name = f"llvm.nvvm.f2{'i' if kind.signed else 'ui'}.rz"
        return Value(kind, fn.block.assign(f"call i32 @{name}(float {ref})"))

    def pause(self, fn: FunctionLowering) -> None:
        fn.block.emit("call void @llvm.nvvm.nanosleep(i32 100)")

    def stack_is_low(self, fn: FunctionLowering) -> str:
        here = fn.block.slot("i8")
        address = fn.block.assign(f"ptrtoint ptr {here} to i64")
        return fn.block.assign(f"icmp ult i64 {address}, %stack_floor")

    def generic_constant(self, name: str) -> str:
        return f"addrspacecast (ptr addrspace(1) {name} to ptr)"

    def ballot(self, fn: FunctionLowering, flag: str) -> Value:
        return Value(u32, fn.block.assign(f"call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 {flag})"))

    def shuffle(self, fn: FunctionLowering, bits: str, source: str) -> str:
        return fn.block.assign(f"call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 {bits}, i32 {source}, i32 31)")

    def entry(self, name: str, kernel: Kernel, body: str, facts: Facts) -> str:
        parameters, arguments, lines = [], ["i32 %now", "i32 %n", "ptr %traps", "i64 %floor"], []
        # To LLVM nothing but the kernel itself reaches memory behind a `noalias` pointer: it drops what a thread stored
        # before it trapped, and what threads tell each other across a barrier or an atomic.
        reached = facts.raw_pointers or facts.traps or facts.communicates
        pointer = "ptr noalias" if self.disjoint and not reached else "ptr"
        for index, kind in enumerate(kernel.parameters.values()):
            if kind is BOOL:
                parameters.append(f"i8 %b{index}")
                lines.append(f"  %a{index} = icmp ne i8 %b{index}, 0")
            else:
                parameters.append(f"{pointer if isinstance(kind, PointerType) else kind.llvm} %a{index}")
            arguments.append(f"{kind.llvm} %a{index}")
        floor = ["  %floor = add i64 0, 0"]
        if facts.recursive:
            floor = [
                "  %top = alloca i64",
                "  %top_address = ptrtoint ptr %top to i64",
                f"  %floor = sub i64 %top_address, {RECURSION_BYTES}",
            ]
        prepare = "\n".join([*lines, *floor])
        bounds = f'"nvvm.maxntid"="{self.max_group}"'
        if self.max_group == MAX_GROUP_SIZE:
            # One such group is enough for a processor. To have room for a second one, the assembler at times gives
            # threads half of the registers that they could have, and spills.
            bounds += ' "nvvm.minctasm"="1"'
        # A launch has no group without threads, so the first thread of a group is below n. The last number of a group
        # may not be: near 2**32 threads it wraps, so it is the distance from the first that is compared.
        return f"""
define ptx_kernel void @{name}({", ".join([*parameters, "i32 %n", "ptr %traps"])})
    nounwind {bounds} {{
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %local = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul nuw i32 %group, %size
  %left = sub nuw i32 %n, %first
{prepare}
  %beyond = icmp uge i32 %local, %left
  br i1 %beyond, label %done, label %run
run:
  %id = add nuw i32 %first, %local
{_STRIDES if runs_in_strides(facts) else _ONCE}
loop:
  %now = phi i32 [ %id, %run ], [ %next, %loop ]
  %trip = phi i32 [ 1, %run ], [ %trip_next, %loop ]
  call void @{body}({", ".join(arguments)})
  %next = add i32 %now, %stride
  %trip_next = add nuw i32 %trip, 1
  %more = icmp ult i32 %trip, %trips
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


class LibraryNvptxAbi(NvptxAbi):
    """Functions that kernels of other origin call: they know nothing of a launch, and none of them traps."""

    hidden_parameters: tuple[str, ...] = ()
    hidden_arguments: tuple[str, ...] = ()

    def preamble(self) -> str:
        return ""

    def trap(self, fn: FunctionLowering, site: int) -> None:
        raise LanewiseError(f"the library function {fn.function.name} must not trap: nothing could report it")

    def stack_is_low(self, fn: FunctionLowering) -> str:
        return ""

    def barrier(self, fn: FunctionLowering) -> None:
        # Lanes of guest programs come to it from anywhere in them: threads of a warp must be free to arrive apart.
        fn.block.emit("call void @llvm.nvvm.barrier.cta.sync.all(i32 0)")
