"""What arithmetic means in device code: wrapping integers, masked shifts, floor division, saturating conversion.

Every function takes typed register values and writes the same IR for both devices.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from lanewise.lang.ir import CANONICAL_NAN, Block, Value, constant
from lanewise.lang.types import BOOL, PointerType, Scalar

FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "**": operator.pow,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Operators by their source text, as Python applies them to literals."""

_INTEGER_OPS = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_FLOAT_OPS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def binary(block: Block, op: str, left: Value, right: Value, reassociate: bool = False) -> Value | None:
    """`left op right` for operands of one type, or None where the type has no such operator.

    Division, shifts and powers are apart.
    """
    kind = left.type
    if not isinstance(kind, Scalar):
        return None
    if kind.is_float:
        if op not in _FLOAT_OPS:
            return None
        flags = "reassoc " if reassociate else ""
        return Value(kind, block.assign(f"{_FLOAT_OPS[op]} {flags}{kind.llvm} {left.ref}, {right.ref}"), arith=True)
    if kind is BOOL and op not in ("&", "|", "^"):
        return None
    if op not in _INTEGER_OPS:
        return None
    return Value(kind, block.assign(f"{_INTEGER_OPS[op]} {kind.llvm} {left.ref}, {right.ref}"))


def shift(block: Block, op: str, left: Value, right: Value) -> Value:
    """A shift whose amount is masked to the width of the left operand, as every GPU and CPU does in hardware."""
    kind, amount_kind = left.type, right.type
    assert isinstance(kind, Scalar)
    assert isinstance(amount_kind, Scalar)
    amount = resize(block, right.ref, amount_kind, kind)
    masked = block.assign(f"and {kind.llvm} {amount}, {kind.bits - 1}")
    instruction = "shl" if op == "<<" else "ashr" if kind.signed else "lshr"
    return Value(kind, block.assign(f"{instruction} {kind.llvm} {left.ref}, {masked}"))


def floor_divide(block: Block, op: str, left: Value, right: Value) -> Value:
    """`//` or `%` on integers, rounding toward minus infinity; the caller has trapped a zero divisor."""
    kind = left.type
    assert isinstance(kind, Scalar)
    ty = kind.llvm
    if not kind.signed:
        return Value(kind, block.assign(f"{'udiv' if op == '//' else 'urem'} {ty} {left.ref}, {right.ref}"))
    # The smallest value divided by -1 overflows, which LLVM leaves undefined: divide by 1 there and negate after.
    minus_one = block.assign(f"icmp eq {ty} {right.ref}, -1")
    divisor = block.assign(f"select i1 {minus_one}, {ty} 1, {ty} {right.ref}")
    remainder = block.assign(f"srem {ty} {left.ref}, {divisor}")
    inexact = block.assign(f"icmp ne {ty} {remainder}, 0")
    signs = block.assign(f"xor {ty} {remainder}, {divisor}")
    opposite = block.assign(f"icmp slt {ty} {signs}, 0")
    adjust = block.assign(f"and i1 {inexact}, {opposite}")
    if op == "%":
        floored = block.assign(f"add {ty} {remainder}, {divisor}")
        return Value(kind, block.assign(f"select i1 {adjust}, {ty} {floored}, {ty} {remainder}"))
    quotient = block.assign(f"sdiv {ty} {left.ref}, {divisor}")
    lower = block.assign(f"sub {ty} {quotient}, 1")
    floored = block.assign(f"select i1 {adjust}, {ty} {lower}, {ty} {quotient}")
    negated = block.assign(f"sub {ty} 0, {left.ref}")
    return Value(kind, block.assign(f"select i1 {minus_one}, {ty} {negated}, {ty} {floored}"))


def compare(block: Block, op: str, left: Value, right: Value) -> Value | None:
    """A comparison of two values of one type, or None where the type has no order."""
    kind = left.type
    if isinstance(kind, PointerType):
        if op in ("==", "!="):
            return Value(BOOL, block.assign(f"icmp {'eq' if op == '==' else 'ne'} ptr {left.ref}, {right.ref}"))
        return Value(BOOL, block.assign(f"icmp u{_ORDER[op]} ptr {left.ref}, {right.ref}"))
    if not isinstance(kind, Scalar):
        return None
    if kind.is_float:
        predicate = {"==": "oeq", "!=": "une"}.get(op) or "o" + _ORDER[op]
        return Value(BOOL, block.assign(f"fcmp {predicate} {kind.llvm} {left.ref}, {right.ref}"))
    if op in ("==", "!="):
        predicate = "eq" if op == "==" else "ne"
    elif kind is BOOL:
        return None
    else:
        predicate = ("s" if kind.signed else "u") + _ORDER[op]
    return Value(BOOL, block.assign(f"icmp {predicate} {kind.llvm} {left.ref}, {right.ref}"))


def resize(block: Block, ref: str, source: Scalar, target: Scalar) -> str:
    """An integer or bool in another width: cut off, or extended by the source's sign."""
    width, wanted = source.bits, target.bits
    if width == wanted:
        return ref
    if width > wanted:
        return block.assign(f"trunc {source.llvm} {ref} to {target.llvm}")
    extension = "sext" if source.signed else "zext"
    return block.assign(f"{extension} {source.llvm} {ref} to {target.llvm}")


def convert(block: Block, value: Value, target: Scalar) -> Value:
    """`target(value)`: integers wrap, floats round to nearest, float to integer saturates and NaN becomes 0."""
    source = value.type
    assert isinstance(source, Scalar)
    if source is target:
        return value
    if target is BOOL:
        zero = constant(source, 0)
        test = f"fcmp une {source.llvm}" if source.is_float else f"icmp ne {source.llvm}"
        return Value(BOOL, block.assign(f"{test} {value.ref}, {zero}"))
    if source.is_float and target.is_float:
        instruction = "fpext" if target.bits > source.bits else "fptrunc"
        return Value(target, block.assign(f"{instruction} {source.llvm} {value.ref} to {target.llvm}"), arith=True)
    if source.is_float:
        name = f"llvm.fpto{'s' if target.signed else 'u'}i.sat.i{target.bits}.f{source.bits}"
        return Value(target, block.assign(f"call {target.llvm} @{name}({source.llvm} {value.ref})"))
    if target.is_float:
        instruction = "sitofp" if source.signed else "uitofp"
        return Value(target, block.assign(f"{instruction} {source.llvm} {value.ref} to {target.llvm}"))
    return Value(target, resize(block, value.ref, source, target))


def negate(block: Block, value: Value) -> Value:
    """`-value`; an unsigned value wraps, a float has its sign bit flipped."""
    kind = value.type
    assert isinstance(kind, Scalar)
    if kind.is_float:
        return Value(kind, block.assign(f"fneg {kind.llvm} {value.ref}"), arith=True)
    return Value(kind, block.assign(f"sub {kind.llvm} 0, {value.ref}"))


def canonical(block: Block, value: Value) -> Value:
    """The value with NaN bits that are the same on every device; free unless it came from arithmetic."""
    kind = value.type
    if not value.arith or not isinstance(kind, Scalar) or not kind.is_float:
        return value
    is_nan = block.assign(f"fcmp uno {kind.llvm} {value.ref}, {value.ref}")
    return Value(kind, block.assign(f"select i1 {is_nan}, {kind.llvm} {CANONICAL_NAN}, {kind.llvm} {value.ref}"))


def select(block: Block, condition: str, yes: Value, no: Value) -> Value:
    """One of two values of one type, without a branch."""
    ty = yes.type.llvm
    return Value(
        yes.type, block.assign(f"select i1 {condition}, {ty} {yes.ref}, {ty} {no.ref}"), arith=yes.arith or no.arith
    )
