"""The code that runs lanes on a device, in pieces: the interpreter, a translation, and the entry that calls them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from lanewise import lang
from lanewise.arm64.kept import keep, kept, remember
from lanewise.compiler import (
    OPTIMISED,
    QUICK,
    Cache,
    Job,
    Target,
    compile_guest,
    compile_outliving,
    compiling,
    default_cache,
    made_by,
    outlived,
)

_LARGE = 10_000
"""Instructions from which on a translation is optimised less: each takes LLVM half a millisecond even so."""
_LARGE_LEVEL = 1


def launch_code(target: Target, debugging: bool, translated: bool, hurry: bool = False) -> list[bytes]:
    """The entry of launches and the interpreter, from the cache or compiled; what is translated is not in it.

    A debugging one looks for breakpoints, and is slower. On a GPU the interpreter is part of the entry if it is alone:
    there the code of a kernel reaches memory sooner than that of a function. With `hurry`, where a CPU has none yet,
    there is one in a third of the time, with some 60 % of its speed; `optimise_interpreter` makes the other.
    """
    gpu = target.kind == "nvptx"
    merged = gpu and not translated
    name = _interpreter_name(debugging, merged)
    quick = hurry and not gpu and kept(_key(target, name, b"")) is None
    name, level = (f"quick {name}", QUICK) if quick else (name, OPTIMISED)
    interpreter = _cached(target, name, lambda: interpreter_ir(target, debugging, merged), level)
    if merged:
        return interpreter
    from lanewise.arm64.entry import entry_ir

    return [*_cached(target, f"entry {translated}", lambda: [entry_ir(gpu, translated)]), *interpreter]


def _interpreter_name(debugging: bool, merged: bool) -> str:
    return f"interpreter {debugging} {merged}"


def has_interpreter(target: Target) -> bool:
    """Whether lanes that may come to a translation have the interpreter that is optimised."""
    return kept(_key(target, _interpreter_name(False, False), b"")) is not None


def optimise_interpreter(target: Target) -> None:
    """Make it beside whatever runs, to the end even if this process ends."""
    key = _key(target, _interpreter_name(False, False), b"")
    codes = compile_outliving(default_cache(), key, lambda: _jobs(target, interpreter_ir(target, False, False)))
    if codes is not None:
        remember(key, codes)


def interpreter_ir(target: Target, debugging: bool, merged: bool) -> list[str]:
    """The interpreter in LLVM's text, with the exact functions of floating point, which all code calls."""
    from lanewise.arm64.entry import entry_ir
    from lanewise.arm64.exact.library import declared, exact_ir
    from lanewise.arm64.gpu_interpreter import GpuInterpreter  # the table, which cached code does without
    from lanewise.arm64.interpreter import Interpreter
    from lanewise.arm64.watching import watching

    gpu = target.kind == "nvptx"
    common = _common(target) + declared() + (watching() if debugging else "")
    interpreter = GpuInterpreter() if gpu and not debugging else Interpreter(gpu, debugging)
    first, *others = interpreter.pieces(merged)
    entry = entry_ir(gpu, False, declared=False) if merged else ""
    return [common + entry + first, *(common + other for other in others), exact_ir(target)]


def translated_code(
    target: Target, content: bytes, base: int, entries: tuple[int, ...], memory: range, calls: bool
) -> list[bytes]:
    """Code for what lies in memory at `base`, from some addresses on; the table of its units is the first piece.

    What is called from there is part of it if `calls`. `memory` are the addresses that lanes may read and write.
    """
    keys = _translation_keys(target, content, base, entries, memory, calls)
    found = _kept_translation(keys)
    if found is not None:
        return found
    from lanewise.arm64.translation import Translation

    made = Translation(target.kind == "nvptx", content, base, entries, memory, calls)
    jobs = _jobs(target, _whole_pieces(target, made.pieces()), OPTIMISED if made.size < _LARGE else _LARGE_LEVEL)
    table = keep(keys[0], [made.table()])
    with outlived(default_cache(), keys[1], jobs):
        return table + keep(keys[1], compile_guest(jobs, cache=None))


def is_translated(
    target: Target, content: bytes, base: int, entries: tuple[int, ...], memory: range, calls: bool
) -> bool:
    """Whether that is made already; then it is at hand when it is asked for."""
    return _kept_translation(_translation_keys(target, content, base, entries, memory, calls)) is not None


def _kept_translation(keys: tuple[str, str]) -> list[bytes] | None:
    table, code = kept(keys[0]), kept(keys[1])
    return None if table is None or code is None else table + code


def _translation_keys(
    target: Target, content: bytes, base: int, entries: tuple[int, ...], memory: range, calls: bool
) -> tuple[str, str]:
    """Those of the table and of the code: which another process may make when this one has ended."""
    of = f"{base} {entries} {memory} {calls}"
    return _key(target, f"table {of}", content), _key(target, f"translated {of}", content)


def _common(target: Target) -> str:
    """What each piece has for itself, as far as it needs it."""
    from lanewise.arm64.exchange import exchange
    from lanewise.arm64.interpreter import constants
    from lanewise.arm64.unaligned import accesses

    return constants() + (accesses() if target.kind == "nvptx" else "") + exchange(target)


def _key(target: Target, what: str, of: bytes) -> str:
    return Cache.key_of("arm64", _sources(), made_by(), target.key, what, of)


def _cached(target: Target, what: str, ir: Callable[[], list[str]], level: int = OPTIMISED) -> list[bytes]:
    key = _key(target, what, b"")
    found = kept(key)
    if found is not None:
        return found
    with compiling("the interpreter of AArch64 code for this device"):
        return keep(key, compile_guest(_jobs(target, ir(), level), cache=None))


def _whole_pieces(target: Target, pieces: Iterable[str]) -> Iterator[str]:
    """Pieces of a translation with all that they need."""
    from lanewise.arm64.exact.library import declared, inside

    common = _common(target) + (inside(target) if target.kind == "nvptx" else declared())
    return (common + text for text in pieces)


def _jobs(target: Target, pieces: Iterable[str], level: int = OPTIMISED) -> list[Job]:
    return [Job(text, target, "arm64", level) for text in pieces]


@cache
def _sources() -> str:
    """What the code is made from: all of this package but what serves programs of Linux, which is in no code.

    Exact functions of floating point are device code, so that the language is part of it, too.
    """
    found, here = hashlib.sha256(), Path(__file__).parent
    for path in sorted([*here.rglob("*.py"), *Path(str(lang.__file__)).parent.glob("*.py")]):
        if here / "linux" not in path.parents:
            found.update(path.read_bytes())
    return found.hexdigest()
