"""The translator: code that is known before it runs, with registers in registers.

The blocks of a unit become those of one function. A block counts its instructions, and some ask whether there are as
many left as it takes to the next that asks (`allowances`), and leave to the interpreter if there are not: so a lane
stops after exactly as many as it may. On a GPU it rests there until the next slice, if there is one. Where an
instruction stops the lane, the count is put right. Where the way on is not known, or is in another unit, the table says
whose it is; what is in none is left to the interpreter.

A unit has registers in variables of its own, which it brings from the lane's state when it is entered. A whole program
puts back all that it may have set where it is left, so that its loops change registers alone. Where there are many
units, each block puts back what it has set: with hundreds of ways out that all put back the same, each with values of
its own, LLVM would take minutes. The flags, of which many are set and few read, are put back where a unit is left.

On a GPU lanes that stop in the midst of a unit never return from it: all blocks have such ways out, and if these led
back to where all others go, lanes whose ways have parted would not meet again before. For the same reason calls are
written out there (`places`), and loops have guards (`guards`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from lanewise.arm64 import lane
from lanewise.arm64.allowances import find_allowances
from lanewise.arm64.bitmasks import logical_immediate
from lanewise.arm64.finding import Code, fields_of, row_of
from lanewise.arm64.flags import FlagBits, FlagWords
from lanewise.arm64.guards import Guard, find_guards, no_guards
from lanewise.arm64.lane_machine import LaneMachine
from lanewise.arm64.liveness import Uses, set_behind
from lanewise.arm64.machine import LEFT, SHORT
from lanewise.arm64.places import Place, copied_places, lanes_meet, single_places
from lanewise.arm64.rounds import with_rounds
from lanewise.arm64.units import Unit
from lanewise.arm64.values import Value, known

UNIT_PARAMETERS = "ptr %lane, ptr %memory, i64 %size, i32 %left.in, ptr %units, ptr %modified"
"""What the function of a unit is given: the lane's state, where address 0 of its memory would be, how large that is,
how many instructions may still run, the unit of each word, and where to say that translated code was changed."""
END = "arm64_end"
"""On a GPU, the function that does for a lane that has stopped all that is left to do, and ends it."""
_CELLS = {"pc": lane.PC, "reason": lane.REASON, "detail": lane.DETAIL, "remaining": lane.REMAINING}
"""Words of a lane's state that have names in the function of a unit."""
_FLAGS = frozenset("nzcv")
_REGISTERS = frozenset(["floating", *(f"{kind}{number}" for kind in ("x", "vector") for number in range(32))])
_COMPARISONS = ("eq", "ne", "uge", "ult", "", "", "", "", "ugt", "ule", "sge", "slt", "sgt", "sle")
"""What conditions mean behind a subtraction with flags, by their numbers; overflow and sign are not among them."""


def unit_name(number: int) -> str:
    """The function of a unit."""
    return f"arm64_unit_{number}"


class UnitTranslator(LaneMachine):
    """The function of one unit."""

    def __init__(
        self, gpu: bool, code: Code, memory: range, unit: Unit, owners: Mapping[int, int], whole: bool
    ) -> None:
        """`memory` are the addresses that there are; `owners` are the units of all blocks by where they begin; `whole`
        says that there is no other unit."""
        super().__init__(gpu)
        self._unit, self._owners, self._whole = unit, owners, whole
        self._flags = FlagWords() if gpu else FlagBits()
        self.flag_words = gpu
        self._meeting = lanes_meet(gpu)
        plan = with_rounds(copied_places(unit) if self._meeting and whole else single_places(unit), gpu)
        self._allowances = find_allowances(plan, resting=gpu)
        if gpu:
            plan = plan.entered_at({plan.places[number].block.address for number in self._allowances.asked})
        self._plan = plan
        self._guarded = find_guards(plan) if self._meeting else no_guards(plan)
        self.first_byte, self.size = known(64, memory.start), known(64, memory.stop - memory.start)
        self.code_place = known(64, code.base), known(64, len(code.content))
        self.called: set[int] = set()
        """Other units that it names."""
        self._at = 0
        """The place that is being written."""
        self._before = 0
        """Instructions of the block ahead of this one."""
        self._count = known(32, 0)
        """How many could run when the block began."""
        self._ways: tuple[Value | None, Value] | None = None
        self._writes_code = False
        """Whether the instruction changes memory."""
        self._compared: tuple[Value, Value] | None = None
        self._uses: dict[int, Uses] = {}
        self._late = _REGISTERS | _FLAGS if whole else _FLAGS
        """What is put back where the unit is left."""
        self._outs: dict[tuple[int, int | None], None] = {}
        """Places that leave, and for where, if that is known."""
        self._wanted: list[tuple[str, int, Guard]] = []
        """Ways to heads of a loop that has several: a label of its own for each, the head and the guard."""

    @property
    def entries(self) -> list[int]:
        """Addresses that lanes come to from elsewhere, for which the table has this unit."""
        return list(self._plan.entries) if self.gpu else sorted(self._unit.entries)

    # --- registers ---------------------------------------------------------------------------------------------------

    def _reads(self, name: str) -> str:
        self._uses[self._at].reads.add(name)
        return f"%{name}"

    def _writes(self, name: str) -> str:
        self._uses[self._at].writes.add(name)
        return f"%{name}"

    def read(self, number: Value, bits: int = 64, *, sp: bool = False) -> Value:
        if number.number == 31 and not sp:
            return known(bits, 0)
        return self.resize(self.assign(64, f"load i64, ptr {self._reads(f'x{number.number}')}"), bits)

    def write(self, number: Value, value: Value, *, sp: bool = False) -> None:
        if number.number != 31 or sp:
            self.emit(f"store {self.resize(value, 64).typed}, ptr {self._writes(f'x{number.number}')}")

    def read_vector(self, number: Value, bits: int = 128) -> Value:
        whole = self.pointer(f"load <2 x i64>, ptr {self._reads(f'vector{number.number}')}")
        if bits == 64:
            return self.assign(64, f"extractelement <2 x i64> {whole}, i32 0")
        return self.resize(self.assign(128, f"bitcast <2 x i64> {whole} to i128"), bits)

    def write_vector(self, number: Value, value: Value) -> None:
        at = self._writes(f"vector{number.number}")
        if value.bits == 64:
            made = self.pointer(f"insertelement <2 x i64> zeroinitializer, {value.typed}, i32 0")
        else:
            made = self.pointer(f"bitcast {self.resize(value, 128).typed} to <2 x i64>")
        self.emit(f"store <2 x i64> {made}, ptr {at}")

    def flag(self, name: str) -> Value:
        self._reads(name)
        return self._flags.read(self, name)

    def set_flag(self, name: str, value: Value) -> None:
        self._compared = None
        self._writes(name)
        self._flags.write(self, name, value)

    def set_flag_words(self, n: Value, z: Value, c: Value, v: Value) -> None:
        assert isinstance(self._flags, FlagWords)
        self._compared = None
        for name, number in zip("nzcv", (n, z, c, v), strict=True):
            self._writes(name)
            self._flags.write_word(self, name, number)

    def compared(self, x: Value, y: Value) -> None:
        self._compared = x, y

    def holds(self, condition: Value) -> Value:
        if self._compared is not None and condition.number < 14 and _COMPARISONS[condition.number]:
            return self.compare(_COMPARISONS[condition.number], *self._compared)
        return super().holds(condition)

    def floating(self) -> Value:
        return self.assign(64, f"load i64, ptr {self._reads('floating')}")

    def set_floating(self, value: Value) -> None:
        self.emit(f"store {value.typed}, ptr {self._writes('floating')}")

    def immediate(self, n: Value, immr: Value, imms: Value) -> Value:
        return known(64, logical_immediate(n.number << 12 | immr.number << 6 | imms.number))

    def cycles(self) -> Value:
        until = self.assign(64, f"load i64, ptr {self._word(lane.UNTIL)}")
        return self.sub(until, self.resize(self._left(), 64))

    def _left(self, more: int = 0) -> Value:
        """How many instructions could still run ahead of this one, or some further on."""
        return self.sub(self._count, self._before + more)

    # --- ways on -----------------------------------------------------------------------------------------------------

    def jump(self, target: Value) -> None:
        self._ways = None, target

    def jump_if(self, flag: Value, target: Value) -> None:
        self._ways = flag, target

    def stop_if(self, flag: Value, reason: int, detail: Value) -> None:
        if flag.known and not flag.number:
            return
        assert not self._writes_code, "all accesses are checked before any is made, or nobody hears of changed code"
        with self._rarely(flag):
            self.emit(f"store {detail.typed}, ptr %at.detail")
            self._stop(reason, self.pc, self._left())

    @contextmanager
    def _rarely(self, flag: Value) -> Iterator[None]:
        """Write what happens if a bit is set, and goes elsewhere then."""
        some, on = self.label("some"), self.label("on")
        self.emit(f"br {flag.typed}, label %{some}, label %{on}, !prof !0")
        self.start(some)
        yield
        self.start(on)

    def _stop(self, reason: int, pc: Value, left: Value) -> None:
        """Leave in the midst of a block."""
        self._put_back(self._set_here())
        self.emit(f"store i64 {reason}, ptr %at.reason")
        self.emit(f"store {pc.typed}, ptr %at.pc")
        self.emit(f"store {left.typed}, ptr %left")
        self.emit("br label %stopped")

    def _set_here(self) -> set[str]:
        """Registers that are not put back where the unit is left, and that this block has set so far."""
        return set() if self._whole else self._uses[self._at].writes - _FLAGS

    def _note_change(self, address: Value, count: int) -> None:
        """What all lanes must hear of is told behind the instruction, on a way that is hardly ever gone."""
        self._add_change(self.in_code(address, count))

    def fetch_anew(self) -> None:
        changed = self.assign(64, "load atomic i64, ptr %modified monotonic, align 8")
        self._add_change(self.compare("ne", changed, 0))

    def _add_change(self, changed: Value) -> None:
        self._writes_code = True
        before = self.assign(1, "load i1, ptr %wrote")
        self.emit(f"store {self.either(before, changed).typed}, ptr %wrote")

    def _leave_if_changed(self) -> None:
        """Behind an instruction that has changed translated code, its own block perhaps, or has heard that another lane
        did: the interpreter goes on."""
        self.head.append("%wrote = alloca i1")
        with self._rarely(self.assign(1, "load i1, ptr %wrote")):
            self.emit("store atomic i64 1, ptr %modified monotonic, align 8")
            self._stop(LEFT, self.add(self.pc, 4), self._left(1))

    # --- the whole ---------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The function in LLVM's text."""
        unit = self._unit
        for place in self._plan.places:
            self._place(place)
        for guard in self._guarded.guards:
            self._guard(guard)
        for label, number, guard in self._wanted:
            self._want(label, number, guard)
        if self._meeting or self._whole:
            self._dispatch()
        behind = set_behind(self._uses)
        for at, target in self._outs:
            self._out(at, target, behind[at] & self._late)
        set_anywhere = {name for uses in self._uses.values() for name in uses.writes & self._late}
        self.start("leaving")
        self.emit(f"store i64 {LEFT}, ptr %at.reason")
        self._put_back(set_anywhere)
        self.emit("br label %returning")
        self.start("returning")
        self._keep_left()
        self.emit("ret void")
        self.start("stopped")
        self._put_back(set_anywhere)
        self._keep_left()
        self.emit(f"call void @{END}(ptr %lane) noreturn" if self.gpu else "ret void")
        if self.gpu:
            self.emit("unreachable")
        body, self.lines = self.lines, []
        self._enter()
        lines = "\n".join([*self.lines, *body])
        return f"define void @{unit_name(unit.number)}({UNIT_PARAMETERS}) {{\n{lines}\n}}\n"

    def _keep_left(self) -> None:
        self.emit(f"store {self.assign(32, 'load i32, ptr %left').typed}, ptr %at.remaining")

    def _enter(self) -> None:
        """Bring registers and go on where the lane is."""
        names = sorted({name for uses in self._uses.values() for name in uses.reads | uses.writes})
        self.start("entry")
        for line in dict.fromkeys(self.head):
            self.emit(line)
        self.emit("%left = alloca i32")
        for name in names:
            self.emit(f"%{name} = alloca {self._flags.llvm if name in _FLAGS else _type(name)}")
            self.emit(f"%at.{name} = getelementptr i8, ptr %lane, i64 {_place(name)}")
        for name, number in _CELLS.items():
            self.emit(f"%at.{name} = getelementptr i64, ptr %lane, i64 {number}")
        for name in names:
            self._bring(name)
        first = self.assign(32, "load i32, ptr %at.remaining") if self.gpu else Value(32, "%left.in")
        self.emit(f"store {first.typed}, ptr %left")
        self.emit("%to = alloca i64")
        self.emit(f"store {self.assign(64, 'load i64, ptr %at.pc').typed}, ptr %to")
        if self._meeting:
            self.emit("%wanted = alloca i32")
            self.emit(f"%no_one = lshr {first.typed}, 31")  # 0, but no compiler knows: it would go around the guards
            self.emit("store i32 %no_one, ptr %wanted")
            self.emit("br label %dispatch")
            return
        self._switch("nowhere")
        self.start("nowhere")
        self.emit("unreachable")  # the table names the unit for its entries alone

    def _switch(self, other: str) -> None:
        """Go where the lane wants to, if that is an entry and there are enough instructions left."""
        to, left = self.assign(64, "load i64, ptr %to"), self.assign(32, "load i32, ptr %left")
        self._ask(left, self._allowances.entering, to)
        cases = " ".join(f"i64 {at}, label %{self._entrance(place)}" for at, place in self._plan.entries.items())
        self.emit(f"switch {to.typed}, label %{other} [ {cases} ]")

    def _ask(self, left: Value, wanted: int, here: Value) -> None:
        """Leave for the interpreter, or for the next slice, if there are too few instructions left."""
        with self._rarely(self.compare("ult", left, wanted)):
            self.emit(f"store i64 {SHORT if self.gpu else LEFT}, ptr %at.reason")
            self.emit(f"store {here.typed}, ptr %at.pc")
            self.emit("br label %stopped")

    def _entrance(self, place: int) -> str:
        """The label of where lanes come to a place from elsewhere."""
        return f"at_{place}" if self._guarded.first[place] is None else f"enter_{place}"

    def _bring(self, name: str) -> None:
        if name in _FLAGS:
            byte = self.assign(8, f"load i8, ptr %at.{name}")
            self._flags.write(self, name, self.resize(byte, 1))
            return
        value = self.pointer(f"load {_type(name)}, ptr %at.{name}, align 8")
        self.emit(f"store {_type(name)} {value}, ptr %{name}")

    def _put_back(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            if name in _FLAGS:
                byte = self.resize(self._flags.read(self, name), 8)
                self.emit(f"store {byte.typed}, ptr %at.{name}")
                continue
            value = self.pointer(f"load {_type(name)}, ptr %{name}")
            self.emit(f"store {_type(name)} {value}, ptr %at.{name}, align 8")

    def _place(self, place: Place) -> None:
        """A block, and how it goes on."""
        block = place.block
        self._at = place.number
        self._uses[place.number] = Uses()
        self._compared = None
        self.start(f"at_{place.number}")
        self._count = self.assign(32, "load i32, ptr %left")
        if place.number in self._allowances.asked:
            self._ask(self._count, self._allowances.asked[place.number], known(64, block.address))
        self.emit(f"store {self.sub(self._count, len(block.words)).typed}, ptr %left")
        self._ways = None
        for number, word in enumerate(block.words):
            self._before = number
            self.pc = known(64, block.address + 4 * number)
            row = row_of(word)
            assert row is not None
            self._writes_code = False
            at = len(self.lines)
            row.meaning(self, fields_of(row, word))
            if self._writes_code:
                self.lines.insert(at, "  store i1 false, ptr %wrote")
                self._leave_if_changed()
        self._put_back(self._set_here())
        self._go_on(place, known(64, block.end))

    def _go_on(self, place: Place, behind: Value) -> None:
        flag, target = self._ways or (None, behind)
        if flag is None:
            if place.returns is not None:
                self._check_return(place.returns[0], target)
                target = known(64, place.returns[0])
            self.emit(f"br label %{self._way(place, target)}")
        elif flag.known:
            self.emit(f"br label %{self._way(place, target if flag.number else behind)}")
        else:
            self.emit(f"br {flag.typed}, label %{self._way(place, target)}, label %{self._way(place, behind)}")

    def _check_return(self, back: int, target: Value) -> None:
        """Who does not return to where it was called from goes on by the interpreter: if its launch ended there, it
        might run a few instructions in the time in which others run all that they may."""
        with self._rarely(self.compare("ne", target, back)):
            self._stop(LEFT, target, self._left(1))

    def _way(self, place: Place, target: Value) -> str:
        """The label of where a place goes on: there, or where it leaves."""
        uses = self._uses[self._at]
        if target.known:
            number = place.ways.get(target.number)
            if place.returns is not None:
                number = place.returns[1]
            if number is not None:
                uses.ways = (*uses.ways, number)
                return self._label(number)
        if self._whole and (not target.known or target.number in self._plan.entries):
            self.emit(f"store {target.typed}, ptr %to")
            return "dispatch"
        if not target.known:
            self.emit(f"store {target.typed}, ptr %at.pc")
        out = self._at, target.number if target.known else None
        self._outs[out] = None
        return _out_label(*out)

    def _label(self, place: int) -> str:
        """Where those who come from within the unit go to be at a place."""
        guard = self._guarded.of_head.get(place)
        if guard is None:
            return f"at_{place}"
        if len(guard.heads) == 1:
            return f"guard_{guard.number}"
        self._wanted.append((label := self.label("want"), place, guard))
        return label

    def _guard(self, guard: Guard) -> None:
        """Let lanes that want to the midst of a loop go on to there, and all others to its head."""
        several = len(guard.heads) > 1
        inside = guard.inside | dict.fromkeys(head for head in guard.heads if several or head in self._guarded.first)
        ways = {place: f"guard_{further.number}" if further else f"arrive_{place}" for place, further in inside.items()}
        self.start(f"guard_{guard.number}")
        wanted = self.assign(32, "load i32, ptr %wanted")
        cases = " ".join(f"i32 {place + 1}, label %{label}" for place, label in ways.items())
        self.emit(f"switch {wanted.typed}, label %at_{guard.heads[0]} [ {cases} ]")
        for place, further in inside.items():
            if further is None:
                self.start(f"arrive_{place}")
                self.emit("store i32 %no_one, ptr %wanted")
                self.emit(f"br label %at_{place}")

    def _want(self, label: str, place: int, guard: Guard) -> None:
        """Go to a place by the guards on the way, of which this one is the first."""
        self.start(label)
        self.emit(f"store {self.add(Value(32, '%no_one'), place + 1).typed}, ptr %wanted")
        self.emit(f"br label %guard_{guard.number}")

    def _out(self, at: int, target: int | None, names: Iterable[str]) -> None:
        """Leave behind a block for an address that is known, or that the lane's state has already."""
        self.start(_out_label(at, target))
        if target is None:
            self._put_back(names)
            self._leave_for("arm64_go")
            return
        self.emit(f"store i64 {target}, ptr %at.pc")
        owner = self._owners.get(target)
        if owner is None:
            self.emit("br label %leaving")
            return
        self._put_back(names)
        self.called.add(owner)
        self._leave_for(unit_name(owner))

    def _leave_for(self, name: str) -> None:
        """Go on in another function: on a GPU who called this one does so, for there calls cannot take its place."""
        if self.gpu:
            self.emit("br label %returning")
            return
        left = self.assign(32, "load i32, ptr %left")
        given = UNIT_PARAMETERS.replace("i32 %left.in", left.typed)
        self.emit(f"musttail call void @{name}({given})")
        self.emit("ret void")

    def _dispatch(self) -> None:
        """Go where the lane wants to, if that is here."""
        self.start("dispatch")
        self._switch("lost")
        self.start("lost")
        self.emit(f"store {self.assign(64, 'load i64, ptr %to').typed}, ptr %at.pc")
        self.emit("br label %leaving")
        for place, guard in self._guarded.first.items():
            if guard is not None:
                self._want(f"enter_{place}", place, guard)


def _out_label(at: int, target: int | None) -> str:
    return f"out_{at:x}" if target is None else f"out_{at:x}_{target:x}"


def _type(name: str) -> str:
    return "<2 x i64>" if name.startswith("vector") else "i64"


def _place(name: str) -> int:
    """Where in a lane's state a register is, in bytes."""
    if name in "nzcv":
        return 8 * lane.FLAG_BYTES + "nzcv".index(name)
    if name == "floating":
        return 8 * lane.FLOATING
    if name.startswith("vector"):
        return 8 * (lane.VECTORS + 2 * int(name.removeprefix("vector")))
    return 8 * (lane.REGISTERS + int(name[1:]))
