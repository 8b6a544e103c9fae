"""Functions that call each other in a circle as one loop: lanes of a warp meet in it, however deep each of them is.

Where a GPU's threads took different ways they meet again at a point of the same activation of a function; threads at
different depths of a recursion have none in common, and run one after the other. So the functions of a circle become
the cases of one switch in a loop. A state is a number: a function's entry, or the point behind one of the calls within
the circle. Such a call keeps what is live behind it in a frame, sets arguments and state, and goes to the loop's head;
a return goes there with the state that the topmost frame holds. All other calls stay what they are.

Frames lie in an array in the loop's own stack frame. Where that is full the loop calls itself, so recursion is as deep
as the stack allows, and ends as any other: at its floor on a GPU, at its guard on a CPU.

A point behind a call is reached from the switch alone. No value that was made before the call may be used there, and
none that was made there may be used where the ways of a block join: values on the stack below a block have a slot each
while the block is open, set at each such point and read anew wherever ways join. LLVM makes registers of the slots.
"""

from __future__ import annotations

from typing import NamedTuple

from lanewise.wasm import state, traps
from lanewise.wasm.build import Build
from lanewise.wasm.call_graph import called_back, components, is_circle
from lanewise.wasm.emitter import result_type
from lanewise.wasm.liveness import live_behind_calls
from lanewise.wasm.lowering import Frame, FunctionLowering
from lanewise.wasm.lowering_calls import look_for_exception
from lanewise.wasm.model import Function, FuncType
from lanewise.wasm.opcodes.row import LLVM_TYPES

FRAMES_BYTES = 1280
"""Room for frames in each activation of a loop: three such stack frames and some slack are what `gpu_stack` keeps free
below any check, so that with no more than this, other functions have as much of the stack as ever."""
_MOST_FRAME = FRAMES_BYTES // 6
"""Bytes of the largest frame: where more is live across a call, functions stay functions."""
_MOST_LINES = 6000
"""Lines of code in a circle beyond which its functions stay functions: assemblers take very long for such a loop."""
_DONE = -1
MARK = "// all lanes meet here"
"""What shows the head of a loop in code for a GPU."""
_MOST_NESTED = 3
"""Loops that may be active at once, each called by the one before: every one of them takes room for frames. Functions
that begin a longer chain stay functions."""
_BYTES = {"i32": 4, "float": 4, "i64": 8, "double": 8, "<4 x i32>": 16}


def loop_recursion(lowered: dict[int, FunctionLowering], build: Build) -> set[int]:
    """Let circles of functions run as loops where the build wants that and it can be; gives the functions that do."""
    if build.recursion != "loop":
        return set()
    done: set[int] = set()
    # Each time that calls through references come back to a loop it takes another room for frames, which is more than
    # the function alone took: a GPU's small stack would hold fewer such calls.
    returning = called_back(lowered) if build.gpu else set()
    nested: dict[int, int] = {}
    for members in components(lowered):
        functions = [lowered[index] for index in members]
        below = max((nested[callee] for fn in functions for callee in fn.calls - set(members)), default=0)
        loop = None
        if is_circle(lowered, members) and not returning & set(members) and below < _MOST_NESTED:
            loop = _loop_of(functions)
        if loop is not None:
            loop.install()
            done |= set(members)
        nested |= dict.fromkeys(members, below + (loop is not None))
    return done


def _loop_of(functions: list[FunctionLowering]) -> _Loop | None:
    if any(fn.hands_over for fn in functions) or sum(len(fn.lines) for fn in functions) > _MOST_LINES:
        return None
    loop = _Loop(functions)
    return loop if loop.largest <= _MOST_FRAME else None


class _Kept(NamedTuple):
    """A value in a frame: its type, where in the frame it lies, and the slot it came from and goes to."""

    llvm: str
    offset: int
    slot: str


class _Loop(FunctionLowering):
    """The function that the functions of one circle become."""

    def __init__(self, functions: list[FunctionLowering]) -> None:
        first = functions[0]
        super().__init__(first.context, first.index, first.function)
        self.functions = functions
        self.symbol = f"@{self.context.prefix}m{first.index}"
        self.entries = {fn.index: number for number, fn in enumerate(functions)}
        """The state of each function's entry."""
        self.resumes: list[str] = []
        """The labels behind calls; their states follow those of the entries."""
        self.largest = 0
        """Bytes of the largest frame."""
        self.carried = _carried([fn.function.type for fn in functions])
        """Slots that arguments and results go through, by their types: as many of each as one function needs."""
        self.members = [_Member(self, fn.function, fn.index) for fn in functions]
        for member in self.members:
            member.lower_within()
        self._complete()

    # --- arguments and results ---------------------------------------------------------------------------------------

    @property
    def slots_carried(self) -> list[tuple[str, str]]:
        """The type and slot of each."""
        return [(llvm, _carrier(llvm, at)) for llvm, count in self.carried.items() for at in range(count)]

    def places(self, kinds: tuple[str, ...]) -> list[str]:
        """The slots of values of these types."""
        used: dict[str, int] = {}
        found = []
        for llvm in (LLVM_TYPES[kind] for kind in kinds):
            found.append(_carrier(llvm, used.get(llvm, 0)))
            used[llvm] = used.get(llvm, 0) + 1
        return found

    def carry(self, emitter: FunctionLowering, kinds: tuple[str, ...], values: list[str]) -> None:
        """Set slots to arguments or a result; what is in the others is nobody's, and need not be kept in registers."""
        given = dict(zip(self.places(kinds), values, strict=True))
        for llvm, slot in self.slots_carried:
            emitter.emit(f"store {llvm} {given.get(slot, 'poison')}, ptr {slot}")

    @property
    def results(self) -> list[str]:
        """The types of first results that the functions have."""
        return list(dict.fromkeys(result_type(fn.function.type) for fn in self.functions if fn.function.type.results))

    @property
    def returned(self) -> str:
        """What the loop returns to LLVM: a value of each of these types, of which one counts."""
        results = self.results
        return "void" if not results else results[0] if len(results) == 1 else f"{{ {', '.join(results)} }}"

    def called(self, entry: str, values: dict[str, str]) -> str:
        """A call of the loop; `values` by their slots."""
        arguments = ["ptr %st", "ptr %mem", f"i32 {entry}"]
        arguments += [f"{llvm} {values.get(slot, 'poison')}" for llvm, slot in self.slots_carried]
        return f"call {self.returned} {self.symbol}({', '.join(arguments)})"

    def part_of(self, emitter: FunctionLowering, returned: str, llvm: str) -> str:
        """The result of one type in what the loop has returned."""
        results = self.results
        if len(results) == 1:
            return returned
        return emitter.assign(f"extractvalue {self.returned} {returned}, {results.index(llvm)}")

    # --- the loop ----------------------------------------------------------------------------------------------------

    def _complete(self) -> None:
        """Write the code around the functions: how the loop is entered, its head, and how it is left."""
        cases, self.lines = self.lines, []
        self.place = self.function.start
        self.slots += ("%state = alloca i32", "%used = alloca i32")
        self.slots.append(f"%frames = alloca [{FRAMES_BYTES} x i8], align 16")
        self.slots += (f"{slot} = alloca {llvm}" for llvm, slot in self.slots_carried)
        self.emit("store i32 %entry, ptr %state")
        # The lowest frame holds the state in which the loop is left.
        self.emit(f"store i32 {_DONE}, ptr {self.frame(self, '4')}, align 4")
        self.emit("store i32 8, ptr %used")
        for at, (llvm, slot) in enumerate(self.slots_carried):
            self.emit(f"store {llvm} %c{at}, ptr {slot}")
        if self.build.meter == "stop":
            self.burn()
        if self.build.gpu:
            self._guard()
        self.emit("br label %head")
        self.emit("head:")
        if self.build.meter == "stop":
            self.count_round()
        now = self.assign("load i32, ptr %state")
        # LLVM is not to see which state follows which: it would lead lanes past the head, where they meet.
        text, place = (f"mov.b32 $0, $1; {MARK}", "=r,r") if self.build.gpu else ("", "=r,0")
        seen = self.assign(f'call i32 asm sideeffect "{text}", "{place}"(i32 {now}) convergent')
        # The way out is beside the switch: all ways through that come back to the head, so a GPU lets lanes wait there.
        over = self.assign(f"icmp eq i32 {seen}, {_DONE}")
        self.emit(f"br i1 {over}, label %leave, label %round")
        self.emit("round:")
        labels = [*(member.entry for member in self.members), *self.resumes]
        listed = " ".join(f"i32 {number}, label %{label}" for number, label in enumerate(labels))
        self.emit(f"switch i32 {seen}, label %nowhere [ {listed} ]")
        self.emit("nowhere:")
        self.emit("unreachable")
        self.lines += cases
        self._deeper()
        self._return()

    def _guard(self) -> None:
        """GPU: end the lane where the stack is low, as `guard_stack` does; the place is that of the function called."""
        self.traps = True
        here, low, fine = self.name("here"), self.label("low"), self.label("on")
        self.slots.append(f"{here} = alloca i64")
        address = self.assign(f"ptrtoint ptr {here} to i64")
        floor = self.load_cell(state.FLOOR, "i64", self.shared(), constant=True)
        self.emit(f"br i1 {self.assign(f'icmp ult i64 {address}, {floor}')}, label %{low}, label %{fine}, !prof !0")
        self.emit(f"{low}:")
        place = str(self.function.start)
        for number, fn in enumerate(self.functions[1:], 1):
            same = self.assign(f"icmp eq i32 %entry, {number}")
            place = self.assign(f"select i1 {same}, i32 {fn.function.start}, i32 {place}")
        self.emit(f"call void @lw.trap(ptr %st, i32 {traps.STACK_EXHAUSTED}, i32 {place}){self.note()}")
        self.emit("unreachable")
        self.emit(f"{fine}:")

    def _deeper(self) -> None:
        """Behind a call: if another frame might not fit, the function called runs in a loop of its own."""
        self.emit("called:")
        used = self.assign("load i32, ptr %used")
        full = self.assign(f"icmp ugt i32 {used}, {FRAMES_BYTES - self.largest}")
        self.emit(f"br i1 {full}, label %deeper, label %head, !prof !0")
        self.emit("deeper:")
        entry = self.assign("load i32, ptr %state")
        values = {slot: self.assign(f"load {llvm}, ptr {slot}") for llvm, slot in self.slots_carried}
        text = self.called(entry, values) + self.note()
        if self.results:
            returned = self.assign(text)
            for llvm in self.results:
                self.emit(f"store {llvm} {self.part_of(self, returned, llvm)}, ptr {_carrier(llvm, 0)}")
        else:
            self.emit(text)
        self.emit("br label %return")

    def _return(self) -> None:
        """Behind a function's end: go on with the state of the topmost frame."""
        self.emit("return:")
        used = self.assign("load i32, ptr %used")
        last = self.assign(f"sub i32 {used}, 4")
        self.emit(f"store i32 {self.assign(f'load i32, ptr {self.frame(self, last)}, align 4')}, ptr %state")
        self.emit("br label %head")
        self.emit("leave:")
        results = self.results
        values = [self.assign(f"load {llvm}, ptr {_carrier(llvm, 0)}") for llvm in results]
        if len(results) == 1:
            self.emit(f"ret {self.returned} {values[0]}")
            return
        whole = "poison"
        for at, (llvm, value) in enumerate(zip(results, values, strict=True)):
            whole = self.assign(f"insertvalue {self.returned} {whole}, {llvm} {value}, {at}")
        self.emit(f"ret {self.returned} {whole}" if results else "ret void")

    def frame(self, emitter: FunctionLowering, offset: str) -> str:
        """The address of a byte among the frames."""
        wide = emitter.assign(f"zext i32 {offset} to i64")
        return emitter.assign(f"getelementptr i8, ptr %frames, i64 {wide}")

    def install(self) -> None:
        """Let each of the functions enter the loop, and have the first bring it along."""
        first = self.functions[0]
        for fn in self.functions:
            _enter_loop(fn, self)
        first.beside, first.beside_size = self.definition(), len(self.lines)
        first.metadata += self.metadata

    def definition(self) -> str:
        """The LLVM definition of the loop, for the piece of the program that its functions are in."""
        parameters = ["ptr %st", "ptr %mem", "i32 %entry"]
        parameters += [f"{llvm} %c{at}" for at, (llvm, _) in enumerate(self.slots_carried)]
        scope = ""
        if self._scope:
            scope = f" !dbg !{self._scope}"
            self.metadata.append(
                f'!{self._scope} = distinct !DISubprogram(name: "m{self.index}", scope: !12, file: !12, '
                f"line: {self.function.start}, type: !14, unit: !13, spFlags: DISPFlagDefinition)"
            )
        if self.leaves or any(member.leaves for member in self.members):
            exit_ = f"call void @lw.trap(ptr %st, i32 {traps.MISALIGNED}, i32 {self.function.start})"
            self.cold += ("careful:", exit_, "unreachable")
        body = "\n".join([*self.slots, *self.lines, *self.cold])
        head = f"define internal {self.returned} {self.symbol}({', '.join(parameters)})"
        return f"{head} noinline #0{scope} {{\n{body}\n}}\n"


class _Member(FunctionLowering):
    """A function of a circle, lowered into the loop."""

    def __init__(self, loop: _Loop, function: Function, index: int) -> None:
        super().__init__(loop.context, index, function)
        self.loop = loop
        self.entry = f"enter{index}"
        self.unwind_label = f"unwind{index}"
        self._scope = loop._scope
        self.lines, self.slots, self.cold, self.metadata = loop.lines, loop.slots, loop.cold, loop.metadata
        self._live = live_behind_calls(loop.module, function)
        self._homes: set[str] = set()

    def lower_within(self) -> None:
        """Lower the body, with names that no other member has."""
        self.number = self.loop.number
        self.lower()
        if self.unwinds:
            self.emit(f"{self.unwind_label}:")
            self.loop.carry(self, (), [])
            self.emit("br label %return")
        self.loop.number = self.number

    def local(self, number: int) -> str:
        return f"%f{self.index}.l{number}"

    def _take_arguments(self) -> None:
        params = self.function.type.params
        self.emit(f"{self.entry}:")
        for number, (param, slot) in enumerate(zip(params, self.loop.places(params), strict=True)):
            value = self.assign(f"load {LLVM_TYPES[param]}, ptr {slot}")
            self.emit(f"store {LLVM_TYPES[param]} {value}, ptr {self.local(number)}")

    def leave(self, values: list[str]) -> None:
        kinds = self.function.type.results
        number = state.RESULTS
        for kind, value in zip(kinds[1:], values[1:], strict=True):
            self.store_value(kind, number, value)
            number += state.cells_of(kind)
        self.loop.carry(self, kinds[:1], values[:1])
        self.emit("br label %return")

    # --- values on the stack -----------------------------------------------------------------------------------------

    def _home(self, depth: int) -> str:
        """The slot of a value so deep in the stack, or nothing for a constant, which is the same everywhere."""
        kind, value = self.stack[depth]
        if not value.startswith("%"):
            return ""
        slot = f"%f{self.index}.s{depth}.{kind}"
        line = f"{slot} = alloca {LLVM_TYPES[kind]}"
        if line not in self._homes:
            self._homes.add(line)
            self.slots.append(line)
        return slot

    def open_block(self, kind: str, block: FuncType) -> Frame:
        outer = self.frames[-1].height if self.frames else 0
        frame = super().open_block(kind, block)
        for depth in range(outer, frame.height):  # what is deeper lies in its slot already
            slot = self._home(depth)
            if slot:
                held, value = self.stack[depth]
                self.emit(f"store {LLVM_TYPES[held]} {value}, ptr {slot}")
        return frame

    def take(self, slots: list[str], kinds: tuple[str, ...]) -> None:
        # Here ways join, some of which may come from behind a call.
        for depth, (kind, _) in enumerate(self.stack):
            slot = self._home(depth)
            if slot:
                self.stack[depth] = kind, self.assign(f"load {LLVM_TYPES[kind]}, ptr {slot}")
        super().take(slots, kinds)

    # --- calls within the circle -------------------------------------------------------------------------------------

    def call_in_loop(self, index: int) -> bool:
        loop = self.loop
        if index not in loop.entries:
            return False
        kind = self.module.functions[index]
        arguments = [value for _, value in self.pop_many(len(kind.params))]
        kept = self._kept()
        size = -(-(sum(_BYTES[one.llvm] for one in kept) + 4) // 8) * 8
        loop.largest = max(loop.largest, size)
        label = self.label("behind")
        loop.resumes.append(label)
        number = len(loop.entries) + len(loop.resumes) - 1
        used = self.assign("load i32, ptr %used")
        base = loop.frame(self, used)
        for one in kept:
            value = self.assign(f"load {one.llvm}, ptr {one.slot}")
            at = self._within(base, one.offset)
            self.emit(f"store {one.llvm} {value}, ptr {at}, align {min(8, _BYTES[one.llvm])}")
        self.emit(f"store i32 {number}, ptr {self._within(base, size - 4)}, align 4")
        self.emit(f"store i32 {self.assign(f'add i32 {used}, {size}')}, ptr %used")
        loop.carry(self, kind.params, arguments)
        self.emit(f"store i32 {loop.entries[index]}, ptr %state")
        self.emit("br label %called")
        self.emit(f"{label}:")
        above = self.assign("load i32, ptr %used")
        below = self.assign(f"sub i32 {above}, {size}")
        self.emit(f"store i32 {below}, ptr %used")
        base = loop.frame(self, below)
        for one in kept:
            at = self._within(base, one.offset)
            value = self.assign(f"load {one.llvm}, ptr {at}, align {min(8, _BYTES[one.llvm])}")
            self.emit(f"store {one.llvm} {value}, ptr {one.slot}")
        self.take([], ())
        if self.build.throws:
            look_for_exception(self)
        self._push_results(kind)
        return True

    def _kept(self) -> list[_Kept]:
        """What a frame holds at this call: locals that are read behind it, and all that is on the stack."""
        slots = [(LLVM_TYPES[self.local_types[number]], self.local(number)) for number in self._live[self.place]]
        for depth, (kind, value) in enumerate(self.stack):
            slot = self._home(depth)
            if slot:
                self.emit(f"store {LLVM_TYPES[kind]} {value}, ptr {slot}")
                slots.append((LLVM_TYPES[kind], slot))
        slots.sort(key=lambda one: -_BYTES[one[0]])
        kept, offset = [], 0
        for llvm, slot in slots:
            kept.append(_Kept(llvm, offset, slot))
            offset += _BYTES[llvm]
        return kept

    def _within(self, base: str, offset: int) -> str:
        return self.assign(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base

    def _push_results(self, kind: FuncType) -> None:
        number = state.RESULTS
        for at, result in enumerate(kind.results):
            if at == 0:
                self.push(result, self.assign(f"load {LLVM_TYPES[result]}, ptr {_carrier(LLVM_TYPES[result], 0)}"))
            else:
                self.push(result, self.load_value(result, number))
                number += state.cells_of(result)


def _carrier(llvm: str, number: int) -> str:
    return f"%carry.{llvm.strip('<>').replace(' ', '')}.{number}"


def _carried(kinds: list[FuncType]) -> dict[str, int]:
    """How many values of each LLVM type one of these functions takes or gives at once."""
    most: dict[str, int] = {}
    for kind in kinds:
        for group in (kind.params, kind.results[:1]):
            found = [LLVM_TYPES[one] for one in group]
            for llvm in found:
                most[llvm] = max(most.get(llvm, 0), found.count(llvm))
    return most


def _enter_loop(fn: FunctionLowering, loop: _Loop) -> None:
    """Make a function's body a call of its loop."""
    fn.lines, fn.slots, fn.cold = [], [], []
    fn.leaves = fn.unwinds = False
    fn.stands_for = loop.symbol
    kind = fn.function.type
    fn.place = fn.function.start
    values = {slot: f"%p{at}" for at, slot in enumerate(loop.places(kind.params))}
    text = loop.called(str(loop.entries[fn.index]), values) + fn.note()
    if not kind.results:
        fn.emit(text)
        fn.emit("ret void")
        return
    result = result_type(kind)
    fn.emit(f"ret {result} {loop.part_of(fn, fn.assign(text), result)}")
