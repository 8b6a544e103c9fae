"""Writes a module as text that people can read: like the text format, with byte offsets in front of instructions.

It is for reading, not for assembling: long segments are cut short and indices stand before names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lanewise.wasm.instructions import instructions, locals_of
from lanewise.wasm.model import (
    Data,
    Element,
    Expression,
    ExternType,
    FuncType,
    Instruction,
    Limits,
    MemoryType,
    Module,
    TableType,
    TagType,
)

SHOWN_BYTES = 48
"""Bytes of a data segment that are written out."""

SHOWN_ITEMS = 16
"""Items of an element segment that are written out."""

MAX_INDENT = 60
"""Blocks can be nested by the hundred thousand; past this depth, lines move no further to the right."""

_WORDS = {"function": "func", "table": "table", "memory": "memory", "global": "global", "tag": "tag"}


def disassemble(module: Module, function_index: int | None = None) -> str:
    """Write the whole module, or one function of it: imported ones have a type only."""
    if function_index is not None:
        if not 0 <= function_index < len(module.functions):
            raise IndexError(f"there is no function {function_index}: the module has {len(module.functions)}")
        return "\n".join(_function(module, function_index)) + "\n"
    return "\n".join(_module(module)) + "\n"


def _module(module: Module) -> Iterator[str]:
    yield f"(module{' ' + _identifier(module.names.module) if module.names.module else ''}"
    for index, signature in enumerate(module.types):
        yield _plain(f"(type {index} (func{_signature(signature, {})}))")
    counts = dict.fromkeys(_WORDS, 0)
    for entry in module.imports:
        index = counts[entry.kind]
        counts[entry.kind] += 1
        named = _named(module, entry.kind, index)
        yield _plain(f"(import {_string(entry.module)} {_string(entry.name)} ({named} {_inside(entry.type)}))")
    spaces: dict[str, Sequence[ExternType]] = {"table": module.tables, "memory": module.memories, "tag": module.tags}
    for kind, known in spaces.items():
        for index, found in enumerate(known[counts[kind] :], counts[kind]):
            yield _plain(f"({_named(module, kind, index)} {_inside(found)})")
    for index, defined in enumerate(module.defined_globals, module.imported_globals):
        init = _expression(module, defined.init)
        yield _plain(f"({_named(module, 'global', index)} {_inside(defined.type)} {init})")
    for export in module.exports:
        yield _plain(f"(export {_string(export.name)} ({_named(module, export.kind, export.index)}))")
    if module.start is not None:
        yield _plain(f"(start {_reference(module, 'function', module.start)})")
    for index, element in enumerate(module.elements):
        yield _plain(_element(module, index, element))
    for index, segment in enumerate(module.data_segments):
        yield _plain(_data(module, index, segment))
    for index in range(module.imported_functions, len(module.functions)):
        yield from _function(module, index)
    yield ")"


def _function(module: Module, index: int) -> Iterator[str]:
    kind = module.functions[index]
    names = module.names.locals.get(index, {})
    head = f"({_named(module, 'function', index)}{_signature(kind, names)}"
    if index < module.imported_functions:
        entry = [found for found in module.imports if found.kind == "function"][index]
        yield _plain(f"{head} (import {_string(entry.module)} {_string(entry.name)}))")
        return
    yield _plain(head)
    body = module.bodies[index - module.imported_functions]
    declared, first = locals_of(module, body)
    for at, name in enumerate(declared, len(kind.params)):
        yield _plain(f"  (local {_label(at, names)} {name})")
    depth = 1
    for instruction in instructions(module, first, body.end):
        rule = instruction.op.rule
        if rule in ("end", "else"):
            depth -= 1
        indent = "  " * min(max(depth, 0), MAX_INDENT)
        yield f"{instruction.offset:#08x}  {indent}{_instruction(module, instruction, names)}"
        if rule in ("block", "loop", "if", "else", "try_table"):
            depth += 1
    yield _plain(")")


def _plain(text: str) -> str:
    """Indent a line that has no offset."""
    return f"          {text}"


def _instruction(module: Module, instruction: Instruction, names: dict[int, str]) -> str:
    """Write one instruction; its immediates are written by their kinds."""
    op = instruction.op
    words = [op.name]
    for kind, value in zip(op.immediates, instruction.immediates, strict=True):
        if kind == "local":
            words.append(_label(value, names))
        elif kind == "memarg":
            words += _memarg(value, op.width)
        elif kind == "catches":
            words += _catches(module, value)
        elif kind in _REFERENCES:
            words.append(_reference(module, _REFERENCES[kind], value))
        elif kind != "zero":
            words.append(_IMMEDIATES[kind](value))
    return " ".join(word for word in words if word)


def _memarg(value: tuple[int, int, int], width: int) -> Iterator[str]:
    align, offset, memory = value
    if memory:
        yield str(memory)
    if offset:
        yield f"offset={offset}"
    if 1 << align != width:
        yield f"align={1 << align}"


def _float(bits: int, width: int, fraction: int) -> str:
    """Write a float so that no bit is lost."""
    value = np.uint32(bits).view(np.float32) if width == 32 else np.uint64(bits).view(np.float64)
    if np.isnan(value):
        return f"{'-' if bits >> (width - 1) else ''}nan:{bits & ((1 << fraction) - 1):#x}"
    return str(value)


def _catches(module: Module, clauses: tuple[tuple[str, int | None, int], ...]) -> Iterator[str]:
    for how, tag, depth in clauses:
        yield f"({how} {depth})" if tag is None else f"({how} {_reference(module, 'tag', tag)} {depth})"


def _vector(bits: int) -> str:
    return "i32x4 " + " ".join(f"{bits >> shift & 0xFFFFFFFF:#010x}" for shift in (0, 32, 64, 96))


_REFERENCES = {"function": "function", "table": "table", "memory": "memory", "global": "global", "tag": "tag"}
"""Immediates that name something which can have a name."""

_IMMEDIATES: dict[str, Callable[[Any], str]] = {
    "block": lambda kind: _signature(kind, {}).strip(),
    "label": str,
    "labels": lambda found: " ".join(map(str, (*found[0], found[1]))),
    "type": lambda index: f"(type {index})",
    "element": str,
    "data": str,
    "heap": lambda name: name.removesuffix("ref"),
    "types": lambda types: f"(result {' '.join(types)})",
    "i32": str,
    "i64": str,
    "f32": lambda bits: _float(bits, 32, 23),
    "f64": lambda bits: _float(bits, 64, 52),
    "v128": _vector,
    "lane": str,
    "lanes": lambda lanes: " ".join(map(str, lanes)),
}


def _expression(module: Module, steps: Expression) -> str:
    return " ".join(f"({_instruction(module, step, {})})" for step in steps) or "()"


def _element(module: Module, index: int, element: Element) -> str:
    where = {
        "active": f"(table {element.table}) {_expression(module, element.offset)}",
        "passive": "passive",
        "declarative": "declare",
    }[element.mode]
    items = [_expression(module, item) for item in element.items[:SHOWN_ITEMS]]
    if len(element.items) > SHOWN_ITEMS:
        items.append(f"... {len(element.items) - SHOWN_ITEMS:,} more")
    return f"(elem {index} {where} {element.type} {' '.join(items)})"


def _data(module: Module, index: int, segment: Data) -> str:
    where = "passive"
    if segment.mode == "active":
        where = f"(memory {segment.memory}) {_expression(module, segment.offset)}"
    size = segment.end - segment.start
    shown = _escape(module.data[segment.start : segment.start + min(size, SHOWN_BYTES)])
    more = " ..." if size > SHOWN_BYTES else ""
    return f"(data {index} {where} {shown}{more}) ;; {size:,} bytes from {segment.start:#x}"


def _inside(kind: ExternType) -> str:
    """Write what stands behind the word for the kind."""
    if isinstance(kind, TagType):
        kind = kind.type
    if isinstance(kind, FuncType):
        return _signature(kind, {}).strip()
    if isinstance(kind, TableType):
        return f"{_limits(kind.limits)} {kind.element}"
    if isinstance(kind, MemoryType):
        return f"{_limits(kind.limits)}{' shared' if kind.shared else ''}"
    return f"(mut {kind.value})" if kind.mutable else kind.value


def _limits(limits: Limits) -> str:
    return str(limits.minimum) if limits.maximum is None else f"{limits.minimum} {limits.maximum}"


def _signature(kind: FuncType, names: dict[int, str]) -> str:
    if any(at in names for at in range(len(kind.params))):
        params = "".join(f" (param {_label(at, names)} {name})" for at, name in enumerate(kind.params))
    else:
        params = f" (param {' '.join(kind.params)})" if kind.params else ""
    return params + (f" (result {' '.join(kind.results)})" if kind.results else "")


def _name_of(module: Module, kind: str, index: int) -> str:
    if kind == "function":
        name = module.function_name(index)
        return "" if name == f"func {index}" else name
    plural = {"table": "tables", "memory": "memories", "global": "globals", "tag": "tags"}[kind]
    return str(getattr(module.names, plural).get(index, ""))


def _named(module: Module, kind: str, index: int) -> str:
    """Write something where it is declared: its word, its index and its name."""
    name = _name_of(module, kind, index)
    return f"{_WORDS[kind]} {index}{' ' + _identifier(name) if name else ''}"


def _reference(module: Module, kind: str, index: int) -> str:
    """Write something where it is used: by its name, if it has one."""
    name = _name_of(module, kind, index)
    return _identifier(name) if name else str(index)


def _label(index: int, names: dict[int, str]) -> str:
    return _identifier(names[index]) if names.get(index) else str(index)


def _identifier(name: str) -> str:
    return f"${name}" if re.fullmatch(r"[\w!#$%&'*+\-./:<=>?@\\^`|~]+", name, re.ASCII) else f"${_string(name)}"


def _string(text: str) -> str:
    """Write a name so that it stays on its line, whatever it holds."""
    shown = "".join(char if char.isprintable() and char not in '"\\' else f"\\u{{{ord(char):x}}}" for char in text)
    return f'"{shown}"'


def _escape(data: bytes) -> str:
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02x}" for byte in data)
    return f'"{"".join(plain)}"'
