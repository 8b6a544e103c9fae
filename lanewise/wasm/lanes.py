"""Many lanes: one function of a module called once per element of arrays, each as if on a fresh instance.

A function that needs nothing of an instance is called in a plain loop (on a GPU: a thread an element). Others run on
slots: an instance's state and memory, made anew for each element. `LaneProgram` gives the IR; what the
host tells it is in `lane_words`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from lanewise.errors import ArgumentError
from lanewise.wasm import gpu_entries, lowering_calls, state
from lanewise.wasm.beginnings import may_fail_to_begin
from lanewise.wasm.build import Build
from lanewise.wasm.lane_ir import word
from lanewise.wasm.lane_setup import uses_atomics
from lanewise.wasm.lane_words import (
    ARRAYS,
    CHUNK,
    COUNT,
    DATA,
    ELEMENTS,
    ENTRY,
    FUEL,
    GROW_ENTRIES,
    LANE_GROUP,
    MEMORY,
    NEXT,
    SLOT,
    STATES,
    STATUS,
    STOP,
    LaneFacts,
)
from lanewise.wasm.lowering import FunctionLowering
from lanewise.wasm.lowering_calls import Callee
from lanewise.wasm.marking import clear_marked, end_element, reserved_bytes
from lanewise.wasm.model import PAGE, FuncType, Module
from lanewise.wasm.opcodes.row import LLVM_TYPES
from lanewise.wasm.prelude import prelude
from lanewise.wasm.program import (
    ModuleProgram,
    Part,
    finish_lowering,
    lower_function,
    marked,
    recursive_functions,
    runs_at_first,
)


class LaneProgram:
    """The code of a vectorised function. `scalars` says which arguments are one value for all elements."""

    def __init__(self, module: Module, index: int, build: Build, scalars: tuple[bool, ...]) -> None:
        if build.layout == "words" and uses_atomics(module):
            raise ArgumentError("atomic accesses need their numbers in one piece; the layout is flat or interleaved")
        self.module = module
        self.index = index
        self.type = module.functions[index]
        self.scalars = scalars
        self._set_build(build)
        if self.plain:  # its state is its own thread's: there is nothing to interleave, and nothing that throws
            del self.reachable
            self._set_build(replace(build, layout="flat", throws=False, marks=False, stats=False))

    def _set_build(self, build: Build) -> None:
        self.build = build
        self.program = ModuleProgram(self.module, build, "g_")
        self.context = self.program.context

    @cached_property
    def reachable(self) -> dict[int, FunctionLowering]:
        """The function and those that it calls by index, lowered."""
        found: dict[int, FunctionLowering] = {}
        waiting = [self.index]
        while waiting:
            index = waiting.pop()
            if index in found or index < self.module.imported_functions:
                continue
            found[index] = lower_function(self.context, index)
            waiting += found[index].calls
        return found

    @property
    def plain(self) -> bool:
        """Whether the function needs nothing of an instance, and an instance can always be made.

        Lanes of a GPU that count how far they are in step do so in the state of one.
        """
        if self.build.stats and self.build.gpu:
            return False
        needed = any(fn.touches or fn.calls_unknown for fn in self.reachable.values())
        return not (needed or may_fail_to_begin(self.module))

    @property
    def can_trap(self) -> bool:
        """Whether an element can end early."""
        return self.build.counts or bool(self._recursive) or any(fn.traps for fn in self.reachable.values())

    @property
    def can_stop(self) -> bool:
        """Whether an element can take long enough to be asked to stop."""
        return bool(self._recursive) or any(fn.loops for fn in self.reachable.values())

    @cached_property
    def _recursive(self) -> set[int]:
        return recursive_functions(self.reachable)

    @cached_property
    def arena_bytes(self) -> int:
        """Linear memory and tables of a slot, in bytes of the guest."""
        return sum(self.memory_reserve(at) for at in range(len(self.module.memories))) + 8 * sum(
            self.table_reserve(at) for at in range(len(self.module.tables))
        )

    def memory_reserve(self, number: int) -> int:
        """Bytes that a slot holds for a memory: it can grow so far."""
        return reserved_bytes(self.module.memories[number].limits, self.build)

    def table_reserve(self, number: int) -> int:
        """Entries that a slot holds for a table."""
        limits = self.module.tables[number].limits
        most = limits.maximum if limits.maximum is not None else limits.minimum + GROW_ENTRIES
        return max(limits.minimum, min(most, limits.minimum + GROW_ENTRIES))

    @property
    def _cells(self) -> int:
        """Cells of a slot: the state, then room for exceptions that carry more than a number."""
        return self.context.layout.count + (state.EXCEPTION_CELLS if self.module.tags else 0)

    def facts(self) -> LaneFacts:
        """What the host must know of the program."""
        return LaneFacts(
            plain=self.plain,
            can_trap=self.can_trap or not self.plain,
            can_stop=self.can_stop or not self.plain,
            cells=self._cells,
            arena_bytes=0 if self.plain else (self.arena_bytes + 15) // 16 * 16,
            memories=[] if self.plain else [self.memory_reserve(at) for at in range(len(self.module.memories))],
            tables=[] if self.plain else [self.table_reserve(at) for at in range(len(self.module.tables))],
        )

    def parts(self, count: int = 1) -> list[Part]:
        """The program in pieces; the last holds the entry."""
        if self.plain:
            return [Part("lanes", self.ir())]
        *others, last = self.program.parts(count)
        entry = self._slot_gpu() if self.build.gpu else self._cpu()
        parts = [*others, Part(last.name, "\n".join([self._declared(), last.ir, self._slot_element(), entry]))]
        return marked(parts) if self.build.places else parts

    def ir(self) -> str:
        """The whole program in one piece."""
        if self.plain:
            finish_lowering(self.reachable, self.build)
            texts = [fn.text().replace("define hidden", "define internal", 1) for fn in self.reachable.values()]
            texts += [note for fn in self.reachable.values() for note in fn.metadata]
            texts += self.program.tails(self.reachable)
            texts += [self._plain_element(), self._plain_gpu() if self.build.gpu else self._cpu()]
            return "\n".join([*texts, prelude(self.build)])
        (part,) = self.parts()
        return part.ir

    # --- one element -------------------------------------------------------------------------------------------------

    def _pointers(self) -> list[str]:
        """The parameters for arrays: results first, which overlap nothing."""
        results = [f"ptr noalias %r{at}" for at in range(len(self.type.results))]
        return results + [f"ptr %a{at}" for at in range(len(self.type.params))]

    def _pointer_arguments(self) -> str:
        return "".join(f", ptr %{name}" for name in self._array_names())

    def _load_pointers(self) -> str:
        return "".join(word(ARRAYS + at, name, "ptr") for at, name in enumerate(self._array_names()))

    def _array_names(self) -> list[str]:
        return [f"r{at}" for at in range(len(self.type.results))] + [f"a{at}" for at in range(len(self.type.params))]

    def _apply(self, fn: FunctionLowering, memory: str) -> None:
        """Load the arguments of element %i, call the function, store the results."""
        for at, (kind, scalar) in enumerate(zip(self.type.params, self.scalars, strict=True)):
            where = f"%a{at}"
            if not scalar:
                where = fn.assign(f"getelementptr {LLVM_TYPES[kind]}, ptr %a{at}, i64 %i")
            fn.push(kind, fn.assign(f"load {LLVM_TYPES[kind]}, ptr {where}"))
        self._call(fn, memory)
        if self.build.meter == "tally":
            fn.emit("call void @lw.finish(ptr %st)")
        for at, (kind, value) in enumerate(fn.stack):
            where = fn.assign(f"getelementptr {LLVM_TYPES[kind]}, ptr %r{at}, i64 %i")
            fn.emit(f"store {LLVM_TYPES[kind]} {value}, ptr {where}")

    def _call(self, fn: FunctionLowering, memory: str) -> None:
        callee = Callee(self.context.symbol(self.index), "%st", memory)
        lowering_calls.call(fn, self.type, callee, self.index in self.context.throwing)

    def _element(self, fn: FunctionLowering, extra: str) -> str:
        parameters = ", ".join([f"ptr %st{extra}, i64 %i", *self._pointers()])
        fn.emit("ret void")
        lowering_calls.end_by_exception(fn)
        body = "\n".join([*fn.slots, *fn.lines, *fn.cold])
        return f"define internal void @g_element({parameters}) alwaysinline #0 {{\n{body}\n}}\n"

    def _plain_element(self) -> str:
        fn = self.program.synthetic()
        self._apply(fn, "null")
        return self._element(fn, "")

    def _slot_element(self) -> str:
        """An element on a slot: the instance is made anew, then called; once is enough if nobody changes it."""
        fn, module = self.program.synthetic(), self.module
        ready = fn.label("ready")
        if self.changes_nothing:
            fresh = fn.label("fresh")
            made = fn.assign(f"icmp ne i64 {fn.load_cell(_MADE)}, 0")
            fn.emit(f"br i1 {made}, label %{ready}, label %{fresh}")
            fn.emit(f"{fresh}:")
        self._begin(fn)
        self._make_instance(fn)
        if self.changes_nothing:
            fn.store_cell(_MADE, "i64", "1", seen=True)
            fn.emit(f"br label %{ready}")
            fn.emit(f"{ready}:")
        self._repeat_globals(fn)
        self._apply(fn, fn.load_cell(state.MEMORY, "ptr") if module.memories else "null")
        end_element(fn)
        self._end(fn)
        return self._element(fn, ", ptr %arena")

    def _repeat_globals(self, fn: FunctionLowering) -> None:
        """Store what globals begin with once more, where no code of the guest has run yet: LLVM forgets it over the
        calls that fill the memory, and then knows neither where the guest's stack is nor what overlaps there. It takes
        longer where it knows."""
        if self.build.unrolled and not runs_at_first(self.module):
            self.program.set_globals(fn)

    # What a program over the kernel does besides: see `process.ProcessProgram`.
    def _begin(self, fn: FunctionLowering) -> None:
        """What comes before the instance of an element is made."""

    def _end(self, fn: FunctionLowering) -> None:
        """What comes behind the call."""

    def _own(self, slot: str) -> str:
        """IR that gives a slot's state what differs from slot to slot."""
        return ""

    def _declared(self) -> str:
        """Declarations of what these call."""
        return ""

    def _trapped(self) -> str:
        """CPU: IR that follows when an element has trapped."""
        return ""

    @property
    def changes_nothing(self) -> bool:
        """Whether elements leave the instance as it was. With counted fuel it is made anew: that costs fuel, too."""
        functions = self.reachable.values()
        return not self.build.counts and not any(fn.writes or fn.calls_unknown for fn in functions)

    def _make_instance(self, fn: FunctionLowering) -> None:
        sizes = [self.memory_reserve(number) for number in range(len(self.module.memories))]
        offsets = [sum(sizes[:number]) for number in range(len(sizes))]

        def make_memory(at: int) -> None:
            self._make_memory(fn, at, self._own_column(fn, self._arena(fn, at, offsets[at])))

        self._make_rest(fn, make_memory)

    def _make_memory(self, fn: FunctionLowering, number: int, base: str) -> None:
        first, least = self.context.layout.memories[number], self.module.memories[number].limits.minimum * PAGE
        if number == 0:
            fn.store_cell(state.MEMORY, "ptr", base)
        used = fn.load_cell(first + state.MEMORY_BYTES)
        if number == 0 and self.build.marked:
            clear_marked(fn, base, used)
        else:
            fn.emit(f"call void @lw.memory_reset(ptr {base}, i64 {used}, i64 {least})")
        fn.store_cell(first + state.MEMORY_BASE, "ptr", base)
        fn.store_cell(first + state.MEMORY_BYTES, "i64", str(least))
        fn.store_cell(first + state.MEMORY_MAXIMUM, "i64", str(self.memory_reserve(number)))

    def _make_rest(self, fn: FunctionLowering, make_memory: Callable[[int], None]) -> None:
        """Make an instance whose memories `make_memory` makes."""
        layout, module = self.context.layout, self.module
        for number in range(len(module.memories)):
            make_memory(number)
        offset = sum(self.memory_reserve(number) for number in range(len(module.memories)))
        for number, table in enumerate(module.tables):
            first = layout.tables[number]
            base = self._arena(fn, len(module.memories) + number, offset)
            fn.emit(f"call void @lw.table_fill(ptr {base}, i64 0, i64 0, i64 {table.limits.minimum})")
            fn.store_cell(first + state.TABLE_BASE, "ptr", base)
            fn.store_cell(first + state.TABLE_SIZE, "i64", str(table.limits.minimum))
            fn.store_cell(first + state.TABLE_MAXIMUM, "i64", str(self.table_reserve(number)))
            offset += 8 * self.table_reserve(number)
        for at in range(len(module.tags)):
            fn.store_cell(layout.tags + at, "i64", str(at + 1))
        fn.store_cell(state.BASE, "i64", "1")
        for cell in (state.PENDING, state.EXCEPTIONS_USED, state.TAIL):
            fn.store_cell(cell, "i64", "0")
        fn.store_cell(state.EXCEPTIONS, "ptr", fn.cell(layout.count))
        memory = fn.load_cell(state.MEMORY, "ptr") if module.memories else "null"
        throws = self.context.type_throws(FuncType((), ()))  # which is that of whatever it calls
        lowering_calls.call(fn, FuncType((), ()), Callee("@g_init", "%st", memory), throws)

    def _arena(self, fn: FunctionLowering, number: int, offset: int) -> str:
        """Where a memory or table of this slot begins: on a CPU each lies by itself, on a GPU one behind the other."""
        if not self.build.gpu:
            return fn.assign(f"load ptr, ptr {fn.assign(f'getelementptr ptr, ptr %arena, i64 {number}')}")
        return fn.assign(f"getelementptr i8, ptr %arena, i64 {offset * self.build.stride // 8}")

    def _own_column(self, fn: FunctionLowering, base: str) -> str:
        """Where a memory begins in its own lane's column: what is in words lies nearer to the first lane's.

        A tile begins at a multiple of a row of 8-byte cells, so the address says which column it is.
        """
        if self.build.cell == 8:
            return base
        column = fn.assign(f"and i64 {fn.assign(f'ptrtoint ptr {base} to i64')}, {self.build.stride - 1}")
        back = fn.assign(f"sub nsw i64 0, {fn.assign(f'lshr exact i64 {column}, 1')}")
        return fn.assign(f"getelementptr i8, ptr {base}, i64 {back}")

    def _prepare(self) -> str:
        """IR that gives a slot's state what does not change from element to element: where things are."""
        text = ""
        for number, cell in ((STOP, state.STOP), (DATA, state.DATA), (ELEMENTS, state.ELEMENTS)):
            text += word(number, f"w{cell}", "i64") + self._set(cell, f"%w{cell}")
        return text

    def _set(self, cell: int, value: str, llvm: str = "i64", base: str = "%st", kept: str = "") -> str:
        where = f"%set{cell}.{value.strip('%')}"
        return (
            f"  {where} = getelementptr i8, ptr {base}, i64 {cell * self.build.stride}\n"
            f"  store {kept}{llvm} {value}, ptr {where}, align 8\n"
        )

    def _set_fuel(self) -> str:
        """IR that gives an element its steps; who sums them up takes them where LLVM does not see it."""
        kept = "volatile " if self.build.meter == "tally" else ""
        return self._set(state.FUEL_LEFT, "%fuel", kept=kept) + self._set(state.FUEL, "0", "i32")

    # --- the GPU -----------------------------------------------------------------------------------------------------

    def _kernel(self, body: str) -> str:
        limits = f'"nvvm.maxntid"="{LANE_GROUP}"'
        limits += f' "nvvm.maxnreg"="{self.build.registers}"' if self.build.registers else ""
        return f"define ptx_kernel void @{ENTRY}(ptr %run, i32 %n, ptr %traps) {limits} {{\n{body}}}\n"

    def _plain_gpu(self) -> str:
        """A thread an element; its state, as far as there is one, is local."""
        report = ""
        if self.can_trap or self.can_stop:
            fields = self._set(state.TRAP_STATE, "%report", "ptr") + self._set(state.STOP, "%stop")
            fields += self._set(state.FLOOR, "%floor") + self._set(state.UNIT, "null", "ptr")
            fields += self._set_fuel()
            report = gpu_entries.REPORT + fields
        begin = self._load_pointers() + report + self._set(state.TAIL, "0")
        cells = state.RESULTS + self.context.layout.widest + 1
        return self._kernel(gpu_entries.plain(cells, begin, self._pointer_arguments()))

    def _slot_gpu(self) -> str:
        begin = self._load_pointers() + self._prepare() + self._own("%k")
        begin += self._set(state.FLOOR, "%floor") + self._set(state.UNIT, "%unit_at", "ptr")
        element = self._set(state.TRAP_STATE, "%report", "ptr")
        element += self._set_fuel()
        size = gpu_entries.SlotSize(self._cells, self.arena_bytes, self.build)
        return self._kernel(gpu_entries.slots(size, begin, element, self._pointer_arguments()))

    # --- the CPU -----------------------------------------------------------------------------------------------------

    def _cpu(self) -> str:
        """Workers take chunks of elements; a trap leaves the chunk, which goes on behind the element that trapped."""
        plain, cells = self.plain, self._cells
        guarded = self.can_trap or self.can_stop or not plain
        arena, stride = "", self.build.stride
        if plain:
            find = f"  %st = alloca [{state.RESULTS + self.context.layout.widest + 1} x i64], align 16\n"
            find += "".join(self._set(cell, "0") for cell in (state.PENDING, state.TRAP))
            find += word(STOP, "stop", "i64") + self._set(state.STOP, "%stop")
        else:
            arena = ", ptr %arena"
            find = f"""  %slot_at = getelementptr i64, ptr %run, i64 {SLOT}
  %slot = atomicrmw add ptr %slot_at, i64 1 monotonic
{word(STATES, "states", "ptr")}{word(MEMORY, "memories", "ptr")}  %state_offset = mul i64 %slot, {cells * stride}
  %st = getelementptr i8, ptr %states, i64 %state_offset
  %arena_first = mul i64 %slot, {len(self.module.memories) + len(self.module.tables)}
  %arena = getelementptr ptr, ptr %memories, i64 %arena_first
{self._prepare()}{self._own("%slot")}"""
        range_parameters = ", ".join([f"ptr %st{arena}, ptr %run, ptr %now_at, i64 %last", *self._pointers()])
        called = f"ptr %st{arena}, ptr %run, ptr %now_at, i64 %last{self._pointer_arguments()}"
        frame = "{ ptr, ptr, ptr, ptr, i64 }"
        fuel = self._set_fuel()
        counts = self.build.meter != "off"
        enter = f"""  %code = call i32 @lw_guest_enter(ptr %worker, ptr %st, ptr @g_enter, ptr %frame, i64 0, i64 0)
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %chunk, label %trapped
trapped:
  %failed = load i64, ptr %now_at
  %why = load i64, ptr %st
  store i64 0, ptr %st
{word(STATUS, "status", "ptr")}  %status_at = getelementptr i64, ptr %status, i64 %failed
  store i64 %why, ptr %status_at
{self._trapped()}  %behind = add i64 %failed, 1
  store i64 %behind, ptr %now_at
  %left = icmp ult i64 %behind, %last
  br i1 %left, label %again, label %chunk
"""
        if not guarded:
            enter = f"""  call void @g_range({called})
  br label %chunk
"""
        return f"""
declare i32 @lw_guest_enter(ptr, ptr, ptr, ptr, i64, i64)
define internal void @g_range({range_parameters}) #0 {{
  %first = load i64, ptr %now_at
{word(FUEL, "fuel", "i64") if counts else ""}  br label %head
head:
  %i = phi i64 [ %first, %0 ], [ %next, %body ]
  %more = icmp ult i64 %i, %last
  br i1 %more, label %body, label %done
body:
{"  store i64 %i, ptr %now_at" if guarded else ""}
{fuel if counts else ""}
  call void @g_element(ptr %st{arena}, i64 %i{self._pointer_arguments()})
  %next = add nuw i64 %i, 1
  br label %head
done:
  ret void
}}
define hidden void @g_enter(ptr %frame, i64 %x, i64 %y) #0 {{
  %f = load {frame}, ptr %frame
  %st = extractvalue {frame} %f, 0
  %arena = extractvalue {frame} %f, 1
  %run = extractvalue {frame} %f, 2
  %now_at = extractvalue {frame} %f, 3
  %last = extractvalue {frame} %f, 4
{self._load_pointers()}  call void @g_range({called})
  ret void
}}
define void @{ENTRY}(ptr %launch, ptr %worker, ptr %args) #0 {{
  %run = load ptr, ptr %args
  %now_at = alloca i64
  %frame = alloca {frame}
{find}{word(COUNT, "count", "i64")}{word(CHUNK, "size", "i64")}{self._load_pointers()}
  %next_at = getelementptr i64, ptr %run, i64 {NEXT}
  %f0 = insertvalue {frame} poison, ptr %st, 0
  %f1 = insertvalue {frame} %f0, ptr {"null" if plain else "%arena"}, 1
  %f2 = insertvalue {frame} %f1, ptr %run, 2
  %f3 = insertvalue {frame} %f2, ptr %now_at, 3
  br label %chunk
chunk:
  %start = atomicrmw add ptr %next_at, i64 %size monotonic
  %taken = icmp ult i64 %start, %count
  br i1 %taken, label %work, label %over
work:
  %end = add i64 %start, %size
  %last = call i64 @llvm.umin.i64(i64 %end, i64 %count)
  store i64 %start, ptr %now_at
  %f4 = insertvalue {frame} %f3, i64 %last, 4
  store {frame} %f4, ptr %frame
  br label %again
again:
{enter}over:
  ret void
}}
"""


_MADE = state.CODE
"""A cell that a module alone has no use for: whether the slot's instance has been made."""
