"""The other end of `cuda_remote`: a process that owns a GPU's context and does what the frames on its input say."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from multiprocessing.shared_memory import SharedMemory
from typing import Any, BinaryIO

import numpy as np

from lanewise.compiler import frames
from lanewise.devices.cuda_engine import CudaFunction, LocalEngine
from lanewise.errors import DeviceLostError, LanewiseError


class Server:
    """Maps each request to the engine; kernels are named by number."""

    def __init__(self, index: int) -> None:
        self._engine = LocalEngine(index)
        self._functions: list[CudaFunction] = []
        self._mapped: list[SharedMemory] = []

    def handle(self, request: dict[str, Any], body: bytes) -> tuple[Any, bytes]:
        """Free what a request lists, then do what it says; gives the answer and its bytes."""
        for address, shared in request["freed"]:
            self._engine.free(address, shared)
        operations: dict[str, Callable[..., Any]] = {
            "describe": self._engine.describe,
            "alloc": self._engine.alloc,
            "copy": self._engine.copy,
            "fill": self._engine.fill,
            "idle": self._engine.idle,
            "copy_in": lambda address: self._engine.copy_in(address, np.frombuffer(body, np.uint8)),
            "poke": lambda address: self._engine.poke(address, np.frombuffer(body, np.uint8)),
            "map": self._map,
            "load": lambda *rest: self._load(body, *rest),
            "launch": lambda *rest: self._launch(body, *rest),
            "take_traps": self._take_traps,
            "frame_bytes": lambda number: self._engine.frame_bytes(self._functions[number]),
            "groups_at_once": lambda number, size: self._engine.groups_at_once(self._functions[number], size),
        }
        if request["do"] in ("copy_out", "peek"):
            address, nbytes = request["args"]
            host = np.empty(nbytes, np.uint8)
            getattr(self._engine, request["do"])(host, address)
            return None, host.tobytes()
        return operations[request["do"]](*request["args"]), b""

    def _map(self, name: str, nbytes: int) -> int:
        """Have the GPU see memory that the other process shares; it stays as long as this process."""
        shared = SharedMemory(name)
        self._mapped.append(shared)
        assert shared.buf is not None
        return self._engine.register(ctypes.addressof(ctypes.c_uint8.from_buffer(shared.buf)), nbytes)

    def _load(self, ptx: bytes, name: str, entry: str, offsets: list[int], layout: str, stack: int) -> int:
        self._functions.append(self._engine.load(ptx, name, entry, offsets, layout, stack))
        return len(self._functions) - 1

    def _launch(self, packed: bytes, number: int, groups: int, group_size: int, threads: int, stream: int) -> None:
        self._engine.launch(self._functions[number], groups, group_size, threads, [packed], stream)

    def _take_traps(self) -> list[tuple[int, int, int]]:
        return [(self._functions.index(found), count, first) for found, count, first in self._engine.take_traps()]


def serve(index: int, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the input ends or the GPU faults."""
    received = bytearray()
    server: Server | None = None
    while chunk := requests.read1(1 << 20):  # type: ignore[attr-defined]
        received += chunk
        while (frame := frames.unpack(received)) is not None:
            request, body = frame
            lost = False
            try:
                server = server or Server(index)
                answer, data = server.handle(request, body)
                reply = frames.pack({"answer": answer}, data)
            except LanewiseError as error:
                lost = isinstance(error, DeviceLostError)
                reply = frames.pack({"error": type(error).__name__, "message": str(error)})
            answers.write(reply)
            answers.flush()
            if lost:
                return


def main() -> None:
    """Serve the GPU whose number is the last argument."""
    serve(int(sys.argv[-1]), sys.stdin.buffer, sys.stdout.buffer)
