"""Functions of the device's kernel in the place of imports: how a module is given them, and how they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lanewise.errors import LinkError
from lanewise.kernel.lane_io import LaneIo
from lanewise.wasm import state, traps
from lanewise.wasm.describe import known_names
from lanewise.wasm.foreign import explain_import
from lanewise.wasm.model import Function, FuncType, Import, MemoryType, Module
from lanewise.wasm.opcodes.row import LLVM_TYPES

if TYPE_CHECKING:
    from lanewise.wasm.lowering import FunctionLowering

IO = state.INSTANCES
"""The cell with the address of what the kernel keeps of the lane: a module alone has no other use for it."""


@dataclass(frozen=True)
class Service:
    """A function of the kernel: the symbol that it is linked by, and its type as a guest sees it."""

    symbol: str
    type: FuncType


Services = Mapping[str, Mapping[str, Service]]
"""What there is, by module and name of the import."""


def provide(module: Module, services: Services) -> Module:
    """The module with functions of the kernel in the place of the functions that it imports.

    Indices stay as they are: imported functions come first, and so do these.
    """
    given = [_checked(one, services) for one in module.imports if one.kind == "function"]
    stubs = [Function(service.type, 0, 0, service.symbol) for service in given]
    memories = [one for one in module.imports if one.kind == "memory"]
    others = [one for one in module.imports if one.kind not in ("function", "memory")]
    for one in others + memories[1:]:
        raise LinkError(f"the program imports the {one.kind} {one.module}.{one.name}, and nothing gives it one")
    # A memory that is imported to be shared by threads stays so: it lies with the lane, not with a thread.
    shared = len(memories) if has_threads(module) else 0
    return replace(
        module,
        imports=memories if shared else [],
        imported_functions=0,
        imported_memories=shared,
        bodies=[*stubs, *module.bodies],
    )


def has_threads(module: Module) -> bool:
    """Whether a program can start threads: it imports what starts them and a memory for them to share."""
    starts = any((one.module, one.name) == ("wasi", "thread-spawn") for one in module.imports)
    memories = [one.type for one in module.imports if isinstance(one.type, MemoryType)]
    shares = any(memory.shared for memory in memories)
    if starts and not shares:
        raise LinkError("the program starts threads but imports no shared memory for them: link with --import-memory")
    return starts


def meets_others(module: Module) -> bool:
    """Whether lanes of a group wait for each other or share words, so that they must run at the same time."""
    return any(one.module == "gpu" and (one.name.startswith(_MEETING)) for one in module.imports)


_MEETING = ("threadgroup_barrier", "read_shared", "write_shared")


def _checked(wanted: Import, services: Services) -> Service:
    """What is given for an import."""
    named = f"{wanted.module}.{wanted.name}"
    hint = "" if wanted.module in services else explain_import(wanted.module, wanted.name, wanted.type)
    behind = f". {hint}" if hint else ""
    if wanted.module not in services:
        have = ", ".join(services)
        raise LinkError(f"the program imports {named}, and there is no such module here, only {have}{behind}")
    given = services[wanted.module].get(wanted.name)
    if given is None:
        names = known_names(wanted.name, services[wanted.module], f"{wanted.module} has")
        raise LinkError(f"the program imports {named}, which does not exist; {names}{behind}")
    if given.type != wanted.type:
        raise LinkError(f"the program imports {named} as {wanted.type}, it is {given.type}{behind}")
    return given


def lower_provided(fn: FunctionLowering) -> None:
    """Lower a function that calls the kernel, then ends the lane if the kernel says so."""
    from lanewise.wasm.lowering_memory import memory_bytes  # which registers its rules with the lowering

    kind = fn.function.type
    fn.touches = fn.writes = fn.traps = True
    # The kernel must never run out of stack: what it has begun would stay half done.
    here = fn.name("here")
    fn.slots.append(f"{here} = alloca i64")
    floor = fn.load_cell(state.FLOOR, "i64", constant=True)
    low = fn.assign(f"icmp ult i64 {fn.assign(f'ptrtoint ptr {here} to i64')}, {floor}")
    fn.trap_if(low, traps.STACK_EXHAUSTED)
    io = fn.load_cell(IO, "ptr", constant=True)
    nbytes = memory_bytes(fn, 0) if fn.module.memories else "0"
    for field, value, llvm in (("memory", "%mem", "ptr"), ("memory_bytes", nbytes, "i64")):
        fn.emit(f"store {llvm} {value}, ptr {_field(fn, io, field)}, align 8")
    arguments = ", ".join([f"ptr {io}", *(f"{LLVM_TYPES[p]} %p{at}" for at, p in enumerate(kind.params))])
    result = LLVM_TYPES[kind.results[0]] if kind.results else "void"
    call = f"call {result} @{fn.function.provided}({arguments}){fn.note()}"
    value = fn.assign(call) if kind.results else ""
    if not kind.results:
        fn.emit(call)
    failure = fn.assign(f"load i32, ptr {_field(fn, io, 'failure')}, align 4")
    fn.emit(f"br i1 {fn.assign(f'icmp ne i32 {failure}, 0')}, label %failed, label %on, !prof !0")
    fn.emit("failed:")
    number = fn.assign(f"add i32 {failure}, {traps.KERNEL}")
    fn.emit(f"call void @lw.trap(ptr %st, i32 {number}, i32 0){fn.note()}")
    fn.emit("unreachable")
    fn.emit("on:")
    fn.leave([value] if value else [])


def declaration(function: Function) -> str:
    """How the kernel's function is declared to LLVM."""
    result = LLVM_TYPES[function.type.results[0]] if function.type.results else "void"
    parameters = ", ".join(["ptr", *(LLVM_TYPES[param] for param in function.type.params)])
    return f"declare {result} @{function.provided}({parameters})"


def _field(fn: FunctionLowering, io: str, name: str) -> str:
    return fn.assign(f"getelementptr i8, ptr {io}, i64 {LaneIo.offsets[name]}")
