"""Random programs, each written twice: in lang, and in plain Python with the rules spelled out; both must agree."""

import importlib.util
import random

import numpy as np
import pytest

from lanewise.lang import i64
from lanewise.lang.types import BOOL, INTEGERS

PROGRAMS = 25
ROWS = 12
BY_NAME = {kind.name: kind for kind in (*INTEGERS, BOOL)}


class Writer:
    """Writes one function; every expression comes as a pair of texts, for lang and for Python."""

    def __init__(self, rng):
        self.rng = rng
        self.variables = {"a": "i32", "b": "u32", "c": "u8", "d": "i64", "e": "bool"}
        self.settled = set(self.variables)
        self.lang, self.python = [], []
        self.fresh = 0

    def emit(self, depth, lang, python=None):
        self.lang.append("    " * depth + lang)
        self.python.append("    " * depth + (lang if python is None else python))

    def name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    def expression(self, kind, depth):
        """A random expression of a type."""
        names = [name for name in self.settled if self.variables[name] == kind]
        if depth <= 0 or self.rng.random() < 0.15:
            if names and self.rng.random() < 0.8:
                name = self.rng.choice(sorted(names))
                return name, name
            return self.literal(kind)
        if kind == "bool":
            return self.condition(depth)
        choice = self.rng.randrange(10)
        if choice < 5:
            op = self.rng.choice(["+", "-", "*", "&", "|", "^"])
            (a, ra), (b, rb) = self.expression(kind, depth - 1), self.operand(kind, depth - 1)
            if bare(a):
                a = ra = f"{kind}({a})"
            return f"({a} {op} {b})", f"{kind}({ra} {op} {rb})"
        if choice == 5:
            (a, ra), (b, rb) = self.typed(kind, depth - 1), self.typed(kind, depth - 1)
            op = self.rng.choice(["//", "%"])
            return f"({a} {op} ({b} | 1))", f"{kind}({ra} {op} ({rb} | 1))"
        if choice == 6:
            (a, ra), (b, rb) = self.typed(kind, depth - 1), self.typed(kind, depth - 1)
            op = self.rng.choice(["<<", ">>"])
            bits = BY_NAME[kind].bits
            return f"({a} {op} {b})", f"{kind}({ra} {op} ({rb} % {bits}))"
        if choice == 7:
            (c, rc), (a, ra), (b, rb) = (
                self.condition(depth - 1),
                self.typed(kind, depth - 1),
                self.typed(kind, depth - 1),
            )
            return f"({a} if {c} else {b})", f"({ra} if {rc} else {rb})"
        if choice == 8:
            other = self.rng.choice(["i32", "u32", "u8", "i64", "bool", "u64", "i8", "i16"])
            a, ra = self.typed(other, depth - 1)
            return f"{kind}({a})", f"{kind}({ra})"
        (a, ra), (b, rb) = self.typed(kind, depth - 1), self.typed(kind, depth - 1)
        unary = self.rng.choice(["-", "~", "abs", "min", "max"])
        if unary in "-~":
            return f"({unary}{a})", f"{kind}({unary}{ra})"
        if unary == "abs":
            return f"abs({a})", f"{kind}(abs({ra}))"
        return f"{unary}({a}, {b})", f"{unary}({ra}, {rb})"

    def typed(self, kind, depth):
        """An expression that is no bare literal, so that its type is its own."""
        a, ra = self.expression(kind, depth)
        return (f"{kind}({a})", f"{kind}({ra})") if bare(a) else (a, ra)

    def operand(self, kind, depth):
        return self.literal(kind) if self.rng.random() < 0.3 else self.expression(kind, depth)

    def literal(self, kind):
        if kind == "bool":
            text = self.rng.choice(["True", "False"])
            return text, text
        limits = BY_NAME[kind]
        number = self.rng.choice([0, 1, 2, 3, 7, 31, 100, limits.max_value, limits.min_value, self.rng.randrange(128)])
        text = str(number) if number >= 0 else f"({number})"
        return text, text

    def condition(self, depth):
        """A random bool, with short cuts that hide divisions by zero."""
        choice = self.rng.randrange(6)
        if depth <= 0 or choice == 0:
            names = [name for name in sorted(self.settled) if self.variables[name] == "bool"]
            if names:
                name = self.rng.choice(names)
                return name, name
        if choice == 1:
            (a, ra), (b, rb) = self.condition(depth - 1), self.condition(depth - 1)
            op = self.rng.choice(["and", "or"])
            return f"({a} {op} {b})", f"({ra} {op} {rb})"
        if choice == 2:
            a, ra = self.condition(depth - 1)
            return f"(not {a})", f"(not {ra})"
        kind = self.rng.choice(["i32", "u32", "u8", "i64"])
        (a, ra), (b, rb) = self.typed(kind, depth - 1), self.typed(kind, depth - 1)
        op = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        if choice == 3:
            c, rc = self.typed(kind, depth - 1)
            second = self.rng.choice(["<", ">=", "!="])
            return f"({a} {op} {b} {second} {c})", f"({ra} {op} {rb} {second} {rc})"
        if choice == 4:
            c, rc = self.typed(kind, depth - 1)
            a = ra = {"i32": "a", "u32": "b", "u8": "c", "i64": "d"}[kind]  # a literal 0 would be refused
            return f"({a} != 0 and {b} // {a} {op} {c})", f"({ra} != 0 and {kind}({rb} // {ra}) {op} {rc})"
        return f"({a} {op} {b})", f"({ra} {op} {rb})"

    def statement(self, depth, budget):
        choice = self.rng.randrange(12)
        if choice < 4 or budget <= 0:
            kind = self.rng.choice(["i32", "u32", "u8", "i64", "bool"])
            a, ra = self.typed(kind, 3)
            names = [n for n in sorted(self.variables) if self.variables[n] == kind and not n.startswith("k")]
            if names and self.rng.random() < 0.6:
                name = self.rng.choice(names)
            else:
                name = self.name()
                self.variables[name] = kind
            self.emit(depth, f"{name} = {a}", f"{name} = {ra}")
            self.settled.add(name)
        elif choice < 6:
            names = [n for n in sorted(self.settled) if self.variables[n] != "bool" and not n.startswith("k")]
            name = self.rng.choice(names)
            kind = self.variables[name]
            a, ra = self.operand(kind, 2)
            op = self.rng.choice(["+", "-", "*", "^", "|", "&"])
            self.emit(depth, f"{name} {op}= {a}", f"{name} = {kind}({name} {op} {ra})")
        elif choice < 9:
            c, rc = self.condition(2)
            before = set(self.settled)
            self.emit(depth, f"if {c}:", f"if {rc}:")
            self.body(depth + 1, budget - 1)
            after = self.settled
            self.settled = set(before)
            if self.rng.random() < 0.6:
                self.emit(depth, "else:")
                self.body(depth + 1, budget - 1)
                self.settled &= after
            else:
                self.settled = before
        elif choice == 9:
            counter = f"k{self.fresh}"
            self.fresh += 1
            self.variables[counter] = kind = self.rng.choice(["i32", "u32"])
            start, stop = self.rng.randrange(-5 if kind == "i32" else 0, 6), self.rng.randrange(0, 9)
            step = self.rng.choice([1, 1, 2, 3] + ([-1, -2] if kind == "i32" else []))
            before = set(self.settled)
            self.emit(
                depth,
                f"for {counter} in range({kind}({start}), {kind}({stop}), {step}):",
                f"for {counter} in range({start}, {stop}, {step}):",
            )
            self.settled.add(counter)
            self.loop_body(depth, budget)
            self.settled = before
        elif choice == 10:
            counter = f"k{self.fresh}"
            self.fresh += 1
            self.variables[counter] = "u32"
            self.emit(depth, f"{counter} = u32(0)")
            self.settled.add(counter)
            c, rc = self.condition(2)
            before = set(self.settled)
            self.emit(depth, f"while {counter} < 6 and {c}:", f"while {counter} < 6 and {rc}:")
            self.emit(depth + 1, f"{counter} += 1")
            self.loop_body(depth, budget)
            self.settled = before
        else:
            x = self.rng.choice(["a", "d"])
            (p, rp), (q, rq) = self.typed(self.variables[x], 2), self.typed("u32", 2)
            self.emit(depth, f"{x}, b = {p}, {q}", f"{x}, b = {rp}, {rq}")

    def loop_body(self, depth, budget):
        self.body(depth + 1, budget - 1)
        if self.rng.random() < 0.5:
            c, rc = self.condition(1)
            leave = self.rng.choice(["break", "continue", "return d"])
            self.emit(depth + 1, f"if {c}:", f"if {rc}:")
            self.emit(depth + 2, leave)
            self.body(depth + 1, budget - 1)

    def body(self, depth, budget):
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(depth, budget)

    def function(self, index):
        self.lang = ["@device", f"def f{index}(a: i32, b: u32, c: u8, d: i64, e: bool) -> i64:"]
        self.python = [f"def f{index}(a, b, c, d, e):"]
        for _ in range(self.rng.randrange(3, 7)):
            self.statement(1, 3)
        parts = [(f"i64({name})", f"i64({name})") for name in sorted(self.settled)]
        self.emit(1, "r = i64(1)")
        for part, reference in parts:
            self.emit(1, f"r = r * 31 + {part}", f"r = i64(r * 31 + {reference})")
        self.emit(1, "return r")


def bare(text):
    """Whether a text is nothing but a literal."""
    return text.strip("()-").isdecimal() or text in ("True", "False")


def written(seed):
    """The two texts of a batch of programs."""
    rng = random.Random(seed)
    lang, python = ["from lanewise.lang import *", ""], []
    for index in range(PROGRAMS):
        writer = Writer(rng)
        writer.function(index)
        lang += ["", *writer.lang, ""]
        python += ["", *writer.python, ""]
    lang += ["", "@kernel", "def run(a: Ptr[i32], b: Ptr[u32], c: Ptr[u8], d: Ptr[i64], e: Ptr[bool], out: Ptr[i64]):"]
    lang += ["    i = thread_id()", f"    r = out + i * {PROGRAMS}"]
    lang += [f"    r[{index}] = f{index}(a[i], b[i], c[i], d[i], e[i])" for index in range(PROGRAMS)]
    return "\n".join(lang) + "\n", "\n".join(python) + "\n"


@pytest.mark.parametrize("seed", range(5))
def test_random_programs_give_what_python_gives(device, tmp_path, seed):
    lang, python = written(seed)
    path = tmp_path / f"programs_{seed}.py"
    path.write_text(lang)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = {name: kind.wrap if kind is not BOOL else bool for name, kind in BY_NAME.items()}
    exec(python, names)
    rng = np.random.default_rng(seed)
    columns = []
    for kind in ("i32", "u32", "u8", "i64"):
        limits = BY_NAME[kind]
        values = [0, 1, limits.max_value, limits.min_value, 2, 5]
        values += rng.integers(limits.min_value, limits.max_value, ROWS - 6, limits.dtype, endpoint=True).tolist()
        columns.append(rng.permutation(np.array(values, limits.dtype)))
    columns.append(rng.integers(0, 2, ROWS).astype(bool))
    out = device.zeros(ROWS * PROGRAMS, i64)
    module.run[ROWS](*(device.array(column) for column in columns), out)
    got = out.get().reshape(ROWS, PROGRAMS).tolist()
    for row, values in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        for index in range(PROGRAMS):
            assert got[row][index] == names[f"f{index}"](*values), f"f{index}{values} of seed {seed}"
