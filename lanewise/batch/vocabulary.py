"""Which buffers of the GPU vocabulary a program uses, as the functions say that it imports, and which it lacks."""

from __future__ import annotations

from lanewise.batch.spec import Buffers
from lanewise.errors import ArgumentError
from lanewise.wasm.model import Module

_USES = {
    "state": ("read_state", "write_state", "atomic_"),
    "input": ("read_input",),
    "output": ("write_output",),
}
"""How the names of functions begin that end a lane where there is no such buffer."""


def check_use(module: Module, buffers: Buffers) -> None:
    """Raise if buffers are given to a program that cannot know of any."""
    given = _given(buffers) + ["picture"] * (buffers.size != (0, 0))
    if given and not _imports(module):
        them = "them" if len(given) > 1 else "it"
        raise ArgumentError(
            f"the program imports nothing from the module gpu, so that {' and '.join(given)} would have no use; "
            f"leave {them} out"
        )


def lacking(module: Module, buffers: Buffers) -> tuple[str, ...]:
    """The buffers that a program may use and was not given."""
    names, given = _imports(module), _given(buffers)
    return tuple(
        buffer
        for buffer, starts in _USES.items()
        if buffer not in given and any(name.startswith(starts) for name in names)
    )


def _given(buffers: Buffers) -> list[str]:
    there = {"state": buffers.state is not None, "input": buffers.input is not None, "output": buffers.output > 0}
    return [name for name, given in there.items() if given]


def _imports(module: Module) -> list[str]:
    return [one.name for one in module.imports if one.module == "gpu"]
