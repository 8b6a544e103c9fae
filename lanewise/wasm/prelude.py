"""Helpers that compiled code calls, as LLVM IR: traps, growth, and the instructions that work on ranges.

They are part of what instructions mean, so they are written as the meanings are; each is small, and LLVM drops those
that a module does not use.
"""

from __future__ import annotations

from lanewise.settings import WARP_SIZE
from lanewise.wasm import state, traps
from lanewise.wasm.build import Build
from lanewise.wasm.lowering import FUEL_SLICE

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
"""Branch weights of traps, and the promise that a lane's state and its linear memory never overlap."""


def attributes(build: Build) -> str:
    """What LLVM may assume of guest functions (#0), of helpers (#1) and of exits (#2)."""
    if build.gpu:
        return "attributes #0 = { nounwind \"disable-tail-calls\"=\"true\" }\nattributes #1 = { nounwind }\nattributes #2 = { cold noreturn nounwind }\n"
    # Frame pointers are how a trap finds its callers; probes keep large frames from stepping over the stack's guard.
    frame = '"frame-pointer"="all" "probe-stack"="inline-asm" "disable-tail-calls"="true"'
    return (
        f"attributes #0 = {{ nounwind {frame} }}\nattributes #1 = {{ nounwind {frame} }}\n"
        f"attributes #2 = {{ cold noreturn nounwind noinline {frame} }}\n"
    )


def prelude(build: Build) -> str:
    """All helpers for a build."""
    parts = [_signs(build), _memory(build), _tables(build), _exits(build), _waiting(build)]
    return "\n".join([attributes(build), *parts, METADATA, PLACES if build.places else ""])


def _at(build: Build, cell: int, name: str, base: str = "%record") -> str:
    return f"  {name} = getelementptr i8, ptr {base}, i64 {cell * build.stride}\n"


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
    return (
        f"\ndefine internal {llvm} @lw.{verb}.{name}({llvm} %x) alwaysinline nounwind {{\n{body}\n  ret {llvm} {last}\n}}"
    )


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


def _place(build: Build, base: str, address: str, suffix: str) -> str:
    """IR that finds a byte of linear memory: `%at` + suffix."""
    if build.layout == "flat":
        return f"  %at{suffix} = getelementptr i8, ptr {base}, i64 {address}\n"
    return f"""  %cell{suffix} = and i64 {address}, -8
  %in{suffix} = and i64 {address}, 7
  %scaled{suffix} = mul i64 %cell{suffix}, {WARP_SIZE}
  %off{suffix} = or i64 %scaled{suffix}, %in{suffix}
  %at{suffix} = getelementptr i8, ptr {base}, i64 %off{suffix}
"""


def _loop(count: str, body: str, backwards: str = "") -> str:
    """IR that runs `body` for `%i` from 0 to below `count`; from the end where the flag `backwards` says so."""
    order = f"  %mirrored = sub i64 {count}, %k\n  %last = sub i64 %mirrored, 1\n"
    order += f"  %i = select i1 {backwards}, i64 %last, i64 %k\n" if backwards else ""
    if not backwards:
        order = "  %i = add i64 %k, 0\n"
    return f"""  br label %head
head:
  %k = phi i64 [ 0, %begin ], [ %k.next, %body ]
  %more = icmp ult i64 %k, {count}
  br i1 %more, label %body, label %done
body:
{order}{body}  %k.next = add nuw i64 %k, 1
  br label %head
done:
"""


def _memory(build: Build) -> str:
    grow_pages = "" if build.gpu else """
  %delta = mul i64 %more, SCALE
  %opened = mul i64 %old, SCALE
  %end = getelementptr i8, ptr %base, i64 %opened
  %status = call i32 @mprotect(ptr %end, i64 %delta, i32 3)
  %refused = icmp ne i32 %status, 0
  br i1 %refused, label %no, label %yes
yes:"""
    grow_pages = grow_pages.replace("SCALE", str(build.stride // 8))
    if build.layout == "flat":
        ranges = """
define internal void @lw.memory_fill(ptr %base, i64 %start, i8 %byte, i64 %count) #1 {
  %at = getelementptr i8, ptr %base, i64 %start
  call void @llvm.memset.p0.i64(ptr %at, i8 %byte, i64 %count, i1 false)
  ret void
}
define internal void @lw.memory_copy(ptr %to, i64 %into, ptr %from, i64 %first, i64 %count) #1 {
  %a = getelementptr i8, ptr %to, i64 %into
  %b = getelementptr i8, ptr %from, i64 %first
  call void @llvm.memmove.p0.p0.i64(ptr %a, ptr %b, i64 %count, i1 false)
  ret void
}
define internal void @lw.memory_init(ptr %to, i64 %into, ptr %source, i64 %count) #1 {
  %a = getelementptr i8, ptr %to, i64 %into
  call void @llvm.memmove.p0.p0.i64(ptr %a, ptr %source, i64 %count, i1 false)
  ret void
}"""
    else:
        ranges = f"""
define internal void @lw.memory_fill(ptr %base, i64 %start, i8 %byte, i64 %count) #1 {{
begin:
{_loop("%count", "  %where = add i64 %start, %i" + chr(10) + _place(build, "%base", "%where", "") + "  store i8 %byte, ptr %at" + chr(10))}  ret void
}}
define internal void @lw.memory_copy(ptr %to, i64 %into, ptr %from, i64 %first, i64 %count) #1 {{
begin:
  %backwards = icmp ugt i64 %into, %first
{_loop("%count", "  %x = add i64 %into, %i" + chr(10) + "  %y = add i64 %first, %i" + chr(10) + _place(build, "%to", "%x", ".x") + _place(build, "%from", "%y", ".y") + "  %v = load i8, ptr %at.y" + chr(10) + "  store i8 %v, ptr %at.x" + chr(10), "%backwards")}  ret void
}}
define internal void @lw.memory_init(ptr %to, i64 %into, ptr %source, i64 %count) #1 {{
begin:
{_loop("%count", "  %x = add i64 %into, %i" + chr(10) + "  %y = getelementptr i8, ptr %source, i64 %i" + chr(10) + _place(build, "%to", "%x", ".x") + "  %v = load i8, ptr %y" + chr(10) + "  store i8 %v, ptr %at.x" + chr(10))}  ret void
}}"""
    return f"""
define internal i32 @lw.memory_grow(ptr %record, i32 %pages) noinline #1 {{
{_at(build, state.MEMORY_BYTES, "%bytes_at")}{_at(build, state.MEMORY_MAXIMUM, "%maximum_at")}
{_at(build, state.MEMORY_BASE, "%base_at")}
  %old = load i64, ptr %bytes_at, align 8, !tbaa !2
  %maximum = load i64, ptr %maximum_at, align 8, !tbaa !2
  %base = load ptr, ptr %base_at, align 8, !tbaa !2
  %wide = zext i32 %pages to i64
  %more = shl i64 %wide, 16
  %new = add i64 %old, %more
  %beyond = icmp ugt i64 %new, %maximum
  br i1 %beyond, label %no, label %within
within:{grow_pages}
  store i64 %new, ptr %bytes_at, align 8, !tbaa !2
  %before = lshr i64 %old, 16
  %result = trunc i64 %before to i32
  ret i32 %result
no:
  ret i32 -1
}}
{"" if build.gpu else "declare i32 @mprotect(ptr, i64, i32)" + chr(10) + "declare i32 @madvise(ptr, i64, i32)"}
define internal void @lw.memory_reset(ptr %base, i64 %used, i64 %minimum) noinline #1 {{
  %grown = icmp ugt i64 %used, %minimum
  %rest = call i64 @llvm.umin.i64(i64 %used, i64 %minimum)
  br i1 %grown, label %shrink, label %clear
shrink:
{"" if build.gpu or build.layout != "flat" else SHRINK}  br label %clear
clear:
  call void @lw.memory_fill(ptr %base, i64 0, i8 0, i64 {"%used" if build.gpu or build.layout != "flat" else "%rest"})
  ret void
}}
{"".join(_careful(build, bits) for bits in (8, 16, 32, 64))}
define internal void @lw.keep(i64 %value) alwaysinline nounwind {{
  call void asm sideeffect "", "{"l" if build.gpu else "r"}"(i64 %value)
  ret void
}}
{ranges}
"""


def _careful(build: Build, bits: int) -> str:
    """Accesses for machines that fault on misaligned addresses: checked here, byte by byte where they must be.

    Calls, because what is written out at each access makes large programs larger than assemblers bear.
    """
    kind, width = f"i{bits}", bits // 8
    parameters = "ptr %st, ptr %base, i64 %size, i64 %address, i32 %place"
    head = f"""
  %behind = add nuw nsw i64 %address, {width}
  %outside = icmp ugt i64 %behind, %size
  br i1 %outside, label %trap, label %inside, !prof !0
trap:
  call void @lw.trap(ptr %st, i32 {traps.OUT_OF_BOUNDS}, i32 %place)
  unreachable
inside:
  %low = and i64 %address, {width - 1}
  %aligned = icmp eq i64 %low, 0
  br i1 %aligned, label %whole, label %begin, !prof !4
whole:
{_place(build, "%base", "%address", ".w")}"""
    each = "  %where = add i64 %address, %i\n" + _place(build, "%base", "%where", "")
    gather = f"""{each}  %v = load i8, ptr %at, align 1
  %wide = zext i8 %v to i64
  %by = shl i64 %i, 3
  %part = shl i64 %wide, %by
  %before = load i64, ptr %sum
  %after = or i64 %before, %part
  store i64 %after, ptr %sum
"""
    scatter = f"""{each}  %by = shl i64 %i, 3
  %part = lshr i64 %long, %by
  %v = trunc i64 %part to i8
  store i8 %v, ptr %at, align 1
"""
    narrow = f"  %r = trunc i64 %all to {kind}\n" if bits < 64 else "  %r = add i64 %all, 0\n"
    widen = f"  %long = zext {kind} %value to i64\n" if bits < 64 else "  %long = add i64 %value, 0\n"
    return f"""
define internal {kind} @lw.load.{kind}({parameters}) noinline #1 {{
  %sum = alloca i64
{head}  %direct = load {kind}, ptr %at.w, align {width}, !tbaa !3
  ret {kind} %direct
begin:
  store i64 0, ptr %sum
{_loop(str(width), gather)}  %all = load i64, ptr %sum
{narrow}  ret {kind} %r
}}
define internal void @lw.store.{kind}({parameters}, {kind} %value) noinline #1 {{
{head}  store {kind} %value, ptr %at.w, align {width}, !tbaa !3
  ret void
begin:
{widen}{_loop(str(width), scatter)}  ret void
}}"""


SHRINK = """  %excess = sub i64 %used, %minimum
  %from = getelementptr i8, ptr %base, i64 %minimum
  %dropped = call i32 @madvise(ptr %from, i64 %excess, i32 4)
  %closed = call i32 @mprotect(ptr %from, i64 %excess, i32 0)
"""
"""Gives back the pages that a memory grew by."""


def _tables(build: Build) -> str:
    stride = build.stride
    return f"""
define internal i32 @lw.table_grow(ptr %record, i64 %value, i32 %more32) noinline #1 {{
{_at(build, state.TABLE_SIZE, "%size_at")}{_at(build, state.TABLE_MAXIMUM, "%maximum_at")}
{_at(build, state.TABLE_BASE, "%base_at")}
  %old = load i64, ptr %size_at, align 8, !tbaa !2
  %maximum = load i64, ptr %maximum_at, align 8, !tbaa !2
  %base = load ptr, ptr %base_at, align 8, !tbaa !2
  %count = zext i32 %more32 to i64
  %new = add i64 %old, %count
  %beyond = icmp ugt i64 %new, %maximum
  br i1 %beyond, label %no, label %yes
no:
  ret i32 -1
yes:
  call void @lw.table_fill(ptr %base, i64 %old, i64 %value, i64 %count)
  store i64 %new, ptr %size_at, align 8, !tbaa !2
  %result = trunc i64 %old to i32
  ret i32 %result
}}
define internal void @lw.table_fill(ptr %base, i64 %start, i64 %value, i64 %count) noinline #1 {{
begin:
{_loop("%count", f'''  %where = add i64 %start, %i
  %at = getelementptr [{stride} x i8], ptr %base, i64 %where
  store i64 %value, ptr %at, align 8, !tbaa !2
''')}  ret void
}}
define internal void @lw.table_init(ptr %base, i64 %into, ptr %source, i64 %count) noinline #1 {{
begin:
{_loop("%count", f'''  %x = add i64 %into, %i
  %at.x = getelementptr [{stride} x i8], ptr %base, i64 %x
  %at.y = getelementptr i64, ptr %source, i64 %i
  %v = load i64, ptr %at.y, align 8
  store i64 %v, ptr %at.x, align 8, !tbaa !2
''')}  ret void
}}
define internal void @lw.table_copy(ptr %to, i64 %into, ptr %from, i64 %first, i64 %count) noinline #1 {{
begin:
  %backwards = icmp ugt i64 %into, %first
{_loop("%count", f'''  %x = add i64 %into, %i
  %y = add i64 %first, %i
  %at.x = getelementptr [{stride} x i8], ptr %to, i64 %x
  %at.y = getelementptr [{stride} x i8], ptr %from, i64 %y
  %v = load i64, ptr %at.y, align 8, !tbaa !2
  store i64 %v, ptr %at.x, align 8, !tbaa !2
''', "%backwards")}  ret void
}}
"""


def shared_state(build: Build) -> str:
    """IR that finds the state with the common cells: `%shared`."""
    if not build.linked:
        return "  %shared = getelementptr i8, ptr %st, i64 0\n"
    return _at(build, state.SHARED, "%shared_at", "%st") + "  %shared = load ptr, ptr %shared_at, align 8\n"


def _exits(build: Build) -> str:
    find = shared_state(build)
    if build.gpu:
        report = "  %report = load ptr, ptr %who_at, align 8\n" if build.lanes else "  store ptr %st, ptr %who_at, align 8\n"
        where = "%report" if build.lanes else "%shared"
        ends = f"""{report}
  store i32 %kind, ptr {where}
  %place_at = getelementptr i8, ptr {where}, i64 4
  store i32 %place, ptr %place_at
  call void asm sideeffect "exit;", "~{{memory}}"()
"""
        declared = ""
    else:
        ends = """
  store ptr %st, ptr %who_at, align 8
  %frame = call ptr @llvm.frameaddress.p0(i32 0)
  call void @lw_guest_trap(ptr %shared, i32 %kind, i32 %place, ptr %frame)
"""
        declared = "declare void @lw_guest_trap(ptr, i32, i32, ptr) noreturn"
    stop_at, fuel_at = _at(build, state.STOP, "%stop_at", "%shared"), _at(build, state.FUEL, "%fuel_at", "%shared")
    left_at = _at(build, state.FUEL_LEFT, "%left_at", "%shared")
    return f"""
{declared}
define internal void @lw.trap(ptr %st, i32 %kind, i32 %place) noinline #2 {{
{find}{_at(build, state.TRAP_STATE, "%who_at", "%shared")}{ends}  unreachable
}}
define internal void @lw.look(ptr %st, i32 %place) cold noinline #1 {{
{find}{stop_at}
  %stop_word = load ptr, ptr %stop_at, align 8
  %none = icmp eq ptr %stop_word, null
  br i1 %none, label %on, label %ask
ask:
  %asked = load volatile i32, ptr %stop_word, align 4
  %stopped = icmp ne i32 %asked, 0
  br i1 %stopped, label %stop, label %on
stop:
  call void @lw.trap(ptr %st, i32 {traps.INTERRUPTED}, i32 %place)
  unreachable
on:
  ret void
}}
define internal void @lw.refuel(ptr %st, i32 %place) cold noinline #1 {{
{find}{fuel_at}{left_at}
  call void @lw.look(ptr %st, i32 %place)
  %left = load i64, ptr %left_at, align 8, !tbaa !2
  %empty = icmp eq i64 %left, 0
  br i1 %empty, label %out, label %fill
out:
  call void @lw.trap(ptr %st, i32 {traps.OUT_OF_FUEL}, i32 %place)
  unreachable
fill:
  %slice = call i64 @llvm.umin.i64(i64 %left, i64 {FUEL_SLICE})
  %rest = sub i64 %left, %slice
  store i64 %rest, ptr %left_at, align 8, !tbaa !2
  %narrow = trunc i64 %slice to i32
  %after = sub i32 %narrow, 1
  store i32 %after, ptr %fuel_at, align 8, !tbaa !2
  ret void
}}
"""


def _waiting(build: Build) -> str:
    if build.gpu:
        clock = "%now = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()"
        rest, declared = "call void @llvm.nvvm.nanosleep(i32 1000)", ""
    else:
        clock, rest = "%now = call i64 @lw_time_ns()", "call i32 @sched_yield()"
        declared = "declare i64 @lw_time_ns()\ndeclare i32 @sched_yield()"
    return declared + _wait(32, clock, rest) + _wait(64, clock, rest) + """
define internal i32 @lw.notify(ptr %at, i32 %count) noinline #1 {
  ret i32 0
}
"""


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
