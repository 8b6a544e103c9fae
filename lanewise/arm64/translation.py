"""A whole translation: functions of units in pieces that are compiled side by side, and what goes from one to another.

A table has a number for each word of the code: that of the unit that it is an entry of, from 1 on, or 0. On a CPU units
go on in each other by calls that take their place. A GPU has none such: there a loop calls one unit after the other,
and lanes meet in it again; the lane's state is copied to memory that is fast for each thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lanewise.arm64 import lane
from lanewise.arm64.entry import FINISH
from lanewise.arm64.finding import Code
from lanewise.arm64.lane_machine import PARAMETERS
from lanewise.arm64.machine import LEFT, RUNNING, SHORT
from lanewise.arm64.translator import END, UNIT_PARAMETERS, UnitTranslator, unit_name
from lanewise.arm64.units import Unit, find_units

_PIECE = 3000
"""Instructions in a piece, or a unit more."""


class Translation:
    """The units of some code."""

    def __init__(
        self, gpu: bool, content: bytes, base: int, entries: Sequence[int], memory: range, calls: bool = True
    ) -> None:
        self._gpu, self._code = gpu, Code(content, base)
        self._units = find_units(self._code, entries, calls, gpu)
        owners = {address: unit.number for unit in self._units for address in unit.blocks}
        whole = len(self._units) == 1
        self._translators = [UnitTranslator(gpu, self._code, memory, unit, owners, whole) for unit in self._units]

    @property
    def size(self) -> int:
        """How many instructions there are."""
        return sum(unit.size for unit in self._units)

    def table(self) -> bytes:
        """The number for each word."""
        numbers = np.zeros(len(self._code.content) // 4, np.uint32)
        for unit, translator in zip(self._units, self._translators, strict=True):
            numbers[(np.array(translator.entries, np.int64) - self._code.base) // 4] = unit.number + 1
        return numbers.tobytes()

    def pieces(self) -> Iterator[str]:
        """All functions in LLVM's text."""
        yield self._going()
        functions: list[str] = []
        called: set[int] = set()
        size = 0
        for unit, translator in zip(self._units, self._translators, strict=True):
            functions.append(translator.text())
            called |= translator.called
            size += unit.size
            if size >= _PIECE or unit is self._units[-1]:
                here = {int(text.split("(", 1)[0].rpartition("_")[2]) for text in functions}
                names = [unit_name(other) for other in sorted(called - here)]
                yield "".join([*_declared([*names, "arm64_go"]), f"declare void @{END}(ptr) noreturn\n", *functions])
                functions, called, size = [], set(), 0

    def _going(self) -> str:
        declared = _declared([unit_name(unit.number) for unit in self._units])
        functions = ", ".join(["ptr @arm64_none", *(f"ptr @{unit_name(unit.number)}" for unit in self._units)])
        table = f"@arm64_functions = internal constant [{len(self._units) + 1} x ptr] [{functions}]\n"
        none = f"define internal void @arm64_none({UNIT_PARAMETERS}) {{\n{_none()}}}\n"
        number = _number(self._code.base, len(self._code.content) // 4)
        going = _gpu_going(number, self._units) if self._gpu else _host_going(number)
        return "".join([*declared, table, none, going])


def _declared(names: Sequence[str]) -> list[str]:
    return [f"declare void @{name}({UNIT_PARAMETERS})\n" for name in names]


def _cell(name: str, number: int, of: str = "%lane") -> str:
    return f"  %{name} = getelementptr i64, ptr {of}, i64 {number}\n"


def _none() -> str:
    """Where no unit is."""
    return f"""{_cell("why", lane.REASON)}  store i64 {LEFT}, ptr %why
{_cell("remaining", lane.REMAINING)}  store i32 %left.in, ptr %remaining
  ret void
"""


def _number(base: int, count: int) -> str:
    """Find the number in the table for where the lane is, which is 0 for most addresses. Addresses between words are
    beyond all when turned."""
    return f"""{_cell("pc.at", lane.PC)}  %pc = load i64, ptr %pc.at
  %ahead = sub i64 %pc, {base}
  %index = call i64 @llvm.fshr.i64(i64 %ahead, i64 %ahead, i64 2)
  %inside = icmp ult i64 %index, {count}
  br i1 %inside, label %look, label %found
look:
  %number.at = getelementptr i32, ptr %units, i64 %index
  %number.there = load i32, ptr %number.at
  br label %found
found:
  %number = phi i32 [ 0, %BEFORE ], [ %number.there, %look ]
"""


_FUNCTION = """  %function.at = getelementptr ptr, ptr @arm64_functions, i32 %number
  %function = load ptr, ptr %function.at
"""
"""The function of that number."""


def _begin() -> str:
    """Give translated code what it needs."""
    flags = "".join(
        f"""  %flag.{at} = lshr i64 %flags, {31 - at}
  %bit.{at} = trunc i64 %flag.{at} to i8
  %byte.{at} = and i8 %bit.{at}, 1
  %byte.at.{at} = getelementptr i8, ptr %lane, i64 {8 * lane.FLAG_BYTES + at}
  store i8 %byte.{at}, ptr %byte.at.{at}
"""
        for at in range(4)
    )
    return f"""{_cell("units.at", lane.UNITS, "%run")}  %units = load ptr, ptr %units.at
{_cell("cycles", lane.CYCLES)}  %ran = load i64, ptr %cycles
  %room = sub i64 %limit, %ran
  %some = call i64 @llvm.umin.i64(i64 %room, i64 {2**31 - 1})
  %left.in = trunc i64 %some to i32
  %until = add i64 %ran, %some
{_cell("until.at", lane.UNTIL)}  store i64 %until, ptr %until.at
{_cell("remaining", lane.REMAINING)}  store i32 %left.in, ptr %remaining
{_cell("reason", lane.REASON)}  store i64 {RUNNING}, ptr %reason
{_cell("flags.at", lane.FLAGS)}  %flags = load i64, ptr %flags.at
{flags}"""


def _end() -> str:
    """Bring the lane's state back to what all others know."""
    flags, total = "", "0"
    for at in range(4):
        flags += f"""  %new.{at} = load i8, ptr %byte.at.{at}
  %wide.{at} = zext i8 %new.{at} to i64
  %up.{at} = shl i64 %wide.{at}, {31 - at}
  %sum.{at} = or i64 {total}, %up.{at}
"""
        total = f"%sum.{at}"
    return f"""{flags}  store i64 {total}, ptr %flags.at
  %left = load i32, ptr %remaining
  %left.wide = zext i32 %left to i64
  %done = sub i64 %until, %left.wide
  store i64 %done, ptr %cycles
"""


def _host_going(number: str) -> str:
    return f"""define void @arm64_go({UNIT_PARAMETERS}) {{
begin:
{number.replace("%BEFORE", "%begin")}{_FUNCTION}  musttail call void %function({UNIT_PARAMETERS})
  ret void
}}
define void @arm64_translated({PARAMETERS}) {{
{_begin()}  call void @arm64_go({UNIT_PARAMETERS})
{_end()}  ret void
}}
"""


def _gpu_going(number: str, units: Sequence[Unit]) -> str:
    called = f"@{unit_name(0)}" if len(units) == 1 else "%function"
    copy = f"i64 {lane.WORDS * 8}, i1 false"
    kept = "".join(
        f"""{_cell(f"kept.{at}", lane.WORDS + at)}  store {given}, ptr %kept.{at}
"""
        for at, given in enumerate(_KEPT)
    )
    brought = "".join(
        f"""{_cell(f"kept.{at}", lane.WORDS + at)}  {given.split()[1]} = load {given.split()[0]}, ptr %kept.{at}
"""
        for at, given in enumerate(_KEPT)
    )
    return f"""declare void @arm64_interpret({PARAMETERS})
declare void @{FINISH}(ptr, ptr, i64)
define void @arm64_translated({PARAMETERS.replace("%lane", "%state")}) {{
begin:
  %lane = alloca [{lane.WORDS + len(_KEPT)} x i64], align 16
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %lane, ptr align 8 %state, {copy})
{kept}{_begin()}  br label %again
again:
{number.replace("%BEFORE", "%again")}{_FUNCTION}  %known = icmp ne i32 %number, 0
  br i1 %known, label %go, label %none
none:
  store i64 {LEFT}, ptr %reason
  br label %over
go:
  call void {called}({UNIT_PARAMETERS})
  %why = load i64, ptr %reason
  %more = icmp eq i64 %why, {RUNNING}
  br i1 %more, label %again, label %over
over:
{_end()}  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %state, ptr align 16 %lane, {copy})
  ret void
}}
define void @{END}(ptr %lane) noinline noreturn {{
begin:
{brought}{_cells()}{_end()}  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %state, ptr align 16 %lane, {copy})
  %why = load i64, ptr %reason
  switch i64 %why, label %finish [ i64 {LEFT}, label %interpret i64 {SHORT}, label %ask ]
ask:
{_may_rest()}  br i1 %may_rest, label %place, label %interpret
place:
{_cell("units.at", lane.UNITS, "%run")}  %units = load ptr, ptr %units.at
{number.replace("%BEFORE", "%place")}  %enters = icmp ne i32 %number, 0
  br i1 %enters, label %rest, label %interpret
rest:
{_cell("reason.kept", lane.REASON, "%state")}  store i64 {RUNNING}, ptr %reason.kept
  call void @{FINISH}(ptr %state, ptr %run, i64 %done)
  br label %gone
interpret:
{_cell("allowed.at", lane.INTERPRETED, "%run")}  %allowed = load i64, ptr %allowed.at
  %further = add i64 %done, %allowed
  %end = call i64 @llvm.umin.i64(i64 %further, i64 %limit)
  call void @arm64_interpret(ptr %state, ptr %memory, i64 %size, i64 %end, ptr %run, ptr %modified)
  br label %finish
finish:
  call void @{FINISH}(ptr %state, ptr %run, i64 %limit)
  br label %gone
gone:
  call void asm sideeffect "exit;", ""()
  unreachable
}}
"""


def _may_rest() -> str:
    """Whether a lane that has too few instructions left in this slice has done some, and will have more in the next."""
    return f"""{_cell("most.at", lane.LIMIT, "%run")}  %most = load i64, ptr %most.at
{_cell("slice.at", lane.SLICE, "%run")}  %slice = load i64, ptr %slice.at
  %begun = sub i64 %limit, %slice
  %some_done = icmp ugt i64 %done, %begun
  %later = icmp ult i64 %limit, %most
  %may_rest = and i1 %some_done, %later
"""


_KEPT = ("ptr %state", "ptr %memory", "i64 %size", "i64 %limit", "ptr %run", "ptr %modified")
"""What a lane that stops on a GPU must know, behind the copy of its state."""


def _cells() -> str:
    """What `_begin` has named, for who comes later."""
    bytes_of_flags = "".join(
        f"  %byte.at.{at} = getelementptr i8, ptr %lane, i64 {8 * lane.FLAG_BYTES + at}\n" for at in range(4)
    )
    return (
        _cell("until.at", lane.UNTIL)
        + "  %until = load i64, ptr %until.at\n"
        + _cell("remaining", lane.REMAINING)
        + _cell("cycles", lane.CYCLES)
        + _cell("reason", lane.REASON)
        + _cell("flags.at", lane.FLAGS)
        + bytes_of_flags
    )
