"""The process that compiles what nobody waits for: reads its jobs, compiles them, and puts the code into the cache."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from lanewise.compiler import frames
from lanewise.compiler.bundles import bundle
from lanewise.compiler.cache import Cache
from lanewise.compiler.targets import Target
from lanewise.compiler.workers import Job, WorkerPool
from lanewise.settings import cpu_threads

_LEAST_PRIORITY = 19
_MOST_SECONDS = 600
"""Of this process and of each worker: nobody sees whether they come to an end."""


def main() -> None:
    """Do it; what fails leaves nothing behind, and whoever waits sees that."""
    be_modest()
    received = bytearray()
    first = next_frame(received)
    if first is None:  # whoever started this ended before it had said what to do
        return
    place = first[0]
    jobs: list[Job] = []
    while len(jobs) < place["jobs"]:
        frame = next_frame(received)
        if frame is None:
            return
        header, body = frame
        jobs.append(Job(body.decode(), Target(**header["target"]), header["name"], header["level"]))
    with WorkerPool(max(1, cpu_threads() - 1)) as pool:
        outcomes = pool.compile(jobs, timeout=_MOST_SECONDS, cache=None)
    codes = [outcome for outcome in outcomes if isinstance(outcome, bytes)]
    if len(codes) == len(jobs):
        _keep(place, bundle(codes))


def be_modest() -> None:
    """Take what others leave of the processor, and not for ever."""
    os.nice(_LEAST_PRIORITY)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    seconds = _MOST_SECONDS if most == resource.RLIM_INFINITY else min(most, _MOST_SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def next_frame(received: bytearray) -> tuple[dict[str, Any], bytes] | None:
    """The next frame of standard input; None if that ends before."""
    while (frame := frames.unpack(received)) is None:
        data = os.read(0, 1 << 20)
        if not data:
            return None
        received += data
    return frame


def _keep(place: dict[str, Any], code: bytes) -> None:
    """Put code into the cache. Where there is no room for it, it is for whoever waits alone."""
    cache = Cache(place["directory"], place["limit"])
    if Path(place["directory"]).is_dir():  # else somebody has removed the cache, and does not want it back
        cache.put(place["key"], code)
    if cache.get(place["key"]) is None:
        with suppress(BrokenPipeError):
            sys.stdout.buffer.write(code)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
