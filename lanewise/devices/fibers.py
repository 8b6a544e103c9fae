"""Switching stacks on a CPU: the few dozen machine instructions under groups of fibers, traps and cancelled launches.

Each routine is a naked LLVM function, so it assembles wherever LLVM runs; x86-64 and AArch64 share one convention:

- `lw_switch(save, load)` stores the callee-saved registers and the stack pointer, and goes on on another stack.
- `lw_enter(save, function, a, b, c)` calls a function, remembering in `save` where to come back to; returns 0.
- `lw_leave(sp, code)` abandons whatever runs inside `lw_enter`, which returns code instead. Either way `save` is 0
  again before the frame it pointed to is gone, so a signal handler that finds it set may leave at any instant.
- `lw_fiber` is where a new stack starts: it calls function(lane, args), then done(lane), which never comes back.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass

from lanewise.errors import DeviceError


@dataclass(frozen=True)
class FrameLayout:
    """The stack of a fiber that has not started: which word `lw_switch` loads into which role, counted from its sp."""

    words: int
    lane: int
    function: int
    args: int
    done: int
    start: int


_X86_SAVED = ("rbp", "rbx", "r12", "r13", "r14", "r15")
_X86_PUSH = [f"pushq %{name}" for name in _X86_SAVED]
_X86_POP = [f"popq %{name}" for name in reversed(_X86_SAVED)]

_X86_OUT = ["popq %rdi", "movq $$0, (%rdi)", *_X86_POP, "retq"]

_X86 = {
    "lw_switch": [*_X86_PUSH, "movq %rsp, (%rdi)", "movq %rsi, %rsp", *_X86_POP, "retq"],
    "lw_enter": [
        *_X86_PUSH,
        "pushq %rdi",
        "movq %rsp, (%rdi)",
        "movq %rsi, %rax",
        "movq %rdx, %rdi",
        "movq %rcx, %rsi",
        "movq %r8, %rdx",
        "callq *%rax",
        "xorl %eax, %eax",
        *_X86_OUT,
    ],
    "lw_leave": ["movq %rdi, %rsp", "movl %esi, %eax", *_X86_OUT],
    "lw_fiber": ["movq %r12, %rdi", "movq %r14, %rsi", "callq *%r13", "movq %r12, %rdi", "callq *%r15", "ud2"],
}
_X86_FRAME = FrameLayout(words=7, done=0, args=1, function=2, lane=3, start=6)

_ARM_PAIRS = [
    *((f"x{n}", f"x{n + 1}", 16 * i) for i, n in enumerate(range(19, 29, 2))),
    ("x29", "x30", 80),
    *((f"d{n}", f"d{n + 1}", 96 + 16 * i) for i, n in enumerate(range(8, 16, 2))),
]
_ARM_SAVE = ["sub sp, sp, #160", *(f"stp {a}, {b}, [sp, #{at}]" for a, b, at in _ARM_PAIRS)]
_ARM_LOAD = [*(f"ldp {a}, {b}, [sp, #{at}]" for a, b, at in _ARM_PAIRS), "add sp, sp, #160"]

_ARM_OUT = [*_ARM_LOAD, "ldr x9, [sp]", "add sp, sp, #16", "str xzr, [x9]", "mov w0, w1", "ret"]

_ARM = {
    "lw_switch": [*_ARM_SAVE, "mov x9, sp", "str x9, [x0]", "mov sp, x1", *_ARM_LOAD, "ret"],
    "lw_enter": [
        "sub sp, sp, #16",
        "str x0, [sp]",
        *_ARM_SAVE,
        "mov x9, sp",
        "str x9, [x0]",
        "mov x9, x1",
        "mov x0, x2",
        "mov x1, x3",
        "mov x2, x4",
        "blr x9",
        "mov w1, #0",
        *_ARM_OUT,
    ],
    "lw_leave": ["mov sp, x0", *_ARM_OUT],
    "lw_fiber": ["mov x0, x19", "mov x1, x21", "blr x20", "mov x0, x19", "blr x22", "brk #1"],
}
_ARM_FRAME = FrameLayout(words=20, lane=0, function=1, args=2, done=3, start=11)

_MACHINES = {
    "x86_64": (_X86, _X86_FRAME),
    "amd64": (_X86, _X86_FRAME),
    "aarch64": (_ARM, _ARM_FRAME),
    "arm64": (_ARM, _ARM_FRAME),
}
_SIGNATURES = {
    "lw_switch": "void @lw_switch(ptr %save, i64 %load)",
    "lw_enter": "i32 @lw_enter(ptr %save, i64 %function, i64 %a, i64 %b, i64 %c)",
    "lw_leave": "void @lw_leave(i64 %sp, i32 %code)",
    "lw_fiber": "void @lw_fiber()",
}


NAMES = tuple(_SIGNATURES)


def _machine(name: str | None = None) -> tuple[dict[str, list[str]], FrameLayout]:
    name = name or platform.machine()
    found = _MACHINES.get(name.lower())
    if found is None:
        raise DeviceError(f"the CPU device runs on x86-64 and AArch64, not on {name}")
    return found


def frame_layout(machine: str | None = None) -> FrameLayout:
    """The layout of a new fiber's stack on this machine, or on a named one."""
    return _machine(machine)[1]


def routines(machine: str | None = None) -> dict[str, list[str]]:
    """The instructions of each routine, for this machine or a named one, as inline assembly writes them."""
    return _machine(machine)[0]


def fiber_ir() -> str:
    """The routines as LLVM IR text; LLVM assembles them only for the machine that it runs on."""
    definitions = []
    for name, lines in routines().items():
        text = "\\0A".join(lines)
        definitions.append(
            f"define dso_local {_SIGNATURES[name]} naked noinline nounwind {{\n"
            f'  call void asm sideeffect "{text}", ""()\n  unreachable\n}}\n'
        )
    return "\n".join(definitions)
