"""Viewers of a desktop in the browser: each has a list of tiles that it has not seen, and takes them as it can."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import zlib
from typing import Any

import numpy as np
from aiohttp import web

from lanewise.desktop import limits

HEADER = struct.Struct("<II")
"""A message: the number of the message, how many tiles there are; then their numbers, 16 bits each, and their pixels,
row by row, deflated."""

Array = np.ndarray[Any, Any]


class Screen:
    """The pixels that viewers are to see, tile by tile, as the last frames left them."""

    def __init__(self, tiles: int) -> None:
        self.pixels = np.zeros((tiles, limits.TILE, limits.TILE), np.uint32)
        self.viewers: set[Viewer] = set()
        self.drawn = False
        """Whether a frame was here: before that there is nothing to see."""

    def update(self, numbers: Array, pixels: Array) -> None:
        """Take over what a frame drew, and tell every viewer. Nobody is waited for."""
        self.pixels[numbers] = pixels
        self.drawn = True
        for viewer in self.viewers:
            viewer.unseen[numbers] = True
            viewer.ready.set()


class Viewer:
    """One browser. What it has not seen is gathered until it has taken the message before: so it may be slow."""

    def __init__(self, screen: Screen, socket: web.WebSocketResponse) -> None:
        self.screen = screen
        self.socket = socket
        self.unseen = np.full(len(screen.pixels), screen.drawn)
        self.ready = asyncio.Event()
        self.taken = asyncio.Event()
        self.sent = 0
        self.holds = False
        """Whether its button is down, by which something may be dragged."""

    async def send(self) -> None:
        """Send what is unseen, message by message, until the socket closes or the browser is gone."""
        with contextlib.suppress(ConnectionError):
            await self._send_unseen()

    async def _send_unseen(self) -> None:
        self.ready.set()
        while not self.socket.closed:
            await self.ready.wait()
            self.ready.clear()
            numbers = np.flatnonzero(self.unseen)
            if not numbers.size:
                continue
            self.unseen[numbers] = False
            pixels = self.screen.pixels[numbers]
            message = await asyncio.to_thread(encode, self.sent, numbers, pixels)
            self.sent += 1
            self.taken.clear()
            await self.socket.send_bytes(message)
            await self.taken.wait()


def encode(number: int, tiles: Array, pixels: Array) -> bytes:
    """A message with these tiles."""
    packed = zlib.compress(np.ascontiguousarray(pixels).tobytes(), 1)
    return HEADER.pack(number & 0xFFFFFFFF, len(tiles)) + tiles.astype("<u2").tobytes() + packed


def decode(message: bytes) -> tuple[int, Array, Array]:
    """The number, tiles and pixels of a message; what the page does in the browser."""
    number, count = HEADER.unpack_from(message)
    start = HEADER.size + 2 * count
    tiles = np.frombuffer(message[HEADER.size : start], "<u2")
    pixels = np.frombuffer(zlib.decompress(message[start:]), np.uint32)
    return number, tiles, pixels.reshape(count, limits.TILE, limits.TILE)
