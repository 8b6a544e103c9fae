"""What a benchmark found: one figure, a peer's figure for the same work, and whether the target is met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lanewise.errors import LanewiseError


class WrongResultError(LanewiseError):
    """A benchmark computed something else than NumPy did: its speed means nothing."""


@dataclass(frozen=True)
class Result:
    """One row of the table. `ratio` is always value / peer_value; `met` is None where there is nothing to judge."""

    name: str
    device: str
    what: str
    value: float
    unit: str
    peer: str | None
    peer_value: float | None
    ratio: float | None
    target: str | None
    met: bool | None
    detail: str
    facts: dict[str, float | str] = field(default_factory=dict)
    """What else was measured of the same work, by what it is, with its unit."""


def figure(
    name: str,
    device: str,
    what: str,
    value: float,
    unit: str,
    *,
    peer: str | None = None,
    peer_value: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    above: float | None = None,
    detail: str = "",
    facts: Mapping[str, float | str] | None = None,
) -> Result:
    """A row with its ratio and verdict: `at_least` and `at_most` bound the ratio, `below` and `above` bound the value.

    A peer without a figure is one that is not installed here: the row then has neither ratio nor verdict.
    """
    ratio = value / peer_value if peer_value else None
    target, met = None, None
    if below is not None:
        target, met = f"< {below:g} {unit}", value < below
    elif above is not None:
        target, met = f">= {above:g} {unit}", value >= above
    elif at_least is not None:
        target, met = f">= {at_least:g}x", None if ratio is None else ratio >= at_least
    elif at_most is not None:
        target, met = f"<= {at_most:g}x", None if ratio is None else ratio <= at_most
    return Result(name, device, what, value, unit, peer, peer_value, ratio, target, met, detail, dict(facts or {}))
