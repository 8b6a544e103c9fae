"""Which parts of its memory a lane has stored to, so that no more than those are cleared for the next one in its slot.

A memory has up to 32 pieces of the same size, a bit of a number each. Functions note in a register where they store,
and hand that on to a cell of the state when they return. While an element runs, the cell says that all is to be
cleared, for an element that ends early hands nothing on. What an instance begins with need not be noted: the next one
begins with it, too.

Only memory 0 has marks.
"""

from __future__ import annotations

from lanewise.wasm import state
from lanewise.wasm.build import Build
from lanewise.wasm.emitter import Emitter
from lanewise.wasm.lane_words import GROW_PAGES, MOST_PAGES
from lanewise.wasm.model import PAGE, Limits

PIECES = 32
_RUNNING = 1 << PIECES
"""In the cell: an element is running, or has ended early."""


def reserved_bytes(limits: Limits, build: Build) -> int:
    """Bytes that a slot holds for a memory: it can grow so far."""
    if build.fixed_memory:
        return limits.minimum * PAGE
    wanted = build.reserve // PAGE if build.reserve else limits.minimum + GROW_PAGES
    most = MOST_PAGES if limits.maximum is None else limits.maximum
    return max(limits.minimum, min(most, wanted)) * PAGE


def piece_shift(fn: Emitter) -> int:
    """The logarithm of a piece's bytes."""
    nbytes = reserved_bytes(fn.module.memories[0].limits, fn.build)
    return max(0, max(nbytes - 1, 0).bit_length() - (PIECES.bit_length() - 1))


def mark(fn: Emitter, memory: int, *addresses: str) -> None:
    """Note that bytes at addresses in bounds, held in 32 bits, have been stored to."""
    if memory == 0 and fn.notes_stores:
        for address in addresses:
            piece = fn.assign(f"lshr i32 {address}, {piece_shift(fn)}")
            _add(fn, fn.assign(f"shl nuw i32 1, {piece}"))


def mark_range(fn: Emitter, memory: int, first: str, count: str) -> None:
    """Note that a range in bounds has been stored to, held in 64 bits, which may be empty."""
    if memory != 0 or not fn.notes_stores:
        return
    last = fn.assign(f"sub i64 {fn.assign(f'add i64 {first}, {count}')}, 1")
    low, high = (
        fn.assign(f"trunc i64 {fn.assign(f'lshr i64 {address}, {piece_shift(fn)}')} to i32")
        for address in (first, last)
    )
    from_low = fn.assign(f"shl i32 -1, {low}")
    to_high = fn.assign(f"lshr i32 -1, {fn.assign(f'sub i32 {PIECES - 1}, {high}')}")
    pieces = fn.assign(f"and i32 {from_low}, {to_high}")
    empty = fn.assign(f"icmp eq i64 {count}, 0")
    _add(fn, fn.assign(f"select i1 {empty}, i32 0, i32 {pieces}"))


def _add(fn: Emitter, pieces: str) -> None:
    before = fn.assign("load i32, ptr %marks")
    fn.emit(f"store i32 {fn.assign(f'or i32 {before}, {pieces}')}, ptr %marks")


def hand_on(fn: Emitter) -> None:
    """Tell the state what was noted, ahead of a return."""
    if fn.notes_stores:
        noted = fn.assign("load i32, ptr %marks")
        before = fn.load_cell(state.MARKS, "i32")
        fn.store_cell(state.MARKS, "i32", fn.assign(f"or i32 {before}, {noted}"))


def clear_marked(fn: Emitter, base: str, used: str) -> None:
    """Clear what the element before has stored to, and begin another."""
    found = fn.load_cell(state.MARKS)
    running = fn.assign(f"icmp uge i64 {found}, {_RUNNING}")
    noted = fn.assign(f"trunc i64 {found} to i32")
    pieces = fn.assign(f"select i1 {running}, i32 -1, i32 {noted}")
    fn.emit(f"call void @lw.memory_clear(ptr {base}, i64 {used}, i32 {pieces}, i64 {1 << piece_shift(fn)})")
    fn.store_cell(state.MARKS, "i64", str(_RUNNING))


def end_element(fn: Emitter) -> None:
    """An element has come to its end: what it noted is all that it has stored to."""
    if fn.build.marked:
        noted = fn.load_cell(state.MARKS, "i32")
        fn.store_cell(state.MARKS, "i64", fn.assign(f"zext i32 {noted} to i64"))
