"""Any sequence of system calls with any arguments: a program that makes them, for lanes and for wasmtime.

The calls come as words of the input, and what they gave goes as words to the output: so all that WASI gives a program,
its standard streams among it, is there to be tried out.
"""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import wasmtime
from engine_runs import WASI, Given, assembled, imports, run

from lanewise.batch.spec import Buffers, Limits

Call = tuple[Any, ...]
"""A function's name and its arguments, or one of `poke`, `peek`, `fill`, `differs`, `find` and `grow` with theirs."""

END, POKE, PEEK, FILL, DIFFERS, FIND, GROW = 100, 101, 102, 103, 104, 105, 106
OTHERS = {"poke": POKE, "peek": PEEK, "fill": FILL, "differs": DIFFERS, "find": FIND, "grow": GROW}
NAMES = tuple(WASI)
ROOM = 128
"""Words of the output that a lane has."""
MEMORY = 2 * 65536


PATHS = {
    "file": b"file",
    "still": b"still",
    "absent": b"absent",
    "folder": b"folder",
    "below": b"folder/below",
    "new": b"new",
    "empty": b"",
    "dot": b".",
    "dots": b"folder/..",
    "up": b"..",
    "climbing": b"folder/../../outside",
    "absolute": b"/file",
    "root": b"/",
    "out": b"out",
    "loop": b"loop",
    "link": b"link",
    "dangling": b"dangling",
    "to folder": b"to_folder",
    "slash": b"file/",
    "folder slash": b"folder/",
    "link slash": b"to_folder/",
    "new slash": b"new/",
    "through a file": b"file/below",
    "bytes": b"\xff\xfe",
    "nul": b"a\0b",
    "long name": b"n" * 256,
    "long": b"./" * 2047 + b"file",
}
PATH_AT: dict[str, tuple[int, int]] = {}
"""Address and length of each path in memory."""
for _name, _path in PATHS.items():
    PATH_AT[_name] = (16384 + sum(length + 3 for _, length in PATH_AT.values()), len(_path))


def _escaped(data: bytes) -> str:
    return "".join(f"\\{byte:02x}" for byte in data)


def make_folder(here: Path, outside: str) -> None:
    """A directory with what those paths name; a link in it leads out."""
    (here / "folder").mkdir(parents=True)
    (here / "folder" / "below").mkdir()
    (here / "file").write_bytes(b"0123456789")
    (here / "still").write_bytes(b"0123456789")
    (here / "link").symlink_to("file")
    (here / "to_folder").symlink_to("folder")
    (here / "dangling").symlink_to("absent")
    (here / "loop").symlink_to("loop")
    (here / "out").symlink_to(outside)


def _calls() -> str:
    text = []
    for number, name in enumerate(NAMES):
        arguments = " ".join({"i": "(call $next)", "l": "(call $next64)"}[kind] for kind in WASI[name])
        call = f"(call ${name} {arguments})"
        made = call if name == "proc_exit" else f"(call $report {call})"
        text.append(f"(if (i32.eq (local.get $op) (i32.const {number})) (then {made} (br $again)))")
    return "\n".join(text)


@functools.cache
def caller() -> bytes:
    """The program. Its memory has the paths in it from the start."""
    segments = "".join(f'(data (i32.const {PATH_AT[name][0]}) "{_escaped(path)}")' for name, path in PATHS.items())
    return assembled(f"""(module
  {segments}
  {imports(*WASI, "thread_id", "read_input", "write_output")}
  (memory (export "memory") 2 6)
  (global $position (mut i32) (i32.const 0))
  (global $count (mut i32) (i32.const 0))
  (func $next (result i32)
    (global.set $position (i32.add (global.get $position) (i32.const 1)))
    (call $read_input (i32.sub (global.get $position) (i32.const 1))))
  (func $next64 (result i64)
    (i64.or (i64.extend_i32_u (call $next)) (i64.shl (i64.extend_i32_u (call $next)) (i64.const 32))))
  (func $report (param $value i32)
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (if (i32.lt_u (global.get $count) (i32.const {ROOM}))
      (then (call $write_output
        (i32.add (i32.mul (call $thread_id) (i32.const {ROOM})) (global.get $count)) (local.get $value))))
    (call $write_output (i32.mul (call $thread_id) (i32.const {ROOM})) (global.get $count)))
  (func $poke (local $at i32) (local $left i32)
    (local.set $at (call $next))
    (local.set $left (call $next))
    (loop $more
      (if (local.get $left) (then
        (i32.store align=1 (local.get $at) (call $next))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $more)))))
  (func $differs (param $at i32) (param $end i32) (param $byte i32) (result i32) (local $found i32)
    (loop $more
      (local.set $found (i32.add (local.get $found) (i32.ne (i32.load8_u (local.get $at)) (local.get $byte))))
      (br_if $more (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (local.get $end))))
    (local.get $found))
  (func $find (param $at i32) (param $end i32) (param $word i32) (result i32) (local $found i32)
    (loop $more
      (local.set $found
        (i32.add (local.get $found) (i32.eq (i32.load align=1 (local.get $at)) (local.get $word))))
      (br_if $more (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (local.get $end))))
    (local.get $found))
  (func (export "_start") (local $op i32)
    (global.set $position (call $read_input (call $thread_id)))
    (loop $again
      (local.set $op (call $next))
      {_calls()}
      (if (i32.eq (local.get $op) (i32.const {POKE})) (then (call $poke) (br $again)))
      (if (i32.eq (local.get $op) (i32.const {PEEK})) (then (call $report (i32.load align=1 (call $next))) (br $again)))
      (if (i32.eq (local.get $op) (i32.const {FILL})) (then
        (memory.fill (call $next) (call $next) (call $next)) (br $again)))
      (if (i32.eq (local.get $op) (i32.const {DIFFERS})) (then
        (call $report (call $differs (call $next) (call $next) (call $next))) (br $again)))
      (if (i32.eq (local.get $op) (i32.const {FIND})) (then
        (call $report (call $find (call $next) (call $next) (call $next))) (br $again)))
      (if (i32.eq (local.get $op) (i32.const {GROW})) (then
        (call $report (memory.grow (call $next))) (br $again))))))""")


def encoded(calls: Sequence[Call]) -> list[int]:
    """Calls as the words that the program reads."""
    text: list[int] = []
    for name, *arguments in calls:
        if name == "poke":
            at, data = arguments
            data += bytes(-len(data) % 4)
            text += [POKE, at, len(data) // 4, *struct.unpack(f"<{len(data) // 4}I", data)]
        elif name in OTHERS:
            text += [OTHERS[name], *arguments]
        else:
            text.append(NAMES.index(name))
            for kind, value in zip(WASI[name], arguments, strict=True):
                text += [value & 0xFFFFFFFF] if kind == "i" else [value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF]
    return [*text, END]


def inputs(scripts: Sequence[Sequence[Call]]) -> np.ndarray[Any, Any]:
    """The input for lanes with a sequence of calls each."""
    parts = [encoded(one) for one in scripts]
    starts = len(parts) + np.cumsum([0, *map(len, parts[:-1])])
    return np.array([*starts, *(word for part in parts for word in part)], np.uint64).astype(np.uint32)


def reported(calls: Sequence[Call]) -> int:
    """How many values a sequence of calls gives if all of them come back."""
    return sum(name not in ("poke", "fill") for name, *_ in calls)


Found = tuple[list[int], str | None]
"""What calls gave, and the kind of trap or the exit code as text that ended them, if anything did."""


def on_lanes(scripts: Sequence[Sequence[Call]], device: Any, root: Path, **more: Any) -> list[Found]:
    """Have lanes make calls, one sequence each."""
    given = Given(stdin=lambda lane: STDIN)
    given.arguments = lambda lane: ARGUMENTS
    options: dict[str, Any] = {
        "directories": [(root, "/")],
        "environment": ENVIRONMENT,
        "limits": Limits(timeout=60),
        "buffers": Buffers(input=inputs(scripts), output=ROOM * len(scripts)),
    }
    ended = run(caller(), device, len(scripts), given, **options | more)
    assert ended.stopped is None, ended.stopped
    assert ended.results is not None
    rows = ended.results.output.view(np.uint32).reshape(len(scripts), ROOM).tolist()
    return [
        (row[1 : 1 + min(row[0], ROOM - 1)], one.kind or (f"exit {one.exit_code}" if one.exit_code else None))
        for row, one in zip(rows, ended.outcomes, strict=True)
    ]


ARGUMENTS = [b"program", b"argument"]
ENVIRONMENT = {"NAME": "value"}
STDIN = b"what is read"


@functools.cache
def _modules() -> tuple[wasmtime.Engine, wasmtime.Module, wasmtime.Module]:
    """An engine, what stands for the GPU vocabulary there, and the program."""
    engine = wasmtime.Engine()
    return engine, wasmtime.Module(engine, assembled(_VOCABULARY)), wasmtime.Module(engine, caller())


_FOUND_AT = 1 << 19
_VOCABULARY = f"""(module
  (memory (export "memory") 16)
  (func (export "thread_id") (result i32) (i32.const 0))
  (func (export "read_input") (param i32) (result i32) (i32.load (i32.shl (local.get 0) (i32.const 2))))
  (func (export "write_output") (param i32 i32)
    (i32.store offset={_FOUND_AT} (i32.shl (local.get 0) (i32.const 2)) (local.get 1))))"""


class Wasmtime:
    """Makes calls under wasmtime."""

    def __init__(self, folder: Path) -> None:
        self._stdin = folder / "stdin"
        self._stdin.write_bytes(STDIN)

    def calls(self, script: Sequence[Call], root: Path) -> Found:
        """What a sequence of calls gives."""
        engine, vocabulary, program = _modules()
        config = wasmtime.WasiConfig()
        config.argv = [one.decode() for one in ARGUMENTS]
        config.env = list(ENVIRONMENT.items())
        config.stdin_file = self._stdin
        config.stdout_file = config.stderr_file = os.devnull
        config.preopen_dir(str(root), "/")
        store = wasmtime.Store(engine)
        store.set_wasi(config)
        linker = wasmtime.Linker(engine)
        linker.define_wasi()
        gpu = linker.instantiate(store, vocabulary)
        linker.define_instance(store, "gpu", gpu)
        memory = gpu.exports(store)["memory"]
        assert isinstance(memory, wasmtime.Memory)
        memory.write(store, inputs([script]).tobytes())
        ended = None
        try:
            linker.instantiate(store, program).exports(store)["_start"](store)  # type: ignore[operator]
        except wasmtime.ExitTrap as trap:
            ended = f"exit {trap.code}" if trap.code else None
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            ended = str(error).strip().splitlines()[-1].strip()
        count, *found = struct.unpack(f"<{ROOM}I", memory.read(store, _FOUND_AT, _FOUND_AT + 4 * ROOM))
        return found[:count], ended
