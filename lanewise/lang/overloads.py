"""Families of device functions: one name, one function made per scalar type by a Python factory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lanewise.errors import LanewiseError
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.types import FLOATS, Scalar


class Overloads:
    """A device function for several types, chosen by the first argument; instances are made when first used."""

    def __init__(self, make: Callable[[Scalar], DeviceFunction], types: tuple[Scalar, ...], default: Scalar) -> None:
        self.make = make
        self.name = make.__name__
        self.__doc__ = make.__doc__
        self.types = types
        self.default = default
        self._made: dict[Scalar, DeviceFunction] = {}

    def instance(self, kind: Scalar) -> DeviceFunction:
        """The function for this type."""
        if kind not in self._made:
            self._made[kind] = self.make(kind)
            self._made[kind].name = f"{self.name}_{kind.name}"
        return self._made[kind]

    def __call__(self, *args: Any) -> Any:
        raise LanewiseError(f"{self.name} is device code; call it from a @kernel or @device function")


def overloaded(
    types: tuple[Scalar, ...] = FLOATS, default: Scalar = FLOATS[-1]
) -> Callable[[Callable[[Scalar], DeviceFunction]], Overloads]:
    """Decorate a factory that takes a scalar type and returns the @device function for it."""
    return lambda make: Overloads(make, types, default)
