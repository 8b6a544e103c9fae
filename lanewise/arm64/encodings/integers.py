"""Numbers of floating point as integers and back, of which some bits may be behind the point."""

from __future__ import annotations

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings import numbers as n
from lanewise.arm64.exact import codes
from lanewise.arm64.machine import Machine
from lanewise.arm64.values import Value, known


def _scaled(m: Machine, element: int, x: Value, exponent: Value) -> Value:
    """Numbers times a power of two, which need not be known."""
    raw = m.add(m.resize(exponent, element, sign=True), n.power(element, 0) >> n.FRACTION[element])
    by = e.spread(m, x.bits, element, m.left(raw, n.FRACTION[element]))
    return n.operation(m, "fmul", element, x, by)


def _request(m: Machine, what: int, places: Value | None) -> Value:
    """What is asked of the exact function, for so many bits behind the point."""
    return known(32, what) if places is None else m.either(m.left(m.resize(places, 32), codes.PLACES), what)


def to_integer(
    m: Machine, element: int, x: Value, to: int, rounding: str, sign: bool, places: Value | None = None
) -> Value:
    """Numbers as integers, the nearest that there are; 0 for none.

    Where rounding may make a number larger, the plain way keeps a bit of distance from what is too large.
    """
    count, (name, how) = x.bits // element, n.ROUNDINGS[rounding]
    scaled = x if places is None else _scaled(m, element, x, places)
    type_ = f"i{to}" if count == 1 else f"<{count} x i{to}>"
    whole = n.floats(m, n.function(m, name, element, scaled), element)
    made = m.pointer(f"{'fptosi' if sign else 'fptoui'} {whole} to {type_}")
    plain = Value(to, made) if count == 1 else m.assign(count * to, f"bitcast {type_} {made} to i{count * to}")
    limit = n.power(element, to - int(sign) - int(rounding != "z"))
    given = n.sizes(m, scaled, element) if sign else scaled
    unusual = n.bits_compared(m, "uge", element, given, limit)
    what = codes.request(codes.TO_SIGNED if sign else codes.TO_UNSIGNED, element, to, count, how)
    asked = _request(m, what, places)
    return n.either_way(m, unusual, True, [plain], lambda: [n.exactly(m, asked, count * to, x)])[0]


def from_integer(m: Machine, element: int, x: Value, to: int, sign: bool, places: Value | None = None) -> Value:
    """Integers as numbers, rounded once, as powers of two change no fraction."""
    count = x.bits // element
    whole = f"{e.kind(x.bits, element)} {e.split(m, x, element)}"
    plain = n.bits_of(m, count * to, to, f"{'si' if sign else 'ui'}tofp {whole} to {n.kind(count * to, to)}")
    if places is not None:
        plain = _scaled(m, to, plain, m.sub(known(places.bits, 0), places))
    if n.FRACTION[to] > element:
        return plain
    asked = _request(m, codes.request(codes.FROM_SIGNED if sign else codes.FROM_UNSIGNED, element, to, count), places)
    return n.either_way(m, known(1, 0), True, [plain], lambda: [n.exactly(m, asked, count * to, x)])[0]
