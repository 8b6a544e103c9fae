"""Instructions that there are on all elements of a register and on the first alone, as rows of the table.

How long a register is (Q) is not settled in these rows: elements that do not count are zeros, see `elements.some`.
"""

from __future__ import annotations

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value

SHIFTED = ((8, "0001"), (16, "001"), (32, "01"), (64, "1"))
"""Sizes of elements, and how the highest bits of the field for shifts say them."""


def size(f: Fields) -> int:
    """Bits of an element."""
    return 8 << f.size.number


def elements(m: Machine, f: Fields, number: Value, element: int) -> Value:
    """The elements of a register that count; only the first in an instruction that has no Q."""
    return e.some(m, f, number) if hasattr(f, "Q") else m.read_vector(number, element)


def sized(
    name: str, u: int, tail: str, meaning: Meaning, all_of: tuple[int, ...], first_of: tuple[int, ...]
) -> list[Row]:
    """Rows by the field `size`: for all elements, and for the first. `tail` is what stands behind that field."""
    pattern = f"0 Q {u} 01110 size {tail}"
    found = rows(name, pattern, meaning, size=tuple(one for one in all_of if one < 3))
    if 3 in all_of:
        found += rows(name, pattern, meaning, Q=(1,), size=(3,))
    return found + rows(f"{name} s", f"01 {u} 11110 size {tail}", meaning, size=first_of)


def shifted(name: str, u: int, opcode: int, element: int, head: str, meaning: Meaning) -> list[Row]:
    """Rows for shifts by a number in the word, for elements of a size."""
    tail = f"{head} amount:{7 - len(head)} {opcode:05b} 1 Rn Rd"
    length = {"Q": (1,)} if element == 64 else {}
    return [
        *rows(name, f"0 Q {u} 011110 {tail}", meaning, **length),
        *rows(f"{name} s", f"01 {u} 111110 {tail}", meaning),
    ]
