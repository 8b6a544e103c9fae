"""A sample of what `against_unicorn.py` compares as a whole: each instruction does what Unicorn's does."""

import pytest
from against_unicorn import differences

from lanewise.arm64.encodings import TABLE
from lanewise.arm64.encodings.row import Row
from lanewise.arm64.finding import row_of

_PART = 6
"""One of so many rows is in the sample."""
_WORDS = 4


def test_a_sample_of_all_instructions_does_what_it_does_on_unicorn(device):
    assert differences(TABLE[::_PART], _WORDS, 1, device.name) == []


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
