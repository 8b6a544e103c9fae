"""Memory that programs ask for: it is theirs alone, it is 0, and it comes back."""

import errno
import random

import pytest

from lanewise.arm64.linux.heap import Heap
from lanewise.arm64.linux.memory import MOST_MOVED, LaneMemory

START, SIZE, PAGE = 0x10000, 64 * 4096, 4096
LOW, HIGH = START + 4 * PAGE, START + 60 * PAGE


class Bytes:
    """A device that is an array."""

    def __init__(self):
        self.content = bytearray(SIZE)

    def read(self, address, count):
        return bytes(self.content[address : address + count])

    def write(self, address, data):
        self.content[address : address + len(data)] = data


@pytest.fixture
def heap():
    memory = LaneMemory(Bytes(), 0, START, SIZE)
    made = Heap(memory, LOW, HIGH)
    made.memory = memory
    return made


def fails(number, action, *words):
    with pytest.raises(OSError, match=r"\[Errno") as refused:
        action(*words)
    assert refused.value.errno == number


def test_brk(heap):
    assert heap.move_brk(0) == LOW
    assert heap.move_brk(LOW + 100) == LOW + 100
    heap.memory.write(LOW, b"x" * 100)
    assert heap.move_brk(LOW + 10) == LOW + 10
    assert heap.move_brk(LOW + 100) == LOW + 100
    assert heap.memory.read(LOW, 100) == b"x" * 10 + bytes(90)
    assert heap.move_brk(HIGH + 1) == LOW + 100
    first = heap.map(PAGE)
    assert heap.move_brk(HIGH) == LOW + 100
    assert heap.move_brk(first) == first
    fails(errno.ENOMEM, heap.map, 1)


def test_maps(heap):
    one, two, three = heap.map(1), heap.map(PAGE + 1), heap.map(PAGE)
    assert (one, two, three) == (HIGH - PAGE, HIGH - 3 * PAGE, HIGH - 4 * PAGE)
    heap.memory.write(two, b"x" * 2 * PAGE)
    heap.unmap(two, 2 * PAGE)
    assert heap.map(2 * PAGE) == two
    assert heap.memory.read(two, 2 * PAGE) == bytes(2 * PAGE)
    heap.unmap(two + PAGE, PAGE)
    assert heap.map(1) == two + PAGE
    fails(errno.EINVAL, heap.unmap, two + 1, PAGE)
    fails(errno.EINVAL, heap.unmap, two, 0)
    fails(errno.ENOMEM, heap.map, SIZE)


def test_maps_at_an_address(heap):
    at = LOW + 10 * PAGE
    assert heap.map_at(at, PAGE, replace=False) == at
    fails(errno.EEXIST, heap.map_at, at, PAGE, False)
    heap.memory.write(at, b"x")
    assert heap.map_at(at, 2 * PAGE, replace=True) == at
    assert heap.memory.read(at, 1) == b"\0"
    fails(errno.EINVAL, heap.map_at, at + 1, PAGE, True)
    fails(errno.ENOMEM, heap.map_at, START - PAGE, PAGE, True)


def test_a_map_across_the_end_of_the_heap(heap):
    """What of it is above the heap is taken: neither the heap nor another map comes to lie there."""
    heap.move_brk(LOW + 2 * PAGE)
    heap.memory.write(LOW + PAGE, b"x" * PAGE)
    assert heap.map_at(LOW + PAGE, 3 * PAGE, replace=True) == LOW + PAGE
    assert heap.memory.read(LOW + PAGE, PAGE) == bytes(PAGE)
    assert heap.overlaps(LOW + 2 * PAGE, LOW + 3 * PAGE)
    assert heap.move_brk(LOW + 3 * PAGE) == LOW + 2 * PAGE
    assert heap.map_at(HIGH - PAGE, 2 * PAGE, replace=True) == HIGH - PAGE
    assert heap.map(PAGE) == HIGH - 2 * PAGE


def test_remap(heap):
    lower = heap.map(2 * PAGE)
    heap.memory.write(lower, b"kept")
    assert heap.remap(lower, 2 * PAGE, PAGE, may_move=False) == lower
    assert heap.remap(lower, PAGE, 2 * PAGE, may_move=False) == lower
    assert heap.memory.read(lower + PAGE, 4) == bytes(4)
    fails(errno.ENOMEM, heap.remap, lower, 2 * PAGE, 3 * PAGE, False)
    moved = heap.remap(lower, 2 * PAGE, 3 * PAGE, may_move=True)
    assert heap.memory.read(moved, 4) == b"kept"
    fails(errno.EFAULT, heap.remap, LOW, PAGE, 2 * PAGE, True)


def test_much_memory_is_cleared_where_it_was_used_and_not_written(heap):
    """So that what nobody has touched takes nothing, and a call that clears it no time."""
    size = 64 * MOST_MOVED
    device = Cleared(size)
    heap = Heap(LaneMemory(device, 0, START, size), LOW, START + size - PAGE)
    first = heap.map(8 * MOST_MOVED)
    assert heap.move_brk(LOW + 8 * MOST_MOVED) == LOW + 8 * MOST_MOVED
    assert device.done == []
    heap.unmap(first, 8 * MOST_MOVED)
    assert heap.map(8 * MOST_MOVED) == first
    assert device.done == [("clear", first - START, 8 * MOST_MOVED)]
    heap.move_brk(LOW)
    heap.move_brk(LOW + 8 * MOST_MOVED)
    heap.clear(first, 2 * MOST_MOVED)
    assert device.done[1:] == [("clear", LOW - START, 8 * MOST_MOVED), ("clear", first - START, 2 * MOST_MOVED)]
    device.used = first - START + 3 * MOST_MOVED, b"used"
    device.done.clear()
    moved = heap.remap(first, 8 * MOST_MOVED, 16 * MOST_MOVED, True)
    assert device.done == [("write", moved - START + 3 * MOST_MOVED, MOST_MOVED)]


class Cleared:
    """A device that notes what is done to its memory, in which a few bytes are not 0."""

    def __init__(self, size):
        self.size, self.done, self.used = size, [], (0, b"")

    def read(self, address, count):
        at, used = self.used
        found = bytearray(count)
        if address <= at < address + count:
            found[at - address : at - address + len(used)] = used
        return bytes(found)

    def write(self, address, data):
        self.done.append(("write", address, len(data)))

    def clear_part(self, address, count):
        self.done.append(("clear", address, count))


def test_pages_of_the_program_are_cleared_byte_by_byte(heap):
    """They may be those of a file, whose content would come back."""
    heap.memory.write(START, b"x" * (LOW - START))
    heap.move_brk(LOW + PAGE)
    heap.memory.write(LOW, b"x" * PAGE)
    heap.clear(START + PAGE, LOW - START)
    assert heap.memory.read(START, LOW + PAGE - START) == b"x" * PAGE + bytes(LOW - START)


def test_whatever_order(heap):
    """What is handed out is 0, within the room, and nobody else's."""
    chance, owned = random.Random(1), {}
    for step in range(3000):
        if owned and chance.random() < 0.5:
            at = chance.choice(list(owned))
            assert heap.memory.read(at, owned[at][0]) == owned[at][1] * owned[at][0]
            heap.unmap(at, owned.pop(at)[0])
            continue
        count = chance.randrange(1, 5) * PAGE
        try:
            at = heap.map(count)
        except OSError:
            continue
        assert at >= LOW
        assert at + count <= HIGH
        assert heap.memory.read(at, count) == bytes(count)
        mark = bytes([step % 255 + 1])
        heap.memory.write(at, mark * count)
        owned[at] = count, mark
