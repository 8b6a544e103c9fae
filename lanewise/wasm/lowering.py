"""A function body to LLVM IR text, in one pass over its instructions.

Values live on a compile-time stack of names; locals, and what blocks take and give, live in slots that LLVM turns into
registers. Code that cannot be reached is skipped. The body has been validated, so nothing is checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lanewise.wasm import state, traps
from lanewise.wasm.emitter import Emitter, ModuleContext, result_type
from lanewise.wasm.instructions import instructions, locals_of
from lanewise.wasm.marking import hand_on
from lanewise.wasm.model import Function, FuncType, Instruction
from lanewise.wasm.nan import settle_nan
from lanewise.wasm.opcodes import OPS
from lanewise.wasm.opcodes.row import LLVM_TYPES, Op
from lanewise.wasm.provided import lower_provided


@dataclass
class Frame:
    """A block that the code is in: where its label leads, and the slots that carry what it takes or gives."""

    label: str
    kind: str
    type: FuncType
    height: int
    """How many values lay on the stack below the block's own."""
    targets: list[str] = field(default_factory=list)
    """Slots that a branch to the label fills."""
    results: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    """Slots of the block's parameters, where they are needed again: by a loop's next round, by an `else`."""
    end: str = ""
    otherwise: str = ""
    """The label of the `else` part, while there has been none."""
    landing: str = ""
    """try_table: where an exception in it goes."""
    reached: bool = False
    """Whether any branch leads to the end."""


_OF_INSTANCES = frozenset(
    row.rule
    for row in OPS.values()
    if row.rule.startswith(
        ("memory.", "table.", "global.", "data.", "elem.", "call_ind", "return_call_ind", "throw", "try")
    )
    or row.rule in ("ref.func", "atomic.fence")
)
"""Instructions that need an instance: its memories, tables, globals, or other functions than those named."""


_READS = frozenset(
    row.code
    for row in OPS.values()
    if (row.width and not row.atomic and ".store" not in row.name)
    or row.rule in ("global.get", "table.get", "table.size", "memory.size", "ref.func", "atomic.fence")
)
"""Those among them that change nothing."""


class FunctionLowering(Emitter):
    """Lowers one function; the rules for groups of instructions are in the modules that register them in `RULES`."""

    def __init__(self, context: ModuleContext, index: int, function: Function) -> None:
        super().__init__(context, index, function)
        self.frames: list[Frame] = []
        self._guard_at = 0
        self._called_at = 0

    # --- the walk ----------------------------------------------------------------------------------------------------

    def lower(self) -> None:
        """Lower the whole body; `text` gives the function then."""
        if self.function.provided:
            lower_provided(self)
            return
        first = self.declare_locals()
        self.set_locals([f"%p{at}" for at in range(len(self.function.type.params))])
        self.hold_guard()
        self.emit("br label %start")
        self.emit("start:")
        self.lower_body(first)

    def local(self, number: int) -> str:
        """The slot of a local."""
        return f"%l{number}"

    def declare_locals(self) -> int:
        """Give each local a slot; gives where the instructions begin."""
        declared, first = locals_of(self.module, self.function)
        self.local_types = [*self.function.type.params, *declared]
        self.slots += [f"{self.local(at)} = alloca {LLVM_TYPES[kind]}" for at, kind in enumerate(self.local_types)]
        return first

    def set_locals(self, values: list[str]) -> None:
        """Give the first locals, which are the parameters, their values."""
        for number, (kind, value) in enumerate(zip(self.function.type.params, values, strict=True)):
            self.emit(f"store {LLVM_TYPES[kind]} {value}, ptr {self.local(number)}")

    def lower_body(self, first: int) -> None:
        """Lower the instructions, once the parameters have their values."""
        kind = self.function.type
        for number, local in enumerate(self.local_types[len(kind.params) :], len(kind.params)):
            self.emit(f"store {LLVM_TYPES[local]} {zero(local)}, ptr {self.local(number)}")
        self.enter()
        self.open_block("function", FuncType((), kind.results))
        walk = instructions(self.module, first, self.function.end)
        for found in walk:
            self.place = found.offset
            self.step(found, walk)

    def step(self, found: Instruction, walk: Iterator[Instruction]) -> None:
        """Lower one instruction, then skip what can no longer be reached."""
        op = found.op
        if op.width or op.rule in _OF_INSTANCES:
            self.touches = True
            self.writes |= op.code not in _READS
        if op.rule:
            if RULES[op.rule](self, op, *found.immediates):
                self._skip(walk)
        else:
            self.apply(op, found.immediates)

    def _skip(self, walk: Iterator[Instruction]) -> None:
        """Pass over code behind an unconditional branch, up to the end of its block or its `else`."""
        depth = 0
        for found in walk:
            rule = found.op.rule
            if rule in ("block", "loop", "if", "try_table"):
                depth += 1
            elif depth == 0 and rule in ("else", "end"):
                del self.stack[self.frames[-1].height :]
                self.place = found.offset
                if rule == "else":
                    self.begin_else()
                    return
                if self.close_block(reachable=False) or not self.frames:
                    return
            elif rule == "end":
                depth -= 1

    def apply(self, op: Op, immediates: tuple[Any, ...]) -> None:
        """Write out the meaning of an instruction that has one."""
        operands = self.pop_many(len(op.params))
        self.number += 1
        number = self.number
        names: dict[str, Any] = {f"a{at}": value for at, (_, value) in enumerate(operands)}
        names["n"] = number
        for at, immediate in enumerate(immediates):
            names[f"i{at}"] = immediate
        done: set[tuple[str, str]] = set()
        for step in op.steps:
            for operand, vector in step.casts:
                if (operand, vector) not in done:
                    done.add((operand, vector))
                    short = vector[1:-1].replace(" ", "")
                    self.emit(f"%cast{operand}.{short}.{number} = bitcast <4 x i32> {names['a' + operand]} to {vector}")
            if step.kind == "ir":
                self.emit(step.parts[0].format(**names))
            elif step.kind == "trap":
                self.trap_if(step.parts[0].format(**names), traps.NUMBERS[step.parts[1]])
            else:
                MEMORY_STEPS[step.kind](self, op, immediates[0], [part.format(**names) for part in step.parts])
            if step.result_cast:
                self.emit(f"%r.{number} = bitcast {step.result_cast} %raw.{number} to <4 x i32>")
        if op.results:
            result = f"%r.{number}"
            if op.nan:
                result = settle_nan(self, op, result, operands)
            self.push(op.results[0], result)

    # --- blocks ------------------------------------------------------------------------------------------------------

    def loop_label(self) -> str:
        """The label of a loop that begins here."""
        return self.label("loop")

    def begin_round(self) -> None:
        """What comes first in each round of a loop."""

    def open_block(self, kind: str, block: FuncType) -> Frame:
        """Begin a block whose parameters are on the stack."""
        frame = Frame("", kind, block, len(self.stack) - len(block.params))
        frame.results = [self.slot(result, "out") for result in block.results]
        frame.end = self.label("end")
        frame.label, frame.targets = frame.end, frame.results
        self.frames.append(frame)
        return frame

    def close_block(self, reachable: bool = True) -> bool:
        """End the innermost block; gives whether the code behind it can be reached."""
        frame = self.frames[-1]
        if reachable:
            self.fill(frame.results, frame.type.results)
            self.emit(f"br label %{frame.end}")
            frame.reached = True
        if frame.otherwise:  # an `if` without `else`: what it takes is what it gives
            self.emit(f"{frame.otherwise}:")
            for slot, given, kind in zip(frame.results, frame.given, frame.type.results, strict=True):
                value = self.assign(f"load {LLVM_TYPES[kind]}, ptr {given}")
                self.emit(f"store {LLVM_TYPES[kind]} {value}, ptr {slot}")
            self.emit(f"br label %{frame.end}")
            frame.reached = True
        self.frames.pop()
        del self.stack[frame.height :]
        if frame.reached:
            self.emit(f"{frame.end}:")
            self.take(frame.results, frame.type.results)
        if not self.frames and frame.reached:
            self.leave([value for _, value in self.stack])
        return frame.reached

    def begin_else(self) -> None:
        """Go over to the `else` part of the innermost `if`."""
        frame = self.frames[-1]
        self.emit(f"{frame.otherwise}:")
        frame.otherwise = ""
        self.take(frame.given, frame.type.params)

    def take(self, slots: list[str], kinds: tuple[str, ...]) -> None:
        """Push what slots hold."""
        for slot, kind in zip(slots, kinds, strict=True):
            self.push(kind, self.assign(f"load {LLVM_TYPES[kind]}, ptr {slot}"))

    def fill(self, slots: list[str], kinds: tuple[str, ...]) -> None:
        """Store the values on top of the stack into slots, leaving them on the stack."""
        if slots:
            for slot, (_, value), kind in zip(slots, self.stack[-len(slots) :], kinds, strict=True):
                self.emit(f"store {LLVM_TYPES[kind]} {value}, ptr {slot}")

    def branch(self, depth: int) -> str:
        """Fill what a label takes and give the label to branch to."""
        frame = self.frames[-1 - depth]
        loop = frame.kind == "loop"
        self.fill(frame.targets, frame.type.params if loop else frame.type.results)
        if not loop:
            frame.reached = True
        return frame.label

    def leave(self, values: list[str]) -> None:
        """Return from the function."""
        kinds = self.function.type.results
        self.give_others(values)
        hand_on(self)
        self.hand_on_steps()
        self.emit(f"ret {LLVM_TYPES[kinds[0]]} {values[0]}" if kinds else "ret void")

    def give_others(self, values: list[str]) -> None:
        """Put all results but the first into the cells where a caller finds them."""
        number = state.RESULTS
        for kind, value in zip(self.function.type.results[1:], values[1:], strict=True):
            self.store_value(kind, number, value)
            number += state.cells_of(kind)

    def call_within(self, index: int) -> bool:
        """Call a function that is lowered along with this one, if it is."""
        return False

    # --- the frame of the function -----------------------------------------------------------------------------------

    def hold_guard(self) -> None:
        """Remember this place, ahead of all rounds of the function, for a check of the stack."""
        self._guard_at = len(self.lines)
        self.emit("")

    def enter(self) -> None:
        """What comes first in the body."""
        self.count_step()
        self.hold_count()

    def hold_count(self) -> None:
        """Remember this place for a count of calls."""
        self._called_at = len(self.lines)
        self.emit("")

    def count_calls(self) -> None:
        """Have each call counted, so that calls of this function without end are seen."""
        self.lines[self._called_at] = f"call void @lw.called(ptr %st, i32 {self.function.start}) #4"

    def guard_stack(self) -> None:
        """Have the function end the lane where one more call could overflow the stack; for those that recurse."""
        kept, self.lines = self.lines, []
        self.place = self.function.start
        here = self.name("here")
        self.slots.append(f"{here} = alloca i64")
        address = self.assign(f"ptrtoint ptr {here} to i64")
        floor = self.load_cell(state.FLOOR, "i64", self.shared(), constant=True)
        self.trap_if(self.assign(f"icmp ult i64 {address}, {floor}"), traps.STACK_EXHAUSTED)
        kept[self._guard_at] = "\n".join(self.lines)
        self.lines = kept

    def text(self, inline: bool | None = None) -> str:
        """The LLVM definition of the function; `inline` says whether callers must swallow it, or must not."""
        kind = self.function.type
        parameters = ["ptr %st", "ptr %mem", *(f"{LLVM_TYPES[param]} %p{at}" for at, param in enumerate(kind.params))]
        if self.unwinds:
            kept, self.lines = self.lines, ["unwind:"]
            hand_on(self)
            self.hand_on_steps()
            self.cold += (*self.lines, f"ret {result_type(kind)} poison" if kind.results else "ret void")
            self.lines = kept
        scope = ""
        if self._scope:
            scope = f" !dbg !{self._scope}"
            self.metadata.append(
                f'!{self._scope} = distinct !DISubprogram(name: "f{self.index}", scope: !12, file: !12, '
                f"line: {self.function.start}, type: !14, unit: !13, spFlags: DISPFlagDefinition)"
            )
        if self.leaves:
            exit_ = f"call void @lw.trap(ptr %st, i32 {traps.MISALIGNED}, i32 {self.function.start})"
            self.cold += ("careful:", exit_, "unreachable")
        body = "\n".join([*self.slots, *self.lines, *self.cold])
        wish = {None: "", True: "alwaysinline ", False: "noinline "}[inline]
        attributes = wish + ("#3" if self.tail_calls else "#0")
        linkage = "internal" if inline else "hidden"  # where it is written out, nothing else need be left of it
        return (
            f"define {linkage} {self.context.convention}{result_type(kind)} {self.context.symbol(self.index)}"
            f"({', '.join(parameters)}) {attributes}{scope} {{\n{body}\n}}\n"
        )


def zero(kind: str) -> str:
    """The value that a local starts with."""
    return {"f32": "0.0", "f64": "0.0", "v128": "zeroinitializer"}.get(kind, "0")


Rule: TypeAlias = Callable[..., bool | None]
"""Lowers an instruction from its operands and immediates; true if what follows cannot be reached."""

RULES: dict[str, Rule] = {}
MEMORY_STEPS: dict[str, Callable[[FunctionLowering, Op, Any, list[str]], None]] = {}
"""How the memory accesses of snippets are written out."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register how an instruction is lowered."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register
