"""Calls, tail calls and exceptions.

A function reference is a number: the instance's in the upper half, its place in the function table in the lower. Calls
come back in one way only; in programs with exceptions (or, on a GPU, with tail calls) the caller then looks whether it
was for something else than a result.
"""

from __future__ import annotations

import hashlib

from lanewise.errors import CompileError
from lanewise.wasm import state, traps
from lanewise.wasm.emitter import Value, result_type
from lanewise.wasm.lowering import FunctionLowering, rule
from lanewise.wasm.lowering_tables import table_entry
from lanewise.wasm.marking import hand_on
from lanewise.wasm.model import FuncType
from lanewise.wasm.opcodes.row import LLVM_TYPES, Op


def type_identity(kind: FuncType) -> int:
    """A number that equal types of different modules share and others do not."""
    identity = int.from_bytes(hashlib.sha256(str(kind).encode()).digest()[:8], "little", signed=True)
    if _identities.setdefault(identity, kind) != kind:
        raise CompileError(f"the function types {kind} and {_identities[identity]} cannot be told apart; change one")
    return identity


_identities: dict[int, FuncType] = {}
"""Every type that was named so far: somebody may have searched for two with one number."""


class Callee:
    """What a call goes to: code, the state and memory of the instance it belongs to, and its tail wrapper."""

    def __init__(self, code: str, state_: str = "%st", memory: str = "%mem", tail: str = "null") -> None:
        self.code = code
        self.state = state_
        self.memory = memory
        self.tail = tail


def _defined(fn: FunctionLowering, index: int) -> Callee:
    return Callee(fn.context.symbol(index), tail=fn.context.tail_symbol(index))


def _function_entry(fn: FunctionLowering, reference: str) -> str:
    """The address of a reference's entry in the function table."""
    low = fn.assign(f"and i64 {reference}, 4294967295")
    table = fn.context.functions_symbol
    if fn.build.linked:
        table = fn.load_cell(state.CODE, "ptr", fn.shared())
    return fn.assign(f"getelementptr [{state.CODE_ENTRY} x i8], ptr {table}, i64 {low}")


def _referred(fn: FunctionLowering, reference: str, entry: str) -> Callee:
    """The callee that a reference that is not null stands for."""
    fn.calls_unknown = True

    def field(offset: int) -> str:
        at = fn.assign(f"getelementptr i8, ptr {entry}, i64 {offset}")
        return fn.assign(f"load ptr, ptr {at}, align 8, !invariant.load !1")

    code = field(state.ENTRY_CODE)
    tail = field(state.ENTRY_TAIL) if fn.build.gpu and fn.build.tails else "null"
    if not fn.build.linked:
        return Callee(code, tail=tail)
    number = fn.assign(f"lshr i64 {reference}, 32")
    instances = fn.load_cell(state.INSTANCES, "ptr", fn.shared())
    at = fn.assign(f"getelementptr ptr, ptr {instances}, i64 {number}")
    owner = fn.assign(f"load ptr, ptr {at}, align 8, !tbaa !2")
    return Callee(code, owner, fn.load_cell(state.MEMORY, "ptr", owner, constant=True), tail)


def _imported(fn: FunctionLowering, index: int) -> Callee:
    reference = fn.load_cell(fn.layout.imported_functions + index, constant=True)
    return _referred(fn, reference, _function_entry(fn, reference))


def _checked(fn: FunctionLowering, kind: FuncType, table: int) -> Callee:
    """The callee of an indirect call: the entry must be there, not null, and of the right type."""
    reference = table_entry(fn, table, fn.pop(), traps.UNDEFINED_ELEMENT)
    fn.trap_if(fn.assign(f"icmp eq i64 {reference}, 0"), traps.UNINITIALIZED_ELEMENT)
    entry = _function_entry(fn, reference)
    found = fn.assign(f"load i64, ptr {entry}, align 8, !invariant.load !1")
    fn.trap_if(fn.assign(f"icmp ne i64 {found}, {type_identity(kind)}"), traps.WRONG_SIGNATURE)
    return _referred(fn, reference, entry)


def _target(fn: FunctionLowering, index: int) -> Callee:
    if index < fn.module.imported_functions:
        return _imported(fn, index)
    fn.calls.add(index)
    return _defined(fn, index)


def _arguments(callee: Callee, values: list[Value]) -> str:
    return ", ".join(
        [f"ptr {callee.state}", f"ptr {callee.memory}", *(f"{LLVM_TYPES[kind]} {value}" for kind, value in values)]
    )


def call(fn: FunctionLowering, kind: FuncType, callee: Callee, throws: bool) -> None:
    """Call a function with the arguments on the stack, and push its results; `throws` if it may throw instead."""
    first = real_call(fn, kind, callee, fn.pop_many(len(kind.params)))
    owner = callee.state
    if fn.build.gpu and fn.build.tails:
        first, owner = _bounce(fn, kind, first, owner)
    if throws:
        _look_for_exception(fn)
    push_results(fn, kind, first, owner)


def real_call(fn: FunctionLowering, kind: FuncType, callee: Callee, values: list[Value]) -> str:
    """Write the call itself; gives its first result, if it has any."""
    fn.hand_on_steps()
    convention = fn.context.convention
    text = f"call {convention}{result_type(kind)} {callee.code}({_arguments(callee, values)}){fn.note()}"
    if kind.results:
        return fn.assign(text)
    fn.emit(text)
    return ""


def push_results(fn: FunctionLowering, kind: FuncType, first: str, owner: str) -> None:
    """Push what a call has given: its first result, and those that are in cells of its instance."""
    number = state.RESULTS
    for at, result in enumerate(kind.results):
        if at == 0:
            fn.push(result, first)
        else:
            fn.push(result, fn.load_value(result, number, owner))
            number += state.cells_of(result)


def _bounce(fn: FunctionLowering, kind: FuncType, first: str, owner: str) -> tuple[str, str]:
    """As long as what was called asks for a tail call, make it: the stack of the one that asked is gone by then."""
    shared = fn.shared()
    slot = fn.slot(kind.results[0], "bounced") if kind.results else ""
    owner_slot = fn.name("owner")
    fn.slots.append(f"{owner_slot} = alloca ptr")
    if slot:
        fn.emit(f"store {result_type(kind)} {first}, ptr {slot}")
    fn.emit(f"store ptr {owner}, ptr {owner_slot}")
    look, bounce, done = fn.label("look"), fn.label("bounce"), fn.label("done")
    fn.emit(f"br label %{look}")
    fn.emit(f"{look}:")
    tail = fn.load_cell(state.TAIL, "ptr", shared)
    fn.emit(f"br i1 {fn.assign(f'icmp eq ptr {tail}, null')}, label %{done}, label %{bounce}")
    fn.emit(f"{bounce}:")
    next_owner = fn.load_cell(state.TAIL_STATE, "ptr", shared)
    fn.store_cell(state.TAIL, "ptr", "null", shared)
    fn.emit(f"store ptr {next_owner}, ptr {owner_slot}")
    if slot:
        again = fn.assign(f"call {result_type(kind)} {tail}(ptr {next_owner})")
        fn.emit(f"store {result_type(kind)} {again}, ptr {slot}")
    else:
        fn.emit(f"call void {tail}(ptr {next_owner})")
    fn.emit(f"br label %{look}")
    fn.emit(f"{done}:")
    value = fn.assign(f"load {result_type(kind)}, ptr {slot}") if slot else ""
    return value, fn.assign(f"load ptr, ptr {owner_slot}")


def _tail_call(fn: FunctionLowering, kind: FuncType, callee: Callee) -> bool:
    values = fn.pop_many(len(kind.params))
    if not fn.build.gpu:
        hand_on(fn)
        fn.hand_on_steps()
        called = f"{result_type(kind)} {callee.code}({_arguments(callee, values)}){fn.note()}"
        # Marked so, with the convention that guest functions have, a call in this place is promised to use no stack.
        # (`musttail` promises it too, but LLVM 22 then loses arguments that are passed on the stack.)
        fn.tail_calls = True
        text = f"tail call {fn.context.convention}{called}"
        if kind.results:
            fn.emit(f"ret {result_type(kind)} {fn.assign(text)}")
        else:
            fn.emit(text)
            fn.emit("ret void")
        return True
    if callee.code == fn.context.symbol(fn.index):
        fn.set_locals([value for _, value in values])
        fn.emit("br label %start")
        return True
    number = state.RESULTS
    for param, value in values:
        fn.store_value(param, number, value, callee.state)
        number += state.cells_of(param)
    fn.store_cell(state.TAIL, "ptr", callee.tail, fn.shared())
    fn.store_cell(state.TAIL_STATE, "ptr", callee.state, fn.shared())
    hand_on(fn)
    fn.hand_on_steps()
    fn.emit(f"ret {result_type(kind)} poison" if kind.results else "ret void")
    return True


@rule("call")
def _call_rule(fn: FunctionLowering, op: Op, index: int) -> None:
    call_index(fn, index)


def call_index(fn: FunctionLowering, index: int) -> None:
    """Call a function of this module, or one that it imports."""
    if not fn.call_within(index):
        call(fn, fn.module.functions[index], _target(fn, index), index in fn.context.throwing)


@rule("call_indirect")
def _call_indirect(fn: FunctionLowering, op: Op, type_index: int, table: int) -> None:
    kind = fn.module.types[type_index]
    call(fn, kind, _checked(fn, kind, table), fn.context.type_throws(kind))


@rule("return_call")
def _return_call(fn: FunctionLowering, op: Op, index: int) -> bool:
    return _tail_call(fn, fn.module.functions[index], _target(fn, index))


@rule("return_call_indirect")
def _return_call_indirect(fn: FunctionLowering, op: Op, type_index: int, table: int) -> bool:
    kind = fn.module.types[type_index]
    return _tail_call(fn, kind, _checked(fn, kind, table))


@rule("ref.func")
def _ref_func(fn: FunctionLowering, op: Op, index: int) -> None:
    fn.push("funcref", reference_to(fn, index))


def reference_to(fn: FunctionLowering, index: int) -> str:
    """The reference that stands for a function of this module."""
    if index < fn.module.imported_functions:
        return fn.load_cell(fn.layout.imported_functions + index, constant=True)
    base = fn.load_cell(state.BASE, constant=True)
    return fn.assign(f"add i64 {base}, {index - fn.module.imported_functions}")


# --- exceptions ------------------------------------------------------------------------------------------------------
#
# An exception is a number: the tag in bits 32 to 62, below it what it carries if that fits 32 bits, else, with bit 63
# set, where its record lies. Bit 31 of such a one says that somebody holds a reference to it, so that its record stays.


def _handler(fn: FunctionLowering, above: int = 0) -> str:
    """Where an exception goes from here; `above` skips that many of the innermost blocks."""
    frames = fn.frames[: len(fn.frames) - above]
    for frame in reversed(frames):
        if frame.landing:
            return frame.landing
    fn.unwinds = True
    return "unwind"


def _look_for_exception(fn: FunctionLowering) -> None:
    pending = fn.load_cell(state.PENDING, "i64", fn.shared())
    on = fn.label("on")
    fn.emit(f"br i1 {fn.assign(f'icmp eq i64 {pending}, 0')}, label %{on}, label %{_handler(fn)}, !prof !4")
    fn.emit(f"{on}:")


def _tag(fn: FunctionLowering, index: int) -> str:
    """The number of a tag in the store, as i64."""
    return fn.load_cell(fn.layout.tags + index, constant=True)


def _is_small(kind: FuncType) -> bool:
    return len(kind.params) == 0 or kind.params in (("i32",), ("f32",))


@rule("throw")
def _throw(fn: FunctionLowering, op: Op, index: int) -> bool:
    kind = fn.module.tags[index].type
    values = fn.pop_many(len(kind.params))
    head = fn.assign(f"shl i64 {_tag(fn, index)}, 32")
    if _is_small(kind):
        carried = "0"
        for param, value in values:
            bits = value if param == "i32" else fn.assign(f"bitcast float {value} to i32")
            carried = fn.assign(f"zext i32 {bits} to i64")
        exception = fn.assign(f"or i64 {head}, {carried}")
    else:
        exception = _record_exception(fn, kind, values, head)
    fn.store_cell(state.THROWN, "i64", str(fn.place), fn.shared())  # which throwing it on, after a cleanup, leaves
    _raise(fn, exception)
    return True


def _record_exception(fn: FunctionLowering, kind: FuncType, values: list[Value], head: str) -> str:
    shared = fn.shared()
    used = fn.load_cell(state.EXCEPTIONS_USED, "i64", shared)
    size = 1 + sum(state.cells_of(param) for param in kind.params)
    behind = fn.assign(f"add i64 {used}, {size}")
    fn.trap_if(fn.assign(f"icmp ugt i64 {behind}, {state.EXCEPTION_CELLS}"), traps.TOO_MANY_EXCEPTIONS)
    fn.store_cell(state.EXCEPTIONS_USED, "i64", behind, shared)
    record = _exception_record(fn, used)
    fn.store_cell(0, "i64", str(size), record)
    number = 1
    for param, value in values:
        fn.store_value(param, number, value, record)
        number += state.cells_of(param)
    flagged = fn.assign(f"or i64 {head}, {-(1 << 63)}")
    return fn.assign(f"or i64 {flagged}, {used}")


def _exception_record(fn: FunctionLowering, first: str) -> str:
    base = fn.load_cell(state.EXCEPTIONS, "ptr", fn.shared(), constant=True)
    return fn.assign(f"getelementptr i8, ptr {base}, i64 {fn.assign(f'mul i64 {first}, {fn.stride}')}")


def _raise(fn: FunctionLowering, exception: str) -> None:
    fn.store_cell(state.PENDING, "i64", exception, fn.shared())
    fn.emit(f"br label %{_handler(fn)}")


def end_by_exception(fn: FunctionLowering) -> None:
    """Where an exception leaves the last function of a lane: it ends by a trap, at the place where it was thrown."""
    if not fn.unwinds:
        return
    at = fn.stride * state.THROWN
    fn.cold += (
        "unwind:",
        f"%thrown.at = getelementptr i8, ptr %st, i64 {at}",
        "%thrown.from = load i64, ptr %thrown.at, align 8",
        "%thrown.place = trunc i64 %thrown.from to i32",
        f"call void @lw.trap(ptr %st, i32 {traps.UNCAUGHT}, i32 %thrown.place)",
        "unreachable",
    )


@rule("throw_ref")
def _throw_ref(fn: FunctionLowering, op: Op) -> bool:
    exception = fn.pop()
    fn.trap_if(fn.assign(f"icmp eq i64 {exception}, 0"), traps.NULL_EXCEPTION)
    _raise(fn, exception)
    return True


@rule("try_table")
def _try_table(fn: FunctionLowering, op: Op, block: FuncType, catches: tuple[tuple[str, int | None, int], ...]) -> None:
    landing, body = fn.label("landing"), fn.label("try")
    if catches:
        fn.emit(f"br label %{body}")
        fn.emit(f"{landing}:")
        _dispatch(fn, catches)
        fn.emit(f"{body}:")
    frame = fn.open_block("block", block)
    frame.landing = landing if catches else ""


def _dispatch(fn: FunctionLowering, catches: tuple[tuple[str, int | None, int], ...]) -> None:
    """Find the clause for the exception on its way; labels count from outside of the try_table."""
    shared = fn.shared()
    exception = fn.load_cell(state.PENDING, "i64", shared)
    upper = fn.assign(f"lshr i64 {exception}, 32")
    thrown = fn.assign(f"and i64 {upper}, 2147483647")
    for clause, index, depth in catches:
        no = ""
        height = len(fn.stack)
        if index is not None:
            yes, no = fn.label("caught"), fn.label("next")
            same = fn.assign(f"icmp eq i64 {thrown}, {_tag(fn, index)}")
            fn.emit(f"br i1 {same}, label %{yes}, label %{no}")
            fn.emit(f"{yes}:")
            kind = fn.module.tags[index].type
            _unpack(fn, kind, exception)
        fn.store_cell(state.PENDING, "i64", "0", shared)
        if clause.endswith("_ref"):
            recorded = fn.assign(f"lshr i64 {exception}, 63")
            held = fn.assign(f"shl i64 {recorded}, 31")
            fn.push("exnref", fn.assign(f"or i64 {exception}, {held}"))
        else:
            _free(fn, exception)
        fn.emit(f"br label %{fn.branch(depth)}")
        del fn.stack[height:]
        if index is None:
            return
        fn.emit(f"{no}:")
    fn.emit(f"br label %{_handler(fn)}")


def _unpack(fn: FunctionLowering, kind: FuncType, exception: str) -> None:
    """Push what an exception carries."""
    if _is_small(kind):
        if kind.params:
            bits = fn.assign(f"trunc i64 {exception} to i32")
            fn.push(kind.params[0], bits if kind.params[0] == "i32" else fn.assign(f"bitcast i32 {bits} to float"))
        return
    first = fn.assign(f"and i64 {exception}, 2147483647")
    record = _exception_record(fn, first)
    number = 1
    for param in kind.params:
        fn.push(param, fn.load_value(param, number, record))
        number += state.cells_of(param)


def _free(fn: FunctionLowering, exception: str) -> None:
    """Give the record of a caught exception back, if it has one, nobody holds it, and it was the last."""
    recorded, free, on = fn.label("recorded"), fn.label("free"), fn.label("on")
    fn.emit(f"br i1 {fn.assign(f'icmp slt i64 {exception}, 0')}, label %{recorded}, label %{on}")
    fn.emit(f"{recorded}:")
    low = fn.assign(f"and i64 {exception}, 4294967295")
    fn.emit(f"br i1 {fn.assign(f'icmp ult i64 {low}, {state.EXCEPTION_CELLS}')}, label %{free}, label %{on}")
    fn.emit(f"{free}:")
    shared = fn.shared()
    used = fn.load_cell(state.EXCEPTIONS_USED, "i64", shared)
    size = fn.load_cell(0, "i64", _exception_record(fn, low))
    last = fn.assign(f"icmp eq i64 {used}, {fn.assign(f'add i64 {low}, {size}')}")
    fn.store_cell(state.EXCEPTIONS_USED, "i64", fn.assign(f"select i1 {last}, i64 {low}, i64 {used}"), shared)
    fn.emit(f"br label %{on}")
    fn.emit(f"{on}:")
