"""A row of the table of encodings: which words it stands for, their fields, and what they do."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanewise.arm64.machine import Fields, Machine

Meaning = Callable[["Machine", "Fields"], None]

WIDTHS = {
    **dict.fromkeys(("Rd", "Rn", "Rm", "Ra", "Rt", "Rt2", "Rs"), 5),
    **dict.fromkeys(("sf", "op", "S", "sh", "N", "L", "o0", "o1", "o2", "A", "R", "V"), 1),
    **dict.fromkeys(("opc", "shift", "hw", "size", "immlo"), 2),
    **dict.fromkeys(("option", "imm3", "op1", "op2"), 3),
    **dict.fromkeys(("cond", "nzcv", "CRn", "CRm"), 4),
    "imm5": 5,
    "imm6": 6,
    "immr": 6,
    "imms": 6,
    "imm7": 7,
    "imm9": 9,
    "imm12": 12,
    "imm14": 14,
    "imm16": 16,
    "imm19": 19,
    "immhi": 19,
    "imm26": 26,
    "b5": 1,
    "b40": 5,
    "ftype": 2,
    "rmode": 2,
    "opcode": 3,
    "scale": 6,
    "imm8": 8,
    "Q": 1,
    "U": 1,
    "imm4": 4,
    "len": 2,
    "immh": 4,
    "immb": 3,
    "abc": 3,
    "cmode": 4,
    "defgh": 5,
    "M": 1,
    "Rm4": 4,
    "H": 1,
    "sz": 1,
}
"""How many bits a field has, by its name in the architecture's manual."""


@dataclass(frozen=True)
class Field:
    """Some bits of a word."""

    name: str
    low: int
    bits: int


@dataclass(frozen=True)
class Row:
    """Words of one form."""

    name: str
    mask: int
    value: int
    fields: tuple[Field, ...]
    settled: tuple[tuple[str, int], ...]
    """Fields that are the same in all words of the row, so that its meaning may depend on them as it pleases."""
    meaning: Meaning
    apart: bool = False
    """Whether it is long, and neither goes elsewhere nor needs flags: then the interpreter has a function for it."""
    plain: bool = False
    """Whether it is a plain access: then a GPU's interpreter has a function for all but what is common."""
    ordered: bool = False
    """Whether it is an access that other lanes have a say in: then a GPU's interpreter has a function for it. Around
    one in its loop, the assembler would have lanes give way to each other (YIELD) at each instruction."""


def rows(name: str, pattern: str, meaning: Meaning, settle: str = "", /, **choices: tuple[int, ...]) -> list[Row]:
    """Rows for words of a pattern from the highest bit on: digits, names of fields, `name=digits` or `name:bits`.

    For each of the fields named in `settle` there is a row for each of its values, or of its `choices`.
    """
    mask = value = 0
    low, fields = 32, []
    for part in pattern.split():
        field_name, _, digits = part.rpartition("=")
        if digits.strip("01") == "":
            low -= len(digits)
            mask |= (1 << len(digits)) - 1 << low
            value |= int(digits, 2) << low
            if field_name:
                fields.append(Field(field_name, low, len(digits)))
                choices[field_name] = (int(digits, 2),)
        else:
            field_name, _, bits = part.partition(":")
            low -= int(bits) if bits else WIDTHS[part]
            fields.append(Field(field_name, low, int(bits) if bits else WIDTHS[part]))
    assert low == 0, (name, low)
    settled = [field for field in fields if field.name in settle.split() or field.name in choices]
    found = []
    for numbers in itertools.product(*(choices.get(field.name, range(1 << field.bits)) for field in settled)):
        more_mask, more_value = mask, value
        for field, number in zip(settled, numbers, strict=True):
            more_mask |= (1 << field.bits) - 1 << field.low
            more_value |= number << field.low
        names = tuple((field.name, number) for field, number in zip(settled, numbers, strict=True))
        others = tuple(field for field in fields if field not in settled)
        found.append(Row(name, more_mask, more_value, others, names, meaning))
    return found
