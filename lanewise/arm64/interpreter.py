"""The interpreter: a loop that reads a word, finds its row in the table, and does what that means."""

from __future__ import annotations

from lanewise.arm64 import lane
from lanewise.arm64.bitmasks import logical_immediates
from lanewise.arm64.decoding import decode
from lanewise.arm64.encodings import TABLE
from lanewise.arm64.encodings.crypto import substitutes, substitutes_back
from lanewise.arm64.encodings.estimates import tables as estimate_tables
from lanewise.arm64.encodings.row import WIDTHS, Row
from lanewise.arm64.lane_machine import PARAMETERS, LaneMachine
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

_ZERO, _STACK, _NOWHERE = 31, 32, 33
"""Where the registers with number 31 are: the one that is 0 where its number says, so that most are read by their
numbers alone; the stack pointer; and where that goes which is written to the one that is 0."""
_PIECES = 8
_GIVEN = (
    "ptr %x, ptr %vectors, i32 %word, ptr %floating, ptr %memory, i64 %start, i64 %size, ptr %detail, i64 %code, "
    "i64 %code_bytes, ptr %modified"
)
_GIVEN_ON_GPU = f"{_GIVEN}, ptr %lane"
_GIVEN_TO_WATCH = f"{_GIVEN}, ptr %debug, ptr %lane, i64 %limit, ptr %left, i64 %pc"
"""What a row's function is given, one of a GPU, and one of a debugging interpreter."""
_VARIABLES = {"pc.at": lane.PC, "floating": lane.FLOATING}
_RARE = {"reason": lane.REASON, "detail": lane.DETAIL, "cycles": lane.CYCLES}
"""What is said where a lane stops: in its state, as variables of the loop would cost each instruction a little."""


class Interpreter(LaneMachine):
    """Registers are in an array, by their numbers."""

    def __init__(self, gpu: bool, debugging: bool = False) -> None:
        super().__init__(gpu)
        self.debugging = debugging
        self.pc = Value(64, "%pc")
        self.jumped = False
        self.functions: list[str] = []
        """Of rows that are long."""

    @property
    def given(self) -> str:
        """What a row's function is given."""
        if self.debugging:
            return _GIVEN_TO_WATCH
        return _GIVEN_ON_GPU if self.gpu else _GIVEN

    # --- the lane's state --------------------------------------------------------------------------------------------

    def _enter(self) -> list[str]:
        """Lines that bring it to variables."""
        lines = [
            f"%x = alloca [{_NOWHERE + 1} x i64], align 16",
            f"call void @llvm.memcpy.p0.p0.i64(ptr align 16 %x, ptr align 8 %lane, i64 {_ZERO * 8}, i1 false)",
            f"%zero.at = getelementptr i64, ptr %x, i32 {_ZERO}",
            "store i64 0, ptr %zero.at",
            f"%in.stack.at = getelementptr i64, ptr %lane, i64 {_ZERO}",
            f"%stack.at = getelementptr i64, ptr %x, i32 {_STACK}",
            "%in.stack = load i64, ptr %in.stack.at",
            "store i64 %in.stack, ptr %stack.at",
            "%vectors = alloca [32 x i128], align 16",
            f"%vectors.at = getelementptr i64, ptr %lane, i64 {lane.VECTORS}",
            "call void @llvm.memcpy.p0.p0.i64(ptr align 16 %vectors, ptr align 8 %vectors.at, i64 512, i1 false)",
            *(f"%{name} = alloca i64" for name in _VARIABLES),
            *(f"%{name} = getelementptr i64, ptr %lane, i64 {number}" for name, number in _RARE.items()),
            "%in.cycles = load i64, ptr %cycles",
            "store i64 %limit, ptr %cycles",
            f"store i64 {RUNNING}, ptr %reason",
            "%in.room = sub i64 %limit, %in.cycles",
            "%in.left = trunc i64 %in.room to i32",
            "%left = alloca i32",
            "store i32 %in.left, ptr %left",
        ]
        for name, number in _VARIABLES.items():
            lines.append(f"%in.{name}.at = getelementptr i64, ptr %lane, i64 {number}")
            lines.append(f"%in.{name} = load i64, ptr %in.{name}.at")
            lines.append(f"store i64 %in.{name}, ptr %{name}")
        lines.append(f"%in.flags.at = getelementptr i64, ptr %lane, i64 {lane.FLAGS}")
        lines.append("%in.flags = load i64, ptr %in.flags.at")
        for name, number in (("code", lane.CODE), ("code_bytes", lane.CODE_BYTES), ("start", lane.START)):
            lines.append(f"%{name}.at = getelementptr i64, ptr %run, i64 {number}")
            lines.append(f"%{name} = load i64, ptr %{name}.at")
        return lines + self._enter_flags()

    def _enter_flags(self) -> list[str]:
        lines = [f"%{name} = alloca i1" for name in "nzcv"]
        for name, at in zip("nzcv", (31, 30, 29, 28), strict=True):
            lines.append(f"%in.{name}.bit = lshr i64 %in.flags, {at}")
            lines.append(f"%in.{name} = trunc i64 %in.{name}.bit to i1")
            lines.append(f"store i1 %in.{name}, ptr %{name}")
        return lines

    def _leave(self) -> None:
        """Put it back."""
        self.emit(f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 %lane, ptr align 16 %x, i64 {_ZERO * 8}, i1 false)")
        stack = self.assign(64, "load i64, ptr %stack.at")
        self.emit(f"store {stack.typed}, ptr %in.stack.at")
        self.emit("call void @llvm.memcpy.p0.p0.i64(ptr align 8 %vectors.at, ptr align 16 %vectors, i64 512, i1 false)")
        for name, number in _VARIABLES.items():
            value = self.assign(64, f"load i64, ptr %{name}")
            self.emit(f"store {value.typed}, ptr {self._word(number)}")
        flags = self.left(self.resize(self.flags(), 64), 28)
        self.emit(f"store {flags.typed}, ptr {self._word(lane.FLAGS)}")
        self.emit("ret void")

    # --- registers ---------------------------------------------------------------------------------------------------

    def _register(self, number: Value, last: int) -> str:
        """Where a register is; number 31 is the `last`."""
        index = self.resize(number, 32)
        if last != _ZERO:
            index = self.select(self.compare("eq", index, _ZERO), known(32, last), index)
        return self.pointer(f"getelementptr inbounds i64, ptr %x, i32 {index.text}")

    def read(self, number: Value, bits: int = 64, *, sp: bool = False) -> Value:
        whole = self.assign(64, f"load i64, ptr {self._register(number, _STACK if sp else _ZERO)}")
        return self.resize(whole, bits)

    def write(self, number: Value, value: Value, *, sp: bool = False) -> None:
        self.emit(f"store {self.resize(value, 64).typed}, ptr {self._register(number, _STACK if sp else _NOWHERE)}")

    def _vector(self, number: Value) -> str:
        return self.pointer(f"getelementptr inbounds i128, ptr %vectors, i32 {self.resize(number, 32).text}")

    def read_vector(self, number: Value, bits: int = 128) -> Value:
        return self.assign(bits, f"load i{bits}, ptr {self._vector(number)}, align 16")

    def write_vector(self, number: Value, value: Value) -> None:
        self.emit(f"store {self.resize(value, 128).typed}, ptr {self._vector(number)}, align 16")

    def flag(self, name: str) -> Value:
        return self.assign(1, f"load i1, ptr %{name}")

    def set_flag(self, name: str, value: Value) -> None:
        self.emit(f"store {value.typed}, ptr %{name}")

    def cycles(self) -> Value:
        left = self.assign(32, "load i32, ptr %left")
        return self.sub(Value(64, "%limit"), self.resize(left, 64))

    def floating(self) -> Value:
        return self.assign(64, "load i64, ptr %floating")

    def set_floating(self, value: Value) -> None:
        self.emit(f"store {value.typed}, ptr %floating")

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

    def pieces(self, merged: bool) -> list[str]:
        """The function that runs one lane, and some pieces with what it calls: they are compiled side by side.

        If it is to be merged, it becomes part of what calls it, which is in the same module.
        """
        self.start("loop")
        self._fetch()
        self._decode()
        self.start("call")
        self.head.append("%function = alloca ptr")
        function = self.pointer("load ptr, ptr %function")
        why = self.assign(32, f"call i32 {function}({self.given})")
        self.emit(f"br {self.compare('ne', why, 0).typed}, label %why_stopped, label %called_on, !prof !0")
        self.start("why_stopped")
        self.emit(f"store {self.resize(why, 64).typed}, ptr %reason")
        self.emit("br label %stopped")
        self.start("called_on")
        self.emit(f"store {self.add(self.pc, 4).typed}, ptr %pc.at")
        self.emit("br label %next")
        self.start("next")
        now = self.assign(32, "load i32, ptr %left")
        self.emit(f"store {self.sub(now, 1).typed}, ptr %left")
        self.emit("br label %loop")
        self.start("undefined")
        self.emit(f"store i64 {UNDEFINED}, ptr %reason")
        self.emit("store i64 0, ptr %detail")
        self.emit("br label %stopped")
        self.start("stopped")
        self.emit(f"store {self.cycles().typed}, ptr %cycles")
        self._end_loop()
        self.start("over")
        self._say_over()
        self.start("nowhere")
        odd = self.compare("ne", self.both(self.pc, 3), 0)
        self.emit(f"store {self.select(odd, known(64, UNALIGNED_PC), known(64, PC_OUTSIDE)).typed}, ptr %reason")
        self.emit(f"store {self.pc.typed}, ptr %detail")
        self.emit(f"store {self.cycles().typed}, ptr %cycles")
        self.emit("br label %leave")
        self.start("leave")
        self._leave()
        head = [f"  {line}" for line in [*self._enter(), *dict.fromkeys(self.head), "br label %loop"]]
        text = "\n".join(["entry:", *head, *self.lines])
        name = f"void @arm64_interpret({PARAMETERS})"
        kind = f"internal {name} alwaysinline" if merged else name
        declared = "".join(f"declare i32 @arm64_row_{at}({self.given})\n" for at in range(len(self.functions)))
        return [
            f"{declared}define {kind} {{\n{text}\n}}\n",
            *("".join(self.functions[at::_PIECES]) for at in range(_PIECES)),
        ]

    def _fetch(self) -> None:
        """Read the word; the loop is over if no instruction is left, or there is no word."""
        self.emit("%pc = load i64, ptr %pc.at")
        offset = self.sub(self.pc, self.first_byte)
        number = self.intrinsic("fshr", offset, offset, known(64, 2))  # one between words is beyond all of them
        nowhere = self.compare("uge", number, self.right(Value(64, "%size"), 2))
        over = self.either(self.compare("eq", self.assign(32, "load i32, ptr %left"), 0), nowhere)
        self.emit(f"br {over.typed}, label %over, label %fetch, !prof !0")
        self.start("fetch")
        self.emit(f"%word = load i32, ptr {self.place(self.pc)}, align 4")
        if self.debugging:
            self._look_for_breakpoints()

    def _decode(self) -> None:
        """Go to what the word's row does, and come to the next one."""
        labels = {id(row): self.label(row.name.replace(" ", "_")) for row in TABLE}
        decode(self, "%word", TABLE, lambda row: labels[id(row)], "undefined")
        for row in TABLE:
            self.start(labels[id(row)])
            if row.apart:
                self._call(row)
            else:
                self.row(row)

    def _end_loop(self) -> None:
        """Leave the loop, where the lane has said why."""
        self.emit("br label %leave")

    def _say_over(self) -> None:
        """The loop is over: go where it is said why."""
        left = self.assign(32, "load i32, ptr %left")
        self.emit(f"br {self.compare('eq', left, 0).typed}, label %leave, label %nowhere")

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

    def fields(self, row: Row, word: str = "%word") -> Fields:
        """The fields of a word, that at hand or another."""
        fields = {name: known(WIDTHS[name], number) for name, number in row.settled}
        for field in row.fields:
            part = self.assign(32, f"lshr i32 {word}, {field.low}") if field.low else Value(32, word)
            fields[field.name] = self.assign(field.bits, f"trunc {part.typed} to i{field.bits}")
        return Fields(fields)

    def function(self, row: Row) -> str:
        """Write the function of a row; gives its name."""
        name = f"arm64_row_{len(self.functions)}"
        self.functions.append(RowFunction(self.gpu, self.debugging).text(row, name))
        return name

    def _call(self, row: Row) -> None:
        """Have the function of a row called: in one place for all, as hundreds would take an assembler minutes."""
        self.emit(f"store ptr @{self.function(row)}, ptr %function")
        self.emit("br label %call")

    def row(self, row: Row) -> None:
        """Write what a row does within the loop."""
        self.jumped = False
        row.meaning(self, self.fields(row))
        if not self.jumped:
            self.emit(f"store {self.add(self.pc, 4).typed}, ptr %pc.at")
        self.emit("br label %next")


class RowFunction(Interpreter):
    """What one row does, where that goes on to the next word: gives 0, or why the lane stops."""

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
