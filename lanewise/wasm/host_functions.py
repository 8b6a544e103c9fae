"""Functions of the host that guests call: a piece of code per type that hands arguments over and takes results back."""

from __future__ import annotations

from lanewise.devices.cpu_scheduler import STACK_TOO_LOW
from lanewise.wasm import state, traps
from lanewise.wasm.build import Build
from lanewise.wasm.emitter import result_type
from lanewise.wasm.model import FuncType
from lanewise.wasm.opcodes.row import LLVM_TYPES
from lanewise.wasm.prelude import prelude

HOST_SYMBOL = "lw_host_function"

CALLBACK, NUMBER = state.DATA, state.ELEMENTS
"""Cells of a host function's state: the address to call back, and which function is meant."""


def host_program(kind: FuncType, build: Build) -> str:
    """IR of the function that stands for host functions of a type; which one is in its state."""
    size = max(sum(map(state.cells_of, kind.params)), sum(map(state.cells_of, kind.results)), 1)
    parameters = ", ".join(["ptr %st", "ptr %mem", *(f"{LLVM_TYPES[p]} %p{at}" for at, p in enumerate(kind.params))])
    lines = [f"%values = alloca [{size} x i64], align 16"]
    offset = 0
    for at, param in enumerate(kind.params):
        lines.append(f"%to{at} = getelementptr i8, ptr %values, i64 {offset}")
        lines.append(f"store {LLVM_TYPES[param]} %p{at}, ptr %to{at}, align 8")
        offset += 8 * state.cells_of(param)
    for cell, name in ((CALLBACK, "callback"), (NUMBER, "number")):
        lines.append(f"%{name}_at = getelementptr i8, ptr %st, i64 {cell * build.stride}")
        lines.append(f"%{name} = load i64, ptr %{name}_at, align 8")
    lines.append("%failed = call i32 @lw_guest_host(i64 %callback, i64 %number, ptr %values)")
    lines.append("%bad = icmp ne i32 %failed, 0")
    lines.append("br i1 %bad, label %end, label %fine")
    lines.append("end:")
    lines.append(f"%low = icmp eq i32 %failed, {STACK_TOO_LOW}")
    lines.append(f"%why = select i1 %low, i32 {traps.STACK_EXHAUSTED}, i32 {traps.HOST_ERROR}")
    lines.append("call void @lw.trap(ptr %st, i32 %why, i32 0)")
    lines.append("unreachable")
    lines.append("fine:")
    offset, cell = 0, state.RESULTS
    for at, result in enumerate(kind.results):
        lines.append(f"%from{at} = getelementptr i8, ptr %values, i64 {offset}")
        lines.append(f"%r{at} = load {LLVM_TYPES[result]}, ptr %from{at}, align 8")
        offset += 8 * state.cells_of(result)
        if at:
            for half in range(state.cells_of(result)):
                lines.append(f"%h{at}.{half} = getelementptr i8, ptr %from{at}, i64 {8 * half}")
                lines.append(f"%w{at}.{half} = load i64, ptr %h{at}.{half}, align 8")
                lines.append(f"%c{at}.{half} = getelementptr i8, ptr %st, i64 {cell * build.stride}")
                lines.append(f"store i64 %w{at}.{half}, ptr %c{at}.{half}, align 8")
                cell += 1
    lines.append(f"ret {result_type(kind)} %r0" if kind.results else "ret void")
    body = "\n".join(lines)
    return (
        f"declare i32 @lw_guest_host(i64, i64, ptr)\n"
        f"define tailcc {result_type(kind)} @{HOST_SYMBOL}({parameters}) #0 {{\n{body}\n}}\n{prelude(build)}"
    )
