"""The ratios of a run as a picture: a bar for each row that has a peer, on a logarithmic scale, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from lanewise.bench.result import Result

_ROW, _LABEL, _BARS, _VALUE, _TOP = 22, 420, 460, 90, 64
"""Pixels: the height of a row, the widths of labels, bars and figures, and what is above the first row."""
_BETTER, _WORSE, _MISSED = "#2a9d8f", "#e9a23b", "#d1495b"
_LESS_IS_BETTER = ("s", "ms", "us", "ns", "GiB")
"""Units of rows that are left out: their ratios say the opposite."""
_STYLE = "font-family: system-ui, sans-serif; font-size: 13px"


def plot(results: Sequence[Result], title: str) -> str | None:
    """The picture, or none if no row has a bar. To the right is faster than the peer, a mark on a bar is the target."""
    rows = [row for row in results if row.ratio is not None and row.ratio > 0 and row.unit not in _LESS_IS_BETTER]
    if not rows:
        return None
    reach = max([2.0, *(max(row.ratio or 1, 1 / (row.ratio or 1)) for row in rows), *map(_target, rows)])
    height = _TOP + _ROW * len(rows) + 16
    width = _LABEL + _BARS + _VALUE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" style="{_STYLE}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="16" y="26" font-size="16" font-weight="bold">{escape(title)}</text>',
        *_axis(reach, height),
        *(part for number, row in enumerate(rows) for part in _bar(row, _TOP + _ROW * number, reach)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _place(ratio: float, reach: float) -> float:
    """Where a ratio is: 1 in the middle."""
    return _LABEL + _BARS / 2 * (1 + math.log(ratio) / math.log(reach))


def _axis(reach: float, height: int) -> list[str]:
    steps = [step for step in (0.01, 0.1, 0.5, 1, 2, 10, 100, 1000) if 1 / reach <= step <= reach]
    lines = []
    for step in steps:
        at, colour = _place(step, reach), "#555" if step == 1 else "#ddd"
        lines.append(f'<line x1="{at:.1f}" y1="{_TOP - 6}" x2="{at:.1f}" y2="{height - 12}" stroke="{colour}"/>')
        lines.append(f'<text x="{at:.1f}" y="{_TOP - 12}" text-anchor="middle" fill="#555">{step:g}x</text>')
    return lines


def _target(row: Result) -> float:
    """The ratio that a row is to reach; 1 if it has no such target."""
    bound = (row.target or "").removeprefix(">= ").removesuffix("x")
    return float(bound) if (row.target or "").startswith(">= ") else 1.0


def _bar(row: Result, top: int, reach: float) -> list[str]:
    assert row.ratio is not None
    one, end = _place(1, reach), _place(row.ratio, reach)
    colour = _MISSED if row.met is False else _BETTER if row.ratio >= 1 else _WORSE
    label, about = escape(f"{row.what}, {row.peer}"), escape(row.detail)
    left, wide = min(one, end), abs(end - one)
    parts = [
        f'<text x="{_LABEL - 10}" y="{top + 15}" text-anchor="end"><title>{about}</title>{label}</text>',
        f'<rect x="{left:.1f}" y="{top + 3}" width="{wide:.1f}" height="{_ROW - 6}" fill="{colour}"/>',
        f'<text x="{_LABEL + _BARS + 10}" y="{top + 15}">{row.ratio:.2f}x</text>',
    ]
    if _target(row) != 1:
        at = _place(_target(row), reach)
        parts.append(f'<path d="M{at:.1f} {top + 1}V{top + _ROW - 1}" stroke="black" stroke-width="2"/>')
    return parts
