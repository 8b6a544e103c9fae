"""What the validator knows at a point of a function body: the types on the stack and the blocks that are open.

The algorithm is that of the specification's appendix: behind an unconditional branch the stack holds whatever is asked
for, until the block ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from lanewise.errors import InvalidError, UnsupportedError
from lanewise.wasm.instructions import locals_of
from lanewise.wasm.model import FuncType, Module
from lanewise.wasm.opcodes import OPS, Op

ANY = ""
"""The type of an operand in code that is never reached: it is whatever is asked for."""

MAX_OPERANDS = 100_000
"""Operands on the stack; a few bytes can push a thousand, so that without a limit they could fill all memory."""


class Frame:
    """A block that is open: the rule of what opened it, its type and how high the stack was."""

    __slots__ = ("height", "rule", "type", "unreachable")

    def __init__(self, rule: str, kind: FuncType, height: int) -> None:
        self.rule = rule
        self.type = kind
        self.height = height
        self.unreachable = False

    @property
    def label(self) -> tuple[str, ...]:
        """What a branch to this block takes along."""
        return self.type.params if self.rule == "loop" else self.type.results


class Body:
    """The state of validation within one body; `op` and `offset` are those of the instruction at hand."""

    def __init__(self, module: Module, index: int) -> None:
        self.module = module
        self.index = index
        self.function = module.bodies[index - module.imported_functions]
        self.stack: list[str] = []
        self.op: Op = OPS[0x01]
        self.offset = self.function.start
        declared, self.first = locals_of(module, self.function)
        self.locals = [*self.function.type.params, *declared]
        whole = Frame("function", FuncType((), self.function.type.results), 0)
        self.frames = [whole]
        # Those of the innermost frame, here because they are asked for at each instruction.
        self.height = 0
        self.unreachable = False

    @property
    def name(self) -> str:
        """The function's name, for messages."""
        return f"function {self.module.function_name(self.index)!r}"

    def invalid(self, what: str) -> InvalidError:
        """Make the error that says what is wrong with the instruction at hand."""
        return InvalidError(f"{what} ({self.op.name} in {self.name})", self.offset)

    def mismatch(self, expected: Sequence[str], found: Sequence[str]) -> InvalidError:
        """Make the error for operands that do not fit."""
        return self.invalid(f"type mismatch: expected {_list(expected)}, found {_list(found)}")

    def pop(self, expected: str) -> str:
        """Take one operand of a type; what was there is `ANY` only in code that is never reached."""
        stack = self.stack
        if len(stack) > self.height:
            found = stack.pop()
            if found in (expected, ANY):
                return found
            raise self.mismatch((expected,), (found,))
        if self.unreachable:
            return ANY
        raise self.mismatch((expected,), ())

    def pop_any(self) -> str:
        """Take one operand of whatever type."""
        if len(self.stack) > self.height:
            return self.stack.pop()
        if self.unreachable:
            return ANY
        raise self.invalid("type mismatch: expected an operand, the stack of this block is empty")

    def check_top(self, expected: Sequence[str]) -> int:
        """Check that operands of these types are on the stack, the last on top; gives how many really are."""
        stack, count = self.stack, len(expected)
        found = stack[max(self.height, len(stack) - count) :] if count else []
        missing = count - len(found)
        if missing and not self.unreachable:
            raise self.mismatch(expected, found)
        wanted = list(expected[missing:])
        if found != wanted and any(have not in (want, ANY) for want, have in zip(wanted, found, strict=True)):
            raise self.mismatch(expected, found)
        return len(found)

    def pop_all(self, expected: Sequence[str]) -> None:
        """Take operands of these types, the last from the top."""
        there = self.check_top(expected)
        del self.stack[len(self.stack) - there :]

    def push_all(self, types: Sequence[str]) -> None:
        """Put operands of these types on the stack."""
        self.stack += types
        if len(self.stack) > MAX_OPERANDS:
            what = f"more than {MAX_OPERANDS:,} operands on the stack of {self.name}"
            raise UnsupportedError(f"{what}: Lanewise does not run this", self.offset)

    def open(self, rule: str, kind: FuncType) -> None:
        """Open a block whose parameters were taken from the stack."""
        self.height, self.unreachable = len(self.stack), False
        self.frames.append(Frame(rule, kind, self.height))
        self.push_all(kind.params)

    def close(self) -> Frame:
        """Close the innermost block: what it leaves must be on the stack, and nothing else."""
        frame = self.frames[-1]
        self.pop_all(frame.type.results)
        if len(self.stack) != frame.height:
            left = self.stack[frame.height :] + list(frame.type.results)
            raise self.mismatch(frame.type.results, left)
        self.frames.pop()
        if self.frames:
            outer = self.frames[-1]
            self.height, self.unreachable = outer.height, outer.unreachable
        return frame

    def never_returns(self) -> None:
        """Note that what follows in this block is never reached."""
        del self.stack[self.height :]
        self.unreachable = self.frames[-1].unreachable = True

    def label(self, depth: int) -> tuple[str, ...]:
        """Give what a branch to a label takes along."""
        if depth >= len(self.frames):
            raise self.invalid(f"unknown label {depth}: {len(self.frames)} blocks are open, the function's included")
        return self.frames[-1 - depth].label


def _list(types: Sequence[str]) -> str:
    """Write types for a message; a long list is shortened to its end, where the top of the stack is."""
    shown = [name or "any" for name in types[-8:]]
    return f"[{' '.join(['...', *shown] if len(types) > 8 else shown)}]"
