"""Linear memory: where an address leads in each layout, who checks it, and the instructions on whole ranges."""

from __future__ import annotations

from typing import Any

from lanewise.settings import WARP_SIZE
from lanewise.wasm import state, traps
from lanewise.wasm.lowering import MEMORY_STEPS, FunctionLowering, rule
from lanewise.wasm.marking import mark, mark_range, reserved_bytes
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
    if fn.build.fixed_memory:
        return str(_least(fn, memory))
    return fn.load_cell(state.MEMORY_BYTES, "i64", _record(fn, memory))


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
    if offset + width <= _least(fn, memory):
        # The memory never gets smaller than it began, so the last good address is not negative: comparing the address
        # itself lets the subtraction leave loops.
        last = fn.assign(f"sub i64 {size}, {offset + width}")
        wide = fn.assign(f"zext i32 {address} to i64")
        outside = fn.assign(f"icmp ugt i64 {wide}, {last}")
    else:
        behind = fn.assign(f"add nuw nsw i64 {effective}, {width}")
        outside = fn.assign(f"icmp ugt i64 {behind}, {size}")
    fn.trap_if(outside, traps.OUT_OF_BOUNDS)


def _least(fn: FunctionLowering, memory: int) -> int:
    return fn.module.memories[memory].limits.minimum * PAGE


def place(fn: FunctionLowering, base: str, effective: str, kind: str = "ptr") -> str:
    """The pointer to a byte of linear memory, of the kind that the base has."""
    if fn.build.layout == "flat":
        return fn.assign(f"getelementptr i8, {kind} {base}, i64 {effective}", "at")
    cell = fn.assign(f"and i64 {effective}, {-fn.build.cell}")
    within = fn.assign(f"and i64 {effective}, {fn.build.cell - 1}")
    scaled = fn.assign(f"mul nuw nsw i64 {cell}, {fn.build.columns}")
    offset = fn.assign(f"or disjoint i64 {scaled}, {within}")
    return fn.assign(f"getelementptr i8, {kind} {base}, i64 {offset}", "at")


def _load(fn: FunctionLowering, op: Op, memarg: MemArg, parts: list[str]) -> None:
    result, llvm, address = parts
    width = _width(llvm)
    if fn.build.alignment == "any":
        effective = _effective(fn, address, memarg[1])
        _check_bounds(fn, address, effective, width, memarg)
        at = place(fn, _base(fn, memarg[2]), effective)
        fn.emit(f"{result} = load {_volatile(fn)}{llvm}, ptr {at}, align 1, !tbaa !3{fn.note()}")
        return
    if width < 16:
        value = _whole_load(fn, address, memarg, width)
        fn.emit(f"{result} = bitcast i{width * 8} {value} to {llvm}")
        return
    low, high = _halves(fn, address, memarg)
    first = fn.assign(f"insertelement <2 x i64> poison, i64 {_whole_load(fn, *low, 8)}, i32 0")
    both = fn.assign(f"insertelement <2 x i64> {first}, i64 {_whole_load(fn, *high, 8)}, i32 1")
    fn.emit(f"{result} = bitcast <2 x i64> {both} to {llvm}")


def _store(fn: FunctionLowering, op: Op, memarg: MemArg, parts: list[str]) -> None:
    _, llvm, value, address = parts
    width = _width(llvm)
    if fn.build.alignment == "any":
        effective = _effective(fn, address, memarg[1])
        _check_bounds(fn, address, effective, width, memarg)
        at = place(fn, _base(fn, memarg[2]), effective)
        fn.emit(f"store {_volatile(fn)}{llvm} {value}, ptr {at}, align 1, !tbaa !3{fn.note()}")
    elif width < 16:
        _whole_store(fn, address, memarg, width, fn.assign(f"bitcast {llvm} {value} to i{width * 8}"))
    else:
        halves = fn.assign(f"bitcast {llvm} {value} to <2 x i64>")
        low, high = _halves(fn, address, memarg)
        last = _whole_load(fn, *high, 8)  # nothing is stored unless all of it is in bounds
        _whole_store(fn, *low, 8, fn.assign(f"extractelement <2 x i64> {halves}, i32 0"))
        _whole_store(fn, *high, 8, fn.assign(f"extractelement <2 x i64> {halves}, i32 1"))
        fn.emit(f"call void @lw.keep(i64 {last})")


def _halves(fn: FunctionLowering, address: str, memarg: MemArg) -> tuple[tuple[str, MemArg], tuple[str, MemArg]]:
    align, offset, memory = memarg
    return (address, memarg), (address, (align, offset + 8, memory))


def _whole_load(fn: FunctionLowering, address: str, memarg: MemArg, width: int) -> str:
    """Load a whole number on a machine that faults on misaligned addresses."""
    bits = f"i{width * 8}"
    if _calls(fn, memarg, width):
        return fn.assign(f"call {bits} @lw.load.{bits}({_called_with(fn, address, memarg)})")
    bad, effective = _misplaced(fn, address, memarg, width)
    if fn.build.alignment == "exit":
        fn.leave_if(bad)
        return _aligned_load(fn, memarg[2], effective, width)
    slow, fast, on = (fn.label(name) for name in ("slow", "fast", "on"))
    slowly = fn.name("v")
    call = f"{slowly} = call {bits} @lw.load.{bits}({_called_with(fn, address, memarg)})"
    fn.cold += (f"{slow}:", call, f"br label %{on}")
    fn.lines += (f"br i1 {bad}, label %{slow}, label %{fast}, !prof !0", f"{fast}:")
    value = _aligned_load(fn, memarg[2], effective, width)
    fn.lines += (f"br label %{on}", f"{on}:")
    return fn.assign(f"phi {bits} [ {value}, %{fast} ], [ {slowly}, %{slow} ]")


def _whole_store(fn: FunctionLowering, address: str, memarg: MemArg, width: int, value: str) -> None:
    bits = f"i{width * 8}"
    if _calls(fn, memarg, width):
        fn.emit(f"call void @lw.store.{bits}({_called_with(fn, address, memarg)}, {bits} {value})")
        _mark_both_ends(fn, address, memarg, width)
        return
    bad, effective = _misplaced(fn, address, memarg, width)
    if fn.build.alignment == "exit":
        fn.leave_if(bad)
        _aligned_store(fn, memarg[2], effective, width, value)
        mark(fn, memarg[2], effective)
        return
    slow, fast, on = (fn.label(name) for name in ("slow", "fast", "on"))
    call = f"call void @lw.store.{bits}({_called_with(fn, address, memarg)}, {bits} {value})"
    fn.cold += (f"{slow}:", call, f"br label %{on}")
    fn.lines += (f"br i1 {bad}, label %{slow}, label %{fast}, !prof !0", f"{fast}:")
    _aligned_store(fn, memarg[2], effective, width, value)
    fn.lines += (f"br label %{on}", f"{on}:")
    _mark_both_ends(fn, address, memarg, width)


def _mark_both_ends(fn: FunctionLowering, address: str, memarg: MemArg, width: int) -> None:
    """Note a store in bounds that may be misaligned."""
    if fn.notes_stores:
        first = fn.assign(f"trunc i64 {_effective(fn, address, memarg[1])} to i32")
        mark(fn, memarg[2], first, *([fn.assign(f"add i32 {first}, {width - 1}")] if width > 1 else []))


def _aligned_load(fn: FunctionLowering, memory: int, effective: str, width: int) -> str:
    """Load what lies within one cell, or fills whole ones."""
    at = _column(fn, memory, effective, width)
    if width <= fn.build.cell:
        return fn.assign(f"load i{width * 8}, {at}, align {width}, !tbaa !3")
    low = fn.assign(f"zext i32 {fn.assign(f'load i32, {at}, align 4, !tbaa !3')} to i64")
    high = fn.assign(f"zext i32 {fn.assign(f'load i32, {_next_word(fn, at)}, align 4, !tbaa !3')} to i64")
    return fn.assign(f"or disjoint i64 {fn.assign(f'shl nuw i64 {high}, 32')}, {low}")


def _aligned_store(fn: FunctionLowering, memory: int, effective: str, width: int, value: str) -> None:
    at = _column(fn, memory, effective, width)
    if width <= fn.build.cell:
        fn.emit(f"store i{width * 8} {value}, {at}, align {width}, !tbaa !3")
        return
    high = fn.assign(f"lshr i64 {value}, 32")
    fn.emit(f"store i32 {fn.assign(f'trunc i64 {value} to i32')}, {at}, align 4, !tbaa !3")
    fn.emit(f"store i32 {fn.assign(f'trunc i64 {high} to i32')}, {_next_word(fn, at)}, align 4, !tbaa !3")


def _next_word(fn: FunctionLowering, at: str) -> str:
    """The typed pointer to the word behind one, in cells of words."""
    kind = at.rpartition(" ")[0]
    return f"{kind} {fn.assign(f'getelementptr i8, {at}, i64 {4 * WARP_SIZE}')}"


def _calls(fn: FunctionLowering, memarg: MemArg, width: int) -> bool:
    """Whether an access is a call: a hint that is smaller than the access says that it may well be misaligned."""
    return fn.build.alignment == "careful" or 1 << memarg[0] < width


def _called_with(fn: FunctionLowering, address: str, memarg: MemArg) -> str:
    """What the helpers take that check bounds and alignment themselves."""
    fn.traps = True
    effective = _effective(fn, address, memarg[1])
    size = memory_bytes(fn, memarg[2])
    return f"ptr %st, ptr {_base(fn, memarg[2])}, i64 {size}, i64 {effective}, i32 {fn.place}"


def _misplaced(fn: FunctionLowering, address: str, memarg: MemArg, width: int) -> tuple[str, str]:
    """Whether an access is out of bounds or misaligned, and its address with the offset, in 32 bits.

    Turned right by the bits that must be 0, a misaligned address becomes larger than any good one: one comparison
    finds both. Addresses stay in 32 bits, which a memory on a GPU never exceeds.
    """
    _, offset, memory = memarg
    if offset + width > _least(fn, memory):
        effective = _effective(fn, address, offset)
        behind = fn.assign(f"add nuw nsw i64 {effective}, {width}")
        outside = fn.assign(f"icmp ugt i64 {behind}, {memory_bytes(fn, memory)}")
        address = fn.assign(f"trunc i64 {effective} to i32")
        if width == 1:
            return outside, address
        askew = fn.assign(f"icmp ne i32 {fn.assign(f'and i32 {address}, {width - 1}')}, 0")
        return fn.assign(f"or i1 {outside}, {askew}"), address
    if offset % width:
        address = fn.assign(f"call i32 @llvm.uadd.sat.i32(i32 {address}, i32 {offset})")
        offset = 0
    size32 = fn.assign(f"trunc i64 {memory_bytes(fn, memory)} to i32")
    shift = width.bit_length() - 1
    last = fn.assign(f"lshr i32 {fn.assign(f'sub i32 {size32}, {offset + width}')}, {shift}")
    turned = fn.assign(f"call i32 @llvm.fshr.i32(i32 {address}, i32 {address}, i32 {shift})") if shift else address
    bad = fn.assign(f"icmp ugt i32 {turned}, {last}")
    return bad, fn.assign(f"add nuw i32 {address}, {offset}") if offset else address


def _exceeds_32_bits(fn: FunctionLowering) -> bool:
    """Whether some memory may get so large that its interleaved addresses need more than 32 bits."""
    most = max((reserved_bytes(memory.limits, fn.build) for memory in fn.module.memories), default=0)
    return most * WARP_SIZE > 1 << 32


def _column(fn: FunctionLowering, memory: int, effective: str, width: int) -> str:
    """The typed pointer to an aligned address, held in 32 bits, of this lane's column of cells.

    A GPU need not find out for each access that it is global memory.
    """
    base, kind = _base(fn, memory), "ptr"
    if fn.build.gpu:
        kind = "ptr addrspace(1)"
        base = fn.assign(f"addrspacecast ptr {base} to {kind}")
    if fn.build.columns > 1 and _exceeds_32_bits(fn):
        return f"{kind} {place(fn, base, fn.assign(f'zext i32 {effective} to i64'), kind)}"
    if fn.build.columns > 1:
        if width >= fn.build.cell:
            effective = fn.assign(f"shl nuw i32 {effective}, 5")
        else:
            cell = fn.assign(f"and i32 {effective}, {-fn.build.cell}")
            within = fn.assign(f"and i32 {effective}, {fn.build.cell - width}")
            effective = fn.assign(f"or disjoint i32 {fn.assign(f'shl nuw i32 {cell}, 5')}, {within}")
    wide = fn.assign(f"zext i32 {effective} to i64")
    return f"{kind} {fn.assign(f'getelementptr i8, {kind} {base}, i64 {wide}', 'at')}"


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
    if fn.notes_stores and (".store" in op.name or ".rmw" in op.name):
        mark(fn, memarg[2], fn.assign(f"trunc i64 {effective} to i32"))
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
    mark_range(fn, memory, first, length)


@rule("memory.copy")
def _memory_copy(fn: FunctionLowering, op: Op, to: int = 0, source: int = 0) -> None:
    (_, target), (_, start), (_, count) = fn.pop_many(3)
    into, _ = _check_range(fn, target, count, memory_bytes(fn, to), traps.OUT_OF_BOUNDS)
    first, length = _check_range(fn, start, count, memory_bytes(fn, source), traps.OUT_OF_BOUNDS)
    bases = f"ptr {_base(fn, to)}, i64 {into}, ptr {_base(fn, source)}, i64 {first}"
    fn.emit(f"call void @lw.memory_copy({bases}, i64 {length})")
    mark_range(fn, to, into, length)


@rule("memory.init")
def _memory_init(fn: FunctionLowering, op: Op, segment: int, memory: int = 0) -> None:
    (_, target), (_, start), (_, count) = fn.pop_many(3)
    left = fn.load_cell(fn.layout.data_lengths + segment)
    into, _ = _check_range(fn, target, count, memory_bytes(fn, memory), traps.OUT_OF_BOUNDS)
    first, length = _check_range(fn, start, count, left, traps.OUT_OF_BOUNDS)
    write_data(fn, segment, memory, into, first, length)
    mark_range(fn, memory, into, length)


def write_data(fn: FunctionLowering, segment: int, memory: int, into: str, first: str, length: str) -> None:
    """Copy bytes of a data segment into a memory; the caller has checked both ranges."""
    data = fn.load_cell(state.DATA, "ptr", constant=True)
    at = fn.assign(f"add i64 {first}, {fn.module.data_segments[segment].start}")
    source = fn.assign(f"getelementptr i8, ptr {data}, i64 {at}")
    fn.emit(f"call void @lw.memory_init(ptr {_base(fn, memory)}, i64 {into}, ptr {source}, i64 {length})")


@rule("data.drop")
def _data_drop(fn: FunctionLowering, op: Op, segment: int) -> None:
    fn.store_cell(fn.layout.data_lengths + segment, "i64", "0", seen=True)


@rule("atomic.fence")
def _atomic_fence(fn: FunctionLowering, op: Op, *zero: Any) -> None:
    fn.emit("fence seq_cst")


@rule("memory.atomic.notify")
def _notify(fn: FunctionLowering, op: Op, memarg: MemArg) -> None:
    (_, address), (_, count) = fn.pop_many(2)
    at = _atomic_place(fn, op, memarg, address, 4)
    fn.push("i32", fn.assign(f"call i32 @lw.notify(ptr %st, ptr {at}, i32 {count})"))


@rule("memory.atomic.wait32", "memory.atomic.wait64")
def _wait(fn: FunctionLowering, op: Op, memarg: MemArg) -> None:
    (_, address), (_, expected), (_, timeout) = fn.pop_many(3)
    bits = 64 if op.name.endswith("64") else 32
    at = _atomic_place(fn, op, memarg, address, bits // 8)
    if not fn.module.memories[memarg[2]].shared:
        fn.traps = True
        fn.emit(fn.ending(traps.NOT_SHARED))
    call = f"call i32 @lw.wait{bits}(ptr %st, i32 {fn.place}, ptr {at}, i{bits} {expected}, i64 {timeout})"
    fn.push("i32", fn.assign(call))
