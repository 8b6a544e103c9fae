"""The raw steps that warp operations are made of: votes and shuffles on a GPU, an exchange of values on a CPU."""

from __future__ import annotations

import ast

from lanewise.lang import numbers
from lanewise.lang.expressions import condition, typed, value_of
from lanewise.lang.intrinsics import arity, intrinsic
from lanewise.lang.ir import Operand, Value
from lanewise.lang.lowering import FunctionLowering
from lanewise.lang.types import Scalar, u32, u64
from lanewise.lang.vocabulary import scalar_argument


@intrinsic
def vote(fn: FunctionLowering, node: ast.Call) -> Operand:
    """vote(flag) -> u32: on a GPU, the mask of lanes of this warp that are here and whose flag is set."""
    arity(fn, node, 1)
    fn.facts.converges = True
    fn.facts.communicates = True
    return fn.program.abi.ballot(fn, condition(fn, node.args[0]))


@intrinsic
def exchange(fn: FunctionLowering, node: ast.Call) -> Operand:
    """exchange(bits) -> Ptr[WarpBox]: on a CPU, meet the other lanes of this warp and see what each brought."""
    arity(fn, node, 1)
    fn.facts.converges = True
    fn.facts.communicates = True
    fn.facts.group_ids = True
    return fn.program.abi.exchange(fn, typed(fn, node.args[0], u64).ref)


@intrinsic
def shuffle(fn: FunctionLowering, node: ast.Call) -> Operand:
    """shuffle(value, source): on a GPU, the value that lane `source` of this warp passes to the same call."""
    arity(fn, node, 2)
    fn.facts.converges = True
    fn.facts.communicates = True
    value = value_of(fn, node.args[0])
    kind = value.type
    assert isinstance(kind, Scalar)
    source = typed(fn, node.args[1], u32).ref
    bits = to_bits(fn, value).ref
    low = fn.block.assign(f"trunc i64 {bits} to i32")
    moved = fn.program.abi.shuffle(fn, low, source)
    wide = fn.block.assign(f"zext i32 {moved} to i64")
    if kind.bits == 64:
        upper = fn.block.assign(f"lshr i64 {bits}, 32")
        high = fn.program.abi.shuffle(fn, fn.block.assign(f"trunc i64 {upper} to i32"), source)
        shifted = fn.block.assign(f"shl i64 {fn.block.assign(f'zext i32 {high} to i64')}, 32")
        wide = fn.block.assign(f"or i64 {wide}, {shifted}")
    return from_bits(fn, kind, wide)


@intrinsic
def pack(fn: FunctionLowering, node: ast.Call) -> Operand:
    """pack(value) -> u64: the bits of any scalar, zeros above."""
    arity(fn, node, 1)
    return to_bits(fn, value_of(fn, node.args[0]))


@intrinsic
def unpack(fn: FunctionLowering, node: ast.Call) -> Operand:
    """unpack(T, bits): the scalar that was packed."""
    arity(fn, node, 2)
    return from_bits(fn, scalar_argument(fn, node.args[0]), typed(fn, node.args[1], u64).ref)


def to_bits(fn: FunctionLowering, value: Value) -> Value:
    """Any scalar as 64 bits."""
    kind = value.type
    assert isinstance(kind, Scalar)
    ref = value.ref
    if kind.is_float:
        ref = numbers.canonical(fn.block, value).ref
        ref = fn.block.assign(f"bitcast {kind.llvm} {ref} to i{kind.bits}")
    return Value(u64, ref if kind.bits == 64 else fn.block.assign(f"zext i{kind.bits} {ref} to i64"))


def from_bits(fn: FunctionLowering, kind: Scalar, bits: str) -> Value:
    """The scalar in the low bits of 64."""
    ref = bits if kind.bits == 64 else fn.block.assign(f"trunc i64 {bits} to i{kind.bits}")
    if kind.is_float:
        ref = fn.block.assign(f"bitcast i{kind.bits} {ref} to {kind.llvm}")
    return Value(kind, ref)
