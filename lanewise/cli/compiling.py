"""How people who wait for a command are told what is compiled meanwhile."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

_PATIENCE = 1.0
"""Seconds that a start may take before people are told what is compiled."""
_LOOK_AGAIN = 0.2


@contextlib.contextmanager
def compiling_told(tell: Callable[[str], None] | None) -> Iterator[None]:
    """Have people told what is compiled meanwhile, once, if they wait for long; nothing at all where there are none."""
    if tell is None:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        wait, before = _PATIENCE, None
        while not over.wait(wait):
            from lanewise.compiler import what_is_compiled  # which --help does without

            what = what_is_compiled()
            if what is not None and what == before:  # seen once it may have been kept, and be there in a moment
                tell(f"compiling {what}; it is kept, so that later runs begin at once")
                return
            wait, before = _LOOK_AGAIN, what

    thread = threading.Thread(target=watch, daemon=True, name="lanewise compiling")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
