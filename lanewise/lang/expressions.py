"""Expressions of device code: each AST node becomes an operand, with its type checked on the way."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from typing import Any

from lanewise.lang import numbers
from lanewise.lang.functions import DeviceFunction, Kernel
from lanewise.lang.ir import Literal, Operand, Place, Tuple, Value, constant
from lanewise.lang.lowering import FunctionLowering
from lanewise.lang.overloads import Overloads
from lanewise.lang.types import (
    BOOL,
    VOID,
    ArrayType,
    PointerType,
    Scalar,
    StructType,
    TupleType,
    Type,
    as_type,
    f64,
    i32,
    i64,
    u64,
)

MAX_LITERAL_BITS = 4096
"""How large an integer may grow while literals are folded."""

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Pow: "**",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def lower(fn: FunctionLowering, node: ast.expr) -> Operand:
    """Lower any expression."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise fn.error(f"{_describe(node)} has no meaning in device code", node, _hint_for(node))
    return handler(fn, node)


def value_of(fn: FunctionLowering, node: ast.expr) -> Value:
    """Lower an expression to a value in a register."""
    return fn.value(lower(fn, node), node)


def condition(fn: FunctionLowering, node: ast.expr) -> str:
    """Lower an expression that must be a bool; gives the i1."""
    return fn.coerce(lower(fn, node), BOOL, node).ref


def typed(fn: FunctionLowering, node: ast.expr, kind: Type, what: str = "") -> Value:
    """Lower an expression that must have this type."""
    return fn.coerce(lower(fn, node), kind, node, what)


def integer(fn: FunctionLowering, node: ast.expr, what: str) -> Value:
    """Lower an expression of any integer type."""
    found = value_of(fn, node)
    if not isinstance(found.type, Scalar) or not found.type.is_int:
        raise fn.error(f"{found.type} cannot {what}", node, "write u32(...) to convert")
    return found


# --- names, constants and compile-time values -------------------------------------------------------------------------


def static_value(fn: FunctionLowering, node: ast.expr) -> Any:
    """The Python object that an expression stands for at compile time; raises KeyError where it is a run-time value."""
    if isinstance(node, ast.Name):
        if node.id in fn.names or node.id in fn.function.assigned_names:
            raise KeyError(node.id)
        return fn.function.lookup(node.id)
    if isinstance(node, ast.Attribute):
        base = static_value(fn, node.value)
        if isinstance(base, Type):
            raise KeyError(node.attr)
        try:
            return getattr(base, node.attr)
        except AttributeError:
            name = getattr(base, "__name__", ast.unparse(node.value))
            raise fn.error(f"{name} has no {node.attr}", node) from None
    if isinstance(node, ast.Subscript):
        base = static_value(fn, node.value)
        if base is not None and (isinstance(base, Type) or hasattr(base, "__class_getitem__")):
            return fn.function.resolve_type(node)
    if isinstance(node, ast.Constant):
        return node.value
    raise KeyError(ast.unparse(node))


def _name(fn: FunctionLowering, node: ast.Name) -> Operand:
    place = fn.names.get(node.id)
    if place is not None:
        if fn.assigned is not None and node.id not in fn.assigned:
            raise fn.error(f"{node.id} may have no value here", node, "assign it on every way to this line")
        return place
    if node.id in fn.function.assigned_names:
        raise fn.error(f"{node.id} is used before it is assigned", node, "assign it before this line")
    try:
        found = fn.function.lookup(node.id)
    except KeyError:
        near = fn.program.nearest_name(fn, node.id)
        raise fn.error(f"unknown name {node.id}", node, f"did you mean {near}?" if near else "") from None
    return _static_operand(fn, found, node)


def _static_operand(fn: FunctionLowering, found: Any, node: ast.expr) -> Operand:
    operand = fn.static(found, node)
    if operand is not None:
        return operand
    if found is fn.program.on_gpu_marker:
        return Literal(fn.program.abi.on_gpu)
    if isinstance(found, DeviceFunction | Overloads) or callable(found):
        raise fn.error(f"{ast.unparse(node)} is a function", node, "call it: add (...)")
    if isinstance(found, tuple | list):
        raise fn.error(
            f"{ast.unparse(node)} is a {type(found).__name__}", node, "make it a NumPy array to use it as a table"
        )
    raise fn.error(
        f"{ast.unparse(node)} is {type(found).__name__}, which device code cannot hold",
        node,
        "constants are numbers, bools and NumPy arrays",
    )


def _constant(fn: FunctionLowering, node: ast.Constant) -> Operand:
    if isinstance(node.value, bool | int | float):
        return Literal(node.value)
    kinds = {str: "a string", bytes: "a string", complex: "a complex number"}
    shown = kinds.get(type(node.value), str(node.value))
    raise fn.error(f"{shown} has no meaning in device code", node, "values are numbers, bools and pointers")


# --- operators --------------------------------------------------------------------------------------------------------


def same_type(
    fn: FunctionLowering, left: Operand, left_node: ast.expr, right: Operand, right_node: ast.expr, node: ast.expr
) -> tuple[Value, Value] | tuple[Literal, Literal]:
    """Both operands in one type, a literal taking the other's; two literals stay literals."""
    a, b = fn.read(left, left_node), fn.read(right, right_node)
    if isinstance(a, Literal) and isinstance(b, Literal):
        return a, b
    if isinstance(a, Literal):
        assert isinstance(b, Value)
        return fn.literal(a, b.type, left_node), b
    if isinstance(b, Literal):
        return a, fn.literal(b, a.type, right_node)
    if a.type != b.type:
        wider = max((a.type, b.type), key=lambda t: (isinstance(t, Scalar) and t.is_float, t.size))
        hint = f"write {wider}(...) around one of them" if isinstance(wider, Scalar) else ""
        raise fn.error(f"{a.type} and {b.type} do not mix", node, hint)
    return a, b


def binary(
    fn: FunctionLowering,
    op: str,
    left: Operand,
    left_node: ast.expr,
    right: Operand,
    right_node: ast.expr,
    node: ast.expr,
) -> Operand:
    """`left op right` for any operands, literals folded as Python does."""
    pointer = _pointer_arithmetic(fn, op, left, left_node, right, right_node)
    if pointer is not None:
        return pointer
    if op in ("<<", ">>"):
        return _shift(fn, op, left, left_node, right, right_node, node)
    if op == "**":
        return _power(fn, left, left_node, right, right_node, node)
    a, b = same_type(fn, left, left_node, right, right_node, node)
    if isinstance(a, Literal):
        assert isinstance(b, Literal)
        return _fold(fn, op, a, b, node)
    assert isinstance(b, Value)
    kind = a.type
    if isinstance(kind, Scalar) and op in ("//", "%"):
        if kind.is_int:
            zero = fn.block.assign(f"icmp eq {kind.llvm} {b.ref}, 0")
            if b.ref == "0":
                raise fn.error("integer division by zero", right_node)
            if not b.ref.lstrip("-").isdecimal():
                fn.trap_if(zero, "integer division by zero", node)
            return numbers.floor_divide(fn.block, op, a, b)
        if kind.is_float:
            return fn.program.library_call(fn, "floor_divide" if op == "//" else "floor_mod", [a, b], node)
    result = numbers.binary(fn.block, op, a, b, fn.function.reassociate)
    if result is None:
        hint = "write // for whole numbers, or f32(...) to divide as floats" if op == "/" else ""
        if isinstance(kind, Scalar) and kind.is_float:
            hint = "bit operations need integers; bitcast(u32, x) gives the bits of a float"
        raise fn.error(f"{kind} has no operator {op}", node, hint)
    return result


def _fold(fn: FunctionLowering, op: str, left: Literal, right: Literal, node: ast.expr) -> Literal:
    huge = op == "**" and isinstance(left.value, int) and abs(left.value) > 1 and right.value > MAX_LITERAL_BITS
    try:
        result = 0 if huge else numbers.FOLD[op](left.value, right.value)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise fn.error(f"{ast.unparse(node)}: {error}", node) from None
    if huge or (isinstance(result, int) and result.bit_length() > MAX_LITERAL_BITS):
        raise fn.error(f"{ast.unparse(node)} is too large a number", node)
    if isinstance(result, complex):
        raise fn.error(f"{ast.unparse(node)} is a complex number", node)
    return Literal(result)


def _shift(
    fn: FunctionLowering,
    op: str,
    left: Operand,
    left_node: ast.expr,
    right: Operand,
    right_node: ast.expr,
    node: ast.expr,
) -> Operand:
    # The amount keeps its own integer type: only its low bits count.
    a, b = fn.read(left, left_node), fn.read(right, right_node)
    if isinstance(a, Literal) and isinstance(b, Literal):
        if isinstance(b.value, int) and b.value > MAX_LITERAL_BITS:
            raise fn.error(f"a shift by {b.value} is too large", right_node)
        return _fold(fn, op, a, b, node)
    if isinstance(a, Literal):
        a = fn.literal(a, fn.value(right, right_node).type, left_node)
    b = fn.literal(b, a.type, right_node) if isinstance(b, Literal) else b
    for operand, where in ((b, right_node), (a, left_node)):
        if not isinstance(operand.type, Scalar) or not operand.type.is_int:
            raise fn.error(f"{operand.type} has no operator {op}", where, "shifts are for integers")
    return numbers.shift(fn.block, op, a, b)


def _power(
    fn: FunctionLowering, left: Operand, left_node: ast.expr, right: Operand, right_node: ast.expr, node: ast.expr
) -> Operand:
    exponent = fn.read(right, right_node)
    base = fn.read(left, left_node)
    if isinstance(base, Literal) and isinstance(exponent, Literal):
        return _fold(fn, "**", base, exponent, node)
    if isinstance(base, Value) and isinstance(exponent, Literal) and exponent.value == 2:
        fits = isinstance(exponent.value, int) or (isinstance(base.type, Scalar) and base.type.is_float)
        square = numbers.binary(fn.block, "*", base, base) if fits else None
        if square is not None:
            return square
    a, b = same_type(fn, base, left_node, exponent, right_node, node)
    if isinstance(a, Value) and isinstance(b, Value) and isinstance(a.type, Scalar) and a.type.is_float:
        return fn.program.library_call(fn, "pow", [a, b], node)
    raise fn.error("** is for floats", node, "multiply, or write f32(...) ** f32(...)")


def _pointer_arithmetic(
    fn: FunctionLowering, op: str, left: Operand, left_node: ast.expr, right: Operand, right_node: ast.expr
) -> Value | None:
    if op not in ("+", "-") or not isinstance(left, Value | Place):
        return None
    kind = left.type
    if isinstance(left, Place) and isinstance(kind, ArrayType):
        left = Value(PointerType(kind.element), left.ref)
        kind = left.type
    if not isinstance(kind, PointerType):
        return None
    pointer = fn.value(left, left_node)
    other = fn.value(right, right_node)
    if op == "-" and other.type == kind:
        a = fn.block.assign(f"ptrtoint ptr {pointer.ref} to i64")
        b = fn.block.assign(f"ptrtoint ptr {other.ref} to i64")
        distance = fn.block.assign(f"sub i64 {a}, {b}")
        return Value(i64, fn.block.assign(f"sdiv exact i64 {distance}, {kind.element.size}"))
    if not isinstance(other.type, Scalar) or not other.type.is_int:
        raise fn.error(f"{other.type} cannot move a pointer", right_node, "add a whole number of elements")
    offset = numbers.resize(fn.block, other.ref, other.type, i64)
    if op == "-":
        offset = fn.block.assign(f"sub i64 0, {offset}")
    return Value(kind, fn.block.assign(f"getelementptr {kind.element.memory}, ptr {pointer.ref}, i64 {offset}"))


def _binary(fn: FunctionLowering, node: ast.BinOp) -> Operand:
    op = OPERATORS.get(type(node.op))
    if op is None:
        raise fn.error("device code has no matrix product", node, "write the loops")
    left = lower(fn, node.left)
    left = left if isinstance(left, Place) and isinstance(left.type, ArrayType) else fn.read(left, node.left)
    return binary(fn, op, left, node.left, lower(fn, node.right), node.right, node)


def _unary(fn: FunctionLowering, node: ast.UnaryOp) -> Operand:
    if isinstance(node.op, ast.Not):
        found = fn.read(lower(fn, node.operand), node.operand)
        if isinstance(found, Literal) and isinstance(found.value, bool):
            return Literal(not found.value)
        flag = fn.coerce(found, BOOL, node.operand).ref
        return Value(BOOL, fn.block.assign(f"xor i1 {flag}, true"))
    found = fn.read(lower(fn, node.operand), node.operand)
    if isinstance(found, Literal):
        if isinstance(found.value, bool):
            raise fn.error("bool has no such operator", node, "write `not` for a bool")
        if isinstance(node.op, ast.Invert):
            if not isinstance(found.value, int):
                raise fn.error("~ is for integers", node)
            return Literal(~found.value)
        return Literal(-found.value if isinstance(node.op, ast.USub) else +found.value)
    kind = found.type
    if not isinstance(kind, Scalar) or kind is BOOL:
        raise fn.error(f"{kind} has no such operator", node, "write `not` for a bool" if kind is BOOL else "")
    if isinstance(node.op, ast.UAdd):
        return found
    if isinstance(node.op, ast.USub):
        return numbers.negate(fn.block, found)
    if not kind.is_int:
        raise fn.error("~ is for integers", node)
    return Value(kind, fn.block.assign(f"xor {kind.llvm} {found.ref}, -1"))


def _compare(fn: FunctionLowering, node: ast.Compare) -> Operand:
    """`a < b < c` is `a < b and b < c` with b evaluated once, and c only where it matters."""
    left_node, left = node.left, fn.read(lower(fn, node.left), node.left)
    slot = fn.block.slot("i1") if len(node.ops) > 1 else ""
    done = fn.block.name("compared")
    step: Operand | None = None
    for operator, right_node in zip(node.ops, node.comparators, strict=True):
        if step is not None:
            more = fn.block.name("compare")
            fn.block.branch(_keep(fn, slot, step, node), more, done)
            fn.block.label(more)
        op = OPERATORS.get(type(operator))
        if op is None:
            raise fn.error(f"device code has no `{ast.unparse(node)}`", node, "compare with ==, !=, <, <=, > or >=")
        right = fn.read(lower(fn, right_node), right_node)
        a, b = same_type(fn, left, left_node, right, right_node, node)
        if isinstance(a, Literal):
            assert isinstance(b, Literal)
            step = _fold(fn, op, a, b, node)
        else:
            assert isinstance(b, Value)
            compared = numbers.compare(fn.block, op, a, b)
            if compared is None:
                raise fn.error(f"{a.type} has no order", node, "compare with == or !=")
            step = compared
        left, left_node = right, right_node
    assert step is not None
    if not slot:
        return step
    _keep(fn, slot, step, node)
    fn.block.label(done)
    return Value(BOOL, fn.block.assign(f"load i1, ptr {slot}"))


def _keep(fn: FunctionLowering, slot: str, truth: Operand, node: ast.expr) -> str:
    """Store a bool where the next step of a short-circuit expression finds it; gives the i1."""
    flag = fn.coerce(truth, BOOL, node).ref
    fn.block.emit(f"store i1 {flag}, ptr {slot}")
    return flag


def _bool_op(fn: FunctionLowering, node: ast.BoolOp) -> Operand:
    """`and` and `or` with Python's short cut: what stands behind is evaluated only if it can matter."""
    is_and = isinstance(node.op, ast.And)
    known = [static_condition(fn, part) for part in node.values]
    if all(part is not None for part in known):
        return Literal(all(known) if is_and else any(known))
    slot = fn.block.slot("i1")
    done = fn.block.name("logic_end")
    for index, part in enumerate(node.values):
        flag = _keep(fn, slot, lower(fn, part), part)
        if index + 1 < len(node.values):
            more = fn.block.name("logic")
            fn.block.branch(flag, more if is_and else done, done if is_and else more)
            fn.block.label(more)
    fn.block.label(done)
    return Value(BOOL, fn.block.assign(f"load i1, ptr {slot}"))


def static_condition(fn: FunctionLowering, node: ast.expr) -> bool | None:
    """The truth of a condition known at compile time (so that its other branch is not compiled), or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = static_condition(fn, node.operand)
        return None if inner is None else not inner
    try:
        found = static_value(fn, node)
    except KeyError:
        return None
    if found is fn.program.on_gpu_marker:
        return fn.program.abi.on_gpu
    return found if isinstance(found, bool) else None


def _conditional(fn: FunctionLowering, node: ast.IfExp) -> Operand:
    known = static_condition(fn, node.test)
    if known is not None:
        return lower(fn, node.body if known else node.orelse)
    flag = condition(fn, node.test)
    yes, no, done = (fn.block.name(part) for part in ("if_yes", "if_no", "if_end"))
    # The type of the whole is that of the side that is no literal; both sides are lowered before it is known.
    fn.block.branch(flag, yes, no)
    fn.block.label(yes)
    first = fn.read(lower(fn, node.body), node.body)
    yes_end = fn.block.name("if_yes_end")
    fn.block.label(yes_end)
    fn.block.jump(done)
    fn.block.label(no)
    second = fn.read(lower(fn, node.orelse), node.orelse)
    no_end = fn.block.name("if_no_end")
    fn.block.label(no_end)
    fn.block.jump(done)
    fn.block.label(done)
    a, b = same_type(fn, first, node.body, second, node.orelse, node)
    if isinstance(a, Literal):
        assert isinstance(b, Literal)
        a, b = _settle_alike(fn, a, b, node)
    assert isinstance(b, Value)
    merged = fn.block.assign(f"phi {a.type.llvm} [ {a.ref}, %{yes_end} ], [ {b.ref}, %{no_end} ]")
    return Value(a.type, merged, arith=a.arith or b.arith)


def _settle_alike(fn: FunctionLowering, a: Literal, b: Literal, node: ast.IfExp) -> tuple[Value, Value]:
    """Two literals that met no type, in the one type that holds both."""
    first, second = fn.settle(a, node.body), fn.settle(b, node.orelse)
    if first.type == second.type:
        return first, second
    if BOOL in (first.type, second.type):
        raise fn.error(f"{first.type} and {second.type} do not mix", node)
    floats = f64 in (first.type, second.type)
    kind = f64 if floats else max((first.type, second.type), key=(i32, i64, u64).index)
    return fn.literal(a, kind, node.body), fn.literal(b, kind, node.orelse)


# --- memory -----------------------------------------------------------------------------------------------------------


def _subscript(fn: FunctionLowering, node: ast.Subscript) -> Operand:
    base = lower(fn, node.value)
    if isinstance(node.slice, ast.Slice | ast.Tuple):
        raise fn.error("one element at a time", node.slice, "index with a single whole number")
    if isinstance(base, Place) and isinstance(base.type, ArrayType):
        return _array_element(fn, base, base.type, node)
    pointer = fn.value(base, node.value)
    if not isinstance(pointer.type, PointerType):
        raise fn.error(f"{pointer.type} cannot be indexed", node.value, "only pointers and fixed arrays can")
    index = integer(fn, node.slice, "index an array")
    offset = _index(fn, index)
    element = pointer.type.element
    ref = fn.block.assign(f"getelementptr inbounds {element.memory}, ptr {pointer.ref}, i64 {offset}")
    return Place(element, ref)


def _array_element(fn: FunctionLowering, base: Place, kind: ArrayType, node: ast.Subscript) -> Place:
    found = lower(fn, node.slice)
    if isinstance(found, Literal) and isinstance(found.value, int) and not 0 <= found.value < kind.length:
        raise fn.error(f"{found.value} is outside {kind}", node.slice, f"it has elements 0 to {kind.length - 1}")
    index = fn.value(found, node.slice)
    if not isinstance(index.type, Scalar) or not index.type.is_int:
        raise fn.error(f"{index.type} cannot index an array", node.slice, "write u32(...) to convert")
    offset = _index(fn, index)
    ref = fn.block.assign(f"getelementptr inbounds {kind.llvm}, ptr {base.ref}, i64 0, i64 {offset}")
    return Place(kind.element, ref, readonly=base.readonly, private=base.private)


def _index(fn: FunctionLowering, index: Value) -> str:
    assert isinstance(index.type, Scalar)
    return numbers.resize(fn.block, index.ref, index.type, i64 if index.type.signed else u64)


def _attribute(fn: FunctionLowering, node: ast.Attribute) -> Operand:
    try:
        found = static_value(fn, node)
    except KeyError:
        pass
    else:
        return _static_operand(fn, found, node)
    base = lower(fn, node.value)
    kind = base.type if isinstance(base, Place | Value) else None
    if isinstance(kind, PointerType) and isinstance(kind.element, StructType):
        base = Place(kind.element, fn.value(base, node.value).ref)
        kind = base.type
    if not isinstance(kind, StructType) or not isinstance(base, Place):
        raise fn.error(f"{kind or 'a number'} has no fields", node, "only structs and pointers to them have")
    if node.attr not in kind.fields:
        raise fn.error(f"{kind} has no field {node.attr}", node, f"its fields are {', '.join(kind.fields)}")
    position = kind.index_of(node.attr)
    ref = fn.block.assign(f"getelementptr inbounds {kind.llvm}, ptr {base.ref}, i32 0, i32 {position}")
    return Place(kind.fields[node.attr], ref, readonly=base.readonly, private=base.private)


# --- calls ------------------------------------------------------------------------------------------------------------


def _call(fn: FunctionLowering, node: ast.Call) -> Operand:
    try:
        callee = static_value(fn, node.func)
    except KeyError:
        if isinstance(node.func, ast.Name) and node.func.id not in fn.names:
            lower(fn, node.func)  # reports the unknown name
        raise fn.error("only functions can be called", node.func) from None
    intrinsic = fn.program.intrinsic_of(callee)
    if intrinsic is not None:
        return intrinsic(fn, node)
    if node.keywords:
        raise fn.error("device functions take their arguments by position", node.keywords[0].value)
    kind = as_type(callee)
    if kind is not None and not isinstance(callee, StructType):
        return convert(fn, kind, node)
    if isinstance(callee, Kernel):
        raise fn.error(f"{callee.name} is a kernel", node.func, "device code calls @device functions; mark it so")
    if isinstance(callee, DeviceFunction | Overloads):
        operands = [argument(fn, part) for part in node.args]
        if isinstance(callee, Overloads):
            callee = overload(fn, callee, operands, node)
        return _device_call(fn, callee, operands, node)
    raise fn.error(f"{ast.unparse(node.func)} is not a device function", node.func, _call_hint(fn, callee, node.func))


def _call_hint(fn: FunctionLowering, callee: Any, node: ast.expr) -> str:
    """What to write instead of a call that device code cannot make."""
    if callee is int or callee is float:
        return "write i32(...) or i64(...)" if callee is int else "write f32(...) or f64(...)"
    if isinstance(callee, StructType):
        return f"declare `name: {callee}`, then assign its fields"
    if callee is range or callee is fn.program.grid_range_marker:
        return f"write `for i in {ast.unparse(node)}(...):`"
    if callee is print:
        return "write to an array and print it on the host"
    if inspect.isfunction(callee):
        return "mark it @device to call it from device code"
    return "device code calls @device functions and the words of lanewise.lang"


def argument(fn: FunctionLowering, node: ast.expr) -> Operand:
    """Lower an argument: scalars are read now, arrays and structs stay places so that they can become pointers."""
    operand = lower(fn, node)
    if isinstance(operand, Place) and isinstance(operand.type, ArrayType | StructType):
        return operand
    return fn.read(operand, node)


def overload(fn: FunctionLowering, overloads: Overloads, operands: list[Operand], node: ast.Call) -> DeviceFunction:
    """The one of a family of functions that fits the first argument that has a type of its own."""
    typed_operands = [operand for operand in operands if isinstance(operand, Value | Place)]
    chosen = typed_operands[0].type if typed_operands else overloads.default
    if not isinstance(chosen, Scalar) or chosen not in overloads.types:
        names = ", ".join(t.name for t in overloads.types)
        raise fn.error(f"{overloads.name} does not take {chosen}", node, f"it takes {names}")
    return overloads.instance(chosen)


def _device_call(fn: FunctionLowering, callee: DeviceFunction, operands: list[Operand], node: ast.Call) -> Operand:
    parameters = callee.parameters
    if len(operands) != len(parameters):
        listed = ", ".join(f"{name}: {kind}" for name, kind in parameters.items())
        raise fn.error(
            f"{callee.name} takes {len(parameters)} arguments, this passes {len(operands)}",
            node,
            f"it is {callee.name}({listed})",
        )
    values = [
        fn.coerce(operand, kind, part, f"parameter {name} of {callee.name}")
        for operand, part, (name, kind) in zip(operands, node.args, parameters.items(), strict=True)
    ]
    return call(fn, callee, values)


def call(fn: FunctionLowering, callee: DeviceFunction, values: list[Value]) -> Operand:
    """Call a device function with typed values."""
    symbol, hidden = fn.program.request(callee, fn)
    arguments = ", ".join([*hidden, *(f"{value.type.llvm} {value.ref}" for value in values)])
    result = callee.result
    if result is VOID:
        fn.block.emit(f"call void @{symbol}({arguments})")
        return Tuple(())
    ref = fn.block.assign(f"call {result.llvm} @{symbol}({arguments})")
    if not isinstance(result, TupleType):
        return Value(result, ref, arith=True)
    parts = [
        Value(kind, fn.block.assign(f"extractvalue {result.llvm} {ref}, {index}"), arith=True)
        for index, kind in enumerate(result.elements)
    ]
    return Tuple(tuple(parts))


def convert(fn: FunctionLowering, kind: Type, node: ast.Call) -> Operand:
    """`u32(x)`, `Ptr[T](x)`: an explicit conversion."""
    if len(node.args) != 1:
        raise fn.error(f"{kind}(...) converts one value", node)
    argument = node.args[0]
    operand = lower(fn, argument)
    if isinstance(kind, PointerType):
        if isinstance(operand, Place) and isinstance(operand.type, ArrayType | StructType):
            return Value(kind, operand.ref)
        source = fn.value(operand, argument)
        if isinstance(source.type, PointerType):
            return Value(kind, source.ref)
        address = fn.coerce(source, u64, argument)
        fn.facts.raw_pointers = True
        return Value(kind, fn.block.assign(f"inttoptr i64 {address.ref} to ptr"))
    if not isinstance(kind, Scalar):
        raise fn.error(f"nothing converts to {kind}", node)
    found = fn.read(operand, argument)
    if isinstance(found, Literal):
        return Value(kind, constant(kind, _convert_literal(kind, found.value)))
    if isinstance(found.type, PointerType):
        if kind is not u64:
            raise fn.error(f"an address is 64 bits wide and does not fit {kind}", node, "write u64(...)")
        return Value(u64, fn.block.assign(f"ptrtoint ptr {found.ref} to i64"))
    return numbers.convert(fn.block, found, kind)


def _convert_literal(kind: Scalar, value: bool | int | float) -> bool | int | float:
    if kind.is_int and isinstance(value, float):
        if math.isnan(value):
            return 0
        return kind.max_value if value >= kind.max_value else kind.min_value if value <= kind.min_value else int(value)
    return bool(value) if kind is BOOL else value


def _tuple(fn: FunctionLowering, node: ast.Tuple) -> Operand:
    return Tuple(tuple(fn.read(lower(fn, part), part) for part in node.elts))


def _describe(node: ast.expr) -> str:
    names = {
        ast.List: "a list",
        ast.Dict: "a dict",
        ast.Set: "a set",
        ast.Lambda: "a lambda",
        ast.ListComp: "a comprehension",
        ast.SetComp: "a comprehension",
        ast.DictComp: "a comprehension",
        ast.GeneratorExp: "a generator",
        ast.JoinedStr: "an f-string",
        ast.NamedExpr: "an assignment expression",
        ast.Starred: "unpacking",
        ast.Await: "await",
        ast.Yield: "yield",
        ast.YieldFrom: "yield",
    }
    return names.get(type(node), type(node).__name__)


def _hint_for(node: ast.expr) -> str:
    hints = {
        ast.List: "declare a fixed array: `name: f32[16]`",
        ast.ListComp: "write a for loop over a fixed array",
        ast.NamedExpr: "assign on a line of its own",
        ast.Yield: "write thread_yield() to let other threads go on",
    }
    return hints.get(type(node), "")


_HANDLERS: dict[type[ast.expr], Callable[[FunctionLowering, Any], Operand]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Tuple: _tuple,
}
