"""Arguments of people, checked: what is wrong with them is said in one sentence."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy as np

from lanewise.errors import ArgumentError, shown

MEMORY_OPTION = "--memory; in Python memory=, or memory_size= of run_linux and ParallelCPU"
"""What people set how much memory a lane has by."""


def whole(value: Any, what: str, least: int, most: int) -> int:
    """A whole number within limits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{what} is {shown(value)}; it is a whole number") from None
    if not least <= number <= most:
        raise ArgumentError(
            f"{what} is {number}; it is {least} or more" + (f", and {most} or less" if number > most else "")
        )
    return number


def yes_or_no(value: Any, what: str) -> bool:
    """True or False, or what stands for them."""
    try:
        return bool(value)
    except ValueError:  # as of arrays
        raise ArgumentError(f"{what} is {shown(value)}; it is True or False") from None


def memory_choice(value: Any) -> str:
    """Whether lanes share their memory."""
    if not isinstance(value, str) or value not in ("shared", "private"):
        raise ArgumentError(f"memory is {shown(value)}; it is 'shared' or 'private'")
    return value


def lane_number(value: Any, lanes: int) -> int:
    """The number of a lane that there is."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"a lane is a number, not {shown(value)}") from None
    if not 0 <= number < lanes:
        raise ArgumentError(f"there is no lane {number}: there are {lanes:,}, from 0 on")
    return number


def content_of(data: Any, what: str) -> bytes:
    """The bytes of anything that has some."""
    if isinstance(data, np.ndarray) and data.dtype.hasobject:  # whose bytes are addresses of this process
        raise ArgumentError(f"{what} is an array of Python's objects; it is bytes, or an array of numbers")
    try:
        return data.tobytes() if isinstance(data, np.ndarray) else bytes(memoryview(data))
    except TypeError:
        raise ArgumentError(f"{what} is {type(data).__name__}; it is bytes, or an array") from None


def check_rows(data: np.ndarray[Any, Any], lanes: int, *, private: bool) -> None:
    """Refuse bytes that are not a row for each lane."""
    if data.shape[0] != lanes or data.dtype != np.uint8 or not private:
        raise ArgumentError(
            f"data has the shape {data.shape} and the type {data.dtype}; rows are for lanes with memory of their own: "
            f"{lanes:,} of uint8"
        )


def listed(values: Any, what: str) -> list[Any]:
    """Whatever can be listed, as a list."""
    try:
        return list(values)
    except TypeError:
        raise ArgumentError(f"{what} is {shown(values)}; it is a list") from None


def address_range(address: Any, count: Any, size: int, start: int = 0) -> int:
    """Where bytes begin that are in memory."""
    number, length = whole(address, "address", 0, 2**64 - 1), whole(count, "count", 0, 2**64 - 1)
    if number < start or number + length > start + size:
        where = f" from {start:#x} on" if start else ""
        raise ArgumentError(f"{length:,} bytes at address {number:#x} do not fit a memory of {size:,} bytes{where}")
    return number


def instructions(address: int, count: int) -> tuple[int, int]:
    """Where the first whole instruction of some bytes begins, and how many bytes whole ones take."""
    first = -(-address // 4) * 4
    length = (address + count) // 4 * 4 - first
    if length <= 0:
        raise ArgumentError(f"count is {count}: from address {address:#x} on that is not one instruction of 4 bytes")
    return first, length


def entries_of(values: Any) -> tuple[int, ...]:
    """Addresses where code is entered."""
    found = tuple(whole(one, "an entry", 0, 2**64 - 1) for one in listed(values, "entries"))
    odd = next((one for one in sorted(found) if one % 4), None)
    if odd is not None:
        raise ArgumentError(f"an entry is {odd:#x}: instructions begin at multiples of 4")
    return found


def shaped(value: Any, shape: tuple[int, ...], what: str) -> np.ndarray[Any, Any]:
    """Whole numbers of a shape, in 64 bits each."""
    try:
        found = np.asarray(value)
    except ValueError:
        raise ArgumentError(f"{what} have rows of different lengths; the shape must be {shape}") from None
    if found.shape != shape:
        kind = f"have the shape {found.shape}" if found.dtype.kind in "iuf" else f"are of type {type(value).__name__}"
        raise ArgumentError(f"{what} {kind}; whole numbers of the shape {shape} are wanted")
    if found.dtype.kind in "fO":
        # Lists of small numbers and of those beyond 2**63 are floating point to NumPy.
        each = np.array(value, object)
        if all(isinstance(one, numbers.Integral) and -(2**63) <= int(one) < 2**64 for one in each.flat):
            return np.array([int(one) & 2**64 - 1 for one in each.flat], np.uint64).reshape(shape)
    if found.dtype.kind not in "iu":
        raise ArgumentError(f"{what} are of type {found.dtype}; they are whole numbers")
    return found.astype(np.uint64)
