"""A compile worker: reads jobs from standard input, answers with code or LLVM's complaint, and may die of either."""

from __future__ import annotations

import os
import resource
import select
import signal
import threading

from lanewise.compiler import _llvm, frames
from lanewise.compiler.pipeline import compile_module
from lanewise.compiler.targets import Target
from lanewise.errors import LanewiseError


def main() -> None:
    """Serve jobs until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle: it ends its workers
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # LLVM aborts on purpose; nobody wants the core files
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever prints must not end up between the frames
    threading.Thread(target=_die_with_parent, daemon=True).start()
    _llvm.binding()
    _write(answers, frames.pack({"ready": True}))
    received = bytearray()
    while data := os.read(0, 1 << 20):
        received += data
        while (frame := frames.unpack(received)) is not None:
            header, body = frame
            _write(answers, _compile(Target(**header["target"]), header["name"], header["level"], body.decode()))


def _compile(target: Target, name: str, level: int, ir: str) -> bytes:
    try:
        return frames.pack({"error": None}, compile_module(ir, target, name=name, level=level, cache=None).code)
    except LanewiseError as error:
        return frames.pack({"error": str(error)})


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _die_with_parent() -> None:
    """End this process when the parent's end of the pipe closes, even in the middle of a compile that never ends."""
    poll = select.poll()
    poll.register(0, select.POLLHUP)
    while not any(events & select.POLLHUP for _, events in poll.poll()):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
