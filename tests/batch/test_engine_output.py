"""What lanes write: all of it, in order, by lane, whatever becomes of the lane and of those beside it."""

import io
import os
import threading
import time
from types import SimpleNamespace

import pytest
from engine_runs import Given, numbers, program, run, run_all, task_of, words

from lanewise.batch import cpu_engine, cuda_engine, engine
from lanewise.batch.engine import Run
from lanewise.batch.spec import Limits

TALKING = program(
    """(local $number i32) (local $lane i32)
    (local.set $lane (call $argument))
    (loop $next
      (i32.store (i32.const 256) (local.get $lane))
      (i32.store (i32.const 260) (local.get $number))
      (call $say_at (i32.add (i32.const 1) (i32.eq (i32.rem_u (local.get $number) (i32.const 3)) (i32.const 2)))
        (i32.const 256) (i32.add (i32.const 5) (i32.and (local.get $number) (i32.const 3))))
      (br_if $next (i32.lt_u (local.tee $number (i32.add (local.get $number) (i32.const 1))) (i32.const 200))))
    (if (i32.eq (local.get $lane) (i32.const 1)) (then unreachable))""",
    numbered=True,
)


def talked(lane: int) -> tuple[bytes, bytes]:
    """What a lane of that program writes."""
    texts = [lane.to_bytes(4, "little") + number.to_bytes(4, "little") for number in range(200)]
    pieces = [text[: 5 + (number & 3)] for number, text in enumerate(texts)]
    return (
        b"".join(one for number, one in enumerate(pieces) if number % 3 != 2),
        b"".join(one for number, one in enumerate(pieces) if number % 3 == 2),
    )


def small_console(monkeypatch, nbytes: int) -> None:
    for module in (cpu_engine, cuda_engine):
        monkeypatch.setattr(module, "_CONSOLE_BYTES", nbytes)


@pytest.mark.parametrize("room", [8, 24, 1000, 20_000, 1 << 20])
def test_all_of_the_output_is_there_in_order_however_little_room_there_is(room, device, monkeypatch):
    small_console(monkeypatch, room)
    ended = run_all(TALKING, device, 9, numbers())
    assert ended.kinds == [None, "unreachable", *[None] * 7]
    for lane, one in enumerate(ended.outcomes):
        assert (one.stdout, one.stderr) == talked(lane), lane


def test_room_is_there_anew_for_every_wave(device, monkeypatch):
    small_console(monkeypatch, 8192)
    monkeypatch.setattr(cpu_engine, "_WAVE_LANES", 4)
    ended = run_all(TALKING, device, 30, numbers(lambda lane: lane + 2))
    for lane, one in enumerate(ended.outcomes):
        assert (one.stdout, one.stderr) == talked(lane + 2), lane


MIXED = program(
    """(local $number i32)
    (if (i32.eqz (call $argument)) (then
      (loop $next
        (call $say_at (i32.const 1) (i32.const 0) (i32.const 50000))
        (br_if $next (i32.lt_u (local.tee $number (i32.add (local.get $number) (i32.const 1))) (i32.const 60))))))
    (call $say (i32.const 5))""",
    numbered=True,
)


@pytest.mark.parametrize("room", [1 << 20, 8 << 20])
def test_a_lane_that_ends_while_another_writes_has_all_of_its_output(room, device, monkeypatch):
    """Looked at all the time, so that some look comes while a lane is in the middle of a write."""
    small_console(monkeypatch, room)
    monkeypatch.setattr(engine, "_STEP", 0.0)
    for _ in range(4):
        ended = run_all(MIXED, device, 600, numbers(lambda lane: lane % 300))
        assert [len(one) for one in ended.stdout] == ([3_000_004] + [4] * 299) * 2


ENDLESS = program(
    """(call $say (i32.const 1))
    (if (i32.ge_u (call $argument) (i32.const 20)) (then
      (loop $ever (call $say_at (i32.const 1) (i32.const 1024) (i32.const 60000)) (br $ever))))""",
    numbered=True,
)


def test_lanes_that_are_stopped_while_they_write_take_nothing_from_others(device):
    for turn in range(6):
        running = Run(task_of(ENDLESS, device, 24, numbers(), limits=Limits(timeout=60, output=4_000_000_000)))
        timer = threading.Timer(0.001 * turn, running.stop)
        outcomes = {}
        for one in running.outcomes():
            outcomes[one.lane] = one
            if len(outcomes) == 20 and not timer.ident:
                timer.start()
        timer.join()
        assert running.stopped == "interrupted"
        assert [words(outcomes[lane].stdout) for lane in range(20)] == [[1]] * 20
        for lane in range(20, 24):
            one = outcomes.get(lane)
            assert one is None or one.stdout[:4] in (b"", b"\1\0\0\0")
            assert one is None or one.kind in ("interrupted", "output limit reached")


# --- the limit -------------------------------------------------------------------------------------------------------

WRITING = program(
    """(local $number i32)
    (loop $next
      (call $say_at (i32.const 1) (i32.const 1024) (i32.const 7))
      (call $say_at (i32.const 2) (i32.const 1024) (i32.const 3))
      (br_if $next (i32.lt_u (local.tee $number (i32.add (local.get $number) (i32.const 1))) (call $argument))))
    (call $say_at (i32.const 1) (i32.const 1024) (i32.const 0))""",
    numbered=True,
    more='(data (i32.const 1024) "abcdefg")',
)


@pytest.mark.parametrize("room", [16, 1 << 20])
@pytest.mark.parametrize("limit", [0, 1, 7, 8, 39, 40, 41, 1000])
def test_a_lane_that_writes_more_than_it_may_is_ended_behind_the_last_byte(limit, room, device, monkeypatch):
    small_console(monkeypatch, room)
    ended = run_all(WRITING, device, 5, numbers(lambda lane: 4 + lane % 2 * 3), limits=Limits(output=limit, timeout=60))
    for lane, one in enumerate(ended.outcomes):
        times = 4 + lane % 2 * 3
        written = (b"abcdefgabc" * times)[:limit]
        assert one.stdout == b"".join(written[at : at + 7] for at in range(0, len(written), 10)), lane
        assert one.stderr == b"".join(written[at + 7 : at + 10] for at in range(0, len(written), 10)), lane
        assert one.kind == (None if times * 10 <= limit else "output limit reached"), lane
        assert one.exit_code == (0 if times * 10 <= limit else None), lane


# --- calls -----------------------------------------------------------------------------------------------------------

PARTS = program(
    """(local $at i32)
    (i32.store (i32.const 60000) (i32.const 77))
    (call $say (call $fd_write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 60000)))
    (call $say (i32.load (i32.const 60000)))
    (call $say (call $fd_write (i32.const 1) (i32.const 65536) (i32.const 0) (i32.const 60000)))
    ;; 1,024 parts of 0 to 15 bytes, one over the other
    (loop $next
      (i32.store offset=8192 (i32.mul (local.get $at) (i32.const 8)) (i32.add (i32.const 1000) (local.get $at)))
      (i32.store offset=8196 (i32.mul (local.get $at) (i32.const 8)) (i32.and (local.get $at) (i32.const 15)))
      (i32.store8 offset=1000 (local.get $at) (local.get $at))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 1040))))
    (call $say (call $fd_write (i32.const 1) (i32.const 8192) (i32.const 1024) (i32.const 60000)))
    (call $say (i32.load (i32.const 60000)))
    ;; nothing but empty parts
    (i32.store (i32.const 8196) (i32.const 0))
    (call $say (call $fd_write (i32.const 2) (i32.const 8192) (i32.const 1) (i32.const 60000)))
    (call $say (i32.load (i32.const 60000)))
    ;; more than any request takes
    (i32.store (i32.const 8192) (i32.const 0))
    (i32.store (i32.const 8196) (i32.const 300000))
    (memory.fill (i32.const 65536) (i32.const 0x41) (i32.const 240000))
    (call $say (call $fd_write (i32.const 2) (i32.const 8192) (i32.const 1) (i32.const 60000)))
    (call $say (i32.load (i32.const 60000)))""",
    memory="5",
)


@pytest.mark.parametrize("room", [16, 1 << 20])
def test_parts_are_written_one_behind_the_other_and_counted(room, device, monkeypatch):
    small_console(monkeypatch, room)
    contents = bytes(number & 255 for number in range(1040))
    parts = b"".join(contents[at : at + (at & 15)] for at in range(1024))
    for one in run_all(PARTS, device, 3).outcomes:
        assert one.kind is None
        assert words(one.stdout[:12]) == [0, 0, 0]
        assert one.stdout[12 : 12 + len(parts)] == parts
        assert words(one.stdout[12 + len(parts) :]) == [0, len(parts), 0, 0, 0, 300_000]
        assert len(one.stderr) == 300_000
        assert one.stderr.endswith(b"A" * 234_464)


def test_debug_prints_and_other_output_come_in_the_order_of_the_calls(device):
    both = program(
        """(call $debug_i32 (i32.const 1))
        (call $say_at (i32.const 1) (i32.const 1024) (i32.const 1))
        (call $debug_i32 (i32.const 2))
        (call $say_at (i32.const 1) (i32.const 1024) (i32.const 1))""",
        "debug_i32",
        more='(data (i32.const 1024) "-")',
    )
    assert run_all(both, device, 2).stdout == [b"1-2-"] * 2


# --- straight to the host --------------------------------------------------------------------------------------------

STRAIGHT = program(
    """(local $number i32)
    (drop (call $args_get (i32.const 0) (i32.const 64)))
    (loop $next
      (call $say_at (i32.const 1) (i32.const 1024) (i32.const 4))
      (call $say_at (i32.const 2) (i32.const 1028) (i32.const 4))
      (br_if $next (i32.lt_u (local.tee $number (i32.add (local.get $number) (i32.const 1))) (i32.const 50))))
    (call $proc_exit (call $fd_write (i32.const 1) (i32.const 65504) (i32.const 1) (i32.const 65512)))""",
    "args_get",
    "proc_exit",
    more='(data (i32.const 1024) "out\\nerr\\n")',
)


def test_one_lane_can_write_straight_to_the_streams_of_the_host(device, capfd):
    print("before")
    ended = run_all(STRAIGHT, device, streaming=True)
    print("after")
    assert (ended.codes, ended.stdout) == ([0], [b""])
    out, err = capfd.readouterr()
    assert out == "before\n" + "out\n" * 50 + "err\n" + "after\n"
    assert err == "err\n" * 50


def test_one_lane_can_write_straight_to_streams_that_are_no_files(device, monkeypatch):
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    assert run_all(STRAIGHT, device, streaming=True).codes == [0]
    assert out.getvalue() == "out\n" * 50 + "err\n"
    assert err.getvalue() == "err\n" * 50


@pytest.mark.parametrize("limit", [0, 30])
def test_the_limit_also_holds_for_what_goes_straight_to_the_host(limit, device, capfd):
    ended = run_all(STRAIGHT, device, streaming=True, limits=Limits(output=limit, timeout=60))
    assert ended.kinds == ["output limit reached"]
    out, err = capfd.readouterr()
    assert (len(out), len(err)) == ({0: 0, 30: 16}[limit], {0: 0, 30: 14}[limit])


def test_a_lane_is_told_that_nobody_reads_what_it_writes(device, monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    monkeypatch.setattr("sys.stdout", SimpleNamespace(fileno=lambda: writing, flush=lambda: None))
    ended = run_all(STRAIGHT, device, streaming=True)
    os.close(writing)
    assert ended.codes == [64]  # EPIPE


def test_what_is_written_straight_is_there_while_the_lane_still_runs(device, monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(fileno=lambda: writing, flush=lambda: None))
    looping = program("(call $say (i32.const 9)) (loop $ever (br $ever))")
    seen = []

    def read():
        seen.append(os.read(reading, 4))
        running.stop()

    running = Run(task_of(looping, device, streaming=True))
    reader = threading.Thread(target=read)
    reader.start()
    started = time.monotonic()
    list(running.outcomes())
    reader.join()
    os.close(reading)
    os.close(writing)
    assert words(seen[0]) == [9]
    assert time.monotonic() - started < 20


def test_host_input_reaches_the_lane_as_it_comes(device, monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: reading))
    copying = program(
        """(loop $next
          (i32.store (i32.const 264) (i32.const 272))
          (i32.store (i32.const 268) (i32.const 5))
          (drop (call $fd_read (i32.const 0) (i32.const 264) (i32.const 1) (i32.const 256)))
          (call $say (i32.load (i32.const 256)))
          (call $say_at (i32.const 2) (i32.const 272) (i32.load (i32.const 256)))
          (br_if $next (i32.load (i32.const 256))))""",
        "fd_read",
    )

    def write():
        for text in (b"abcdefgh", b"ij"):
            os.write(writing, text)
            time.sleep(0.1)
        os.close(writing)

    writer = threading.Thread(target=write)
    writer.start()
    ended = run(copying, device, 1, Given(stdin=lambda lane: None))
    writer.join()
    os.close(reading)
    assert ended.outcomes[0].stderr == b"abcdefghij"
    assert words(ended.stdout[0]) in ([5, 3, 2, 0], [5, 5, 0])  # the latter if the lane came late
