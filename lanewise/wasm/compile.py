"""From a module to machine code: in pieces, on all cores, and only once for the same module and build.

Large modules are first compiled without optimising, so that they start at once; the optimised build follows.
"""

from __future__ import annotations

import functools
import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from lanewise import settings
from lanewise.compiler import (
    OPTIMISED,
    Cache,
    Job,
    Target,
    bundle,
    compile_each,
    compile_guest,
    compile_outliving,
    compiling,
    default_cache,
    unbundle,
)
from lanewise.errors import LanewiseError
from lanewise.wasm.model import Module

if TYPE_CHECKING:
    from lanewise.wasm.program import Part

T = TypeVar("T")

QUICK_FROM = 24 * 1024
"""Bytes of code from which a quick build comes first: less is optimised in under a second."""
GPU_LEVEL_LARGE = 1
"""How much large modules are optimised for a GPU: their makers have done most of it, and assembling takes long."""
LARGE = 64 * 1024
"""Bytes of code from which a module counts as large."""
_SEVERAL = 2
_CPU_PART = 24 * 1024
_GPU_PART = 10 * 1024
_GPU_WHOLE = 16 * 1024
"""Bytes of code in a piece, and below which there is one piece. For a GPU they are small, since assembling takes more
than twice as long for twice as much."""


def code_bytes(module: Module) -> int:
    """How much code a module has."""
    return sum(body.end - body.start for body in module.bodies)


def part_count(module: Module, target: Target) -> int:
    """In how many pieces a module is compiled."""
    size = code_bytes(module)
    if target.kind == "nvptx":
        return 1 if size < _GPU_WHOLE else -(-size // _GPU_PART)
    return max(1, min(settings.cpu_threads() * 2, size // _CPU_PART))


def usual_level(module: Module, target: Target) -> int:
    """How much a module is optimised in the end."""
    return GPU_LEVEL_LARGE if target.kind == "nvptx" and code_bytes(module) >= LARGE else OPTIMISED


def compile_parts(
    module: Module, name: str, target: Target, level: int, parts: Callable[[], Sequence[Part]]
) -> list[bytes]:
    """The code of all pieces, from the cache or made by `parts`; `name` says all that decides them but the module."""
    cache, key = default_cache(), _key(module, name, target, level)
    stored = cache.get(key)
    if stored is not None:
        return unbundle(stored)
    with compiling("the program"):
        codes = compile_guest(_jobs(target, level, parts), cache=None)
    cache.put(key, bundle(codes))
    return codes


def compile_ahead(
    module: Module, target: Target, level: int, programs: Mapping[str, Callable[[], Sequence[Part]]]
) -> None:
    """Make the code of several programs of a module at the same time, by their names, for `compile_parts` to find.

    What fails is left to it: it says why.
    """
    cache = default_cache()
    missing = {name: parts for name, parts in programs.items() if cache.get(_key(module, name, target, level)) is None}
    if len(missing) < _SEVERAL:
        return
    jobs = {name: _jobs(target, level, parts) for name, parts in missing.items()}
    with compiling("the program in several ways"):
        codes = iter(compile_each([job for group in jobs.values() for job in group]))
    for name, group in jobs.items():
        made = [next(codes) for _ in group]
        found = [code for code in made if isinstance(code, bytes)]
        if len(found) == len(made):
            cache.put(_key(module, name, target, level), bundle(found))


def optimise_parts(
    module: Module, name: str, target: Target, parts: Callable[[], Sequence[Part]]
) -> list[bytes] | None:
    """The optimised code, made beside whatever runs, to the end even if this process ends; None if that fails."""
    key = _key(module, name, target, OPTIMISED)
    return compile_outliving(default_cache(), key, lambda: _jobs(target, OPTIMISED, parts))


def _key(module: Module, name: str, target: Target, level: int) -> str:
    return Cache.key_of("guest", _sources(), target.key, str(level), name, module.data)


def _jobs(target: Target, level: int, parts: Callable[[], Sequence[Part]]) -> list[Job]:
    return [Job(part.ir, target, part.name, level) for part in parts()]


def is_cached(module: Module, name: str, target: Target, level: int) -> bool:
    """Whether `compile_parts` would find its answer."""
    return default_cache().get(_key(module, name, target, level)) is not None


def check(module: Module) -> None:
    """Validate a module, unless one with the same bytes has been found valid before."""
    cache = default_cache()
    key = Cache.key_of("valid", _sources(), ",".join(sorted(module.features)), module.data)
    if cache.get(key) is None:
        from lanewise.wasm.validate import validate  # not for modules that are known

        validate(module)
        if len(module.data) >= QUICK_FROM:  # of smaller ones, validating takes no longer than looking
            cache.put(key, b"valid")


def cached_text(what: str, module: Module, find: Callable[[], str]) -> str:
    """A fact about a module that takes long to find, from the cache if it was found before."""
    if len(module.data) < QUICK_FROM:
        return find()
    cache = default_cache()
    key = Cache.key_of(what, _sources(), module.data)
    stored = cache.get(key)
    if stored is not None:
        return stored.decode()
    found = find()
    cache.put(key, found.encode())
    return found


def fingerprint(module: Module) -> str:
    """A short name for the bytes of a module."""
    return hashlib.sha256(module.data).hexdigest()[:12]


class Later(Generic[T]):
    """Something that is being made on a thread of its own; `result` is None until it is there.

    It is begun after a while, so that what is over soon does not pay for it.
    """

    def __init__(self, make: Callable[[], T | None], delay: float = 0.0) -> None:
        self.result: T | None = None
        self.over = False
        """Whether it has been made, or has failed."""
        self._make = make
        self._delay = delay
        self._thread = threading.Thread(target=self._run, name="lanewise-optimise", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until it is there, or has failed."""
        self._thread.join()

    def _run(self) -> None:
        time.sleep(self._delay)
        try:
            self.result = self._make()
        except (LanewiseError, OSError):
            self.result = None  # the quick build goes on being used
        finally:
            self.over = True


@functools.cache
def _sources() -> str:
    """Size and time of every file that guests' code depends on, as Python tells its own compiled files apart."""
    folder = Path(__file__).parent
    patterns: tuple[str, ...] = ("*.py", "opcodes/*.py", "../compiler/*.py", "../kernel/*.py", "../settings.py")
    patterns += ("../devices/cpu_scheduler.py", "../lang/lane.py", "../lang/structs.py", "../lang/types.py")
    files = sorted(file for pattern in patterns for file in folder.glob(pattern))
    return repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files])
