"""Device code on a CPU: every function gets its lane, kernels run as loops over lanes or as one fiber a lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanewise.errors import LanewiseError
from lanewise.lang.abi import Abi, as_pointer, load_arguments
from lanewise.lang.ir import Value
from lanewise.lang.lane import Lane, Launch, WarpBox, Worker
from lanewise.lang.types import StructType, Type

if TYPE_CHECKING:
    from lanewise.lang.functions import Kernel
    from lanewise.lang.lowering import Facts, FunctionLowering

PLAIN_STACK_BYTES = 4 * 2**20
"""How deep plain kernels may recurse on a worker thread, whose stack is at least twice that."""

RUNTIME_IMPORTS = ("lw_barrier", "lw_warp_exchange", "lw_yield", "lw_trap", "lw_run_groups", "lw_time_ns")
"""Functions of the CPU runtime that kernels call."""

_DECLARATIONS = """
declare void @lw_barrier(ptr) convergent nounwind
declare ptr @lw_warp_exchange(ptr, i64) convergent nounwind
declare void @lw_yield(ptr) nounwind
declare void @lw_trap(ptr, i32) cold noreturn nounwind
declare void @lw_run_groups(ptr, ptr, ptr, ptr) nounwind
declare i64 @lw_time_ns() nounwind
"""


def field_address(kind: StructType, field: str, base: str) -> str:
    """The getelementptr for a field of a shared structure."""
    return f"getelementptr inbounds i8, ptr {base}, i64 {kind.offsets[field]}"


class HostAbi(Abi):
    """x86-64 and AArch64: the lane is a structure whose address is the first argument of every device function."""

    on_gpu = False
    hidden_parameters: tuple[str, ...] = ("ptr %lane",)
    hidden_arguments: tuple[str, ...] = ("ptr %lane",)

    def preamble(self) -> str:
        return _DECLARATIONS

    def _field(self, fn: FunctionLowering, field: str, kind: StructType = Lane, base: str = "%lane") -> str:
        address = fn.block.assign(field_address(kind, field, base))
        return fn.block.assign(f"load {kind.fields[field].llvm}, ptr {address}")

    def _launch_field(self, fn: FunctionLowering, field: str) -> str:
        address = fn.block.assign(field_address(Lane, "launch", "%lane"))
        launch = fn.block.assign(f"load ptr, ptr {address}")
        return self._field(fn, field, Launch, launch)

    def thread_id(self, fn: FunctionLowering) -> str:
        return self._field(fn, "thread_id")

    def thread_count(self, fn: FunctionLowering) -> str:
        return self._launch_field(fn, "thread_count")

    def local_id(self, fn: FunctionLowering) -> str:
        fn.facts.group_ids = True
        return self._field(fn, "local_id")

    def group_id(self, fn: FunctionLowering) -> str:
        fn.facts.group_ids = True
        return self._field(fn, "group_id")

    def group_threads(self, fn: FunctionLowering) -> str:
        fn.facts.group_ids = True
        return self._field(fn, "group_threads")

    def group_count(self, fn: FunctionLowering) -> str:
        return self._launch_field(fn, "group_count")

    def barrier(self, fn: FunctionLowering) -> None:
        fn.block.emit("call void @lw_barrier(ptr %lane)")

    def trap(self, fn: FunctionLowering, site: int) -> None:
        fn.block.emit(f"call void @lw_trap(ptr %lane, i32 {site})")
        fn.block.terminate("unreachable")

    def shared(self, fn: FunctionLowering, kind: Type) -> str:
        offset = fn.program.shared_offset(kind.size, max(kind.align, 16))
        address = fn.block.assign(field_address(Lane, "shared", "%lane"))
        base = fn.block.assign(f"load ptr, ptr {address}")
        return fn.block.assign(f"getelementptr inbounds i8, ptr {base}, i64 {offset}")

    def fence(self, fn: FunctionLowering, order: str, scope: str) -> None:
        fn.block.emit(f"fence {order}")

    def clock(self, fn: FunctionLowering) -> str:
        return fn.block.assign("call i64 @llvm.readcyclecounter()")

    def time_ns(self, fn: FunctionLowering) -> str:
        return fn.block.assign("call i64 @lw_time_ns()")

    def pause(self, fn: FunctionLowering) -> None:
        fn.block.emit("call void @lw_yield(ptr %lane)")

    def stack_is_low(self, fn: FunctionLowering) -> str:
        here = fn.block.slot("i8")
        address = fn.block.assign(f"ptrtoint ptr {here} to i64")
        limit = self._field(fn, "stack_limit")
        return fn.block.assign(f"icmp ult i64 {address}, {limit}")

    def exchange(self, fn: FunctionLowering, bits: str) -> Value:
        return as_pointer(WarpBox, fn.block.assign(f"call ptr @lw_warp_exchange(ptr %lane, i64 {bits})"))

    def entry(self, name: str, kernel: Kernel, body: str, facts: Facts) -> str:
        loads, arguments = load_arguments(kernel, "%args")
        called = ", ".join(["ptr %lane", arguments]) if arguments else "ptr %lane"
        if facts.converges or facts.yields:
            return f"""
define internal void @{name}_lane(ptr %lane, ptr %args) nounwind {{
{loads}
  call void @{body}({called})
  ret void
}}
define dso_local void @{name}(ptr %launch, ptr %worker, ptr %args) nounwind {{
  call void @lw_run_groups(ptr %launch, ptr %worker, ptr @{name}_lane, ptr %args)
  ret void
}}
"""
        return _plain_entry(name, body, loads, called, facts.group_ids)


def _plain_entry(name: str, body: str, loads: str, called: str, group_ids: bool) -> str:
    """A worker's loop: take a chunk of groups, run its threads one after the other, until none is left.

    The rest of the current chunk is kept in the worker, because a trap leaves the loop and comes back behind the
    thread that trapped.
    """

    def at(kind: StructType, field: str, base: str, result: str) -> str:
        return f"  {result} = {field_address(kind, field, base)}"

    lane = [(field, at(Lane, field, "%lane", f"%lane_{field}")) for field in Lane.fields]
    fields = "\n".join(text for _, text in lane)
    if group_ids:
        run = """
run:
  %group = udiv i32 %first, %group_size
  %group_first = mul i32 %group, %group_size
  %left = sub i32 %last, %group_first
  %threads = call i32 @llvm.umin.i32(i32 %left, i32 %group_size)
  %behind = add nuw i32 %group_first, %threads
  store i32 %group, ptr %lane_group_id
  store i32 %threads, ptr %lane_group_threads
  br label %loop
"""
        after = """
  br i1 %more, label %loop, label %group_done
group_done:
  store i32 %behind, ptr %worker_next
  br label %chunk
"""
        local = "  %local = sub i32 %i, %group_first\n  store i32 %local, ptr %lane_local_id\n"
        bound = "%behind"
    else:
        run = "\nrun:\n  br label %loop\n"
        after = """
  br i1 %more, label %loop, label %chunk_done
chunk_done:
  store i32 %last, ptr %worker_next
  br label %chunk
"""
        local, bound = "", "%last"
    return f"""
define dso_local void @{name}(ptr %launch, ptr %worker, ptr %args) nounwind {{
entry:
  %lane = alloca {Lane.llvm}, align 16
{fields}
{at(Worker, "next", "%worker", "%worker_next")}
{at(Worker, "end", "%worker", "%worker_end")}
{at(Worker, "shared", "%worker", "%worker_shared")}
{at(Launch, "next_group", "%launch", "%launch_next")}
{at(Launch, "thread_count", "%launch", "%launch_threads")}
{at(Launch, "group_size", "%launch", "%launch_group_size")}
{at(Launch, "group_count", "%launch", "%launch_groups")}
{at(Launch, "chunk", "%launch", "%launch_chunk")}
  %thread_count = load i32, ptr %launch_threads
  %group_size = load i32, ptr %launch_group_size
  %group_count = load i32, ptr %launch_groups
  %chunk_groups = load i32, ptr %launch_chunk
  %shared = load ptr, ptr %worker_shared
  store ptr %launch, ptr %lane_launch
  store ptr %worker, ptr %lane_worker
  store ptr %shared, ptr %lane_shared
  %here = ptrtoint ptr %lane to i64
  %limit = sub i64 %here, {PLAIN_STACK_BYTES}
  store i64 %limit, ptr %lane_stack_limit
{loads}
  br label %chunk
chunk:
  %first = load i32, ptr %worker_next
  %last = load i32, ptr %worker_end
  %some = icmp ult i32 %first, %last
  br i1 %some, label %run, label %grab
grab:
  %wide_chunk = zext i32 %chunk_groups to i64
  %taken = atomicrmw add ptr %launch_next, i64 %wide_chunk monotonic
  %wide_groups = zext i32 %group_count to i64
  %over = icmp uge i64 %taken, %wide_groups
  br i1 %over, label %exit, label %take
take:
  %wide_size = zext i32 %group_size to i64
  %wide_threads = zext i32 %thread_count to i64
  %taken_first = mul i64 %taken, %wide_size
  %length = mul i64 %wide_chunk, %wide_size
  %taken_end = add i64 %taken_first, %length
  %taken_last = call i64 @llvm.umin.i64(i64 %taken_end, i64 %wide_threads)
  %new_first = trunc i64 %taken_first to i32
  %new_last = trunc i64 %taken_last to i32
  store i32 %new_first, ptr %worker_next
  store i32 %new_last, ptr %worker_end
  br label %chunk
{run}
loop:
  %i = phi i32 [ %first, %run ], [ %i_next, %loop ]
  store i32 %i, ptr %lane_thread_id
{local}  call void @{body}({called})
  %i_next = add nuw i32 %i, 1
  %more = icmp ult i32 %i_next, {bound}
{after}
exit:
  ret void
}}
"""


class RuntimeAbi(HostAbi):
    """The CPU's own runtime, written in lang: plain C functions that belong to no launch."""

    hidden_parameters: tuple[str, ...] = ()
    hidden_arguments: tuple[str, ...] = ()

    def preamble(self) -> str:
        return ""

    def trap(self, fn: FunctionLowering, site: int) -> None:
        raise LanewiseError(f"the runtime function {fn.function.name} must not trap: nothing could report it")

    def stack_is_low(self, fn: FunctionLowering) -> str:
        return ""
