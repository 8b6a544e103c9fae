"""What validation asks of instructions beyond the types in their row: immediates, and operands that depend on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lanewise.errors import MalformedError
from lanewise.wasm.model import FuncType
from lanewise.wasm.opcodes import OPS, Op
from lanewise.wasm.validate_body import ANY, Body

Handler = Callable[[Body, tuple[Any, ...]], None]
"""Looks at the immediates of the instruction at hand, and may take from the stack and put there."""

Effect = tuple[Handler | None, int, list[str], Handler | None, str | None]
"""What checks the immediates, how many operands of which types are taken, the rule, and what is left."""

_SPACES = {
    "function": ("functions", "function"),
    "type": ("types", "type"),
    "table": ("tables", "table"),
    "memory": ("memories", "memory"),
    "tag": ("tags", "tag"),
    "element": ("elements", "elem segment"),
}
"""Immediates that index into a list of the module, and what the specification's messages call them."""


def _checks_of(row: Op) -> Handler | None:
    """Give what checks the immediates of an instruction against the module; None where there is nothing to check."""
    # The specification looks at the table or memory first, which is the last immediate.
    found = [_check(row, place, kind) for place, kind in reversed([*enumerate(row.immediates)])]
    checks = [check for check in found if check]
    if len(checks) < 2:
        return checks[0] if checks else None

    def check_all(body: Body, immediates: tuple[Any, ...]) -> None:
        for check in checks:
            check(body, immediates)

    return check_all


def _check(row: Op, place: int, kind: str) -> Handler | None:
    if kind == "memarg":
        return _check_access(row, place)
    if kind in ("lane", "lanes"):
        return _check_lanes(row, place)
    if kind == "data":
        return _check_data(place)
    return _check_index(place, *_SPACES[kind]) if kind in _SPACES else None


def _check_index(place: int, space: str, word: str) -> Handler:
    def check(body: Body, immediates: tuple[Any, ...]) -> None:
        known = len(getattr(body.module, space))
        if immediates[place] >= known:
            raise body.invalid(f"unknown {word} {immediates[place]}: the module has {known}")

    return check


def _check_access(row: Op, place: int) -> Handler:
    natural = row.width.bit_length() - 1

    def check(body: Body, immediates: tuple[Any, ...]) -> None:
        align, _, memory = immediates[place]
        if memory >= len(body.module.memories):
            raise body.invalid(f"unknown memory {memory}: the module has {len(body.module.memories)}")
        if align > natural:
            raise body.invalid(f"alignment must not be larger than natural: 2**{align} bytes of {row.width}")
        if align < natural and row.atomic:
            raise body.invalid(f"atomic alignment must be natural: 2**{align} bytes of {row.width}")

    return check


def _check_lanes(row: Op, place: int) -> Handler:
    def check(body: Body, immediates: tuple[Any, ...]) -> None:
        found = immediates[place]
        lane = max(found) if isinstance(found, tuple) else found
        if lane >= row.lanes:
            raise body.invalid(f"invalid lane index {lane}: there are {row.lanes} lanes")

    return check


def _check_data(place: int) -> Handler:
    def check(body: Body, immediates: tuple[Any, ...]) -> None:
        known = body.module.data_count or 0
        if immediates[place] >= known:
            raise body.invalid(f"unknown data segment {immediates[place]}: the module has {known}")

    return check


def _open(body: Body, immediates: tuple[Any, ...]) -> None:
    kind: FuncType = immediates[0]
    body.pop_all(kind.params)
    body.open(body.op.rule, kind)


def _try_table(body: Body, immediates: tuple[Any, ...]) -> None:
    kind, clauses = immediates
    body.pop_all(kind.params)
    for how, tag, depth in clauses:
        carried: tuple[str, ...] = ()
        if tag is not None:
            if tag >= len(body.module.tags):
                raise body.invalid(f"unknown tag {tag}: the module has {len(body.module.tags)}")
            carried = body.module.tags[tag].type.params
        if how.endswith("_ref"):
            carried += ("exnref",)
        if carried != body.label(depth):
            raise body.mismatch(body.label(depth), carried)
    body.open("try_table", kind)


def _else(body: Body, immediates: tuple[Any, ...]) -> None:
    frame = body.frames[-1]
    if frame.rule != "if":
        raise MalformedError(f"END opcode expected: else without an if in {body.name}", body.offset)
    body.close()
    body.open("else", frame.type)


def _end(body: Body, immediates: tuple[Any, ...]) -> None:
    frame = body.close()
    if frame.rule == "if" and frame.type.params != frame.type.results:
        raise body.invalid(f"type mismatch: an if of type {frame.type} needs an else")
    if body.frames:
        body.push_all(frame.type.results)


def _br(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop_all(body.label(immediates[0]))
    body.never_returns()


def _br_if(body: Body, immediates: tuple[Any, ...]) -> None:
    types = body.label(immediates[0])
    if types:
        body.pop_all(types)
        body.push_all(types)


def _br_table(body: Body, immediates: tuple[Any, ...]) -> None:
    labels, default = immediates[0]
    arity = len(body.label(default))
    checked = set()
    for depth in labels:
        types = body.label(depth)
        if id(types) not in checked:
            # Labels often share their types, and those of open blocks keep their ids while this runs.
            checked.add(id(types))
            if len(types) != arity:
                raise body.invalid(f"type mismatch: label {depth} takes {len(types)} operands, the default {arity}")
            body.check_top(types)
    body.pop_all(body.label(default))
    body.never_returns()


def _return(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop_all(body.function.type.results)
    body.never_returns()


def _unreachable(body: Body, immediates: tuple[Any, ...]) -> None:
    body.never_returns()


def _call(body: Body, immediates: tuple[Any, ...]) -> None:
    kind = body.module.functions[immediates[0]]
    body.pop_all(kind.params)
    body.push_all(kind.results)


def _indirect(body: Body, immediates: tuple[Any, ...]) -> FuncType:
    index: int
    index, table = immediates
    element = body.module.tables[table].element
    if element != "funcref":
        raise body.invalid(f"type mismatch: table {table} holds {element}, not funcref")
    return body.module.types[index]


def _call_indirect(body: Body, immediates: tuple[Any, ...]) -> None:
    kind = _indirect(body, immediates)
    body.pop_all(kind.params)
    body.push_all(kind.results)


def _leave_by(body: Body, kind: FuncType) -> None:
    if kind.results != body.function.type.results:
        raise body.mismatch(body.function.type.results, kind.results)
    body.pop_all(kind.params)
    body.never_returns()


def _return_call(body: Body, immediates: tuple[Any, ...]) -> None:
    _leave_by(body, body.module.functions[immediates[0]])


def _return_call_indirect(body: Body, immediates: tuple[Any, ...]) -> None:
    _leave_by(body, _indirect(body, immediates))


def _throw(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop_all(body.module.tags[immediates[0]].type.params)
    body.never_returns()


def _drop(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop_any()


def _select(body: Body, immediates: tuple[Any, ...]) -> None:
    second, first = body.pop_any(), body.pop_any()
    for found in (first, second):
        if found.endswith("ref"):
            raise body.invalid(f"type mismatch: select without a type takes numbers and vectors, found {found}")
    if first != second and ANY not in (first, second):
        raise body.mismatch((first, first), (first, second))
    body.stack.append(first or second)


def _select_typed(body: Body, immediates: tuple[Any, ...]) -> None:
    types = immediates[0]
    if len(types) != 1:
        raise body.invalid(f"invalid result arity: select gives one result, not {len(types)}")
    body.pop_all(types * 2)
    body.push_all(types)


def _local(body: Body, index: int) -> str:
    if index >= len(body.locals):
        raise body.invalid(f"unknown local {index}: the function has {len(body.locals)} with its parameters")
    return body.locals[index]


def _local_get(body: Body, immediates: tuple[Any, ...]) -> None:
    body.stack.append(_local(body, immediates[0]))


def _local_set(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop(_local(body, immediates[0]))


def _local_tee(body: Body, immediates: tuple[Any, ...]) -> None:
    kind = _local(body, immediates[0])
    body.pop(kind)
    body.stack.append(kind)


def _global_get(body: Body, immediates: tuple[Any, ...]) -> None:
    body.stack.append(_global(body, immediates[0], written=False))


def _global_set(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop(_global(body, immediates[0], written=True))


def _global(body: Body, index: int, *, written: bool) -> str:
    known = body.module.globals
    if index >= len(known):
        raise body.invalid(f"unknown global {index}: the module has {len(known)}")
    if written and not known[index].mutable:
        raise body.invalid(f"global is immutable: global {index} cannot be set")
    return known[index].value


def _table_get(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop("i32")
    body.stack.append(body.module.tables[immediates[0]].element)


def _table_set(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop_all(("i32", body.module.tables[immediates[0]].element))


def _table_grow(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop_all((body.module.tables[immediates[0]].element, "i32"))
    body.stack.append("i32")


def _table_fill(body: Body, immediates: tuple[Any, ...]) -> None:
    body.pop_all(("i32", body.module.tables[immediates[0]].element, "i32"))


def _table_copy(body: Body, immediates: tuple[Any, ...]) -> None:
    target, source = (body.module.tables[index].element for index in immediates)
    if target != source:
        raise body.invalid(f"type mismatch: {source} cannot be copied to a table of {target}")


def _table_init(body: Body, immediates: tuple[Any, ...]) -> None:
    source, target = body.module.elements[immediates[0]].type, body.module.tables[immediates[1]].element
    if target != source:
        raise body.invalid(f"type mismatch: a segment of {source} cannot be copied to a table of {target}")


def _ref_null(body: Body, immediates: tuple[Any, ...]) -> None:
    body.stack.append(immediates[0])


def _ref_is_null(body: Body, immediates: tuple[Any, ...]) -> None:
    found = body.pop_any()
    if found != ANY and not found.endswith("ref"):
        raise body.invalid(f"type mismatch: expected a reference, found {found}")


def _ref_func(body: Body, immediates: tuple[Any, ...]) -> None:
    if immediates[0] not in body.module.declared:
        what = f"{body.module.function_name(immediates[0])!r} is in no export, element segment or global"
        raise body.invalid(f"undeclared function reference: {what}")


_RULES: dict[str, Handler] = {
    "block": _open,
    "loop": _open,
    "if": _open,
    "try_table": _try_table,
    "else": _else,
    "end": _end,
    "br": _br,
    "br_if": _br_if,
    "br_table": _br_table,
    "return": _return,
    "unreachable": _unreachable,
    "call": _call,
    "call_indirect": _call_indirect,
    "return_call": _return_call,
    "return_call_indirect": _return_call_indirect,
    "throw": _throw,
    "throw_ref": _unreachable,
    "drop": _drop,
    "select": _select,
    "select_typed": _select_typed,
    "local.get": _local_get,
    "local.set": _local_set,
    "local.tee": _local_tee,
    "global.get": _global_get,
    "global.set": _global_set,
    "table.get": _table_get,
    "table.set": _table_set,
    "table.grow": _table_grow,
    "table.fill": _table_fill,
    "table.copy": _table_copy,
    "table.init": _table_init,
    "ref.null": _ref_null,
    "ref.is_null": _ref_is_null,
    "ref.func": _ref_func,
}
"""What an instruction does to the stack between what its row takes and what its row leaves. A rule that is not here is
the compiler's: validation needs no more than the row."""


def _effect(row: Op) -> Effect:
    (result,) = row.results or (None,)
    return _checks_of(row), len(row.params), list(row.params), _RULES.get(row.rule), result


EFFECTS = {code: _effect(row) for code, row in OPS.items()}
"""What each instruction does, by its opcode."""
