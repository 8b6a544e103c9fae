"""WASI: arguments, environment, clocks, random numbers, and the end of a program. All of it stays on the device."""

from lanewise.kernel.descriptors import kind_of
from lanewise.kernel.guest_memory import copy_to_guest, fail, outside, store_u32, store_u64
from lanewise.kernel.lane_io import CLOSED, LaneIo, Span
from lanewise.kernel.random import random_bytes
from lanewise.kernel.requests import owner, rest, run_of
from lanewise.kernel.wasi_numbers import (
    CLOCK_MONOTONIC,
    CLOCK_REALTIME,
    CLOCK_THREAD,
    EBADF,
    ENOTSOCK,
    ENOTSUP,
    FAIL_ARGUMENT,
    FAIL_EXIT,
    SUCCESS,
)
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, i64, u8, u32, u64
from lanewise.lang.vocabulary import time_ns

# --- arguments and environment ----------------------------------------------------------------------------------------


@device
def arguments_of(io: Ptr[LaneIo]) -> Ptr[Span]:
    """The arguments of a lane."""
    run = run_of(io)
    return Ptr[Span](run.arguments + u64(io.index) * run.argument_step)


@device
def tell_sizes(io: Ptr[LaneIo], strings: Ptr[Span], count: u32, nbytes: u32) -> u32:
    """How many strings there are and how long they are in all."""
    if outside(io, count, u64(4), u32(4)) or outside(io, nbytes, u64(4), u32(4)):
        return u32(0)
    store_u32(io, count, strings.count)
    store_u32(io, nbytes, strings.nbytes)
    return u32(SUCCESS)


@device(inline=False)
def give_strings(io: Ptr[LaneIo], strings: Ptr[Span], pointers: u32, buffer: u32) -> u32:
    """Copy strings, each with the zero that ends it, and point at them."""
    if outside(io, pointers, u64(strings.count) * 4, u32(4)) or outside(io, buffer, u64(strings.nbytes), u32(1)):
        return u32(0)
    copy_to_guest(io, buffer, strings.address, u64(strings.nbytes))
    text = Ptr[u8](strings.address)
    at = u32(0)
    for number in range(strings.count):
        store_u32(io, pointers + number * 4, buffer + at)
        while text[at] != 0:
            at += 1
        at += 1
    return u32(SUCCESS)


@device
def wasi_args_sizes_get(io: Ptr[LaneIo], count: u32, nbytes: u32) -> u32:
    return tell_sizes(io, arguments_of(io), count, nbytes)


@device
def wasi_args_get(io: Ptr[LaneIo], pointers: u32, buffer: u32) -> u32:
    return give_strings(io, arguments_of(io), pointers, buffer)


@device
def wasi_environ_sizes_get(io: Ptr[LaneIo], count: u32, nbytes: u32) -> u32:
    return tell_sizes(io, Ptr[Span](run_of(io).environment), count, nbytes)


@device
def wasi_environ_get(io: Ptr[LaneIo], pointers: u32, buffer: u32) -> u32:
    return give_strings(io, Ptr[Span](run_of(io).environment), pointers, buffer)


# --- clocks -----------------------------------------------------------------------------------------------------------


@device
def clock_now(io: Ptr[LaneIo], clock: u32) -> u64:
    """The time on one of the two clocks that there are."""
    if clock == CLOCK_REALTIME:
        return u64(i64(time_ns()) + run_of(io).realtime_offset)
    return time_ns() - run_of(io).started


@device
def clock_error(io: Ptr[LaneIo], clock: u32) -> u32:
    """Whether there is such a clock."""
    if clock > CLOCK_THREAD:
        return fail(io, FAIL_ARGUMENT)
    if clock > CLOCK_MONOTONIC:
        return u32(EBADF)
    return u32(SUCCESS)


@device
def wasi_clock_res_get(io: Ptr[LaneIo], clock: u32, result: u32) -> u32:
    error = clock_error(io, clock)
    if error == 0 and io.failure == 0 and not outside(io, result, u64(8), u32(8)):
        store_u64(io, result, u64(1))
    return error


@device
def wasi_clock_time_get(io: Ptr[LaneIo], clock: u32, precision: u64, result: u32) -> u32:
    error = clock_error(io, clock)
    if error == 0 and io.failure == 0 and not outside(io, result, u64(8), u32(8)):
        store_u64(io, result, clock_now(io, clock))
    return error


# --- the rest ---------------------------------------------------------------------------------------------------------


@device
def wasi_random_get(io: Ptr[LaneIo], buffer: u32, count: u32) -> u32:
    if not outside(io, buffer, u64(count), u32(1)):
        random_bytes(io, buffer, count)
    return u32(SUCCESS)


@device
def wasi_proc_exit(io: Ptr[LaneIo], code: u32):
    owner(io).exit_code = code
    fail(io, FAIL_EXIT)


@device
def wasi_proc_raise(io: Ptr[LaneIo], signal: u32) -> u32:
    if signal > 30:
        return fail(io, FAIL_ARGUMENT)
    return u32(ENOTSUP)


@device
def wasi_sched_yield(io: Ptr[LaneIo]) -> u32:
    if io.team != 0 or io.fiber != 0:
        rest(io, u32(1))
    return u32(SUCCESS)


@device
def not_a_socket(io: Ptr[LaneIo], fd: u32) -> u32:
    """Nobody is given a socket."""
    return u32(EBADF) if kind_of(io, fd) == CLOSED else u32(ENOTSOCK)


@device
def wasi_sock_accept(io: Ptr[LaneIo], fd: u32, flags: u32, result: u32) -> u32:
    return not_a_socket(io, fd) if flags <= 31 else fail(io, FAIL_ARGUMENT)


@device
def wasi_sock_recv(io: Ptr[LaneIo], fd: u32, parts: u32, count: u32, flags: u32, nbytes: u32, found: u32) -> u32:
    return not_a_socket(io, fd) if flags <= 3 else fail(io, FAIL_ARGUMENT)


@device
def wasi_sock_send(io: Ptr[LaneIo], fd: u32, parts: u32, count: u32, flags: u32, nbytes: u32) -> u32:
    return not_a_socket(io, fd) if flags <= 0xFFFF else fail(io, FAIL_ARGUMENT)


@device
def wasi_sock_shutdown(io: Ptr[LaneIo], fd: u32, how: u32) -> u32:
    return not_a_socket(io, fd) if how <= 3 else fail(io, FAIL_ARGUMENT)
