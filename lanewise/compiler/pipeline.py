"""LLVM IR text to code in named stages: source, llvm, optimised, then ptx or object; each can be dumped."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lanewise import settings
from lanewise.compiler import _llvm, rounds, unrolling
from lanewise.compiler.cache import Cache, default_cache
from lanewise.compiler.targets import Target
from lanewise.errors import CompileError, LanewiseError
from lanewise.version import __version__

CacheChoice = Cache | Literal["default"] | None
"""Which cache a compile uses: one of your own, the one that the settings name, or none."""

_OWN = "pipeline.py", "rounds.py", "tallies.py", "loops.py", "unrolling.py"
QUICK, OPTIMISED = 0, 3
"""Levels: for code that somebody waits for, and for code that is to be fast."""

_BLOCKS_BEFORE_LOOPS = ("loop_simplify",)
"""Each leads into a loop and nowhere else: what is put there runs once for each time the loop is entered."""
_INLINE_CHECKS = "always_inliner", "sroa", "simplify_cfg", "global_dead_code_eliminate"
_EXTENSIONS = {
    "source": ".source.txt",
    "llvm": ".llvm.ll",
    "optimised": ".optimised.ll",
    "asm": ".s",
    "object": ".o",
    "ptx": ".ptx",
}


@dataclass(frozen=True)
class Compiled:
    """What a compile gave: an object file for the host, or PTX text."""

    code: bytes
    cached: bool
    target: Target


def compile_module(
    ir: str,
    target: Target,
    *,
    name: str = "module",
    level: int = OPTIMISED,
    source: str | None = None,
    cache: CacheChoice = "default",
) -> Compiled:
    """Compile the LLVM IR text `ir` for `target` in this process, or take the code from the cache.

    `name` stands in messages and names the dumped files; `source` is the text that the IR was made from and is only
    dumped. The IR needs no `target` lines. A construct that LLVM cannot compile may end the process: code of guests
    goes through `compile_guest`.
    """
    chosen = resolve_cache(cache)
    dump = settings.dump_dir()
    key = cache_key(ir, target, level) if chosen else ""
    if chosen and dump is None and (code := chosen.get(key)) is not None:
        return Compiled(code, cached=True, target=target)
    result = _run(ir, target, name, level, texts=dump is not None)
    if dump is not None:
        _dump(dump, name, {"source": source, **result})
    code = result["ptx" if target.kind == "nvptx" else "object"]
    if chosen:
        chosen.put(key, code)
    return Compiled(code, cached=False, target=target)


def stages(ir: str, target: Target, *, name: str = "module", level: int = 3) -> dict[str, str]:
    """Return the text of each stage: `llvm`, `optimised`, and `asm` for the host or `ptx` for a GPU."""
    result = _run(ir, target, name, level, texts=True)
    return {stage: code.decode() for stage, code in result.items() if stage != "object"}


def cache_key(ir: str, target: Target, level: int) -> str:
    """Return the key under which the code of this IR is cached: all that decides what comes out is part of it."""
    return Cache.key_of("lanewise", __version__, made_by(), target.key, str(level), ir)


@functools.cache
def made_by() -> str:
    """A digest of what turns IR into code besides LLVM, for keys of what is cached: this file, and its helpers."""
    folder = Path(__file__).parent
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in _OWN)).hexdigest()


def resolve_cache(choice: CacheChoice) -> Cache | None:
    """Return the cache that `choice` stands for."""
    return default_cache() if choice == "default" else choice


def _run(ir: str, target: Target, name: str, level: int, *, texts: bool) -> dict[str, bytes]:
    """Run the stages in order; the texts that only people read are made when `texts` asks for them."""
    return _llvm.undisturbed(lambda: _stages(ir, target, name, level, texts))


def _stages(ir: str, target: Target, name: str, level: int, texts: bool) -> dict[str, bytes]:
    llvm = _llvm.binding()
    result = {"llvm": ir.encode()}
    with _llvm.lock, _optimised(llvm, ir, target, name, level) as module:
        machine = target.machine(level)
        if texts:
            result["optimised"] = str(module).encode()
        if target.kind == "nvptx":
            result["ptx"] = _mend(machine.emit_assembly(module).rstrip("\0")).encode()
            return result
        if texts:
            with module.clone() as copy:  # emission changes the module that it reads
                result["asm"] = machine.emit_assembly(copy).encode()
        result["object"] = machine.emit_object(module)
    return result


@contextmanager
def _optimised(llvm: Any, ir: str, target: Target, name: str, level: int) -> Iterator[Any]:
    """Parse the IR and optimise it; loops that are marked get their checks where these cost least."""
    machine = target.machine(level)
    marked = rounds.has_markers(ir)
    if marked and level == QUICK:  # nothing moves: the checks can be put in first, which spares reading it twice
        ir, marked = rounds.place_checks(ir), False
    with _parsed(llvm, ir, target, name) as module:
        if unrolling.asked_for(ir) and level == OPTIMISED:
            unrolling.prepare(llvm, module, machine, level)
        _optimise(llvm, module, machine, level)
        if not marked:
            yield module
            return
        _llvm.run_passes(module, machine, level, _BLOCKS_BEFORE_LOOPS)
        checked = rounds.place_checks(str(module))
    with _parsed(llvm, checked, target, name) as module:
        _llvm.run_passes(module, machine, level, _INLINE_CHECKS)
        yield module


@contextmanager
def _parsed(llvm: Any, ir: str, target: Target, name: str) -> Iterator[Any]:
    """Parse and check the IR in a context of its own, so that no type outlives its module or clashes with another's."""
    # The layout goes first: LLVM gives accesses that name no alignment the one of the layout it has read by then.
    header = f'target datalayout = "{target.data_layout}" target triple = "{target.triple}"\n'
    with llvm.create_context() as context:
        try:
            module = llvm.parse_assembly(header + ir, context)
        except RuntimeError as error:
            raise CompileError(f"{name}: {_parse_message(str(error))}") from None
        with module:
            if module.triple != target.triple or module.data_layout != target.data_layout:
                raise CompileError(
                    f"{name}: the IR says it is for {module.triple!r}, the target is {target.triple!r}; "
                    "leave the `target` lines out of the IR"
                )
            try:
                module.verify()
            except RuntimeError as error:
                raise CompileError(f"{name}: LLVM refused the IR: {str(error).strip()}") from None
            yield module


def _parse_message(text: str) -> str:
    """Turn llvmlite's parse error around: where, what, then the offending line with LLVM's caret."""
    found = re.search(r"<string>:(\d+):(\d+): error: (.*)", text, re.DOTALL)
    if found is None:
        return text.strip()
    line, column, rest = found.groups()
    return f"line {int(line) - 1}, column {column} of the LLVM IR: {rest.rstrip()}"  # less the header's line


_NEGATIONS = re.compile(r"\b(neg|abs)\.s16([ \t]+)(%\w+), (%\w+);")
_NEEDLESS = re.compile(
    r"(\tshr\.u32[ \t]+(%\w+), %\w+, (\d+);\n\tsetp\.gt\.u32[ \t]+(%\w+), \2, (\d+);\n)\t@\4 bra[ \t]+[\w$]+;\n"
)
_PACKED = re.compile(r"\b(add|min|max)\.([su])16x2[ \t]+(%\w+), ([^,;]+), ([^,;]+);")


_NARROW = re.compile(r"\bst((?:\.\w+)*\.b(?:8|16))([ \t]+\[[^\]]+\]), (%rd?\d+);")
_NARROW_WIDE = re.compile(r"\bst((?:\.\w+)*\.b32)([ \t]+\[[^\]]+\]), (%rd\d+);")


def _mend(ptx: str) -> str:
    """Write otherwise what NVIDIA's assembler (CUDA 13.0) gets wrong, and leave out a check that LLVM makes in vain.

    The assembler keeps 32,768 where -32,768 is the 16-bit negation or absolute value, and it adds nothing where a
    packed sum has a constant whose lower half is 0. Where the lower part of a floating-point number is stored, it
    converts the number to a whole one instead. LLVM checks the number of a switch even where there is a case for
    each; what it found stays, in case something else asks for it, too: the assembler drops it where nothing does.
    """

    def negated(found: re.Match[str]) -> str:
        verb, space, result, source = found.groups()
        product = f"mul.lo.s16{space}{result}, {source}, -1;"
        return product if verb == "neg" else f"{product}\n\tmax.s16{space}{result}, {source}, {result};"

    def apart(found: re.Match[str]) -> str:
        verb, sign, result, first, second = found.groups()
        return (
            "{ .reg .b32 %xw, %yw; .reg .b16 %xl, %xh, %yl, %yh; "
            f"mov.b32 %xw, {first}; mov.b32 %yw, {second}; mov.b32 {{%xl, %xh}}, %xw; mov.b32 {{%yl, %yh}}, %yw; "
            f"{verb}.{sign}16 %xl, %xl, %yl; {verb}.{sign}16 %xh, %xh, %yh; mov.b32 {result}, {{%xl, %xh}}; }}"
        )

    def checked(found: re.Match[str]) -> str:
        kept, _, by, _, most = found.groups()
        return kept if int(most) == (1 << 32 - int(by)) - 1 else found[0]

    def narrowed(found: re.Match[str]) -> str:
        kind, where, source = found.groups()
        bits = 32 if kind.endswith("32") else 16
        whole = 64 if source.startswith("%rd") else 32
        part = f"{{ .reg .b{bits} %part; cvt.u{bits}.u{whole} %part, {source}; "
        return f"{part}st{kind}{where}, %part; }}"

    ptx = _NARROW_WIDE.sub(narrowed, _NARROW.sub(narrowed, ptx))
    return _NEEDLESS.sub(checked, _PACKED.sub(apart, _NEGATIONS.sub(negated, ptx)))


def _optimise(llvm: Any, module: Any, machine: Any, level: int) -> None:
    with llvm.create_pipeline_tuning_options(speed_level=level) as options:
        options.loop_vectorization = level > 1
        options.slp_vectorization = level > 1
        with llvm.create_pass_builder(machine, options) as builder, builder.getModulePassManager() as passes:
            passes.run(module, builder)


def _dump(directory: Path, name: str, texts: dict[str, bytes | str | None]) -> None:
    """Write each stage that there is to a file of its own, named after the module and the stage."""
    stem = re.sub(r"[^\w.+-]+", "_", name)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for stage, text in texts.items():
            if text is not None:
                (directory / (stem + _EXTENSIONS[stage])).write_bytes(text.encode() if isinstance(text, str) else text)
    except OSError as error:
        raise LanewiseError(
            f"LANEWISE_DUMP names {str(directory)!r}, and {name!r} cannot be written there ({error.strerror})"
        ) from error
