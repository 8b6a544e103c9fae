"""Writing LLVM's text for what instructions do: operations on numbers, of which known ones fold."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from lanewise.arm64.values import Value, known, signed

_FOLDED: dict[str, Callable[[Value, Value], int]] = {
    "add": lambda x, y: x.number + y.number,
    "sub": lambda x, y: x.number - y.number,
    "mul": lambda x, y: x.number * y.number,
    "and": lambda x, y: x.number & y.number,
    "or": lambda x, y: x.number | y.number,
    "xor": lambda x, y: x.number ^ y.number,
    "shl": lambda x, y: x.number << y.number,
    "lshr": lambda x, y: x.number >> y.number,
    "ashr": lambda x, y: signed(x) >> y.number,
}
_COMPARED: dict[str, Callable[[Value, Value], bool]] = {
    "eq": lambda x, y: x.number == y.number,
    "ne": lambda x, y: x.number != y.number,
    "ult": lambda x, y: x.number < y.number,
    "ule": lambda x, y: x.number <= y.number,
    "ugt": lambda x, y: x.number > y.number,
    "uge": lambda x, y: x.number >= y.number,
    "slt": lambda x, y: signed(x) < signed(y),
}


class Writer:
    """The lines of a function as they are written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.head: list[str] = []
        """What stands at the beginning of the function: its variables."""
        self._names = itertools.count()

    def emit(self, line: str) -> None:
        """Add a line."""
        self.lines.append(f"  {line}")

    def label(self, name: str) -> str:
        """A name for a block, which no other has."""
        return f"{name}.{next(self._names)}"

    def start(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")

    def assign(self, bits: int, text: str) -> Value:
        """Add a line that makes a value."""
        name = f"%v{next(self._names)}"
        self.emit(f"{name} = {text}")
        return Value(bits, name)

    def pointer(self, text: str) -> str:
        """Add a line that makes a pointer; gives its name."""
        name = f"%p{next(self._names)}"
        self.emit(f"{name} = {text}")
        return name

    def variable(self, bits: int) -> str:
        """A variable of the function; gives where it is."""
        name = f"%t{next(self._names)}"
        self.head.append(f"{name} = alloca i{bits}")
        return name

    # --- numbers -----------------------------------------------------------------------------------------------------

    def operate(self, operation: str, x: Value, y: Value | int) -> Value:
        """`add`, `and`, `shl` and their like, of two numbers of the same size; shifts must be by less than that."""
        other = known(x.bits, y) if isinstance(y, int) else y
        assert x.bits == other.bits, (operation, x, other)
        if x.known and other.known and operation in _FOLDED:
            return known(x.bits, _FOLDED[operation](x, other))
        if other.known and other.number == 0 and operation in ("add", "sub", "or", "xor", "shl", "lshr", "ashr"):
            return x
        return self.assign(x.bits, f"{operation} {x.typed}, {other.text}")

    def add(self, x: Value, y: Value | int) -> Value:
        return self.operate("add", x, y)

    def sub(self, x: Value, y: Value | int) -> Value:
        return self.operate("sub", x, y)

    def mul(self, x: Value, y: Value | int) -> Value:
        return self.operate("mul", x, y)

    def both(self, x: Value, y: Value | int) -> Value:
        return self.operate("and", x, y)

    def either(self, x: Value, y: Value | int) -> Value:
        return self.operate("or", x, y)

    def differ(self, x: Value, y: Value | int) -> Value:
        return self.operate("xor", x, y)

    def left(self, x: Value, y: Value | int) -> Value:
        return self.operate("shl", x, y)

    def right(self, x: Value, y: Value | int) -> Value:
        return self.operate("lshr", x, y)

    def right_signed(self, x: Value, y: Value | int) -> Value:
        return self.operate("ashr", x, y)

    def invert(self, x: Value) -> Value:
        return self.differ(x, -1)

    def compare(self, how: str, x: Value, y: Value | int) -> Value:
        """A bit: whether a comparison holds."""
        other = known(x.bits, y) if isinstance(y, int) else y
        if x.known and other.known and how in _COMPARED:
            return known(1, int(_COMPARED[how](x, other)))
        return self.assign(1, f"icmp {how} {x.typed}, {other.text}")

    def select(self, flag: Value, x: Value, y: Value) -> Value:
        """One or the other."""
        if flag.known:
            return x if flag.number else y
        if x == y:
            return x
        return self.assign(x.bits, f"select {flag.typed}, {x.typed}, {y.typed}")

    def resize(self, x: Value, bits: int, *, sign: bool = False) -> Value:
        """The same number in other bits: the lowest of them, or extended by zeros or the sign."""
        if bits == x.bits:
            return x
        if x.known:
            return known(bits, signed(x) if sign else x.number)
        if bits < x.bits:
            return self.assign(bits, f"trunc {x.typed} to i{bits}")
        return self.assign(bits, f"{'sext' if sign else 'zext'} {x.typed} to i{bits}")

    def intrinsic(self, name: str, *given: Value) -> Value:
        """A function of LLVM on numbers of one size, such as `ctlz`; counts of zeros are those of 0, too."""
        bits = given[0].bits
        parameters = ", ".join([value.typed for value in given] + (["i1 false"] if name in ("ctlz", "cttz") else []))
        return self.assign(bits, f"call i{bits} @llvm.{name}.i{bits}({parameters})")
