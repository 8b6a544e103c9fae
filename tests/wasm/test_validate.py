"""The validator accepts what the specification accepts and refuses the rest in the words of its test suites."""

import json
import shutil
from collections import Counter

import pytest
from raw_modules import (
    CODE,
    DATA,
    ELEMENT,
    FUNCTION,
    GLOBAL,
    MEMORY,
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
from spec import KNOWN_SUITES, SUITES, convert, scripts

from lanewise.errors import InvalidError, MalformedError, UnsupportedError, WasmError
from lanewise.wasm.decode import decode
from lanewise.wasm.model import WEBASSEMBLY_2
from lanewise.wasm.validate import validate

COUNTS = {
    "wasm-2.0": Counter(valid=1712, assert_invalid=2144, assert_malformed=736, text=1077),
    "wasm-threads": Counter(valid=3, assert_invalid=48),
    "wasm-tail-call": Counter(valid=6, assert_invalid=24, text=11),
}
"""How many modules of each kind the suites have; malformed text is the business of who reads text, and only counted."""

CUT_OFF = "the reference interpreter reads on behind the end of a section; Lanewise stops there"
KNOWN = {
    "binary-leb128.wast:348": CUT_OFF,
    "binary.wast:455": CUT_OFF,
    "binary.wast:1632": CUT_OFF,
    "select.wast:324": "wast2json writes a select of no type for a select of an empty list of types",
}
"""Refusals in other words than the suite's, and why."""


def refusal(data: bytes, features: frozenset[str]) -> WasmError | None:
    try:
        validate(decode(data, features))
    except WasmError as error:
        return error
    return None


def as_the_suite_says(command: dict, error: WasmError | None) -> bool:
    if command["type"] not in ("assert_invalid", "assert_malformed"):
        return error is None
    kind = InvalidError if command["type"] == "assert_invalid" else MalformedError
    return type(error) is kind and command["text"] in str(error)


@pytest.mark.skipif(not shutil.which("wast2json"), reason="wast2json (Debian: wabt) is not installed")
@pytest.mark.parametrize("suite", KNOWN_SUITES)
def test_suite_modules_are_accepted_and_refused_as_the_suite_says(suite, tmp_path):
    found = [script for script in scripts() if script.suite.name == suite]
    if not found:
        pytest.skip(f"the suite is not in {SUITES / suite}")
    counts, differing = Counter(), {}
    for script in found:
        features = WEBASSEMBLY_2 | script.suite.features
        for command in json.loads(convert(script, tmp_path).path.read_bytes())["commands"]:
            if command.get("module_type") == "text":
                counts["text"] += 1
            elif "filename" in command:
                counts[command["type"] if command["type"] in ("assert_invalid", "assert_malformed") else "valid"] += 1
                error = refusal((tmp_path / command["filename"]).read_bytes(), features)
                if not as_the_suite_says(command, error):
                    differing[f"{script.name}:{command['line']}"] = f"{command.get('text')!r}, got {error!r}"
    assert counts == COUNTS[suite]
    unexpected = {place: what for place, what in differing.items() if place not in KNOWN}
    assert not unexpected
    names = {script.name for script in found}
    assert {place for place in KNOWN if place.partition(":")[0] in names} == set(differing)


def check(code: bytes, **more) -> None:
    validate(decode(one_function(code, **more)))


def refused(text: str, code: bytes, kind=InvalidError, **more) -> MalformedError:
    with pytest.raises(kind, match=text) as error:
        check(code, **more)
    assert type(error.value) is kind
    return error.value


# Messages


def test_refusal_names_types_instruction_function_and_offset():
    names = custom("name", b"\x01" + sized(b"\x01\0" + sized(b"sum")))
    data = one_function(b"\x41\x01\x42\x02\x6a\x1a\x0b", after=names)
    with pytest.raises(InvalidError) as error:
        validate(decode(data))
    assert str(error.value).startswith(
        "type mismatch: expected [i32 i32], found [i32 i64] (i32.add in function 'sum') (at byte "
    )
    assert data[error.value.offset] == 0x6A


def test_refusal_says_what_is_known_of_what_is_not():
    refused("unknown local 3: the function has 1 with its parameters", b"\x20\x03\x1a\x0b", params="i32")
    refused("unknown function 7: the module has 1", b"\x10\x07\x0b")
    refused("unknown label 2: 1 blocks are open", b"\x0c\x02\x0b")
    refused("unknown memory 0: the module has 0", b"\x3f\x00\x1a\x0b")


def test_long_lists_of_types_are_shortened_to_the_top_of_the_stack():
    error = refused("type mismatch", b"\x41\x00" * 50 + b"\x0b")
    assert "found [... i32 i32 i32 i32 i32 i32 i32 i32]" in str(error)


# Bodies


def test_missing_and_surplus_ends_are_malformed():
    refused("unexpected end .* END opcode expected, 2 missing", b"\x02\x40", kind=MalformedError)
    refused("section size mismatch: 2 bytes follow the end of function", b"\x0b\x01\x0b", kind=MalformedError)


def test_else_needs_its_if():
    refused("END opcode expected: else without an if", b"\x02\x40\x05\x0b\x0b", kind=MalformedError)
    refused("END opcode expected: else without an if", b"\x41\x00\x04\x40\x05\x05\x0b\x0b", kind=MalformedError)


def test_deep_nesting_takes_no_recursion():
    depth = 200_000
    check(b"\x02\x40" * depth + b"\x0b" * (depth + 1))


def test_stack_is_whatever_is_asked_for_where_nothing_is_reached():
    check(b"\x00\x6a\x1a\x0b")
    check(b"\x00\x1b\x0b", results="f64")
    refused("type mismatch", b"\x00\x42\x00\x6a\x1a\x0b")


def test_more_operands_than_memory_should_hold_are_refused():
    many = function_type("", "i32 " * 1000)
    data = module(
        section(TYPE, function_type(), many),
        section(FUNCTION, b"\0", b"\x01"),
        section(CODE, body(b"\x10\x01" * 200 + b"\x00\x0b"), body(b"\x00\x0b")),
    )
    with pytest.raises(UnsupportedError, match="more than 100,000 operands"):
        validate(decode(data))


# Later versions


EXCEPTIONS = {"before": section(TAG, b"\0\0"), "params": "i32"}


def test_try_table_hands_to_its_labels_what_the_tag_carries():
    #                 block (result i32); try_table (catch 0 0); end; local.get 0; end
    check(b"\x02\x7f\x1f\x40\x01\x00\x00\x00\x0b\x20\x00\x0b\x1a\x0b", **EXCEPTIONS)
    check(b"\x02\x69\x1f\x40\x01\x03\x00\x00\x0b\x00\x0b\x0a\x0b", **EXCEPTIONS)
    wrong = b"\x02\x7e\x1f\x40\x01\x00\x00\x00\x0b\x00\x0b\x1a\x0b"
    refused(r"type mismatch: expected \[i64\], found \[i32\]", wrong, **EXCEPTIONS)
    refused("type mismatch", b"\x02\x7f\x1f\x40\x01\x02\x00\x0b\x00\x0b\x1a\x0b", **EXCEPTIONS)
    refused("unknown tag 1: the module has 1", b"\x02\x7f\x1f\x40\x01\x00\x01\x00\x0b\x00\x0b\x1a\x0b", **EXCEPTIONS)
    refused("unknown label 4", b"\x1f\x40\x01\x02\x04\x0b\x0b", **EXCEPTIONS)


def test_throw_takes_what_the_tag_carries_and_never_returns():
    check(b"\x20\x00\x08\x00\x6a\x1a\x0b", **EXCEPTIONS)
    refused("type mismatch", b"\x08\x00\x0b", **EXCEPTIONS)
    refused("type mismatch", b"\x20\x00\x0a\x0b", **EXCEPTIONS)


def test_several_memories_are_checked_one_by_one():
    two = {"before": section(MEMORY, b"\0\0", b"\0\0")}
    check(b"\x41\x00\x28\x42\x01\x00\x1a\x0b", **two)
    refused("unknown memory 2", b"\x41\x00\x28\x42\x02\x00\x1a\x0b", **two)
    check(b"\x41\x00\x41\x00\x41\x00\xfc\x0a\x01\x00\x0b", **two)
    refused("unknown memory 3", b"\x41\x00\x41\x00\x41\x00\xfc\x0a\x00\x03\x0b", **two)


def test_atomic_accesses_have_their_natural_alignment():
    memory = {"before": section(MEMORY, b"\x03\x01\x01")}
    check(b"\x41\x00\xfe\x10\x02\x00\x1a\x0b", **memory)
    refused("atomic alignment must be natural", b"\x41\x00\xfe\x10\x01\x00\x1a\x0b", **memory)
    refused("alignment must not be larger than natural", b"\x41\x00\xfe\x10\x03\x00\x1a\x0b", **memory)


# Constant expressions and segments


def with_global(*entries: bytes) -> bytes:
    return module(section(GLOBAL, *entries))


def test_extended_constants_add_and_multiply_and_see_earlier_globals():
    arithmetic = b"\x7f\x00\x41\x02\x41\x03\x6c\x41\x01\x6a\x0b"
    earlier = b"\x7f\x00\x23\x00\x0b"
    validate(decode(with_global(arithmetic, earlier)))
    with pytest.raises(InvalidError, match=r"constant expression required: a global's value uses i32\.mul"):
        validate(decode(with_global(arithmetic), WEBASSEMBLY_2))
    with pytest.raises(InvalidError, match="unknown global 0: a global's value can use the first 0"):
        validate(decode(with_global(b"\x7f\x00\x41\x00\x0b", earlier), WEBASSEMBLY_2))


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (b"\x7f\x00\x0b", r"type mismatch: a global's value should be \[i32\], it is \[\]"),
        (b"\x7f\x00\x42\x00\x0b", r"type mismatch: a global's value should be \[i32\], it is \[i64\]"),
        (b"\x7f\x00\x41\x00\x6a\x0b", "type mismatch: i32.add in a global's value"),
        (b"\x7f\x00\x41\x00\x45\x0b", "constant expression required: a global's value uses i32.eqz"),
        (b"\x7f\x00\x02\x40\x0b\x41\x00\x0b", "constant expression required: a global's value uses block"),
        (b"\x7f\x00\x23\x00\x0b", "unknown global 0"),
        (b"\x70\x00\xd2\x09\x0b", "unknown function 9: a global's value names it, the module has 0"),
    ],
)
def test_wrong_constants_are_refused_with_what_they_are(entry, text):
    data = with_global(entry)
    with pytest.raises(InvalidError, match=text) as error:
        validate(decode(data))
    assert error.value.offset > 8


def test_segments_name_what_exists():
    with pytest.raises(InvalidError, match="unknown memory 1: data segment 0 names it"):
        validate(decode(module(section(MEMORY, b"\0\0"), section(DATA, b"\x02\x01\x41\x00\x0b\x00"))))
    with pytest.raises(InvalidError, match="unknown table 0: element segment 0 names it"):
        validate(decode(module(section(ELEMENT, b"\x00\x41\x00\x0b\x00"))))
    with pytest.raises(InvalidError, match="element segment 0 has externref, table 0 holds funcref"):
        validate(decode(module(section(TABLE, b"\x70\0\0"), section(ELEMENT, b"\x06\x00\x41\x00\x0b\x6f\x00"))))


def test_reference_to_a_function_that_is_declared_nowhere_is_refused():
    refused("undeclared function reference: 'func 0' is in no export", b"\xd2\x00\x1a\x0b")
    check(b"\xd2\x00\x1a\x0b", exports=[(b"f", 0)])


def test_wide_types_are_refused():
    data = module(section(TYPE, b"\x60" + number(1001) + b"\x7f" * 1001 + b"\0"))
    with pytest.raises(UnsupportedError, match="1,001 parameters: Lanewise runs 1,000 at most"):
        decode(data)
