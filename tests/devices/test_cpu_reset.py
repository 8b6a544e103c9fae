"""Clearing a linear memory: whatever was touched is zero again, and nothing else is usable."""

import ctypes
import os
from pathlib import Path

import pytest

from lanewise.devices import cpu_native, cpu_scheduler
from lanewise.devices.cpu_native import runtime
from lanewise.devices.cpu_reset import MOST_KEPT, PIECE
from lanewise.wasm.guarded import GuardedMemory

_PAGE = 65536
MINIMUM = 20 * _PAGE
MANY = 2 * MOST_KEPT
"""Bytes that are more than are kept."""


@pytest.fixture(params=["told", "not told"])
def reset(request, monkeypatch):
    """The function, with and without a system that tells which pages were touched."""
    own = runtime()
    if request.param == "not told":
        monkeypatch.setattr(os, "open", _refuse)
        own._open_pagemap()
        monkeypatch.undo()
    yield ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)(
        own.guest_imports()["lw_reset_memory"]
    )
    own._open_pagemap()


def _refuse(*_):
    raise FileNotFoundError


def _memory(nbytes, touched):
    memory = GuardedMemory(nbytes)
    for at in touched:
        ctypes.memset(memory.address + at, 0xAB, 1)
    return memory


def _resident(memory, nbytes):
    """Bytes of a memory that have pages."""
    pages = -(-nbytes // 4096)
    found = (ctypes.c_ubyte * pages)()
    assert ctypes.CDLL(None).mincore(ctypes.c_void_p(memory.address), ctypes.c_size_t(nbytes), found) == 0
    return sum(entry & 1 for entry in found) * 4096


@pytest.mark.parametrize(
    "touched",
    [[], [0], [MINIMUM - 1], [4095, 4096, 8191], range(100, MINIMUM, 70_001), range(0, MINIMUM, 4096)],
    ids=["nothing", "first", "last", "edges", "here and there", "all"],
)
def test_touched_bytes_are_zero_again(reset, touched):
    memory = _memory(MINIMUM, touched)
    reset(memory.address, MINIMUM, MINIMUM)
    assert ctypes.string_at(memory.address, MINIMUM) == bytes(MINIMUM)


@pytest.mark.parametrize("step", [4096, 3 * 4096, PIECE * 4096])
def test_a_large_memory_is_zero_again(reset, step):
    memory = _memory(MANY * 2, range(0, MANY * 2, step))
    reset(memory.address, MANY * 2, MANY * 2)
    assert ctypes.string_at(memory.address, MANY * 2) == bytes(MANY * 2)


def test_many_touched_pages_are_given_back(reset):
    memory = _memory(MANY, range(0, MANY, 4096))
    assert _resident(memory, MANY) == MANY
    reset(memory.address, MANY, MANY)
    assert _resident(memory, MANY) <= MOST_KEPT


def test_a_page_nobody_touched_gets_no_memory():
    memory = _memory(MINIMUM, [0])
    if not Path("/proc/self/pagemap").exists():
        pytest.skip("this system does not tell which pages were touched")
    before = _resident(memory, MINIMUM)
    address = runtime().guest_imports()["lw_reset_memory"]
    ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 3)(address)(memory.address, MINIMUM, MINIMUM)
    assert _resident(memory, MINIMUM) == before


def test_what_a_memory_grew_by_is_zero_when_it_grows_again(reset):
    memory = _memory(MINIMUM + _PAGE, [MINIMUM, MINIMUM + _PAGE - 1])
    reset(memory.address, MINIMUM + _PAGE, MINIMUM)
    memory.open(MINIMUM + _PAGE)
    assert ctypes.string_at(memory.address, MINIMUM + _PAGE) == bytes(MINIMUM + _PAGE)


def test_what_a_memory_grew_by_is_not_usable_until_it_grows_again(reset):
    memory = _memory(MINIMUM + _PAGE, [])
    reset(memory.address, MINIMUM + _PAGE, MINIMUM)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "wb"):
        assert ctypes.CDLL(None).write(writing, ctypes.c_void_p(memory.address + MINIMUM), ctypes.c_size_t(1)) == -1
        assert ctypes.CDLL(None).write(writing, ctypes.c_void_p(memory.address + MINIMUM - 1), ctypes.c_size_t(1)) == 1


def test_a_descriptor_that_has_become_another_file_is_not_believed():
    own = runtime()
    table = cpu_native._at(own._table, cpu_scheduler.WorkerTable.dtype)
    zeros = os.open("/dev/zero", os.O_RDONLY)
    os.dup2(zeros, int(table["pagemap"]))
    os.close(zeros)
    own.check_pagemap()
    memory = _memory(MINIMUM, range(0, MINIMUM, 4096))
    address = own.guest_imports()["lw_reset_memory"]
    ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 3)(address)(memory.address, MINIMUM, MINIMUM)
    assert ctypes.string_at(memory.address, MINIMUM) == bytes(MINIMUM)


def test_memory_that_is_locked_is_zero_again(reset):
    memory = _memory(MANY, range(0, MANY, 4096))
    if ctypes.CDLL(None).mlock(ctypes.c_void_p(memory.address), ctypes.c_size_t(MANY)):
        pytest.skip("this user may not lock so much memory")
    reset(memory.address, MANY, MANY)
    assert ctypes.string_at(memory.address, MANY) == bytes(MANY)


def test_a_forked_child_is_told_of_its_own_pages():
    runtime()
    child = os.fork()
    if child == 0:
        memory = _memory(MINIMUM, range(0, MINIMUM, 4096))
        address = runtime().guest_imports()["lw_reset_memory"]
        ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 3)(address)(memory.address, MINIMUM, MINIMUM)
        os._exit(0 if ctypes.string_at(memory.address, MINIMUM) == bytes(MINIMUM) else 1)
    assert os.waitpid(child, 0)[1] == 0
