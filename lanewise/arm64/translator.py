"""The translator: code that is known before it runs, with registers in registers.

Blocks of instructions become blocks of one function. A block begins by counting its instructions, and leaves to the
interpreter if there are not so many left to run: so a lane stops after exactly as many as it may. Where an instruction
stops the lane, the count is put right. Ways that are not known end in a switch over all blocks; what is no block is
left to the interpreter, too.
"""

from __future__ import annotations

from collections.abc import Iterable

from lanewise.arm64 import lane
from lanewise.arm64.bitmasks import logical_immediate
from lanewise.arm64.finding import fields_of, row_of
from lanewise.arm64.lane_machine import LaneMachine
from lanewise.arm64.machine import LEFT
from lanewise.arm64.values import Value, known

_LONGEST = 64
"""Instructions in a block."""
_MOST_BLOCKS = 20_000


class Translator(LaneMachine):
    """A function of blocks from some addresses on."""

    def __init__(self, gpu: bool, code: bytes, base: int) -> None:
        """`code` is what lies in memory from address `base` on."""
        super().__init__(gpu)
        self._code = code
        self._base = base
        self._at = 0
        self._before = 0
        """Instructions of the block ahead of this one."""
        self._count = ""
        self._ways: tuple[Value | None, Value] | None = None
        self._writes = False
        """Whether the instruction changes memory."""
        self._wanted: list[int] = []
        self._labels: dict[int, str] = {}

    # --- registers ---------------------------------------------------------------------------------------------------

    def read(self, number: Value, bits: int = 64, *, sp: bool = False) -> Value:
        if number.number == 31 and not sp:
            return known(bits, 0)
        return self.resize(self.assign(64, f"load i64, ptr %x{number.number}"), bits)

    def write(self, number: Value, value: Value, *, sp: bool = False) -> None:
        if number.number != 31 or sp:
            self.emit(f"store {self.resize(value, 64).typed}, ptr %x{number.number}")

    def read_vector(self, number: Value, bits: int = 128) -> Value:
        return self.resize(self.assign(128, f"load i128, ptr %vector{number.number}"), bits)

    def write_vector(self, number: Value, value: Value) -> None:
        self.emit(f"store {self.resize(value, 128).typed}, ptr %vector{number.number}")

    def immediate(self, n: Value, immr: Value, imms: Value) -> Value:
        return known(64, logical_immediate(n.number << 12 | immr.number << 6 | imms.number))

    def cycles(self) -> Value:
        return self.add(Value(64, self._count), self._before)  # those of the block are counted when it begins

    def enter(self) -> list[str]:
        lines = []
        for number in range(32):
            lines.append(f"%x{number} = alloca i64")
            lines.append(f"%in.x{number}.at = getelementptr i64, ptr %lane, i64 {lane.REGISTERS + number}")
            lines.append(f"%in.x{number} = load i64, ptr %in.x{number}.at")
            lines.append(f"store i64 %in.x{number}, ptr %x{number}")
            lines.append(f"%v{number}.at = getelementptr i64, ptr %lane, i64 {lane.VECTORS + 2 * number}")
            lines.append(f"%vector{number} = alloca i128")
            lines.append(f"%in.v{number} = load i128, ptr %v{number}.at, align 8")
            lines.append(f"store i128 %in.v{number}, ptr %vector{number}")
        return lines

    def leave_registers(self) -> None:
        for number in range(32):
            value = self.assign(64, f"load i64, ptr %x{number}")
            at = self.pointer(f"getelementptr i64, ptr %lane, i64 {lane.REGISTERS + number}")
            self.emit(f"store {value.typed}, ptr {at}")
            vector = self.assign(128, f"load i128, ptr %vector{number}")
            self.emit(f"store {vector.typed}, ptr %v{number}.at, align 8")

    # --- ways on -----------------------------------------------------------------------------------------------------

    def jump(self, target: Value) -> None:
        self._ways = None, target

    def jump_if(self, flag: Value, target: Value) -> None:
        self._ways = flag, target

    def stop_if(self, flag: Value, reason: int, detail: Value) -> None:
        if flag.known and not flag.number:
            return
        stop, on = self.label("stop"), self.label("on")
        self.emit(f"br {flag.typed}, label %{stop}, label %{on}, !prof !0")
        self.start(stop)
        self.emit(f"store i64 {reason}, ptr %reason")
        self.emit(f"store {detail.typed}, ptr %detail")
        self.emit(f"store {self.pc.typed}, ptr %pc.at")
        self.emit(f"store {self.add(Value(64, self._count), self._before).typed}, ptr %cycles")
        self.emit("br label %stopped")
        self.start(on)

    def changed(self) -> None:
        self._writes = True
        self.emit("store i1 true, ptr %wrote")

    def fetch_anew(self) -> None:
        self._writes = True
        changed = self.assign(64, "load atomic i64, ptr %modified monotonic, align 8")
        self.emit(f"store {self.compare('ne', changed, 0).typed}, ptr %wrote")

    def _leave_if_changed(self) -> None:
        """Behind an instruction that has changed translated code, its own block perhaps, or has heard that another lane
        did: the interpreter goes on."""
        self.head.append("%wrote = alloca i1")
        flag = self.assign(1, "load i1, ptr %wrote")
        leave, on = self.label("leave"), self.label("on")
        self.emit(f"br {flag.typed}, label %{leave}, label %{on}, !prof !0")
        self.start(leave)
        self.emit(f"store {self.add(self.pc, 4).typed}, ptr %pc.at")
        self.emit(f"store {self.add(Value(64, self._count), self._before + 1).typed}, ptr %cycles")
        self.emit("br label %leave")
        self.start(on)

    # --- the whole ---------------------------------------------------------------------------------------------------

    def translate(self, entries: Iterable[int]) -> str:
        """The function that runs a lane as far as code from these addresses on goes."""
        self._wanted = list(entries)
        done: set[int] = set()
        while self._wanted and len(done) < _MOST_BLOCKS:
            address = self._wanted.pop()
            word = self._word(address)
            if address not in done and word is not None and row_of(word) is not None:
                done.add(address)
                self._block(address)
        for address, label in self._labels.items():
            if address not in done:
                self.start(label)
                self.emit(f"store i64 {address}, ptr %pc.at")
                self.emit("br label %leave")
        self.start("dispatch")
        self.emit("%where = load i64, ptr %pc.at")
        cases = " ".join(f"i64 {address}, label %{self._labels[address]}" for address in sorted(done))
        self.emit(f"switch i64 %where, label %leave [ {cases} ]")
        self.start("leave")
        self.emit(f"store i64 {LEFT}, ptr %reason")
        self.emit("br label %stopped")
        self.start("stopped")
        self.leave()
        return self.function("arm64_translated", "dispatch")

    def _word(self, address: int) -> int | None:
        at = address - self._base
        if address % 4 or not 0 <= at <= len(self._code) - 4:
            return None
        return int.from_bytes(self._code[at : at + 4], "little")

    def _label(self, address: int) -> str:
        if address not in self._labels:
            self._labels[address] = self.label(f"at_{address:x}")
        return self._labels[address]

    def _block(self, address: int) -> None:
        self.start(self._label(address))
        words = self._words(address)
        count = self.assign(64, "load i64, ptr %cycles")
        after = self.add(count, len(words))
        enough, short = self.label("enough"), self.label("short")
        beyond = self.compare("ugt", after, Value(64, "%limit"))
        self.emit(f"br {beyond.typed}, label %{short}, label %{enough}, !prof !0")
        self.start(short)
        self.emit(f"store i64 {address}, ptr %pc.at")
        self.emit("br label %leave")
        self.start(enough)
        self.emit(f"store {after.typed}, ptr %cycles")
        self._count = count.text
        self._ways = None
        for number, word in enumerate(words):
            self._before = number
            self.pc = known(64, address + 4 * number)
            row = row_of(word)
            assert row is not None
            self._writes = False
            at = len(self.lines)
            row.meaning(self, fields_of(row, word))
            if self._writes:
                self.lines.insert(at, "  store i1 false, ptr %wrote")
                self._leave_if_changed()
            if dict(row.settled).get({"b": "op", "br": "opc"}.get(row.name, "")) == 1:  # a call, which comes back
                self._wanted.append(address + 4 * number + 4)
                self._label(address + 4 * number + 4)
        self._go_on(known(64, address + 4 * len(words)))

    def _words(self, address: int) -> list[int]:
        """The words of a block: up to a branch, or what is no instruction, or another block."""
        words: list[int] = []
        while len(words) < _LONGEST and (word := self._word(address)) is not None:
            row = row_of(word)
            if row is None or (words and address in self._labels):
                break
            words.append(word)
            address += 4
            if row.name in ENDS:
                break
        return words

    def _go_on(self, behind: Value) -> None:
        flag, target = self._ways or (None, behind)
        if flag is not None and not flag.known:
            self.emit(f"br {flag.typed}, label %{self._target(target)}, label %{self._target(behind)}")
            return
        if flag is not None and not flag.number:
            target = behind
        if target.known:
            self.emit(f"br label %{self._target(target)}")
        else:
            self.emit(f"store {target.typed}, ptr %pc.at")
            self.emit("br label %dispatch")

    def _target(self, address: Value) -> str:
        self._wanted.append(address.number)
        return self._label(address.number)


ENDS = ("b", "b.cond", "cbz", "tbz", "br", "svc", "brk", "hlt")
"""Rows behind which a block ends."""
