"""Writes a C program of 1,700 functions, the same each time: the guest that shows what a large module costs.

    python3 big.py > big.c

The functions are random, but shaped like those of real programs: branches, loops, switches, loads and stores of every
width, arithmetic in u32, u64 and f64, calls and calls through tables. Each calls only functions of an earlier tier, and
never inside a loop, so that all of them end soon. Nothing in them is undefined, and no f64 becomes infinite or NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

FUNCTIONS = 1700
TIERS = 4
TABLE = 64
"""Functions of the first tier that each table for calls from other functions holds."""
KINDS = ("u32", "u64", "f64")
SHARES = ("u32", "u64", "u32", "f64", "u32")
"""The kinds of the functions, over and over."""

HEAD = """\
// Written by big.py.
#pragma clang diagnostic ignored "-Weverything"
#include "guest.h"

struct record {
  u16 kind;
  u8 flags;
  signed char level;
  i16 shift;
  u32 link;
  f64 weight;
  u64 stamp;
};

static u32 cells[2048];
static u8 bytes[4096];
static struct record records[128];

__attribute__((noinline)) static f64 tame(f64 x) { return x > 1e6 ? x * 1e-60 + 3.5 : x < -1e6 ? x * 1e-60 - 2.5 : x; }
__attribute__((noinline)) static u32 whole(f64 x) { return (u32)(i32)tame(x); }
static inline u32 rotate(u32 x, u32 by) { return x << (by & 31) | x >> (-by & 31); }
"""

TAIL = """\

i64 run(i32 rounds) {
  restart_numbers();
  for (int i = 0; i < 2048; i++) cells[i] = next_number();
  for (int i = 0; i < 4096; i++) bytes[i] = (u8)next_number();
  for (int i = 0; i < 128; i++)
    records[i] = (struct record){(u16)next_number(), (u8)next_number(), (signed char)next_number(), (i16)next_number(),
                                 next_number(), next_below(1000) * 0.125, (u64)next_number() << 20};
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++)
    for (int i = 0; i < 16; i++) {
      u32 a = next_number(), b = next_number();
      sum = fold(sum, all_u32[next_below(sizeof all_u32 / sizeof *all_u32)](a, b));
      sum = fold(sum, all_u64[next_below(sizeof all_u64 / sizeof *all_u64)]((u64)a << 32 | b, a));
      sum = fold(sum, whole(all_f64[next_below(sizeof all_f64 / sizeof *all_f64)](a * 1e-6, b)));
      sum = fold(sum, cells[b % 2048]);
    }
  return (i64)sum;
}
"""


class Numbers:
    """A generator that gives the same numbers under every version of Python."""

    def __init__(self) -> None:
        self.state = 20240229

    def below(self, limit: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) * limit >> 31

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]


@dataclass
class Function:
    """One function while it is written: its lines, and the names that its expressions may use."""

    numbers: Numbers
    kind: str
    callees: dict[str, list[str]]
    names: dict[str, list[str]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    loops: int = 0
    counters: int = 0
    calls_left: int = 5
    spare: bool = False
    """Whether there is a local array, which lies on the guest's own stack."""

    def put(self, line: str) -> None:
        self.lines.append("  " * self.indent + line)

    def place(self, limit: int) -> str:
        return f"({self.expression('u32', 1)}) % {limit}"

    def leaf(self, kind: str) -> str:
        numbers = self.numbers
        choice = numbers.below(10)
        if choice < 6:
            return numbers.pick(self.names[kind])
        if kind == "f64":
            if choice < 8:
                return f"records[{self.place(128)}].weight"
            return f"{numbers.below(4000) / 16 - 100}"
        if kind == "u64":
            if choice < 7:
                return f"records[{self.place(128)}].stamp"
            return f"{numbers.below(2**31) << numbers.below(30)}ull" if choice < 9 else f"(u64){self.leaf('u32')}"
        if choice == 6:
            return f"{numbers.below(1 << 1 + numbers.below(30))}u"
        if choice == 7:
            return f"spare[{self.place(8)}]" if self.spare and numbers.below(2) else f"cells[{self.place(2048)}]"
        if choice == 8:
            return f"(u32)bytes[{self.place(4096)}]"
        member = numbers.pick(("kind", "flags", "level", "shift", "link"))
        return f"(u32)records[{numbers.pick(self.names['u32'])} % 128].{member}"

    def expression(self, kind: str, depth: int) -> str:
        if depth <= 0:
            return self.leaf(kind)
        if kind == "f64":
            return self.real(depth - 1)
        numbers = self.numbers
        a, b = self.expression(kind, depth - 1), self.expression(kind, depth - 1 - numbers.below(2))
        bits = 31 if kind == "u32" else 63
        form = numbers.below(16)
        if form < 9:
            return f"({a} {numbers.pick('+-*&|^+^+')} {b})"
        if form < 11:
            return f"({a} {numbers.pick(('<<', '>>'))} ({b} & {bits}))"
        if form == 11:
            if numbers.below(2):
                return f"({kind})((i{kind[1:]}){a} {numbers.pick('/%')} {3 + numbers.below(97)})"
            return f"({a} {numbers.pick('/%')} ({b} | {1 + 2 * numbers.below(40)}))"
        if form == 12:
            return f"({self.condition()} ? {a} : {b})"
        if form == 13:
            count = numbers.pick(("clz", "ctz", "popcount"))
            return f"({b} ^ ({kind})__builtin_{count}{'' if kind == 'u32' else 'll'}({a} | 65536))"
        if kind == "u32":
            return f"rotate({a}, {b})" if form == 14 else f"whole({self.expression('f64', 1)})"
        return f"(u64)((i64){a} >> ({b} & 31))" if form == 14 else f"(u64)(i32){self.expression('u32', depth - 1)}"

    def real(self, depth: int) -> str:
        numbers = self.numbers
        a, b = self.expression("f64", depth), self.expression("f64", depth - numbers.below(2))
        form = numbers.below(10)
        if form < 5:
            return f"({a} {numbers.pick('+-*')} {b})"
        if form == 5:
            return f"({a} / (1.5 + {b} * {b}))"
        if form == 6:
            return f"__builtin_sqrt(__builtin_fabs({a}))"
        if form == 7:
            return f"({a} < {b} ? {a} : {b})"
        if form == 8:
            return f"__builtin_{numbers.pick(('floor', 'ceil', 'trunc'))}({a})"
        return f"((f64)(i32){self.expression('u32', 1)} * 0.001)"

    def condition(self) -> str:
        kind = self.numbers.pick(("u32", "u32", "u32", "u64", "u64", "f64"))
        sign = {"u32": self.numbers.pick(("", "(i32)")), "u64": self.numbers.pick(("", "(i64)")), "f64": ""}[kind]
        a, b = self.expression(kind, 1), self.leaf(kind)
        return f"{sign}{a} {self.numbers.pick(('<', '>', '<=', '>=', '==', '!='))} {sign}{b}"

    def statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            self.statement(depth)

    def block(self, opening: str, count: int, depth: int) -> None:
        self.put(opening + " {")
        self.indent += 1
        self.statements(count, depth)
        self.indent -= 1
        self.put("}")

    def statement(self, depth: int) -> None:
        numbers = self.numbers
        form = numbers.below(20)
        if form < 6 or depth == 0:
            self.assign()
        elif form < 10:
            self.store()
        elif form < 13:
            self.block(f"if ({self.condition()})", 1 + numbers.below(3), depth - 1)
            if numbers.below(2):
                self.block("else", 1 + numbers.below(2), depth - 1)
        elif form < 15:
            self.loop(depth)
        elif form == 15:
            self.switch(depth)
        elif self.calls_left and not self.loops:
            self.call()
        else:
            self.assign()

    def assign(self) -> None:
        kinds = ("u32", "u32", "f64") if self.kind == "f64" else ("u32", "u32", "u32", "u64", "u64", "f64")
        kind = self.numbers.pick(kinds)
        name = self.numbers.pick(self.names[kind])
        if kind == "f64":
            self.put(f"{name} = tame({self.expression(kind, 2)});")
        else:
            self.put(f"{name} {self.numbers.pick(('', '+', '^', '-', '+'))}= {self.expression(kind, 2)};")

    def store(self) -> None:
        choice = self.numbers.below(6)
        if choice == 0 and self.spare:
            self.put(f"spare[{self.place(8)}] += {self.expression('u32', 2)};")
        elif choice < 2:
            self.put(f"cells[{self.place(2048)}] = {self.expression('u32', 2)};")
        elif choice == 2:
            self.put(f"bytes[{self.place(4096)}] += (u8){self.expression('u32', 1)};")
        elif choice == 3:
            self.put(f"records[{self.place(128)}].weight = tame({self.expression('f64', 1)});")
        elif choice == 4:
            self.put(f"records[{self.place(128)}].stamp ^= {self.expression('u64', 1)};")
        else:
            member, kind = self.numbers.pick((("kind", "u16"), ("flags", "u8"), ("shift", "i16"), ("link", "u32")))
            self.put(f"records[{self.place(128)}].{member} = ({kind}){self.expression('u32', 1)};")

    def loop(self, depth: int) -> None:
        numbers = self.numbers
        counter = f"i{self.counters}"
        self.counters += 1
        self.loops += 1
        limit = (
            f"{2 + numbers.below(9)}"
            if numbers.below(2)
            else f"{numbers.pick(self.names['u32'])} % {3 + numbers.below(9)}"
        )
        if self.loops > 2:
            limit = "2"
        self.put(f"for (u32 {counter} = 0, end = {limit}; {counter} < end; {counter}++) {{")
        self.indent += 1
        self.names["u32"].append(counter)
        self.put(f"{self.names['u32'][0]} += {self.expression('u32', 1)};")
        self.names["u32"].pop()
        if numbers.below(3) == 0:
            self.put(f"if ({self.condition()}) {numbers.pick(('break', 'continue'))};")
        self.statements(1 + numbers.below(3), depth - 1)
        self.indent -= 1
        self.put("}")
        self.loops -= 1

    def switch(self, depth: int) -> None:
        cases = 3 + self.numbers.below(10)
        self.put(f"switch ({self.expression('u32', 1)} % {cases + 1}) {{")
        for case in range(cases):
            self.put(f"case {case}:")
            self.indent += 1
            self.statements(1, min(depth - 1, 1))
            if self.numbers.below(5):
                self.put("break;")
            self.indent -= 1
        self.put("default:")
        self.indent += 1
        self.assign()
        self.indent -= 1
        self.put("}")

    def call(self) -> None:
        numbers = self.numbers
        self.calls_left -= 1
        kind = numbers.pick(SHARES)
        if numbers.below(4) == 0 and self.callees[kind]:
            callee = f"some_{kind}[{self.expression('u32', 1)} % {TABLE}]"
        elif self.callees[kind]:
            callee = numbers.pick(self.callees[kind])
        else:
            return self.assign()
        value = f"{callee}({self.expression(kind, 1)}, {self.expression('u32', 1)})"
        name = numbers.pick(self.names[kind])
        return self.put(f"{name} = tame({value});" if kind == "f64" else f"{name} += {value};")


def write_function(numbers: Numbers, name: str, kind: str, callees: dict[str, list[str]]) -> list[str]:
    function = Function(numbers, kind, callees)
    function.names = {"u32": ["b", "m", "n"], "u64": ["p", "q"], "f64": ["x", "y"]}
    function.names[kind].insert(1, "a")
    function.put(f"u32 m = b ^ {numbers.below(1 << 20)}, n = {numbers.below(200)};")
    function.put(f"u64 p = (u64)b << {numbers.below(32)}, q = {numbers.below(1 << 30)};")
    function.put(f"f64 x = {numbers.below(1000) / 8}, y = b * 1e-5;")
    if kind == "f64":
        function.put("a = tame(a);")
    function.spare = numbers.below(4) == 0
    if function.spare:
        function.put("u32 spare[8] = {b, n, m, b ^ m, 1, 2, 3, b >> 5};")
    size = numbers.below(32)  # Most functions are small, a few are large.
    function.statements(2 + size // 11 + (size == 31) * 6, 3 if size > 28 else 2)
    result = {
        "u32": "a ^ m + n ^ (u32)(p ^ q) ^ whole(x - y)",
        "u64": "a ^ p + q ^ m + n ^ whole(x - y)",
        "f64": "tame(a + x - y + (m + n ^ (u32)(p ^ q)) * 1e-6)",
    }
    function.put(f"return {result[kind]};")
    return [f"__attribute__((noinline)) static {kind} {name}({kind} a, u32 b) {{", *function.lines, "}", ""]


def table(name: str, kind: str, functions: list[str]) -> list[str]:
    rows = [", ".join(functions[i : i + 12]) + "," for i in range(0, len(functions), 12)]
    return [f"static {kind} (*const {name}[])({kind}, u32) = {{", *("    " + row for row in rows), "};", ""]


def program() -> str:
    """The whole C source."""
    numbers = Numbers()
    lines = [HEAD]
    made: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for tier in range(TIERS):
        callees = {kind: list(names) for kind, names in made.items()}
        for index in range(FUNCTIONS * tier // TIERS, FUNCTIONS * (tier + 1) // TIERS):
            kind = SHARES[index % len(SHARES)]
            name = f"{kind}_{index}"
            lines += write_function(numbers, name, kind, callees)
            made[kind].append(name)
        if tier == 0:
            for kind in KINDS:
                lines += table(f"some_{kind}", kind, made[kind][:TABLE])
    for kind in KINDS:
        lines += table(f"all_{kind}", kind, made[kind])
    return "\n".join(lines) + TAIL


if __name__ == "__main__":
    print(program(), end="")
