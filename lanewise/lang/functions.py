"""`@kernel` and `@device`: Python functions that stand for device code, with their checked signatures."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, overload

from lanewise.errors import LanewiseError
from lanewise.lang.diagnostics import Source, source_of
from lanewise.lang.types import VOID, ArrayType, PointerType, Scalar, StructType, TupleType, Type, as_type

launcher: Callable[[Kernel, Any], Callable[..., Any]] | None = None
"""Makes `kernel[threads]` launchable; set by the package, since devices build on lang and not the other way round."""


_reading = threading.Lock()


class DeviceFunction:
    """A function callable from device code. Its source is read when it is first compiled, not when it is defined."""

    def __init__(self, function: Callable[..., Any], *, reassociate: bool = False, inline: bool = True) -> None:
        self.function = function
        self.name = function.__name__
        self.reassociate = reassociate
        self.inline = inline
        self._source: Source | None = None
        functools.update_wrapper(self, function)

    @property
    def source(self) -> Source:
        """The parsed source text; parsed once, since the nodes of its tree are told apart by identity."""
        if self._source is None:
            with _reading:
                self._source = self._source or source_of(self.function)
        return self._source

    @functools.cached_property
    def parameters(self) -> dict[str, Type]:
        """Parameter names with their types, in order."""
        arguments = self.source.node.args
        for node in (*arguments.kwonlyargs, *arguments.posonlyargs, arguments.vararg, arguments.kwarg):
            if node is not None:
                raise self.source.error("device functions take plain parameters only", node, "write `name: type`")
        if arguments.defaults:
            raise self.source.error(
                "a parameter of device code has no default", arguments.defaults[0], "pass the value at every call"
            )
        return {argument.arg: self._parameter(argument) for argument in arguments.args}

    def _parameter(self, argument: ast.arg) -> Type:
        if argument.annotation is None:
            raise self.source.error(
                f"parameter {argument.arg} has no type", argument, f"write `{argument.arg}: u32`, or the type it has"
            )
        found = self._declared(argument.arg, argument.annotation)
        if isinstance(found, ArrayType):
            raise self.source.error(
                f"{found} cannot be passed by value", argument.annotation, f"write Ptr[{found.element}]"
            )
        if isinstance(found, StructType):
            raise self.source.error(f"{found} cannot be passed by value", argument.annotation, f"write Ptr[{found}]")
        if not isinstance(found, Scalar | PointerType):
            raise self.source.error("not a type of device code", argument.annotation, _TYPES_HINT)
        return found

    @functools.cached_property
    def result(self) -> Type:
        """The return type; VOID where there is none."""
        annotation = self.source.node.returns
        if annotation is None:
            return VOID
        found = self._declared("return", annotation)
        if found is VOID or isinstance(found, Scalar | PointerType | TupleType):
            return found
        raise self.source.error(
            f"{found} cannot be returned by value", annotation, "return its parts, or take a Ptr to it"
        )

    def _declared(self, name: str, annotation: ast.expr) -> Type:
        """The type of a parameter or result: Python may have evaluated it already, where names were still known."""
        found = self.function.__annotations__.get(name)
        known = None if isinstance(found, str) else as_type(found)
        return self.resolve_type(annotation) if known is None or found is None else known

    def resolve_type(self, annotation: ast.expr) -> Type:
        """The type that an annotation in this function's source stands for."""
        try:
            code = compile(ast.Expression(annotation), self.source.filename, "eval")
            evaluated = eval(code, self.function.__globals__, self.names)
            if isinstance(evaluated, str):
                evaluated = eval(evaluated, self.function.__globals__, self.names)
        except LanewiseError as error:
            raise self.source.error(str(error), annotation) from None
        except Exception as error:
            raise self.source.error(f"not a type of device code: {error}", annotation, _TYPES_HINT) from None
        found = as_type(evaluated)
        if found is None:
            hints = {int: "write i32, i64 or another sized integer", float: "write f32 or f64"}
            hint = hints.get(evaluated, _TYPES_HINT) if isinstance(evaluated, builtins.type) else _TYPES_HINT
            raise self.source.error("not a type of device code", annotation, hint)
        return found

    @functools.cached_property
    def names(self) -> dict[str, Any]:
        """The names of enclosing functions that this one uses, with the values they had when it was first compiled."""
        cells = self.function.__closure__ or ()
        found = {}
        for name, cell in zip(self.function.__code__.co_freevars, cells, strict=True):
            try:
                found[name] = cell.cell_contents
            except ValueError:
                continue  # not assigned yet; reported as an unknown name where it is used
        return found

    @functools.cached_property
    def copied_names(self) -> set[str]:
        """Names that only ever hold values copied from memory, whose NaN bits must stay as they are."""
        copied: set[str] = set()
        computed: set[str] = set()
        for node in ast.walk(self.source.node):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                plain = isinstance(node.value, ast.Subscript | ast.Attribute | ast.Constant)
                for target in targets:
                    if isinstance(target, ast.Name):
                        (copied if plain else computed).add(target.id)
                    elif isinstance(target, ast.Tuple):
                        computed |= {part.id for part in target.elts if isinstance(part, ast.Name)}
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                computed.add(node.target.id)
        return copied - computed

    @functools.cached_property
    def assigned_names(self) -> frozenset[str]:
        """Names that the function assigns somewhere; Python's rule makes them local everywhere in it."""
        nodes = ast.walk(self.source.node)
        return frozenset(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))

    def lookup(self, name: str) -> Any:
        """The Python object that a free name stands for; raises KeyError where there is none."""
        if name in self.names:
            return self.names[name]
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return vars(builtins)[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise LanewiseError(f"{self.name} is device code; call it from a @kernel or @device function")

    def __repr__(self) -> str:
        return f"<device function {self.name}>"


class Kernel(DeviceFunction):
    """A function that can be launched: `kernel[threads](arguments)`, or `kernel[threads, group_size](arguments)`."""

    @functools.cached_property
    def result(self) -> Type:
        """Kernels return nothing; a return annotation other than None is a mistake."""
        annotation = self.source.node.returns
        if annotation is not None and self.resolve_type(annotation) is not VOID:
            raise self.source.error("a kernel returns nothing", annotation, "write results through a Ptr parameter")
        return VOID

    @functools.cached_property
    def signature_text(self) -> str:
        """The signature as a reader would write it, for messages."""
        return f"{self.name}({', '.join(f'{name}: {kind}' for name, kind in self.parameters.items())})"

    @functools.cached_property
    def pointer_count(self) -> int:
        """How many parameters are pointers."""
        return sum(isinstance(kind, PointerType) for kind in self.parameters.values())

    def __getitem__(self, shape: Any) -> Callable[..., Any]:
        """Choose how many threads to launch, and optionally how many make a group."""
        if launcher is None:  # pragma: no cover - the package sets it on import
            raise LanewiseError("import lanewise before a kernel is launched")
        return launcher(self, shape)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise LanewiseError(f"say how many threads run {self.name}: {self.name}[threads](...)")

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


_TYPES_HINT = "types are bool, i8 to i64, u8 to u64, f32, f64, Ptr[T], T[N] and @struct classes"


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(*, reassociate: bool = False) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(function: Callable[..., Any] | None = None, /, *, reassociate: bool = False) -> Any:
    """Mark a Python function as a kernel. `reassociate=True` lets the compiler reorder its float sums and products.

    Reordering makes long float sums several times faster on a CPU; the last bits then differ between devices.
    """
    if function is None:
        return lambda function: Kernel(_plain(function, "kernel"), reassociate=reassociate)
    return Kernel(_plain(function, "kernel"))


@overload
def device(function: Callable[..., Any], /) -> DeviceFunction: ...
@overload
def device(*, reassociate: bool = False, inline: bool = True) -> Callable[[Callable[..., Any]], DeviceFunction]: ...
def device(function: Callable[..., Any] | None = None, /, *, reassociate: bool = False, inline: bool = True) -> Any:
    """Mark a Python function as callable from device code.

    `reassociate=True` lets the compiler reorder its float sums and products. `inline=False` keeps it a call: for long
    functions that are seldom reached, so that every caller stays small and compiles fast. A kernel of a GPU has it in
    its callers all the same if it would be there twice at most (once if it has a barrier), and no caller calls itself.
    """
    if function is None:
        return lambda function: DeviceFunction(_plain(function, "device"), reassociate=reassociate, inline=inline)
    return DeviceFunction(_plain(function, "device"))


def _plain(function: Callable[..., Any], decorator: str) -> Callable[..., Any]:
    if not inspect.isfunction(function):
        raise LanewiseError(f"@{decorator} goes before a plain function, not {function!r}")
    if hasattr(function, "__wrapped__"):
        name = function.__qualname__
        raise LanewiseError(
            f"@{decorator} reads the source of {name}, not what another decorator made of it; drop that one"
        )
    return function
