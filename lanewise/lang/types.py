"""The types of device code: scalars, pointers, fixed arrays and structs, each with its LLVM type and NumPy dtype."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lanewise.errors import LanewiseError


class Type:
    """A type of device code. `llvm` is how a register holds it, `memory` how memory does; the devices agree on both."""

    name: str
    llvm: str
    size: int
    align: int

    @property
    def memory(self) -> str:
        """The LLVM type of this value in memory; it differs from `llvm` for bool alone (i8 against i1)."""
        return self.llvm

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype that reads the same bytes on the host."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.name

    def __getitem__(self, length: int) -> ArrayType:
        """`u32[256]` is a fixed array of 256 u32."""
        if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 1:
            raise LanewiseError(f"{self.name}[{length!r}]: a fixed array needs a positive whole number of elements")
        return ArrayType(self, int(length))


class Scalar(Type):
    """A number or truth value that fits a register. Called on the host it gives a NumPy scalar, wrapped to the type."""

    def __init__(self, name: str, kind: str, bits: int, llvm: str, dtype: str) -> None:
        self.name = name
        self.kind = kind
        self.bits = bits
        self.llvm = llvm
        self.size = max(1, bits // 8)
        self.align = self.size
        self._dtype = np.dtype(dtype)

    @property
    def memory(self) -> str:
        return "i8" if self.kind == "bool" else self.llvm

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    @property
    def is_int(self) -> bool:
        """Whether this is an integer type, signed or not."""
        return self.kind in ("int", "uint")

    @property
    def is_float(self) -> bool:
        """Whether this is f32 or f64."""
        return self.kind == "float"

    @property
    def signed(self) -> bool:
        """Whether this is a signed integer type."""
        return self.kind == "int"

    @property
    def min_value(self) -> int:
        """The smallest value of an integer type."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def max_value(self) -> int:
        """The largest value of an integer type."""
        return (1 << (self.bits - (1 if self.signed else 0))) - 1

    def wrap(self, value: int) -> int:
        """Bring a Python integer into the range of this integer type, as the device does."""
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value

    def __call__(self, value: Any) -> Any:
        """On the host: this value as a NumPy scalar, for typed module-level constants such as `LIMIT = u32(5)`."""
        if self.is_int and isinstance(value, int):
            value = self.wrap(value)
        return self._dtype.type(value)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)


class PointerType(Type):
    """The address of one or more elements in device memory."""

    size = 8
    align = 8
    llvm = "ptr"

    def __init__(self, element: Type) -> None:
        self.element = element
        self.name = f"Ptr[{element.name}]"

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype("u8")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointerType) and self.element == other.element

    def __hash__(self) -> int:
        return hash(("ptr", self.element))


class ArrayType(Type):
    """A fixed number of elements, one behind the other; lives in memory only."""

    def __init__(self, element: Type, length: int) -> None:
        self.element = element
        self.length = length
        # The length stands before inner lengths, so that a[i][j] reads in the order of the declaration.
        self.name = f"{element.name}[{length}]"
        self.llvm = f"[{length} x {element.memory}]"
        self.size = element.size * length
        self.align = element.align

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype((self.element.dtype, (self.length,)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayType) and (self.element, self.length) == (other.element, other.length)

    def __hash__(self) -> int:
        return hash(("array", self.element, self.length))


class StructType(Type):
    """Named fields in C layout; made by the `@struct` decorator, lives in memory only."""

    def __init__(self, name: str, fields: Mapping[str, Type], doc: str = "") -> None:
        self.name = name
        self.doc = doc
        self.fields = dict(fields)
        self.llvm = "{ " + ", ".join(t.memory for t in self.fields.values()) + " }"
        self.align = max(t.align for t in self.fields.values())
        self.offsets: dict[str, int] = {}
        offset = 0
        for field, field_type in self.fields.items():
            offset = _round_up(offset, field_type.align)
            self.offsets[field] = offset
            offset += field_type.size
        self.size = _round_up(offset, self.align)
        self.__doc__ = doc
        self._dtype = np.dtype(
            {
                "names": list(self.fields),
                "formats": [t.dtype for t in self.fields.values()],
                "offsets": list(self.offsets.values()),
                "itemsize": self.size,
            },
            align=True,
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    def record(self) -> Any:
        """One such structure in host memory, all zero bytes: a NumPy array of no dimensions, used by field."""
        return np.zeros((), self._dtype)

    def index_of(self, field: str) -> int:
        """The position of a field, as LLVM's getelementptr counts it."""
        return list(self.fields).index(field)

    def describe(self) -> str:
        """A table of the fields with offset, type and size, for docs and for looking at raw bytes."""
        rows = [f"{self.name}: {self.size} bytes, aligned to {self.align}"]
        rows += [f"  +{self.offsets[f]:<5} {t.name:<16} {f}" for f, t in self.fields.items()]
        return "\n".join(rows)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class TupleType(Type):
    """Several scalars or pointers returned at once; exists only as a return value."""

    size = 0
    align = 1

    def __init__(self, elements: tuple[Type, ...]) -> None:
        self.elements = elements
        self.name = f"tuple[{', '.join(t.name for t in elements)}]"
        self.llvm = "{ " + ", ".join(t.llvm for t in elements) + " }"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TupleType) and self.elements == other.elements

    def __hash__(self) -> int:
        return hash(self.elements)


class _VoidType(Type):
    name = "None"
    llvm = "void"
    size = 0
    align = 1


class Ptr:
    """`Ptr[T]`: the annotation for a pointer to T in device memory."""

    def __class_getitem__(cls, element: Any) -> PointerType:
        found = as_type(element)
        if found is None or found is VOID or isinstance(found, TupleType):
            raise LanewiseError(f"Ptr[{element!r}]: an element is a type of device code, such as Ptr[f32]")
        return PointerType(found)


def _round_up(value: int, step: int) -> int:
    return (value + step - 1) // step * step


VOID = _VoidType()
BOOL = Scalar("bool", "bool", 1, "i1", "?")
i8 = Scalar("i8", "int", 8, "i8", "i1")
i16 = Scalar("i16", "int", 16, "i16", "i2")
i32 = Scalar("i32", "int", 32, "i32", "i4")
i64 = Scalar("i64", "int", 64, "i64", "i8")
u8 = Scalar("u8", "uint", 8, "i8", "u1")
u16 = Scalar("u16", "uint", 16, "i16", "u2")
u32 = Scalar("u32", "uint", 32, "i32", "u4")
u64 = Scalar("u64", "uint", 64, "i64", "u8")
f32 = Scalar("f32", "float", 32, "float", "f4")
f64 = Scalar("f64", "float", 64, "double", "f8")

INTEGERS = (i8, i16, i32, i64, u8, u16, u32, u64)
FLOATS = (f32, f64)
SCALARS = (BOOL, *INTEGERS, *FLOATS)
_BY_DTYPE = {t.dtype: t for t in SCALARS}


def as_type(annotation: Any) -> Type | None:
    """The device type an annotation stands for, or None if it stands for none."""
    if isinstance(annotation, Type):
        return annotation
    if annotation is bool:
        return BOOL
    if annotation is None or annotation is type(None):
        return VOID
    if getattr(annotation, "__origin__", None) is tuple:
        parts = [as_type(part) for part in annotation.__args__]
        if all(isinstance(part, Scalar | PointerType) for part in parts):
            return TupleType(tuple(part for part in parts if part is not None))
    return None


def scalar_of_dtype(dtype: np.dtype[Any]) -> Scalar | None:
    """The scalar type that a NumPy dtype stands for, or None; byte order must be the machine's own."""
    return _BY_DTYPE.get(np.dtype(dtype))
