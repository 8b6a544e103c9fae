"""Reads the sections of a module; the instructions of function bodies are left to `instructions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from lanewise.errors import InvalidError, MalformedError, UnsupportedError
from lanewise.wasm.foreign import (
    COLLECTED,
    CUT_SHORT,
    PAGE_SIZES,
    REFERENCES,
    SHARED_TYPES,
    STACK_SWITCHING,
    WIDE_MEMORY,
    WIDE_TABLE,
    explain_bytes,
)
from lanewise.wasm.instructions import constant_expression, reference_type, value_type
from lanewise.wasm.model import (
    FEATURES,
    CustomSection,
    Data,
    Element,
    Export,
    Expression,
    Function,
    FuncType,
    Global,
    GlobalType,
    Import,
    Instruction,
    Limits,
    MemoryType,
    Module,
    TableType,
    TagType,
)
from lanewise.wasm.opcodes import OPS
from lanewise.wasm.reader import Reader

MAX_PAGES = 65536
"""Pages of a memory: 4 GiB."""

MAX_ARITY = 1000
"""Parameters or results of a function type; the limit that browsers have, too."""

KINDS = ("function", "table", "memory", "global", "tag")
"""What can be imported and exported, in the order of the bytes that stand for them."""

_ORDER = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 13: 6, 6: 7, 7: 8, 8: 9, 9: 10, 12: 11, 10: 12, 11: 13}
"""Section numbers and the order in which they come; they were not all invented in that order."""


def decode(data: bytes, features: frozenset[str] = FEATURES) -> Module:
    """Read a module; raises MalformedError, InvalidError or UnsupportedError, each with the offset of what is wrong.

    What is read is well-formed but not yet valid: `validate` checks the rest. `features` is for those who want an
    earlier version of WebAssembly, such as `model.WEBASSEMBLY_2`.
    """
    data = bytes(data)
    _check_header(data)
    module, reader, seen = Module(data, features), Reader(data, 8, len(data)), 0
    functions: list[int] = []
    while reader.left:
        start = reader.at
        number = reader.byte()
        if number and (number not in _ORDER or (number == 13 and "exceptions" not in features)):
            raise MalformedError(f"malformed section id {number}", start)
        size = reader.u32("a section's size")
        if size > reader.left:
            what = f"section {number} should have {size:,} bytes, the module has {reader.left:,} left; {CUT_SHORT}"
            raise MalformedError(f"length out of bounds: {what}", start)
        section = Reader(data, reader.at, reader.at + size)
        reader.at += size
        if number == 0:
            name = section.name("a custom section's name")
            module.customs.append(CustomSection(name, section.at, section.end))
            continue
        if _ORDER[number] <= seen:
            what = f"section {number} comes twice or too late"
            raise MalformedError(f"unexpected content after last section: {what}", start)
        seen = _ORDER[number]
        if number == 3:
            functions = _function_section(module, section)
        elif number == 10:
            _code_section(module, section, functions)
        else:
            _SECTIONS[number](module, section)
        if len(module.memories) > 1 and "multi-memory" not in features:
            raise InvalidError(f"multiple memories: the module has {len(module.memories)}, one is allowed", start)
        if section.left:
            what = f"section {number} has {section.left:,} bytes too many"
            raise MalformedError(f"section size mismatch: {what}", section.at)
    if len(module.bodies) != len(functions):
        _lengths_differ(len(functions), len(module.bodies), len(data))
    if module.data_count is not None and module.data_count != len(module.data_segments):
        what = f"{module.data_count} announced, {len(module.data_segments)} found"
        raise MalformedError(f"data count and data section have inconsistent lengths: {what}", len(data))
    module.declared.update(entry.index for entry in module.exports if entry.kind == "function")
    inits = [entry.init for entry in module.defined_globals]
    inits += [item for element in module.elements for item in element.items]
    module.declared.update(step.immediates[0] for init in inits for step in init if step.op.rule == "ref.func")
    return module


_NO_MODULE = ": this is no WebAssembly module, which compilers make with --target wasm32-wasip1 or wasm32-wasi"


def _check_header(data: bytes) -> None:
    explanation = explain_bytes(data)
    more = f": {explanation}" if explanation else ""
    if len(data) < 4 and b"\0asm".startswith(data):
        raise MalformedError(f"unexpected end{more or f': a module begins with eight bytes; {CUT_SHORT}'}", len(data))
    if data[:4] != b"\0asm":
        short = "" if len(data) >= 4 else "unexpected end, "
        raise MalformedError(f"{short}magic header not detected{more or _NO_MODULE}", 0)
    if len(data) < 8:
        raise MalformedError(f"unexpected end: the module stops within its header; {CUT_SHORT}", len(data))
    if data[4:8] != b"\x01\0\0\0":
        version = int.from_bytes(data[4:8], "little")
        kind = UnsupportedError if explanation else MalformedError
        raise kind(f"unknown binary version{more or f' {version}: this should be 1'}", 4)


_LATER_FORMS = dict.fromkeys((0x4E, 0x4F, 0x50, 0x5E, 0x5F), COLLECTED) | {0x5D: STACK_SWITCHING, 0x65: SHARED_TYPES}
"""Types of proposals, by the byte that they begin with."""


def _type_section(module: Module, reader: Reader) -> None:
    for _ in range(reader.count("types")):
        at = reader.at
        form = reader.byte("a function type")
        if form in _LATER_FORMS:
            raise UnsupportedError(f"a type of form {form:#04x}: {_LATER_FORMS[form]}", at)
        if form & 0x80:
            raise MalformedError("integer representation too long: the form of a type takes one byte", at)
        if form != 0x60:
            raise MalformedError(f"malformed type: form {form:#04x}, expected 0x60, a function type", at)
        module.types.append(FuncType(_types(module, reader, "parameters"), _types(module, reader, "results")))


def _types(module: Module, reader: Reader, what: str) -> tuple[str, ...]:
    at = reader.at
    count = reader.count(what)
    if count > MAX_ARITY:
        raise UnsupportedError(f"a function type with {count:,} {what}: Lanewise runs {MAX_ARITY:,} at most", at)
    return tuple([value_type(reader, module.features) for _ in range(count)])


def _import_section(module: Module, reader: Reader) -> None:
    for _ in range(reader.count("imports")):
        at = reader.at
        space, name = reader.name("an import's module name"), reader.name("an import's name")
        kind = _kind(module, reader, "import")
        found = _EXTERNS[kind](module, reader)
        getattr(module, _SPACES[kind]).append(found)
        counter = f"imported_{_SPACES[kind]}"
        setattr(module, counter, getattr(module, counter) + 1)
        module.imports.append(Import(space, name, kind, found, at))


_SPACES = dict(zip(KINDS, ("functions", "tables", "memories", "globals", "tags"), strict=True))


def _kind(module: Module, reader: Reader, what: str) -> str:
    at = reader.at
    code = reader.byte(f"the kind of an {what}")
    if code >= len(KINDS) or (KINDS[code] == "tag" and "exceptions" not in module.features):
        raise MalformedError(f"malformed {what} kind {code:#04x}", at)
    return KINDS[code]


def _function_type(module: Module, reader: Reader) -> FuncType:
    at = reader.at
    index = reader.u32("a type's index")
    if index >= len(module.types):
        raise InvalidError(f"unknown type {index}: the module has {len(module.types)} types", at)
    return module.types[index]


def _table_type(module: Module, reader: Reader) -> TableType:
    at = reader.at
    if reader.left and reader.data[at] == 0x40:
        raise UnsupportedError(f"a table with an initial value: {REFERENCES}", at)
    element = reference_type(reader, module.features)
    limits, _ = _limits(reader, "table", shareable=False)
    return TableType(element, limits)


def _memory_type(module: Module, reader: Reader) -> MemoryType:
    at = reader.at
    limits, shared = _limits(reader, "memory", shareable="threads" in module.features)
    largest = max(limits.minimum, limits.maximum or 0)
    if largest > MAX_PAGES:
        raise InvalidError(f"memory size must be at most 65536 pages (4GiB), not {largest:,} pages", at)
    if shared and limits.maximum is None:
        raise InvalidError("shared memory must have maximum", at)
    return MemoryType(limits, shared)


def _limits(reader: Reader, what: str, *, shareable: bool) -> tuple[Limits, bool]:
    at = reader.at
    flags = reader.byte(f"the limits of a {what}")
    if what == "memory" and 8 <= flags <= 15:
        raise UnsupportedError(f"memory with limits of form {flags:#04x}: {PAGE_SIZES}", at)
    if 4 <= flags <= 7:
        wide = WIDE_MEMORY if what == "memory" else WIDE_TABLE
        raise UnsupportedError(f"{what} with limits of form {flags:#04x}: {wide}", at)
    if flags >= 0x80:
        raise MalformedError(f"integer representation too long: the limits of a {what}", at)
    if flags > (3 if shareable else 1):
        raise MalformedError(f"integer too large: the limits of a {what} have form {flags:#04x}", at)
    minimum = reader.u32(f"the minimum of a {what}")
    maximum = reader.u32(f"the maximum of a {what}") if flags & 1 else None
    if maximum is not None and minimum > maximum:
        detail = f"a {what} of {minimum:,} to {maximum:,}"
        raise InvalidError(f"size minimum must not be greater than maximum: {detail}", at)
    return Limits(minimum, maximum), bool(flags & 2)


def _global_type(module: Module, reader: Reader) -> GlobalType:
    value = value_type(reader, module.features)
    at = reader.at
    mutable = reader.byte("the mutability of a global")
    if mutable > 1:
        raise MalformedError(f"malformed mutability {mutable:#04x}", at)
    return GlobalType(value, bool(mutable))


def _tag_type(module: Module, reader: Reader) -> TagType:
    at = reader.at
    if reader.byte("the attribute of a tag"):
        raise MalformedError("malformed tag attribute: zero byte expected", at)
    kind = _function_type(module, reader)
    if kind.results:
        raise InvalidError(f"non-empty tag result type: a tag of type {kind}", at)
    return TagType(kind)


_EXTERNS: dict[str, Callable[[Module, Reader], FuncType | TableType | MemoryType | GlobalType | TagType]] = {
    "function": _function_type,
    "table": _table_type,
    "memory": _memory_type,
    "global": _global_type,
    "tag": _tag_type,
}


def _function_section(module: Module, reader: Reader) -> list[int]:
    first = len(module.functions)
    for _ in range(reader.count("functions")):
        module.functions.append(_function_type(module, reader))
    return list(range(first, len(module.functions)))


def _table_section(module: Module, reader: Reader) -> None:
    module.tables += [_table_type(module, reader) for _ in range(reader.count("tables"))]


def _memory_section(module: Module, reader: Reader) -> None:
    module.memories += [_memory_type(module, reader) for _ in range(reader.count("memories"))]


def _tag_section(module: Module, reader: Reader) -> None:
    module.tags += [_tag_type(module, reader) for _ in range(reader.count("tags"))]


def _global_section(module: Module, reader: Reader) -> None:
    for _ in range(reader.count("globals")):
        at = reader.at
        kind = _global_type(module, reader)
        module.globals.append(kind)
        module.defined_globals.append(Global(kind, constant_expression(module, reader), at))


def _export_section(module: Module, reader: Reader) -> None:
    for _ in range(reader.count("exports")):
        at = reader.at
        name = reader.name("an export's name")
        kind = _kind(module, reader, "export")
        module.exports.append(Export(name, kind, reader.u32("an export's index"), at))


def _start_section(module: Module, reader: Reader) -> None:
    module.start_offset = reader.at
    module.start = reader.u32("the start function's index")


def _element_section(module: Module, reader: Reader) -> None:
    module.elements += [_element(module, reader) for _ in range(reader.count("element segments"))]


def _element(module: Module, reader: Reader) -> Element:
    position = reader.at
    form = reader.u32("the form of an element segment")
    if form > 7:
        raise MalformedError(f"malformed elements segment kind {form}", position)
    # The eight forms are three independent bits.
    passive, explicit, expressions = form & 1, form & 2, form & 4
    table = reader.u32("a table's index") if explicit and not passive else 0
    offset: Expression = () if passive else constant_expression(module, reader)
    kind = "funcref"
    if expressions and form != 4:
        kind = reference_type(reader, module.features)
    elif form not in (0, 4) and reader.byte("the kind of an element segment"):
        raise MalformedError("malformed element kind: zero byte expected", reader.at - 1)
    mode = "active" if not passive else "declarative" if explicit else "passive"
    read = constant_expression if expressions else _function_reference
    items = tuple([read(module, reader) for _ in range(reader.count("elements"))])
    return Element(mode, kind, table, offset, items, position)


_REF_FUNC = OPS[0xD2]


def _function_reference(module: Module, reader: Reader) -> Expression:
    return (Instruction(reader.at, _REF_FUNC, (reader.u32("a function's index"),)),)


def _data_count_section(module: Module, reader: Reader) -> None:
    module.data_count = reader.u32("the number of data segments")


def _code_section(module: Module, reader: Reader, functions: list[int]) -> None:
    at = reader.at
    count = reader.count("function bodies")
    if count != len(functions):
        _lengths_differ(len(functions), count, at)
    for index in functions:
        start = reader.take(reader.u32("a function body's size"), "a function body")
        module.bodies.append(Function(module.functions[index], start, reader.at))


def _lengths_differ(functions: int, bodies: int, at: int) -> NoReturn:
    what = f"{functions} functions, {bodies} bodies"
    raise MalformedError(f"function and code section have inconsistent lengths: {what}", at)


def _data_section(module: Module, reader: Reader) -> None:
    for _ in range(reader.count("data segments")):
        at = reader.at
        form = reader.u32("the form of a data segment")
        if form > 2:
            raise MalformedError(f"malformed data segment kind {form}", at)
        memory = reader.u32("a memory's index") if form == 2 else 0
        offset = () if form == 1 else constant_expression(module, reader)
        start = reader.take(reader.u32("a data segment's size"), "a data segment")
        module.data_segments.append(Data("passive" if form == 1 else "active", memory, offset, start, reader.at))


_SECTIONS: dict[int, Callable[[Module, Reader], None]] = {
    1: _type_section,
    2: _import_section,
    4: _table_section,
    5: _memory_section,
    6: _global_section,
    7: _export_section,
    8: _start_section,
    9: _element_section,
    11: _data_section,
    12: _data_count_section,
    13: _tag_section,
}
"""What reads each section; the two halves of a function, sections 3 and 10, are read by `decode` itself."""
