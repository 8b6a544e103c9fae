"""The interpreter as a GPU runs it best: few branches, one way around the loop, and little code in it.

A lane waits for each step, some twenty cycles for a branch, thirty for a load; and for the other lanes of its warp
where they meet again behind a branch. So what is rare is not asked for one by one, and leaves the loop by its ordinary
way.
"""

from __future__ import annotations

from dataclasses import replace

from lanewise.arm64.decoding import decode
from lanewise.arm64.encodings import TABLE
from lanewise.arm64.encodings.row import Row
from lanewise.arm64.interpreter import Interpreter
from lanewise.arm64.machine import Access, condition_table
from lanewise.arm64.values import Value, known
from lanewise.arm64.writer import Writer

_ROWS = [replace(row, apart=row.apart or row.ordered) for row in TABLE]
_NOTHING = "@arm64.nothing = internal addrspace(1) constant i32 0\n"
"""A word that is no instruction."""
_CONDITIONS = [
    sum(bits << 16 * at for at, bits in enumerate(condition_table()[first : first + 4 : 2])) for first in (0, 4, 8, 12)
]
"""Rows of the table, two in each number, of conditions with even numbers: each odd one is the contrary of that ahead of
it, but for the last, which holds always."""


class GpuInterpreter(Interpreter):
    """The same, but for breakpoints, for which a GPU has the other."""

    def __init__(self) -> None:
        super().__init__(gpu=True)
        self._found: dict[int, str] = {}
        """Functions of rows that are apart, and those for what is rare in plain accesses, by their rows."""
        self._plain = False
        """Whether an access is left to its row's function if it is not as most are: if it is outside of memory, in
        translated code or not aligned."""
        self._rare: list[Value] = []
        """What is to be asked before it is made."""
        self._together, self._target = False, self.pc
        """Whether an instruction is done together with that ahead of it, and where it goes."""

    def pieces(self, merged: bool) -> list[str]:
        loop, *others = super().pieces(merged)
        return [_NOTHING + loop + self._finder(), *others]

    # --- flags, in one register: single bits of a loop take several instructions each --------------------------------

    def _enter_flags(self) -> list[str]:
        return [
            "%flags = alloca i32",
            "%in.bits.wide = lshr i64 %in.flags, 28",
            "%in.bits = trunc i64 %in.bits.wide to i32",
            "store i32 %in.bits, ptr %flags",
        ]

    def flags(self) -> Value:
        return self.assign(32, "load i32, ptr %flags")

    def flag(self, name: str) -> Value:
        return self.resize(self.right(self.flags(), "vczn".index(name)), 1)

    def set_flag(self, name: str, value: Value) -> None:
        at = "vczn".index(name)
        others = self.both(self.flags(), ~(1 << at))
        self.emit(f"store {self.either(others, self.left(self.resize(value, 32), at)).typed}, ptr %flags")

    def set_flags(self, n: Value, z: Value, c: Value, v: Value) -> None:
        self.emit(f"store {self.packed(n, z, c, v).typed}, ptr %flags")

    def holds(self, condition: Value) -> Value:
        """By numbers in the code, as those of a table would have to be loaded."""
        number = self.resize(condition, 32)
        four, eight = (self.compare("ne", self.both(number, bit), 0) for bit in (4, 8))
        half = [self.select(four, known(32, _CONDITIONS[at + 1]), known(32, _CONDITIONS[at])) for at in (0, 2)]
        at = self.either(self.flags(), self.both(self.left(number, 3), 16))
        plain = self.right(self.select(eight, half[1], half[0]), at)
        differs = self.resize(self.differ(plain, number), 1)
        return self.either(differs, self.compare("eq", number, 15))

    # --- the loop ----------------------------------------------------------------------------------------------------

    def _fetch(self) -> None:
        """Read the word, or one that is no instruction if the loop is over: there is no branch but that to the row."""
        self.emit("%pc = load i64, ptr %pc.at")
        none_left = self.compare("eq", self.assign(32, "load i32, ptr %left"), 0)
        at = self._place_of_word(self.pc, none_left)
        self.emit(f"%word = load i32, ptr {at}, align 4")

    def _place_of_word(self, pc: Value, none_left: Value) -> str:
        """Where the word at an address is, or one that is no instruction."""
        over = self.either(none_left, self._nowhere(pc))
        nothing = "ptr addrspacecast (ptr addrspace(1) @arm64.nothing to ptr)"
        return self.pointer(f"select {over.typed}, {nothing}, ptr {self.place(pc)}")

    def _nowhere(self, pc: Value) -> Value:
        """Whether there is no word: with its two lowest bits at the top, too, one between words is beyond all."""
        offset = self.sub(pc, self.first_byte)
        turned = self.either(offset, self.left(offset, 62))
        return self.compare("uge", turned, self.both(Value(64, "%size"), -4))

    def _say_over(self) -> None:
        """There is no row: because no instruction is left, there is no word, or it is none of an instruction.

        Asked anew, of numbers that look like others: what was known at the loop's head would be kept for this alone.
        """
        left = self.assign(32, "load i32, ptr %left")
        more = self.assign(32, f'call i32 asm "add.u32 $0, $1, 1;", "=r,r"({left.typed})')
        self.emit(f"br {self.compare('eq', more, 1).typed}, label %leave, label %some_left")
        self.start("some_left")
        self.emit(f"br {self._nowhere(self._hidden(self.pc)).typed}, label %nowhere, label %undefined")

    def _decode(self) -> None:
        labels: dict[int, str] = {}

        def found(row: Row) -> str:
            return "find" if row.apart else labels.setdefault(id(row), self.label(row.name.replace(" ", "_")))

        decode(self, "%word", _ROWS, found, "over", "find")
        for row in _ROWS:
            if row.apart or row.plain:
                self._found[id(row)] = self.function(row)
            if not row.apart:
                self.start(labels[id(row)])
                self._plain = row.plain
                self.row(row)
        self.start("find")
        self.emit("%found = call ptr @arm64_find(i32 %word)")
        self.emit("store ptr %found, ptr %function")
        self.emit("%none = icmp eq ptr %found, null")
        self.emit("br i1 %none, label %over, label %call, !prof !0")

    def row(self, row: Row) -> None:
        if row.name != "add" or ("S", 1) not in row.settled:
            super().row(row)
            return
        here, behind = self.pc, self.add(self.pc, 4)
        left = self.assign(32, "load i32, ptr %left")
        at = self._place_of_word(behind, self.compare("eq", left, 1))
        word = self.assign(32, f"load i32, ptr {at}, align 4")
        row.meaning(self, self.fields(row))
        self.pc = behind
        self._with_branch(word)
        self.pc = here
        self.emit("br label %next")

    def _with_branch(self, word: Value) -> None:
        """Do the next instruction, too, if that goes elsewhere by the flags which this one has set, as most do.

        It takes no branch, and saves a way around the loop.
        """
        (row,) = (row for row in _ROWS if row.name == "b.cond")
        follows = self.compare("eq", self.both(word, row.mask), row.value)
        self._together = True
        row.meaning(self, self.fields(row, word.text))
        self._together = False
        self.emit(f"store {self.select(follows, self._target, self.pc).typed}, ptr %pc.at")
        left = self.assign(32, "load i32, ptr %left")
        self.emit(f"store {self.sub(left, self.resize(follows, 32)).typed}, ptr %left")

    def jump(self, target: Value) -> None:
        if self._together:
            self._target = target
        else:
            super().jump(target)

    def _finder(self) -> str:
        """A function that gives the function of a word's row, or null.

        The loop itself has only the rows that are in it: the less code there is, the fewer registers it has, and the
        simpler it is where lanes meet again.
        """
        w, rows = Writer(), [row for row in _ROWS if id(row) in self._found]
        labels = {id(row): f"row.{number}" for number, row in enumerate(rows)}
        decode(w, "%word", rows, lambda row: labels[id(row)], "none")
        for row in rows:
            w.start(labels[id(row)])
            w.emit(f"ret ptr @{self._found[id(row)]}")
        w.start("none")
        w.emit("ret ptr null")
        return "\n".join(["define internal ptr @arm64_find(i32 %word) noinline {", *w.lines, "}", ""])

    def _end_loop(self) -> None:
        """Go around once more, with no instruction left, which the compiler must not know: it would have each row that
        may stop leave the places where lanes meet, one by one, which takes longer than most rows."""
        last = self.assign(32, 'call i32 asm "mov.b32 $0, 1;", "=r"()')
        self.emit(f"store {last.typed}, ptr %left")
        self.emit("br label %next")

    # --- plain accesses ----------------------------------------------------------------------------------------------

    def check(self, address: Value, count: int, access: Access) -> None:
        if not self._plain:
            super().check(address, count, access)
            return
        self._rare.append(self.outside(address, count))
        if "w" in access:
            self._rare.append(self.in_code(address, count))

    def outside(self, address: Value, count: int) -> Value:
        self.size = self._hidden(Value(64, "%size"))
        return super().outside(address, count)

    def in_code(self, address: Value, count: int) -> Value:
        self.code_place = Value(64, "%code"), self._hidden(Value(64, "%code_bytes"))
        return super().in_code(address, count)

    def _hidden(self, value: Value) -> Value:
        """The same number of 64 bits, of which the compiler does not know that: or it would compute what depends on it
        ahead of the loop, and have more numbers there than registers."""
        return self.assign(64, f'call i64 asm "mov.b64 $0, $1;", "=l,l"({value.typed})')

    def load(self, address: Value, bits: int) -> Value:
        if not self._plain:
            return super().load(address, bits)
        self._leave_rare(address, bits)
        return self.assign(bits, f"load i{bits}, ptr {self.place(address)}, align {bits // 8}")

    def store(self, address: Value, value: Value) -> None:
        if not self._plain:
            super().store(address, value)
            return
        self._leave_rare(address, value.bits)
        self.emit(f"store {value.typed}, ptr {self.place(address)}, align {value.bits // 8}")

    def _leave_rare(self, address: Value, bits: int) -> None:
        """Leave the access to the row's function if it is not as most are: by one branch for all that was asked.

        Of two accesses that a row makes the second is aligned if the first is, so nothing has been changed by then.
        """
        rare = self.compare("ne", self.both(address, known(64, bits // 8 - 1)), 0)
        for one in self._rare:
            rare = self.either(rare, one)
        self._rare = []
        on = self.label("on")
        self.emit(f"br {rare.typed}, label %find, label %{on}, !prof !0")
        self.start(on)
