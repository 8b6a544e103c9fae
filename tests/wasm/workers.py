"""Work on many items in processes of their own: one that crashes or hangs names its item, and the others go on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread, Timer
from typing import Any


@dataclass(frozen=True)
class Died:
    """The process that worked on an item ended."""

    reason: str


def serve(handle: Callable[[Any], Any]) -> None:
    """In a worker: answer every item, a line of JSON each way."""
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        print(json.dumps(handle(json.loads(line))), file=answers, flush=True)


def spread(command: Sequence[str], items: Sequence[Any], jobs: int, patience: float) -> Iterator[tuple[Any, Any]]:
    """Have workers started by a command answer all items; gives each with its answer, in the order they come."""
    left: SimpleQueue[Any] = SimpleQueue()
    answered: SimpleQueue[tuple[Any, Any]] = SimpleQueue()
    for item in items:
        left.put(item)
    for _ in range(jobs):
        Thread(target=_supervise, args=(command, left, answered, patience), daemon=True).start()
    for _ in items:
        yield answered.get()


def _supervise(command: Sequence[str], left: SimpleQueue[Any], answered: SimpleQueue[Any], patience: float) -> None:
    worker = None
    while True:
        try:
            item = left.get_nowait()
        except Empty:
            break
        worker = worker or subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        answer = _ask(worker, item, patience)
        if isinstance(answer, Died):
            worker = None
        answered.put((item, answer))
    if worker:
        worker.communicate()


def _ask(worker: subprocess.Popen[str], item: Any, patience: float) -> Any:
    assert worker.stdin is not None
    assert worker.stdout is not None
    timer = Timer(patience, worker.kill)
    timer.start()
    try:
        worker.stdin.write(json.dumps(item) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
    except BrokenPipeError:
        line = ""
    hung = not timer.is_alive()
    timer.cancel()
    if line:
        return json.loads(line)
    worker.communicate()
    return Died(f"hung for {patience:g} s" if hung else f"crashed with status {worker.returncode}")
