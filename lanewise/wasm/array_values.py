"""Arrays of the host on their way to lanes: each value must mean the same as the WebAssembly type, or it is refused."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from lanewise.errors import ArgumentError, shown

DTYPES: dict[str, np.dtype[Any]] = {
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
"""What arrays hold for each type; unsigned arrays are taken, too, since i32 and i64 have no sign of their own."""

Array = np.ndarray[Any, Any]


def as_array(value: Any, kind: str, what: str, *, masked: bool) -> Array:
    """A host value as an array of a WebAssembly type; masked arrays stay masked where that is allowed."""
    if isinstance(value, np.ma.MaskedArray):
        if not masked:
            raise ArgumentError(f'{what} is a masked array; fill it with filled(...), or ask for errors="mask"')
        return _visible(value, kind, what)
    # Numbers of Python are as wide as they need to be; arrays and scalars of NumPy say how wide they are.
    exact = isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__")
    try:
        array = np.asarray(value)
        if not exact and array.dtype.kind == "f" and (np.isfinite(array) & (np.abs(array) >= 2.0**63)).any():
            # NumPy makes floats of whole numbers that neither int64 nor uint64 holds together: see each by itself.
            array = np.array(value, object)
    except (ValueError, TypeError, OverflowError) as error:
        raise ArgumentError(f"{what} is no array of numbers: {error}") from None
    return _converted(array, kind, what, exact=exact)


def _visible(value: np.ma.MaskedArray[Any, Any], kind: str, what: str) -> Array:
    """A masked array whose masked elements are not looked at: their lanes get what another element has."""
    if value.dtype.names:
        return _converted(value.data, kind, what, exact=True)
    mask = np.ma.getmaskarray(value)
    seen = value.data[~mask]
    if mask.size and not seen.size:
        return np.ma.MaskedArray(np.zeros(mask.shape, DTYPES[kind]), mask=mask)
    converted = _converted(seen, kind, what, exact=True)
    data = np.full(mask.shape, converted[0] if converted.size else 0, DTYPES[kind])
    data[~mask] = converted
    return np.ma.MaskedArray(data, mask=mask)


def _converted(array: Array, kind: str, what: str, *, exact: bool) -> Array:
    dtype = DTYPES[kind]
    if array.dtype == dtype:
        return array
    if not array.size and (not exact or array.dtype.kind == "O"):  # an empty list
        return np.empty(array.shape, dtype)
    if array.dtype.kind == "O":
        take = _whole_object if dtype.kind == "i" else _real_object
        found = [take(one, kind, what) for one in array.reshape(-1).tolist()]
        return np.array(found, f"u{dtype.itemsize}" if dtype.kind == "i" else dtype).view(dtype).reshape(array.shape)
    if array.dtype.kind not in "iufb":
        raise ArgumentError(f"{what} holds {_shown(array)}; {kind} takes {'whole ' * (dtype.kind == 'i')}numbers")
    if dtype.kind == "i":
        return _whole(array, dtype, kind, what, exact=exact)
    return _real(array, dtype, kind, what, exact=exact)


def _whole_object(one: Any, kind: str, what: str) -> int:
    """The bits of an object that is a whole number."""
    if not isinstance(one, Integral | np.bool_):
        raise ArgumentError(f"{what} holds {shown(one)}; {kind} takes whole numbers")
    bits, number = int(kind[1:]), int(one)
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise ArgumentError(f"{what} holds {shown(number)}, which does not fit {kind}")
    return number & ((1 << bits) - 1)


def _real_object(one: Any, kind: str, what: str) -> Any:
    """An object that is a number as a float: whole ones must be kept whole, others are rounded."""
    if not isinstance(one, Real | np.bool_):
        raise ArgumentError(f"{what} holds {shown(one)}; {kind} takes numbers")
    try:
        with np.errstate(over="ignore"):
            found = DTYPES[kind].type(float(one))
    except OverflowError:
        found = DTYPES[kind].type(np.inf)
    if isinstance(one, Integral) and (np.isinf(found) or int(found) != int(one)):
        raise ArgumentError(f"{what} holds {shown(int(one))}, which {kind} cannot hold exactly")
    return found


def _shown(array: Array) -> str:
    return f"{array.dtype}" if array.ndim or array.dtype.kind in "OUS" else f"{array.dtype} {array[()]}"


def _whole(array: Array, dtype: np.dtype[Any], kind: str, what: str, *, exact: bool) -> Array:
    """Whole numbers that fit, signed or unsigned."""
    if array.dtype.kind == "f":
        advice = "round them, then use astype" if exact else "round them first, as round() does"
        raise ArgumentError(f"{what} holds {_shown(array)}; {kind} takes whole numbers: {advice}")
    if array.dtype.kind in "iu" and array.size:
        bits = dtype.itemsize * 8
        low, high = int(array.min()), int(array.max())
        if low < -(1 << (bits - 1)) or high >= 1 << bits:
            beyond = low if low < -(1 << (bits - 1)) else high
            raise ArgumentError(f"{what} holds {beyond}, which does not fit {kind}")
        if high >= 1 << (bits - 1):
            return array.astype(np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    return array.astype(dtype)


def _real(array: Array, dtype: np.dtype[Any], kind: str, what: str, *, exact: bool) -> Array:
    """Numbers that floats of this width hold. Python's own are rounded to it, as they are everywhere."""
    if array.dtype.kind == "f":
        if exact and array.dtype.itemsize > dtype.itemsize:
            raise ArgumentError(f"{what} holds {array.dtype}, which {kind} would round; use astype(np.{dtype})")
        with np.errstate(over="ignore"):
            return array.astype(dtype)
    if array.dtype.kind in "iu" and array.size:
        lost = _not_held(array, np.finfo(dtype).nmant + 1)
        if lost.size:
            advice = f"use astype(np.{dtype})" if exact else f"write {lost[0]}.0 to have it rounded"
            raise ArgumentError(f"{what} holds {lost[0]}, which {kind} cannot hold exactly; {advice}")
    return array.astype(dtype)


def _not_held(array: Array, bits: int) -> Array:
    """The whole numbers that have more significant bits than this."""
    if -(1 << bits) <= int(array.min()) and int(array.max()) <= 1 << bits:
        return np.empty(0, array.dtype)
    flat = array.reshape(-1)
    wide = flat.astype(np.uint64)
    size = np.where(flat < 0, np.uint64(0) - wide, wide)
    lowest = np.maximum(size & (np.uint64(0) - size), np.uint64(1))
    lost: Array = flat[size // lowest >= np.uint64(1 << bits)]
    return lost
