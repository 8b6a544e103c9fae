"""A module as people hold it: loaded from a file or from bytes, checked, and ready to be run."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from lanewise.devices import Device
from lanewise.devices import device as find_device
from lanewise.errors import ArgumentError, MalformedError
from lanewise.wasm import describe, model
from lanewise.wasm.build import PUBLIC, Build, check_choices, checked_fuel, checked_level, checked_timeout
from lanewise.wasm.compile import check
from lanewise.wasm.decode import decode
from lanewise.wasm.describe import Exported, Imported, known_names
from lanewise.wasm.foreign import explain_bytes
from lanewise.wasm.placement import SEARCH, placement_or_search

if TYPE_CHECKING:
    from lanewise.wasm.instance import Instance
    from lanewise.wasm.vectors import VectorFunction

Source = str | os.PathLike[str] | bytes | bytearray | memoryview


class Module:
    """A valid module: `func` gives its functions over arrays, `instantiate` an instance that keeps state."""

    def __init__(self, checked: model.Module, name: str) -> None:
        self.model = checked
        self.name = name
        self._runners: dict[Any, Any] = {}

    @staticmethod
    def load(source: Source, features: frozenset[str] | None = None) -> Module:
        """Read and check a module: a path, or its bytes."""
        data, name = _read(source)
        try:
            decoded = decode(data, model.FEATURES if features is None else features)
            check(decoded)
        except MalformedError as error:
            if name:
                error.args = (f"{describe.shown_name(name)}: {error}",)
            raise
        return Module(decoded, name or decoded.names.module or "without a name")

    @property
    def imports(self) -> tuple[Imported, ...]:
        """What the module wants to be given, with types, in its order."""
        return tuple(describe.imports_of(self.model))

    @property
    def exports(self) -> Mapping[str, Exported]:
        """What the module gives, by name, with types."""
        return MappingProxyType({one.name: one for one in describe.exports_of(self.model)})

    @property
    def memories(self) -> tuple[model.MemoryType, ...]:
        """The linear memories, those that are imported first."""
        return tuple(self.model.memories)

    def func(
        self,
        name: str,
        *,
        device: Device | str = "auto",
        errors: Literal["raise", "mask"] = "raise",
        fuel: int | None = None,
        timeout: float | None = None,
        **choices: Any,
    ) -> VectorFunction:
        """Give an exported function as a NumPy function: called once per element, one lane each, on fresh instances.

        Elements that trap raise a LaneError that names them, or are masked in the result with errors="mask". With
        `fuel`, an element that takes more steps than that traps; with `timeout`, a call that takes more seconds is
        ended. Other choices say how it is compiled, such as layout="words"; docs/wasm.md lists them.
        """
        from lanewise.wasm.vectors import VectorFunction, runner_for  # each way to run a module brings its own engine

        if errors not in ("raise", "mask"):
            raise ArgumentError(f'errors is "raise" or "mask", not {errors!r}')
        _check_choices("func", choices)
        if choices.get("placement") is not None:
            _check_placement(choices)
        fuel, timeout = checked_fuel(fuel), checked_timeout(timeout)
        index = self._exported_function(name)
        found = device if isinstance(device, Device) else find_device(device)
        key = (index, id(found), fuel, timeout, tuple(sorted(choices.items())))
        if key not in self._runners:  # the runner holds the device, so nothing else comes to have its id
            self._runners[key] = runner_for(self, index, found, name, fuel=fuel, timeout=timeout, **choices)
        return VectorFunction(self, name, index, found, errors, self._runners[key])

    def instantiate(
        self,
        imports: Mapping[str, Any] | None = None,
        *,
        device: Device | str = "auto",
        fuel: int | None = None,
        timeout: float | None = None,
        **choices: Any,
    ) -> Instance:
        """Make an instance that keeps its state between calls, in a store of its own.

        `imports` maps module names to instances or to mappings of names to what other instances export, to Python
        functions (on the CPU), or to numbers for constants. With `fuel`, a call that takes more steps than that traps;
        with `timeout`, one that takes more seconds.
        """
        from lanewise.wasm.store import Store

        _check_choices("instantiate", choices)
        return Store(device, fuel=fuel, timeout=timeout, **choices).instantiate(self, imports)  # type: ignore[arg-type]

    def disassemble(self, function: str | int | None = None) -> str:
        """The module as text, or one function of it: by its name or by its index."""
        from lanewise.wasm.disassemble import disassemble

        if function is None:
            return disassemble(self.model)
        return disassemble(self.model, self._function_index(function))

    def _function_index(self, function: str | int) -> int:
        count = len(self.model.functions)
        if isinstance(function, int):
            if not 0 <= function < count:
                raise ArgumentError(f"there is no function {function}; the module has {count}, from 0 on")
            return function
        exported = {one.name: one.index for one in self.model.exports if one.kind == "function"}
        named = {self.model.function_name(at): at for at in reversed(range(count))} | exported
        if function not in named:
            raise ArgumentError(f"the module has no function {function!r}; {known_names(function, named, 'it has')}")
        return named[function]

    def _exported_function(self, name: str) -> int:
        functions = {one.name: one.index for one in self.model.exports if one.kind == "function"}
        if name in functions:
            return functions[name]
        other = self.exports.get(name)
        if other is not None:
            raise ArgumentError(f"{name!r} is a {other.kind}, not a function")
        known = known_names(name, functions, "it exports the functions")
        raise ArgumentError(f"the module exports no function {name!r}; {known}")

    def __repr__(self) -> str:
        return describe.as_text(describe.title_of(self.model, self.name), describe.rows_of(self.model))

    def _repr_html_(self) -> str:
        return describe.as_html(describe.title_of(self.model, self.name), describe.rows_of(self.model))


def _read(source: Source) -> tuple[bytes, str]:
    """The bytes of a module, and the name of its file if it has one."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), ""
    if not isinstance(source, str | os.PathLike):
        hint = "; pass what its read() gives" if hasattr(source, "read") else ""
        raise ArgumentError(f"a module is loaded from a path or from bytes, not from {type(source).__name__}{hint}")
    if isinstance(source, str) and source.lstrip().startswith("("):
        raise ArgumentError(explain_bytes(source.encode()) or f"{source[:40]!r} is neither a path nor bytes")
    path = Path(source)
    try:
        return path.read_bytes(), path.name
    except FileNotFoundError:
        beside = [one.name for one in path.parent.glob("*.wasm")] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, beside, 1)
        hint = f"; did you mean {str(path.parent / near[0])!r}?" if near else ""
        raise ArgumentError(f"there is no file {str(path)!r}{hint}") from None
    except IsADirectoryError:
        raise ArgumentError(f"{str(path)!r} is a directory; give the path of a .wasm file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ArgumentError(f"{str(path)[:200]!r} cannot be read: {reason}") from None


_CHOICES = {"level", *(field.name for field in fields(Build))}
_TAKEN = {"func": "device, errors, fuel, timeout, placement", "instantiate": "imports, device, fuel, timeout"}


def _check_choices(what: str, choices: dict[str, Any]) -> None:
    """Raise unless a build has these choices; a level becomes a number of Python."""
    for name in choices.keys() - ({"placement"} if what == "func" else set()):
        if name not in _CHOICES:
            compiling = ", ".join(["level", *PUBLIC])
            raise TypeError(f"{what}() takes no {name!r}; it takes {_TAKEN[what]}, and for compiling {compiling}")
    if "level" in choices:
        choices["level"] = checked_level(choices["level"])
    check_choices({name: value for name, value in choices.items() if name not in ("level", "placement")})


def _check_placement(choices: Mapping[str, Any]) -> None:
    """Raise unless lanes can live where a function is to have them."""
    found = placement_or_search(choices["placement"])
    if "layout" in choices:
        raise ArgumentError("layout and placement both say how memory lies; leave layout out")
    if found == SEARCH and choices.get("stats"):
        raise ArgumentError("lanes that count how far they are in step say nothing of placements; search without stats")
