"""Expressions of device code: each AST node becomes an operand, with its type checked on the way.

This module holds what all of them share, names, constants and memory; `operators` and `calls` hold the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from lanewise.lang import numbers
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.ir import Literal, Operand, Place, Tuple, Value
from lanewise.lang.lowering import FunctionLowering
from lanewise.lang.overloads import Overloads
from lanewise.lang.types import BOOL, ArrayType, PointerType, Scalar, StructType, Type, i64, u64

Rule = Callable[[FunctionLowering, Any], Operand]
"""How one kind of AST node is lowered."""


def lower(fn: FunctionLowering, node: ast.expr) -> Operand:
    """Lower any expression."""
    handler = fn.program.expression_rules.get(type(node))
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


def argument(fn: FunctionLowering, node: ast.expr) -> Operand:
    """Lower an argument: scalars are read now, arrays and structs stay places so that they can become pointers."""
    operand = lower(fn, node)
    if isinstance(operand, Place) and isinstance(operand.type, ArrayType | StructType):
        return operand
    return fn.read(operand, node)


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
    found = lower(fn, node.slice)
    if isinstance(found, Literal) and found.value < 0 and _is_whole_array(fn, node.value):
        raise fn.error("a pointer does not know its end", node.slice, "pass the size and write p[n - 1]")
    index = fn.value(found, node.slice)
    if not isinstance(index.type, Scalar) or not index.type.is_int:
        raise fn.error(f"{index.type} cannot index an array", node.slice, "write u32(...) to convert")
    offset = _index(fn, index)
    element = pointer.type.element
    ref = fn.block.assign(f"getelementptr inbounds {element.memory}, ptr {pointer.ref}, i64 {offset}")
    return Place(element, ref)


def _is_whole_array(fn: FunctionLowering, node: ast.expr) -> bool:
    """Whether a pointer is as the launch passed it, so that nothing stands before its first element."""
    return (
        isinstance(node, ast.Name)
        and fn.program.is_kernel(fn.function)
        and node.id in fn.function.parameters
        and node.id not in fn.function.assigned_names
    )


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


RULES: dict[type[ast.expr], Rule] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
    ast.Tuple: _tuple,
}
