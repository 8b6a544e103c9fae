"""The request that asks which files are ready, and waits for one to be."""

from __future__ import annotations

import errno
import select
import struct
from collections.abc import Callable

from lanewise.host.handles import OpenFile, pending_bytes
from lanewise.host.reply import Reply, failure
from lanewise.host.waiting import Waiting
from lanewise.kernel.wasi_numbers import EVENT_FD_READ, EVENT_FD_WRITE, POLL_HANGUP, POLL_READY, STDIN_HANDLE, SUCCESS

_PAIR = struct.Struct("<II")
_EVENTS = {EVENT_FD_READ: select.POLLIN, EVENT_FD_WRITE: select.POLLOUT}
_STDIN = 0


class _Question:
    """One pair of a handle and a kind of event."""

    def __init__(self, handle: int, kind: int, file_of: Callable[[int], OpenFile]) -> None:
        if kind not in _EVENTS:
            raise failure(errno.EINVAL)
        if handle == STDIN_HANDLE and kind != EVENT_FD_READ:
            raise failure(errno.EBADF)
        self.reads = kind == EVENT_FD_READ
        self.event = _EVENTS[kind]
        self.file = None if handle == STDIN_HANDLE else file_of(handle)
        self.waits = self.file is None or self.file.stream
        self.descriptor = _STDIN if self.file is None else self.file.descriptor

    def answer(self, ready: dict[int, int]) -> int:
        """Whether it is ready, and whether nothing more will come."""
        if self.waits:
            found = ready.get(self.descriptor, 0)
            # Whatever else the system reports, such as a reader that is gone, is there to be found out.
            if not found & (self.event | ~(select.POLLIN | select.POLLOUT)):
                return 0
            return POLL_READY if found & self.event else POLL_READY | POLL_HANGUP
        return POLL_READY | POLL_HANGUP if self.reads and not self.pending() else POLL_READY

    def pending(self) -> int:
        """Bytes that can be read."""
        try:
            return pending_bytes(_STDIN) if self.file is None else self.file.readable_bytes()
        except OSError:  # it has no such number, or it is gone
            return 0


def poll(data: bytes, nanoseconds: int, file_of: Callable[[int], OpenFile], waiting: Waiting) -> Reply:
    """Answer pairs of handle and event with a u32 each, after waiting for one at most so long."""
    if len(data) % _PAIR.size:
        raise failure(errno.EINVAL)
    questions = [_Question(handle, kind, file_of) for handle, kind in _PAIR.iter_unpack(data)]
    events: dict[int, int] = {}
    for question in questions:
        if question.waits:
            events[question.descriptor] = events.get(question.descriptor, 0) | question.event
    at_once = any(not question.waits for question in questions)
    ready = waiting.wait(events, 0 if at_once else nanoseconds)
    answers = [question.answer(ready) for question in questions]
    pending = next((q.pending() for q, answer in zip(questions, answers, strict=True) if answer and q.reads), 0)
    return Reply(SUCCESS, (pending,), struct.pack(f"<{len(answers)}I", *answers))
