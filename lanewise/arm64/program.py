"""The code that runs lanes on a device, in pieces: the interpreter, a translation, and the entry that calls them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from lanewise import lang
from lanewise.compiler import OPTIMISED, Cache, Job, Target, bundle, compile_guest, default_cache, unbundle


def interpreter_code(target: Target, debugging: bool = False) -> list[bytes]:
    """The interpreter, from the cache or compiled; or one that looks for breakpoints, which is slower."""
    return _cached(target, f"interpreter {debugging}", b"", lambda: interpreter_ir(target, debugging))


def interpreter_ir(target: Target, debugging: bool = False) -> list[str]:
    """The pieces of the interpreter in LLVM's text, and the exact functions of floating point, which all code calls."""
    from lanewise.arm64.exact.library import declared, exact_ir
    from lanewise.arm64.interpreter import Interpreter  # the table, which cached code does without
    from lanewise.arm64.watching import watching

    common = _common(target) + declared() + (watching() if debugging else "")
    pieces = [common + piece for piece in Interpreter(target.kind == "nvptx", debugging).pieces()]
    return [*pieces, exact_ir(target)]


def translated_code(target: Target, code: bytes, base: int, entries: tuple[int, ...]) -> list[bytes]:
    """Code for what lies in memory at `base`, from some addresses on."""

    def ir() -> list[str]:
        from lanewise.arm64.exact.library import declared, inside
        from lanewise.arm64.translator import Translator

        exact = inside(target) if target.kind == "nvptx" else declared()
        return [_common(target) + exact + Translator(target.kind == "nvptx", code, base).translate(entries)]

    return _cached(target, f"translated {base} {entries}", code, ir)


def entry_code(target: Target, translated: bool) -> list[bytes]:
    """The entry of launches."""
    from lanewise.arm64.entry import entry_ir

    return _cached(target, f"entry {translated}", b"", lambda: [entry_ir(target.kind == "nvptx", translated)])


def _common(target: Target) -> str:
    """What each piece has for itself, as far as it needs it."""
    from lanewise.arm64.exchange import exchange
    from lanewise.arm64.interpreter import constants
    from lanewise.arm64.unaligned import accesses

    return constants() + (accesses() if target.kind == "nvptx" else "") + exchange(target)


def _cached(target: Target, what: str, of: bytes, ir: Callable[[], list[str]]) -> list[bytes]:
    store = default_cache()
    key = Cache.key_of("arm64", _sources(), target.key, what, of)
    stored = store.get(key)
    if stored is not None:
        return unbundle(stored)
    codes = compile_guest([Job(text, target, "arm64", OPTIMISED) for text in ir()], cache=None)
    store.put(key, bundle(codes))
    return codes


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
