"""Guests for many lanes: every element is a fresh instance, so one call has to choose the data and run."""

from __future__ import annotations

from collections.abc import Iterator

import lanewise as lw

SEEDED = "seeded_run"

_TYPES, _FUNCTIONS, _MEMORIES, _EXPORTS, _CODE = 1, 3, 5, 7, 10
_CODES = {"i32": 0x7F, "i64": 0x7E, "f64": 0x7C}


def with_seeded_run(data: bytes) -> bytes:
    """The module with one more export, seeded_run(rounds, seed), which calls `seed` and then `run`.

    Its memory is declared never to grow. That changes nothing for a guest that does not grow it, and lets a build that
    reads the size at run time have as many lanes as one in which it is a constant.
    """
    module = lw.load(data)
    indices = {one.name: one.index for one in module.model.exports if one.kind == "function"}
    (result,) = module.model.functions[indices["run"]].results
    body = bytes([0, 0x20, 1, 0x10, *_leb(indices["seed"]), 0x20, 0, 0x10, *_leb(indices["run"]), 0x0B])
    pages = _leb(module.memories[0].limits.minimum)
    kind, function = len(module.model.types), len(module.model.functions)
    made = data[:8]
    for number, content in _sections(data):
        if number == _TYPES:
            content = _longer(content, bytes([0x60, 2, _CODES["i32"], _CODES["i32"], 1, _CODES[result]]))
        elif number == _FUNCTIONS:
            content = _longer(content, _leb(kind))
        elif number == _MEMORIES:
            content = b"\x01\x01" + pages + pages
        elif number == _EXPORTS:
            name = SEEDED.encode()
            content = _longer(content, bytes([len(name), *name, 0, *_leb(function)]))
        elif number == _CODE:
            content = _longer(content, _leb(len(body)) + body)
        made += bytes([number]) + _leb(len(content)) + content
    return made


def _sections(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 8
    while at < len(data):
        number = data[at]
        size, at = _read_leb(data, at + 1)
        yield number, data[at : at + size]
        at += size


def _longer(vector: bytes, item: bytes) -> bytes:
    """A vector of the binary format with one more item."""
    count, first = _read_leb(vector, 0)
    return _leb(count + 1) + vector[first:] + item


def _leb(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def _read_leb(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at
