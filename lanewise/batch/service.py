"""The host's side of requests: files, standard input, and output that goes through at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from lanewise.batch.console import Outputs
from lanewise.batch.streams import STEP, StoppedError, is_terminal, read_through, write_through
from lanewise.host.files import Filesystem, LaneFiles
from lanewise.host.reply import Reply
from lanewise.kernel.wasi_numbers import (
    CHARACTER_DEVICE,
    EAGAIN,
    EBADF,
    EIO,
    EPIPE,
    REQUEST_CONSOLE,
    REQUEST_LANE_OVER,
    REQUEST_NONE,
    REQUEST_POLL,
    REQUEST_STDIN,
    SUCCESS,
    UNKNOWN,
)

_PATIENCE = 0.005
_DONE = Reply(SUCCESS)


class HostService:
    """Serves the lanes of one wave; different lanes from different threads."""

    def __init__(self, files: Filesystem, outputs: Outputs, streaming: bool) -> None:
        self.outputs = outputs
        self.stopping = False
        self.failure: BaseException | None = None
        """What went wrong in the host itself."""
        self.told = 0
        """Lanes whose outcomes have been taken."""
        self.is_next: Callable[[int], bool] | None = None
        """Says whether a lane is the first of those that run, and all that ended have been told of: nothing comes
        before it ends. None where no lane may wait, for it would keep others from running."""
        self.names = files.names
        self.roots = files.roots
        self.stream_types = [_kind_of(stream) if streaming else UNKNOWN for stream in range(3)]
        self._files = files
        self._streaming = streaming
        self._lanes: dict[int, LaneFiles] = {}
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Answer no more requests: the run is to end."""
        self.stopping = True
        if self._files.native:
            self._files.native.stop()

    def may_block(self, lane: int, op: int, arguments: Sequence[int]) -> bool:
        """Whether an answer may take long, so that others should not wait for it."""
        if op in (REQUEST_STDIN, REQUEST_POLL):
            return True
        files = self._of(lane)
        return files.lock.locked() or files.may_block(op, arguments)

    def serve(self, lane: int, op: int, arguments: Sequence[int], data: bytes, room: int) -> Reply:
        """Answer a request; raises StoppedError if the run is to end."""
        if self.stopping and op != REQUEST_LANE_OVER:
            raise StoppedError
        if op == REQUEST_NONE:
            return _DONE
        if op == REQUEST_CONSOLE:
            return self._write(lane, arguments[0], data)
        if op == REQUEST_STDIN:
            return self._read(room)
        if op == REQUEST_LANE_OVER:
            self._forget(lane)
            return _DONE
        if op == REQUEST_POLL:
            return self._poll(lane, arguments, data, room)
        files = self._of(lane)
        with files.lock:  # the threads of a lane share its files
            reply = files.request(op, arguments, data, room)
        if self.stopping:  # what waited for the outside has been interrupted, which is not the lane's to know
            raise StoppedError
        return reply

    def _of(self, lane: int) -> LaneFiles:
        found = self._lanes.get(lane)
        if found is None:
            with self._lock:
                found = self._lanes.setdefault(lane, LaneFiles(self._files, lane))
        return found

    def _forget(self, lane: int) -> None:
        with self._lock:
            found = self._lanes.pop(lane, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """Close whatever lanes left open."""
        for lane in list(self._lanes):
            self._forget(lane)

    def _write(self, lane: int, stream: int, data: bytes) -> Reply:
        if not self._streaming:
            self._wait_for_room(lane)
            self.outputs.add(lane, stream, data)
            return Reply(SUCCESS, (len(data),))
        try:
            return Reply(SUCCESS, (write_through(stream, data, lambda: self.stopping),))
        except BrokenPipeError:
            return Reply(EPIPE)
        except OSError:
            return Reply(EIO)

    def _wait_for_room(self, lane: int) -> None:
        """Hold a lane back while much is yet to be dealt with; the first of those that run goes on where all wait."""
        backlog = self.outputs.backlog
        while self.is_next is not None and backlog.full and not (backlog.idle and self.is_next(lane)):
            if self.stopping:
                raise StoppedError
            time.sleep(_PATIENCE)

    def _read(self, room: int) -> Reply:
        """Standard input of the host."""
        try:
            return Reply(SUCCESS, (), read_through(room, lambda: self.stopping))
        except BlockingIOError:
            return Reply(EAGAIN)
        except OSError:
            return Reply(EBADF)

    def _poll(self, lane: int, arguments: Sequence[int], data: bytes, room: int) -> Reply:
        """Wait in steps for the same reason; a lane whose time is over gets an answer without anything ready."""
        left = arguments[0]
        while True:
            step = min(left, int(STEP * 1e9))
            reply = self._of(lane).request(REQUEST_POLL, [step, *arguments[1:]], data, room)
            left -= step
            if self.stopping:
                raise StoppedError
            if reply.errno or any(reply.data) or left <= 0:
                return reply


def _kind_of(stream: int) -> int:
    """What kind of file a standard stream of the host is to guests, who only want to know if somebody watches."""
    return CHARACTER_DEVICE if is_terminal(stream) else UNKNOWN
