"""The kernel as code for one target: compiled once, kept in the cache, linked with every program."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

from lanewise import lang
from lanewise.compiler import (
    OPTIMISED,
    QUICK,
    Cache,
    Job,
    Target,
    compile_module,
    compile_outliving,
    default_cache,
    unbundle,
)

HOST_RING = ("lw_ring_ready", "lw_ring_answer")
"""The host's own functions, for its end of the ring."""
_OPTIMISED_KERNEL = "optimised kernel"
Signatures = dict[str, dict[str, tuple[str, list[str], list[str]]]]
"""By module and name of an import: the symbol of the function, and the types of its parameters and results."""


def kernel_code(target: Target) -> bytes:
    """The kernel for a target: an object file, or PTX to be linked. For a CPU the optimised one, once there is one."""
    if target.kind == "nvptx":
        return _cached("kernel", target, lambda: _compiled(target, OPTIMISED))
    return optimised_kernel(target) or _cached("quick kernel", target, lambda: _compiled(target, QUICK))


def optimised_kernel(target: Target) -> bytes | None:
    """The optimised kernel for a CPU, if `optimise_kernel` has made it."""
    stored = default_cache().get(_key(_OPTIMISED_KERNEL, target))
    return None if stored is None else unbundle(stored)[0]


def optimise_kernel(target: Target) -> bytes | None:
    """Make it, which takes a second that everybody's first program would have to wait for; None if that fails."""

    def job() -> list[Job]:
        from lanewise.kernel.library import kernel_ir

        return [Job(kernel_ir(target), target, "kernel", OPTIMISED)]

    codes = compile_outliving(default_cache(), _key(_OPTIMISED_KERNEL, target), job)
    return None if codes is None else codes[0]


def _compiled(target: Target, level: int) -> bytes:
    from lanewise.kernel.library import kernel_ir  # all of the kernel's source, which is seldom read

    return compile_module(kernel_ir(target), target, name="kernel", level=level, cache=None).code


def host_ring_code() -> bytes:
    """The host's end of the ring as an object file."""

    def make() -> bytes:
        from lanewise.kernel.library import host_ring_ir

        return compile_module(host_ring_ir(), Target.host(), name="host ring", cache=None).code

    return _cached("host ring", Target.host(), make)


def host_copies_code() -> bytes:
    """What opens files for lanes on the host, as an object file."""

    def make() -> bytes:
        from lanewise.kernel.library import host_copies_ir

        return compile_module(host_copies_ir(), Target.host(), name="host copies", level=1, cache=None).code

    return _cached("host copies", Target.host(), make)


def signatures() -> Signatures:
    """What guests can import."""

    def make() -> bytes:
        from lanewise.kernel.library import find_signatures

        return json.dumps(find_signatures()).encode()

    found: Signatures = json.loads(_cached("signatures", Target.host(), make))
    return found


def _cached(name: str, target: Target, make: Callable[[], bytes]) -> bytes:
    cache, key = default_cache(), _key(name, target)
    code = cache.get(key)
    if code is None:
        code = make()
        cache.put(key, code)
    return code


def _key(name: str, target: Target) -> str:
    return Cache.key_of(name, target.key, _sources())


@functools.cache
def _sources() -> str:
    """Size and time of every file that the kernel's code depends on."""
    folder, language = Path(__file__).parent, Path(str(lang.__file__)).parent
    files = [*sorted(folder.glob("*.py")), *sorted(language.glob("*.py")), folder.parent / "settings.py"]
    return repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files])
