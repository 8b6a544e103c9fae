"""Built-in functions of device code: each is a Python object with documentation and the rule that lowers its calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from lanewise.errors import LanewiseError
from lanewise.lang.ir import Operand
from lanewise.lang.lowering import FunctionLowering

Rule = Callable[[FunctionLowering, ast.Call], Operand]


class Intrinsic:
    """A function of the vocabulary. Its docstring opens with how it is written in device code."""

    def __init__(self, name: str, rule: Rule) -> None:
        self.__name__ = name
        self.__doc__ = rule.__doc__
        self.lower = rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise LanewiseError(f"{self.__name__} is device code; call it from a @kernel or @device function")

    def __repr__(self) -> str:
        return f"<device function {self.__name__}>"


class Marker:
    """A name that the lowering itself understands."""

    def __init__(self, name: str, doc: str) -> None:
        self.__name__ = name
        self.__doc__ = doc

    def __call__(self, *args: Any) -> Any:
        raise LanewiseError(f"{self.__name__} is device code; use it in a @kernel or @device function")

    def __bool__(self) -> bool:
        raise LanewiseError(f"{self.__name__} has a value in device code only")


ON_GPU = Marker("ON_GPU", "True where the code is compiled for a GPU; the other branch of an `if` on it is dropped.")
GRID_RANGE = Marker(
    "grid_range",
    "for i in grid_range(n): this thread's share of range(n); each index goes to exactly one thread of the launch.\n\n"
    "The order is the device's: strided on a GPU, so that neighbouring threads touch neighbouring elements; one piece\n"
    "a thread on a CPU, so that each core reads memory in order.",
)

BUILTINS: dict[Any, Intrinsic] = {}
"""Python's own functions that device code knows, such as min and abs."""


def intrinsic(rule: Rule) -> Intrinsic:
    """Make a vocabulary function of a lowering rule."""
    return Intrinsic(rule.__name__, rule)


def builtin(function: Any) -> Callable[[Rule], Intrinsic]:
    """Give one of Python's own functions a meaning in device code."""

    def register(rule: Rule) -> Intrinsic:
        BUILTINS[function] = Intrinsic(function.__name__, rule)
        return BUILTINS[function]

    return register


def arity(
    fn: FunctionLowering, node: ast.Call, least: int, most: int | None = None, keywords: tuple[str, ...] = ()
) -> None:
    """Check how many arguments a call has and which keywords."""
    most = least if most is None else most
    name = ast.unparse(node.func)
    for part in node.args:
        if isinstance(part, ast.Starred):
            raise fn.error(f"{name} takes its arguments one by one", part)
    for keyword in node.keywords:
        if keyword.arg not in keywords:
            known = f"it knows {', '.join(keywords)}" if keywords else "it takes arguments by position"
            raise fn.error(f"{name} has no keyword {keyword.arg}", keyword.value, known)
    if not least <= len(node.args) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        plural = "" if wanted == "1" else "s"
        raise fn.error(f"{name} takes {wanted} argument{plural}, this passes {len(node.args)}", node)


def choice(fn: FunctionLowering, node: ast.Call, keyword: str, options: dict[str, str], default: str) -> str:
    """The value of a keyword that must be one of a few strings known at compile time."""
    for found in node.keywords:
        if found.arg == keyword:
            if isinstance(found.value, ast.Constant) and found.value.value in options:
                return options[found.value.value]
            listed = ", ".join(f'"{option}"' for option in options)
            raise fn.error(f"{keyword} must be one of {listed}", found.value)
    return options[default]
