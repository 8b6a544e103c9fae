"""A sample of what `against_unicorn.py` compares as a whole: each instruction does what Unicorn's does."""

import pytest
from against_unicorn import differences
from contents import FLOATING

from lanewise.arm64.encodings import TABLE
from lanewise.arm64.encodings.row import Row
from lanewise.arm64.finding import ENDS, row_of

_PARTS = 4


@pytest.mark.parametrize("part", range(_PARTS))
def test_a_word_of_each_row_does_what_it_does_on_unicorn(part, device):
    assert differences(TABLE[part::_PARTS], 1, 1, device.name) == []


@pytest.mark.parametrize("part", range(_PARTS))
def test_a_word_of_each_row_does_what_it_does_on_unicorn_when_it_is_translated(part, lane_device):
    """But for those that go elsewhere."""
    rows = [row for row in TABLE if row.name not in ENDS][part::_PARTS]
    assert differences(rows, 1, 3, lane_device, translated=True) == []


def test_floating_point_does_what_it_does_on_unicorn_in_all_modes_with_all_flags(device):
    assert differences(FLOATING, 3, 2, device.name) == []


def overlap(one: Row, other: Row) -> bool:
    both = one.mask & other.mask
    return one.value & both == other.value & both


def test_no_word_belongs_to_two_rows():
    by_top: dict[int, list[Row]] = {}
    for row in TABLE:
        for top in range(256):  # rows are compared with those that share the upper byte of some word
            if (top << 24 & row.mask) == (row.value & 0xFF000000 & row.mask):
                by_top.setdefault(top, []).append(row)
    clashes = {
        (one.name, other.name)
        for rows in by_top.values()
        for at, one in enumerate(rows)
        for other in rows[at + 1 :]
        if overlap(one, other)
    }
    assert clashes == set()


@pytest.mark.parametrize("row", TABLE[::50], ids=lambda row: row.name)
def test_a_word_is_found_in_its_row(row):
    assert row_of(row.value) is row
