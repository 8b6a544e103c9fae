"""What the interpreter and the translator have in common: the lane's state, and memory that is checked."""

from __future__ import annotations

from lanewise.arm64 import lane
from lanewise.arm64.exact import codes
from lanewise.arm64.machine import MEMORY, Access, Machine
from lanewise.arm64.values import Value

PARAMETERS = "ptr %lane, ptr %memory, i64 %size, i64 %limit, ptr %run, ptr %modified"
"""What a function is given that runs a lane: its state, where address 0 of its memory would be, how large that is, how
far it may go, what all were told, and where to say that translated code was changed."""
_EXACT_WORDS = f"%exact.words = alloca [{codes.GIVEN_WORDS} x i64], align 16"

_GLOBAL = (
    "%memory.number = ptrtoint ptr %memory to i64",
    "%memory.global = inttoptr i64 %memory.number to ptr addrspace(1)",
    "%memory.known = addrspacecast ptr addrspace(1) %memory.global to ptr",
)
"""The same place, of which a GPU's compiler knows that it is neither a thread's own memory nor that of a group: so it
need not look each time."""


class LaneMachine(Machine):
    """A lane whose state is at %lane, and whose memory at %memory."""

    def __init__(self, gpu: bool) -> None:
        super().__init__()
        self.gpu = gpu
        self._memory = "%memory"
        if gpu:
            self.head += _GLOBAL
            self._memory = "%memory.known"

    def special(self, name: str) -> Value:
        return self.assign(64, f"load i64, ptr {self._special(name)}")

    def set_special(self, name: str, value: Value) -> None:
        self.emit(f"store {value.typed}, ptr {self._special(name)}")

    def _special(self, name: str) -> str:
        """Where one is: in the lane's state, as few instructions need them and registers are few."""
        return self._word(lane.SPECIAL[name])

    def _word(self, number: int) -> str:
        """Where a word of the lane's state is."""
        return self.pointer(f"getelementptr i64, ptr %lane, i64 {number}")

    def exact_words(self) -> str:
        if _EXACT_WORDS not in self.head:
            self.head.append(_EXACT_WORDS)
        return "%exact.words"

    # --- memory ------------------------------------------------------------------------------------------------------

    first_byte = Value(64, "%start")
    """The address where memory begins."""
    size = Value(64, "%size")
    """How long it is."""
    code_place = Value(64, "%code"), Value(64, "%code_bytes")
    """What part of it is translated: where it begins, and how long it is."""

    def check(self, address: Value, count: int, access: Access) -> None:
        self.stop_if(self.outside(address, count), MEMORY, address)
        if "w" in access:
            self._note_change(address, count)

    def outside(self, address: Value, count: int) -> Value:
        """Whether some of the bytes from an address on are not in memory."""
        offset = self.sub(address, self.first_byte)
        return self.compare("ugt", offset, self.sub(self.size, count))

    def in_code(self, address: Value, count: int) -> Value:
        """Whether some of the bytes from an address on are translated."""
        first, length = self.code_place
        end = self.add(self.sub(address, first), count - 1)
        return self.compare("ult", end, self.add(length, count - 1))

    def _note_change(self, address: Value, count: int) -> None:
        """Say so if bytes are changed that are translated: the translation is no longer what they mean."""
        inside = self.in_code(address, count)
        change, on = self.label("change"), self.label("on")
        self.emit(f"br {inside.typed}, label %{change}, label %{on}, !prof !0")
        self.start(change)
        self.emit("store atomic i64 1, ptr %modified monotonic, align 8")
        self.emit(f"br label %{on}")
        self.start(on)

    def place(self, address: Value) -> str:
        return self.pointer(f"getelementptr i8, ptr {self._memory}, i64 {address.text}")

    def load(self, address: Value, bits: int) -> Value:
        if not self.gpu or bits == 8:
            return self.assign(bits, f"load i{bits}, ptr {self.place(address)}, align 1")
        at = self.place(address)
        whole, parts, on = self._by_alignment(address, bits)
        direct = self.assign(bits, f"load i{bits}, ptr {at}, align {bits // 8}")
        self.emit(f"br label %{on}")
        self.start(parts)
        gathered = self.assign(bits, f"call i{bits} @arm64.load.i{bits}(ptr {at})")
        self.emit(f"br label %{on}")
        self.start(on)
        return self.assign(bits, f"phi i{bits} [ {direct.text}, %{whole} ], [ {gathered.text}, %{parts} ]")

    def store(self, address: Value, value: Value) -> None:
        if not self.gpu or value.bits == 8:
            self.emit(f"store {value.typed}, ptr {self.place(address)}, align 1")
            return
        at = self.place(address)
        _, parts, on = self._by_alignment(address, value.bits)
        self.emit(f"store {value.typed}, ptr {at}, align {value.bits // 8}")
        self.emit(f"br label %{on}")
        self.start(parts)
        self.emit(f"call void @arm64.store.i{value.bits}(ptr {at}, {value.typed})")
        self.emit(f"br label %{on}")
        self.start(on)

    def _by_alignment(self, address: Value, bits: int) -> tuple[str, str, str]:
        """Begin the block for an address that fits the size; gives its label, that for others, and that behind both.

        Memory begins at a multiple of 16.
        """
        whole, parts, on = self.label("whole"), self.label("parts"), self.label("on")
        odd = self.compare("ne", self.both(address, bits // 8 - 1), 0)
        self.emit(f"br {odd.typed}, label %{parts}, label %{whole}, !prof !0")
        self.start(whole)
        return whole, parts, on
