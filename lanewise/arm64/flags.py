"""How translated code keeps the four flags in variables of its own.

On a CPU a flag is a bit. On a GPU bits are few: what does not fit its seven predicates is packed into a register and
taken out of it again, around every call and in every round of a loop that flags live through. So there n, c and v are
the highest bits of words, and z is set where a word is 0. Those of a sum are an instruction each, or none.
"""

from __future__ import annotations

from lanewise.arm64.values import Value, known
from lanewise.arm64.writer import Writer

_WORD = 32


class FlagBits:
    """A bit each."""

    llvm = "i1"

    def read(self, w: Writer, name: str) -> Value:
        """The flag of a name, a bit."""
        return w.assign(1, f"load i1, ptr %{name}")

    def write(self, w: Writer, name: str, flag: Value) -> None:
        """Set it."""
        w.emit(f"store {flag.typed}, ptr %{name}")


class FlagWords:
    """A word each."""

    llvm = f"i{_WORD}"

    def read(self, w: Writer, name: str) -> Value:
        """The flag of a name, a bit."""
        word = w.assign(_WORD, f"load i{_WORD}, ptr %{name}")
        return w.compare("eq" if name == "z" else "slt", word, 0)

    def write(self, w: Writer, name: str, flag: Value) -> None:
        """Set it."""
        word = w.resize(w.invert(flag), _WORD) if name == "z" else w.resize(flag, _WORD, sign=True)
        self.write_word(w, name, word)

    def write_word(self, w: Writer, name: str, number: Value) -> None:
        """Set it by a number of 32 or 64 bits: by its highest bit, and z by whether it is 0."""
        high = w.resize(w.right(number, number.bits - _WORD), _WORD)
        word = w.either(w.resize(number, _WORD), high) if name == "z" and number.bits > _WORD else high
        w.emit(f"store {word.typed}, ptr %{name}")


def flag_word(bits: int, name: str, flag: int) -> Value:
    """A number that sets a flag as it is known to be."""
    return known(bits, not flag if name == "z" else -flag)
