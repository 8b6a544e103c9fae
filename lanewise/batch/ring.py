"""Requests from a GPU: a ring in memory that both sides see, served by the host while lanes run."""

from __future__ import annotations

import ctypes
import functools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from lanewise.batch.requests import Asked, read_request, write_reply
from lanewise.batch.service import HostService
from lanewise.batch.streams import StoppedError
from lanewise.compiler import load_object
from lanewise.devices.cuda import CudaDevice
from lanewise.kernel.code import HOST_RING, host_ring_code
from lanewise.kernel.lane_io import Request, Ring

SLOTS = 4096
DATA_BYTES = 8192
"""Data that a request can take: two paths of the longest kind."""
_STEP = Request.size + DATA_BYTES
_SPINS = 200
_IDLE_SECONDS = 50e-6
_THREADS = 32
"""Answers that may wait for the outside at the same time."""


class HostRing:
    """The ring of a run. Its slots are claimed in device memory; requests lie in memory of the host."""

    def __init__(self, device: CudaDevice) -> None:
        self._mapped = device.alloc_mapped(SLOTS * _STEP)
        self._turns = device.array(np.arange(SLOTS, dtype=np.uint64))
        self._ring = device.zeros(1, Ring.dtype)
        self._device = device
        self._ticket = 0
        self._library = _native()
        self._waiting: ThreadPoolExecutor | None = None
        self._nowhere = device.zeros(_STEP, np.uint8)
        self._stop = device.zeros(1, np.uint64)  # lanes look at it often, so it is in their own memory
        self.stop_address = self._stop.address
        record = np.zeros(1, Ring.dtype)
        record["slots"], record["step"] = SLOTS, _STEP
        record["requests"], record["turns"] = self._mapped.address, self._turns.address
        record["nowhere"] = self._nowhere.address
        device.write(self._ring.address, record.tobytes())
        self._services: dict[int, HostService] = {}
        self._failure: BaseException | None = None
        self._over = threading.Event()
        self._started = False
        self._server = threading.Thread(target=self._serve, name="lanewise-ring", daemon=True)

    @property
    def address(self) -> int:
        """Where lanes find it."""
        return self._ring.address

    def ask_to_stop(self) -> None:
        """Set the word that lanes look at."""
        self._device.poke(self.stop_address, np.ones(1, np.uint64).tobytes())

    def serve_for(self, wave: int, service: HostService) -> None:
        """Answer the requests of a wave, on a thread of its own: whoever waits for lanes may do other things, too."""
        self._services[wave] = service
        if self._failure is not None:
            raise self._failure
        if not self._started:
            self._started = True
            self._server.start()

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                if not self._answer_all():
                    time.sleep(_IDLE_SECONDS)
            except BaseException as error:  # whoever waits for a wave is told
                self._failure = error
                for service in tuple(self._services.values()):
                    service.failure = service.failure or error
                return

    def _answer_all(self) -> int:
        """Answer what has been asked by now; gives how many requests it was."""
        ready = self._library.ready(self._mapped.host, _STEP, SLOTS - 1, self._ticket, _SPINS)
        for _ in range(ready):
            ticket, self._ticket = self._ticket, self._ticket + 1
            at = self._mapped.host + (ticket & (SLOTS - 1)) * _STEP
            asked = read_request(at)
            service = self._services[asked.wave]
            answer = functools.partial(self._answer, service, at, ticket, asked)
            if service.may_block(asked.lane, asked.op, asked.arguments):
                self._waiting = self._waiting or ThreadPoolExecutor(_THREADS, thread_name_prefix="lanewise-request")
                self._waiting.submit(answer)
            else:
                answer()
        return int(ready)

    def _answer(self, service: HostService, at: int, ticket: int, asked: Asked) -> None:
        try:
            reply = service.serve(*asked[1:-1], min(asked.room, DATA_BYTES))
        except StoppedError:
            return  # nobody waits for an answer any more
        except BaseException as error:
            service.failure = service.failure or error
            return
        write_reply(at, reply)
        self._library.answer(at, ticket)

    def close(self) -> None:
        """The run is over: no kernel uses the ring any more."""
        self._over.set()
        # The last reference may go on any thread, also on the server's own.
        if self._server.is_alive() and threading.current_thread() is not self._server:
            self._server.join()
        if self._waiting is not None:
            self._waiting.shutdown(wait=True)  # late answers must not find the memory gone
        if not self._device.lost:
            self._mapped.close()


class _Native:
    """The native functions of the host's end."""

    def __init__(self) -> None:
        self._library: Any = load_object(host_ring_code(), HOST_RING, {})
        word, count = ctypes.c_uint64, ctypes.c_uint32
        self.ready = ctypes.CFUNCTYPE(count, word, word, word, word, count)(self._library.address("lw_ring_ready"))
        self.answer = ctypes.CFUNCTYPE(None, word, word)(self._library.address("lw_ring_answer"))


@functools.cache
def _native() -> _Native:
    return _Native()
