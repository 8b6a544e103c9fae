"""The documents of the benchmark `run`: JSON of 4 KB and more, and what the guest `json` says of each."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BYTES = 4096
_WORDS = ("alpha", "béta", 'gamma "quoted"', "delta\n", "\u20ac 5", "\U0001f600", "back\\slash", "tab\there", "")


def write_documents(folder: Path, count: int) -> dict[str, str]:
    """Write so many files, and give what the guest must say of each, by its name."""
    wanted = {}
    for number in range(count):
        name = f"{number:05}.json"
        text = document(number)
        (folder / name).write_bytes(text)
        wanted[name] = summary(json.loads(text))
    return wanted


def document(seed: int) -> bytes:
    """A document of at least 4,096 bytes, and not many more: records as an interface on the web would send them."""
    rng = random.Random(seed)
    ascii_only = rng.random() < 0.5
    head = f'{{"seed": {seed}, "records": ['
    parts, size = [], len(head) + 2
    while size < BYTES:
        parts.append(json.dumps(_record(rng), ensure_ascii=ascii_only))
        size += len(parts[-1].encode()) + 2
    return (head + ", ".join(parts) + "]}").encode()


def _record(rng: random.Random) -> dict[str, Any]:
    return {
        "id": rng.randrange(10**9),
        "name": rng.choice(_WORDS),
        "price": round(rng.uniform(-1000, 1000), 3),
        "ratio": rng.random() * 10.0 ** rng.randrange(-9, 9),
        "tags": rng.sample(_WORDS, rng.randrange(5)),
        "open": rng.choice([True, False, None]),
        "place": {"x": rng.randrange(-90, 90), "y": rng.randrange(180), "path": [[], {}, [rng.randrange(9)]]},
    }


def summary(value: Any) -> str:
    """What the guest says of a document, from what Python's own parser has found in it."""
    found = list(_values(value, 1))
    values = [one for one, _ in found]
    objects = [one for one in values if isinstance(one, dict)]
    strings = [one for one in values if isinstance(one, str)]
    numbers = [float(one) for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    total = 0.0
    for number in numbers:  # one by one, as the guest does: the sum of floats depends on it
        total += number
    thousandths = math.copysign(math.floor(abs(total * 1000) + 0.5), total)  # a half goes away from zero in Rust
    return (
        f"{len(objects)} objects with {sum(map(len, objects))} members, "
        f"{sum(isinstance(one, list) for one in values)} arrays, "
        f"{len(strings)} strings of {sum(map(len, strings))} characters, "
        f"{len(numbers)} numbers with the sum {int(thousandths)} / 1000, "
        f"{sum(one is True for one in values)} true, {sum(one is False for one in values)} false, "
        f"{sum(one is None for one in values)} null, {max(depth for _, depth in found)} deep"
    )


def _values(value: Any, depth: int) -> Iterator[tuple[Any, int]]:
    """All values of a document in the order of its text, with how deep each lies."""
    yield value, depth
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _values(inner, depth + 1)
