"""Validates a module: every rule of the specification that a module must keep before it can be instantiated."""

from __future__ import annotations

from dataclasses import replace

from lanewise.errors import InvalidError, MalformedError
from lanewise.wasm.instructions import instructions
from lanewise.wasm.model import Expression, FuncType, Module
from lanewise.wasm.validate_body import Body
from lanewise.wasm.validate_rules import EFFECTS

_ARITHMETIC = frozenset(f"{kind}.{name}" for kind in ("i32", "i64") for name in ("add", "sub", "mul"))
"""Instructions that extended constant expressions may use, beyond those that every constant expression may."""


def validate(module: Module) -> None:
    """Check everything, function bodies included; raises InvalidError or MalformedError with the offset.

    What concerns one type alone, such as limits that no memory can have, `decode` has refused where it read it.
    """
    known = module.imported_globals
    for entry in module.defined_globals:
        # A global sees those before it; in WebAssembly 2.0 only those that are imported.
        _validate_constant(module, entry.init, entry.type.value, known, "a global's value", entry.offset)
        known += "extended-constants" in module.features
    _validate_exports(module)
    _validate_start(module)
    _validate_segments(module, known)
    for index in range(module.imported_functions, len(module.functions)):
        body = Body(module, index)
        try:
            _validate_body(body)
        except MalformedError as error:
            if isinstance(error, InvalidError):
                _read_to_the_end(body)  # what cannot even be read is not invalid but malformed, wherever it is
            raise


class _AnyTypes(list[FuncType]):
    """Types for reading a body whose types are not looked at: every index has one."""

    def __len__(self) -> int:
        return 1 << 33

    def __getitem__(self, index: object) -> FuncType:  # type: ignore[override]
        return FuncType((), ())


def _read_to_the_end(body: Body) -> None:
    """Read a body without checking it; raises MalformedError if its blocks do not end where it does."""
    depth = 1
    for found in instructions(replace(body.module, types=_AnyTypes()), body.first, body.function.end):
        depth += (found.op.rule in ("block", "loop", "if", "try_table")) - (found.op.rule == "end")
        if depth == 0:
            return
    what = f"END opcode expected, {depth} missing in {body.name}"
    raise MalformedError(f"unexpected end of section or function: {what}", body.function.end)


def _validate_body(body: Body) -> None:
    stack, effects, end = body.stack, EFFECTS, body.function.end
    for offset, op, immediates in instructions(body.module, body.first, end):
        body.offset, body.op = offset, op
        check, count, params, rule, result = effects[op.code]
        if check is not None:
            check(body, immediates)
        if count:
            if stack[-count:] == params and len(stack) - count >= body.height:
                del stack[-count:]
            else:
                body.pop_all(params)
        if rule is not None:
            rule(body, immediates)
        if result is not None:
            stack.append(result)
        if not body.frames:
            break
    if body.frames:
        what = f"END opcode expected, {len(body.frames)} missing in {body.name}"
        raise MalformedError(f"unexpected end of section or function: {what}", end)
    if body.offset + 1 != end:
        what = f"{end - body.offset - 1:,} bytes follow the end of {body.name}"
        raise MalformedError(f"section size mismatch: {what}", body.offset + 1)


def _validate_exports(module: Module) -> None:
    spaces = {
        "function": len(module.functions),
        "table": len(module.tables),
        "memory": len(module.memories),
        "global": len(module.globals),
        "tag": len(module.tags),
    }
    seen = set()
    for export in module.exports:
        if export.index >= spaces[export.kind]:
            what = f"export {export.name!r} names it, the module has {spaces[export.kind]}"
            raise InvalidError(f"unknown {export.kind} {export.index}: {what}", export.offset)
        if export.name in seen:
            raise InvalidError(f"duplicate export name: {export.name!r}", export.offset)
        seen.add(export.name)


def _validate_start(module: Module) -> None:
    if module.start is None:
        return
    if module.start >= len(module.functions):
        what = f"the start function, the module has {len(module.functions)}"
        raise InvalidError(f"unknown function {module.start}: {what}", module.start_offset)
    kind = module.functions[module.start]
    if kind.params or kind.results:
        what = f"{module.function_name(module.start)!r} has type {kind}, a start function takes and gives nothing"
        raise InvalidError(f"start function: {what}", module.start_offset)


def _validate_segments(module: Module, known: int) -> None:
    for index, element in enumerate(module.elements):
        what = f"element segment {index}"
        for item in element.items:
            _validate_constant(module, item, element.type, known, f"an item of {what}", element.position)
        if element.mode != "active":
            continue
        if element.table >= len(module.tables):
            raise InvalidError(f"unknown table {element.table}: {what} names it", element.position)
        _validate_constant(module, element.offset, "i32", known, f"the offset of {what}", element.position)
        held = module.tables[element.table].element
        if held != element.type:
            detail = f"{what} has {element.type}, table {element.table} holds {held}"
            raise InvalidError(f"type mismatch: {detail}", element.position)
    for index, segment in enumerate(module.data_segments):
        if segment.mode == "active":
            what = f"data segment {index}"
            if segment.memory >= len(module.memories):
                raise InvalidError(f"unknown memory {segment.memory}: {what} names it", segment.start)
            _validate_constant(module, segment.offset, "i32", known, f"the offset of {what}", segment.start)


def _validate_constant(module: Module, steps: Expression, wanted: str, known: int, what: str, at: int) -> None:
    """Check a constant expression that may use the first `known` globals."""
    stack: list[str] = []
    for offset, op, immediates in steps:
        at, results = offset, op.results
        if op.rule == "ref.null":
            results = (immediates[0],)
        elif op.rule == "global.get":
            results = (_constant_global(module, immediates[0], known, what, at),)
        elif op.rule == "ref.func":
            if immediates[0] >= len(module.functions):
                detail = f"{what} names it, the module has {len(module.functions)}"
                raise InvalidError(f"unknown function {immediates[0]}: {detail}", at)
        elif op.rule != "const" and not (op.name in _ARITHMETIC and "extended-constants" in module.features):
            raise InvalidError(f"constant expression required: {what} uses {op.name}", at)
        count = len(op.params)
        if tuple(stack[len(stack) - count :]) != op.params:
            raise InvalidError(f"type mismatch: {op.name} in {what} finds [{' '.join(stack)}]", at)
        stack[len(stack) - count :] = results
    if stack != [wanted]:
        raise InvalidError(f"type mismatch: {what} should be [{wanted}], it is [{' '.join(stack)}]", at)


def _constant_global(module: Module, index: int, known: int, what: str, at: int) -> str:
    if index >= known:
        raise InvalidError(f"unknown global {index}: {what} can use the first {known}", at)
    if module.globals[index].mutable:
        raise InvalidError(f"constant expression required: {what} uses global {index}, which can change", at)
    return module.globals[index].value
