"""Many pieces of a device's memory at once: a kernel gathers or spreads them, so that one copy over the bus does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lanewise.arm64.transfer_kernels import gather, spread
from lanewise.devices import Device, DeviceArray
from lanewise.lang.functions import Kernel

_THREADS = 32
"""Threads that copy one piece."""
_GROUP = 128
_WORD = 8


def read_pieces(device: Device, spans: Sequence[tuple[int, int]]) -> list[bytes]:
    """What lies at some addresses, so many bytes each."""
    if not spans:
        return []
    counts = [count for _, count in spans]
    starts, size = _places(counts)
    block = device.empty(max(_WORD, size), np.uint8)
    _copy(device, gather, [address for address, _ in spans], starts, counts, block)
    content = block.get().tobytes()
    return [content[start : start + count] for start, count in zip(starts, counts, strict=True)]


def write_pieces(device: Device, writes: Sequence[tuple[int, bytes]]) -> None:
    """Set bytes at some addresses, which do not overlap."""
    if not writes:
        return
    counts = [len(data) for _, data in writes]
    starts, size = _places(counts)
    content = np.zeros(max(_WORD, size), np.uint8)
    for start, (_, data) in zip(starts, writes, strict=True):
        content[start : start + len(data)] = np.frombuffer(data, np.uint8)
    _copy(device, spread, [address for address, _ in writes], starts, counts, device.array(content))


def repeat_piece(device: Device, addresses: Sequence[int], data: bytes) -> None:
    """Set the same bytes at some addresses."""
    if addresses and data:
        block = device.array(np.frombuffer(data, np.uint8))
        _copy(device, spread, addresses, [0] * len(addresses), [len(data)] * len(addresses), block)


def _places(counts: Sequence[int]) -> tuple[list[int], int]:
    """Where pieces lie in a block, each at a whole word, and how large it is."""
    ends = np.cumsum([-(-count // _WORD) * _WORD for count in counts])
    return [0, *ends[:-1].tolist()], int(ends[-1])


def _copy(
    device: Device,
    kernel: Kernel,
    addresses: Sequence[int],
    starts: Sequence[int],
    counts: Sequence[int],
    block: DeviceArray,
) -> None:
    """Copy within the device, in order with launches and with what follows."""
    pieces: np.ndarray[Any, Any] = np.array([addresses, starts, counts], np.uint64).T.copy()
    device.launch(kernel, len(addresses) * _THREADS, _GROUP, [device.array(pieces), block])
