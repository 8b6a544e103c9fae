"""Numbers while code is written: known now, as the fields of an instruction that is translated, or when it runs.

What an instruction means is written once, over these numbers. The interpreter reads fields from the instruction's word,
so that they are values of LLVM; a translator knows them, and everything that follows from known numbers alone folds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """A whole number of some bits: a Python number, or the name of a value of LLVM."""

    bits: int
    ref: int | str

    @property
    def known(self) -> bool:
        """Whether it is known while code is written."""
        return isinstance(self.ref, int)

    @property
    def number(self) -> int:
        """The number, which must be known; without a sign."""
        assert isinstance(self.ref, int)
        return self.ref

    @property
    def text(self) -> str:
        """As an operand in LLVM's text, without its type."""
        return str(self.ref)

    @property
    def typed(self) -> str:
        """The same with its type."""
        return f"i{self.bits} {self.ref}"


def known(bits: int, number: int) -> Value:
    """A number that is known now."""
    return Value(bits, number & ((1 << bits) - 1))


def signed(value: Value) -> int:
    """A known number, its highest bit taken for the sign."""
    return value.number - (1 << value.bits if value.number >> (value.bits - 1) else 0)
