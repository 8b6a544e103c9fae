"""The vocabulary of GPU guests in plain Python, under wasmtime: slow, but it shows that a guest does the right thing.

Each lane is an instance and a thread of its own, for lanes wait for each other at barriers. One runs at a time.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import wasmtime
from expected_guests import GUESTS, Array, Buffers, GuestRun

SHARED_WORDS = 8192
NUMBERS = {"i32": wasmtime.ValType.i32(), "i64": wasmtime.ValType.i64(), "f32": wasmtime.ValType.f32()}
_engine = wasmtime.Engine()


def run(guest: str, case: GuestRun) -> Buffers:
    """Run a guest on all its lanes; each must return 0."""
    grid = _Grid(case)
    module = wasmtime.Module.from_file(_engine, str(GUESTS / f"{guest}.wasm"))
    failed: list[str] = []

    def lane(number: int) -> None:
        with grid.turn:
            run_lane(number)

    def run_lane(number: int) -> None:
        try:
            store = wasmtime.Store(_engine)
            given = _functions(grid, number)
            memory: list[wasmtime.Memory] = []
            imports = [_import(store, one, given, memory) for one in module.imports]
            exports = wasmtime.Instance(store, module, imports).exports(store)
            memory.append(exports["memory"])  # type: ignore[arg-type]
            entry = exports["_start" if "_start" in exports else "main"]
            code = entry(store)  # type: ignore[operator]
            if code != 0:
                failed.append(f"lane {number} returned {code}")
        except Exception as error:
            failed.append(f"lane {number}: {error}")
            grid.barriers[number // case.group].abort()

    threads = [threading.Thread(target=lane, args=(number,)) for number in range(case.lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]
    state = None if case.state is None else grid.state.view(case.state.dtype)
    return Buffers(state, grid.output, grid.picture, tuple("".join(text).encode() for text in grid.text))


class _Grid:
    """What lanes share."""

    def __init__(self, case: GuestRun) -> None:
        self.case = case
        self.turn = threading.Lock()
        self.state = _words(case.state)
        self.input = _words(case.input)
        self.output = np.zeros(case.lanes, np.int32)
        width, height = case.size or (0, 0)
        self.picture = np.zeros((height, width, 4), np.uint8)
        self.text: list[list[str]] = [[] for _ in range(case.lanes)]
        members = [min(case.group, case.lanes - start) for start in range(0, case.lanes, case.group)]
        self.barriers = [threading.Barrier(count) for count in members]
        self.shared = [np.zeros(SHARED_WORDS, np.int32) for _ in members]


def _words(values: Array | None) -> Array:
    return np.zeros(0, np.int32) if values is None else values.copy().view(np.int32)


def _import(
    store: wasmtime.Store, wanted: wasmtime.ImportType, given: dict[str, Any], memory: list[wasmtime.Memory]
) -> wasmtime.Func:
    assert wanted.module == "gpu"
    assert wanted.name is not None
    assert isinstance(wanted.type, wasmtime.FuncType)
    if wanted.name == "debug_str":
        write = given["debug_i32"]

        def debug_str(start: int, length: int) -> None:
            write(memory[0].read(store, start, start + length).decode())

        return wasmtime.Func(store, wanted.type, debug_str)
    return wasmtime.Func(store, wanted.type, given[wanted.name])


def _functions(grid: _Grid, lane: int) -> dict[str, Callable[..., Any]]:
    """The vocabulary as one lane sees it."""
    case, group = grid.case, lane // grid.case.group
    width, height = case.size or (0, 0)
    text = grid.text[lane]

    def read(words: Array, kind: type) -> Callable[[int], int | float]:
        view = memoryview(words.view(kind))  # type: ignore[arg-type]
        return lambda index: view[_checked(words, index)]

    def write(words: Array, kind: type) -> Callable[[int, float], None]:
        view = memoryview(words.view(kind))  # type: ignore[arg-type]

        def put(index: int, value: float) -> None:
            view[_checked(words, index)] = value

        return put

    def atomic(change: Callable[[int, int], int]) -> Callable[[int, int], int]:
        def apply(index: int, value: int) -> int:
            old = int(grid.state[_checked(grid.state, index)])
            grid.state[index] = (change(old, value) + 2**31) % 2**32 - 2**31
            return old

        return apply

    def compare_exchange(index: int, expected: int, value: int) -> int:
        return atomic(lambda old, new: new if old == expected else old)(index, value)

    def barrier() -> None:
        grid.turn.release()
        try:
            grid.barriers[group].wait(30)
        finally:
            grid.turn.acquire()

    def set_pixel(x: int, y: int, *colour: float) -> None:
        assert 0 <= x < width
        assert 0 <= y < height
        grid.picture[y, x] = np.rint(np.clip(colour, 0, 1) * 255)

    functions: dict[str, Callable[..., Any]] = {
        "thread_id": lambda: lane,
        "thread_count": lambda: case.lanes,
        "local_id": lambda: lane % case.group,
        "group_id": lambda: group,
        "threadgroup_size": lambda: case.group,
        "threadgroup_barrier": barrier,
        "memory_barrier": lambda: None,
        "set_pixel": set_pixel,
        "screen_width": lambda: width,
        "screen_height": lambda: height,
        "atomic_compare_exchange": compare_exchange,
        "atomic_load": read(grid.state, np.int32),
        "atomic_store": write(grid.state, np.int32),
        "debug_i32": lambda value: text.append(str(value)),
        "debug_f32": lambda value: text.append(f"{value:g}" if value % 1 == 0 else str(value)),
        "debug_bool": lambda value: text.append("true" if value else "false"),
        "debug_newline": lambda: text.append("\n"),
        "debug_flush": lambda: None,
    }
    for name, words in (("state", grid.state), ("shared", grid.shared[group])):
        functions |= {f"read_{name}": read(words, np.int32), f"read_{name}_f32": read(words, np.float32)}
        functions |= {f"write_{name}": write(words, np.int32), f"write_{name}_f32": write(words, np.float32)}
    functions |= {"read_input": read(grid.input, np.int32), "read_input_f32": read(grid.input, np.float32)}
    functions |= {"write_output": write(grid.output, np.int32), "write_output_f32": write(grid.output, np.float32)}
    for name, change in (
        ("add", lambda old, value: old + value),
        ("sub", lambda old, value: old - value),
        ("min", min),
        ("max", max),
        ("and", lambda old, value: old & value),
        ("or", lambda old, value: old | value),
        ("xor", lambda old, value: old ^ value),
        ("exchange", lambda old, value: value),
    ):
        functions[f"atomic_{name}"] = atomic(change)  # type: ignore[arg-type]
    for name in (
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sqrt",
        "exp",
        "log",
        "pow",
        "floor",
        "ceil",
        "fabs",
    ):
        functions[name] = functools.partial(_as_float, getattr(math, name))
    return functions


def _as_float(function: Callable[..., float], *values: float) -> float:
    return float(function(*values))


def _checked(words: Array, index: int) -> int:
    assert 0 <= index < len(words), f"index {index} of {len(words)} words"
    return index
