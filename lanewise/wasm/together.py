"""Functions that call each other in a ring, lowered as one loop, so that lanes meet whatever the depth of their calls.

On a GPU, lanes of a warp that have parted meet again where their ways join in one function. A lane that has called a
function from within itself runs code that the others run, too, but in another frame, and they never meet: a parser
that calls itself for what is nested runs its lanes one after the other. So all functions of such a ring become one
function of LLVM. A call among them saves what is still wanted to a stack of the function's own, and goes to the head of
a loop, `again`, where all lanes meet and go on to the function that they want. A return takes from that stack where to
go on.

A loop with such a call in it has its head as its one way in (with two the compiler would not know where lanes meet): a
lane that returns into its midst goes there, and the head lets it go on to where it `wants`.

The stack is a piece of the frame. When it is full, a call is a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lanewise.wasm.emitter import ModuleContext, Value, result_type
from lanewise.wasm.flow import BodyFlow
from lanewise.wasm.lowering import Frame, FunctionLowering
from lanewise.wasm.lowering_calls import Callee, push_results, real_call
from lanewise.wasm.marking import hand_on
from lanewise.wasm.model import Function, FuncType
from lanewise.wasm.opcodes.row import LLVM_TYPES

_STACK = 1024
"""Bytes of the stack, if frames are small: every function below a check of the GPU's stack may have as much."""
_FRAMES = 4
"""Frames that fit it at least."""
_MOST = 2048
"""Bytes of the largest stack: two such functions have to fit below a check, even if the code does not tell its frames
(`gpu_stack`)."""
_BYTES = {"i32": 4, "f32": 4, "v128": 16}
"""Of a saved value, where it is not 8."""
_LIMIT = "<limit>"


@dataclass
class _Site:
    """A call from one function of the ring to another."""

    number: int
    loops: list[int]
    """Where the loops around it begin, the outermost first."""

    @property
    def label(self) -> str:
        return f"resume.{self.number}"


@dataclass
class _Member:
    """A function of the ring."""

    index: int
    function: Function
    start: int
    """What `again` is told to go on to it; the number behind all of them stands for a return."""
    sites: dict[int, _Site] = field(default_factory=dict)
    """By the offset of the call."""
    wanted: dict[int, list[int]] = field(default_factory=dict)
    """The locals that are wanted behind each call."""


@dataclass
class _Saved:
    """A value that a call saves: an LLVM type, what to store, and the slot that it goes back to, if it has one."""

    kind: str
    value: str
    slot: str = ""


class RingLowering(FunctionLowering):
    """A function that others enter a ring by, lowered along with all functions of the ring."""

    def __init__(self, context: ModuleContext, ring: tuple[int, ...]) -> None:
        bodies = [context.module.bodies[index - context.module.imported_functions] for index in ring]
        super().__init__(context, ring[0], bodies[0])
        self._members = {
            index: _Member(index, body, number) for number, (index, body) in enumerate(zip(ring, bodies, strict=True))
        }
        for member in self._members.values():
            self._find_sites(member)
        self._now = self._members[self.index]
        self._kept: list[list[_Saved | None]] = []
        """For each open block, the values below it that are in slots."""
        self._largest = 0
        self._resumed: dict[int, _Site] = {}
        """The sites whose code can be reached, by their numbers."""
        self._guarded: set[int] = set()
        """The loops among them, by their offsets."""

    def _find_sites(self, member: _Member) -> None:
        flow = BodyFlow(self.module, member.function)
        member.wanted = flow.wanted_behind()
        for offset, loops, callee in flow.calls():
            if callee in self._members:
                number = 1 + sum(len(other.sites) for other in self._members.values())
                member.sites[offset] = _Site(number, loops)

    # --- the whole ---------------------------------------------------------------------------------------------------

    def lower(self) -> None:
        """Lower all functions of the ring."""
        entry = self._now
        self.loops = True  # which is the one around all of them
        self.slots += [f"%{name} = alloca i32" for name in ("next", "wants", "top")]
        for kind in sorted({kind for one in self._members.values() for kind in one.function.type.results[:1]}):
            self.slots.append(f"{_result(kind)} = alloca {LLVM_TYPES[kind]}")
        self.local_types = list(entry.function.type.params)
        self.set_locals([f"%p{at}" for at in range(len(self.local_types))])
        for name, number in (("next", entry.start), ("wants", 0), ("top", 0)):
            self.emit(f"store i32 {number}, ptr %{name}")
        self.hold_guard()
        self.hold_count()
        self._begin_rounds()
        for member in self._members.values():
            self._lower_member(member)
        self.function = entry.function
        self._return()
        self._end_frames()

    def _begin_rounds(self) -> None:
        self.emit("br label %again")
        self.emit("again:")
        if self.build.stats:
            self.emit("call void @lw.sample(ptr %st)")
        if self.build.meter in ("stop", "tally"):
            self.count_round(step=False)
        starts = " ".join(f"i32 {one.start}, label %start.{one.index}" for one in self._members.values())
        self.emit(f"switch i32 {self.assign('load i32, ptr %next')}, label %back [ {starts} ]")

    def _lower_member(self, member: _Member) -> None:
        self._now, self.function = member, member.function
        self.stack.clear()
        first = self.declare_locals()
        self.emit(f"start.{member.index}:")
        self.lower_body(first)

    def _return(self) -> None:
        """The way back to whoever called: a function of the ring, or somebody else."""
        self.emit("back:")
        top = self.assign("load i32, ptr %top")
        self.emit(f"br i1 {self.assign(f'icmp eq i32 {top}, 0')}, label %out, label %pop")
        self.emit("pop:")
        wanted = self.assign(f"load i32, ptr {self._in_stack(top, -8)}, align 8")
        self.emit(f"store i32 {wanted}, ptr %wants")
        ways = [(number, site.loops[0] if site.loops else None) for number, site in self._resumed.items()]
        self.emit(f"switch i32 {wanted}, label %never [ {_cases(ways)} ]")
        self.emit("out:")
        hand_on(self)
        self.hand_on_steps()
        kinds = self.function.type.results
        if kinds:
            result = self.assign(f"load {LLVM_TYPES[kinds[0]]}, ptr {_result(kinds[0])}")
            self.emit(f"ret {LLVM_TYPES[kinds[0]]} {result}")
        else:
            self.emit("ret void")
        self.emit("never:")
        self.emit("unreachable")
        for site in (site for member in self._members.values() for site in member.sites.values()):
            if site.number not in self._resumed:  # in code that cannot be reached
                self.emit(f"{site.label}:")
                self.emit("unreachable")
                for loop in set(site.loops) - self._guarded:
                    self._guarded.add(loop)
                    self.emit(f"{_guard(loop)}:")
                    self.emit("unreachable")

    def text(self, inline: bool | None = None) -> str:
        """The definition; lanes meet at its end, which they would not if it were part of its caller."""
        return super().text(inline=False)

    @property
    def fits(self) -> bool:
        """Whether the stack is no larger than it may be, once all is lowered."""
        return _FRAMES * self._largest <= _MOST

    def _end_frames(self) -> None:
        size = max(_STACK, _FRAMES * self._largest)
        self.slots.append(f"%frames = alloca [{size} x i8], align 16")
        self.lines = [line.replace(_LIMIT, str(size - 2 * self._largest)) for line in self.lines]

    # --- one function of it ------------------------------------------------------------------------------------------

    def local(self, number: int) -> str:
        """The slot of a local of the function that is being lowered."""
        return _local(self._now, number)

    def open_block(self, kind: str, block: FuncType) -> Frame:
        """Begin a block; values below it go to slots, for calls in it save them, and name them anew."""
        below = self.frames[-1].height if self.frames else 0
        frame = super().open_block(kind, block)
        kept: list[_Saved | None] = []
        for value_kind, value in self.stack[below : frame.height]:
            if value.startswith("%"):
                slot = self.slot(value_kind, "kept")
                self.emit(f"store {LLVM_TYPES[value_kind]} {value}, ptr {slot}")
                kept.append(_Saved(value_kind, "", slot))
            else:
                kept.append(None)
        self._kept.append(kept)
        return frame

    def close_block(self, reachable: bool = True) -> bool:
        """End the innermost block; what lay below it is taken from its slots."""
        frame = self.frames[-1]
        reached = super().close_block(reachable)
        kept = self._kept.pop()
        if self.frames and reached:
            for at, one in enumerate(kept, frame.height - len(kept)):
                if one is not None:
                    self.stack[at] = one.kind, self.assign(f"load {LLVM_TYPES[one.kind]}, ptr {one.slot}")
        return reached

    def enter(self) -> None:
        """What comes first in a function of the ring; `again` counts calls among them, as rounds."""
        self.count_step()

    def leave(self, values: list[str]) -> None:
        """Return from a function of the ring."""
        self.give_others(values)
        if values:
            kind = self.function.type.results[0]
            self.emit(f"store {LLVM_TYPES[kind]} {values[0]}, ptr {_result(kind)}")
        self.emit(f"store i32 {len(self._members)}, ptr %next")
        self.emit("br label %again")

    def loop_label(self) -> str:
        """The label of a loop: where a call of the ring is in it, one that returns know."""
        return _guard(self.place) if self._sites_in(self.place) else super().loop_label()

    def begin_round(self) -> None:
        """Let lanes that return into the loop go on to where they want."""
        loop, sites = self.place, self._sites_in(self.place)
        if not sites:
            return
        self._guarded.add(loop)
        ways = [(site.number, _behind(site.loops, loop)) for site in sites]
        free = self.label("free")
        self.emit(f"switch i32 {self.assign('load i32, ptr %wants')}, label %{free} [ {_cases(ways)} ]")
        self.emit(f"{free}:")

    def _sites_in(self, loop: int) -> list[_Site]:
        return [site for site in self._now.sites.values() if loop in site.loops]

    # --- a call ------------------------------------------------------------------------------------------------------

    def call_within(self, index: int) -> bool:
        """Call a function of the ring: save what is wanted, go on there, and come back to what follows."""
        if index not in self._members:
            return False
        kind, site = self.module.functions[index], self._now.sites[self.place]
        self._resumed[site.number] = site
        self.calls.add(index)
        arguments = self.pop_many(len(kind.params))
        saved = list(self._wanted())
        offsets, size = _layout([one.kind for one in saved])
        self._largest = max(self._largest, size)
        top = self.assign("load i32, ptr %top")
        for one, offset in zip(saved, offsets, strict=True):
            kind_ = LLVM_TYPES[one.kind]
            value = one.value or self.assign(f"load {kind_}, ptr {one.slot}")
            self.emit(f"store {kind_} {value}, ptr {self._in_stack(top, offset)}, align {_size_of(one.kind)}")
        deep, push, restore = (f"{name}.{site.number}" for name in ("deep", "push", "restore"))
        full = self.assign(f"icmp ugt i32 {top}, {_LIMIT}")
        self.emit(f"br i1 {full}, label %{deep}, label %{push}, !prof !0")
        self._push(self._members[index], site, push, arguments, top, size)
        self.emit(f"{deep}:")
        result = real_call(self, kind, Callee(self.context.symbol(index)), arguments)
        if kind.results:
            self.emit(f"store {result_type(kind)} {result}, ptr {_result(kind.results[0])}")
        self.emit(f"br label %{restore}")
        self.emit(f"{site.label}:")
        lower = self.assign(f"sub i32 {self.assign('load i32, ptr %top')}, {size}")
        self.emit(f"store i32 {lower}, ptr %top")
        self.emit("store i32 0, ptr %wants")
        self.emit(f"br label %{restore}")
        self.emit(f"{restore}:")
        self._restore(saved, offsets)
        first = self.assign(f"load {result_type(kind)}, ptr {_result(kind.results[0])}") if kind.results else ""
        push_results(self, kind, first, "%st")
        return True

    def _wanted(self) -> Iterator[_Saved]:
        """What a call here must save: locals that are wanted behind it, and what lies on the stack."""
        for number in self._now.wanted[self.place]:
            yield _Saved(self.local_types[number], "", self.local(number))
        for kept in self._kept:
            yield from (one for one in kept if one is not None)
        for kind, value in self.stack[self.frames[-1].height :]:
            if value.startswith("%"):
                yield _Saved(kind, value)

    def _push(self, callee: _Member, site: _Site, label: str, arguments: list[Value], top: str, size: int) -> None:
        self.emit(f"{label}:")
        higher = self.assign(f"add i32 {top}, {size}")
        self.emit(f"store i32 {site.number}, ptr {self._in_stack(higher, -8)}, align 8")
        self.emit(f"store i32 {higher}, ptr %top")
        for number, (kind, value) in enumerate(arguments):
            self.emit(f"store {LLVM_TYPES[kind]} {value}, ptr {_local(callee, number)}")
        self.emit(f"store i32 {callee.start}, ptr %next")
        self.emit("br label %again")

    def _restore(self, saved: list[_Saved], offsets: list[int]) -> None:
        top = self.assign("load i32, ptr %top")
        height = self.frames[-1].height
        at = height
        for one, offset in zip(saved, offsets, strict=True):
            where = self._in_stack(top, offset)
            value = self.assign(f"load {LLVM_TYPES[one.kind]}, ptr {where}, align {_size_of(one.kind)}")
            if one.slot:
                self.emit(f"store {LLVM_TYPES[one.kind]} {value}, ptr {one.slot}")
                continue
            while not self.stack[at][1].startswith("%"):
                at += 1
            self.stack[at] = one.kind, value
            at += 1

    def _in_stack(self, top: str, offset: int) -> str:
        return self.assign(f"getelementptr i8, ptr %frames, i32 {self.assign(f'add i32 {top}, {offset}')}")


def _layout(kinds: list[str]) -> tuple[list[int], int]:
    """Where values of a frame lie, and its size with the number of its site at the end."""
    offsets, at = [], 0
    for kind in kinds:
        size = _size_of(kind)
        at = (at + size - 1) // size * size
        offsets.append(at)
        at += size
    return offsets, (at + 8 + 15) // 16 * 16


def _size_of(kind: str) -> int:
    return _BYTES.get(kind, 8)


def _local(member: _Member, number: int) -> str:
    return f"%l{number}.of.{member.index}"


def _result(kind: str) -> str:
    return f"%result.{kind}"


def _guard(loop: int) -> str:
    return f"guard.{loop}"


def _behind(loops: list[int], loop: int) -> int | None:
    """The loop that is next inside another one on the way to a site; None if there is none."""
    inner = loops[loops.index(loop) + 1 :]
    return inner[0] if inner else None


def _cases(ways: list[tuple[int, int | None]]) -> str:
    """Where lanes go that want to a site: to it, or to the loop that it is in."""
    return " ".join(
        f"i32 {number}, label %{f'resume.{number}' if loop is None else _guard(loop)}" for number, loop in ways
    )
