"""The code that runs lanes on a device, in pieces: the interpreter, a translation, and the entry that calls them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from lanewise.compiler import OPTIMISED, Cache, Target, compile_module, default_cache


def interpreter_code(target: Target, debugging: bool = False) -> bytes:
    """The interpreter, from the cache or compiled; or one that looks for breakpoints, which is slower."""
    return _cached(target, f"interpreter {debugging}", b"", lambda: interpreter_ir(target, debugging))


def interpreter_ir(target: Target, debugging: bool = False) -> str:
    """The whole interpreter in LLVM's text."""
    from lanewise.arm64.interpreter import Interpreter, constants  # the table, which cached code does without
    from lanewise.arm64.unaligned import accesses
    from lanewise.arm64.watching import watching

    gpu = target.kind == "nvptx"
    written = Interpreter(gpu, debugging).run()
    return constants() + (accesses() if gpu else "") + (watching() if debugging else "") + written


def translated_code(target: Target, code: bytes, base: int, entries: tuple[int, ...]) -> bytes:
    """Code for what lies in memory at `base`, from some addresses on."""

    def ir() -> str:
        from lanewise.arm64.interpreter import constants
        from lanewise.arm64.translator import Translator
        from lanewise.arm64.unaligned import accesses

        gpu = target.kind == "nvptx"
        return constants() + (accesses() if gpu else "") + Translator(gpu, code, base).translate(entries)

    return _cached(target, f"translated {base} {entries}", code, ir)


def entry_code(target: Target, translated: bool) -> bytes:
    """The entry of launches."""
    from lanewise.arm64.entry import entry_ir

    return _cached(target, f"entry {translated}", b"", lambda: entry_ir(target.kind == "nvptx", translated))


def _cached(target: Target, what: str, of: bytes, ir: Callable[[], str]) -> bytes:
    store = default_cache()
    key = Cache.key_of("arm64", _sources(), target.key, what, of)
    code = store.get(key)
    if code is None:
        code = compile_module(ir(), target, name="arm64", level=OPTIMISED, cache=None).code
        store.put(key, code)
    return code


@cache
def _sources() -> str:
    """What the code is made from: all of this package but what serves programs of Linux, which is in no code."""
    found, here = hashlib.sha256(), Path(__file__).parent
    for path in sorted(here.rglob("*.py")):
        if here / "linux" not in path.parents:
            found.update(path.read_bytes())
    return found.hexdigest()
