"""What Python code gives to `run`, checked and made the same: a program, lanes, their inputs, directories, limits."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeGuard

import numpy as np

from lanewise.batch import amounts
from lanewise.batch.inputs import NO_INPUT, GivenInputs, Template, encoded_argument
from lanewise.batch.source import read_program
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


def program(source: Place | bytes | Module) -> tuple[bytes, str, Module | None]:
    """The bytes of a program, the name it goes by, and the module if it is loaded already."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), _NAMELESS, None
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
        if not isinstance(stdin, Sequence | np.ndarray):
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
        raise ArgumentError(f"env: {variables!r} is no dictionary of names and values, such as {{'LANG': 'C'}}")
    found = dict(variables or {})
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, str) or not name or "=" in name or "\0" in name + value:
            raise ArgumentError(f"env: {name!r}: {value!r} is no variable; both are text, and the name has no = in it")
    return found


def directories(dirs: Directories) -> list[tuple[Path, str]]:
    """Directories with what lanes call them."""
    if dirs is None:
        pairs: list[tuple[Place, str]] = []
    elif isinstance(dirs, Mapping):
        pairs = [(host, guest) for guest, host in dirs.items()]
    else:
        hosts: Sequence[Place] = [dirs] if isinstance(dirs, str | os.PathLike) else dirs
        if not all(isinstance(host, str | os.PathLike) for host in hosts):
            raise ArgumentError(f"dirs is {dirs!r}; it is a directory, a list of them, or {{name: directory}}")
        pairs = [(host, os.fspath(host)) for host in hosts]
    for host, _ in pairs:
        if not os.path.isdir(host):
            raise ArgumentError(f"dirs: there is no directory {os.fspath(host)!r}; name one that the program may use")
    return [(Path(host), guest) for host, guest in pairs]


def placement(text: str | None) -> Placement | None:
    """Where lanes live on a GPU; None if that is to be found out."""
    if text is None:
        return None
    from lanewise.wasm.placement import Placement, placement_or_search  # loaded when something runs

    found = placement_or_search(text)
    return found if isinstance(found, Placement) else None


def whole(name: str, value: SupportsIndex, sensible: range) -> int:
    """A whole number, also one of NumPy, that makes sense."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or operator.index(value) not in sensible:
        raise ArgumentError(f"{name} is {value!r}; it is a whole number from {sensible[0]} to {sensible[-1]}")
    return operator.index(value)


def whole_or_none(name: str, value: SupportsIndex | None, sensible: range) -> int | None:
    """The same where None stands for none."""
    return None if value is None else whole(name, value, sensible)


def size(name: str, value: SupportsIndex | str | None, sensible: range) -> int | None:
    """A number of bytes, or such as 16M."""
    if isinstance(value, str):
        try:
            value = amounts.size(value)
        except ArgumentError as error:
            raise ArgumentError(f"{name}: {error}") from None
    return whole_or_none(name, value, sensible)


def seconds(name: str, value: float | str | None) -> float | None:
    """A number of seconds above 0, or such as 2m."""
    if value is None:
        return None
    try:
        return amounts.seconds(value if isinstance(value, str) else f"{float(value):f}")
    except (ArgumentError, TypeError, ValueError):
        raise ArgumentError(f"{name} is {value!r}; it is seconds above 0, such as 5, 0.5 or '2m', or None") from None


def _arguments(name: str, args: Arguments) -> tuple[bool, Callable[[int], Sequence[bytes]]]:
    if isinstance(args, str | bytes):
        raise ArgumentError(f"args is a list of arguments, one after the other; write args=[{args!r}]")
    first = encoded_argument(name)
    if callable(args):
        return False, lambda lane: [first, *map(encoded_argument, _list_of_lane(args(lane)))]
    if _per_lane(args):
        return False, [[first, *map(encoded_argument, one)] for one in args].__getitem__
    template = Template(name, args, lane=True, item=False)  # type: ignore[arg-type] # not per lane, so plain arguments
    return template.same, template.fill


def _list_of_lane(given: Any) -> Sequence[Argument]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise ArgumentError(f"args gives {given!r} for a lane; it gives a list of arguments, such as [{str(given)!r}]")
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
    if callable(args) or isinstance(args, str | bytes) or not len(args):
        return False
    return all(isinstance(one, Sequence) and not isinstance(one, str | bytes) for one in args)


def _is_list(stdin: Input) -> TypeGuard[Sequence[Text]]:
    return stdin is not None and not callable(stdin) and not isinstance(stdin, str | bytes | bytearray | memoryview)


def _encoded(text: object) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes | bytearray | memoryview):
        return bytes(text)
    raise ArgumentError(f"what a lane reads is text or bytes, not {type(text).__name__}")


def buffers(state: Any, input: Any, output: int, picture: tuple[int, int], group: int) -> Buffers:
    """What lanes share by the GPU vocabulary."""
    if group not in amounts.GROUPS:
        raise ArgumentError(f"group is {group!r}; it is a power of two up to {amounts.GROUPS[-1]}")
    try:
        width, height = picture
    except (TypeError, ValueError):
        raise ArgumentError(f"picture is {picture!r}; it is a width and a height") from None
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
    found = np.asarray(value)
    if not isinstance(value, np.ndarray):
        found = found.astype(np.float32 if found.dtype.kind == "f" else np.int32)
    if found.dtype.itemsize != 4 or found.dtype.kind not in "iuf":
        raise ArgumentError(f"{name} holds {found.dtype}; lanes share 32-bit numbers (int32, uint32, float32)")
    return found.astype(found.dtype.newbyteorder("="), copy=False)
