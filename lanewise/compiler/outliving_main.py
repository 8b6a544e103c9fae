"""The process that compiles what nobody waits for: reads all jobs, compiles them, and puts the code into the cache."""

from __future__ import annotations

import os
import resource
import sys

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
    os.nice(_LEAST_PRIORITY)
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    received = bytearray(sys.stdin.buffer.read())
    first = frames.unpack(received)
    if first is None:  # whoever started this ended before it had said what to do
        return
    place = first[0]
    jobs = []
    while (frame := frames.unpack(received)) is not None:
        header, body = frame
        jobs.append(Job(body.decode(), Target(**header["target"]), header["name"], header["level"]))
    if len(jobs) < place["jobs"]:
        return
    with WorkerPool(max(1, cpu_threads() - 1)) as pool:
        outcomes = pool.compile(jobs, timeout=_MOST_SECONDS, cache=None)
    codes = [outcome for outcome in outcomes if isinstance(outcome, bytes)]
    if len(codes) == len(jobs):
        Cache(place["directory"], place["limit"]).put(place["key"], bundle(codes))


if __name__ == "__main__":
    main()
