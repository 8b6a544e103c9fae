"""The decoder gives what a module's bytes say, refuses bytes that say nothing, and says where it stopped."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_modules import (
    CODE,
    DATA,
    DATA_COUNT,
    ELEMENT,
    EXPORT,
    FUNCTION,
    GLOBAL,
    IMPORT,
    MEMORY,
    START,
    TABLE,
    TAG,
    TYPE,
    body,
    custom,
    function_type,
    module,
    number,
    one_function,
    section,
    sized,
)

from lanewise.errors import InvalidError, MalformedError, UnsupportedError
from lanewise.wasm.decode import decode
from lanewise.wasm.instructions import MAX_LOCALS, instructions, locals_of
from lanewise.wasm.model import WEBASSEMBLY_2, FuncType, GlobalType, Limits, MemoryType, TableType, TagType
from lanewise.wasm.opcodes import OPS
from lanewise.wasm.reader import Reader

SAMPLE = (Path(__file__).parent / "sample.wasm").read_bytes()


def signed(value: int) -> bytes:
    found = b""
    while not -64 <= value < 64:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value & 0x7F])


def steps(code: bytes, **more):
    """The instructions of a function with this code: (name, immediates) of each."""
    found = decode(one_function(code, **more))
    _, first = locals_of(found, found.bodies[0])
    return [(step.op.name, step.immediates) for step in instructions(found, first, found.bodies[0].end)]


def step(code: bytes, **more):
    """The immediates of a function's first instruction."""
    return steps(code + b"\x0b", **more)[0][1]


# Numbers


@given(st.integers(0, 2**32 - 1), st.integers(0, 4))
@settings(derandomize=True)
def test_unsigned_numbers_come_back_however_long_they_are_written(value, padding):
    plain = number(value)
    longer = min(5, len(plain) + padding)
    padded = plain
    while len(padded) < longer:
        padded = padded[:-1] + bytes([padded[-1] | 0x80, 0])
    for encoded in (plain, padded):
        reader = Reader(encoded, 0, len(encoded))
        assert reader.u32() == value
        assert reader.left == 0


@given(st.sampled_from([32, 33, 64]), st.data())
@settings(derandomize=True)
def test_signed_numbers_come_back(width, data):
    value = data.draw(st.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1))
    encoded = signed(value)
    assert getattr(Reader(encoded, 0, len(encoded)), f"s{width}")() == value


@pytest.mark.parametrize(
    ("method", "data", "text"),
    [
        ("u32", b"\x80\x80\x80\x80\x80\x00", "integer representation too long"),
        ("u32", b"\x80\x80\x80\x80\x10", "integer too large"),
        ("s32", b"\x80\x80\x80\x80\x70", "integer too large"),
        ("s32", b"\xff\xff\xff\xff\x0f", "integer too large"),
        ("s33", b"\xff\xff\xff\xff\x2f", "integer too large"),
        ("s64", b"\xff" * 9 + b"\x01", "integer too large"),
        ("s64", b"\x80" * 10 + b"\x00", "integer representation too long"),
        ("u32", b"\x80\x80", "unexpected end"),
        ("s64", b"", "unexpected end"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_where_they_begin(method, data, text):
    with pytest.raises(MalformedError, match=text) as error:
        getattr(Reader(data, 0, len(data)), method)()
    assert error.value.offset == (len(data) if text == "unexpected end" else 0)


def test_reader_stops_at_the_end_of_its_part_although_the_data_go_on():
    with pytest.raises(MalformedError, match="unexpected end"):
        Reader(b"\x80\x01", 0, 1).u32()


# Sections


def test_sections_fill_the_index_spaces_with_imports_first():
    found = decode(SAMPLE)
    assert [(entry.kind, entry.module, entry.name) for entry in found.imports] == [
        ("function", "env", "log"),
        ("memory", "env", "memory"),
    ]
    assert found.functions[0] == found.imports[0].type == FuncType(("i32",), ())
    assert found.functions[1] == FuncType((), ())
    assert found.functions[2] == FuncType(("i32", "i32"), ("i32",))
    assert found.memories == [MemoryType(Limits(1, 2)), MemoryType(Limits(1, 1), shared=True)]
    assert found.tables == [TableType("funcref", Limits(2, 4)), TableType("externref", Limits(1, None))]
    assert found.globals == [GlobalType("i32", True), GlobalType("f32", False), GlobalType("i32", False)]
    assert found.tags == [TagType(FuncType(("i32",), ()))]
    assert [body.type for body in found.bodies] == found.functions[1:]
    assert (found.imported_functions, found.imported_memories, found.imported_tables) == (1, 1, 0)
    assert found.start == 1
    assert [(export.name, export.kind, export.index) for export in found.exports] == [
        ("add", "function", 2),
        ('a "quoted" name', "memory", 0),
        ("unnamed", "function", 4),
    ]


def test_segments_and_constant_expressions_are_decoded():
    found = decode(SAMPLE)
    assert [element.mode for element in found.elements] == ["active", "declarative", "passive"]
    assert [(step.op.name, step.immediates) for step in found.elements[0].offset] == [("i32.const", (0,))]
    assert [[step.op.name for step in item] for item in found.elements[2].items] == [["ref.null"], ["ref.func"]]
    assert [step.op.name for step in found.defined_globals[2].init] == ["i32.const", "i32.const", "i32.sub"]
    active, passive = found.data_segments
    assert (active.mode, active.memory, found.data[active.start : active.end]) == ("active", 0, b'hello\0"world')
    assert passive.mode == "passive"
    assert passive.offset == ()


def test_functions_that_may_be_referred_to_are_those_of_exports_elements_and_globals():
    assert decode(SAMPLE).declared == {1, 2, 4}


def test_names_come_from_the_name_section_then_from_exports_then_from_the_index():
    found = decode(SAMPLE)
    assert found.names.module == "sample"
    assert [found.function_name(index) for index in range(5)] == ["log", "init", "add", "control", "unnamed"]
    assert found.names.locals[2] == {0: "left", 1: "right"}
    bare = decode(module(section(TYPE, function_type()), section(FUNCTION, b"\0"), section(CODE, body(b"\x0b"))))
    assert bare.function_name(0) == "func 0"


def test_broken_name_section_is_no_error_and_keeps_what_can_be_read():
    names = b"\x01" + sized(b"\x02" + b"\0" + sized(b"first") + b"\x01" + sized(b"second")) + b"\x02\x7f"
    found = decode(one_function(b"\x0b", after=custom("name", names)))
    assert found.function_name(0) == "first"
    assert decode(one_function(b"\x0b", after=custom("name", b"\x01\x05\xff"))).function_name(0) == "func 0"


def test_custom_sections_can_be_anywhere_and_twice():
    note = custom("note", b"\xff\xff")
    data = module(note, section(TYPE, function_type()), note, section(FUNCTION), note, section(CODE), note)
    assert [(entry.name, entry.end - entry.start) for entry in decode(data).customs] == [("note", 2)] * 4


ORDERED = {
    "type": section(TYPE),
    "import": section(IMPORT),
    "function": section(FUNCTION),
    "table": section(TABLE),
    "memory": section(MEMORY),
    "tag": section(TAG),
    "global": section(GLOBAL),
    "export": section(EXPORT),
    "element": section(ELEMENT),
    "data count": bytes([DATA_COUNT, 1, 0]),
    "code": section(CODE),
    "data": section(DATA),
}


def test_sections_are_accepted_in_the_order_of_the_specification():
    decode(module(*ORDERED.values()))


@pytest.mark.parametrize(("early", "late"), [*itertools.pairwise(ORDERED)])
def test_sections_out_of_order_or_twice_are_refused(early, late):
    with pytest.raises(MalformedError, match="unexpected content after last section"):
        decode(module(ORDERED[late], ORDERED[early]))
    with pytest.raises(MalformedError, match="unexpected content after last section"):
        decode(module(ORDERED[late], ORDERED[late]))


def test_start_section_is_read_with_its_offset():
    found = decode(one_function(b"\x0b", before_code=bytes([START, 1, 0])))
    assert found.start == 0
    assert found.data[found.start_offset - 2] == START


@pytest.mark.parametrize("size", [0, 1, 5, -3, -1])
def test_a_module_that_is_cut_short_is_asked_whether_it_was_written_to_the_end(size):
    whole = module(section(TYPE, function_type("", "i32")))
    with pytest.raises(MalformedError, match=r"was it written to the end\? \(at byte"):
        decode(whole[:size])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (module(b"\x0e\x00"), "malformed section id 14"),
        (module(b"\x01\x05\x00"), "length out of bounds: section 1 should have 5 bytes, the module has 1 left; was it"),
        (module(b"\x01\x02\x00\x00"), "section size mismatch: section 1 has 1 bytes too many"),
        (module(section(TYPE, b"\x61\x00\x00")), "malformed type: form 0x61, expected 0x60"),
        (module(section(TYPE, b"\x60\x01\x00\x00")), "malformed value type: 0x00 is none of i32, i64"),
        (module(section(IMPORT, b"\x00\x00\x05")), "malformed import kind 0x05"),
        (module(section(EXPORT, b"\x00\x05\x00")), "malformed export kind 0x05"),
        (module(section(GLOBAL, b"\x7f\x02\x41\x00\x0b")), "malformed mutability 0x02"),
        (module(section(MEMORY, b"\x10\x00")), "integer too large: the limits of a memory have form 0x10"),
        (module(section(TABLE, b"\x70\x08\x00")), "integer too large: the limits of a table have form 0x08"),
        (module(section(DATA, b"\x03")), "malformed data segment kind 3"),
        (module(section(ELEMENT, b"\x08")), "malformed elements segment kind 8"),
        (module(section(IMPORT, sized(b"\xff") + b"\x00\x00\x00")), "malformed UTF-8 encoding: an import's module"),
        (module(section(FUNCTION, b"\x00")), "unknown type 0: the module has 0 types"),
        (module(section(GLOBAL, b"\x7f\x00\x41\x00")), "unexpected end.*END opcode expected"),
        (module(section(MEMORY, b"\x01\x02\x01")), "minimum must not be greater than maximum: a memory of 2 to 1"),
        (module(section(MEMORY, b"\x02\x00")), "shared memory must have maximum"),
        (module(section(TYPE, function_type("", "i32")), section(TAG, b"\x00\x00")), "non-empty tag result type"),
    ],
)
def test_refusals_say_what_was_found(data, text):
    with pytest.raises(MalformedError, match=text):
        decode(data)


def test_earlier_version_refuses_what_came_later():
    for data, text in (
        (module(section(TAG)), "malformed section id"),
        (module(section(MEMORY, b"\x03\x01\x01")), "integer too large"),
        (module(section(MEMORY, b"\0\0", b"\0\0")), "multiple memories"),
        (module(section(TYPE, b"\x60\x01\x69\x00")), "malformed value type"),
    ):
        decode(data)
        with pytest.raises(MalformedError, match=text):
            decode(data, WEBASSEMBLY_2)


# Function bodies


def test_every_row_of_the_opcode_table_is_decoded_as_itself():
    immediates = {
        "block": (b"\x40", FuncType((), ())),
        "labels": (b"\x02\x01\x00\x03", ((1, 0), 3)),
        "heap": (b"\x70", "funcref"),
        "types": (b"\x01\x7e", ("i64",)),
        "catches": (b"\x02\x00\x05\x01\x03\x02", (("catch", 5, 1), ("catch_all_ref", None, 2))),
        "memarg": (b"\x01\x10", (1, 16, 0)),
        "i32": (b"\x7f", -1),
        "i64": (b"\x80\x80\x80\x80\x10", 2**32),
        "f32": (b"\x00\x00\x80\x3f", 0x3F800000),
        "f64": (b"\x01" + b"\x00" * 6 + b"\x80", 0x8000000000000001),
        "v128": (bytes(range(16)), int.from_bytes(bytes(range(16)), "little")),
        "lane": (b"\x03", 3),
        "lanes": (bytes(range(16)), tuple(range(16))),
        "zero": (b"\x00", 0),
    }
    for row in OPS.values():
        prefix = bytes([row.code]) if row.code < 0x100 else bytes([row.code >> 16]) + number(row.code & 0xFFFF)
        written, wanted = b"", []
        for kind in row.immediates:
            code, value = immediates.get(kind, (b"\x85\x01", 133))
            written += code
            wanted.append(value)
        assert steps(prefix + written + b"\x0b")[0] == (row.name, tuple(wanted))


def test_block_types_are_resolved():
    assert step(b"\x02\x40") == (FuncType((), ()),)
    assert step(b"\x02\x7e") == (FuncType((), ("i64",)),)
    assert step(b"\x02\x00", params="i32", results="f32 f64") == (FuncType(("i32",), ("f32", "f64")),)
    assert step(b"\x02\x80\x00", params="i32") == (FuncType(("i32",), ()),)


def test_memory_index_stands_between_alignment_and_offset():
    assert step(b"\x28\x42\x01\x08") == ((2, 8, 1),)


def test_offsets_are_those_of_the_module():
    found = decode(SAMPLE)
    for entry in found.bodies:
        _, first = locals_of(found, entry)
        read = list(instructions(found, first, entry.end))
        assert read[0].offset == first
        assert read[-1] == (entry.end - 1, OPS[0x0B], ())


def test_locals_are_given_without_the_parameters():
    found = decode(one_function(b"\x0b", params="i64", local_groups=b"\x03\x02\x7f\x00\x7e\x01\x7d"))
    declared, first = locals_of(found, found.bodies[0])
    assert declared == ["i32", "i32", "f32"]
    assert first == found.bodies[0].end - 1


@pytest.mark.parametrize(
    ("groups", "kind", "text"),
    [
        (b"\x02\xff\xff\xff\xff\x0f\x7f\x02\x7e", MalformedError, "too many locals"),
        (b"\x01" + number(MAX_LOCALS) + b"\x7f", UnsupportedError, "too many locals: 50,001 .* Lanewise runs"),
        (b"\x01\x01\x40", MalformedError, "malformed value type: 0x40"),
        (b"\x7f", MalformedError, "unexpected end .* 127 groups of locals are announced"),
    ],
)
def test_wrong_declarations_of_locals_are_refused(groups, kind, text):
    found = decode(one_function(b"\x0b", params="i32", local_groups=groups))
    with pytest.raises(kind, match=text) as error:
        locals_of(found, found.bodies[0])
    assert type(error.value) is kind


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        (b"\xff", MalformedError, "illegal opcode 0xff"),
        (b"\xfc\x7f", MalformedError, "illegal opcode 0xfc 0x7f"),
        (b"\x06\x40", UnsupportedError, "illegal opcode 0x06: exception handling in its old form.*wasm-opt"),
        (b"\x14\x00", UnsupportedError, "typed function references"),
        (b"\xfb\x00\x00", UnsupportedError, "garbage-collected types"),
        (b"\xd0\x6e", UnsupportedError, "garbage-collected types"),
        (b"\xd0\x00", UnsupportedError, "typed function references"),
        (b"\xfd\x80\x02", UnsupportedError, "relaxed SIMD"),
        (b"\x02\x05", InvalidError, "unknown type 5: the module has 1 types"),
        (b"\x28\x80\x01\x00", MalformedError, "malformed memop flags 0x80"),
        (b"\x41", MalformedError, "unexpected end of section or function"),
        (b"\x43\x00\x00", MalformedError, "unexpected end of section or function"),
        (b"\x0e\xff\xff\xff\xff\x0f", MalformedError, "4,294,967,295 labels are announced"),
        (b"\x1f\x40\x01\x04", MalformedError, "malformed catch clause 0x04"),
        (b"\xfe\x03\x01", MalformedError, "zero byte expected, found 0x01"),
    ],
)
def test_wrong_instructions_are_refused(code, kind, text):
    with pytest.raises(kind, match=text) as error:
        steps(code)
    assert type(error.value) is kind


def test_instructions_of_later_versions_are_refused_by_name():
    found = decode(one_function(b"\x12\x00\x0b"), WEBASSEMBLY_2)
    with pytest.raises(MalformedError, match=r"illegal opcode 0x12: return_call \(tail-calls\) is switched off"):
        list(instructions(found, found.bodies[0].start + 1, found.bodies[0].end))
