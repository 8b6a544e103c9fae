"""Tables and references: rules for lowering them. An entry of a table is a cell, interleaved like all other cells."""

from __future__ import annotations

from lanewise.wasm import state, traps
from lanewise.wasm.lowering import FunctionLowering, rule
from lanewise.wasm.opcodes.row import Op


def _record(fn: FunctionLowering, table: int) -> str:
    return fn.record(fn.layout.tables[table], table < fn.module.imported_tables)


def _base(fn: FunctionLowering, record: str) -> str:
    return fn.load_cell(state.TABLE_BASE, "ptr", record, constant=True)


def _size(fn: FunctionLowering, record: str) -> str:
    return fn.load_cell(state.TABLE_SIZE, "i64", record)


def _entry_at(fn: FunctionLowering, table: int, index: str, kind: int) -> str:
    record = _record(fn, table)
    wide = fn.assign(f"zext i32 {index} to i64")
    fn.trap_if(fn.assign(f"icmp uge i64 {wide}, {_size(fn, record)}"), kind)
    return fn.assign(f"getelementptr [{fn.stride} x i8], ptr {_base(fn, record)}, i64 {wide}")


def table_entry(fn: FunctionLowering, table: int, index: str, kind: int) -> str:
    """The reference at an index of a table; out of bounds the lane ends with a trap of this kind."""
    return fn.assign(f"load i64, ptr {_entry_at(fn, table, index, kind)}, align 8, !tbaa !2")


@rule("table.get")
def _table_get(fn: FunctionLowering, op: Op, table: int) -> None:
    index = fn.pop()
    kind = fn.module.tables[table].element
    fn.push(kind, table_entry(fn, table, index, traps.TABLE_OUT_OF_BOUNDS))


@rule("table.set")
def _table_set(fn: FunctionLowering, op: Op, table: int) -> None:
    (_, index), (_, value) = fn.pop_many(2)
    at = _entry_at(fn, table, index, traps.TABLE_OUT_OF_BOUNDS)
    keep = "volatile " if fn.build.checks == "guard" else ""
    fn.emit(f"store {keep}i64 {value}, ptr {at}, align 8, !tbaa !2")


@rule("table.size")
def _table_size(fn: FunctionLowering, op: Op, table: int) -> None:
    fn.push("i32", fn.assign(f"trunc i64 {_size(fn, _record(fn, table))} to i32"))


@rule("table.grow")
def _table_grow(fn: FunctionLowering, op: Op, table: int) -> None:
    (_, value), (_, count) = fn.pop_many(2)
    call = f"call i32 @lw.table_grow(ptr {_record(fn, table)}, i64 {value}, i32 {count})"
    fn.push("i32", fn.assign(call))


def _check_range(fn: FunctionLowering, start: str, count: str, limit: str) -> tuple[str, str]:
    first, length = (fn.assign(f"zext i32 {value} to i64") for value in (start, count))
    behind = fn.assign(f"add nuw nsw i64 {first}, {length}")
    fn.trap_if(fn.assign(f"icmp ugt i64 {behind}, {limit}"), traps.TABLE_OUT_OF_BOUNDS)
    return first, length


@rule("table.fill")
def _table_fill(fn: FunctionLowering, op: Op, table: int) -> None:
    (_, start), (_, value), (_, count) = fn.pop_many(3)
    record = _record(fn, table)
    first, length = _check_range(fn, start, count, _size(fn, record))
    fn.emit(f"call void @lw.table_fill(ptr {_base(fn, record)}, i64 {first}, i64 {value}, i64 {length})")


@rule("table.copy")
def _table_copy(fn: FunctionLowering, op: Op, to: int, source: int) -> None:
    (_, target), (_, start), (_, count) = fn.pop_many(3)
    into_record, from_record = _record(fn, to), _record(fn, source)
    into, _ = _check_range(fn, target, count, _size(fn, into_record))
    first, length = _check_range(fn, start, count, _size(fn, from_record))
    places = f"ptr {_base(fn, into_record)}, i64 {into}, ptr {_base(fn, from_record)}, i64 {first}"
    fn.emit(f"call void @lw.table_copy({places}, i64 {length})")


@rule("table.init")
def _table_init(fn: FunctionLowering, op: Op, segment: int, table: int) -> None:
    (_, target), (_, start), (_, count) = fn.pop_many(3)
    record = _record(fn, table)
    left = fn.load_cell(fn.layout.element_lengths + segment)
    into, _ = _check_range(fn, target, count, _size(fn, record))
    first, length = _check_range(fn, start, count, left)
    write_elements(fn, segment, table, into, first, length)


def write_elements(fn: FunctionLowering, segment: int, table: int, into: str, first: str, length: str) -> None:
    """Write items of an element segment into a table; the caller has checked both ranges."""
    items = fn.load_cell(state.ELEMENTS, "ptr", constant=True)
    at = fn.assign(f"add i64 {first}, {fn.layout.element_starts[segment]}")
    source = fn.assign(f"getelementptr i64, ptr {items}, i64 {at}")
    base = _base(fn, _record(fn, table))
    fn.emit(f"call void @lw.table_init(ptr {base}, i64 {into}, ptr {source}, i64 {length})")


def table_size(fn: FunctionLowering, table: int) -> str:
    """How many entries a table has now, as i64."""
    return _size(fn, _record(fn, table))


@rule("elem.drop")
def _elem_drop(fn: FunctionLowering, op: Op, segment: int) -> None:
    fn.store_cell(fn.layout.element_lengths + segment, "i64", "0", seen=True)


@rule("ref.null")
def _ref_null(fn: FunctionLowering, op: Op, kind: str) -> None:
    fn.push(kind, "0")


@rule("ref.is_null")
def _ref_is_null(fn: FunctionLowering, op: Op) -> None:
    null = fn.assign(f"icmp eq i64 {fn.pop()}, 0")
    fn.push("i32", fn.assign(f"zext i1 {null} to i32"))
