"""The interpreter as a program for a device: its entry, and its code."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from lanewise.arm64 import lane
from lanewise.arm64.exchange import exchange
from lanewise.arm64.machine import LEFT, RUNNING
from lanewise.compiler import OPTIMISED, Cache, Target, compile_module, default_cache

ENTRY = "arm64_lanes"
_STEPS = 16
"""Instructions that are interpreted before the translation is tried again."""


def _word(number: int, name: str, llvm: str = "i64") -> str:
    return f"""  %{name}.at = getelementptr i64, ptr %run, i64 {number}
  %{name} = load {llvm}, ptr %{name}.at, align 8
"""


def _told() -> str:
    return (
        _word(lane.MEMORY, "memories", "ptr")
        + _word(lane.SIZE, "size")
        + _word(lane.LANES, "lanes")
        + _word(lane.LIMIT, "limit")
        + _word(lane.STATES, "states", "ptr")
        + _word(lane.SPACING, "spacing")
    )


_RUN = f"""  %state_offset = mul i64 %i, {lane.WORDS * 8}
  %lane = getelementptr i8, ptr %states, i64 %state_offset
  %memory_offset = mul i64 %i, %spacing
  %memory = getelementptr i8, ptr %memories, i64 %memory_offset
  %cycles = getelementptr i64, ptr %lane, i64 {lane.CYCLES}
  store i64 0, ptr %cycles
  %detail = getelementptr i64, ptr %lane, i64 {lane.DETAIL}
  store i64 0, ptr %detail
  call void @arm64.run(ptr %lane, ptr %memory, i64 %size, i64 %limit)
"""


def _host_entry() -> str:
    """Workers take lane after lane."""
    return f"""define void @{ENTRY}(ptr %launch, ptr %worker, ptr %args) {{
  %run = load ptr, ptr %args
{_told()}  %next = getelementptr i64, ptr %run, i64 {lane.NEXT}
  br label %take
take:
  %i = atomicrmw add ptr %next, i64 1 monotonic
  %some = icmp ult i64 %i, %lanes
  br i1 %some, label %work, label %over
work:
{_RUN}  br label %take
over:
  ret void
}}
"""


def _gpu_entry() -> str:
    """A thread a lane."""
    return f"""define ptx_kernel void @{ENTRY}(ptr %run, i32 %n, ptr %traps) {{
{_told()}  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %group_size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %local = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %group, %group_size
  %number = add i32 %first, %local
  %i = zext i32 %number to i64
  %some = icmp ult i64 %i, %lanes
  br i1 %some, label %work, label %over
work:
{_RUN}  br label %over
over:
  ret void
}}
"""


def _unaligned(bits: int) -> str:
    """Accesses for a GPU, which faults where an address does not fit the size."""
    parts = bits // 8
    gather = scatter = ""
    total = "0"
    for at in range(parts):
        gather += f"""  %at.{at} = getelementptr i8, ptr %place, i64 {at}
  %byte.{at} = load i8, ptr %at.{at}
  %wide.{at} = zext i8 %byte.{at} to i{bits}
  %up.{at} = shl i{bits} %wide.{at}, {8 * at}
  %sum.{at} = or i{bits} {total}, %up.{at}
"""
        total = f"%sum.{at}"
        scatter += f"""  %at.{at} = getelementptr i8, ptr %place, i64 {at}
  %down.{at} = lshr i{bits} %value, {8 * at}
  %byte.{at} = trunc i{bits} %down.{at} to i8
  store i8 %byte.{at}, ptr %at.{at}
"""
    fits = f"""  %address = ptrtoint ptr %place to i64
  %low = and i64 %address, {parts - 1}
  %fits = icmp eq i64 %low, 0
  br i1 %fits, label %whole, label %pieces
whole:
"""
    return f"""define internal i{bits} @arm64.load.i{bits}(ptr %place) noinline {{
{fits}  %direct = load i{bits}, ptr %place, align {parts}
  ret i{bits} %direct
pieces:
{gather}  ret i{bits} {total}
}}
define internal void @arm64.store.i{bits}(ptr %place, i{bits} %value) noinline {{
{fits}  store i{bits} %value, ptr %place, align {parts}
  ret void
pieces:
{scatter}  ret void
}}
"""


_INTERPRETED = """define internal void @arm64.run(ptr %lane, ptr %memory, i64 %size, i64 %limit) alwaysinline {
  call void @arm64.interpret(ptr %lane, ptr %memory, i64 %size, i64 %limit)
  ret void
}
"""
_BOTH = f"""define internal void @arm64.run(ptr %lane, ptr %memory, i64 %size, i64 %limit) {{
  %cycles = getelementptr i64, ptr %lane, i64 {lane.CYCLES}
  %reason = getelementptr i64, ptr %lane, i64 {lane.REASON}
  br label %again
again:
  call void @arm64.translated(ptr %lane, ptr %memory, i64 %size, i64 %limit)
  %why = load i64, ptr %reason
  %left = icmp eq i64 %why, {LEFT}
  br i1 %left, label %some, label %over
some:
  %so_far = load i64, ptr %cycles
  %further = add i64 %so_far, {_STEPS}
  %until = call i64 @llvm.umin.i64(i64 %further, i64 %limit)
  call void @arm64.interpret(ptr %lane, ptr %memory, i64 %size, i64 %until)
  %still = load i64, ptr %reason
  %running = icmp eq i64 %still, {RUNNING}
  %now = load i64, ptr %cycles
  %more = icmp ult i64 %now, %limit
  %go_on = and i1 %running, %more
  br i1 %go_on, label %again, label %over
over:
  ret void
}}
"""


def translated_code(target: Target, code: bytes, base: int, entries: tuple[int, ...]) -> bytes:
    """Code for what lies in memory at `base`, from some addresses on, with the interpreter for all else."""
    from lanewise.arm64.translator import Translator

    key = Cache.key_of("arm64 translated", _sources(), target.key, f"{base} {entries}", code)
    found = default_cache().get(key)
    if found is None:
        gpu = target.kind == "nvptx"
        ir = interpreter_ir(target, Translator(gpu, code, base).translate(entries) + _BOTH)
        found = compile_module(ir, target, name="arm64", level=OPTIMISED, cache=None).code
        default_cache().put(key, found)
    return found


def interpreter_ir(target: Target, rest: str = _INTERPRETED) -> str:
    """The whole interpreter in LLVM's text."""
    from lanewise.arm64.interpreter import Interpreter, constants  # the table, which cached code does without

    gpu = target.kind == "nvptx"
    accesses = "".join(_unaligned(bits) for bits in (16, 32, 64, 128)) if gpu else ""
    return (
        constants()
        + accesses
        + exchange(target)
        + Interpreter(gpu).run()
        + rest
        + (_gpu_entry() if gpu else _host_entry())
    )


def interpreter_code(target: Target) -> bytes:
    """Its code, from the cache or compiled."""
    store = default_cache()
    key = Cache.key_of("arm64 interpreter", _sources(), target.key)
    code = store.get(key)
    if code is None:
        code = compile_module(interpreter_ir(target), target, name="arm64", level=OPTIMISED, cache=None).code
        store.put(key, code)
    return code


@cache
def _sources() -> str:
    """What the code is made from."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
