"""Small programs in the text format, and runs of them on the engine itself: for tests of what lanes see and leave."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import wasmtime

from lanewise.batch import cpu_engine, cuda_engine, cuda_slots
from lanewise.batch.engine import Run
from lanewise.batch.spec import Buffers, LaneOutcome, Limits, Results, Task
from lanewise.settings import WARP_SIZE

SOON = 8.0
"""Seconds within which a run that is to end must be over on a machine that does much else."""

_KINDS = {"i": "i32", "l": "i64", "f": "f32"}

WASI = {
    "args_get": "ii",
    "args_sizes_get": "ii",
    "clock_res_get": "ii",
    "clock_time_get": "ili",
    "environ_get": "ii",
    "environ_sizes_get": "ii",
    "fd_advise": "illi",
    "fd_allocate": "ill",
    "fd_close": "i",
    "fd_datasync": "i",
    "fd_fdstat_get": "ii",
    "fd_fdstat_set_flags": "ii",
    "fd_fdstat_set_rights": "ill",
    "fd_filestat_get": "ii",
    "fd_filestat_set_size": "il",
    "fd_filestat_set_times": "illi",
    "fd_pread": "iiili",
    "fd_prestat_dir_name": "iii",
    "fd_prestat_get": "ii",
    "fd_pwrite": "iiili",
    "fd_read": "iiii",
    "fd_readdir": "iiili",
    "fd_renumber": "ii",
    "fd_seek": "ilii",
    "fd_sync": "i",
    "fd_tell": "ii",
    "fd_write": "iiii",
    "path_create_directory": "iii",
    "path_filestat_get": "iiiii",
    "path_filestat_set_times": "iiiilli",
    "path_link": "iiiiiii",
    "path_open": "iiiiillii",
    "path_readlink": "iiiiii",
    "path_remove_directory": "iii",
    "path_rename": "iiiiii",
    "path_symlink": "iiiii",
    "path_unlink_file": "iii",
    "poll_oneoff": "iiii",
    "proc_exit": "i",
    "proc_raise": "i",
    "random_get": "ii",
    "sched_yield": "",
    "sock_accept": "iii",
    "sock_recv": "iiiiii",
    "sock_send": "iiiii",
    "sock_shutdown": "ii",
}
"""Parameters of the functions of WASI preview 1; all but proc_exit give an error number."""

GPU = {
    "thread_id": "=i",
    "thread_count": "=i",
    "local_id": "=i",
    "group_id": "=i",
    "threadgroup_size": "=i",
    "threadgroup_barrier": "",
    "read_state": "i=i",
    "write_state": "ii",
    "read_input": "i=i",
    "write_output": "ii",
    "read_shared": "i=i",
    "write_shared": "ii",
    "atomic_add": "ii=i",
    "set_pixel": "iiffff",
    "debug_i32": "i",
    "debug_f32": "f",
    "debug_str": "ii",
    "debug_bool": "i",
    "debug_newline": "",
    "debug_flush": "",
}
"""Parameters and results of what tests use of the GPU vocabulary."""


def imports(*names: str) -> str:
    """Imports of these functions, each by its own name."""
    text = []
    for name in names:
        module = "gpu" if name in GPU else "wasi_snapshot_preview1"
        parameters, _, results = GPU[name].partition("=") if name in GPU else (WASI[name], "", "i")
        results = "" if name == "proc_exit" else results
        kind = "".join(
            f" ({word} {' '.join(_KINDS[one] for one in kinds)})"
            for word, kinds in (("param", parameters), ("result", results))
            if kinds
        )
        text.append(f'(import "{module}" "{name}" (func ${name}{kind}))')
    return "\n".join(text)


SAY = """
  (func $say_at (param $stream i32) (param $at i32) (param $size i32)
    (i32.store (i32.const 65504) (local.get $at))
    (i32.store (i32.const 65508) (local.get $size))
    (drop (call $fd_write (local.get $stream) (i32.const 65504) (i32.const 1) (i32.const 65512))))
  (func $say (param $value i32)
    (i32.store (i32.const 65516) (local.get $value))
    (call $say_at (i32.const 1) (i32.const 65516) (i32.const 4)))
"""
"""Writing bytes, and words of 32 bits, which `words` reads; uses the last bytes of the first page."""

ARGUMENT = """
  (func $argument (result i32) (local $at i32) (local $value i32)
    (drop (call $args_get (i32.const 65000) (i32.const 65100)))
    (local.set $at (i32.load (i32.const 65004)))
    (loop $next
      (if (i32.load8_u (local.get $at))
        (then
          (local.set $value (i32.add (i32.mul (local.get $value) (i32.const 10))
            (i32.sub (i32.load8_u (local.get $at)) (i32.const 48))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $value))
"""
"""The first argument behind the name as a number; uses bytes from 65000 on."""


@functools.cache
def assembled(text: str) -> bytes:
    """A module of the text format."""
    return bytes(wasmtime.wat2wasm(text))


def program(start: str, *names: str, more: str = "", memory: str = "1", numbered: bool = False) -> bytes:
    """A program that imports what it is given names of, and can `$say` words; `numbered` ones have `$argument`."""
    wanted = dict.fromkeys(["fd_write", *(["args_get"] if numbered else []), *names])
    return assembled(f"""(module
  {imports(*wanted)}
  (memory (export "memory") {memory})
  {SAY} {ARGUMENT if numbered else ""} {more}
  (func (export "_start") {start}))""")


def words(output: bytes) -> list[int]:
    """What was written by `$say`."""
    return [number for (number,) in struct.iter_unpack("<I", output)]


class Given:
    """What lanes get: functions of the lane."""

    def __init__(
        self,
        arguments: Callable[[int], Sequence[bytes]] | None = None,
        stdin: Callable[[int], bytes | None] = lambda lane: b"",
    ) -> None:
        self.same_arguments = arguments is None
        self.arguments = arguments or (lambda lane: [b"program"])
        self.stdin = stdin

    def sizes(self, lanes: range) -> None:
        """Nothing is known of how much they read."""


def numbers(number: Callable[[int], int] = lambda lane: lane) -> Given:
    """Lanes that are given a number each."""
    return Given(lambda lane: [b"program", b"%d" % number(lane)])


@dataclass(frozen=True)
class Ended:
    """A run that is over."""

    outcomes: list[LaneOutcome]
    """By lane."""
    stopped: str | None
    results: Results | None

    @property
    def stdout(self) -> list[bytes]:
        return [one.stdout for one in self.outcomes]

    @property
    def kinds(self) -> list[str | None]:
        return [one.kind for one in self.outcomes]

    @property
    def codes(self) -> list[int | None]:
        return [one.exit_code for one in self.outcomes]


def task_of(
    source: bytes,
    device: Any,
    lanes: int = 1,
    given: Given | None = None,
    *,
    limits: Limits | None = None,
    buffers: Buffers | None = None,
    **more: Any,
) -> Task:
    """A task; a run that never ends by itself ends after a minute, so that a mistake does not stop all tests."""
    return Task(
        source,
        "program",
        lanes,
        given or Given(),
        device=device.name,
        limits=limits or Limits(timeout=60),
        buffers=buffers or Buffers(),
        **more,
    )


def run(source: bytes, device: Any, lanes: int = 1, given: Given | None = None, **more: Any) -> Ended:
    """Run a program to its end; each lane must be told of once."""
    running = Run(task_of(source, device, lanes, given, **more))
    outcomes = sorted(running.outcomes(), key=lambda one: one.lane)
    assert len({one.lane for one in outcomes}) == len(outcomes)
    return Ended(outcomes, running.stopped, running.results)


def run_all(source: bytes, device: Any, lanes: int = 1, given: Given | None = None, **more: Any) -> Ended:
    """The same for a run that must not be ended early: there is an outcome of every lane."""
    ended = run(source, device, lanes, given, **more)
    assert ended.stopped is None
    assert [one.lane for one in ended.outcomes] == list(range(lanes))
    return ended


def few_slots(monkeypatch: Any) -> None:
    """Have a GPU run lanes one after the other where it could run them at once; a CPU does so anyway."""
    monkeypatch.setattr(cuda_slots, "_MEMORY_SHARE", 0)


def small_waves(monkeypatch: Any, device: Any, lanes: int = 4) -> int:
    """Have waves of few lanes, or of as few as there can be; gives how many that is."""
    few_slots(monkeypatch)
    for name in ("_WAVE_LANES", "_FIRST_LANES"):
        monkeypatch.setattr(cpu_engine, name, lanes)
    monkeypatch.setattr(cuda_engine, "_LANES_PER_SLOT", 1)
    return lanes if device.name == "cpu" else WARP_SIZE
