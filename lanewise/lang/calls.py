"""Calls in device code: built-in functions, device functions, families of them, and conversions between types."""

from __future__ import annotations

import ast
import inspect
import math
from typing import Any

from lanewise.lang import numbers
from lanewise.lang.expressions import Rule, argument, lower, static_value
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
    f32,
    i32,
    u32,
    u64,
)


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
    if found.type is f32 and kind in (i32, u32):
        return fn.program.abi.cut_to_word(fn, found.ref, kind)
    return numbers.convert(fn.block, found, kind)


def _convert_literal(kind: Scalar, value: bool | int | float) -> bool | int | float:
    if kind.is_int and isinstance(value, float):
        if math.isnan(value):
            return 0
        return kind.max_value if value >= kind.max_value else kind.min_value if value <= kind.min_value else int(value)
    return bool(value) if kind is BOOL else value


RULES: dict[type[ast.expr], Rule] = {ast.Call: _call}
