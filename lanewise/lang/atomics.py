"""Atomic operations on 32 and 64 bits, with explicit order and scope.

The first argument is the element, field or pointer target itself: `atomic_add(out.bins[k], 1)`.
"""

from __future__ import annotations

import ast

from lanewise.lang import numbers
from lanewise.lang.expressions import lower, typed
from lanewise.lang.intrinsics import arity, choice, intrinsic
from lanewise.lang.ir import Operand, Place, Tuple, Value
from lanewise.lang.lowering import FunctionLowering
from lanewise.lang.types import BOOL, Scalar

_ORDERS = {
    "relaxed": "monotonic",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "seq_cst": "seq_cst",
}
_SCOPES = {scope: scope for scope in ("group", "device", "system")}
_KEYWORDS = ("order", "scope")


def _place(fn: FunctionLowering, node: ast.Call, floats: bool) -> tuple[Place, Scalar]:
    """The memory that an atomic works on; every atomic asks for it."""
    fn.facts.communicates = True
    target = node.args[0]
    place = lower(fn, target)
    if not isinstance(place, Place) or place.readonly:
        raise fn.error("an atomic works on memory", target, "name an element or a field, such as `p[0]` or `s.count`")
    if place.private:
        raise fn.error(
            "a local variable is seen by one thread only", target, "name an element of a Ptr or shared array"
        )
    kind = place.type
    if not isinstance(kind, Scalar) or kind.bits not in (32, 64) or (kind.is_float and not floats):
        allowed = "i32, i64, u32, u64" + (", f32 or f64" if floats else "")
        raise fn.error(f"this atomic does not work on {kind}", target, f"it works on {allowed}")
    return place, kind


def _order(fn: FunctionLowering, node: ast.Call, *, allowed: tuple[str, ...]) -> tuple[str, str]:
    orders = {name: _ORDERS[name] for name in allowed}
    return choice(fn, node, "order", orders, "relaxed"), choice(fn, node, "scope", _SCOPES, "device")


def _update(fn: FunctionLowering, node: ast.Call, signed: str, unsigned: str, floating: str | None = None) -> Operand:
    arity(fn, node, 2, keywords=_KEYWORDS)
    place, kind = _place(fn, node, floats=floating is not None)
    value = typed(fn, node.args[1], kind)
    order, scope = _order(fn, node, allowed=tuple(_ORDERS))
    operation = (floating or "") if kind.is_float else signed if kind.signed else unsigned
    if operation == "fsub":
        operation, value = "fadd", numbers.negate(fn.block, value)
    if kind.is_float:
        value = numbers.canonical(fn.block, value)
    return Value(kind, _read_modify_write(fn, operation, place.ref, value, order, scope), arith=kind.is_float)


def _read_modify_write(fn: FunctionLowering, operation: str, address: str, value: Value, order: str, scope: str) -> str:
    """A read-modify-write. NVPTX drops the order of `atomicrmw`, so on a GPU fences around it carry the order."""
    abi = fn.program.abi
    if not abi.on_gpu:
        return fn.block.assign(f"atomicrmw {operation} ptr {address}, {value.type.llvm} {value.ref} {order}")
    if order in ("release", "acq_rel", "seq_cst"):
        abi.fence(fn, "seq_cst" if order == "seq_cst" else "acq_rel", scope)
    old = fn.block.assign(
        f"atomicrmw {operation} ptr {address}, {value.type.llvm} {value.ref} {abi.syncscope(scope)}monotonic"
    )
    if order in ("acquire", "acq_rel", "seq_cst"):
        abi.fence(fn, "acq_rel", scope)
    return old


@intrinsic
def atomic_load(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_load(x, order="relaxed", scope="device"): the value; order may be relaxed, acquire or seq_cst."""
    arity(fn, node, 1, keywords=_KEYWORDS)
    place, kind = _place(fn, node, floats=True)
    order, scope = _order(fn, node, allowed=("relaxed", "acquire", "seq_cst"))
    where = fn.program.abi.syncscope(scope)
    ref = fn.block.assign(f"load atomic {kind.llvm}, ptr {place.ref} {where}{order}, align {kind.size}")
    return Value(kind, ref, arith=kind.is_float)


@intrinsic
def atomic_store(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_store(x, value, order="relaxed", scope="device"): order may be relaxed, release or seq_cst."""
    arity(fn, node, 2, keywords=_KEYWORDS)
    place, kind = _place(fn, node, floats=True)
    value = numbers.canonical(fn.block, typed(fn, node.args[1], kind))
    order, scope = _order(fn, node, allowed=("relaxed", "release", "seq_cst"))
    where = fn.program.abi.syncscope(scope)
    fn.block.emit(f"store atomic {kind.llvm} {value.ref}, ptr {place.ref} {where}{order}, align {kind.size}")
    return Tuple(())


@intrinsic
def atomic_add(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_add(x, value, order="relaxed", scope="device"): add and return the old value; integers and floats.

    The order in which threads add is not fixed, so a float sum may differ in its last bits from run to run.
    """
    return _update(fn, node, "add", "add", "fadd")


@intrinsic
def atomic_sub(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_sub(x, value, order="relaxed", scope="device"): subtract and return the old value."""
    return _update(fn, node, "sub", "sub", "fsub")


@intrinsic
def atomic_min(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_min(x, value, order="relaxed", scope="device"): keep the smaller and return the old value."""
    return _update(fn, node, "min", "umin")


@intrinsic
def atomic_max(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_max(x, value, order="relaxed", scope="device"): keep the larger and return the old value."""
    return _update(fn, node, "max", "umax")


@intrinsic
def atomic_and(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_and(x, value, order="relaxed", scope="device"): bitwise and; returns the old value."""
    return _update(fn, node, "and", "and")


@intrinsic
def atomic_or(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_or(x, value, order="relaxed", scope="device"): bitwise or; returns the old value."""
    return _update(fn, node, "or", "or")


@intrinsic
def atomic_xor(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_xor(x, value, order="relaxed", scope="device"): bitwise exclusive or; returns the old value."""
    return _update(fn, node, "xor", "xor")


@intrinsic
def atomic_exchange(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_exchange(x, value, order="relaxed", scope="device"): store and return the old value."""
    return _update(fn, node, "xchg", "xchg", "xchg")


def _compare_exchange(fn: FunctionLowering, node: ast.Call) -> tuple[Scalar, str]:
    arity(fn, node, 3, keywords=_KEYWORDS)
    place, kind = _place(fn, node, floats=False)
    expected = typed(fn, node.args[1], kind)
    desired = typed(fn, node.args[2], kind)
    order, scope = _order(fn, node, allowed=tuple(_ORDERS))
    failure = {"monotonic": "monotonic", "release": "monotonic", "seq_cst": "seq_cst"}.get(order, "acquire")
    where = fn.program.abi.syncscope(scope)
    return kind, fn.block.assign(
        f"cmpxchg ptr {place.ref}, {kind.llvm} {expected.ref}, {kind.llvm} {desired.ref} {where}{order} {failure}"
    )


@intrinsic
def atomic_compare_exchange(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_compare_exchange(x, expected, desired, order="relaxed", scope="device") -> bool: whether it was stored."""
    kind, pair = _compare_exchange(fn, node)
    return Value(BOOL, fn.block.assign(f"extractvalue {{ {kind.llvm}, i1 }} {pair}, 1"))


@intrinsic
def atomic_compare_swap(fn: FunctionLowering, node: ast.Call) -> Operand:
    """atomic_compare_swap(x, expected, desired, order="relaxed", scope="device"): as above, but gives the old value."""
    kind, pair = _compare_exchange(fn, node)
    return Value(kind, fn.block.assign(f"extractvalue {{ {kind.llvm}, i1 }} {pair}, 0"))
