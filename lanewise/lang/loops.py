"""Loops of device code: `while`, and `for` over range and grid_range, counted so that no range near a limit wraps."""

from __future__ import annotations

import ast
from typing import Any

from lanewise.lang import numbers
from lanewise.lang.expressions import condition, integer, lower, static_condition, static_value
from lanewise.lang.ir import Value
from lanewise.lang.lowering import FunctionLowering, Loop
from lanewise.lang.statements import Rule, lower_block, meet
from lanewise.lang.types import Scalar, Type, u64


def _while(fn: FunctionLowering, node: ast.While) -> None:
    if node.orelse:
        raise fn.error("a loop has no else in device code", node.orelse[0])
    forever = static_condition(fn, node.test)
    test, body, done = (fn.block.name(part) for part in ("while", "loop", "end"))
    loop = Loop(test, done)
    fn.block.label(test)
    if forever is None:
        fn.block.branch(condition(fn, node.test), body, done)
    else:
        fn.block.jump(body if forever else done)
    _loop_body(fn, node.body, loop, body, falls_through=not forever)


def _loop_body(fn: FunctionLowering, body: list[ast.stmt], loop: Loop, label: str, falls_through: bool) -> None:
    before = None if fn.assigned is None else set(fn.assigned)
    fn.block.label(label)
    fn.loops.append(loop)
    lower_block(fn, body)
    fn.loops.pop()
    if not fn.block.terminated:
        fn.block.jump(loop.again)
    after = before if falls_through else None
    for at_break in loop.at_break:
        after = meet(after, at_break)
    fn.assigned = after
    fn.block.label(loop.done)
    if after is None and not loop.at_break and not falls_through:
        fn.block.terminate("unreachable")


def _for(fn: FunctionLowering, node: ast.For) -> None:
    if node.orelse:
        raise fn.error("a loop has no else in device code", node.orelse[0])
    if not isinstance(node.target, ast.Name):
        raise fn.error("a loop counts one name", node.target)
    call = node.iter
    if not isinstance(call, ast.Call):
        raise fn.error("a loop runs over range(...) or grid_range(...)", call, "write `for i in range(n):`")
    step_node: ast.expr | None
    try:
        callee: Any = static_value(fn, call.func)
    except KeyError:
        callee = None
    if callee is range:
        start, stop, step = _range(fn, call)
        step_node = call.args[-1]
    elif callee is fn.program.grid_range_marker:
        start, stop, step = _grid_range(fn, call)
        step_node = None
    else:
        raise fn.error("a loop runs over range(...) or grid_range(...)", call, "write `for i in range(n):`")
    _counted_loop(fn, node, node.target, start, stop, step, step_node)


def _range(fn: FunctionLowering, call: ast.Call) -> tuple[Value, Value, Value]:
    if call.keywords or not 1 <= len(call.args) <= 3:
        raise fn.error("range takes a stop, a start and a stop, or a start, a stop and a step", call)
    operands = [fn.read(lower(fn, argument), argument) for argument in call.args]
    typed_operands = [operand for operand in operands if isinstance(operand, Value)]
    settled = [fn.value(operand, node) for operand, node in zip(operands, call.args, strict=True)]
    # Literals alone count in the widest type that one of them needs.
    kind: Type = typed_operands[0].type if typed_operands else max((v.type for v in settled), key=lambda t: t.size)
    if not isinstance(kind, Scalar) or not kind.is_int:
        raise fn.error(f"a range counts whole numbers, this is {kind}", call, "write u32(...) to convert")
    values = [fn.coerce(operand, kind, node) for operand, node in zip(operands, call.args, strict=True)]
    start = values[0] if len(values) > 1 else Value(kind, "0")
    stop = values[1] if len(values) > 1 else values[0]
    step = values[2] if len(values) > 2 else Value(kind, "1")
    if step.ref == "0":
        raise fn.error("a range cannot step by 0", call.args[2])
    return start, stop, step


def _grid_range(fn: FunctionLowering, call: ast.Call) -> tuple[Value, Value, Value]:
    """This thread's share of range(n): strided where neighbours in a warp touch neighbours, else in one piece."""
    if call.keywords or len(call.args) != 1:
        raise fn.error("grid_range takes one number, how many elements there are", call)
    stop = integer(fn, call.args[0], "be counted to")
    kind = stop.type
    assert isinstance(kind, Scalar)
    if kind.bits < 32:
        raise fn.error(f"{kind} is too small for grid_range", call.args[0], "write u32(...) to convert")
    abi = fn.program.abi
    block = fn.block
    thread, count = abi.thread_id(fn), abi.thread_count(fn)
    if abi.on_gpu:
        start, step, behind = thread, count, stop.ref
        if kind.bits == 64:
            start, step = (block.assign(f"zext i32 {number} to i64") for number in (thread, count))
        if kind.signed:
            behind = block.assign(f"call {kind.llvm} @llvm.smax.i{kind.bits}({kind.llvm} {behind}, {kind.llvm} 0)")
        return Value(kind, start), Value(kind, behind), Value(kind, step)
    # Share t of n elements over c threads is [t * each, t * each + each) with each = ceil(n / c), cut off at n.
    total = numbers.resize(block, stop.ref, kind, u64)
    if kind.signed:
        negative = block.assign(f"icmp slt i64 {total}, 0")
        total = block.assign(f"select i1 {negative}, i64 0, i64 {total}")
    wide_thread = block.assign(f"zext i32 {thread} to i64")
    wide_count = block.assign(f"zext i32 {count} to i64")
    less_one = block.assign(f"sub i64 {wide_count}, 1")
    sum_up = block.assign(f"add i64 {total}, {less_one}")
    each = block.assign(f"udiv i64 {sum_up}, {wide_count}")
    first = block.assign(f"mul i64 {each}, {wide_thread}")
    behind = block.assign(f"add i64 {first}, {each}")
    first_fits = block.assign(f"call i64 @llvm.umin.i64(i64 {first}, i64 {total})")
    behind_fits = block.assign(f"call i64 @llvm.umin.i64(i64 {behind}, i64 {total})")
    if kind.bits == 32:
        first_fits = block.assign(f"trunc i64 {first_fits} to i32")
        behind_fits = block.assign(f"trunc i64 {behind_fits} to i32")
    return Value(kind, first_fits), Value(kind, behind_fits), Value(kind, "1")


def _counted_loop(
    fn: FunctionLowering,
    node: ast.For,
    target: ast.Name,
    start: Value,
    stop: Value,
    step: Value,
    step_node: ast.expr | None,
) -> None:
    """Count trips, so that no step near the end of the type wraps around and never ends."""
    kind = start.type
    assert isinstance(kind, Scalar)
    ty, block = kind.llvm, fn.block
    test, body, again, done = (block.name(part) for part in ("for", "loop", "next", "end"))
    less = "slt" if kind.signed else "ult"
    if step.ref == "1":
        counter, limit, test_order = start.ref, stop.ref, less
    else:
        counter, limit, test_order = "0", _trips(fn, start, stop, step, step_node), "ult"
    slot = block.slot(ty)
    block.emit(f"store {ty} {counter}, ptr {slot}")
    place = fn.names.get(target.id)
    if place is None:
        place = fn.declare(target.id, kind)
    elif place.type != kind:
        raise fn.error(f"{target.id} is {place.type} already, this range counts in {kind}", target, "use another name")
    block.label(test)
    now = block.assign(f"load {ty}, ptr {slot}")
    block.branch(block.assign(f"icmp {test_order} {ty} {now}, {limit}"), body, done)
    block.label(body)
    if step.ref == "1":
        current = now
    else:
        current = block.assign(f"add {ty} {start.ref}, {block.assign(f'mul {ty} {now}, {step.ref}')}")
    block.emit(f"store {ty} {current}, ptr {place.ref}")
    before = None if fn.assigned is None else set(fn.assigned)
    if fn.assigned is not None:
        fn.assigned.add(target.id)
    loop = Loop(again, done)
    fn.loops.append(loop)
    lower_block(fn, node.body)
    fn.loops.pop()
    if not block.terminated:
        block.jump(again)
    block.label(again)
    # The counter is below its limit here, so adding one cannot wrap: LLVM needs the flag to vectorise.
    flag = "nsw" if kind.signed and step.ref == "1" else "nuw"
    old = block.assign(f"load {ty}, ptr {slot}")
    block.emit(f"store {ty} {block.assign(f'add {flag} {ty} {old}, 1')}, ptr {slot}")
    block.jump(test)
    for at_break in loop.at_break:
        before = meet(before, at_break)
    fn.assigned = before
    block.label(done)


def _trips(fn: FunctionLowering, start: Value, stop: Value, step: Value, step_node: ast.expr | None) -> str:
    """How many times a range with a step of any sign runs, as an unsigned number of the same width.

    A step written by the user traps where it is 0. The launch's own stride, which has no node, never is; thread numbers
    and strides may have the highest bit set, so they are unsigned whatever the type that they count in.
    """
    kind = start.type
    assert isinstance(kind, Scalar)
    ty, block = kind.llvm, fn.block
    if kind.signed and step_node is not None:
        down = block.assign(f"icmp slt {ty} {step.ref}, 0")
        size = block.assign(f"call {ty} @llvm.abs.i{kind.bits}({ty} {step.ref}, i1 false)")
        low = block.assign(f"select i1 {down}, {ty} {stop.ref}, {ty} {start.ref}")
        high = block.assign(f"select i1 {down}, {ty} {start.ref}, {ty} {stop.ref}")
        some = block.assign(f"icmp slt {ty} {low}, {high}")
    else:
        size, low, high = step.ref, start.ref, stop.ref
        some = block.assign(f"icmp ult {ty} {low}, {high}")
    if not step.ref.lstrip("-").isdecimal() and step_node is not None:
        zero = block.assign(f"icmp eq {ty} {step.ref}, 0")
        fn.trap_if(zero, "a range steps by 0", step_node)
    distance = block.assign(f"sub {ty} {high}, {low}")
    less_one = block.assign(f"sub {ty} {distance}, 1")
    full = block.assign(f"udiv {ty} {less_one}, {size}")
    trips = block.assign(f"add {ty} {full}, 1")
    return block.assign(f"select i1 {some}, {ty} {trips}, {ty} 0")


def _break(fn: FunctionLowering, node: ast.Break) -> None:
    if not fn.loops:
        raise fn.error("break outside a loop", node)
    fn.loops[-1].at_break.append(fn.assigned)
    fn.block.jump(fn.loops[-1].done)
    fn.assigned = None


def _continue(fn: FunctionLowering, node: ast.Continue) -> None:
    if not fn.loops:
        raise fn.error("continue outside a loop", node)
    fn.block.jump(fn.loops[-1].again)
    fn.assigned = None


RULES: dict[type[ast.stmt], Rule] = {
    ast.While: _while,
    ast.For: _for,
    ast.Break: _break,
    ast.Continue: _continue,
}
