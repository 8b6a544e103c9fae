"""Writes random modules as text, with what binaryen's fuzzer lacks: vectors, tables, several memories, exceptions.

Which instructions there are is read from the opcode table; how statements and control flow are made is said here. Every
loop and every function counts down a limit, and traps when it is used up: all modules end.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from lanewise.wasm.opcodes import OPS, Op

NUMBERS = ("i32", "i64", "f32", "f64", "v128")
SIMPLE = [row for row in OPS.values() if row.meaning or row.rule in ("shuffle", "memory.atomic.notify")]
"""Instructions that take operands and give a result: all but control flow, calls, variables and whole memories."""
RESULTS = {type_: [row for row in SIMPLE if row.results == (type_,)] for type_ in NUMBERS}
MAY_TRAP = {row.name for row in SIMPLE if "trap " in row.meaning}
STORES = [row for row in SIMPLE if not row.results]
LIMIT = 60
DEPTH = 4
FUNCTIONS = 6
TABLE = 12
"""Entries of the table; some stay empty."""

INTEGERS = (0, 1, 2, 7, 31, 63, 64, 127, 128, 255, 256, 32767, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, -1, -2, -128)
FLOATS = (
    "0",
    "-0",
    "1",
    "-1.5",
    "0.1",
    "1e10",
    "-1e30",
    "inf",
    "-inf",
    "nan",
    "-nan",
    "2147483647",
    "-2147483649",
    "1e-40",
)

CLEAN = {
    "f32": "(select (local.get 0) (f32.const nan) (f32.eq (local.get 0) (local.get 0)))",
    "f64": "(select (local.get 0) (f64.const nan) (f64.eq (local.get 0) (local.get 0)))",
    "f32x4": "(v128.bitselect (local.get 0) (v128.const f32x4 nan nan nan nan) (f32x4.eq (local.get 0) (local.get 0)))",
    "f64x2": "(v128.bitselect (local.get 0) (v128.const f64x2 nan nan) (f64x2.eq (local.get 0) (local.get 0)))",
}
"""What makes any NaN the same: its bits are free, and a module that looks at them cannot be compared."""


class Function:
    """A function being written: its variables, and the labels that a branch may name."""

    def __init__(self, number: int, params: list[str], results: list[str]) -> None:
        self.number = number
        self.params = params
        self.results = results
        self.variables = [(f"$p{index}", type_) for index, type_ in enumerate(params)]
        self.locals: list[tuple[str, str]] = []
        self.labels: list[tuple[str, str | None]] = []
        """The label and the type of the value that a branch to it carries."""

    @property
    def type(self) -> str:
        """The name of its type."""
        return "$t_" + "_".join([*self.params, "to", *self.results])

    @property
    def signature(self) -> str:
        """Its type in the text format, parameters named."""
        params = "".join(f" (param $p{index} {type_})" for index, type_ in enumerate(self.params))
        return params + "".join(f" (result {type_})" for type_ in self.results)

    def fresh(self, type_: str) -> str:
        """A new local."""
        name = f"$l{len(self.locals)}"
        self.locals.append((name, type_))
        return name


class Writer:
    """Writes one module."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.memories = rng.choice((1, 1, 1, 2, 3))
        self.shared = self.memories == 1 and rng.random() < 0.2
        self.throws = rng.random() < 0.4
        self.fresh_label = 0
        self.functions = [
            Function(number, self.types(4), self.types(3)) for number in range(rng.randrange(2, FUNCTIONS + 1))
        ]
        self.here = self.functions[0]

    def types(self, most: int) -> list[str]:
        return [self.rng.choice(NUMBERS) for _ in range(self.rng.randrange(most + 1))]

    def chance(self, part: float) -> bool:
        return self.rng.random() < part

    def label(self) -> str:
        self.fresh_label += 1
        return f"$b{self.fresh_label}"

    # Expressions

    def const(self, type_: str) -> str:
        if type_ in ("f32", "f64"):
            return f"({type_}.const {self.rng.choice(FLOATS)})"
        if type_ == "v128":
            if self.chance(0.5):
                return f"(v128.const f32x4 {' '.join(self.rng.choice(FLOATS) for _ in range(4))})"
            return f"(v128.const i64x2 {self.rng.getrandbits(64)} {self.integer(64)})"
        return f"({type_}.const {self.integer(32 if type_ == 'i32' else 64)})"

    def integer(self, width: int) -> int:
        return self.rng.getrandbits(width) if self.chance(0.2) else self.rng.choice(INTEGERS)

    def leaf(self, type_: str) -> str:
        known = [f"(local.get {name})" for name, kind in self.here.variables if kind == type_]
        known.append(f"(global.get $g_{type_})")
        return self.const(type_) if self.chance(0.4) else self.rng.choice(known)

    def expression(self, type_: str, depth: int) -> str:
        """Something that leaves one value of a type."""
        if depth <= 0:
            return self.leaf(type_)
        ways: list[tuple[int, Callable[[str, int], str]]] = [
            (4, lambda type_, _: self.leaf(type_)),
            (14, self.operation),
            (1, self.select),
            (1, self.tee),
            (1, self.block),
            (1, self.conditional),
            (1, self.call),
            (1, self.loop),
        ]
        if type_ == "i32":
            ways.append((1, self.query))
        if self.throws:
            ways.append((1, self.attempt))
        weights, makers = zip(*ways, strict=True)
        return self.rng.choices(makers, weights)[0](type_, depth)

    def operation(self, type_: str, depth: int) -> str:
        row = self.rng.choice(RESULTS[type_])
        if row.name in MAY_TRAP and self.chance(0.9):
            return self.operation(type_, depth)
        return self.apply(row, depth)

    def apply(self, row: Op, depth: int) -> str:
        """An instruction with its immediates and operands."""
        words = [row.name]
        operands = [self.expression(type_, depth - 1) for type_ in row.params]
        if "memarg" in row.immediates:
            words.append(self.memory_argument(row))
            operands[0] = self.address(row, operands[0])
        if "lane" in row.immediates:
            words.append(str(self.rng.randrange(row.lanes)))
        if "lanes" in row.immediates:
            words += [str(self.rng.randrange(32)) for _ in range(16)]
        text = f"({' '.join([*words, *operands])})"
        if not row.nan:
            return text
        shape = row.name.partition(".")[0]
        return f"(call $clean_{shape} {text})"

    def memory_argument(self, row: Op) -> str:
        memory = f"{self.rng.randrange(self.memories)} " if self.memories > 1 else ""
        offset = (
            self.rng.choice((0, 0, 1, 4, 8, 100, 65528))
            // (row.width if row.atomic else 1)
            * (row.width if row.atomic else 1)
        )
        return f"{memory}offset={offset}"

    def address(self, row: Op, operand: str) -> str:
        """An address that is mostly in bounds; atomics need one that is aligned."""
        if self.chance(0.003):
            return operand
        return f"(i32.and {operand} (i32.const {0x7FF8 if row.atomic else 0x7FFF}))"

    def select(self, type_: str, depth: int) -> str:
        first, second = self.expression(type_, depth - 1), self.expression(type_, depth - 1)
        return f"(select {first} {second} {self.expression('i32', depth - 1)})"

    def tee(self, type_: str, depth: int) -> str:
        names = [name for name, kind in self.here.variables if kind == type_]
        value = self.expression(type_, depth - 1)
        return f"(local.tee {self.rng.choice(names)} {value})" if names else value

    def block(self, type_: str, depth: int) -> str:
        label = self.label()
        self.here.labels.append((label, type_))
        body = self.statements(depth - 1, 2)
        self.here.labels.pop()
        return f"(block {label} (result {type_}) {body} {self.expression(type_, depth - 1)})"

    def loop(self, type_: str, depth: int) -> str:
        label, counter, label_out = self.label(), self.here.fresh("i32"), self.label()
        self.here.labels.append((label_out, type_))
        body = self.statements(depth - 1, 2)
        self.here.labels.pop()
        count = f"(local.tee {counter} (i32.add (local.get {counter}) (i32.const 1)))"
        again = f"(i32.lt_u {count} (i32.const {self.rng.randrange(1, 6)}))"
        return (
            f"(block {label_out} (result {type_}) (local.set {counter} (i32.const 0)) "
            f"(loop {label} (result {type_}) (call $tick) {body} (br_if {label} {again}) "
            f"{self.expression(type_, depth - 1)}))"
        )

    def conditional(self, type_: str, depth: int) -> str:
        condition = self.expression("i32", depth - 1)
        yes, no = (f"{self.statements(depth - 2, 1)} {self.expression(type_, depth - 1)}" for _ in range(2))
        return f"(if (result {type_}) {condition} (then {yes}) (else {no}))"

    def call(self, type_: str, depth: int) -> str:
        fitting = [function for function in self.functions if function.results == [type_]]
        if not fitting:
            return self.operation(type_, depth)
        return self.invoke(self.rng.choice(fitting), depth)

    def invoke(self, function: Function, depth: int, tail: str = "") -> str:
        """A call of a function, direct or through the table."""
        operands = " ".join(self.expression(type_, depth - 2) for type_ in function.params)
        if self.chance(0.6):
            return f"({tail}call $f{function.number} {operands})"
        index = f"(i32.const {function.number})"
        if self.chance(0.2):
            index = f"(i32.and {self.expression('i32', depth - 2)} (i32.const 15))"
        return f"({tail}call_indirect (type {function.type}) {operands} {index})"

    def query(self, type_: str, depth: int) -> str:
        """A question about a memory or a table, or growth of one."""
        memory = f" {self.rng.randrange(self.memories)}" if self.memories > 1 else ""
        small = f"(i32.and {self.expression('i32', depth - 1)} (i32.const 15))"
        return self.rng.choice(
            (
                f"(memory.size{memory})",
                f"(memory.grow{memory} (i32.and {self.expression('i32', depth - 1)} (i32.const 1)))",
                "(table.size)",
                f"(table.grow (ref.func $f0) (i32.and {self.expression('i32', depth - 1)} (i32.const 1)))",
                f"(ref.is_null (table.get {small}))",
            )
        )

    def attempt(self, type_: str, depth: int) -> str:
        """Something that may throw, and what is made of the exception."""
        label, caught = self.label(), self.label()
        body = f"{self.statements(depth - 1, 2)} {self.expression(type_, depth - 1)}"
        way = self.rng.randrange(4)
        if way == 0:
            return f"(block {label} (result {type_}) (try_table (result {type_}) (catch $x_{type_} {label}) {body}))"
        after = self.expression(type_, depth - 1)
        if way == 1:
            return (
                f"(block {label} (result {type_}) (block {caught} "
                f"(br {label} (try_table (result {type_}) (catch_all {caught}) {body}))) {after})"
            )
        again = f"(if {self.expression('i32', depth - 1)} (then (throw_ref (local.get $exception))))"
        if way == 2:
            return (
                f"(block {label} (result {type_}) (block {caught} (result exnref) "
                f"(br {label} (try_table (result {type_}) (catch_all_ref {caught}) {body}))) "
                f"(local.set $exception) {again} {after})"
            )
        return (
            f"(block {label} (result {type_}) (block {caught} (result {type_} exnref) "
            f"(br {label} (try_table (result {type_}) (catch_ref $x_{type_} {caught}) {body}))) "
            f"(local.set $exception) {again})"
        )

    # Statements

    def statements(self, depth: int, most: int) -> str:
        return " ".join(self.statement(depth) for _ in range(self.rng.randrange(most + 1)))

    def statement(self, depth: int) -> str:
        """Something that leaves no value."""
        if depth <= 0:
            return "(nop)"
        makers: list[tuple[int, Callable[[int], str]]] = [
            (6, self.assign),
            (4, lambda depth: self.apply(self.rng.choice(STORES), depth)),
            (2, self.branch),
            (1, self.call_for_effect),
            (1, self.bulk),
            (1, self.leave),
            (1, lambda depth: f"(drop {self.expression(self.rng.choice(NUMBERS), depth)})"),
            (1, self.nested),
            (1, self.log),
        ]
        weights, ways = zip(*makers, strict=True)
        return self.rng.choices(ways, weights)[0](depth)

    def assign(self, depth: int) -> str:
        if self.chance(0.2) or not self.here.variables:
            type_ = self.rng.choice(NUMBERS)
            return f"(global.set $g_{type_} {self.expression(type_, depth)})"
        name, type_ = self.rng.choice(self.here.variables)
        return f"(local.set {name} {self.expression(type_, depth)})"

    def log(self, depth: int) -> str:
        type_ = self.rng.choice(NUMBERS)
        return f"(call $log_{type_} {self.expression(type_, depth - 1)})"

    def nested(self, depth: int) -> str:
        label = self.label()
        self.here.labels.append((label, None))
        body = self.statements(depth - 1, 3)
        self.here.labels.pop()
        if self.chance(0.5):
            return f"(block {label} {body})"
        return f"(if {label} {self.expression('i32', depth - 1)} (then {body}) (else {self.statements(depth - 1, 2)}))"

    def branch(self, depth: int) -> str:
        """A branch to an enclosing block, on a condition or by a number."""
        if not self.here.labels:
            return self.assign(depth)
        label, type_ = self.rng.choice(self.here.labels)
        same = [name for name, kind in self.here.labels if kind == type_]
        choice = self.expression("i32", depth - 1)
        value = self.expression(type_, depth - 1) if type_ else ""
        if self.chance(0.3):
            targets = " ".join(self.rng.choice(same) for _ in range(self.rng.randrange(1, 5)))
            return f"(if {choice} (then (br_table {targets} {value} {self.expression('i32', depth - 1)})))"
        if type_ is None:
            return f"(br_if {label} {choice})"
        return f"(drop (br_if {label} {value} {choice}))"

    def call_for_effect(self, depth: int) -> str:
        function = self.rng.choice(self.functions)
        kept = []
        for type_ in function.results:
            names = [name for name, kind in self.here.variables if kind == type_]
            kept.append(f"(local.set {self.rng.choice(names)})" if names else f"(global.set $g_{type_})")
        return " ".join([self.invoke(function, depth), *reversed(kept)])

    def bulk(self, depth: int) -> str:
        """An instruction on a range of a memory or a table; ranges are mostly in bounds."""

        def number(most: int) -> str:
            value = self.expression("i32", depth - 1)
            return value if self.chance(0.01) else f"(i32.and {value} (i32.const {most}))"

        first, second = (f" {self.rng.randrange(self.memories)}" if self.memories > 1 else "" for _ in range(2))
        return self.rng.choice(
            (
                f"(memory.copy{first}{second} {number(0x3FFF)} {number(0x3FFF)} {number(0x3FFF)})",
                f"(memory.fill{first} {number(0x3FFF)} {number(255)} {number(0x3FFF)})",
                f"(memory.init{first} $d {number(0x3FFF)} {number(7)} {number(7)})",
                "(data.drop $d)" if self.chance(0.1) else "(nop)",
                f"(table.copy {number(3)} {number(7)} {number(3)})",
                f"(table.fill {number(7)} (ref.func $f0) {number(3)})",
                f"(table.init $e {number(7)} {number(1)} {number(1)})",
                f"(table.set {number(7)} (ref.null func))",
                "(elem.drop $e)" if self.chance(0.1) else "(nop)",
                "(atomic.fence)",
            )
        )

    def leave(self, depth: int) -> str:
        """A way out of the function, taken on a condition."""
        ways = ["(unreachable)", "(return " + " ".join(self.expression(t, depth - 1) for t in self.here.results) + ")"]
        fitting = [function for function in self.functions if function.results == self.here.results]
        ways.append(self.invoke(self.rng.choice(fitting), depth, tail="return_"))
        if self.throws:
            type_ = self.rng.choice(NUMBERS)
            ways += [f"(throw $x_{type_} {self.expression(type_, depth - 1)})"] * 3
        return f"(if {self.expression('i32', depth - 1)} (then {self.rng.choice(ways)}))"

    # The module

    def function(self, function: Function) -> str:
        self.here = function
        function.variables += [(function.fresh(type_), type_) for type_ in self.types(4)]
        body = self.statements(DEPTH, 5)
        results = " ".join(self.expression(type_, DEPTH) for type_ in function.results)
        declared = "".join(f" (local {name} {type_})" for name, type_ in function.locals)
        declared += " (local $exception exnref)" if self.throws else ""
        name = f"$f{function.number}"
        return f'(func {name} (export "{name[1:]}"){function.signature}{declared} (call $tick) {body} {results})'

    def module(self) -> str:
        """The whole text."""
        functions = [self.function(function) for function in self.functions]
        shape = "1 4 shared" if self.shared else "1 4"
        memories = [f'(memory (export "memory{number or ""}") {shape})' for number in range(self.memories)]
        types = {function.type: f"(type {function.type} (func{function.signature}))" for function in self.functions}
        names = " ".join(f"$f{function.number}" for function in self.functions)
        return "\n".join(
            (
                "(module",
                *types.values(),
                *(f'(import "fuzzing-support" "log-{type_}" (func $log_{type_} (param {type_})))' for type_ in NUMBERS),
                *(f"(tag $x_{type_} (param {type_}))" for type_ in NUMBERS if self.throws),
                *memories,
                f"(table {TABLE} 20 funcref) (elem (i32.const 0) {names}) (elem $e func $f0 $f0)",
                '(data (i32.const 16) "some bytes to begin with") (data $d "12345678abcdefgh")',
                f"(global $limit (mut i32) (i32.const {LIMIT}))",
                *(f'(global $g_{type_} (export "g_{type_}") (mut {type_}) {self.const(type_)})' for type_ in NUMBERS),
                f'(func (export "hangLimitInitializer") (global.set $limit (i32.const {LIMIT})))',
                "(func $tick (if (i32.eqz (global.get $limit)) (then (unreachable)))",
                "(global.set $limit (i32.sub (global.get $limit) (i32.const 1))))",
                *(
                    f"(func $clean_{shape} (param {lane}) (result {lane}) {body})"
                    for shape, body in CLEAN.items()
                    for lane in ["v128" if "x" in shape else shape]
                ),
                *functions,
                ")",
            )
        )


def random_module(seed: int) -> str:
    """The text of a valid module; equal seeds give equal modules."""
    return Writer(random.Random(seed)).module()
