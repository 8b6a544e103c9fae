"""What cannot be run is refused in one sentence that says why."""

import io
import os
import random
import struct
import subprocess
from contextlib import suppress

import pytest
from elftools.elf.elffile import ELFFile

from lanewise.arm64.linux import run_linux
from lanewise.arm64.linux.elf import read_program
from lanewise.errors import ArgumentError

CODE = struct.pack("<3I", 0xD2800540, 0xD2800BA8, 0xD4000001)  # mov x0, 42; mov x8, 93; svc 0


def elf(
    *, kind=2, machine=183, bits=2, order=1, entry=0x400078, code=CODE, load=1, flags=5, address=0x400000, room=None
):
    """A file with one segment, right unless something is asked to be wrong."""
    content = 0x78 + len(code)
    header = struct.pack(
        "<4sBBBB8xHHIQQQIHHHHHH",
        b"\x7fELF", bits, order, 1, 0, kind, machine, 1, entry, 64, 0, 0, 64, 56, 1, 64, 0, 0,
    )  # fmt: skip
    segment = struct.pack("<IIQQQQQQ", load, flags, 0, address, address, content, room or content, 0x10000)
    return header + segment + code


def two_segments(*second):
    """A file with code and another segment, whose header is given from its offset on."""
    header = bytearray(elf()[:64])
    header[56] = 2
    header[24:32] = struct.pack("<Q", 0x400000 + 64 + 2 * 56)
    size = 64 + 2 * 56 + len(CODE)
    first = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 0x10000)
    offset, address, filled, room = second
    return bytes(header) + first + struct.pack("<IIQQQQQQ", 1, 6, offset, address, address, filled, room, 4096) + CODE


def test_nothing_but_zeros():
    """GNU ld gives a segment that is all 0 an offset that may be beyond the end of the file."""
    assert run_linux(two_segments(0x10000, 0x410000, 0, 8192))[0].exit_code == 42


def test_bytes_of_any_kind(tmp_path):
    assert run_linux(bytearray(elf()))[0].exit_code == 42
    assert run_linux(memoryview(elf()))[0].exit_code == 42
    odd = os.fsencode(tmp_path) + b"/\xff"
    with open(odd, "wb") as file:
        file.write(elf())
    assert run_linux(os.fsdecode(odd))[0].exit_code == 42


@pytest.mark.parametrize("nothing", [None, 5, ["a"]])
def test_no_program(nothing):
    with pytest.raises(ArgumentError, match="give the path of its file, or its bytes"):
        run_linux(nothing)


def test_a_file_without_end():
    with pytest.raises(ArgumentError, match="/dev/zero is no ELF file"):
        run_linux("/dev/zero")


def test_a_right_one():
    assert run_linux(elf())[0].exit_code == 42
    assert run_linux(elf(kind=3, address=0, entry=0x78))[0].exit_code == 42


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no ELF file"),
        (b"#!/bin/sh\n", "is no ELF file"),
        (elf()[:20], "is cut short: 20 bytes"),
        (elf()[:90], "is cut short: the headers of its segments"),
        (elf()[:-1], "is cut short: a segment ends at byte 132, the file at 131"),
        (elf(machine=62), r"is for another machine \(X86_64, 64 bits, little-endian\)"),
        (elf(machine=9999), "is for another machine"),
        (elf(kind=1), "an object file that is not linked yet"),
        (elf(kind=4), "a core dump"),
        (elf(kind=77), "of an unknown kind"),
        (elf(kind=3, address=0, entry=0), "is a shared library, not a program"),
        (elf(load=0), "has nothing to load"),
        (elf(load=3), "is linked dynamically; link it with -static"),
        (elf(entry=0x500000), "begins at 0x500000, where it has no code"),
        (elf(flags=6), "where it has no code"),
        (elf(room=1 << 30), "does not fit a memory of 16,777,216 bytes from 0x400000 on; with its stack it needs"),
        (elf(address=1 << 50, entry=(1 << 50) + 0x78), "beyond all addresses"),
        (elf(room=4), "is cut short"),
        (two_segments(0, 0x400010, 0, 8), "two of its segments overlap at 0x400010"),
        (two_segments(0, 0x410000, 64, 64), "its segments are larger than the file"),
    ],
)
def test_refused(content, message):
    with pytest.raises(ArgumentError, match=message) as refused:
        run_linux(content)
    assert "\n" not in str(refused.value)


def test_what_it_needs_is_enough():
    with pytest.raises(ArgumentError, match="needs") as refused:
        run_linux(elf(room=1 << 20), memory_size=1 << 20)
    needed = int(str(refused.value).split(" at least")[0].split()[-1].replace(",", ""))
    assert run_linux(elf(room=1 << 20), memory_size=needed)[0].exit_code == 42


def test_no_file(tmp_path):
    with pytest.raises(ArgumentError, match="cannot be read"):
        run_linux(tmp_path / "nothing")
    with pytest.raises(ArgumentError, match="cannot be read"):
        run_linux(tmp_path)


def test_any_damage_is_refused_or_runs():
    """Whatever bytes are wrong: one sentence, or a program that does something."""
    chance = random.Random(1)
    whole = elf()
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(4, 0x78)] = chance.choice([0, 1, 2, 3, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        with suppress(ArgumentError):
            read_program(bytes(damaged[: chance.choice([len(damaged), chance.randrange(len(damaged))])]))


def test_real_ones(build, tmp_path):
    with pytest.raises(ArgumentError, match="is linked dynamically"):
        run_linux(build("hello", "-no-pie"))
    library = tmp_path / "library.so"
    source = tmp_path / "library.c"
    source.write_text("int one(void) { return 1; }\n")
    subprocess.run(["aarch64-linux-gnu-gcc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    with pytest.raises(ArgumentError, match="is a shared library"):
        run_linux(library)


@pytest.mark.parametrize("kind", ["-static", "-static-pie"])
def test_functions_by_address(build, kind):
    """As nm says, wherever the program lies."""
    path = build("hello", kind)
    program = read_program(path)
    said = subprocess.run(["aarch64-linux-gnu-nm", "-S", path], capture_output=True, text=True, check=True).stdout
    (line,) = [line.split() for line in said.splitlines() if line.endswith(" T main")]
    start, size = int(line[0], 16) + program.bias, int(line[1], 16)
    assert (program.bias != 0) == (kind == "-static-pie")
    assert program.function(program.entry) == "_start+0x0"
    assert program.function(start) == "main+0x0"
    assert program.function(start + size - 4) == f"main+{size - 4:#x}"
    assert not program.function(start + size).startswith("main")
    for nowhere in (0, program.start - 4, program.end, 2**64 - 4):
        assert program.function(nowhere) == ""


def test_labels_of_assembly_have_names_and_stripped_programs_none(build, tmp_path):
    program = read_program(build("bare"))
    assert program.function(program.entry + 4) == "_start+0x4"
    stripped = tmp_path / "stripped"
    subprocess.run(["aarch64-linux-gnu-strip", "-o", stripped, build("bare")], check=True)
    program = read_program(stripped)
    assert program.function(program.entry + 4) == ""


def test_damaged_names_do_no_harm(build):
    content = build("hello").read_bytes()
    known = read_program(content)
    table = ELFFile(io.BytesIO(content)).get_section_by_name(".symtab").header
    headers = ELFFile(io.BytesIO(content)).header.e_shoff
    chance = random.Random(3)
    for _ in range(60):
        damaged = bytearray(content)
        for _ in range(200):
            damaged[chance.randrange(table.sh_offset, table.sh_offset + table.sh_size)] = chance.randrange(256)
        for _ in range(chance.randrange(3)):
            damaged[chance.randrange(headers, len(content))] = chance.randrange(256)
        found = read_program(bytes(damaged)).function(known.entry + 8)
        assert found.isprintable()
