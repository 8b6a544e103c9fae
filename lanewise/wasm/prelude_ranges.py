"""Helpers of compiled code that work on memories and tables: growth, ranges, and accesses at any alignment."""

from __future__ import annotations

from lanewise.settings import WARP_SIZE
from lanewise.wasm import state, traps
from lanewise.wasm.build import Build


def cell_at(build: Build, cell: int, name: str, base: str = "%record") -> str:
    """IR that finds a cell."""
    return f"  {name} = getelementptr i8, ptr {base}, i64 {cell * build.stride}\n"


def _place(build: Build, base: str, address: str, suffix: str) -> str:
    """IR that finds a byte of linear memory: `%at` + suffix."""
    if build.layout == "flat":
        return f"  %at{suffix} = getelementptr i8, ptr {base}, i64 {address}\n"
    return f"""  %cell{suffix} = and i64 {address}, {-build.cell}
  %in{suffix} = and i64 {address}, {build.cell - 1}
  %scaled{suffix} = mul i64 %cell{suffix}, {build.columns}
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


_PUBLISH = "  store i64 %new, ptr %bytes_at, align 8, !tbaa !2\n"
_PUBLISH_SHARED = """  %grown = cmpxchg ptr %bytes_at, i64 %old, i64 %new seq_cst seq_cst, align 8
  %first = extractvalue { i64, i1 } %grown, 1
  br i1 %first, label %mine, label %again
mine:
"""
"""How the new size of a memory is told; one that threads share may have grown meanwhile."""


def memory_helpers(build: Build) -> str:
    grow_pages = (
        ""
        if build.gpu
        else """
  %delta = mul i64 %more, SCALE
  %opened = mul i64 %old, SCALE
  %end = getelementptr i8, ptr %base, i64 %opened
  %status = call i32 @mprotect(ptr %end, i64 %delta, i32 3)
  %refused = icmp ne i32 %status, 0
  br i1 %refused, label %no, label %yes
yes:"""
    )
    grow_pages = grow_pages.replace("SCALE", str(build.stride // 8))
    fill = "  call void @lw.memory_fill(ptr %base, i64 0, i8 0, i64 %used)\n"
    reset = "  call void @lw_reset_memory(ptr %base, i64 %used, i64 %minimum)\n"
    # What LLVM makes of a memset for a GPU is a loop over bytes.
    ranges = _cell_ranges(build) if build.gpu or build.layout != "flat" else _FLAT_RANGES
    return f"""
define internal i32 @lw.memory_grow(ptr %record, i32 %pages) noinline #1 {{
{cell_at(build, state.MEMORY_BYTES, "%bytes_at")}{cell_at(build, state.MEMORY_MAXIMUM, "%maximum_at")}
{cell_at(build, state.MEMORY_BASE, "%base_at")}  br label %again
again:
  %old = load i64, ptr %bytes_at, align 8, !tbaa !2
  %maximum = load i64, ptr %maximum_at, align 8, !tbaa !2
  %base = load ptr, ptr %base_at, align 8, !tbaa !2
  %wide = zext i32 %pages to i64
  %more = shl i64 %wide, 16
  %new = add i64 %old, %more
  %beyond = icmp ugt i64 %new, %maximum
  br i1 %beyond, label %no, label %within
within:{grow_pages}
{_PUBLISH_SHARED if build.team else _PUBLISH}  %before = lshr i64 %old, 16
  %result = trunc i64 %before to i32
  ret i32 %result
no:
  ret i32 -1
}}
{"" if build.gpu else "declare i32 @mprotect(ptr, i64, i32)" + chr(10) + "declare void @lw_reset_memory(ptr, i64, i64)"}
define internal void @lw.memory_reset(ptr %base, i64 %used, i64 %minimum) noinline #1 {{
{fill if build.gpu or build.layout != "flat" else reset}  ret void
}}
{"".join(_careful(build, bits) for bits in (8, 16, 32, 64))}
define internal void @lw.keep(i64 %value) alwaysinline nounwind {{
  call void asm sideeffect "", "{"l" if build.gpu else "r"}"(i64 %value)
  ret void
}}
{ranges}
"""


_FLAT_RANGES = """
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
}
"""


def _cell_ranges(build: Build) -> str:
    """Instructions on ranges of a memory whose cells are interleaved with others', or of a GPU's.

    Whole cells are moved as such, which is all of a range but its ends, if both sides begin at the same byte of a cell.
    """
    fill = f"""  %where = add i64 %start, %i
{_place(build, "%base", "%where", "")}  store i8 %byte, ptr %at, align 1
"""
    move = f"""  %x = add i64 %into, %i
  %y = add i64 %first, %i
{_place(build, "%to", "%x", ".x")}{_place(build, "%from", "%y", ".y")}  %v = load i8, ptr %at.y, align 1
  store i8 %v, ptr %at.x, align 1
"""
    bring = f"""  %x = add i64 %into, %i
  %y = getelementptr i8, ptr %source, i64 %i
{_place(build, "%to", "%x", ".x")}  %v = load i8, ptr %y, align 1
  store i8 %v, ptr %at.x, align 1
"""
    cell, width = f"i{8 * build.cell}", build.cell
    row = f"[{width * build.columns} x i8]"
    fill_cells = f"""  %at = getelementptr {row}, ptr %base, i64 %i
  store {cell} %word, ptr %at, align {width}
"""
    move_cells = f"""  %at.x = getelementptr {row}, ptr %to, i64 %i
  %at.y = getelementptr {row}, ptr %from, i64 %i
  %v = load {cell}, ptr %at.y, align {width}
  store {cell} %v, ptr %at.x, align {width}
"""
    bring_cells = f"""  %at.x = getelementptr {row}, ptr %to, i64 %i
  %at.y = getelementptr {cell}, ptr %source, i64 %i
  %v = load {cell}, ptr %at.y, align 1
  store {cell} %v, ptr %at.x, align {width}
"""
    clear = f"""  %from = mul i64 %i, %piece
  %left = call i64 @llvm.usub.sat.i64(i64 %used, i64 %from)
  %length = call i64 @llvm.umin.i64(i64 %left, i64 %piece)
  %number = trunc i64 %i to i32
  %turned = lshr i32 %pieces, %number
  %marked = trunc i32 %turned to i1
  %bytes = select i1 %marked, i64 %length, i64 0
  %cells = lshr i64 %bytes, {width.bit_length() - 1}
  %row = mul i64 %from, {build.columns}
  %at = getelementptr i8, ptr %base, i64 %row
  call void @lw.cells_fill(ptr %at, {cell} 0, i64 %cells)
"""
    return f"""
define internal void @lw.cells_fill(ptr %base, {cell} %word, i64 %count) #1 {{
begin:
{_loop("%count", fill_cells)}  ret void
}}
define internal void @lw.cells_copy(ptr %to, ptr %from, i64 %count, i1 %backwards) #1 {{
begin:
{_loop("%count", move_cells, "%backwards")}  ret void
}}
define internal void @lw.cells_init(ptr %to, ptr %source, i64 %count) #1 {{
begin:
{_loop("%count", bring_cells)}  ret void
}}
define internal void @lw.bytes_fill(ptr %base, i64 %start, i8 %byte, i64 %count) noinline #1 {{
begin:
{_loop("%count", fill)}  ret void
}}
define internal void @lw.bytes_copy(ptr %to, i64 %into, ptr %from, i64 %first, i64 %count, i1 %backwards) noinline #1 {{
begin:
{_loop("%count", move, "%backwards")}  ret void
}}
define internal void @lw.bytes_init(ptr %to, i64 %into, ptr %source, i64 %count) noinline #1 {{
begin:
{_loop("%count", bring)}  ret void
}}
define internal void @lw.memory_clear(ptr %base, i64 %used, i32 %pieces, i64 %piece) noinline #1 {{
begin:
  %none_above = call i32 @llvm.ctlz.i32(i32 %pieces, i1 false)
  %up_to = sub i32 32, %none_above
  %behind = zext i32 %up_to to i64
{_loop("%behind", clear)}  ret void
}}
define internal void @lw.memory_fill(ptr %base, i64 %start, i8 %byte, i64 %count) noinline #1 {{
{_ends(build, "%start", "true")}few:
  call void @lw.bytes_fill(ptr %base, i64 %start, i8 %byte, i64 %count)
  ret void
many:
  call void @lw.bytes_fill(ptr %base, i64 %start, i8 %byte, i64 %ahead)
  %at = getelementptr i8, ptr %base, i64 %row
  %wide = zext i8 %byte to {cell}
  %word = mul {cell} %wide, {0x0101010101010101 % (1 << 8 * width)}
  call void @lw.cells_fill(ptr %at, {cell} %word, i64 %cells)
  call void @lw.bytes_fill(ptr %base, i64 %rest, i8 %byte, i64 %behind)
  ret void
}}
define internal void @lw.memory_copy(ptr %to, i64 %into, ptr %from, i64 %first, i64 %count) noinline #1 {{
  %backwards = icmp ugt i64 %into, %first
  %apart = xor i64 %into, %first
  %shift = and i64 %apart, {width - 1}
  %alike = icmp eq i64 %shift, 0
{_ends(build, "%into", "%alike")}few:
  call void @lw.bytes_copy(ptr %to, i64 %into, ptr %from, i64 %first, i64 %count, i1 %backwards)
  ret void
many:
  %x = getelementptr i8, ptr %to, i64 %row
  %inside = add i64 %first, %ahead
  %from_row = mul i64 %inside, {build.columns}
  %y = getelementptr i8, ptr %from, i64 %from_row
  %from_rest = sub i64 %rest, %into
  %last = add i64 %first, %from_rest
  br i1 %backwards, label %down, label %up
up:
  call void @lw.bytes_copy(ptr %to, i64 %into, ptr %from, i64 %first, i64 %ahead, i1 false)
  call void @lw.cells_copy(ptr %x, ptr %y, i64 %cells, i1 false)
  call void @lw.bytes_copy(ptr %to, i64 %rest, ptr %from, i64 %last, i64 %behind, i1 false)
  ret void
down:
  call void @lw.bytes_copy(ptr %to, i64 %rest, ptr %from, i64 %last, i64 %behind, i1 true)
  call void @lw.cells_copy(ptr %x, ptr %y, i64 %cells, i1 true)
  call void @lw.bytes_copy(ptr %to, i64 %into, ptr %from, i64 %first, i64 %ahead, i1 true)
  ret void
}}
define internal void @lw.memory_init(ptr %to, i64 %into, ptr %source, i64 %count) noinline #1 {{
{_ends(build, "%into", "true")}few:
  call void @lw.bytes_init(ptr %to, i64 %into, ptr %source, i64 %count)
  ret void
many:
  call void @lw.bytes_init(ptr %to, i64 %into, ptr %source, i64 %ahead)
  %x = getelementptr i8, ptr %to, i64 %row
  %y = getelementptr i8, ptr %source, i64 %ahead
  call void @lw.cells_init(ptr %x, ptr %y, i64 %cells)
  %done = sub i64 %rest, %into
  %z = getelementptr i8, ptr %source, i64 %done
  call void @lw.bytes_init(ptr %to, i64 %rest, ptr %z, i64 %behind)
  ret void
}}
"""


def _ends(build: Build, start: str, whole: str) -> str:
    """IR that divides `%count` bytes from `start` on into those ahead of the first whole cell, cells, and those behind.

    Goes to `few` where there are too few for cells, or `whole` says that there are none; to `many` otherwise, where the
    first cell is `%row` bytes from the beginning of the memory, and the bytes behind begin at address `%rest`.
    """
    shift = build.cell.bit_length() - 1
    return f"""  %minus = sub i64 0, {start}
  %ahead = and i64 %minus, {build.cell - 1}
  %without = sub i64 %count, %ahead
  %cells = lshr i64 %without, {shift}
  %behind = and i64 %without, {build.cell - 1}
  %cell = add i64 {start}, %ahead
  %row = mul i64 %cell, {build.columns}
  %length = shl i64 %cells, {shift}
  %rest = add i64 %cell, %length
  %enough = icmp ugt i64 %count, 15
  %wholly = and i1 %enough, {whole}
  br i1 %wholly, label %many, label %few
"""


_LOAD_WORDS = f"""  %at.h = getelementptr i8, ptr %at.w, i64 {4 * WARP_SIZE}
  %low_word = load i32, ptr %at.w, align 4, !tbaa !3
  %high_word = load i32, ptr %at.h, align 4, !tbaa !3
  %low_wide = zext i32 %low_word to i64
  %high_wide = zext i32 %high_word to i64
  %high_part = shl nuw i64 %high_wide, 32
  %direct = or disjoint i64 %high_part, %low_wide
"""
_STORE_WORDS = f"""  %at.h = getelementptr i8, ptr %at.w, i64 {4 * WARP_SIZE}
  %low_word = trunc i64 %value to i32
  %high_part = lshr i64 %value, 32
  %high_word = trunc i64 %high_part to i32
  store i32 %low_word, ptr %at.w, align 4, !tbaa !3
  store i32 %high_word, ptr %at.h, align 4, !tbaa !3
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
    load_whole = f"  %direct = load {kind}, ptr %at.w, align {width}, !tbaa !3\n"
    store_whole = f"  store {kind} %value, ptr %at.w, align {width}, !tbaa !3\n"
    if width > build.cell:
        load_whole, store_whole = _LOAD_WORDS, _STORE_WORDS
    narrow = f"  %r = trunc i64 %all to {kind}\n" if bits < 64 else "  %r = add i64 %all, 0\n"
    widen = f"  %long = zext {kind} %value to i64\n" if bits < 64 else "  %long = add i64 %value, 0\n"
    return f"""
define internal {kind} @lw.load.{kind}({parameters}) noinline #1 {{
  %sum = alloca i64
{head}{load_whole}  ret {kind} %direct
begin:
  store i64 0, ptr %sum
{_loop(str(width), gather)}  %all = load i64, ptr %sum
{narrow}  ret {kind} %r
}}
define internal void @lw.store.{kind}({parameters}, {kind} %value) noinline #1 {{
{head}{store_whole}  ret void
begin:
{widen}{_loop(str(width), scatter)}  ret void
}}"""


def table_helpers(build: Build) -> str:
    stride = build.stride
    return f"""
define internal i32 @lw.table_grow(ptr %record, i64 %value, i32 %more32) noinline #1 {{
{cell_at(build, state.TABLE_SIZE, "%size_at")}{cell_at(build, state.TABLE_MAXIMUM, "%maximum_at")}
{cell_at(build, state.TABLE_BASE, "%base_at")}
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
{
        _loop(
            "%count",
            f'''  %where = add i64 %start, %i
  %at = getelementptr [{stride} x i8], ptr %base, i64 %where
  store i64 %value, ptr %at, align 8, !tbaa !2
''',
        )
    }  ret void
}}
define internal void @lw.table_init(ptr %base, i64 %into, ptr %source, i64 %count) noinline #1 {{
begin:
{
        _loop(
            "%count",
            f'''  %x = add i64 %into, %i
  %at.x = getelementptr [{stride} x i8], ptr %base, i64 %x
  %at.y = getelementptr i64, ptr %source, i64 %i
  %v = load i64, ptr %at.y, align 8
  store i64 %v, ptr %at.x, align 8, !tbaa !2
''',
        )
    }  ret void
}}
define internal void @lw.table_copy(ptr %to, i64 %into, ptr %from, i64 %first, i64 %count) noinline #1 {{
begin:
  %backwards = icmp ugt i64 %into, %first
{
        _loop(
            "%count",
            f'''  %x = add i64 %into, %i
  %y = add i64 %first, %i
  %at.x = getelementptr [{stride} x i8], ptr %to, i64 %x
  %at.y = getelementptr [{stride} x i8], ptr %from, i64 %y
  %v = load i64, ptr %at.y, align 8, !tbaa !2
  store i64 %v, ptr %at.x, align 8, !tbaa !2
''',
            "%backwards",
        )
    }  ret void
}}
"""
