"""From a word to its row in the table: a tree of switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lanewise.arm64.encodings.row import Row
from lanewise.arm64.writer import Writer

_MOST_BITS = 8
"""Bits that one switch looks at."""
_FAR_FEWER_BITS = 2
"""Fixed bits that a row has less than others if it has several times as many words."""
_FIRST_LOW, _FIRST_BITS = 21, 11
"""The bits that the first switch looks at, which tell most of the common instructions: so they need no other."""


def decode(
    w: Writer, word: str, rows: Sequence[Row], found: Callable[[Row], str], none: str, apart: str | None = None
) -> None:
    """Write code that goes to the label that `found` gives for a word's row, or to `none`.

    If there is a label `apart`, words go there that may be of rows that are apart, and are of no others.
    """
    bits = (1 << _FIRST_BITS) - 1
    groups: dict[tuple[int, ...], list[int]] = {}
    masks = np.array([row.mask >> _FIRST_LOW & bits for row in rows])
    values = np.array([row.value >> _FIRST_LOW for row in rows]) & masks
    for number in range(1 << _FIRST_BITS):
        fitting = np.flatnonzero(number & masks == values)
        groups.setdefault(tuple(fitting.tolist()), []).append(number)
    part = w.assign(32, f"lshr i32 {word}, {_FIRST_LOW}")
    labels = {group: w.label("bits") if group else none for group in groups}
    cases = " ".join(f"i32 {number}, label %{labels[group]}" for group, numbers in groups.items() for number in numbers)
    nowhere = w.label("nowhere")
    w.emit(f"switch {part.typed}, label %{nowhere} [ {cases} ]")
    w.start(nowhere)
    w.emit("unreachable")  # all numbers of so many bits are there
    for group in groups:
        if group:
            w.start(labels[group])
            _decide(w, word, [rows[at] for at in group], found, none, apart, bits << _FIRST_LOW)


def _decide(
    w: Writer,
    word: str,
    rows: Sequence[Row],
    found: Callable[[Row], str],
    none: str,
    apart: str | None,
    seen: int,
) -> None:
    """The same behind other switches: `seen` are the bits that are known to fit all of the rows."""
    if not rows:
        w.emit(f"br label %{none}")
        return
    if apart and all(row.apart for row in rows):
        w.emit(f"br label %{apart}")
        return
    if len(rows) == 1:
        left = rows[0].mask & ~seen
        masked = w.assign(32, f"and i32 {word}, {left}")
        same = w.compare("eq", masked, rows[0].value & left)
        w.emit(f"br {same.typed}, label %{found(rows[0])}, label %{none}")
        return
    first = _common_row(rows, seen)
    low, count = (0, 0) if first else _common_run(rows, seen)
    if not count:
        first = first or max(rows, key=lambda row: row.mask.bit_count())
        others = w.label("others")
        left = first.mask & ~seen
        masked = w.assign(32, f"and i32 {word}, {left}")
        same = w.compare("eq", masked, first.value & left)
        w.emit(f"br {same.typed}, label %{found(first)}, label %{others}")
        w.start(others)
        _decide(w, word, [row for row in rows if row is not first], found, none, apart, seen)
        return
    bits = (1 << count) - 1
    groups: dict[int, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.value >> low & bits, []).append(row)
    part = w.assign(32, f"and i32 {w.assign(32, f'lshr i32 {word}, {low}').text}, {bits}")
    labels = {number: w.label("bits") for number in groups}
    cases = " ".join(f"i32 {number}, label %{label}" for number, label in labels.items())
    w.emit(f"switch {part.typed}, label %{none} [ {cases} ]")
    for number, group in groups.items():
        w.start(labels[number])
        _decide(w, word, group, found, none, apart, seen | bits << low)


def _common_row(rows: Sequence[Row], seen: int) -> Row | None:
    """The row that has several times as many words as each other, if one has none of theirs: it is asked for first."""
    first, *others = sorted(rows, key=lambda row: (row.mask & ~seen).bit_count())
    bits, more = ((row.mask & ~seen).bit_count() for row in (first, others[0]))
    apart = all(first.mask & other.mask & (first.value ^ other.value) for other in others)
    return first if apart and more - bits >= _FAR_FEWER_BITS else None


def _common_run(rows: Sequence[Row], seen: int) -> tuple[int, int]:
    """The longest run of bits that all rows say something of, and that tells some apart: its lowest bit and length."""
    mask = ~seen & 0xFFFFFFFF
    for row in rows:
        mask &= row.mask
    best, at = (0, 0), 0
    while at < 32:
        length = 0
        while at + length < 32 and length < _MOST_BITS and mask >> at + length & 1:
            length += 1
        bits = (1 << length) - 1
        if length > best[1] and len({row.value >> at & bits for row in rows}) > 1:
            best = at, length
        at += max(1, length)
    return best
