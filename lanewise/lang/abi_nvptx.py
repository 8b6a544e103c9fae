"""Device code on an NVIDIA GPU: thread numbers from special registers, hardware barriers, traps that end in `exit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanewise.lang.abi import Abi
from lanewise.lang.ir import Value
from lanewise.lang.lane import Traps
from lanewise.lang.types import BOOL, Type, u32

if TYPE_CHECKING:
    from lanewise.lang.functions import Kernel
    from lanewise.lang.lowering import Facts, FunctionLowering

STACK_RESERVE_BYTES = 1024
"""Stack that a recursive function leaves untouched for itself and for the functions it calls that do not recurse."""

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
  call void asm sideeffect "exit;", ""()
  unreachable
}}
"""

_SCOPES = {"group": "block", "device": "device", "system": ""}


class NvptxAbi(Abi):
    """sm_75 and up. `max_group` bounds the group size and so how many registers a thread may have."""

    on_gpu = True
    hidden_parameters = ["i32 %n", "ptr %traps"]
    hidden_arguments = ["i32 %n", "ptr %traps"]
    constant_space = "addrspace(1) "

    def __init__(self, max_group: int = 1024) -> None:
        self.max_group = max_group

    def preamble(self) -> str:
        return _TRAP

    def _register(self, fn: FunctionLowering, name: str) -> str:
        return fn.block.assign(f"call i32 @llvm.nvvm.read.ptx.sreg.{name}()")

    def thread_id(self, fn: FunctionLowering) -> str:
        group, size = self._register(fn, "ctaid.x"), self._register(fn, "ntid.x")
        first = fn.block.assign(f"mul nuw i32 {group}, {size}")
        return fn.block.assign(f"add nuw i32 {first}, {self._register(fn, 'tid.x')}")

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
        # The form that is not aligned: threads of a warp may arrive apart, and threads that returned do not count.
        fn.block.emit("call void @llvm.nvvm.barrier.cta.sync.all(i32 0)")

    def trap(self, fn: FunctionLowering, site: int) -> None:
        thread = self.thread_id(fn)
        fn.block.emit(f"call void @lw_trap(ptr %traps, i32 {thread}, i32 {site})")
        fn.block.terminate("unreachable")

    def shared(self, fn: FunctionLowering, kind: Type) -> str:
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

    def pause(self, fn: FunctionLowering) -> None:
        fn.block.emit("call void @llvm.nvvm.nanosleep(i32 100)")

    def stack_is_low(self, fn: FunctionLowering) -> str:
        # A thread's stack grows down to address 0 of its local memory: the address is what is left of it.
        here = fn.block.slot("i8")
        local = fn.block.assign(f"addrspacecast ptr {here} to ptr addrspace(5)")
        left = fn.block.assign(f"ptrtoint ptr addrspace(5) {local} to i64")
        return fn.block.assign(f"icmp ult i64 {left}, {STACK_RESERVE_BYTES}")

    def generic_constant(self, name: str) -> str:
        return f"addrspacecast (ptr addrspace(1) {name} to ptr)"

    def ballot(self, fn: FunctionLowering, flag: str) -> Value:
        return Value(u32, fn.block.assign(f"call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 {flag})"))

    def shuffle(self, fn: FunctionLowering, bits: str, source: str) -> str:
        return fn.block.assign(f"call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 {bits}, i32 {source}, i32 31)")

    def entry(self, name: str, kernel: Kernel, body: str, facts: Facts, shared_bytes: int) -> str:
        parameters, arguments, lines = [], ["i32 %n", "ptr %traps"], []
        for index, kind in enumerate(kernel.parameters.values()):
            if kind is BOOL:
                parameters.append(f"i8 %b{index}")
                lines.append(f"  %a{index} = icmp ne i8 %b{index}, 0")
            else:
                parameters.append(f"{kind.llvm} %a{index}")
            arguments.append(f"{kind.llvm} %a{index}")
        convert = "\n".join(lines)
        return f"""
define ptx_kernel void @{name}({", ".join([*parameters, "i32 %n", "ptr %traps"])}) nounwind "nvvm.maxntid"="{self.max_group}" {{
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %local = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul nuw i32 %group, %size
  %id = add i32 %first, %local
  %beyond = icmp uge i32 %id, %n
  br i1 %beyond, label %done, label %run
run:
{convert}
  call void @{body}({", ".join(arguments)})
  br label %done
done:
  ret void
}}
"""
