"""What Python code gives to `run`, checked and made the same: a program, lanes, their inputs, directories, limits."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, TypeGuard

import numpy as np

from lanewise.batch import amounts
from lanewise.batch.inputs import NO_INPUT, GivenInputs, Template, encoded_argument
from lanewise.batch.source import is_linux, read_program
from lanewise.batch.spec import Buffers
from lanewise.errors import ArgumentError

if TYPE_CHECKING:
    from lanewise.wasm.module import Module
    from lanewise.wasm.placement import Placement

Argument = str | bytes | os.PathLike[str]
Arguments = Sequence[Argument] | Sequence[Sequence[Argument]] | Callable[[int], Sequence[Argument]]
Text = str | bytes
Input = Text | Sequence[Text] | Callable[[int], Text] | None
Place = str | os.PathLike[str]
Directories = Mapping[str, Place] | Sequence[Place] | Place | None

_NAMELESS = "program.wasm"
_NAMELESS_LINUX = "program"
_WORDS = range(-(2**31), 2**32)
"""Whole numbers that 32 bits can hold, signed or not."""
_NOT_ENCODED = "has half a character in it, which cannot be encoded; write whole characters, or bytes"
_DIRECTORIES = "it is a directory, a list of them, or {name: directory}"


def program(source: Place | bytes | Module) -> tuple[bytes, str, Module | None]:
    """The bytes of a program, the name it goes by, and the module if it is loaded already."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), _NAMELESS_LINUX if is_linux(bytes(source)) else _NAMELESS, None
    if isinstance(source, str | os.PathLike):
        return read_program(source), os.path.basename(source), None
    from lanewise.wasm.module import Module  # whoever has one has loaded this

    if isinstance(source, Module):
        return source.model.data, source.name, source
    hint = "; pass what its read() gives" if hasattr(source, "read") else ""
    raise ArgumentError(f"a program is a path, bytes or a module, not {type(source).__name__}{hint}")


def count_of_lanes(lanes: int | None, args: Arguments, stdin: Input) -> int:
    """How many lanes there are, which all that is given per lane must agree about."""
    found: dict[str, int] = {}
    if lanes is not None:
        found["lanes"] = whole("lanes", lanes, amounts.LANES)
    if _per_lane(args):
        found["args"] = len(args)
    if _is_list(stdin):
        if not _is_sequence(stdin):
            hint = "; pass what its read() gives" if hasattr(stdin, "read") else "; a list has one for each lane"
            raise ArgumentError(
                f"stdin is text, bytes, a list or a function of the lane, not {type(stdin).__name__}{hint}"
            )
        found["stdin"] = len(stdin)
    counts = set(found.values())
    if len(counts) > 1:
        said = " and ".join(f"{name} says {count:,}" for name, count in found.items())
        raise ArgumentError(f"it is not clear how many lanes there are: {said}")
    if counts == {0}:
        raise ArgumentError(f"{next(iter(found))} has no entries, so there is no lane to run")
    return counts.pop() if counts else 1


def inputs(name: str, args: Arguments, stdin: Input) -> GivenInputs:
    """What lanes get that differs from lane to lane, as functions of the lane."""
    same, arguments = _arguments(name, args)
    return GivenInputs(arguments, _stdin(stdin), same_arguments=same)


def environment(variables: Mapping[str, str] | None) -> dict[str, str]:
    """The environment of a program."""
    if not isinstance(variables, Mapping | None):
        raise ArgumentError(f"env: {_shown(variables)} is no dictionary of names and values, such as {{'LANG': 'C'}}")
    found = dict(variables or {})
    for name, value in found.items():
        if not _is_text(name) or not _is_text(value) or not name or "=" in name:
            raise ArgumentError(
                f"env: {_shown(name)}: {_shown(value)} is no variable; both are text that can be encoded and has no "
                "byte 0, and the name has no = in it"
            )
    return found


def directories(dirs: Directories) -> list[tuple[Path, str]]:
    """Directories with what lanes call them."""
    pairs = _named_directories(dirs)
    for host, guest in pairs:
        if not _is_place(host):
            raise ArgumentError(f"dirs is {_shown(dirs)}; {_DIRECTORIES}")
        if not os.path.isdir(host):
            raise ArgumentError(f"dirs: there is no directory {os.fspath(host)!r}; name one that the program may use")
        if not _is_text(guest) or not guest:
            raise ArgumentError(
                f"dirs: {_shown(guest)} is no name for a directory; write text that is not empty and has no byte 0, "
                "such as {'/data': 'path'}"
            )
    return [(Path(host), guest) for host, guest in pairs]


def _named_directories(dirs: Directories) -> list[tuple[Place, str]]:
    if dirs is None:
        return []
    if isinstance(dirs, Mapping):
        return [(host, guest) for guest, host in dirs.items()]
    hosts = [dirs] if isinstance(dirs, str | os.PathLike) else dirs
    if not _is_sequence(hosts) or not all(map(_is_place, hosts)):
        raise ArgumentError(f"dirs is {_shown(dirs)}; {_DIRECTORIES}")
    return [(host, os.fspath(host)) for host in hosts]


def placement(text: str | None) -> Placement | None:
    """Where lanes live on a GPU; None if that is to be found out."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise ArgumentError(f"placement is {_shown(text)}; it is text such as 'flat/8/all', or None")
    from lanewise.wasm.placement import Placement, program_placement  # loaded when something runs

    try:
        found = program_placement(text)
        return found if isinstance(found, Placement) else None
    except ValueError as error:
        raise ArgumentError(f"placement: {error}") from None


def yes_or_no(name: str, value: bool) -> bool:
    """True or False, also those of NumPy."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name} is {_shown(value)}; it is True or False")
    return bool(value)


def whole(name: str, value: SupportsIndex, sensible: range) -> int:
    """A whole number, also one of NumPy, that makes sense."""
    number = _index(value)
    if number is None or number not in sensible:
        raise ArgumentError(f"{name} is {_shown(value)}; it is a whole number from {sensible[0]} to {sensible[-1]}")
    return number


def whole_or_none(name: str, value: SupportsIndex | None, sensible: range) -> int | None:
    """The same where None stands for none."""
    return None if value is None else whole(name, value, sensible)


def size(name: str, value: SupportsIndex | str | None, sensible: range) -> int | None:
    """A number of bytes, or such as 16M."""
    if isinstance(value, str):
        try:
            value = amounts.size(value)
        except ValueError as error:
            raise ArgumentError(f"{name}: {error}") from None
    return whole_or_none(name, value, sensible)


def seconds(name: str, value: float | str | None) -> float | None:
    """A number of seconds above 0, or such as 2m."""
    if value is None:
        return None
    try:
        return amounts.seconds(value if isinstance(value, str) else _decimal(value))
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"{name} is {_shown(value)}; it is seconds above 0, such as 5, 0.5 or '2m', or None"
        ) from None


def _decimal(value: object) -> str:
    """A number in digits, all of them and without an exponent; raises TypeError if it is none."""
    if isinstance(value, bool | np.bool_ | np.ndarray) or not isinstance(value, SupportsFloat):
        raise TypeError
    return np.format_float_positional(float(value))


def _index(value: object) -> int | None:
    """A whole number; None if it is something else."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    try:
        return operator.index(value)
    except TypeError:  # arrays, which only may be whole numbers
        return None


def _shown(value: object) -> str:
    """A value in a message, and not more of it than fits."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write numbers of thousands of digits
        return f"{type(value).__name__} of very many digits"
    return text if len(text) <= 200 else f"{text[:197]}..."


def _arguments(name: str, args: Arguments) -> tuple[bool, Callable[[int], Sequence[bytes]]]:
    if isinstance(args, str | bytes | os.PathLike):
        raise ArgumentError(f"args is a list of arguments, one after the other; write args=[{_shown(args)}]")
    first = encoded_argument(name)
    if callable(args):
        return False, lambda lane: [first, *map(_argument, _list_of_lane(args(lane)))]
    if not _is_sequence(args):
        raise ArgumentError(
            f"args is a list of arguments, a list of such lists or a function of the lane, not {type(args).__name__}; "
            "write args=['a', 'b'], or args=[] for none"
        )
    if _per_lane(args):
        return False, [[first, *map(_argument, one)] for one in args].__getitem__
    template = Template(name, [_argument(one) for one in args], lane=True, item=False)
    return template.same, template.fill


def _argument(argument: object) -> bytes:
    try:
        return encoded_argument(argument)
    except UnicodeEncodeError:
        raise ArgumentError(f"args: {_shown(argument)} {_NOT_ENCODED}") from None


def _list_of_lane(given: Any) -> Sequence[Argument]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise ArgumentError(
            f"args gives {_shown(given)} for a lane; it gives a list of arguments, such as [{_shown(str(given))}]"
        )
    return given


def _stdin(stdin: Input) -> Callable[[int], bytes]:
    if stdin is None:
        return lambda lane: NO_INPUT
    if callable(stdin):
        return lambda lane: _encoded(stdin(lane))
    if _is_list(stdin):
        return [_encoded(one) for one in stdin].__getitem__
    same = _encoded(stdin)
    return lambda lane: same


def _per_lane(args: Arguments) -> TypeGuard[Sequence[Sequence[Argument]]]:
    """Whether these are lists of arguments, one per lane."""
    if not _is_sequence(args) or not len(args):
        return False
    return all(isinstance(one, Sequence) and not isinstance(one, str | bytes) for one in args)


def _is_list(stdin: Input) -> TypeGuard[Sequence[Text]]:
    return stdin is not None and not callable(stdin) and not isinstance(stdin, str | bytes | bytearray | memoryview)


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether this is a list or the like, also one of NumPy; text and bytes are not."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


def _is_place(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, os.PathLike) and isinstance(os.fspath(value), str))


def _is_text(value: object) -> bool:
    """Whether a program can get this as a text that ends at its first byte 0."""
    try:
        return isinstance(value, str) and 0 not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def _encoded(text: object) -> bytes:
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise ArgumentError(f"stdin: {_shown(text)} {_NOT_ENCODED}") from None
    if isinstance(text, bytes | bytearray | memoryview):
        return bytes(text)
    raise ArgumentError(f"what a lane reads is text or bytes, not {type(text).__name__}")


def buffers(state: Any, input: Any, output: int, picture: tuple[int, int], group: int) -> Buffers:
    """What lanes share by the GPU vocabulary."""
    if _index(group) not in amounts.GROUPS:
        raise ArgumentError(f"group is {_shown(group)}; it is a power of two up to {amounts.GROUPS[-1]}")
    try:
        width, height = picture
    except (TypeError, ValueError):
        raise ArgumentError(f"picture is {_shown(picture)}; it is a width and a height") from None
    sides = range(amounts.PICTURE[-1] + 1)
    return Buffers(
        state=_words("state", state),
        input=_words("input", input),
        output=whole("output", output, amounts.WORDS),
        size=(whole("the width of the picture", width, sides), whole("the height of the picture", height, sides)),
        group=int(group),
    )


def _words(name: str, value: Any) -> np.ndarray[Any, Any] | None:
    """An array of 32-bit numbers; lists become one."""
    if value is None:
        return None
    found = value if isinstance(value, np.ndarray) else _words_of_list(name, value)
    if found.dtype.itemsize != 4 or found.dtype.kind not in "iuf":
        raise ArgumentError(f"{name} holds {found.dtype}; lanes share 32-bit numbers (int32, uint32, float32)")
    return np.asarray(found).astype(found.dtype.newbyteorder("="), copy=False)


def _words_of_list(name: str, value: Any) -> np.ndarray[Any, Any]:
    try:
        found = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"{name} is {_shown(value)}; it is an array of 32-bit numbers or a list of them, all rows of one length"
        ) from None
    if found.dtype.kind not in "biuf":
        raise _no_words(name, value)
    if found.dtype.kind == "f":
        return _floats(name, value, found)
    for one in (found.min(), found.max()) if found.size else ():
        if int(one) not in _WORDS:
            raise _no_word(name, int(one))
    return found.astype(np.int32)


def _floats(name: str, value: Any, found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    with np.errstate(over="ignore"):
        words = found.astype(np.float32)
    beyond = found[np.isfinite(found) & ~np.isfinite(words)]
    if beyond.size:
        raise ArgumentError(f"{name} holds {beyond[0]}, which does not fit 32 bits; write floats up to 3.4e38")
    if found.size and np.abs(found).max() >= 2**63 and all(_index(one) is not None for one in _items(value)):
        raise _no_words(name, value)  # whole numbers too large for one type of NumPy, which takes them for floats
    return words


def _no_words(name: str, value: Any) -> ArgumentError:
    """What is wrong with a list that is none of words: something in it is no number, or too large a one."""
    for one in _items(value):
        number = _index(one)
        if number is None and not isinstance(one, float | np.floating | bool | np.bool_):
            return ArgumentError(f"{name} holds {_shown(one)}; lanes share 32-bit numbers, such as [1, 2, 3]")
        if number is not None and number not in _WORDS:
            return _no_word(name, number)
    return ArgumentError(f"{name} is {_shown(value)}; lanes share 32-bit numbers, such as [1, 2, 3]")


def _no_word(name: str, number: int) -> ArgumentError:
    whole_numbers = f"whole numbers from {_WORDS[0]} to {_WORDS[-1]}"
    return ArgumentError(f"{name} holds {_shown(number)}, which does not fit 32 bits; write {whole_numbers}")


def _items(value: Any) -> Iterable[Any]:
    return np.asarray(value, object).flat
