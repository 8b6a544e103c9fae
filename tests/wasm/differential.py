"""Random modules must do on Lanewise what they do on wasmtime: results, traps, what they log, and their memory.

Half of the modules come from `random_modules`, half from `wasm-opt -ttf` of binaryen, which makes them of random bytes.
`python tests/wasm/differential.py --help` says how to compare many; modules that differ are saved.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wasmtime
from engines import VARIANTS, Engine, call_one, lanewise_engine, wasmtime_engine
from guest_log import GuestLog, HostLog
from random_modules import random_module
from workers import Died, serve, spread

from lanewise.errors import WasmException, WasmTrap

ALWAYS = ("sign-ext", "mutable-globals", "nontrapping-float-to-int", "bulk-memory")
SOMETIMES = ("simd", "multivalue", "tail-call", "threads", "extended-const")
PASSES = ((), ("-O1",), ("-O3",), ("--flatten",), ("--fuzz-passes",))
"""What binaryen does to a module after it made it, for other shapes of code."""

INTERESTING = {
    "i32": (0, 1, 2**32 - 1, 2**31, 2**31 - 1, 65535, 0x12345678),
    "i64": (0, 1, 2**64 - 1, 2**63, 2**63 - 1, 2**32, 0x123456789ABCDEF0),
    "f32": (0, 0x80000000, 0x3F800000, 0xBF000000, 0x7F800000, 0x4F000000, 0x00000001),
    "f64": (0, 1 << 63, 0x3FF0000000000000, 0xBFE0000000000000, 0x7FF0000000000000, 0x41E0000000000000, 1),
    "v128": (0, 2**128 - 1, 0x100F0E0D0C0B0A090807060504030201, 0x3F800000BF0000007F80000000000001),
}
"""Bits of arguments."""

Log = GuestLog | HostLog
Event = tuple[str, tuple[Any, ...], tuple[Any, ...]]
"""Something that was done, with what arguments, and everything that could be seen of it."""


def make_module(seed: int) -> bytes:
    """A valid module, by turns of our making and of binaryen's; equal seeds give equal modules."""
    return own_module(seed) if seed % 2 else binaryen_module(seed)


def own_module(seed: int) -> bytes:
    """A module that `random_modules` made."""
    return bytes(wasmtime.wat2wasm(random_module(seed)))


def binaryen_module(seed: int) -> bytes:
    """A module that binaryen made of random bytes."""
    rng = random.Random(seed)
    features = [*ALWAYS, *(feature for feature in SOMETIMES if rng.random() < 0.5)]
    options = ["--denan", *(f"--enable-{feature}" for feature in features), *rng.choice(PASSES)]
    with tempfile.TemporaryDirectory(prefix="lanewise-differential-") as folder:
        source, target = Path(folder) / "bytes", Path(folder) / "module.wasm"
        source.write_bytes(rng.randbytes(rng.choice((500, 2000, 6000, 20000))))
        call = ["wasm-opt", "-ttf", str(source), *options, "-o", str(target)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(call)} failed:\n{done.stderr}")
        return target.read_bytes()


def trace(engine: Engine, data: bytes, seed: int, new_log: type[Log] = GuestLog) -> Iterator[Event]:
    """Instantiate a module, call all that it exports and say what came of it."""
    store = engine.new_store()
    log = new_log(engine, store)
    try:
        instance = store.instantiate(engine.load(data), imports={"fuzzing-support": log.imports})
    except WasmTrap as trap:
        yield "instantiate", (), ("trapped", kind_of(trap))
        return
    yield from call_all(instance, log, random.Random(seed))
    for name, export in instance.exports.items():
        if hasattr(export, "bits"):
            yield name, (), (without_nan_bits(name.removeprefix("g_"), export.bits),)
        elif name.startswith("memory"):
            content = export.read()
            yield name, (), (len(content), hashlib.sha256(content).hexdigest())


def call_all(instance: Any, log: Log, rng: random.Random) -> Iterator[Event]:
    """Call every function that a module exports, some of them more than once; before each the limit is set anew."""
    functions = {name: export for name, export in instance.exports.items() if hasattr(export, "call_bits")}
    set_limit = functions.pop("hangLimitInitializer")
    for name, function in functions.items():
        for _ in range(3 if function.type.params else 1):
            args = [rng.choice(INTERESTING[type_]) for type_ in function.type.params]
            set_limit.call_bits([])
            outcome = call_one(function, args)
            yield name, tuple(args), (*seen(function, outcome), log.value)


def seen(function: Any, outcome: Any) -> tuple[Any, ...]:
    """An outcome in a form that can be compared."""
    if isinstance(outcome, WasmTrap):
        return "trapped", kind_of(outcome)
    if isinstance(outcome, WasmException):
        return "threw", *("nan" if value != value else value for value in outcome.values)
    if isinstance(outcome, Exception):
        raise outcome
    return "returned", *map(without_nan_bits, function.type.results, outcome)


def without_nan_bits(type_: str, bits: Any) -> Any:
    """A result as it is, or that it is a NaN: which one, the specification leaves open."""
    width = {"f32": 32, "f64": 64}.get(type_)
    infinity = {32: 0x7F800000, 64: 0x7FF0000000000000}.get(width or 0, 0)
    return "nan" if width and bits & ((1 << width - 1) - 1) > infinity else bits


def kind_of(trap: WasmTrap) -> str:
    """The kind of a trap; wasmtime has one name for calls and accesses past the end of a table."""
    return "out of bounds table access" if trap.kind == "undefined element" else trap.kind


@dataclass(frozen=True)
class Verdict:
    """What came of one comparison."""

    status: str
    """`same`, `nan` (the same as far as the bits of NaNs do not matter), `stack`, or `different`."""
    detail: str = ""


def compare(data: bytes, seed: int, engine: Engine, new_log: type[Log] = GuestLog) -> Verdict:
    """Run a module on an engine and on wasmtime, event by event.

    wasmtime runs it twice, with the NaNs that the hardware gives and with canonical ones: where the two part, the
    module looks at bits that the specification leaves open, and the comparison ends.
    """
    expected, canonical = (trace(wasmtime_engine(canonical_nans=nans), data, seed) for nans in (False, True))
    ours = trace(engine, data, seed, new_log)
    for wanted, other in zip(expected, canonical, strict=False):
        if wanted != other:
            return Verdict("nan")
        got = next(ours, ("ended", (), ()))
        if "call stack exhausted" in (*wanted[2], *got[2]):
            return Verdict("stack")
        if got != wanted and not either_trap(wanted, got):
            return Verdict("different", f"{show(wanted)} on wasmtime, {show(got)} here")
    return Verdict("same")


def either_trap(wanted: Event, got: Event) -> bool:
    """Whether an atomic access was both misaligned and out of bounds: the engines check that in different order."""
    kinds = {"unaligned atomic", "out of bounds memory access"}
    return {wanted[2][1:2], got[2][1:2]} == {(kind,) for kind in kinds} and wanted[2][2:] == got[2][2:]


def show(event: Event) -> str:
    """An event in one line."""
    name, args, result = event
    words = " ".join(hex(value) if isinstance(value, int) else str(value) for value in result)
    return f"{name}({', '.join(map(hex, args))}): {words}"


def check_module(data: bytes, seed: int, device: str) -> Verdict:
    """Compare a module with the usual options and with a variant; the first that differs is the verdict."""
    variant = VARIANTS[device][seed % len(VARIANTS[device])]
    new_log: type[Log] = HostLog if device == "cpu" and seed % 4 < 2 else GuestLog
    verdict = Verdict("same")
    for options in ({}, variant):
        verdict = compare(data, seed, lanewise_engine(device, **options), new_log)
        if verdict.status == "different":
            return Verdict("different", f"seed {seed}, {options or 'usual options'}: {verdict.detail}")
    return verdict


def answer(seed: int, device: str) -> dict[str, str]:
    """In a worker: compare the module of a seed."""
    try:
        verdict = check_module(make_module(seed), seed, device)
    except Exception as error:
        verdict = Verdict("error", f"seed {seed}: {type(error).__name__}: {error}")
    return {"status": verdict.status, "detail": verdict.detail}


def save(seed: int, verdict: Verdict, folder: Path) -> None:
    """Say what is wrong with a module and keep it."""
    text = f"{verdict.status}: {verdict.detail}"
    print(text, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{seed}.wasm").write_bytes(make_module(seed))
    (folder / f"{seed}.txt").write_text(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare Lanewise with wasmtime on random modules.")
    parser.add_argument("--count", type=int, default=100, help="how many modules")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first; the others follow")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes share the work")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--patience", type=float, default=120, help="seconds after which a module counts as hanging")
    parser.add_argument("--save", type=Path, default=Path("differential-failures"), help="where modules that differ go")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        serve(lambda seed: answer(seed, options.device))
        return
    seeds = range(options.seed, options.seed + options.count)
    command = [sys.executable, __file__, "--device", options.device, "--worker"]
    counts: Counter[str] = Counter()
    for seed, found in spread(command, seeds, options.jobs, options.patience):
        verdict = Verdict("died", f"seed {seed}: {found.reason}") if isinstance(found, Died) else Verdict(**found)
        counts[verdict.status] += 1
        if verdict.detail:
            save(seed, verdict, options.save)
    print(f"{counts.total():,} modules: " + ", ".join(f"{count:,} {status}" for status, count in counts.most_common()))
    sys.exit(any(counts[status] for status in ("different", "error", "died")))


if __name__ == "__main__":
    main()
