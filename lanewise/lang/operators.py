"""Operators of device code: literals fold as Python does, everything else needs operands of one type."""

from __future__ import annotations

import ast

from lanewise.lang import numbers
from lanewise.lang.expressions import Rule, condition, lower, static_condition
from lanewise.lang.ir import Literal, Operand, Place, Value
from lanewise.lang.lowering import FunctionLowering
from lanewise.lang.types import BOOL, ArrayType, PointerType, Scalar, f64, i32, i64, u64
from lanewise.settings import MAX_LITERAL_BITS

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
            return fn.program.library_call(fn, "floor_divide" if op == "//" else "floor_mod", [a, b])
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
        return fn.program.library_call(fn, "pow", [a, b])
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


RULES: dict[type[ast.expr], Rule] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.IfExp: _conditional,
}
