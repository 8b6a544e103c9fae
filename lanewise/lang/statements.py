"""Statements of device code: assignment, branches, and which names surely have a value at each point."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from lanewise.lang.expressions import condition, lower, static_condition, typed
from lanewise.lang.ir import Operand, Place, Tuple, Value
from lanewise.lang.lowering import FunctionLowering
from lanewise.lang.operators import OPERATORS, binary
from lanewise.lang.types import VOID, ArrayType, StructType, TupleType, Type
from lanewise.settings import MAX_LOCAL_BYTES

Rule = Callable[[FunctionLowering, Any], None]
"""How one kind of AST node is lowered."""


def lower_body(fn: FunctionLowering) -> None:
    """Lower the whole body of a function into its block."""
    source = fn.function.source
    assert fn.assigned is not None
    for name, kind in fn.function.parameters.items():
        copied = name not in fn.function.assigned_names or name in fn.function.copied_names
        place = fn.declare(name, kind, clean=copied and fn.program.is_kernel(fn.function))
        fn.store(place, Value(kind, f"%arg{len(fn.assigned)}"))
        fn.assigned.add(name)
    lower_block(fn, source.node.body)
    if fn.function.result is VOID:
        if not fn.block.terminated:
            fn.block.terminate("ret void")
    elif fn.assigned is None:
        if not fn.block.terminated:
            fn.block.terminate("unreachable")
    else:
        raise fn.error(
            f"{fn.function.name} can end without returning a {fn.function.result}",
            source.node.body[-1],
            "add a return at the end",
        )


def lower_block(fn: FunctionLowering, body: list[ast.stmt]) -> None:
    """Lower statements one after the other."""
    for statement in body:
        handler = fn.program.statement_rules.get(type(statement))
        if handler is None:
            raise fn.error(_describe(statement), statement, _HINTS.get(type(statement), ""))
        handler(fn, statement)
        if isinstance(statement, ast.If) and fn.assigned is None and static_condition(fn, statement.test) is not None:
            return  # such as `if ON_GPU: return ...`: what follows is the other side of the condition


# --- assignment -------------------------------------------------------------------------------------------------------


def _assign(fn: FunctionLowering, node: ast.Assign) -> None:
    if len(node.targets) > 1:
        raise fn.error("one target at a time", node.targets[1], "write two assignments")
    target = node.targets[0]
    if isinstance(target, ast.Tuple):
        _unpack(fn, target, lower(fn, node.value), node.value)
    elif isinstance(target, ast.Name):
        assign_name(fn, target, lower(fn, node.value), node.value)
    else:
        # The value is computed before the address, as Python does.
        operand = lower(fn, node.value)
        operand = operand if _is_aggregate(operand) else fn.read(operand, node.value)
        _store(fn, target, operand, node.value)


def _unpack(fn: FunctionLowering, target: ast.Tuple, operand: Operand, node: ast.expr) -> None:
    if not isinstance(operand, Tuple):
        raise fn.error("this is one value and cannot be taken apart", node)
    if len(operand.items) != len(target.elts):
        raise fn.error(f"{len(operand.items)} values for {len(target.elts)} names", target)
    for part, item in zip(target.elts, operand.items, strict=True):
        if isinstance(part, ast.Tuple | ast.List | ast.Starred):
            raise fn.error("a tuple is taken apart into single values", part, "write one name for each value")
        if isinstance(part, ast.Name):
            assign_name(fn, part, item, node)
        else:
            _store(fn, part, item, node)


def _is_aggregate(operand: Operand) -> bool:
    return isinstance(operand, Place) and isinstance(operand.type, ArrayType | StructType)


def assign_name(fn: FunctionLowering, target: ast.Name, operand: Operand, node: ast.expr) -> None:
    """Give a local name a value; its first value decides its type."""
    name = target.id
    if isinstance(operand, Tuple) and not operand.items:
        raise fn.error("this call returns nothing", node)
    place = fn.names.get(name)
    if place is not None and not place.local:
        raise fn.error(f"{name} stands for an array already", target, "use another name")
    if isinstance(operand, Place) and _is_aggregate(operand):
        if place is None and isinstance(operand.type, ArrayType) and not operand.local:
            fn.names[name] = operand  # a shared or constant array: the name stands for the array itself
        else:
            place = place or _declare_aggregate(fn, name, operand.type, target)
            _copy(fn, place, operand, node)
    else:
        if place is None:
            value = fn.value(operand, node)
            place = fn.declare(name, value.type, clean=name in fn.function.copied_names)
        else:
            value = fn.coerce(operand, place.type, node, name)
        fn.store(place, value)
    if fn.assigned is not None:
        fn.assigned.add(name)


def _store(fn: FunctionLowering, target: ast.expr, operand: Operand, node: ast.expr) -> None:
    place = lower(fn, target)
    if not isinstance(place, Place):
        raise fn.error("this cannot be assigned to", target, "assign to a name, an element or a field")
    if place.readonly:
        raise fn.error("a module-level table is constant", target, "copy it to memory of your own first")
    if _is_aggregate(operand):
        assert isinstance(operand, Place)
        _copy(fn, place, operand, node)
    else:
        fn.store(place, fn.coerce(operand, place.type, node, ast.unparse(target)))


def _copy(fn: FunctionLowering, target: Place, source: Place, node: ast.expr) -> None:
    if target.type != source.type:
        raise fn.error(f"expected {target.type}, this is {source.type}", node)
    align = target.type.align
    fn.block.emit(
        f"call void @llvm.memmove.p0.p0.i64(ptr align {align} {target.ref}, ptr align {align} {source.ref}, "
        f"i64 {target.type.size}, i1 false)"
    )


def _annotated(fn: FunctionLowering, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name):
        raise fn.error("only a name can be declared", node.target)
    name = node.target.id
    kind = fn.function.resolve_type(node.annotation)
    if name in fn.names and (fn.names[name].type != kind or not fn.names[name].local):
        raise fn.error(f"{name} is {fn.names[name].type} already", node, "use another name")
    if isinstance(kind, TupleType) or kind is VOID:
        raise fn.error(f"a variable cannot be {kind}", node.annotation)
    if isinstance(kind, ArrayType | StructType):
        place = fn.names.get(name) or _declare_aggregate(fn, name, kind, node.target)
    else:
        place = fn.names.get(name) or fn.declare(name, kind, clean=name in fn.function.copied_names)
    if isinstance(kind, ArrayType | StructType):
        if node.value is not None:
            raise fn.error(
                f"{kind} starts as zeros", node.value, f"write `{name}: {kind}` alone, then assign its parts"
            )
        fn.block.emit(
            f"call void @llvm.memset.p0.i64(ptr align {kind.align} {place.ref}, i8 0, i64 {kind.size}, i1 false)"
        )
    elif node.value is not None:
        fn.store(place, typed(fn, node.value, kind, name))
    else:
        return  # declared, not assigned
    if fn.assigned is not None:
        fn.assigned.add(name)


def _declare_aggregate(fn: FunctionLowering, name: str, kind: Type, node: ast.expr) -> Place:
    """A local array or struct; what one thread can hold is bounded, since every thread has its own."""
    place = fn.declare(name, kind)
    if fn.facts.local_bytes > MAX_LOCAL_BYTES:
        raise fn.error(
            f"this makes {fn.facts.local_bytes:,} bytes of local arrays and structs",
            node,
            f"a function holds {MAX_LOCAL_BYTES:,}; pass a Ptr to memory allocated on the host",
        )
    return place


def _augmented(fn: FunctionLowering, node: ast.AugAssign) -> None:
    op = OPERATORS.get(type(node.op))
    if op is None:
        raise fn.error("device code has no matrix product", node, "write the loops")
    place = lower(fn, node.target)
    if not isinstance(place, Place) or place.readonly:
        raise fn.error("this cannot be assigned to", node.target)
    old = fn.load(place, node.target)
    operand = lower(fn, node.value)
    result = binary(fn, op, old, node.target, operand, node.value, _as_expression(node))
    fn.store(place, fn.coerce(result, place.type, node.value))


def _as_expression(node: ast.AugAssign) -> ast.expr:
    """An expression node with the span of an augmented assignment, for messages."""
    left = node.target
    return ast.copy_location(ast.BinOp(left=left, op=node.op, right=node.value), node)


# --- control flow -----------------------------------------------------------------------------------------------------


def _if(fn: FunctionLowering, node: ast.If) -> None:
    known = static_condition(fn, node.test)
    if known is not None:
        lower_block(fn, node.body if known else node.orelse)
        return
    flag = condition(fn, node.test)
    yes, no, done = (fn.block.name(part) for part in ("then", "else", "end"))
    before = fn.assigned
    fn.block.branch(flag, yes, no if node.orelse else done)
    fn.block.label(yes)
    fn.assigned = None if before is None else set(before)
    lower_block(fn, node.body)
    after_yes = fn.assigned
    if not fn.block.terminated:
        fn.block.jump(done)
    fn.assigned = None if before is None else set(before)
    if node.orelse:
        fn.block.label(no)
        lower_block(fn, node.orelse)
        if not fn.block.terminated:
            fn.block.jump(done)
    fn.assigned = meet(after_yes, fn.assigned)
    fn.block.label(done)
    if fn.assigned is None:
        fn.block.terminate("unreachable")


def meet(a: set[str] | None, b: set[str] | None) -> set[str] | None:
    """Names assigned on both ways; a way that cannot be taken does not count."""
    return b if a is None else a if b is None else a & b


def _return(fn: FunctionLowering, node: ast.Return) -> None:
    result = fn.function.result
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        if result is not VOID:
            raise fn.error(f"{fn.function.name} returns {result}", node, "return a value")
        fn.block.terminate("ret void")
    elif result is VOID:
        hint = "a kernel writes results through a Ptr parameter"
        if not fn.program.is_kernel(fn.function):
            hint = f"write `def {fn.function.name}(...) -> {_type_name(fn, lower(fn, node.value), node.value)}:`"
        raise fn.error(f"{fn.function.name} has no return type", node, hint)
    else:
        operand = lower(fn, node.value)
        if isinstance(operand, Place) and _is_aggregate(operand) and operand.private:
            raise fn.error("a local array or struct ends with its function", node.value, "take a Ptr to write it to")
        if isinstance(result, TupleType):
            fn.block.terminate(f"ret {result.llvm} {_pack(fn, operand, result, node.value)}")
        else:
            fn.block.terminate(f"ret {result.llvm} {fn.coerce(operand, result, node.value, 'the result').ref}")
    fn.assigned = None


def _type_name(fn: FunctionLowering, operand: Operand, node: ast.expr) -> str:
    if isinstance(operand, Tuple) and operand.items:
        return f"tuple[{', '.join(_type_name(fn, item, node) for item in operand.items)}]"
    return fn.value(operand, node).type.name


def _pack(fn: FunctionLowering, operand: Operand, result: TupleType, node: ast.expr) -> str:
    if not isinstance(operand, Tuple) or len(operand.items) != len(result.elements):
        raise fn.error(f"{fn.function.name} returns {result}", node, f"return {len(result.elements)} values")
    packed = "poison"
    parts = node.elts if isinstance(node, ast.Tuple) else [node] * len(operand.items)
    for index, (item, kind, part) in enumerate(zip(operand.items, result.elements, parts, strict=True)):
        value = fn.coerce(item, kind, part)
        packed = fn.block.assign(f"insertvalue {result.llvm} {packed}, {kind.llvm} {value.ref}, {index}")
    return packed


# --- the rest ---------------------------------------------------------------------------------------------------------


def _expression(fn: FunctionLowering, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return  # a docstring
    lower(fn, node.value)


def _assert(fn: FunctionLowering, node: ast.Assert) -> None:
    message = "assertion failed: " + ast.unparse(node.test)
    if node.msg is not None:
        if not isinstance(node.msg, ast.Constant) or not isinstance(node.msg.value, str):
            raise fn.error("the message of an assert is a plain string", node.msg)
        message = f"assertion failed: {node.msg.value}"
    flag = condition(fn, node.test)
    failed = fn.block.assign(f"xor i1 {flag}, true")
    fn.trap_if(failed, message, node)


def _pass(fn: FunctionLowering, node: ast.Pass) -> None:
    pass


def _describe(node: ast.stmt) -> str:
    name = type(node).__name__.lower()
    words = {"functiondef": "a nested function", "classdef": "a class", "importfrom": "import", "delete": "del"}
    return f"{words.get(name, name)} has no meaning in device code"


_HINTS: dict[type[ast.stmt], str] = {
    ast.FunctionDef: "define it outside and mark it @device",
    ast.Raise: "write assert to stop a thread",
    ast.Import: "import at the top of the file",
    ast.ImportFrom: "import at the top of the file",
    ast.Global: "pass a Ptr to what the function changes",
    ast.Nonlocal: "pass a Ptr to what the function changes",
    ast.Match: "write if and elif",
}

RULES: dict[type[ast.stmt], Rule] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.Return: _return,
    ast.Expr: _expression,
    ast.Assert: _assert,
    ast.Pass: _pass,
}
