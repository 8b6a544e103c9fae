"""The kernel as code for one target: compiled once, kept in the cache, linked with every program."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

from lanewise import lang
from lanewise.compiler import Cache, Target, compile_module, default_cache

HOST_RING = ("lw_ring_ready", "lw_ring_answer")
"""The host's own functions, for its end of the ring."""
Signatures = dict[str, dict[str, tuple[str, list[str], list[str]]]]
"""By module and name of an import: the symbol of the function, and the types of its parameters and results."""


def kernel_code(target: Target) -> bytes:
    """The kernel for a target: an object file, or PTX to be linked."""

    def make() -> bytes:
        from lanewise.kernel.library import kernel_ir  # all of the kernel's source, which is seldom read

        # On a CPU everybody's first program waits for this, and little of its time is spent there.
        level = 3 if target.kind == "nvptx" else 1
        return compile_module(kernel_ir(target), target, name="kernel", level=level, cache=None).code

    return _cached("kernel", target, make)


def host_ring_code() -> bytes:
    """The host's end of the ring as an object file."""

    def make() -> bytes:
        from lanewise.kernel.library import host_ring_ir

        return compile_module(host_ring_ir(), Target.host(), name="host ring", cache=None).code

    return _cached("host ring", Target.host(), make)


def signatures() -> Signatures:
    """What guests can import."""

    def make() -> bytes:
        from lanewise.kernel.library import find_signatures

        return json.dumps(find_signatures()).encode()

    found: Signatures = json.loads(_cached("signatures", Target.host(), make))
    return found


def _cached(name: str, target: Target, make: Callable[[], bytes]) -> bytes:
    cache = default_cache()
    key = Cache.key_of(name, target.key, _sources())
    code = cache.get(key)
    if code is None:
        code = make()
        cache.put(key, code)
    return code


@functools.cache
def _sources() -> str:
    """Size and time of every file that the kernel's code depends on."""
    folder, language = Path(__file__).parent, Path(str(lang.__file__)).parent
    files = [*sorted(folder.glob("*.py")), *sorted(language.glob("*.py")), folder.parent / "settings.py"]
    return repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files])
