"""How device code meets its target: where thread numbers come from, how groups meet, how a thread starts and stops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from lanewise.lang import numbers
from lanewise.lang.ir import Value
from lanewise.lang.types import BOOL, PointerType, Scalar, Type, f32, u32, u64

if TYPE_CHECKING:
    from lanewise.lang.functions import Kernel
    from lanewise.lang.lowering import Facts, FunctionLowering


class Abi(ABC):
    """The target-dependent part of lowering. Every method that emits code gives back a register or constant."""

    on_gpu: bool
    hidden_parameters: tuple[str, ...]
    """Parameters that every device function has before its own; they carry what a thread knows about itself."""
    hidden_arguments: tuple[str, ...]
    constant_space = ""

    @abstractmethod
    def preamble(self) -> str:
        """Text at the top of every module: data layout, declarations, helpers."""

    @abstractmethod
    def entry(self, name: str, kernel: Kernel, body: str, facts: Facts) -> str:
        """The function that a launch starts."""

    @abstractmethod
    def thread_id(self, fn: FunctionLowering) -> str:
        """This thread's number in the launch."""

    @abstractmethod
    def thread_count(self, fn: FunctionLowering) -> str:
        """How many threads the launch has."""

    @abstractmethod
    def local_id(self, fn: FunctionLowering) -> str:
        """This thread's number in its group."""

    @abstractmethod
    def group_id(self, fn: FunctionLowering) -> str:
        """The number of this thread's group."""

    @abstractmethod
    def group_threads(self, fn: FunctionLowering) -> str:
        """How many threads this group has."""

    @abstractmethod
    def group_count(self, fn: FunctionLowering) -> str:
        """How many groups the launch has."""

    @abstractmethod
    def barrier(self, fn: FunctionLowering) -> None:
        """Wait for all threads of the group that have not returned."""

    @abstractmethod
    def trap(self, fn: FunctionLowering, site: int) -> None:
        """End this thread and record where; control does not come back."""

    @abstractmethod
    def shared(self, fn: FunctionLowering, kind: Type) -> str:
        """The address of new group-shared memory for a value of this type."""

    @abstractmethod
    def fence(self, fn: FunctionLowering, order: str, scope: str) -> None:
        """Order memory accesses; scope is group, device or system."""

    @abstractmethod
    def clock(self, fn: FunctionLowering) -> str:
        """A counter of processor cycles."""

    @abstractmethod
    def time_ns(self, fn: FunctionLowering) -> str:
        """Nanoseconds of a clock that never goes back."""

    @abstractmethod
    def pause(self, fn: FunctionLowering) -> None:
        """Let other threads go on while this one polls."""

    @abstractmethod
    def stack_is_low(self, fn: FunctionLowering) -> str:
        """Whether one more recursive call could overflow the stack."""

    def syncscope(self, scope: str) -> str:
        """How an atomic instruction names its scope."""
        return ""

    def generic_constant(self, name: str) -> str:
        """A pointer that any code can read a constant table through."""
        return name

    def cut_to_word(self, fn: FunctionLowering, ref: str, kind: Scalar) -> Value:
        """An f32 as an integer of 32 bits, without its fraction: saturated, and 0 for NaN."""
        return numbers.convert(fn.block, Value(f32, ref), kind)

    def ballot(self, fn: FunctionLowering, flag: str) -> Value:
        """GPU only: the mask of lanes whose flag is set."""
        raise NotImplementedError

    def shuffle(self, fn: FunctionLowering, bits: str, source: str) -> str:
        """GPU only: 32 bits of another lane's register."""
        raise NotImplementedError

    def exchange(self, fn: FunctionLowering, bits: str) -> Value:
        """CPU only: hand 64 bits to all lanes of the warp and get their WarpBox."""
        raise NotImplementedError


def parameter_offsets(kinds: list[Type]) -> tuple[list[int], int]:
    """Where each parameter stands in the block of arguments, and the size of the block: C layout, bool as a byte."""
    offsets, at = [], 0
    for kind in kinds:
        at = (at + kind.align - 1) // kind.align * kind.align
        offsets.append(at)
        at += kind.size
    return offsets, (at + 7) // 8 * 8


def load_arguments(kernel: Kernel, block: str) -> tuple[str, str]:
    """IR that loads a kernel's parameters from the block of arguments, and the list to call its body with."""
    kinds = list(kernel.parameters.values())
    offsets, _ = parameter_offsets(kinds)
    lines, arguments = [], []
    for index, (kind, offset) in enumerate(zip(kinds, offsets, strict=True)):
        lines.append(f"  %p{index} = getelementptr i8, ptr {block}, i64 {offset}")
        if kind is BOOL:
            lines.append(f"  %b{index} = load i8, ptr %p{index}")
            lines.append(f"  %a{index} = icmp ne i8 %b{index}, 0")
        else:
            lines.append(f"  %a{index} = load {kind.llvm}, ptr %p{index}")
        arguments.append(f"{kind.llvm} %a{index}")
    return "\n".join(lines), ", ".join(arguments)


def as_u32(ref: str) -> Value:
    """A thread number or count as a value of device code."""
    return Value(u32, ref)


def as_u64(ref: str) -> Value:
    """A time or cycle count as a value of device code."""
    return Value(u64, ref)


def as_pointer(kind: Type, ref: str) -> Value:
    """An address as a value of device code."""
    return Value(PointerType(kind), ref)
