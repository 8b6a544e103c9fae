"""A lane whose flags and counters are variables of a function, which LLVM keeps in registers."""

from __future__ import annotations

from abc import abstractmethod

from lanewise.arm64 import lane
from lanewise.arm64.exact import codes
from lanewise.arm64.machine import MEMORY, Access, Machine
from lanewise.arm64.values import Value, known

_FLAGS = tuple(zip((31, 30, 29, 28), "nzcv", strict=True))
PARAMETERS = "ptr %lane, ptr %memory, i64 %size, i64 %limit, ptr %run, ptr %modified"
"""What a function is given that runs a lane: its state, where address 0 of its memory would be, how large that is, how
far it may go, what all were told, and where to say that translated code was changed."""
_VARIABLES = {
    "pc.at": lane.PC, "cycles": lane.CYCLES, "reason": lane.REASON, "detail": lane.DETAIL, "floating": lane.FLOATING,
}  # fmt: skip
_EXACT_WORDS = f"%exact.words = alloca [{codes.GIVEN_WORDS} x i64], align 16"


class LaneMachine(Machine):
    """What interpreter and translator have in common."""

    def __init__(self, gpu: bool) -> None:
        super().__init__()
        self.gpu = gpu

    def flag(self, name: str) -> Value:
        return self.assign(1, f"load i1, ptr %{name}")

    def set_flag(self, name: str, value: Value) -> None:
        self.emit(f"store {value.typed}, ptr %{name}")

    def special(self, name: str) -> Value:
        return self.assign(64, f"load i64, ptr {self._special(name)}")

    def set_special(self, name: str, value: Value) -> None:
        self.emit(f"store {value.typed}, ptr {self._special(name)}")

    def _special(self, name: str) -> str:
        """Where one is: in the lane's state, as few instructions need them and registers are few."""
        return self.pointer(f"getelementptr i64, ptr %lane, i64 {lane.SPECIAL[name]}")

    def cycles(self) -> Value:
        return self.assign(64, "load i64, ptr %cycles")

    def floating(self) -> Value:
        return self.assign(64, "load i64, ptr %floating")

    def set_floating(self, value: Value) -> None:
        self.emit(f"store {value.typed}, ptr %floating")

    def exact_words(self) -> str:
        if _EXACT_WORDS not in self.head:
            self.head.append(_EXACT_WORDS)
        return "%exact.words"

    # --- memory ------------------------------------------------------------------------------------------------------

    def check(self, address: Value, count: int, access: Access) -> None:
        self.stop_if(self.outside(address, count), MEMORY, address)
        if "w" in access:
            self._note_change(address, count)

    def outside(self, address: Value, count: int) -> Value:
        """Whether some of the bytes from an address on are not in memory."""
        offset = self.sub(address, Value(64, "%start"))
        return self.compare("ugt", offset, self.sub(Value(64, "%size"), count))

    def _note_change(self, address: Value, count: int) -> None:
        """Say so if bytes are changed that are translated: the translation is no longer what they mean."""
        end = self.add(self.sub(address, Value(64, "%code")), count - 1)
        inside = self.compare("ult", end, self.add(Value(64, "%code_bytes"), count - 1))
        change, on = self.label("change"), self.label("on")
        self.emit(f"br {inside.typed}, label %{change}, label %{on}, !prof !0")
        self.start(change)
        self.emit("store atomic i64 1, ptr %modified monotonic, align 8")
        self.changed()
        self.emit(f"br label %{on}")
        self.start(on)

    def changed(self) -> None:
        """What more is to do then."""

    def place(self, address: Value) -> str:
        return self.pointer(f"getelementptr i8, ptr %memory, i64 {address.text}")

    def load(self, address: Value, bits: int) -> Value:
        if self.gpu and bits > 8:
            return self.assign(bits, f"call i{bits} @arm64.load.i{bits}(ptr {self.place(address)})")
        return self.assign(bits, f"load i{bits}, ptr {self.place(address)}, align 1")

    def store(self, address: Value, value: Value) -> None:
        if self.gpu and value.bits > 8:
            self.emit(f"call void @arm64.store.i{value.bits}(ptr {self.place(address)}, {value.typed})")
        else:
            self.emit(f"store {value.typed}, ptr {self.place(address)}, align 1")

    # --- the function ------------------------------------------------------------------------------------------------

    @abstractmethod
    def enter(self) -> list[str]:
        """Lines that bring the registers from the lane's state."""

    @abstractmethod
    def leave_registers(self) -> None:
        """Write lines that put them back."""

    def function(self, name: str, first: str) -> str:
        """The function, of which all but the beginning is written; it goes on at a label."""
        lines = ["entry:", *(f"  {line}" for line in [*self.enter(), *self._enter(), *dict.fromkeys(self.head)])]
        text = "\n".join([*lines, f"  br label %{first}", *self.lines])
        return f"define void @{name}({PARAMETERS}) {{\n{text}\n}}\n"

    def _enter(self) -> list[str]:
        lines = [f"%{name} = alloca i1" for name in "nzcv"]
        lines += [f"%{name} = alloca i64" for name in _VARIABLES]
        for name, number in _VARIABLES.items():
            lines.append(f"%in.{name}.at = getelementptr i64, ptr %lane, i64 {number}")
            lines.append(f"%in.{name} = load i64, ptr %in.{name}.at")
            lines.append(f"store i64 %in.{name}, ptr %{name}")
        lines.append(f"%in.flags.at = getelementptr i64, ptr %lane, i64 {lane.FLAGS}")
        lines.append("%in.flags = load i64, ptr %in.flags.at")
        for name, number in (("code", lane.CODE), ("code_bytes", lane.CODE_BYTES), ("start", lane.START)):
            lines.append(f"%{name}.at = getelementptr i64, ptr %run, i64 {number}")
            lines.append(f"%{name} = load i64, ptr %{name}.at")
        for at, name in _FLAGS:
            lines.append(f"%in.{name}.bit = lshr i64 %in.flags, {at}")
            lines.append(f"%in.{name} = trunc i64 %in.{name}.bit to i1")
            lines.append(f"store i1 %in.{name}, ptr %{name}")
        return lines

    def leave(self) -> None:
        """Write lines that put all of the lane back and return."""
        self.leave_registers()
        for name, number in _VARIABLES.items():
            value = self.assign(64, f"load i64, ptr %{name}")
            at = self.pointer(f"getelementptr i64, ptr %lane, i64 {number}")
            self.emit(f"store {value.typed}, ptr {at}")
        flags = known(64, 0)
        for bit, name in _FLAGS:
            flags = self.either(flags, self.left(self.resize(self.flag(name), 64), bit))
        self.emit(f"store {flags.typed}, ptr {self.pointer(f'getelementptr i64, ptr %lane, i64 {lane.FLAGS}')}")
        self.emit("ret void")
