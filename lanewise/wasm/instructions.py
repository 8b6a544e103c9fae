"""Reads the instructions of function bodies and constant expressions as the opcode table describes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from lanewise.errors import InvalidError, MalformedError, UnsupportedError
from lanewise.wasm.foreign import REFERENCES, unsupported_opcode, unsupported_type
from lanewise.wasm.model import Expression, Function, FuncType, Instruction, Module
from lanewise.wasm.opcodes import OPS, Op
from lanewise.wasm.reader import Reader

MAX_LOCALS = 50_000
"""Locals of a function, parameters included; the limit that browsers have, too."""

VALUE_TYPES = {
    0x7F: "i32",
    0x7E: "i64",
    0x7D: "f32",
    0x7C: "f64",
    0x7B: "v128",
    0x70: "funcref",
    0x6F: "externref",
    0x69: "exnref",
}
"""Value types by the byte that stands for them."""

REFERENCE_TYPES = {code: name for code, name in VALUE_TYPES.items() if name.endswith("ref")}

NOTHING = FuncType((), ())
_ONE_RESULT = {name: FuncType((), (name,)) for name in VALUE_TYPES.values()}
_CATCHES = ("catch", "catch_ref", "catch_all", "catch_all_ref")


def value_type(reader: Reader, features: frozenset[str]) -> str:
    """Read a value type."""
    return _type_among(reader, features, VALUE_TYPES, "value")


def reference_type(reader: Reader, features: frozenset[str]) -> str:
    """Read the type of a reference."""
    return _type_among(reader, features, REFERENCE_TYPES, "reference")


def _type_among(reader: Reader, features: frozenset[str], among: dict[int, str], kind: str) -> str:
    at = reader.at
    code = reader.byte(f"a {kind} type")
    name = among.get(code, "")
    if not name or (name == "exnref" and "exceptions" not in features):
        later = unsupported_type(code)
        if later:
            raise UnsupportedError(f"malformed {kind} type {code:#04x}: {later}", at)
        raise MalformedError(f"malformed {kind} type: {code:#04x} is none of {', '.join(among.values())}", at)
    return name


def locals_of(module: Module, function: Function) -> tuple[list[str], int]:
    """Give the types of a function's locals, its parameters left out, and the offset of its first instruction."""
    reader = Reader(module.data, function.start, function.end)
    runs, total = [], 0
    for _ in range(reader.count("groups of locals")):
        at = reader.at
        count = reader.u32("the number of locals")
        total += count
        if total >= 1 << 32:
            raise MalformedError(f"too many locals: {total:,} and more, 4,294,967,295 at most", at)
        runs.append((count, value_type(reader, module.features)))
    total += len(function.type.params)
    if total > MAX_LOCALS:
        what = f"too many locals: {total:,} with the parameters; Lanewise runs functions with {MAX_LOCALS:,} at most"
        raise UnsupportedError(what, function.start)
    return [name for count, name in runs for name in (name,) * count], reader.at


def instructions(module: Module, start: int, end: int) -> Iterator[Instruction]:
    """Read the instructions in `module.data[start:end]`, the `end` that closes a body included.

    `start` is where `locals_of` says that a body's instructions begin. Opcodes and immediates are checked for their
    form; whether they fit the module and each other is what validation says.
    """
    # The slice ends where the instructions do: an index behind it raises IndexError, which saves most checks.
    code, last, at = module.data[start:end], end - start, 0
    plans, new = _plans(module.features), tuple.__new__
    try:
        while at < last:
            op, shape, readers = plans[code[at]]
            if shape == _BARE:
                yield new(Instruction, (start + at, op, ()))
                at += 1
                continue
            if shape == _INDEX:
                value = code[at + 1]
                if value < 0x80:
                    yield new(Instruction, (start + at, op, _UNSIGNED[value]))
                    at += 2
                    continue
            elif shape == _NUMBER:
                value = code[at + 1]
                if value < 0x80:
                    yield new(Instruction, (start + at, op, _SIGNED[value]))
                    at += 2
                    continue
            elif shape == _ACCESS:
                value, offset = code[at + 1], code[at + 2]
                if value < 0x40 and offset < 0x80:
                    yield new(Instruction, (start + at, op, ((value, offset, 0),)))
                    at += 3
                    continue
            reader = Reader(module.data, start + at + 1, end)
            if shape == _PREFIX:
                op, readers = _behind_prefix(code[at], reader, module.features)
            immediates = tuple([read(reader, module) for read in readers])
            yield new(Instruction, (start + at, op, immediates))
            at = reader.at - start
    except IndexError:
        raise Reader(module.data, end, end).ended("an instruction") from None


def constant_expression(module: Module, reader: Reader) -> Expression:
    """Read instructions up to the `end` that closes them; whether they are constant is what validation says."""
    found: list[Instruction] = []
    depth = 0
    for instruction in instructions(module, reader.at, reader.end):
        rule = instruction.op.rule
        if rule == "end":
            if depth == 0:
                reader.at = instruction.offset + 1
                return tuple(found)
            depth -= 1
        elif rule in ("block", "loop", "if", "try_table"):
            depth += 1
        found.append(instruction)
    raise MalformedError("unexpected end of section or function: END opcode expected", reader.end)


ReadImmediate = Callable[[Reader, Module], Any]
Plan = tuple[Op, int, tuple[ReadImmediate, ...]]

# How the bytes behind an opcode are read: those of the most frequent shapes without a call.
_BARE: Final = 0
_INDEX: Final = 1
_NUMBER: Final = 2
_ACCESS: Final = 3
_PREFIX: Final = 4
_OTHER: Final = 5

_UNSIGNED = tuple((value,) for value in range(0x80))
_SIGNED = tuple((value - 0x80 if value & 0x40 else value,) for value in range(0x80))


@cache
def _plans(features: frozenset[str]) -> list[Plan]:
    """For each first byte of an instruction: its row, its shape and how its immediates are read."""
    nothing = Op(-1, "")
    plans: list[Plan] = [(nothing, _OTHER, (_illegal,))] * 256
    for prefix in (0xFB, 0xFC, 0xFD, 0xFE):
        plans[prefix] = (nothing, _PREFIX, ())
    for code, row in OPS.items():
        if code < 0x100 and row.feature in features:
            plans[code] = (row, _shape(row, features), _readers(row))
    return plans


def _shape(row: Op, features: frozenset[str]) -> int:
    if not row.immediates:
        return _BARE
    if len(row.immediates) > 1:
        return _OTHER
    kind = row.immediates[0]
    if kind in ("i32", "i64"):
        return _NUMBER
    if kind == "memarg":
        return _ACCESS
    if kind == "memory" and "multi-memory" in features:
        return _INDEX
    return _INDEX if kind in ("label", "function", "type", "table", "local", "global", "tag", "element") else _OTHER


@cache
def _prefixed(features: frozenset[str]) -> dict[int, tuple[Op, tuple[ReadImmediate, ...]]]:
    return {code: (row, _readers(row)) for code, row in OPS.items() if code >= 0x100 and row.feature in features}


def _readers(row: Op) -> tuple[ReadImmediate, ...]:
    return tuple(_READERS[kind] for kind in row.immediates)


def _behind_prefix(prefix: int, reader: Reader, features: frozenset[str]) -> tuple[Op, tuple[ReadImmediate, ...]]:
    at = reader.at - 1
    number = reader.u32("the opcode behind the prefix")
    found = _prefixed(features).get(prefix << 16 | number) if number < 0x10000 else None
    if found is None:
        raise _unknown(prefix << 16 | min(number, 0xFFFF), f"{prefix:#04x} {number:#04x}", at)
    return found


def _illegal(reader: Reader, module: Module) -> None:
    code = reader.data[reader.at - 1]
    raise _unknown(code, f"{code:#04x}", reader.at - 1)


def _unknown(code: int, shown: str, at: int) -> MalformedError:
    later = unsupported_opcode(code)
    if later:
        return UnsupportedError(f"illegal opcode {shown}: {later}", at)
    if code in OPS:
        return MalformedError(f"illegal opcode {shown}: {OPS[code].name} ({OPS[code].feature}) is switched off", at)
    return MalformedError(f"illegal opcode {shown}", at)


def _block_type(reader: Reader, module: Module) -> FuncType:
    at = reader.at
    code = reader.byte("a block type")
    if code == 0x40:
        return NOTHING
    if 0x40 < code < 0x80:
        reader.at = at
        return _ONE_RESULT[value_type(reader, module.features)]
    reader.at = at
    index = reader.s33("a block type")
    if index < 0:
        raise MalformedError(f"malformed block type {index}", at)
    if index >= len(module.types):
        raise InvalidError(f"unknown type {index}: the module has {len(module.types)} types", at)
    return module.types[index]


def _heap_type(reader: Reader, module: Module) -> str:
    at = reader.at
    if reader.left and not reader.data[at] & 0x40:
        raise UnsupportedError(f"malformed reference type: a null of a function type: {REFERENCES}", at)
    return reference_type(reader, module.features)


def _labels(reader: Reader, module: Module) -> tuple[tuple[int, ...], int]:
    labels = tuple([reader.u32("a label") for _ in range(reader.count("labels"))])
    return labels, reader.u32("the default label")


def _memory_index(reader: Reader, module: Module) -> int:
    if "multi-memory" in module.features:
        return reader.u32("a memory's index")
    return _zero(reader, module)


def _data_index(reader: Reader, module: Module) -> int:
    at = reader.at
    # A module without any segments needs no count; validation will not find the one that is named.
    if module.data_count is None and module.data_segments:
        raise MalformedError("data count section required: an instruction names a data segment", at)
    return reader.u32("a data segment's index")


def _zero(reader: Reader, module: Module) -> int:
    at = reader.at
    value = reader.byte("a byte that is zero")
    if value:
        raise MalformedError(f"zero byte expected, found {value:#04x}", at)
    return value


def _memarg(reader: Reader, module: Module) -> tuple[int, int, int]:
    at = reader.at
    align = reader.u32("an alignment")
    memory = 0
    if "multi-memory" in module.features:
        if align >= 0x80:
            raise MalformedError(f"malformed memop flags {align:#x}", at)
        if align & 0x40:
            align -= 0x40
            memory = reader.u32("a memory's index")
    return align, reader.u32("the offset of a memory access"), memory


def _catches(reader: Reader, module: Module) -> tuple[tuple[str, int | None, int], ...]:
    clauses = []
    for _ in range(reader.count("catch clauses")):
        at = reader.at
        code = reader.byte("a catch clause")
        if code >= len(_CATCHES):
            raise MalformedError(f"malformed catch clause {code:#04x}", at)
        tag = reader.u32("a tag's index") if code < 2 else None
        clauses.append((_CATCHES[code], tag, reader.u32("a label")))
    return tuple(clauses)


def _types(reader: Reader, module: Module) -> tuple[str, ...]:
    return tuple([value_type(reader, module.features) for _ in range(reader.count("result types"))])


def _index_of(what: str) -> ReadImmediate:
    return lambda reader, module: reader.u32(what)


_READERS: dict[str, ReadImmediate] = {
    "block": _block_type,
    "label": _index_of("a label"),
    "labels": _labels,
    "function": _index_of("a function's index"),
    "type": _index_of("a type's index"),
    "table": _index_of("a table's index"),
    "local": _index_of("a local's index"),
    "global": _index_of("a global's index"),
    "memory": _memory_index,
    "tag": _index_of("a tag's index"),
    "element": _index_of("an element segment's index"),
    "data": _data_index,
    "heap": _heap_type,
    "types": _types,
    "catches": _catches,
    "memarg": _memarg,
    "i32": lambda reader, module: reader.s32("a number"),
    "i64": lambda reader, module: reader.s64("a number"),
    "f32": lambda reader, module: reader.bits(4, "a number"),
    "f64": lambda reader, module: reader.bits(8, "a number"),
    "v128": lambda reader, module: reader.bits(16, "a vector"),
    "lane": lambda reader, module: reader.byte("a lane"),
    "lanes": lambda reader, module: tuple([reader.byte("a lane") for _ in range(16)]),
    "zero": _zero,
}
"""How each kind of immediate is read."""
