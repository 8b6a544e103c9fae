"""Helpers that compiled code calls, as LLVM IR: traps, growth, and the instructions that work on ranges.

They are part of what instructions mean, so they are written as the meanings are; each is small, and LLVM drops those
that a module does not use.
"""

from __future__ import annotations

import platform

from lanewise.compiler import UNROLLED
from lanewise.kernel.lane_io import LaneIo
from lanewise.wasm import state, traps
from lanewise.wasm.build import Build
from lanewise.wasm.divergence import sample
from lanewise.wasm.emitter import CALLS, FUEL_SLICE, ROUNDS
from lanewise.wasm.gpu_entries import leave
from lanewise.wasm.lane_ir import tell_first
from lanewise.wasm.prelude_looks import looked_at
from lanewise.wasm.prelude_ranges import cell_at, memory_helpers, table_helpers
from lanewise.wasm.prelude_tally import ALL_GIVEN, STEPS_LEFT, TALLY, refuel_tally, tally

METADATA = """
!0 = !{!"branch_weights", i32 1, i32 1000000}
!1 = !{}
!2 = !{!5, !5, i64 0}
!3 = !{!6, !6, i64 0}
!4 = !{!"branch_weights", i32 1000000, i32 1}
!5 = !{!"state", !7, i64 0}
!6 = !{!"linear memory", !7, i64 0}
!7 = !{!"lanewise"}
"""
"""Branch weights of traps, and the promise that a lane's state and its linear memory never overlap."""
PLACES = """
!llvm.module.flags = !{!10, !11}
!llvm.dbg.cu = !{!13}
!10 = !{i32 2, !"Debug Info Version", i32 3}
!11 = !{i32 2, !"Dwarf Version", i32 4}
!12 = !DIFile(filename: "module.wasm", directory: "")
!13 = distinct !DICompileUnit(language: DW_LANG_C99, file: !12, emissionKind: LineTablesOnly)
!14 = !DISubroutineType(types: !1)
"""
"""The frame of a line table in which the lines are the bytes of the module."""


_GPU_ATTRIBUTES = """
attributes #0 = { nounwind "disable-tail-calls"="true" }
attributes #1 = { nounwind }
attributes #2 = { cold noreturn nounwind }
attributes #3 = { nounwind }
"""


def attributes(build: Build) -> str:
    """What LLVM may assume of guest functions (#0, with tail calls #3), of helpers (#1) and of exits (#2)."""
    if build.gpu:
        return _GPU_ATTRIBUTES
    # Frame pointers are how a trap finds its callers; probes keep large frames from stepping over the stack's guard.
    frame = '"frame-pointer"="all" "probe-stack"="inline-asm"'
    # Recursion stays recursion, whose frames a trap can tell; only functions with tail calls (#3) may end in a jump.
    return f"""
attributes #0 = {{ nounwind {frame} "disable-tail-calls"="true" }}
attributes #1 = {{ nounwind {frame} }}
attributes #2 = {{ cold noreturn nounwind noinline {frame} }}
attributes #3 = {{ nounwind {frame} }}
"""


def prelude(build: Build) -> str:
    """All helpers for a build."""
    parts = [_signs(build), _opaque(build), memory_helpers(build), table_helpers(build), _exits(build), _waiting(build)]
    parts += [sample(build)] if build.stats else []
    parts += [_rounds(build)] if build.meter in ("stop", "tally") else []
    parts += [tally(build)] if build.meter == "tally" else []
    parts += [METADATA, PLACES if build.places else "", UNROLLED if build.unrolled else ""]
    return "\n".join([attributes(build), *parts])


def _signs(build: Build) -> str:
    """Sign operations: one bit changes. The GPU's own quiet a NaN, so there they are written as logic on bits."""
    kinds = [("f32", "float", "i32", 32, 1), ("f64", "double", "i64", 64, 1)]
    vectors = [("v4f32", "<4 x float>", "<4 x i32>", 32, 4), ("v2f64", "<2 x double>", "<2 x i64>", 64, 2)]
    return "\n".join(_sign_helpers(build, *kind) for kind in (*kinds, *vectors))


def _sign_helpers(build: Build, name: str, llvm: str, bits: str, width: int, lanes: int) -> str:
    if build.gpu and lanes > 1:
        return "".join(_by_lane(verb, name, llvm, width, lanes) for verb in ("neg", "abs"))
    if not build.gpu:
        return f"""
define internal {llvm} @lw.neg.{name}({llvm} %x) alwaysinline nounwind {{
  %i = bitcast {llvm} %x to {bits}
  %f = xor {bits} %i, {_splat(bits, -(1 << (width - 1)))}
  %r = bitcast {bits} %f to {llvm}
  ret {llvm} %r
}}
define internal {llvm} @lw.abs.{name}({llvm} %x) alwaysinline nounwind {{
  %i = bitcast {llvm} %x to {bits}
  %f = and {bits} %i, {_splat(bits, (1 << (width - 1)) - 1)}
  %r = bitcast {bits} %f to {llvm}
  ret {llvm} %r
}}
{_copysign(name, llvm, bits, width) + _casts(name, llvm, bits) if lanes == 1 else ""}"""
    letter, whole = ("f", "r") if width == 32 else ("d", "l")
    high, low = hex(1 << (width - 1)), hex((1 << (width - 1)) - 1)
    return f"""
define internal {llvm} @lw.neg.{name}({llvm} %x) alwaysinline nounwind {{
  %r = call {llvm} asm "xor.b{width} $0, $1, {high};", "={letter},{letter}"({llvm} %x)
  ret {llvm} %r
}}
define internal {llvm} @lw.abs.{name}({llvm} %x) alwaysinline nounwind {{
  %r = call {llvm} asm "and.b{width} $0, $1, {low};", "={letter},{letter}"({llvm} %x)
  ret {llvm} %r
}}
define internal {llvm} @lw.copysign.{name}({llvm} %x, {llvm} %y) alwaysinline nounwind {{
  %s = call {llvm} asm "and.b{width} $0, $1, {high};", "={letter},{letter}"({llvm} %y)
  %m = call {llvm} asm "and.b{width} $0, $1, {low};", "={letter},{letter}"({llvm} %x)
  %r = call {llvm} asm "or.b{width} $0, $1, $2;", "={letter},{letter},{letter}"({llvm} %m, {llvm} %s)
  ret {llvm} %r
}}
define internal {bits} @lw.bits.{name}({llvm} %x) alwaysinline nounwind {{
  %r = call {bits} asm "mov.b{width} $0, $1;", "={whole},{letter}"({llvm} %x)
  ret {bits} %r
}}
define internal {llvm} @lw.from_bits.{name}({bits} %x) alwaysinline nounwind {{
  %r = call {llvm} asm "mov.b{width} $0, $1;", "={letter},{whole}"({bits} %x)
  ret {llvm} %r
}}"""


def _opaque(build: Build) -> str:
    """Constants that LLVM must not see."""
    texts = []
    for name, llvm, width, letter in (("f32", "float", 32, "f"), ("f64", "double", 64, "d")):
        arm = platform.machine().lower() in ("aarch64", "arm64")
        text, place = (f"mov.b{width} $0, $1;", f"={letter},{letter}") if build.gpu else ("", "=w,0" if arm else "=x,0")
        texts.append(f"""
define internal {llvm} @lw.opaque.{name}({llvm} %x) alwaysinline nounwind {{
  %r = call {llvm} asm "{text}", "{place}"({llvm} %x)
  ret {llvm} %r
}}""")
    return "\n".join(texts)


def _casts(name: str, llvm: str, bits: str) -> str:
    return f"""
define internal {bits} @lw.bits.{name}({llvm} %x) alwaysinline nounwind {{
  %r = bitcast {llvm} %x to {bits}
  ret {bits} %r
}}
define internal {llvm} @lw.from_bits.{name}({bits} %x) alwaysinline nounwind {{
  %r = bitcast {bits} %x to {llvm}
  ret {llvm} %r
}}"""


def _by_lane(verb: str, name: str, llvm: str, width: int, lanes: int) -> str:
    element = "float" if width == 32 else "double"
    lines, last = [], "poison"
    for lane in range(lanes):
        lines.append(f"  %x{lane} = extractelement {llvm} %x, i32 {lane}")
        lines.append(f"  %y{lane} = call {element} @lw.{verb}.f{width}({element} %x{lane})")
        lines.append(f"  %r{lane} = insertelement {llvm} {last}, {element} %y{lane}, i32 {lane}")
        last = f"%r{lane}"
    body = "\n".join(lines)
    head = f"define internal {llvm} @lw.{verb}.{name}({llvm} %x) alwaysinline nounwind"
    return f"\n{head} {{\n{body}\n  ret {llvm} {last}\n}}"


def _copysign(name: str, llvm: str, bits: str, width: int) -> str:
    return f"""
define internal {llvm} @lw.copysign.{name}({llvm} %x, {llvm} %y) alwaysinline nounwind {{
  %i = bitcast {llvm} %x to {bits}
  %j = bitcast {llvm} %y to {bits}
  %m = and {bits} %i, {(1 << (width - 1)) - 1}
  %s = and {bits} %j, {-(1 << (width - 1))}
  %b = or {bits} %m, %s
  %r = bitcast {bits} %b to {llvm}
  ret {llvm} %r
}}"""


def _splat(bits: str, value: int) -> str:
    if not bits.startswith("<"):
        return str(value)
    return f"splat ({bits.split(' x ')[1][:-1]} {value})"


def shared_state(build: Build) -> str:
    """IR that finds the state with the common cells: `%shared`."""
    if not build.linked:
        return "  %shared = getelementptr i8, ptr %st, i64 0\n"
    return cell_at(build, state.SHARED, "%shared_at", "%st") + "  %shared = load ptr, ptr %shared_at, align 8\n"


_TELL = """  store i32 %kind, ptr WHERE
  %place_at = getelementptr i8, ptr WHERE, i64 4
  store i32 %place, ptr %place_at
"""
_TELL_FIRST = f"""  %kind_wide = zext i32 %kind to i64
  %place_wide = zext i32 %place to i64
  %place_high = shl i64 %place_wide, 32
  %why = or i64 %place_high, %kind_wide
  %status_at = getelementptr i8, ptr %report, i64 0
  %member_at = getelementptr i8, ptr %io, i64 {LaneIo.offsets["member"]}
  %member = load i32, ptr %member_at, align 4
{tell_first("%why", "%member")}"""
"""Threads of a lane end one after the other; why the first one did is what counts."""
_ASK = """  %stop_word = load ptr, ptr %stop_at, align 8
  %none = icmp eq ptr %stop_word, null
  br i1 %none, label %on, label %ask
ask:
  %asked = load volatile i32, ptr %stop_word, align 4
"""


def _kernel_io(build: Build) -> str:
    """IR that finds what the kernel keeps of a lane: `%io`."""
    return cell_at(build, state.INSTANCES, "%io_at", "%st") + "  %io = load ptr, ptr %io_at, align 8\n"


def _ask_kernel(build: Build) -> str:
    return f"{_kernel_io(build)}  %asked = call i32 @kernel_look(ptr %io)\n"


def _exits(build: Build) -> str:
    find = shared_state(build)
    if build.gpu:
        find_io = _kernel_io(build) if build.process else ""
        tell_kernel = "  call void @kernel_end(ptr %io)\n" if build.process else ""
        report = (
            "  %report = load ptr, ptr %who_at, align 8\n" if build.lanes else "  store ptr %st, ptr %who_at, align 8\n"
        )
        where = "%report" if build.lanes else "%shared"
        leaves = "  call void @lw.leave(ptr %st)\n" if build.lanes else ""
        ends = f"""{report}
{find_io}{_TELL_FIRST if build.team else _TELL.replace("WHERE", where)}{tell_kernel}{leaves}
  call void asm sideeffect "exit;", "~{{memory}}"()
"""
        declared = "declare void @kernel_end(ptr)\n" if build.process else ""
        declared += leave(build) if build.lanes else ""
    else:
        ends = """
  store ptr %st, ptr %who_at, align 8
  %frame = call ptr @llvm.frameaddress.p0(i32 0)
  call void @lw_guest_trap(ptr %shared, i32 %kind, i32 %place, ptr %frame)
"""
        declared = "declare void @lw_guest_trap(ptr, i32, i32, ptr) noreturn"
    stop_at = cell_at(build, state.STOP, "%stop_at", "%shared")
    # A look with a way that comes back beside one that ends the lane stays a call: written out, it keeps the lanes of a
    # GPU from meeting again behind it.
    end = "end" if build.meter == "tally" else "trap"
    return f"""
{declared}
define internal void @lw.{end}(ptr %st, i32 %kind, i32 %place) noinline #2 {{
{find}{cell_at(build, state.TRAP_STATE, "%who_at", "%shared")}{ends}  unreachable
}}
define internal void @lw.look(ptr %st, i32 %place) cold noinline #1 {{
{_ask_kernel(build) if build.process else f"{find}{stop_at}{_ASK}"}  %stopped = icmp ne i32 %asked, 0
  br i1 %stopped, label %stop, label %on
stop:
  call void @lw.{end}(ptr %st, i32 {traps.INTERRUPTED}, i32 %place)
  unreachable
on:
  ret void
}}
{refuel(build)}"""


def refuel(build: Build) -> str:
    """IR of what follows when the steps, or calls, between two looks are over."""
    if build.meter == "tally":
        return refuel_tally(build)
    fuel_at, left_at = (
        cell_at(build, state.FUEL, "%fuel_at", "%shared"),
        cell_at(build, state.FUEL_LEFT, "%left_at", "%shared"),
    )
    return f"""define internal void @lw.refuel(ptr %st, i32 %place) cold noinline #1 {{
{shared_state(build)}{fuel_at}{left_at}
  call void @lw.look(ptr %st, i32 %place)
  %left = load i64, ptr %left_at, align 8, !tbaa !2
  %empty = icmp eq i64 %left, 0
  br i1 %empty, label %out, label %fill
out:
  call void @lw.trap(ptr %st, i32 {traps.OUT_OF_FUEL}, i32 %place)
  unreachable
fill:
  %slice = call i64 @llvm.umin.i64(i64 %left, i64 {FUEL_SLICE if build.meter == "count" else CALLS})
  %rest = sub i64 %left, %slice
  store i64 %rest, ptr %left_at, align 8, !tbaa !2
  %narrow = trunc i64 %slice to i32
  %after = sub i32 %narrow, 1
  store i32 %after, ptr %fuel_at, align 8, !tbaa !2
  ret void
}}
"""


def _rounds(build: Build) -> str:
    """Markers of calls and rounds, of which LLVM knows (#4, #5) that they go on; `compiler.rounds` says the rest.

    What a call's becomes may read anything, so that what was stored before is there. That of a round reads no more, and
    a function with loops has the other, too. But a look may let other threads of a lane go on: where there are any, it
    may change everything.
    """
    call, round_ = " memory(read, inaccessiblemem: readwrite)", " memory(inaccessiblemem: readwrite)"
    if build.fibers or build.team:
        call = round_ = ""
    tallies = build.meter == "tally"
    names = ["due", "not_due", "look_again", "check_round", "charge", "check_call", *(TALLY if tallies else ())]
    kept = [f"ptr @lw.{name}" for name in names]
    looked = looked_at(build)
    refuelled = "  call void @lw.refuel(ptr %st, i32 %place)\n"
    if tallies:
        refuelled = f"{STEPS_LEFT}  call void @lw.refuel(ptr %st, i32 %place, i32 %steps)\n{ALL_GIVEN}"
    return f"""
declare void @lw.called(ptr captures(none), i32)
declare void @lw.round(ptr captures(none), i32)
attributes #4 = {{ nounwind willreturn nofree{call} }}
attributes #5 = {{ nounwind willreturn nofree{round_} }}
@llvm.compiler.used = appending global [{len(kept)} x ptr] [{", ".join(kept)}], section "llvm.metadata"
define internal i1 @lw.due(ptr %rounds) alwaysinline #1 {{
  %before = load i32, ptr %rounds, align 4
  %done = add i32 %before, {0 if tallies else 1}
  store i32 %done, ptr %rounds, align 4
  %due = icmp sgt i32 %done, {ROUNDS}
  ret i1 %due
}}
define internal i1 @lw.not_due(ptr %rounds) alwaysinline #1 {{
  %due = call i1 @lw.due(ptr %rounds)
  %not_due = xor i1 %due, true
  ret i1 %not_due
}}
define internal void @lw.look_again(ptr %rounds, ptr %st, i32 %place) alwaysinline #1 {{
{looked}  ret void
}}
define internal void @lw.check_round(ptr %rounds, ptr %st, i32 %place) alwaysinline #1 {{
  %due = call i1 @lw.due(ptr %rounds)
  br i1 %due, label %look, label %on, !prof !0
look:
  call void @lw.look_again(ptr %rounds, ptr %st, i32 %place)
  br label %on
on:
  ret void
}}
define internal void @lw.check_call({"ptr %rounds, " if tallies else ""}ptr %st, i32 %place) alwaysinline #1 {{
{shared_state(build)}{cell_at(build, state.FUEL, "%fuel_at", "%shared")}
  %before = load i32, ptr %fuel_at, align 8, !tbaa !2
  %left = sub i32 %before, 1
  store i32 %left, ptr %fuel_at, align 8, !tbaa !2
  %dry = icmp slt i32 %left, 0
  br i1 %dry, label %refuel, label %on, !prof !0
refuel:
{refuelled}  br label %on
on:
  ret void
}}
define internal void @lw.charge(ptr %rounds, i32 %more) alwaysinline #1 {{
  %before = load i32, ptr %rounds, align 4
  %done = add i32 %before, %more
  store i32 %done, ptr %rounds, align 4
  ret void
}}
"""


KERNEL_CALLS = """declare i32 @kernel_look(ptr)
declare i32 @kernel_wait(ptr, i64, i64, i32, i64)
declare i32 @kernel_notify(ptr, i64, i32)
"""


def _waiting_kernel(build: Build) -> str:
    """Programs: the kernel knows who waits."""
    texts = [KERNEL_CALLS]
    for bits in (32, 64):
        texts.append(f"""
define internal i32 @lw.wait{bits}(ptr %st, i32 %place, ptr %at, i{bits} %expected, i64 %timeout) noinline #1 {{
{_kernel_io(build)}  %address = ptrtoint ptr %at to i64
  %wide = {"add i64 %expected, 0" if bits == 64 else "zext i32 %expected to i64"}
  %result = call i32 @kernel_wait(ptr %io, i64 %address, i64 %wide, i32 {bits // 64}, i64 %timeout)
  %failure_at = getelementptr i8, ptr %io, i64 {LaneIo.offsets["failure"]}
  %failure = load i32, ptr %failure_at, align 4
  %failed = icmp ne i32 %failure, 0
  br i1 %failed, label %end, label %on
end:
  %kind = add i32 %failure, {traps.KERNEL}
  call void @lw.trap(ptr %st, i32 %kind, i32 %place)
  unreachable
on:
  ret i32 %result
}}
""")
    texts.append(f"""
define internal i32 @lw.notify(ptr %st, ptr %at, i32 %count) noinline #1 {{
{_kernel_io(build)}  %address = ptrtoint ptr %at to i64
  %woken = call i32 @kernel_notify(ptr %io, i64 %address, i32 %count)
  ret i32 %woken
}}
""")
    return "\n".join(texts)


def _waiting(build: Build) -> str:
    if build.process:
        return _waiting_kernel(build)
    if build.gpu:
        clock = "%now = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()"
        rest, declared = "call void @llvm.nvvm.nanosleep(i32 1000)", ""
    else:
        clock, rest = "%now = call i64 @lw_time_ns()", "call i32 @sched_yield()"
        declared = "declare i64 @lw_time_ns()\ndeclare i32 @sched_yield()"
    return (
        declared
        + _wait(32, clock, rest)
        + _wait(64, clock, rest)
        + """
define internal i32 @lw.notify(ptr %st, ptr %at, i32 %count) noinline #1 {
  ret i32 0
}
"""
    )


def _wait(bits: int, clock: str, rest: str) -> str:
    now = clock.replace("%now", "%start")
    return f"""
define internal i32 @lw.wait{bits}(ptr %st, i32 %place, ptr %at, i{bits} %expected, i64 %timeout) noinline #1 {{
  %value = load atomic i{bits}, ptr %at seq_cst, align {bits // 8}
  %differs = icmp ne i{bits} %value, %expected
  br i1 %differs, label %unequal, label %begin
unequal:
  ret i32 1
begin:
  {now}
  br label %look
look:
  {clock}
  %passed = sub i64 %now, %start
  %forever = icmp slt i64 %timeout, 0
  %waited = icmp uge i64 %passed, %timeout
  %endless = xor i1 %forever, true
  %over = and i1 %waited, %endless
  br i1 %over, label %late, label %sleep
late:
  ret i32 2
sleep:
  call void @lw.look(ptr %st, i32 %place)
  {rest}
  br label %look
}}
"""
