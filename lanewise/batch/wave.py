"""The lanes that run at once: what they are given, and what they leave."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lanewise.batch.spec import Task
from lanewise.kernel.lane_io import RunIo, Span

Put = Callable[[np.ndarray[Any, Any]], int]
"""Puts an array where lanes can read it, and gives its address; it stays there as long as the wave does."""
_NO_LIMIT = 2**62


class RunFacts:
    """What is the same in all waves of a run."""

    def __init__(self, task: Task, names: Sequence[bytes]) -> None:
        self.environment = _joined([os.fsencode(f"{name}={value}") for name, value in task.environment.items()])
        self.environment_count = len(task.environment)
        self.names = names
        seed = os.urandom(32) if task.seed is None else hashlib.sha256(str(task.seed).encode()).digest()
        self.key = np.frombuffer(seed, np.uint32)
        self.input_sizes: Sequence[int] | None = None
        """Bytes that each lane of the wave that was made last reads on standard input; None if that is the host's."""


def run_record(task: Task, facts: RunFacts, first: int, count: int, put: Put) -> Any:
    """What the kernel is told of a wave: all but the addresses of what the engine itself makes."""
    run = RunIo.record()
    run["first_lane"], run["lanes"] = first, task.lanes
    lanes = range(first, first + (1 if task.inputs.same_arguments else count))
    run["arguments"] = put(_spans([task.inputs.arguments(lane) for lane in lanes], put))
    run["argument_step"] = 0 if task.inputs.same_arguments else Span.size
    run["stdin"] = _standard_input(task, facts, first, count, put)
    environment = np.zeros(1, Span.dtype)
    environment["address"] = put(facts.environment)
    environment["nbytes"], environment["count"] = facts.environment.nbytes, facts.environment_count
    run["environment"] = put(environment)
    names = np.zeros(max(1, len(facts.names)), Span.dtype)
    for number, name in enumerate(facts.names):
        names[number] = (put(np.frombuffer(name, np.uint8)), len(name), 1)
    run["preopened"], run["preopened_count"] = put(names), len(facts.names)
    run["output_limit"] = _NO_LIMIT if task.limits.output is None else task.limits.output
    run["key"] = facts.key
    return run


def lane_order(task: Task, lanes: range, input_sizes: Sequence[int] | None) -> np.ndarray[Any, Any] | None:
    """Numbers of lanes in the order in which they begin, where some have more to read than others; None if not.

    Neighbours have about as much to read, so that they are in step for longer, and those with the most begin first, so
    that nobody waits for them in the end. If the inputs do not say how much it is, `input_sizes` do.
    """
    sizes = task.inputs.sizes(lanes) or input_sizes
    if not sizes:
        return None
    many = np.asarray(sizes, np.int64)
    return None if (many == many[0]).all() else np.argsort(-many, kind="stable").astype(np.uint64)


def tell_time(run: Any, now: int) -> None:
    """Tie the device's clock, which shows `now`, to the time of day."""
    run["realtime_offset"], run["started"] = time.time_ns() - now, now


def _joined(strings: Sequence[bytes]) -> np.ndarray[Any, Any]:
    return np.frombuffer(b"".join(string + b"\0" for string in strings) or b"\0", np.uint8)


def _spans(lists: Sequence[Sequence[bytes]], put: Put) -> np.ndarray[Any, Any]:
    """Lists of strings, one behind the other, and where each list lies."""
    blocks = [b"".join(string + b"\0" for string in strings) for strings in lists]
    return _placed(blocks, [len(strings) for strings in lists], put)


def _standard_input(task: Task, facts: RunFacts, first: int, count: int, put: Put) -> int:
    """The address of what lanes read on standard input; 0 if it is the host's."""
    given = [task.inputs.stdin(lane) for lane in range(first, first + count)]
    blocks = [one for one in given if one is not None]
    facts.input_sizes = None
    if len(blocks) < len(given):
        return 0
    facts.input_sizes = list(map(len, blocks))
    return put(_placed(blocks, [1] * len(blocks), put))


def _placed(blocks: Sequence[bytes], counts: Sequence[int], put: Put) -> np.ndarray[Any, Any]:
    """Blocks one behind the other, each object once: many lanes may be given the same."""
    spans = np.zeros(len(blocks), Span.dtype)
    distinct = {id(block): block for block in blocks}
    offsets, end = {}, 0
    for key, block in distinct.items():
        offsets[key] = end
        end += len(block)
    base = put(np.frombuffer(b"".join(distinct.values()) or b"\0", np.uint8))
    spans["address"] = base + np.fromiter((offsets[id(block)] for block in blocks), np.uint64, len(blocks))
    spans["nbytes"], spans["count"] = np.fromiter(map(len, blocks), np.uint64, len(blocks)), counts
    return spans
