"""WASI: waiting for clocks and files."""

from lanewise.kernel.descriptors import content_of, kind_of
from lanewise.kernel.guest_memory import (
    fail,
    load_u8,
    load_u16,
    load_u32,
    load_u64,
    outside,
    store_u64,
)
from lanewise.kernel.lane_io import COPY, FILE, STDERR, STDIN, STDOUT, LaneIo
from lanewise.kernel.requests import (
    LONGEST_PAUSE,
    begin_request,
    data_of,
    end_request,
    owner,
    rest,
    run_of,
    send_request,
    stopping,
    usleep,
)
from lanewise.kernel.wasi_numbers import (
    CLOCK_MONOTONIC,
    DIRECTORY,
    EBADF,
    EINVAL,
    ENOMEM,
    EVENT_CLOCK,
    EVENT_FD_READ,
    EVENT_FD_WRITE,
    FAIL_STOP,
    POLL_HANGUP,
    POLL_READY,
    REQUEST_POLL,
    STDIN_HANDLE,
    SUCCESS,
)
from lanewise.kernel.wasi_process import clock_now
from lanewise.kernel.wasi_streams import FILESTAT_SIZE_WORD, tell
from lanewise.lang.functions import device
from lanewise.lang.intrinsics import ON_GPU
from lanewise.lang.types import Ptr, u32, u64
from lanewise.lang.vocabulary import time_ns
from lanewise.settings import LANE_FILES

SUBSCRIPTION_BYTES, EVENT_BYTES = 48, 32
ABSOLUTE = 1
FOREVER = u64(0xFFFFFFFFFFFFFFFF)
NOT_READY, READY, HANGUP = 0, 1, 3

NAP_NS = 5_000_000


@device
def subscription_error(io: Ptr[LaneIo], at: u32) -> u32:
    """Whether a subscription makes sense."""
    tag = load_u8(io, at + 8)
    if tag == EVENT_CLOCK:
        bad = load_u32(io, at + 16) > CLOCK_MONOTONIC or load_u16(io, at + 40) > ABSOLUTE
        return u32(EINVAL) if bad else u32(SUCCESS)
    if tag > EVENT_FD_WRITE:
        return u32(EINVAL)
    fd = load_u32(io, at + 16)
    kind = kind_of(io, fd)
    if kind == STDIN:
        return u32(SUCCESS) if tag == EVENT_FD_READ else u32(EBADF)
    if kind == STDOUT or kind == STDERR:
        return u32(SUCCESS) if tag == EVENT_FD_WRITE else u32(EBADF)
    if kind == COPY or (kind == FILE and owner(io).descriptors[fd].filetype != DIRECTORY):
        return u32(SUCCESS)
    return u32(EBADF)


@device
def time_left(io: Ptr[LaneIo], at: u32, began: u64) -> u64:
    """Nanoseconds until the clock of a subscription is due."""
    timeout = load_u64(io, at + 24)
    now = clock_now(io, load_u32(io, at + 16))
    if load_u16(io, at + 40) == ABSOLUTE:
        return timeout - now if timeout > now else u64(0)
    passed = time_ns() - began
    return timeout - passed if timeout > passed else u64(0)


@device
def asks_host(io: Ptr[LaneIo], at: u32) -> bool:
    """Whether only the host knows if what is subscribed to is ready."""
    if load_u8(io, at + 8) == EVENT_CLOCK:
        return False
    kind = kind_of(io, load_u32(io, at + 16))
    return kind == FILE or (kind == STDIN and run_of(io).stdin == 0)


@device
def readiness(io: Ptr[LaneIo], at: u32, began: u64) -> u32:
    """What is known here of a subscription."""
    if load_u8(io, at + 8) == EVENT_CLOCK:
        return u32(READY) if time_left(io, at, began) == 0 else u32(NOT_READY)
    if asks_host(io, at):
        return u32(NOT_READY)
    fd = load_u32(io, at + 16)
    if kind_of(io, fd) == COPY and load_u8(io, at + 8) == EVENT_FD_READ:
        at_end = owner(io).descriptors[fd].position >= Ptr[u64](content_of(io, fd))[FILESTAT_SIZE_WORD]
        return u32(HANGUP) if at_end else u32(READY)
    return u32(READY)


@device
def write_event(io: Ptr[LaneIo], at: u32, subscription: u32, ready: u32):
    """Say that something is ready."""
    tag = load_u8(io, subscription + 8)
    store_u64(io, at, load_u64(io, subscription))
    store_u64(io, at + 8, u64(tag) << 16)
    store_u64(io, at + 16, u64(0) if tag == EVENT_CLOCK else u64(1))
    store_u64(io, at + 24, u64(1) if ready == HANGUP else u64(0))


@device(inline=False)
def nap(io: Ptr[LaneIo], nanoseconds: u64):
    """Wait for a while, but not so long that a wish to end would wait."""
    some = min(nanoseconds, u64(NAP_NS))
    began = time_ns()
    if not ON_GPU and io.fiber == 0:
        usleep(u32((some + 999) // 1000))
    pause = u32(1)
    while time_ns() - began < some and not stopping(io):
        rest(io, pause)
        pause = min(pause * 2, u32(LONGEST_PAUSE))
    if stopping(io):
        fail(io, FAIL_STOP)


@device
def handle_of(io: Ptr[LaneIo], fd: u32) -> u32:
    """What the host knows a descriptor by, which another thread may have put there this moment."""
    return owner(io).descriptors[min(fd, u32(LANE_FILES - 1))].handle


@device(inline=False)
def poll_host(io: Ptr[LaneIo], subscriptions: u32, events: u32, count: u32, longest: u64) -> u32:
    """Ask the host which of its files are ready, waiting for one at most so long; gives how many are,
    or an error number in the upper half."""
    request = begin_request(io, u32(REQUEST_POLL))
    request.arguments[0] = longest
    pairs = Ptr[u32](data_of(request))
    asked = u32(0)
    most = u32(run_of(io).capacity // 8)
    for number in range(count):
        at = subscriptions + number * SUBSCRIPTION_BYTES
        if asks_host(io, at) and asked < most:
            fd = load_u32(io, at + 16)
            pairs[asked * 2] = STDIN_HANDLE if kind_of(io, fd) == STDIN else handle_of(io, fd)
            pairs[asked * 2 + 1] = load_u8(io, at + 8)
            asked += 1
    request.sent = asked * 8
    request.room = asked * 4
    error = send_request(io, request)
    found = u32(0)
    if error == 0 and io.failure == 0:
        answers = Ptr[u32](data_of(request))
        asked = 0
        for number in range(count):
            at = subscriptions + number * SUBSCRIPTION_BYTES
            if asks_host(io, at) and asked < most:
                if answers[asked] & POLL_READY != 0:
                    ready = u32(HANGUP) if answers[asked] & POLL_HANGUP != 0 else u32(READY)
                    write_event(io, events + found * EVENT_BYTES, at, ready)
                    found += 1
                asked += 1
    end_request(io)
    return found | (error << 16)


@device(inline=False)
def wasi_poll_oneoff(io: Ptr[LaneIo], subscriptions: u32, events: u32, count: u32, result: u32) -> u32:
    if count == 0:
        return u32(EINVAL)
    if u64(count) * SUBSCRIPTION_BYTES > io.memory_bytes:
        return u32(ENOMEM)
    if outside(io, subscriptions, u64(count) * SUBSCRIPTION_BYTES, u32(8)):
        return u32(0)
    if outside(io, events, u64(count) * EVENT_BYTES, u32(8)):
        return u32(0)
    began = time_ns()
    hosts = u32(0)
    for number in range(count):
        error = subscription_error(io, subscriptions + number * SUBSCRIPTION_BYTES)
        if error != 0:
            return error
        if asks_host(io, subscriptions + number * SUBSCRIPTION_BYTES):
            hosts += 1
    while io.failure == 0:
        found = u32(0)
        longest = FOREVER
        for number in range(count):
            at = subscriptions + number * SUBSCRIPTION_BYTES
            ready = readiness(io, at, began)
            if ready != NOT_READY:
                write_event(io, events + found * EVENT_BYTES, at, ready)
                found += 1
            elif load_u8(io, at + 8) == EVENT_CLOCK:
                longest = min(longest, time_left(io, at, began))
        if hosts != 0:
            # Also where something is ready here: whoever asks with no time at all asks for the files.
            more = poll_host(io, subscriptions, events + found * EVENT_BYTES, count, u64(0) if found != 0 else longest)
            if more >> 16 != 0:
                return more >> 16
            found += more
        if found != 0:
            return tell(io, result, u64(found))
        if hosts == 0:
            nap(io, longest)
    return u32(SUCCESS)
