"""Changes to a desktop from other threads than that which makes its frames: made by that one, between two frames."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from lanewise.errors import LanewiseError

_STEP = 0.1
"""Seconds between two looks whether there will be frames at all."""
Found = TypeVar("Found")


def promised(work: Callable[[], Found]) -> tuple[Future[Found], Callable[[], None]]:
    """What work will give or raise, and a function that does it, for another thread; not if nobody waits any more."""
    done: Future[Found] = Future()

    def do() -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            done.set_result(work())
        except Exception as error:  # is for who waits
            done.set_exception(error)

    return done, do


class Changes:
    """Makes them, and gives what they give, or raises what they raise, to whoever asked, who waits for it."""

    def __init__(self, thread: threading.Thread, post: Callable[[Callable[[], None]], Any], over: Callable[[], bool]):
        """`thread` makes frames; `post` has it call a function; `over` says whether it will not any more."""
        self._thread, self._post, self._over = thread, post, over

    def __call__(self, change: Callable[[], Found]) -> Found:
        """Make one."""
        if threading.current_thread() is self._thread:
            return change()
        done, do = promised(change)
        self._post(do)
        while not done.done():
            try:
                done.exception(_STEP)
            except TimeoutError:
                if self._over() and not done.done():
                    raise LanewiseError("the desktop has ended, and takes no changes any more") from None
        return done.result()
