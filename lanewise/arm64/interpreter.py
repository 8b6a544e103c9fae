"""The interpreter: a loop that reads a word, finds its row in the table, and does what that means."""

from __future__ import annotations

from lanewise.arm64 import lane
from lanewise.arm64.bitmasks import logical_immediates
from lanewise.arm64.decoding import decide
from lanewise.arm64.encodings import TABLE
from lanewise.arm64.encodings.crypto import substitutes, substitutes_back
from lanewise.arm64.encodings.estimates import tables as estimate_tables
from lanewise.arm64.encodings.row import WIDTHS, Row
from lanewise.arm64.lane_machine import LaneMachine
from lanewise.arm64.machine import (
    BREAKPOINT,
    PC_OUTSIDE,
    RUNNING,
    UNALIGNED_PC,
    UNDEFINED,
    WATCHPOINT,
    Access,
    Fields,
    condition_table,
)
from lanewise.arm64.shared import definitions
from lanewise.arm64.values import Value, known

_ZERO, _NOWHERE = 32, 33
"""Where the registers are read and written that are number 31 and not the stack pointer."""
_PIECES = 8
_REGISTERS = "ptr %x, ptr %vectors, i32 %word, ptr %floating"
_WITH_MEMORY = (
    f"{_REGISTERS}, ptr %memory, i64 %start, i64 %size, ptr %detail, i64 %code, i64 %code_bytes, ptr %modified"
)
_WATCHED = f"{_WITH_MEMORY}, ptr %debug, ptr %lane, ptr %cycles, i64 %pc"
"""What a row's function is given."""


class Interpreter(LaneMachine):
    """Registers are in an array, by their numbers."""

    def __init__(self, gpu: bool, debugging: bool = False) -> None:
        super().__init__(gpu)
        self.debugging = debugging
        self.pc = Value(64, "%pc")
        self.jumped = False
        self.declared: list[str] = []
        self.functions: list[str] = []
        """Of rows that are long."""

    def enter(self) -> list[str]:
        return [
            f"%x = alloca [{_NOWHERE + 1} x i64], align 16",
            f"call void @llvm.memcpy.p0.p0.i64(ptr align 16 %x, ptr align 8 %lane, i64 {lane.PC * 8}, i1 false)",
            f"%zero.at = getelementptr i64, ptr %x, i32 {_ZERO}",
            "store i64 0, ptr %zero.at",
            "%vectors = alloca [32 x i128], align 16",
            f"%vectors.at = getelementptr i64, ptr %lane, i64 {lane.VECTORS}",
            "call void @llvm.memcpy.p0.p0.i64(ptr align 16 %vectors, ptr align 8 %vectors.at, i64 512, i1 false)",
        ]

    def leave_registers(self) -> None:
        self.emit(f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 %lane, ptr align 16 %x, i64 {lane.PC * 8}, i1 false)")
        self.emit("call void @llvm.memcpy.p0.p0.i64(ptr align 8 %vectors.at, ptr align 16 %vectors, i64 512, i1 false)")

    # --- registers ---------------------------------------------------------------------------------------------------

    def _register(self, number: Value, instead: int, sp: bool) -> str:
        index = self.resize(number, 32)
        if not sp:
            index = self.select(self.compare("eq", index, 31), known(32, instead), index)
        return self.pointer(f"getelementptr inbounds i64, ptr %x, i32 {index.text}")

    def read(self, number: Value, bits: int = 64, *, sp: bool = False) -> Value:
        whole = self.assign(64, f"load i64, ptr {self._register(number, _ZERO, sp)}")
        return self.resize(whole, bits)

    def write(self, number: Value, value: Value, *, sp: bool = False) -> None:
        self.emit(f"store {self.resize(value, 64).typed}, ptr {self._register(number, _NOWHERE, sp)}")

    def _vector(self, number: Value) -> str:
        return self.pointer(f"getelementptr inbounds i128, ptr %vectors, i32 {self.resize(number, 32).text}")

    def read_vector(self, number: Value, bits: int = 128) -> Value:
        return self.assign(bits, f"load i{bits}, ptr {self._vector(number)}, align 16")

    def write_vector(self, number: Value, value: Value) -> None:
        self.emit(f"store {self.resize(value, 128).typed}, ptr {self._vector(number)}, align 16")

    def immediate(self, n: Value, immr: Value, imms: Value) -> Value:
        index = self.either(self.either(self.left(n, 12), self.left(immr, 6)), imms)
        at = self.pointer(f"getelementptr i64, ptr @arm64.immediates, i32 {index.text}")
        return self.assign(64, f"load i64, ptr {at}")

    # --- ways on -----------------------------------------------------------------------------------------------------

    def jump(self, target: Value) -> None:
        self.emit(f"store {target.typed}, ptr %pc.at")
        self.jumped = True

    def stop_if(self, flag: Value, reason: int, detail: Value) -> None:
        if flag.known and not flag.number:
            return
        stop, on = self.label("stop"), self.label("on")
        self.emit(f"br {flag.typed}, label %{stop}, label %{on}, !prof !0")
        self.start(stop)
        self.emit(f"store i64 {reason}, ptr %reason")
        self.emit(f"store {detail.typed}, ptr %detail")
        self.emit("br label %stopped")
        self.start(on)

    # --- the whole ---------------------------------------------------------------------------------------------------

    def pieces(self) -> list[str]:
        """The function that runs one lane, and some pieces with what it calls: they are compiled side by side."""
        self.start("loop")
        cycles = self.assign(64, "load i64, ptr %cycles")
        over = self.compare("uge", cycles, Value(64, "%limit"))
        self.emit(f"br {over.typed}, label %out_of_cycles, label %fetch")
        self.start("fetch")
        self.emit("%pc = load i64, ptr %pc.at")
        self.stop_if(self.compare("ne", self.both(self.pc, 3), 0), UNALIGNED_PC, self.pc)
        self.stop_if(self.outside(self.pc, 4), PC_OUTSIDE, self.pc)
        self.emit(f"%word = load i32, ptr {self.place(self.pc)}, align 4")
        if self.debugging:
            self._look_for_breakpoints()
        labels: dict[int, str] = {}
        decide(
            self,
            "%word",
            TABLE,
            lambda row: labels.setdefault(id(row), self.label(row.name.replace(" ", "_"))),
            "undefined",
        )
        for row in TABLE:
            self.start(labels[id(row)])
            self._row(row)
        self.start("called")
        self.head.append("%why = alloca i32")
        why = self.assign(32, "load i32, ptr %why")
        self.emit(f"br {self.compare('ne', why, 0).typed}, label %why_stopped, label %called_on, !prof !0")
        self.start("why_stopped")
        self.emit(f"store {self.resize(why, 64).typed}, ptr %reason")
        self.emit("br label %stopped")
        self.start("called_on")
        self.emit(f"store {self.add(self.pc, 4).typed}, ptr %pc.at")
        self.emit("br label %next")
        self.start("next")
        self.emit("%done = load i64, ptr %cycles")
        self.emit("%more = add i64 %done, 1")
        self.emit("store i64 %more, ptr %cycles")
        self.emit("br label %loop")
        self.start("undefined")
        self.emit(f"store i64 {UNDEFINED}, ptr %reason")
        self.emit("store i64 0, ptr %detail")
        self.emit("br label %stopped")
        self.start("out_of_cycles")
        self.emit(f"store i64 {RUNNING}, ptr %reason")
        self.emit("br label %stopped")
        self.start("stopped")
        self.leave()
        declared = "".join(self.declared)
        return [
            declared + self.function("arm64_interpret", "loop"),
            *("".join(self.functions[at::_PIECES]) for at in range(_PIECES)),
        ]

    # --- debugging ---------------------------------------------------------------------------------------------------

    def _look_for_breakpoints(self) -> None:
        """Stop at one, unless the lane stopped here before; else remember the instruction."""
        self.head += [f"%debug.at = getelementptr i64, ptr %run, i64 {lane.DEBUG}", "%debug = load ptr, ptr %debug.at"]
        broken = self.assign(1, "call i1 @arm64_broken(ptr %debug, i64 %pc)")
        self._stop_once(broken, BREAKPOINT, self.pc)
        self.emit("call void @arm64_trace(ptr %debug, ptr %run, ptr %lane, i64 %pc, i32 %word)")

    def _stop_once(self, flag: Value, reason: int, detail: Value) -> None:
        """Stop, but not where the lane was stopped for this before it began: at a watchpoint that is for both."""
        mark = self.invert(self.pc) if reason == BREAKPOINT else self.differ(self.invert(self.pc), 1)
        passed = self.special("passed")
        here = self.compare("eq", self.either(passed, 1) if reason == BREAKPOINT else passed, mark)
        first = self.compare("eq", self.cycles(), 0)
        stops = self.both(flag, self.invert(self.both(here, first)))
        self.set_special("passed", self.select(stops, mark, passed))
        self.stop_if(stops, reason, detail)

    def check(self, address: Value, count: int, access: Access) -> None:
        super().check(address, count, access)
        if self.debugging:
            kinds = ("r" in access) | ("w" in access) << 1
            watched = self.assign(1, f"call i1 @arm64_watched(ptr %debug, {address.typed}, i64 {count}, i64 {kinds})")
            self._stop_once(watched, WATCHPOINT, address)

    def fields(self, row: Row) -> Fields:
        """The fields of the word at hand."""
        fields = {name: known(WIDTHS[name], number) for name, number in row.settled}
        for field in row.fields:
            part = self.assign(32, f"lshr i32 %word, {field.low}") if field.low else Value(32, "%word")
            fields[field.name] = self.assign(field.bits, f"trunc {part.typed} to i{field.bits}")
        return Fields(fields)

    def _call(self, row: Row) -> None:
        name = f"arm64_row_{len(self.functions)}"
        function = RowFunction(self.gpu, self.debugging)
        self.functions.append(function.text(row, name))
        self.declared.append(f"declare i32 @{name}({function.given})\n")
        why = self.assign(32, f"call i32 @{name}({function.given})")
        self.emit(f"store {why.typed}, ptr %why")
        self.emit("br label %called")

    def _row(self, row: Row) -> None:
        if row.apart:
            self._call(row)
            return
        self.jumped = False
        row.meaning(self, self.fields(row))
        if not self.jumped:
            self.emit(f"store {self.add(self.pc, 4).typed}, ptr %pc.at")
        self.emit("br label %next")


class RowFunction(Interpreter):
    """What one row does, where that goes on to the next word: gives 0, or why the lane stops."""

    given = _REGISTERS
    _hands_over = False

    def text(self, row: Row, name: str) -> str:
        """The function; and ahead of it one that is exact, which it calls where plain floating point would not do.

        That is one of its own, as each call of this one would have to save what is needed behind a call within it.
        """
        row.meaning(self, self.fields(row))
        lines = [*(f"  {line}" for line in self.head), *self.lines, "  ret i32 0"]
        ahead = ""
        if self._hands_over:
            ahead = ExactRowFunction(self.gpu, self.debugging).text(row, f"{name}_exact")
            lines += ["hand_over:", f"  %handed = call i32 @{name}_exact({self.given})", "  ret i32 %handed"]
        return "\n".join([f"{ahead}define i32 @{name}({self.given}) noinline {{", *lines, "}", ""])

    def hand_over_if(self, flag: Value) -> bool:
        self._hands_over = True
        on = self.label("on")
        self.emit(f"br {flag.typed}, label %hand_over, label %{on}, !prof !0")
        self.start(on)
        return True

    def stop_if(self, flag: Value, reason: int, detail: Value) -> None:
        stop, on = self.label("stop"), self.label("on")
        self.emit(f"br {flag.typed}, label %{stop}, label %{on}, !prof !0")
        self.start(stop)
        if detail != known(64, 0):
            self.emit(f"store {detail.typed}, ptr %detail")
        self.emit(f"ret i32 {reason}")
        self.start(on)

    def check(self, address: Value, count: int, access: Access) -> None:
        self.given = _WATCHED if self.debugging else _WITH_MEMORY
        super().check(address, count, access)


class ExactRowFunction(RowFunction):
    """The same, with floating point that is always exact."""

    always_exact = True


def constants() -> str:
    """Tables that the interpreter reads, and functions that it calls."""
    boxes = "".join(
        f"@arm64.{name} = internal constant [256 x i8] [{', '.join(f'i8 {byte}' for byte in table)}]\n"
        for name, table in (("sbox", substitutes()), ("unsbox", substitutes_back()))
    )
    immediates = ", ".join(f"i64 {number}" for number in logical_immediates())
    conditions = ", ".join(f"i16 {number}" for number in condition_table())
    return f"""{estimate_tables()}{boxes}@arm64.immediates = internal constant [8192 x i64] [{immediates}]
@arm64.conditions = internal constant [16 x i16] [{conditions}]
!0 = !{{!"branch_weights", i32 1, i32 2000}}
{definitions()}"""
