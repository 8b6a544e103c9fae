"""Linear memory: where an address leads in each layout, who checks it, and the instructions on whole ranges."""

from __future__ import annotations

from typing import Any

from lanewise.settings import WARP_SIZE
from lanewise.wasm import state, traps
from lanewise.wasm.lowering import MEMORY_STEPS, FunctionLowering, rule
from lanewise.wasm.model import PAGE
from lanewise.wasm.opcodes.row import Op

MemArg = tuple[int, int, int]
"""Alignment hint (a power of two), offset and number of the memory."""

_BITS = {"float": 32, "double": 64, "<4 x i32>": 128}


def _width(llvm: str) -> int:
    return _BITS[llvm] // 8 if llvm in _BITS else int(llvm[1:]) // 8


def _record(fn: FunctionLowering, memory: int) -> str:
    return fn.record(fn.layout.memories[memory], memory < fn.module.imported_memories)


def _base(fn: FunctionLowering, memory: int) -> str:
    if memory == 0:
        return "%mem"
    return fn.load_cell(state.MEMORY_BASE, "ptr", _record(fn, memory), constant=True)


def memory_bytes(fn: FunctionLowering, memory: int) -> str:
    """How large a memory is now, as i64."""
    fixed = memory == 0 and fn.build.fixed_memory
    return fn.load_cell(state.MEMORY_BYTES, "i64", _record(fn, memory), constant=fixed)


def _effective(fn: FunctionLowering, address: str, offset: int) -> str:
    """The address with its offset: 33 bits at most, so it is held in 64."""
    if address.lstrip("-").isdecimal():
        return str((int(address) & 0xFFFFFFFF) + offset)
    wide = fn.assign(f"zext i32 {address} to i64")
    return fn.assign(f"add nuw nsw i64 {wide}, {offset}") if offset else wide


def _check_bounds(fn: FunctionLowering, address: str, effective: str, width: int, memarg: MemArg) -> None:
    _, offset, memory = memarg
    if fn.build.checks == "guard":
        return
    size = memory_bytes(fn, memory)
    least = fn.module.memories[memory].limits.minimum * PAGE
    last = fn.assign(f"sub i64 {size}, {width}")
    if offset + width <= least:
        # The memory never gets smaller than it began, so the last good address is not negative: comparing the address
        # itself lets the subtraction leave loops.
        last = fn.assign(f"sub i64 {size}, {offset + width}")
        wide = fn.assign(f"zext i32 {address} to i64")
        outside = fn.assign(f"icmp ugt i64 {wide}, {last}")
    else:
        behind = fn.assign(f"add nuw nsw i64 {effective}, {width}")
        outside = fn.assign(f"icmp ugt i64 {behind}, {size}")
    fn.trap_if(outside, traps.OUT_OF_BOUNDS)


def place(fn: FunctionLowering, base: str, effective: str) -> str:
    """The pointer to a byte of linear memory."""
    if fn.build.layout == "flat":
        return fn.assign(f"getelementptr i8, ptr {base}, i64 {effective}", "at")
    cell = fn.assign(f"and i64 {effective}, -8")
    within = fn.assign(f"and i64 {effective}, 7")
    scaled = fn.assign(f"mul nuw nsw i64 {cell}, {WARP_SIZE}")
    return fn.assign(f"getelementptr i8, ptr {base}, i64 {fn.assign(f'or disjoint i64 {scaled}, {within}')}", "at")


def _aligned(fn: FunctionLowering, effective: str, width: int) -> str:
    low = fn.assign(f"and i64 {effective}, {width - 1}")
    return fn.assign(f"icmp eq i64 {low}, 0")


def _load(fn: FunctionLowering, op: Op, memarg: MemArg, parts: list[str]) -> None:
    result, llvm, address = parts
    width = _width(llvm)
    effective = _effective(fn, address, memarg[1])
    _check_bounds(fn, address, effective, width, memarg)
    base = _base(fn, memarg[2])
    if fn.build.alignment == "any" or width == 1:
        at = place(fn, base, effective)
        fn.emit(f"{result} = load {_volatile(fn)}{llvm}, ptr {at}, align 1, !tbaa !3")
        return
    bits = f"i{width * 8}"
    if width == 16:
        halves = []
        for half in (0, 8):
            at = effective if half == 0 else fn.assign(f"add i64 {effective}, 8")
            halves.append(_guarded_load(fn, base, at, 8))
        low = fn.assign(f"insertelement <2 x i64> poison, i64 {halves[0]}, i32 0")
        both = fn.assign(f"insertelement <2 x i64> {low}, i64 {halves[1]}, i32 1")
        fn.emit(f"{result} = bitcast <2 x i64> {both} to {llvm}")
        return
    value = _guarded_load(fn, base, effective, width)
    fn.emit(f"{result} = bitcast {bits} {value} to {llvm}")


def _guarded_load(fn: FunctionLowering, base: str, effective: str, width: int) -> str:
    """Load a whole number on a machine that faults on misaligned addresses."""
    bits = f"i{width * 8}"
    aligned = _aligned(fn, effective, width)
    if fn.build.alignment == "exit":
        fn.trap_if(fn.assign(f"xor i1 {aligned}, true"), traps.MISALIGNED)
        return fn.assign(f"load {bits}, ptr {place(fn, base, effective)}, align {width}, !tbaa !3")
    slot = fn.name("loaded")
    fn.slots.append(f"{slot} = alloca {bits}")
    whole, bytewise, on = fn.label("whole"), fn.label("bytewise"), fn.label("on")
    fn.emit(f"br i1 {aligned}, label %{whole}, label %{bytewise}, !prof !4")
    fn.emit(f"{whole}:")
    value = fn.assign(f"load {bits}, ptr {place(fn, base, effective)}, align {width}, !tbaa !3")
    fn.emit(f"store {bits} {value}, ptr {slot}")
    fn.emit(f"br label %{on}")
    slow = fn.name("slow")
    wide = fn.name("wide")
    fn.cold += (
        f"{bytewise}:",
        f"{wide} = call i64 @lw.load_bytes(ptr {base}, i64 {effective}, i32 {width})",
        f"{slow} = trunc i64 {wide} to {bits}" if width < 8 else f"{slow} = add i64 {wide}, 0",
        f"store {bits} {slow}, ptr {slot}",
        f"br label %{on}",
    )
    fn.emit(f"{on}:")
    return fn.assign(f"load {bits}, ptr {slot}")


def _store(fn: FunctionLowering, op: Op, memarg: MemArg, parts: list[str]) -> None:
    _, llvm, value, address = parts
    width = _width(llvm)
    effective = _effective(fn, address, memarg[1])
    _check_bounds(fn, address, effective, width, memarg)
    base = _base(fn, memarg[2])
    if fn.build.alignment == "any" or width == 1:
        fn.emit(f"store {_volatile(fn)}{llvm} {value}, ptr {place(fn, base, effective)}, align 1, !tbaa !3")
    elif width == 16:
        halves = fn.assign(f"bitcast {llvm} {value} to <2 x i64>")
        for half in (0, 1):
            at = effective if half == 0 else fn.assign(f"add i64 {effective}, 8")
            _guarded_store(fn, base, at, 8, fn.assign(f"extractelement <2 x i64> {halves}, i32 {half}"))
    else:
        bits = f"i{width * 8}"
        _guarded_store(fn, base, effective, width, fn.assign(f"bitcast {llvm} {value} to {bits}"))


def _guarded_store(fn: FunctionLowering, base: str, effective: str, width: int, value: str) -> None:
    bits = f"i{width * 8}"
    aligned = _aligned(fn, effective, width)
    if fn.build.alignment == "exit":
        fn.trap_if(fn.assign(f"xor i1 {aligned}, true"), traps.MISALIGNED)
        fn.emit(f"store {bits} {value}, ptr {place(fn, base, effective)}, align {width}, !tbaa !3")
        return
    whole, bytewise, on = fn.label("whole"), fn.label("bytewise"), fn.label("on")
    fn.emit(f"br i1 {aligned}, label %{whole}, label %{bytewise}, !prof !4")
    fn.emit(f"{whole}:")
    fn.emit(f"store {bits} {value}, ptr {place(fn, base, effective)}, align {width}, !tbaa !3")
    fn.emit(f"br label %{on}")
    wide = fn.name("wide")
    fn.cold += (
        f"{bytewise}:",
        f"{wide} = zext {bits} {value} to i64" if width < 8 else f"{wide} = add i64 {value}, 0",
        f"call void @lw.store_bytes(ptr {base}, i64 {effective}, i32 {width}, i64 {wide})",
        f"br label %{on}",
    )
    fn.emit(f"{on}:")


def _volatile(fn: FunctionLowering) -> str:
    """Where pages guard the memory an access may be what ends the lane: LLVM must neither drop nor move it."""
    return "volatile " if fn.build.checks == "guard" else ""


def _atomic_place(fn: FunctionLowering, op: Op, memarg: MemArg, address: str, width: int) -> str:
    effective = _effective(fn, address, memarg[1])
    if width > 1:
        low = fn.assign(f"and i64 {effective}, {width - 1}")
        fn.trap_if(fn.assign(f"icmp ne i64 {low}, 0"), traps.UNALIGNED_ATOMIC)
    behind = fn.assign(f"add nuw nsw i64 {effective}, {width}")
    # Atomics are checked by comparison everywhere: they are rare, and what they do must not be torn by a fault.
    fn.trap_if(fn.assign(f"icmp ugt i64 {behind}, {memory_bytes(fn, memarg[2])}"), traps.OUT_OF_BOUNDS)
    return place(fn, _base(fn, memarg[2]), effective)


def _atomic_load(fn: FunctionLowering, op: Op, memarg: MemArg, parts: list[str]) -> None:
    result, llvm, address = parts
    at = _atomic_place(fn, op, memarg, address, _width(llvm))
    fn.emit(f"{result} = load atomic {llvm}, ptr {at} seq_cst, align {_width(llvm)}")


def _atomic_store(fn: FunctionLowering, op: Op, memarg: MemArg, parts: list[str]) -> None:
    _, llvm, value, address = parts
    at = _atomic_place(fn, op, memarg, address, _width(llvm))
    fn.emit(f"store atomic {llvm} {value}, ptr {at} seq_cst, align {_width(llvm)}")


def _atomic_rmw(fn: FunctionLowering, op: Op, memarg: MemArg, parts: list[str]) -> None:
    result, operation, llvm, address, value = parts
    at = _atomic_place(fn, op, memarg, address, _width(llvm))
    if fn.build.gpu:
        fn.emit("fence seq_cst")  # NVPTX keeps no order on atomicrmw
    fn.emit(f"{result} = atomicrmw {operation} ptr {at}, {llvm} {value} seq_cst")
    if fn.build.gpu:
        fn.emit("fence seq_cst")


def _atomic_cmpxchg(fn: FunctionLowering, op: Op, memarg: MemArg, parts: list[str]) -> None:
    result, llvm, address, expected, replacement = parts
    at = _atomic_place(fn, op, memarg, address, _width(llvm))
    pair = fn.assign(f"cmpxchg ptr {at}, {llvm} {expected}, {llvm} {replacement} seq_cst seq_cst")
    fn.emit(f"{result} = extractvalue {{ {llvm}, i1 }} {pair}, 0")


MEMORY_STEPS |= {
    "load": _load,
    "store": _store,
    "atomic.load": _atomic_load,
    "atomic.store": _atomic_store,
    "atomic.rmw": _atomic_rmw,
    "atomic.cmpxchg": _atomic_cmpxchg,
}


@rule("memory.size")
def _memory_size(fn: FunctionLowering, op: Op, memory: int = 0) -> None:
    pages = fn.assign(f"lshr i64 {memory_bytes(fn, memory)}, 16")
    fn.push("i32", fn.assign(f"trunc i64 {pages} to i32"))


@rule("memory.grow")
def _memory_grow(fn: FunctionLowering, op: Op, memory: int = 0) -> None:
    pages = fn.pop()
    fn.push("i32", fn.assign(f"call i32 @lw.memory_grow(ptr {_record(fn, memory)}, i32 {pages})"))


def _check_range(fn: FunctionLowering, start: str, count: str, limit: str, kind: int) -> tuple[str, str]:
    """End the lane unless `count` entries from `start` lie below the limit; gives both as i64."""
    first, length = (fn.assign(f"zext i32 {value} to i64") for value in (start, count))
    behind = fn.assign(f"add nuw nsw i64 {first}, {length}")
    fn.trap_if(fn.assign(f"icmp ugt i64 {behind}, {limit}"), kind)
    return first, length


@rule("memory.fill")
def _memory_fill(fn: FunctionLowering, op: Op, memory: int = 0) -> None:
    (_, start), (_, value), (_, count) = fn.pop_many(3)
    first, length = _check_range(fn, start, count, memory_bytes(fn, memory), traps.OUT_OF_BOUNDS)
    byte = fn.assign(f"trunc i32 {value} to i8")
    fn.emit(f"call void @lw.memory_fill(ptr {_base(fn, memory)}, i64 {first}, i8 {byte}, i64 {length})")


@rule("memory.copy")
def _memory_copy(fn: FunctionLowering, op: Op, to: int = 0, source: int = 0) -> None:
    (_, target), (_, start), (_, count) = fn.pop_many(3)
    into, _ = _check_range(fn, target, count, memory_bytes(fn, to), traps.OUT_OF_BOUNDS)
    first, length = _check_range(fn, start, count, memory_bytes(fn, source), traps.OUT_OF_BOUNDS)
    bases = f"ptr {_base(fn, to)}, i64 {into}, ptr {_base(fn, source)}, i64 {first}"
    fn.emit(f"call void @lw.memory_copy({bases}, i64 {length})")


@rule("memory.init")
def _memory_init(fn: FunctionLowering, op: Op, segment: int, memory: int = 0) -> None:
    (_, target), (_, start), (_, count) = fn.pop_many(3)
    left = fn.load_cell(fn.layout.data_lengths + segment)
    into, _ = _check_range(fn, target, count, memory_bytes(fn, memory), traps.OUT_OF_BOUNDS)
    first, length = _check_range(fn, start, count, left, traps.OUT_OF_BOUNDS)
    write_data(fn, segment, memory, into, first, length)


def write_data(fn: FunctionLowering, segment: int, memory: int, into: str, first: str, length: str) -> None:
    """Copy bytes of a data segment into a memory; the caller has checked both ranges."""
    data = fn.load_cell(state.DATA, "ptr", constant=True)
    at = fn.assign(f"add i64 {first}, {fn.module.data_segments[segment].start}")
    source = fn.assign(f"getelementptr i8, ptr {data}, i64 {at}")
    fn.emit(f"call void @lw.memory_init(ptr {_base(fn, memory)}, i64 {into}, ptr {source}, i64 {length})")


@rule("data.drop")
def _data_drop(fn: FunctionLowering, op: Op, segment: int) -> None:
    fn.store_cell(fn.layout.data_lengths + segment, "i64", "0")


@rule("atomic.fence")
def _atomic_fence(fn: FunctionLowering, op: Op, *zero: Any) -> None:
    fn.emit("fence seq_cst")


@rule("memory.atomic.notify")
def _notify(fn: FunctionLowering, op: Op, memarg: MemArg) -> None:
    (_, address), (_, count) = fn.pop_many(2)
    at = _atomic_place(fn, op, memarg, address, 4)
    fn.push("i32", fn.assign(f"call i32 @lw.notify(ptr {at}, i32 {count})"))


@rule("memory.atomic.wait32", "memory.atomic.wait64")
def _wait(fn: FunctionLowering, op: Op, memarg: MemArg) -> None:
    (_, address), (_, expected), (_, timeout) = fn.pop_many(3)
    bits = 64 if op.name.endswith("64") else 32
    at = _atomic_place(fn, op, memarg, address, bits // 8)
    if not fn.module.memories[memarg[2]].shared:
        fn.traps = True
        fn.emit(f"call void @lw.trap(ptr %st, i32 {traps.NOT_SHARED}, i32 {fn.place})")
    call = f"call i32 @lw.wait{bits}(ptr {at}, i{bits} {expected}, i64 {timeout})"
    fn.push("i32", fn.assign(call))
