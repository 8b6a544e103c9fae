"""Blocks, branches, variables and constants: rules for lowering them."""

from __future__ import annotations

import struct
from typing import Any

from lanewise.wasm import traps
from lanewise.wasm.lowering import FunctionLowering, rule
from lanewise.wasm.model import FuncType
from lanewise.wasm.nan import IDENTITIES
from lanewise.wasm.opcodes.row import LLVM_TYPES, Op


@rule("unreachable")
def _unreachable(fn: FunctionLowering, op: Op) -> bool:
    fn.traps = True
    fn.emit(fn.ending(traps.UNREACHABLE))
    fn.emit("unreachable")
    return True


@rule("nop")
def _nop(fn: FunctionLowering, op: Op) -> None:
    pass


@rule("block")
def _block(fn: FunctionLowering, op: Op, block: FuncType) -> None:
    fn.open_block("block", block)


@rule("loop")
def _loop(fn: FunctionLowering, op: Op, block: FuncType) -> None:
    frame = fn.open_block("loop", block)
    frame.given = [fn.slot(kind, "in") for kind in block.params]
    fn.fill(frame.given, block.params)
    del fn.stack[frame.height :]
    frame.label, frame.targets = fn.loop_label(), frame.given
    fn.emit(f"br label %{frame.label}")
    fn.emit(f"{frame.label}:")
    fn.begin_round()
    fn.take(frame.given, block.params)
    fn.loops = True
    if fn.build.stats:
        fn.emit("call void @lw.sample(ptr %st)")
    if fn.build.meter == "count":
        fn.burn()
    elif fn.build.meter != "off":
        fn.count_round()


@rule("if")
def _if(fn: FunctionLowering, op: Op, block: FuncType) -> None:
    condition = fn.assign(f"icmp ne i32 {fn.pop()}, 0")
    frame = fn.open_block("if", block)
    frame.given = [fn.slot(kind, "in") for kind in block.params]
    fn.fill(frame.given, block.params)
    then, frame.otherwise = fn.label("then"), fn.label("else")
    fn.emit(f"br i1 {condition}, label %{then}, label %{frame.otherwise}")
    fn.emit(f"{then}:")


@rule("else")
def _else(fn: FunctionLowering, op: Op) -> None:
    frame = fn.frames[-1]
    fn.fill(frame.results, frame.type.results)
    fn.emit(f"br label %{frame.end}")
    frame.reached = True
    del fn.stack[frame.height :]
    fn.begin_else()


@rule("end")
def _end(fn: FunctionLowering, op: Op) -> bool:
    return not fn.close_block() and bool(fn.frames)


@rule("br")
def _br(fn: FunctionLowering, op: Op, depth: int) -> bool:
    fn.emit(f"br label %{fn.branch(depth)}")
    return True


@rule("br_if")
def _br_if(fn: FunctionLowering, op: Op, depth: int) -> None:
    condition = fn.assign(f"icmp ne i32 {fn.pop()}, 0")
    on = fn.label("on")
    if fn.frames[-1 - depth].targets:  # filled only if the branch is taken: the slots may hold what the way on needs
        taken = fn.label("taken")
        fn.emit(f"br i1 {condition}, label %{taken}, label %{on}")
        fn.emit(f"{taken}:")
        fn.emit(f"br label %{fn.branch(depth)}")
    else:
        fn.emit(f"br i1 {condition}, label %{fn.branch(depth)}, label %{on}")
    fn.emit(f"{on}:")


@rule("br_table")
def _br_table(fn: FunctionLowering, op: Op, labels: tuple[tuple[int, ...], int]) -> bool:
    depths, default = labels
    index = fn.pop()
    ways: dict[int, str] = {}
    filled = []
    for depth in (*depths, default):
        if depth in ways:
            continue
        if fn.frames[-1 - depth].targets:
            ways[depth] = fn.label("taken")
            filled.append(depth)
        else:
            ways[depth] = fn.branch(depth)
    cases = " ".join(f"i32 {at}, label %{ways[depth]}" for at, depth in enumerate(depths))
    fn.emit(f"switch i32 {index}, label %{ways[default]} [ {cases} ]")
    for depth in filled:
        fn.emit(f"{ways[depth]}:")
        fn.emit(f"br label %{fn.branch(depth)}")
    return True


@rule("return")
def _return(fn: FunctionLowering, op: Op) -> bool:
    fn.emit(f"br label %{fn.branch(len(fn.frames) - 1)}")
    return True


@rule("drop")
def _drop(fn: FunctionLowering, op: Op) -> None:
    fn.pop()


@rule("select", "select_typed")
def _select(fn: FunctionLowering, op: Op, types: Any = None) -> None:
    condition = fn.assign(f"icmp ne i32 {fn.pop()}, 0")
    (kind, first), (_, second) = fn.pop_many(2)
    llvm = LLVM_TYPES[kind]
    # Whoever made the module chose not to branch here; LLVM, which knows less of the data, is not to undo that.
    fn.push(kind, fn.assign(f"select i1 {condition}, {llvm} {first}, {llvm} {second}, !unpredictable !1"))


@rule("local.get")
def _local_get(fn: FunctionLowering, op: Op, index: int) -> None:
    kind = fn.local_types[index]
    fn.push(kind, fn.assign(f"load {LLVM_TYPES[kind]}, ptr {fn.local(index)}"))


@rule("local.set")
def _local_set(fn: FunctionLowering, op: Op, index: int) -> None:
    fn.emit(f"store {LLVM_TYPES[fn.local_types[index]]} {fn.pop()}, ptr {fn.local(index)}")


@rule("local.tee")
def _local_tee(fn: FunctionLowering, op: Op, index: int) -> None:
    fn.emit(f"store {LLVM_TYPES[fn.local_types[index]]} {fn.stack[-1][1]}, ptr {fn.local(index)}")


@rule("global.get")
def _global_get(fn: FunctionLowering, op: Op, index: int) -> None:
    kind = fn.module.globals[index].value
    imported = index < fn.module.imported_globals
    fn.push(kind, fn.load_value(kind, 0, fn.record(fn.layout.globals[index], imported)))


@rule("global.set")
def _global_set(fn: FunctionLowering, op: Op, index: int) -> None:
    kind = fn.module.globals[index].value
    value = fn.pop()
    imported = index < fn.module.imported_globals
    fn.store_value(kind, 0, value, fn.record(fn.layout.globals[index], imported), seen=True)


@rule("const")
def _const(fn: FunctionLowering, op: Op, value: int) -> None:
    kind = op.results[0]
    text = constant(kind, value)
    if kind in ("f32", "f64") and text in IDENTITIES:
        # LLVM is not to know: it would drop operations with these, and with them the quieting of a NaN.
        text = fn.assign(f"call {LLVM_TYPES[kind]} @lw.opaque.{kind}({LLVM_TYPES[kind]} {text})")
    fn.push(kind, text)


@rule("shuffle")
def _shuffle(fn: FunctionLowering, op: Op, lanes: tuple[int, ...]) -> None:
    first, second = (fn.assign(f"bitcast <4 x i32> {value} to <16 x i8>") for _, value in fn.pop_many(2))
    mask = ", ".join(f"i32 {lane}" for lane in lanes)
    mixed = fn.assign(f"shufflevector <16 x i8> {first}, <16 x i8> {second}, <16 x i32> <{mask}>")
    fn.push("v128", fn.assign(f"bitcast <16 x i8> {mixed} to <4 x i32>"))


def constant(kind: str, value: int) -> str:
    """A constant of a WebAssembly type as LLVM writes it, from its number or its bits."""
    if kind == "f32":
        number = struct.unpack("<f", struct.pack("<I", value))[0]
        if number != number:
            return f"bitcast (i32 {value} to float)"
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if kind == "f64":
        return (
            f"0x{value:016X}"
            if value & 0x7FFFFFFFFFFFFFFF <= 0x7FF0000000000000
            else f"bitcast (i64 {value} to double)"
        )
    if kind == "v128":
        words = struct.unpack("<4i", value.to_bytes(16, "little"))
        return f"<{', '.join(f'i32 {word}' for word in words)}>"
    return str(value)
