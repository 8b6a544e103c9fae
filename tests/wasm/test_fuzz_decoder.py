"""No bytes make the decoder, the validator or the disassembler fail in a way that is not theirs, or run away.

A few hundred cases run as tests. `python tests/wasm/test_fuzz_decoder.py --minutes 60 --seed 7 folder/*.wasm` goes on
with mutations of these modules (without any: of those in this folder), compares each verdict with wasmtime's and writes
what it finds to the current folder.
"""

import argparse
import random
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_modules import HEADER, one_function, section

from lanewise.errors import InvalidError, MalformedError, UnsupportedError
from lanewise.wasm.decode import decode
from lanewise.wasm.disassemble import disassemble
from lanewise.wasm.validate import validate

HERE = Path(__file__).parent
SEEDS = [(HERE / "sample.wasm").read_bytes(), (HERE / "spectest.wasm").read_bytes()]
TELLING = bytes.fromhex("00 01 7f 7e 7d 7c 7b 70 6f 69 40 0b fc fd fe 80 ff d0 d2 1a 41 20 1f 0e 04 05")
"""Bytes that mean something in many places."""

quickly = settings(derandomize=True, max_examples=300, deadline=None)


def verdict(data: bytes) -> MalformedError | None:
    """Read, validate and write a module; anything but a refusal in its own words, or a valid module, is a failure."""
    try:
        module = decode(data)
        module.function_name(0)
        validate(module)
    except MalformedError as error:
        refusal = error
    else:
        disassemble(module)
        return None
    assert type(refusal) in (MalformedError, InvalidError, UnsupportedError)
    assert 0 <= refusal.offset <= len(data)
    assert "\n" not in str(refusal)
    return refusal


def within_bounds(data: bytes) -> None:
    """Check that a module costs time and memory by its size; a function can have 50,000 locals in a few bytes."""
    started = time.perf_counter()
    tracemalloc.start()
    try:
        verdict(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000 + 1000 * len(data)
    assert time.perf_counter() - started < 10


def mutated(data: bytes, source: random.Random) -> bytes:
    """Change a module in a few places, mostly so that much of it still makes sense."""
    found = bytearray(data)
    for _ in range(source.choice((1, 1, 1, 2, 3, 8))):
        at = source.randrange(8, len(found))
        match source.randrange(7):
            case 0:
                found[at] = source.randrange(256)
            case 1:
                found[at] = (found[at] + source.choice((-1, 1))) & 0xFF
            case 2:
                found[at] = source.choice(TELLING)
            case 3:
                found[at] = found[source.randrange(8, len(found))]
            case 4:
                found[at] ^= 1 << source.randrange(8)
            case 5:
                found.insert(at, source.choice(TELLING))
            case _:
                if len(found) > 16:
                    del found[at]
    return bytes(found)


@quickly
@given(st.binary(max_size=200))
def test_random_bytes_are_refused(data):
    within_bounds(data)


@quickly
@given(st.lists(st.tuples(st.integers(0, 14), st.binary(max_size=60)), max_size=8))
def test_random_sections_are_refused_or_valid(sections):
    within_bounds(HEADER + b"".join(bytes([kind, len(content)]) + content for kind, content in sections))


@quickly
@given(st.lists(st.one_of(st.sampled_from(TELLING), st.integers(0, 255)), max_size=60).map(bytes))
def test_random_instructions_are_refused_or_valid(code):
    memory_and_global = section(5, b"\0\x01") + section(6, b"\x7f\x01\x41\x00\x0b")
    within_bounds(one_function(code + b"\x0b", params="i32 i64", results="i32", before=memory_and_global))


@quickly
@given(st.sampled_from(SEEDS), st.randoms(use_true_random=False))
def test_mutated_modules_are_refused_or_valid(data, source):
    within_bounds(mutated(data, source))


@quickly
@given(st.sampled_from(SEEDS), st.integers(0, 1000))
def test_modules_cut_off_anywhere_are_refused_or_valid(data, length):
    within_bounds(data[: len(data) * length // 1000])


def test_verdicts_are_those_of_wasmtime():
    pytest.importorskip("wasmtime", reason="wasmtime is not installed")
    assert not list(disagreements(SEEDS, random.Random(1), lambda count: count < 4000))


def disagreements(seeds, source, going, counts=None):
    """Mutate modules while `going(number)` holds, and give those that wasmtime judges otherwise than Lanewise."""
    import wasmtime

    config = wasmtime.Config()
    for setting in ("threads", "tail_call", "multi_memory", "exceptions"):
        setattr(config, f"wasm_{setting}", True)
    for setting in ("relaxed_simd", "memory64", "gc", "function_references"):
        setattr(config, f"wasm_{setting}", False)
    engine = wasmtime.Engine(config)
    counts = Counter() if counts is None else counts
    while going(counts.total()):
        data = mutated(source.choice(seeds), source)
        here = verdict(data)
        try:
            wasmtime.Module.validate(engine, data)
            there = None
        except wasmtime.WasmtimeError as error:
            there = str(error)
        counts["valid" if here is None else "refused"] += 1
        if (here is None) != (there is None) and not known_difference(here, there):
            yield data, here, there


def known_difference(here: MalformedError | None, there: str | None) -> bool:
    """Where the two differ on purpose."""
    if here is None:
        # Lanewise lets constants use globals of the module, as WebAssembly 3.0 does; wasmtime asks for GC to do so.
        return "global.get of locally defined global" in str(there)
    # wasmtime reads limits as numbers of 64 bits, of which there are longer ones, and knows a proposal for shorter
    # lists of imports.
    return isinstance(here, UnsupportedError) or "mum of a" in str(here) or "malformed import kind 0x7" in str(here)


def main() -> None:
    """Fuzz for as long as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("modules", nargs="*", type=Path)
    options = parser.parse_args()
    seeds = [data for path in options.modules if len(data := path.read_bytes()) > 8] or SEEDS
    end, counts = time.monotonic() + 60 * options.minutes, Counter()
    source = random.Random(options.seed)
    for data, here, there in disagreements(seeds, source, lambda _: time.monotonic() < end, counts):
        path = Path(f"disagreement-{options.seed}-{counts.total()}.wasm")
        path.write_bytes(data)
        print(f"{path}: {here or 'valid'} here, {there or 'valid'} on wasmtime")
    print(f"seed {options.seed}: {counts['valid']:,} valid and {counts['refused']:,} refused modules")


if __name__ == "__main__":
    main()
