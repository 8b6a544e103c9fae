"""The words of the threading model and of arithmetic: what device code calls without importing a library of its own."""

from __future__ import annotations

import ast

from lanewise.lang import numbers
from lanewise.lang.abi import as_pointer, as_u32, as_u64
from lanewise.lang.expressions import argument, integer, lower, static_value, value_of
from lanewise.lang.intrinsics import arity, builtin, choice, intrinsic
from lanewise.lang.ir import CANONICAL_NAN, Literal, Operand, Place, Tuple, Value
from lanewise.lang.lowering import FunctionLowering
from lanewise.lang.operators import binary, same_type
from lanewise.lang.types import BOOL, ArrayType, Scalar, StructType, as_type, u32
from lanewise.settings import MAX_SHARED_BYTES

NOTHING = Tuple(())

# --- threads ----------------------------------------------------------------------------------------------------------


@intrinsic
def thread_id(fn: FunctionLowering, node: ast.Call) -> Operand:
    """thread_id() -> u32: this thread's number in the launch, from 0."""
    arity(fn, node, 0)
    return as_u32(fn.program.abi.thread_id(fn))


@intrinsic
def thread_count(fn: FunctionLowering, node: ast.Call) -> Operand:
    """thread_count() -> u32: how many threads were launched."""
    arity(fn, node, 0)
    return as_u32(fn.program.abi.thread_count(fn))


@intrinsic
def local_id(fn: FunctionLowering, node: ast.Call) -> Operand:
    """local_id() -> u32: this thread's number in its group, from 0."""
    arity(fn, node, 0)
    return as_u32(fn.program.abi.local_id(fn))


@intrinsic
def group_id(fn: FunctionLowering, node: ast.Call) -> Operand:
    """group_id() -> u32: the number of this thread's group, from 0."""
    arity(fn, node, 0)
    return as_u32(fn.program.abi.group_id(fn))


@intrinsic
def group_count(fn: FunctionLowering, node: ast.Call) -> Operand:
    """group_count() -> u32: how many groups were launched."""
    arity(fn, node, 0)
    return as_u32(fn.program.abi.group_count(fn))


@intrinsic
def threadgroup_size(fn: FunctionLowering, node: ast.Call) -> Operand:
    """threadgroup_size() -> u32: how many threads this group has; the last group of a launch may have fewer."""
    arity(fn, node, 0)
    return as_u32(fn.program.abi.group_threads(fn))


@intrinsic
def lane_id(fn: FunctionLowering, node: ast.Call) -> Operand:
    """lane_id() -> u32: this thread's number in its warp of 32, from 0."""
    arity(fn, node, 0)
    return as_u32(fn.block.assign(f"and i32 {fn.program.abi.local_id(fn)}, 31"))


@intrinsic
def threadgroup_barrier(fn: FunctionLowering, node: ast.Call) -> Operand:
    """threadgroup_barrier(): wait until all threads of the group that have not returned are here.

    What they wrote before it, all of them see behind it. Every thread of the group must come to it.
    """
    arity(fn, node, 0)
    fn.facts.converges = True
    fn.facts.barriers = True
    fn.facts.communicates = True
    fn.program.abi.barrier(fn)
    return NOTHING


@intrinsic
def memory_barrier(fn: FunctionLowering, node: ast.Call) -> Operand:
    """memory_barrier(scope="device"): what this thread wrote before is seen before what it writes after.

    scope is "group", "device" or "system" (the host and other devices too).
    """
    arity(fn, node, 0, keywords=("scope",))
    scope = choice(fn, node, "scope", {s: s for s in ("group", "device", "system")}, "device")
    fn.facts.communicates = True
    fn.program.abi.fence(fn, "seq_cst", scope)
    return NOTHING


@intrinsic
def thread_yield(fn: FunctionLowering, node: ast.Call) -> Operand:
    """thread_yield(): let other threads go on; call it in every loop that waits for another thread or for the host."""
    arity(fn, node, 0)
    fn.facts.yields = True
    fn.facts.communicates = True
    fn.program.abi.pause(fn)
    return NOTHING


@intrinsic
def clock(fn: FunctionLowering, node: ast.Call) -> Operand:
    """clock() -> u64: a counter of processor cycles; differences within one thread tell how long something took."""
    arity(fn, node, 0)
    return as_u64(fn.program.abi.clock(fn))


@intrinsic
def time_ns(fn: FunctionLowering, node: ast.Call) -> Operand:
    """time_ns() -> u64: nanoseconds of a clock that never goes back; its zero is the device's own."""
    arity(fn, node, 0)
    return as_u64(fn.program.abi.time_ns(fn))


# --- memory -----------------------------------------------------------------------------------------------------------


@intrinsic
def shared(fn: FunctionLowering, node: ast.Call) -> Operand:
    """tile = shared(f32[256]): memory that all threads of a group share; it starts with no particular contents.

    An array is the array itself, a struct comes as a Ptr to it.
    """
    arity(fn, node, 1)
    try:
        kind = as_type(static_value(fn, node.args[0]))
    except KeyError:
        kind = None
    if not isinstance(kind, ArrayType | StructType):
        raise fn.error("shared takes a fixed array or a struct type", node.args[0], "write `shared(f32[256])`")
    ref = fn.program.abi.shared(fn, kind)
    if fn.program.shared_bytes > MAX_SHARED_BYTES:
        raise fn.error(
            f"this makes {fn.program.shared_bytes} bytes of group-shared memory",
            node,
            f"a group has {MAX_SHARED_BYTES}; share less, or split the work over more groups",
        )
    return Place(kind, ref) if isinstance(kind, ArrayType) else as_pointer(kind, ref)


@intrinsic
def addressof(fn: FunctionLowering, node: ast.Call) -> Operand:
    """addressof(x) -> Ptr: the address of an element, a field or a variable."""
    arity(fn, node, 1)
    place = lower(fn, node.args[0])
    if not isinstance(place, Place):
        raise fn.error("only what is in memory has an address", node.args[0], "take an element, a field or a variable")
    if place.readonly:
        raise fn.error("a module-level table is constant and has no address to write to", node.args[0])
    return as_pointer(place.type, place.ref)


@intrinsic
def bitcast(fn: FunctionLowering, node: ast.Call) -> Operand:
    """bitcast(u32, x): the bits of a number as a number of another type of the same width."""
    arity(fn, node, 2)
    kind = scalar_argument(fn, node.args[0])
    value = value_of(fn, node.args[1])
    source = value.type
    if not isinstance(source, Scalar) or source.bits != kind.bits:
        raise fn.error(f"{source} and {kind} are not of one width", node, "bitcast keeps every bit")
    if source.llvm == kind.llvm:
        return Value(kind, value.ref, arith=value.arith)
    value = numbers.canonical(fn.block, value)
    return Value(kind, fn.block.assign(f"bitcast {source.llvm} {value.ref} to {kind.llvm}"))


def scalar_argument(fn: FunctionLowering, node: ast.expr) -> Scalar:
    """An argument that is itself a scalar type."""
    try:
        kind = as_type(static_value(fn, node))
    except KeyError:
        kind = None
    if not isinstance(kind, Scalar):
        raise fn.error("this must be a scalar type", node, "such as u32 or f64")
    return kind


@builtin(len)
def length(fn: FunctionLowering, node: ast.Call) -> Operand:
    """len(a) of a fixed array, known when the code is compiled."""
    arity(fn, node, 1)
    operand = lower(fn, node.args[0])
    if not isinstance(operand, Place) or not isinstance(operand.type, ArrayType):
        raise fn.error("only a fixed array has a length", node.args[0], "pass the number of elements as a parameter")
    return Literal(operand.type.length)


# --- numbers ----------------------------------------------------------------------------------------------------------


def _extreme(fn: FunctionLowering, node: ast.Call, op: str) -> Operand:
    arity(fn, node, 2, 16)
    result = fn.read(lower(fn, node.args[0]), node.args[0])
    for part in node.args[1:]:
        a, b = same_type(fn, result, node.args[0], argument(fn, part), part, node)
        if isinstance(a, Literal):
            assert isinstance(b, Literal)
            result = Literal(min(a.value, b.value) if op == "<" else max(a.value, b.value))
            continue
        assert isinstance(b, Value)
        better = numbers.compare(fn.block, op, b, a)
        if better is None:
            raise fn.error(f"{a.type} has no order", node)
        result = numbers.select(fn.block, better.ref, b, a)
    return result


@builtin(min)
def smallest(fn: FunctionLowering, node: ast.Call) -> Operand:
    """min(a, b, ...): the first of the smallest, as Python's; a NaN is never smaller."""
    return _extreme(fn, node, "<")


@builtin(max)
def largest(fn: FunctionLowering, node: ast.Call) -> Operand:
    """max(a, b, ...): the first of the largest, as Python's; a NaN is never larger."""
    return _extreme(fn, node, ">")


@builtin(pow)
def power(fn: FunctionLowering, node: ast.Call) -> Operand:
    """pow(x, y): x ** y on floats."""
    arity(fn, node, 2)
    x, y = node.args
    return binary(fn, "**", argument(fn, x), x, argument(fn, y), y, node)


@builtin(abs)
def absolute(fn: FunctionLowering, node: ast.Call) -> Operand:
    """abs(x): without its sign; the smallest integer of a type stays itself, since it wraps."""
    arity(fn, node, 1)
    found = fn.read(lower(fn, node.args[0]), node.args[0])
    if isinstance(found, Literal):
        return Literal(abs(found.value))
    kind = found.type
    if not isinstance(kind, Scalar) or kind is BOOL:
        raise fn.error(f"{kind} has no absolute value", node.args[0])
    if kind.is_float:
        ref = fn.block.assign(f"call {kind.llvm} @llvm.fabs.f{kind.bits}({kind.llvm} {found.ref})")
        return Value(kind, ref, arith=True)
    if not kind.signed:
        return found
    return Value(kind, fn.block.assign(f"call {kind.llvm} @llvm.abs.i{kind.bits}({kind.llvm} {found.ref}, i1 false)"))


def _float_operands(fn: FunctionLowering, node: ast.Call, count: int) -> tuple[Scalar, list[Value]]:
    arity(fn, node, count)
    operands = [argument(fn, part) for part in node.args]
    kinds = [operand.type for operand in operands if isinstance(operand, Value)]
    kind = kinds[0] if kinds else value_of(fn, ast.copy_location(ast.Constant(0.0), node)).type
    if not isinstance(kind, Scalar) or not kind.is_float:
        raise fn.error(
            f"{ast.unparse(node.func)} takes floats, this is {kind}", node.args[0], "write f32(...) to convert"
        )
    return kind, [fn.coerce(operand, kind, part) for operand, part in zip(operands, node.args, strict=True)]


def _float_function(fn: FunctionLowering, node: ast.Call, name: str, count: int) -> Operand:
    kind, values = _float_operands(fn, node, count)
    listed = ", ".join(f"{kind.llvm} {value.ref}" for value in values)
    return Value(kind, fn.block.assign(f"call {kind.llvm} @llvm.{name}.f{kind.bits}({listed})"), arith=True)


@intrinsic
def sqrt(fn: FunctionLowering, node: ast.Call) -> Operand:
    """sqrt(x): the square root, correctly rounded."""
    kind, (value,) = _float_operands(fn, node, 1)
    # LLVM makes sqrt(x) of `x < 0 ? NaN : sqrt(x)`, with whatever NaN the machine has: the test looks at bits instead.
    # All patterns above that of infinity are NaN or negative; of these only -0.0, the sign bit alone, has a root.
    ty, bits = kind.llvm, f"i{kind.bits}"
    infinity, sign = (0x7F800000, 1 << 31) if kind.bits == 32 else (0x7FF0000000000000, 1 << 63)
    pattern = fn.block.assign(f"bitcast {ty} {value.ref} to {bits}")
    above = fn.block.assign(f"icmp ugt {bits} {pattern}, {infinity}")
    not_zero = fn.block.assign(f"icmp ne {bits} {pattern}, {sign}")
    nan = fn.block.assign(f"and i1 {above}, {not_zero}")
    root = fn.block.assign(f"call {ty} @llvm.sqrt.f{kind.bits}({ty} {value.ref})")
    return Value(kind, fn.block.assign(f"select i1 {nan}, {ty} {CANONICAL_NAN}, {ty} {root}"))


@intrinsic
def fma(fn: FunctionLowering, node: ast.Call) -> Operand:
    """fma(a, b, c): a * b + c rounded once. Device code never fuses a product and a sum unless it is asked so."""
    return _float_function(fn, node, "fma", 3)


@intrinsic
def floor(fn: FunctionLowering, node: ast.Call) -> Operand:
    """floor(x): the whole number at or below x, as a float."""
    return _float_function(fn, node, "floor", 1)


@intrinsic
def ceil(fn: FunctionLowering, node: ast.Call) -> Operand:
    """ceil(x): the whole number at or above x, as a float."""
    return _float_function(fn, node, "ceil", 1)


@intrinsic
def trunc(fn: FunctionLowering, node: ast.Call) -> Operand:
    """trunc(x): x without its fraction, as a float."""
    return _float_function(fn, node, "trunc", 1)


@intrinsic
def rint(fn: FunctionLowering, node: ast.Call) -> Operand:
    """rint(x): the nearest whole number, halves to even, as a float."""
    return _float_function(fn, node, "rint", 1)


@intrinsic
def copysign(fn: FunctionLowering, node: ast.Call) -> Operand:
    """copysign(x, y): x with the sign of y."""
    return _float_function(fn, node, "copysign", 2)


def _bit_function(fn: FunctionLowering, node: ast.Call, name: str, extra: str = "") -> Operand:
    arity(fn, node, 1)
    value = integer(fn, node.args[0], "be looked at bit by bit")
    kind = value.type
    assert isinstance(kind, Scalar)
    ref = fn.block.assign(f"call {kind.llvm} @llvm.{name}.i{kind.bits}({kind.llvm} {value.ref}{extra})")
    return Value(u32, numbers.resize(fn.block, ref, Scalar("", "uint", kind.bits, kind.llvm, "u1"), u32))


@intrinsic
def popcount(fn: FunctionLowering, node: ast.Call) -> Operand:
    """popcount(x) -> u32: how many bits are set."""
    return _bit_function(fn, node, "ctpop")


@intrinsic
def leading_zeros(fn: FunctionLowering, node: ast.Call) -> Operand:
    """leading_zeros(x) -> u32: zero bits above the highest set one; the width for 0."""
    return _bit_function(fn, node, "ctlz", ", i1 false")


@intrinsic
def trailing_zeros(fn: FunctionLowering, node: ast.Call) -> Operand:
    """trailing_zeros(x) -> u32: zero bits below the lowest set one; the width for 0."""
    return _bit_function(fn, node, "cttz", ", i1 false")


@intrinsic
def mul_high(fn: FunctionLowering, node: ast.Call) -> Operand:
    """mul_high(a, b): the upper half of the product of two integers of one type."""
    arity(fn, node, 2)
    a, b = same_type(fn, argument(fn, node.args[0]), node.args[0], argument(fn, node.args[1]), node.args[1], node)
    if isinstance(a, Literal) or isinstance(b, Literal) or not isinstance(a.type, Scalar) or not a.type.is_int:
        raise fn.error("mul_high takes two integers of one type", node, "write u32(...) to convert")
    kind, wide = a.type, f"i{a.type.bits * 2}"
    extend = "sext" if kind.signed else "zext"
    x = fn.block.assign(f"{extend} {kind.llvm} {a.ref} to {wide}")
    y = fn.block.assign(f"{extend} {kind.llvm} {b.ref} to {wide}")
    product = fn.block.assign(f"mul {wide} {x}, {y}")
    upper = fn.block.assign(f"lshr {wide} {product}, {kind.bits}")
    return Value(kind, fn.block.assign(f"trunc {wide} {upper} to {kind.llvm}"))
