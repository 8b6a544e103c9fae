"""The disassembler writes what is in a module: names, nesting, offsets, and each immediate in its own way.

Set LANEWISE_REWRITE=1 to write sample.wasm (from sample.wat, with wasmtime) and sample.txt anew.
"""

import os
import re
from pathlib import Path

import pytest
from raw_modules import one_function

from lanewise.wasm.decode import decode
from lanewise.wasm.disassemble import MAX_INDENT, SHOWN_BYTES, disassemble
from lanewise.wasm.opcodes import OPS
from lanewise.wasm.validate import validate

HERE = Path(__file__).parent
SAMPLE, BINARY, LISTING = HERE / "sample.wat", HERE / "sample.wasm", HERE / "sample.txt"


def sample():
    return decode(BINARY.read_bytes())


def test_listing_of_the_sample_is_the_one_that_was_looked_over():
    if os.environ.get("LANEWISE_REWRITE"):
        wasmtime = pytest.importorskip("wasmtime", reason="writing sample.wasm anew takes wasmtime")
        BINARY.write_bytes(wasmtime.wat2wasm(SAMPLE.read_text()))
        LISTING.write_text(disassemble(sample()))
    assert disassemble(sample()) == LISTING.read_text(), (
        "run LANEWISE_REWRITE=1 python -m pytest tests/wasm/test_disassemble.py and read what changed"
    )


def test_sample_is_valid():
    validate(sample())


def test_listing_names_offsets_of_the_opcodes():
    module = sample()
    lines = re.findall(r"^0x([0-9a-f]+) +(\S+)", disassemble(module), re.MULTILINE)
    assert len(lines) > 50
    for offset, name in lines:
        code = module.data[int(offset, 16)]
        assert code >= 0xFC or OPS[code].name == name


def test_one_function_is_the_same_text_as_in_the_whole():
    module = sample()
    assert disassemble(module, 2) in disassemble(module)
    assert disassemble(module, 2).lstrip().startswith("(func 2 $add (param $left i32) (param $right i32) (result i32)")


def test_imported_function_is_written_with_what_it_is_imported_from():
    assert disassemble(sample(), 0).strip() == '(func 0 $log (param i32) (import "env" "log"))'


def test_unknown_function_is_refused_with_the_number_of_functions():
    with pytest.raises(IndexError, match="no function 99: the module has 5"):
        disassemble(sample(), 99)


def test_long_segments_are_cut_short_and_say_their_size():
    module = sample()
    (line,) = [line for line in disassemble(module).splitlines() if "(data 1" in line]
    segment = module.data_segments[1]
    assert segment.end - segment.start > SHOWN_BYTES
    assert line.endswith(f"...) ;; {segment.end - segment.start} bytes from {segment.start:#x}")


def test_deep_nesting_does_not_push_lines_out_of_sight():
    depth = 20_000
    text = disassemble(decode(one_function(b"\x02\x40" * depth + b"\x0b" * (depth + 1))))
    assert max(map(len, text.splitlines())) < 2 * MAX_INDENT + 40


def test_control_characters_in_names_stay_on_their_line():
    name = b"a\nb\x1b[31m"
    data = one_function(b"\x0b", exports=[(name, 0)])
    (line,) = [line for line in disassemble(decode(data)).splitlines() if "(export" in line]
    assert "a\\u{a}b\\u{1b}[31m" in line
