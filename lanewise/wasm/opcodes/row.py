"""What a row of the opcode table says about one instruction, and the small language its meaning is written in.

A meaning is LLVM IR text with these additions, one instruction a line:

- `%0`, `%1`, ... are the operands, `%r` is the result; every other `%name` is a temporary of the snippet.
- `%0:8xi16` is a v128 operand seen as `<8 x i16>`; `%r:8xi16 = ...` a result of that type.
- `$0`, `$1`, ... are the immediates.
- `trap %condition, words of the specification` ends the lane if the condition holds.
- `%x = memory.load TYPE %address` and `memory.store TYPE %value, %address` touch linear memory, checked, at the
  instruction's offset and whatever the layout is.
- `%x = memory.atomic.load TYPE %address`, `memory.atomic.store TYPE %value, %address`,
  `%x = memory.atomic.rmw OPERATION TYPE %address, %value` and
  `%x = memory.atomic.cmpxchg TYPE %address, %expected, %replacement` do so atomically and at natural alignment only.

Instructions whose operands depend on more than the row (control flow, calls, tables) have no snippet: `rule` names how
the validator and the compiler treat them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

I32, I64, F32, F64, V128 = "i32", "i64", "f32", "f64", "v128"
FUNCREF, EXTERNREF, EXNREF = "funcref", "externref", "exnref"

LLVM_TYPES = {
    I32: "i32",
    I64: "i64",
    F32: "float",
    F64: "double",
    V128: "<4 x i32>",
    FUNCREF: "i64",
    EXTERNREF: "i64",
    EXNREF: "i64",
}
"""How a value of each type is held. A reference is a number that only the engine understands; 0 is null."""

Immediate = Literal[
    "block",  # a block type
    "label",
    "labels",  # a vector of labels and a default
    "function",
    "type",
    "table",
    "local",
    "global",
    "memory",
    "tag",
    "element",
    "data",
    "heap",  # the type of a null reference
    "types",  # the result types of a typed select
    "catches",  # the clauses of try_table
    "memarg",
    "i32",
    "i64",
    "f32",
    "f64",
    "v128",
    "lane",  # a lane of a vector, one byte
    "lanes",  # the sixteen lanes of a shuffle
    "zero",  # a byte that must be zero
]


@dataclass(frozen=True)
class Op:
    """One instruction."""

    code: int
    """The opcode; of prefixed ones the prefix shifted by 16 bits, then the number behind it."""
    name: str
    immediates: tuple[Immediate, ...] = ()
    params: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    meaning: str = ""
    rule: str = ""
    """Names the special treatment of an instruction without a meaning of its own."""
    width: int = 0
    """Bytes of linear memory that a load or store touches."""
    lanes: int = 0
    """How many lanes the lane immediate can name."""
    nan: bool = False
    """The result is computed: if it is NaN, the specification says which."""
    atomic: bool = False
    feature: str = "mvp"

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The meaning, ready to be written out; see `Step`."""
        return tuple(_step(line) for line in self.meaning.splitlines() if line.strip())


class Step(NamedTuple):
    """One line of a meaning. In its parts `{a0}` stands for an operand, `{n}` for the instruction's own number."""

    kind: str
    """`ir`, `trap`, or the memory access that the line does."""
    parts: tuple[str, ...]
    casts: tuple[tuple[str, str], ...] = ()
    """Operands that the line sees as other vector types: (operand number, type)."""
    result_cast: str = ""
    """The vector type of the result, where it is not the one that v128 is held as."""


def op(code: int, name: str, signature: str = "", meaning: str = "", **more: object) -> Op:
    """Write a row: `signature` such as "i32 i32 -> i32"."""
    left, _, right = signature.partition("->")
    immediates = more.pop("immediates", ())
    if isinstance(immediates, str):
        immediates = tuple(immediates.split())
    return Op(code, name, immediates, tuple(left.split()), tuple(right.split()), meaning, **more)  # type: ignore[arg-type]


def vector_type(short: str) -> str:
    """Spell `8xi16` out as `<8 x i16>`."""
    count, _, element = short.partition("x")
    return f"<{count} x {element}>"


_NAME = re.compile(r"%(\w+)(?::(\w+))?")


def _step(line: str) -> Step:
    line = line.strip()
    casts: dict[tuple[str, str], None] = {}
    result_cast = ""

    def name(found: re.Match[str]) -> str:
        nonlocal result_cast
        word, short = found.groups()
        if not word.isdecimal():
            if short:
                result_cast = vector_type(short)
                return "%raw.{n}"
            return f"%{word}.{{n}}"
        if short:
            casts[word, vector_type(short)] = None
            return f"%cast{word}.{short}.{{n}}"
        return f"{{a{word}}}"

    text = _NAME.sub(name, re.sub(r"\$(\d)", r"{i\1}", line.replace("{", "{{").replace("}", "}}")))
    if text.startswith("trap "):
        condition, _, words = text[5:].partition(", ")
        return Step("trap", (condition, words))
    found = re.match(r"(?:(%\S+) = )?memory\.([a-z.]+) (.*)", text)
    if found:
        result, access, rest = found.groups()
        return Step(access, (result or "", *_operands(rest)), tuple(casts), result_cast)
    return Step("ir", (text,), tuple(casts), result_cast)


def _operands(text: str) -> tuple[str, ...]:
    """Split `[OPERATION] TYPE %a, %b` into its words; a vector type holds spaces of its own."""
    before, operands = re.split(r" (?=%|\{a)", text, maxsplit=1)
    return (*_words(before), *(part.strip() for part in operands.split(",")))


def _words(text: str) -> list[str]:
    return re.findall(r"<[^>]*>|\S+", text)
