"""Whole programs as lane programs: an element is a run of the program on a fresh instance, over the kernel."""

from __future__ import annotations

from lanewise.devices.cpu_scheduler import HOST_STACK
from lanewise.errors import ArgumentError
from lanewise.kernel.lane_io import LaneIo, Team
from lanewise.lang.lane import Worker
from lanewise.wasm import lowering_calls, state
from lanewise.wasm.build import Build
from lanewise.wasm.entries import THREAD_TYPE, entry_of, thread_entry_of
from lanewise.wasm.lane_ir import word
from lanewise.wasm.lane_words import LANES_IO, RUN_IO, TEAMS
from lanewise.wasm.lanes import LaneProgram
from lanewise.wasm.lowering import FunctionLowering
from lanewise.wasm.lowering_calls import Callee
from lanewise.wasm.model import PAGE, Module
from lanewise.wasm.process_entries import KERNEL_STACK, cpu_fibers, gpu_teams
from lanewise.wasm.provided import IO


class ProcessProgram(LaneProgram):
    """The code of a program for many lanes. Its module has been given the kernel's functions, see `provide`."""

    def __init__(self, module: Module, build: Build) -> None:
        self._entry_type = module.functions[entry_of(module)]
        if build.layout == "words":  # which the kernel does not know
            raise ArgumentError("the memory of a program is flat or interleaved, not in words")
        super().__init__(module, entry_of(module), build, ())

    @property
    def plain(self) -> bool:
        """Every lane is a process, even if it does nothing."""
        return False

    @property
    def changes_nothing(self) -> bool:
        return False

    def _pointers(self) -> list[str]:
        return []

    def _pointer_arguments(self) -> str:
        return ""

    def _load_pointers(self) -> str:
        return ""

    def _apply(self, fn: FunctionLowering, memory: str) -> None:
        for kind in self._entry_type.params:
            fn.push(kind, "0")
        self._call(fn, memory)
        if self._entry_type.results:
            io = fn.load_cell(IO, "ptr")
            code = fn.assign(f"getelementptr i8, ptr {io}, i64 {LaneIo.offsets['exit_code']}")
            fn.emit(f"store i32 {fn.pop()}, ptr {code}, align 4")

    def _begin(self, fn: FunctionLowering) -> None:
        fn.emit(f"call void @kernel_begin(ptr {fn.load_cell(IO, 'ptr')}, i64 %i)")

    def _end(self, fn: FunctionLowering) -> None:
        fn.emit(f"call void @kernel_end(ptr {fn.load_cell(IO, 'ptr')})")

    def _own(self, slot: str) -> str:
        text = f"""{word(LANES_IO, "ios", "ptr")}{word(RUN_IO, "run_io", "ptr")}
  %io_offset = mul i64 {slot}, {LaneIo.size}
  %io = getelementptr i8, ptr %ios, i64 %io_offset
  %slot32 = trunc i64 {slot} to i32
{_set_field("run", "ptr %run_io")}{_set_field("slot", "i32 %slot32")}{self._set(IO, "%io", "ptr")}"""
        if not self.build.gpu:
            text += f"""  %low_at = getelementptr i8, ptr %worker, i64 {Worker.offsets["stack_low"]}
  %stack_low = load i64, ptr %low_at
  %stack_floor = add i64 %stack_low, {HOST_STACK + KERNEL_STACK}
{self._set(state.FLOOR, "%stack_floor")}"""
        if not self.build.team:
            return text
        shift = self.build.team.bit_length() - 1
        return f"""{text}{word(TEAMS, "teams", "ptr")}
  %lane_slot = lshr i64 {slot}, {shift}
  %member = and i64 {slot}, {self.build.team - 1}
  %member32 = trunc i64 %member to i32
  %team_offset = mul i64 %lane_slot, {Team.size}
  %team = getelementptr i8, ptr %teams, i64 %team_offset
  %first_slot = shl i64 %lane_slot, {shift}
  %first_offset = mul i64 %first_slot, {LaneIo.size}
  %first_io = getelementptr i8, ptr %ios, i64 %first_offset
{_set_field("team", "ptr %team")}{_set_field("member", "i32 %member32")}{_set_field("process", "ptr %first_io")}"""

    def _trapped(self) -> str:
        return "  call void @kernel_end(ptr %io)\n"

    def _declared(self) -> str:
        # On a GPU the exits of lanes call the kernel, so that it is declared with them.
        end = "" if self.build.gpu else "declare void @kernel_end(ptr)\n"
        return f"""{end}declare void @kernel_begin(ptr, i64)
declare void @kernel_join(ptr, i64)
declare i32 @kernel_thread_wait(ptr)
declare i32 @kernel_thread_argument(ptr)
declare void @kernel_thread_done(ptr)
"""

    # --- threads -----------------------------------------------------------------------------------------------------

    def _slot_element(self) -> str:
        return super()._slot_element() + (self._member() if self.build.team else "")

    def _make_memory(self, fn: FunctionLowering, number: int, base: str) -> None:
        if not self.build.team:
            super()._make_memory(fn, number, base)
            return
        record = self._team_record(fn)
        least = self.module.memories[number].limits.minimum * PAGE
        used = fn.load_cell(state.MEMORY_BYTES, base=record)
        fn.emit(f"call void @lw.memory_reset(ptr {base}, i64 {used}, i64 {least})")
        fn.store_cell(state.MEMORY_BASE, "ptr", base, record)
        fn.store_cell(state.MEMORY_BYTES, "i64", str(least), record)
        fn.store_cell(state.MEMORY_MAXIMUM, "i64", str(self.memory_reserve(number)), record)
        self._share_memory(fn, number)

    def _share_memory(self, fn: FunctionLowering, number: int) -> None:
        """Point at the memory of the lane, which all its threads have."""
        record = self._team_record(fn)
        fn.store_cell(self.context.layout.memories[number], "ptr", record)
        fn.store_cell(state.MEMORY, "ptr", fn.load_cell(state.MEMORY_BASE, "ptr", record))

    def _team_record(self, fn: FunctionLowering) -> str:
        io = fn.load_cell(IO, "ptr")
        at = fn.assign(f"getelementptr i8, ptr {io}, i64 {LaneIo.offsets['team']}")
        team = fn.assign(f"load ptr, ptr {at}, align 8")
        return fn.assign(f"getelementptr i8, ptr {team}, i64 {Team.offsets['memory']}")

    def _member(self) -> str:
        """What a thread does that is not the first of its lane: wait to be spawned, run, and be parked again."""
        fn = self.program.synthetic()
        io = fn.load_cell(IO, "ptr")
        fn.emit(f"call void @kernel_join(ptr {io}, i64 %i)")
        fn.emit("br label %parked")
        fn.emit("parked:")
        number = fn.assign(f"call i32 @kernel_thread_wait(ptr {io})")
        fn.emit(f"br i1 {fn.assign(f'icmp eq i32 {number}, 0')}, label %over, label %spawned")
        fn.emit("spawned:")
        self._make_rest(fn, lambda at: self._share_memory(fn, at))
        fn.push("i32", number)
        fn.push("i32", fn.assign(f"call i32 @kernel_thread_argument(ptr {io})"))
        entry = thread_entry_of(self.module)
        callee = Callee(self.context.symbol(entry), "%st", fn.load_cell(state.MEMORY, "ptr"))
        lowering_calls.call(fn, THREAD_TYPE, callee, entry in self.context.throwing)
        fn.emit(f"call void @kernel_thread_done(ptr {io})")
        fn.emit("br label %parked")
        fn.emit("over:")
        fn.emit("ret void")
        lowering_calls.end_by_exception(fn)
        body = "\n".join([*fn.slots, *fn.lines, *fn.cold])
        return f"define internal void @g_member(ptr %st, ptr %arena, i64 %i) #0 {{\n{body}\n}}\n"

    # --- lanes that wait for each other ------------------------------------------------------------------------------

    def _cpu(self) -> str:
        if not self.build.fibers:
            return super()._cpu()
        arenas = len(self.module.memories) + len(self.module.tables)
        return cpu_fibers(self.build, self._cells, arenas, self._prepare() + self._own("%slot"))

    def _slot_gpu(self) -> str:
        if not self.build.team:
            return super()._slot_gpu()
        begin = self._prepare() + self._own("%k") + self._set_report()
        return self._kernel(gpu_teams(self.build, self._cells, self.arena_bytes, begin))

    def _set_report(self) -> str:
        return (
            self._set(state.TRAP_STATE, "%report", "ptr")
            + self._set(state.FUEL_LEFT, "%fuel")
            + self._set(state.FUEL, "0", "i32")
            + self._set(state.FLOOR, "%floor")
            + self._set(state.UNIT, "null", "ptr")
        )


def _set_field(name: str, value: str) -> str:
    return f"""  %io_{name} = getelementptr i8, ptr %io, i64 {LaneIo.offsets[name]}
  store {value}, ptr %io_{name}, align 4
"""
