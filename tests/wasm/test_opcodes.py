"""The opcode table: complete, as other tools know it, and with meanings that compile and compute what they should."""

from __future__ import annotations

import ctypes
import random
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from vector_reference import REFERENCES

from lanewise.compiler import Job, Target, assemble, compile_guest, find_ptxas, load_object
from lanewise.wasm.opcodes import OPS, Op, atomics, control, memory, numeric, simd
from lanewise.wasm.opcodes.row import LLVM_TYPES, Step

SUITE = Path(__file__).parents[3] / "shared" / "suites" / "wasm-2.0"
ROWS = (*control.ROWS, *memory.ROWS, *numeric.ROWS, *simd.ROWS, *atomics.ROWS)
WITH_MEANING = [row for row in ROWS if row.meaning]
SIZES = {"i32": 4, "f32": 4, "i64": 8, "f64": 8, "v128": 16}
PARTS = 8
"""The meanings are compiled in so many modules, in parallel."""


# The expander: a function for each row, void(ptr memory, ptr operands, ptr result), with 16 bytes for every operand.


def lane_of(row: Op) -> int:
    return row.lanes - 1


def symbol(row: Op) -> str:
    """Name the function of a row; PTX has no dots in names."""
    return row.name.replace(".", "_")


def function(row: Op, convention: str = "") -> str:
    """Write the function of a row out."""
    operands = {f"a{at}": f"%operand{at}" for at in range(len(row.params))}
    immediates = {f"i{at}": str(lane_of(row)) for at, name in enumerate(row.immediates) if name == "lane"}
    names = {"n": "1", **operands, **immediates}
    lines = [f"define {convention} void @{symbol(row)}(ptr %memory, ptr %operands, ptr %result) {{"]
    for at, kind in enumerate(row.params):
        lines.append(f"%at{at} = getelementptr i8, ptr %operands, i64 {16 * at}")
        lines.append(f"%operand{at} = load {LLVM_TYPES[kind]}, ptr %at{at}, align 1")
    cast: set[tuple[str, str]] = set()
    for number, step in enumerate(row.steps):
        for operand, vector in step.casts:
            if (operand, vector) not in cast:
                cast.add((operand, vector))
                short = vector.strip("<>").replace(" ", "")
                lines.append(f"%cast{operand}.{short}.1 = bitcast <4 x i32> %operand{operand} to {vector}")
        lines += [line.format(**names) for line in written(step, number)]
        if step.result_cast:
            lines.append(f"%r.1 = bitcast {step.result_cast} %raw.1 to <4 x i32>")
    if row.results:
        lines.append(f"store {LLVM_TYPES[row.results[0]]} %r.1, ptr %result, align 1")
    return "\n  ".join([*lines, "ret void"]) + "\n}\n"


def written(step: Step, number: int) -> Iterator[str]:
    """Write a step out; what it names in braces is still to be filled in."""
    if step.kind == "ir":
        yield step.parts[0]
        return
    if step.kind == "trap":
        yield f"br i1 {step.parts[0]}, label %trap{number}, label %on{number}\ntrap{number}:"
        yield f"call void @llvm.trap()\nunreachable\non{number}:"
        return
    result, *parts = step.parts
    operation = parts.pop(0) if step.kind == "atomic.rmw" else ""
    kind, *values = parts
    address = values.pop() if step.kind.endswith("store") else values.pop(0)
    pointer = f"%pointer{number}"
    yield f"%wide{number} = zext i32 {address} to i64"
    yield f"{pointer} = getelementptr i8, ptr %memory, i64 %wide{number}"
    align = f"align {int(kind[1:]) // 8}" if "atomic" in step.kind else "align 1"
    match step.kind:
        case "load":
            yield f"{result} = load {kind}, ptr {pointer}, {align}"
        case "store":
            yield f"store {kind} {values[0]}, ptr {pointer}, {align}"
        case "atomic.load":
            yield f"{result} = load atomic {kind}, ptr {pointer} seq_cst, {align}"
        case "atomic.store":
            yield f"store atomic {kind} {values[0]}, ptr {pointer} seq_cst, {align}"
        case "atomic.rmw":
            yield f"{result} = atomicrmw {operation} ptr {pointer}, {kind} {values[0]} seq_cst, {align}"
        case "atomic.cmpxchg":
            exchange = f"cmpxchg ptr {pointer}, {kind} {values[0]}, {kind} {values[1]} seq_cst seq_cst, {align}"
            yield f"%pair{number} = {exchange}"
            yield f"{result} = extractvalue {{{{ {kind}, i1 }}}} %pair{number}, 0"
        case _:
            raise AssertionError(f"no such step: {step}")


def helpers() -> Iterator[str]:
    """Write the functions that meanings call by names of our own; they work on bits."""
    shapes = (
        ("f32", "float", "i32", "{}", 32),
        ("f64", "double", "i64", "{}", 64),
        ("v4f32", "<4 x float>", "<4 x i32>", "splat (i32 {})", 32),
        ("v2f64", "<2 x double>", "<2 x i64>", "splat (i64 {})", 64),
    )
    for suffix, kind, bits, constant, width in shapes:
        sign, rest = constant.format(-(1 << (width - 1))), constant.format((1 << (width - 1)) - 1)
        for name, instruction, value in (("abs", "and", rest), ("neg", "xor", sign)):
            yield f"""
                define internal {kind} @lw.{name}.{suffix}({kind} %x) {{
                  %bits = bitcast {kind} %x to {bits}
                  %changed = {instruction} {bits} %bits, {value}
                  %r = bitcast {bits} %changed to {kind}
                  ret {kind} %r
                }}"""
    for kind, llvm in (("f32", "float"), ("f64", "double")):
        yield f"""
            define internal {llvm} @lw.copysign.{kind}({llvm} %x, {llvm} %y) {{
              %r = call {llvm} @llvm.copysign.{kind}({llvm} %x, {llvm} %y)
              ret {llvm} %r
            }}
            define internal i{kind[1:]} @lw.bits.{kind}({llvm} %x) {{
              %r = bitcast {llvm} %x to i{kind[1:]}
              ret i{kind[1:]} %r
            }}
            define internal {llvm} @lw.from_bits.{kind}(i{kind[1:]} %x) {{
              %r = bitcast i{kind[1:]} %x to {llvm}
              ret {llvm} %r
            }}"""


def module(rows: list[Op], target: Target) -> str:
    convention = "ptx_kernel" if target.kind == "nvptx" else ""
    return "\n".join([*helpers(), *(function(row, convention) for row in rows)])


def compiled(target: Target) -> list[tuple[bytes, list[Op]]]:
    """Compile all meanings and return the code of each module with the rows that are in it."""
    parts = [WITH_MEANING[at::PARTS] for at in range(PARTS)]
    jobs = [Job(module(rows, target), target, name=f"opcodes{at}") for at, rows in enumerate(parts)]
    return list(zip(compile_guest(jobs), parts, strict=True))


@pytest.fixture(scope="module")
def functions() -> Callable[[Op], Callable[..., None]]:
    """Every meaning, compiled for this machine."""
    homes = {}
    for code, rows in compiled(Target.host()):
        library = load_object(code, [symbol(row) for row in rows])
        homes |= {symbol(row): library for row in rows}
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return lambda row: kind(homes[symbol(row)].address(symbol(row)))


# The table itself


def test_every_instruction_is_there_once():
    assert len(OPS) == len(ROWS)
    names = [row.name for row in ROWS]
    assert {name for name in names if names.count(name) > 1} == {"select"}
    assert len(simd.ROWS) == 236
    assert len(atomics.ROWS) == 67
    assert all(row.feature == "simd" for row in simd.ROWS)
    assert all(row.feature == "threads" and row.atomic for row in atomics.ROWS)
    assert sum(row.name.startswith(("i32.", "i64.", "f32.", "f64.")) for row in numeric.ROWS + memory.ROWS) == 163


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_is_consistent(row):
    assert bool(row.meaning) != bool(row.rule), "either a meaning or a rule"
    assert ("memarg" in row.immediates) == bool(row.width)
    assert ("lane" in row.immediates or "lanes" in row.immediates) == bool(row.lanes)
    if row.meaning:
        assert len(row.results) <= 1
        results = [step for step in row.steps if re.match(r"%(r|raw)\.", step.parts[0])]
        assert len(results) == len(row.results), "the result is defined once"
        assert row.meaning.count("%r:") <= 1
        used = set(re.findall(r"%(\d+)", row.meaning))
        assert used == {str(at) for at in range(len(row.params))}, "every operand counts"


@pytest.mark.parametrize("sm", [75, 90])
def test_meanings_compile_for_gpus(sm):
    for text, rows in compiled(Target.nvptx(sm)):
        assert text.count(b".visible .entry") == len(rows)
        if find_ptxas():
            assert assemble(text, sm).kernels.keys() == {symbol(row) for row in rows}


# What other tools say


@pytest.mark.skipif(not shutil.which("wat2wasm"), reason="needs wabt")
def test_wabt_knows_the_same_instructions(tmp_path):
    """Opcodes, signatures, immediates and natural alignments, as wabt has them."""
    special = ("const", "shuffle", "atomic.fence")
    rows = [row for row in ROWS if row.meaning or row.rule in special or row.rule.startswith("memory.atomic")]
    (tmp_path / "all.wat").write_text(f"(module (memory 1 1 shared)\n{''.join(map(wat, rows))})")
    subprocess.run(["wat2wasm", "--enable-all", "all.wat", "-o", "all.wasm"], cwd=tmp_path, check=True)
    dump = subprocess.run(["wasm-objdump", "-d", "all.wasm"], cwd=tmp_path, check=True, capture_output=True, text=True)
    bodies = re.split(r"^\w+ func\[\d+\].*\n", dump.stdout, flags=re.MULTILINE)[1:]
    for row, body in zip(rows, bodies, strict=True):
        lines = [line for line in re.findall(r"\w+: ([\w ]+?) +\| (\S.*)", body) if not line[1].startswith("local.get")]
        code, words = lines[0][0], lines[0][1].split()
        assert words[0] == row.name
        assert code.startswith(encoding(row.code)), row.name
        if row.width:
            assert 1 << int(words[1]) == row.width, row.name


def wat(row: Op) -> str:
    """Write a function that has the signature of the instruction."""
    values = {"i32": "0", "i64": "0", "f32": "0", "f64": "0", "v128": "i32x4 0 0 0 0", "lanes": " ".join(["31"] * 16)}
    words = [values.get(name, str(lane_of(row)) if name == "lane" else "") for name in row.immediates]
    operands = " ".join(f"local.get {at}" for at in range(len(row.params)))
    params, results = " ".join(row.params), " ".join(row.results)
    return f"(func (param {params}) (result {results}) {operands} {row.name} {' '.join(words)})\n"


def encoding(code: int) -> str:
    if code < 0x100:
        return f"{code:02x}"
    prefix, number = code >> 16, code & 0xFFFF
    return (
        f"{prefix:02x} {number:02x}" if number < 0x80 else f"{prefix:02x} {number & 0x7F | 0x80:02x} {number >> 7:02x}"
    )


@pytest.mark.skipif(not SUITE.is_dir(), reason="needs the WebAssembly test suite in ../shared/suites")
def test_the_suite_names_the_same_vector_instructions():
    text = "".join(file.read_text() for file in SUITE.glob("simd_*.wast"))
    text = re.sub(r'"[^"]*"|;;.*', "", text)  # names of exports, and code that is wrong on purpose
    named = set(re.findall(r"\(((?:v128|[if]\d+x\d+)\.\w+)", text))
    assert named == {row.name for row in simd.ROWS}


# What the meanings compute

EDGES = {
    "f32": [0x0, 0x80000000, 0x1, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x3F000000, 0x3FC00000]
    + [
        struct.unpack("<I", struct.pack("<f", value))[0]
        for value in (2.5, -0.5, -1.5, 2.0**31, -(2.0**31), 2.0**32, 3e9)
    ]
    + [0x4EFFFFFF, 0x4F7FFFFF, 0x7F7FFFFF, 0x00800000],
    "f64": [0x0, 1 << 63, 0x1, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0xFFF8 << 48) + 1, (0x7FF << 52) + 1]
    + [
        struct.unpack("<Q", struct.pack("<d", value))[0]
        for value in (
            0.5,
            1.5,
            2.5,
            -0.5,
            -1.5,
            2.0**31,
            2.0**31 - 0.5,
            -(2.0**31) - 0.9,
            2.0**32,
            2.0**32 - 0.5,
            1e300,
        )
    ]
    + [0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x36A0000000000000],
}
for _bits in (8, 16, 32, 64):
    _top = 1 << (_bits - 1)
    EDGES[f"i{_bits}"] = [0, 1, 2, _top - 1, _top, _top + 1, 2 * _top - 1, 2 * _top - 2, 15, 16]


def random_operand(source: random.Random, row: Op) -> bytes:
    """Return 16 bytes: random ones, or lanes on the edges of a type that the instruction names."""
    kinds = [kind for kind, _ in re.findall(r"\b([if]\d+)(x\d+)?", row.name.replace("_", " "))] or list(EDGES)
    kind = source.choice(kinds)
    size = int(kind[1:]) // 8
    lanes = b""
    while len(lanes) < 16:
        lanes += source.choice(
            (
                source.choice(EDGES[kind]).to_bytes(size, "little"),
                source.randbytes(size),
                bytes([source.randrange(20)]) * size,
            )
        )
    return lanes


def same(row: Op, got: bytes, wanted: bytes) -> bool:
    """Compare; which NaN a computation gives is the compiler's to settle, unless the meaning does."""
    if not row.nan or got == wanted:
        return got == wanted
    kind = np.float32 if row.name.startswith("f32") else np.float64
    left, right = np.frombuffer(got, kind), np.frombuffer(wanted, kind)
    same_bits = left.view(f"i{left.itemsize}") == right.view(f"i{left.itemsize}")
    return bool(np.all(same_bits | (np.isnan(left) & np.isnan(right))))


def call(run: Callable[..., None], memory: bytearray, operands: list[bytes]) -> bytes:
    result = ctypes.create_string_buffer(16)
    run((ctypes.c_char * len(memory)).from_buffer(memory), b"".join(operands), result)
    return result.raw


@pytest.mark.parametrize("row", [row for row in simd.ROWS if row.meaning], ids=lambda row: row.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_vectors_are_computed_as_in_plain_python(functions, row):
    source = random.Random(row.name)
    run = functions(row)
    for _ in range(150):
        operands = [random_operand(source, row) for _ in row.params]
        memory = bytearray(source.randbytes(16) + random_operand(source, row) + source.randbytes(16))
        shown = list(operands)
        if row.width:
            address = source.randrange(32)
            operands[0] = address.to_bytes(16, "little")
            shown[0] = bytes(memory[address : address + 16])
        before = bytes(memory)
        got = call(run, memory, operands)
        wanted = REFERENCES[row.name](*shown)
        if row.results:
            assert same(row, got[: SIZES[row.results[0]]], wanted), (operands, got, wanted)
            assert memory == before
        else:
            assert memory == before[:address] + wanted + before[address + row.width :]


UPDATES = {
    "load": lambda old, *_: old,
    "store": lambda old, new, *_: new,
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "xchg": lambda old, value: value,
}


@pytest.mark.parametrize("row", [row for row in atomics.ROWS if row.meaning], ids=lambda row: row.name)
def test_atomics_are_computed_as_in_plain_python(functions, row):
    source = random.Random(row.name)
    run = functions(row)
    limit = 1 << (8 * row.width)
    update = re.search(r"\.([a-z]+)\d*(_u)?$", row.name)[1]
    for _ in range(50):
        memory = bytearray(source.randbytes(32))
        address = row.width * source.randrange(8 // row.width)
        place = slice(address, address + row.width)
        old = int.from_bytes(memory[place], "little")
        values = [source.randrange(1 << 64) for _ in row.params[1:]]
        if update == "cmpxchg":
            # Only the bits that memory has of the expected value are compared.
            values[0] = source.choice((old, old ^ 1, old + limit, old ^ (limit >> 1), values[0])) % (1 << 64)
            new = values[1] if values[0] % limit == old else old
        else:
            new = UPDATES[update](old, *values)
        wanted = bytearray(memory)
        wanted[place] = (new % limit).to_bytes(row.width, "little")
        got = call(run, memory, [value.to_bytes(16, "little") for value in (address, *values)])
        assert memory == wanted
        if row.results:
            assert int.from_bytes(got[: SIZES[row.results[0]]], "little") == old
