"""A GPU driven by a process of its own: what a program uses after a fault has broken CUDA for its own process.

NVIDIA's driver answers every call with the first fault until the process ends, so the next device object can only work
in another one. It is slower at copies, and arrays of other libraries in this process cannot be used with it.
"""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from lanewise import errors
from lanewise.compiler import frames
from lanewise.devices.cuda_engine import MappedMemory

_BOOT = "import sys; sys.path[:] = sys.argv[1:-1]; from lanewise.devices.cuda_server import main; main()"
_READ_BYTES = 1 << 20


class RemoteEngine:
    """Sends every operation to the server process and waits for its answer."""

    stream_handle: int | None = None
    stop_word = 0

    def __init__(self, index: int) -> None:
        path = [entry for entry in sys.path if entry]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOT, *path, str(index)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C goes to the program, which ends the server
        )
        self.alive = True
        self._layouts: dict[int, struct.Struct] = {}
        self._received = bytearray()
        self._freed: deque[tuple[int, bool]] = deque()
        self._lock = threading.Lock()

    def _call(self, do: str, *args: Any, body: bytes = b"") -> tuple[Any, bytes]:
        with self._lock:
            freed = [self._freed.popleft() for _ in range(len(self._freed))]
            try:
                return self._exchange(frames.pack({"do": do, "args": args, "freed": freed}, body))
            except BaseException as error:
                if not isinstance(error, errors.LanewiseError) or isinstance(error, errors.DeviceLostError):
                    self._process.kill()  # half an answer may be on its way: nothing after it can be trusted
                    self._process.wait()
                    self.alive = False
                raise

    def _exchange(self, request: bytes) -> tuple[Any, bytes]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(request)
            process.stdin.flush()
            while (frame := frames.unpack(self._received)) is None:
                chunk = process.stdout.read1(_READ_BYTES)  # type: ignore[attr-defined]
                if not chunk:
                    raise errors.DeviceLostError(
                        "the process that drove the GPU ended; lanewise.device() starts another"
                    )
                self._received += chunk
        except BrokenPipeError:
            raise errors.DeviceLostError(
                "the process that drove the GPU ended; lanewise.device() starts another"
            ) from None
        header, data = frame
        if "error" in header:
            raise getattr(errors, header["error"])(header["message"])
        return header["answer"], data

    def describe(self) -> dict[str, Any]:
        found: dict[str, Any] = self._call("describe")[0]
        return found

    def alloc(self, nbytes: int, what: str) -> int:
        return int(self._call("alloc", nbytes, what)[0])

    def free(self, address: int, shared: bool) -> None:
        # It goes with the next request: a finalizer may run on a thread that is in the middle of one.
        self._freed.append((address, shared))

    def copy_in(self, address: int, source: np.ndarray[Any, Any]) -> None:
        self._call("copy_in", address, body=source.tobytes())

    def copy_out(self, target: np.ndarray[Any, Any], address: int) -> None:
        data = self._call("copy_out", address, target.nbytes)[1]
        target[...] = np.frombuffer(data, target.dtype).reshape(target.shape)

    def peek(self, target: np.ndarray[Any, Any], address: int) -> None:
        data = self._call("peek", address, target.nbytes)[1]
        target[...] = np.frombuffer(data, target.dtype).reshape(target.shape)

    def poke(self, address: int, source: np.ndarray[Any, Any]) -> None:
        self._call("poke", address, body=source.tobytes())

    def alloc_mapped(self, nbytes: int) -> MappedMemory:
        # Both processes map one piece of shared memory; the server has the device see it.
        shared = SharedMemory(create=True, size=nbytes)
        try:
            address = int(self._call("map", shared.name, nbytes)[0])
        finally:
            shared.unlink()
        assert shared.buf is not None
        host = ctypes.addressof(ctypes.c_uint8.from_buffer(shared.buf))
        return MappedMemory(host, nbytes, address, shared, lambda: None)  # it goes with the server

    def copy(self, target: int, source: int, nbytes: int) -> None:
        self._call("copy", target, source, nbytes)

    def fill(self, address: int, byte: int, nbytes: int) -> None:
        self._call("fill", address, byte, nbytes)

    def load(self, ptx: bytes, name: str, entry: str, offsets: Sequence[int], layout: str, stack: int) -> int:
        packed = struct.Struct(layout)
        handle = int(self._call("load", name, entry, list(offsets), f"={packed.size}s", stack, body=ptx)[0])
        self._layouts[handle] = packed
        return handle

    def frame_bytes(self, handle: int) -> int:
        return int(self._call("frame_bytes", handle)[0])

    def assemble_ahead(self, programs: Sequence[bytes], name: str) -> None:
        """Each is assembled when it is loaded."""

    def groups_at_once(self, handle: int, group_size: int) -> int:
        return int(self._call("groups_at_once", handle, group_size)[0])

    def launch(
        self, handle: int, groups: int, group_size: int, threads: int, values: Sequence[Any], stream: int = 0
    ) -> None:
        self._call("launch", handle, groups, group_size, threads, stream, body=self._layouts[handle].pack(*values))

    def ask_to_stop(self, stop: bool, word: int) -> None:
        """The server's kernels cannot be asked: ending its process is what stops them."""
        if stop:
            self._process.kill()

    def idle(self, stream: int = 0) -> bool:
        return bool(self._call("idle", stream)[0])

    def take_traps(self) -> list[tuple[Any, int, int]]:
        return [tuple(found) for found in self._call("take_traps")[0]]

    def owner_of(self, address: int) -> int:
        raise errors.ArgumentError(_NO_FOREIGN)

    def wait_for(self, stream: int) -> None:
        raise errors.ArgumentError(_NO_FOREIGN)


_NO_FOREIGN = "after a fault, arrays of other libraries in this process are lost; start the program again to use them"
