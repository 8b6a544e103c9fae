"""Settings that users change, by environment variable, and limits that hold everywhere: the one place for both."""

from __future__ import annotations

import os
from pathlib import Path

from lanewise.errors import LanewiseError

WARP_SIZE = 32
MAX_GROUP_SIZE = 1024
DEFAULT_GROUP_SIZE = 256
MAX_THREADS = 2**32 - 1
"""Thread numbers are u32; a kernel that has more elements loops over them with `grid_range`."""
MAX_SHARED_BYTES = 48 * 1024
"""Group-shared memory a kernel may declare: what every CUDA GPU gives a group without asking for more."""
_KEPT_PART = 0.25
"""How much of a GPU's memory a process may keep for its next call after it has freed it, unless a user says."""
MAX_CPU_THREADS = 1024
MAX_LOCAL_BYTES = 128 * 1024
"""Local arrays and structs that one function may hold: every thread has its own."""
MAX_LITERAL_BITS = 4096
"""Whole numbers that constant expressions may reach while they are folded; the result must fit its type anyway."""

MAX_DIGITS = 40
"""Digits of a whole number that people may write: more than any limit has, and far less than Python refuses to read."""

_SHOWN = 64
"""Characters of what somebody wrote that a sentence repeats."""
_SIZE_SUFFIXES = {"k": 2**10, "m": 2**20, "g": 2**30}


def whole_number(digits: str) -> int | None:
    """The number that decimal digits stand for; None if they are something else or too many."""
    significant = digits.lstrip("0") or digits[-1:]
    return int(significant) if digits.isdecimal() and len(significant) <= MAX_DIGITS else None


def shortened(text: str) -> str:
    """What somebody wrote, for a sentence that says what is wrong with it; little of it if it is long."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}..."


def cache_dir() -> Path:
    """Where compiled code is kept: LANEWISE_CACHE_DIR, else the user's cache directory."""
    if chosen := os.environ.get("LANEWISE_CACHE_DIR"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lanewise"


def cache_limit() -> int:
    """Bytes the cache may hold: LANEWISE_CACHE_SIZE (such as 512M; 0 turns the cache off), else 1 GiB."""
    return _bytes("LANEWISE_CACHE_SIZE", os.environ.get("LANEWISE_CACHE_SIZE", "1G"))


def kept_memory(total: int) -> int:
    """Bytes of a GPU's `total` that a process keeps for its next call: LANEWISE_KEPT_MEMORY, else a quarter."""
    text = os.environ.get("LANEWISE_KEPT_MEMORY")
    return int(total * _KEPT_PART) if text is None else min(total, _bytes("LANEWISE_KEPT_MEMORY", text))


def _bytes(variable: str, text: str) -> int:
    text = text.strip().lower()
    scale = _SIZE_SUFFIXES.get(text[-1:], 1)
    digits = text if scale == 1 else text[:-1]
    number = whole_number(digits)
    if number is None:
        raise LanewiseError(
            f"{variable} is {shortened(text)!r}; write a number of bytes, or one with K, M or G behind it"
        )
    return number * scale


def dump_dir() -> Path | None:
    """Where each compile stage is written for reading: LANEWISE_DUMP, else nowhere."""
    chosen = os.environ.get("LANEWISE_DUMP")
    return Path(chosen) if chosen else None


def cpu_threads() -> int:
    """How many cores the CPU device uses: LANEWISE_CPU_THREADS, else all that this process may run on."""
    text = os.environ.get("LANEWISE_CPU_THREADS")
    if text is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, MAX_CPU_THREADS)
    number = whole_number(text)
    if number is None or not 1 <= number <= MAX_CPU_THREADS:
        raise LanewiseError(
            f"LANEWISE_CPU_THREADS is {shortened(text)!r}; write how many cores to use, 1 to {MAX_CPU_THREADS}"
        )
    return number


def default_device() -> str:
    """The device that `auto` stands for when it is set: LANEWISE_DEVICE, else `auto` itself."""
    return os.environ.get("LANEWISE_DEVICE") or "auto"


LANE_FILES = 128
"""Files that a lane may have open at once."""
