"""A latch is an event that an exception at any point of a wait leaves usable."""

import sys
import threading

import pytest

from lanewise.devices.latch import Latch


def test_who_waits_goes_on_when_it_is_set():
    latch, passed = Latch(), []
    threads = [threading.Thread(target=lambda: passed.append(latch.wait(60))) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert not latch.is_set()
    latch.set()
    for thread in threads:
        thread.join()
    assert (passed, latch.is_set(), latch.wait(0)) == ([True] * 5, True, True)


def test_a_wait_ends_when_its_time_is_over():
    assert not Latch().wait(0.01)


def test_it_can_be_set_more_than_once():
    latch = Latch()
    latch.set()
    latch.set()
    assert latch.wait(0)


@pytest.mark.parametrize("set_before", [False, True])
def test_an_exception_between_any_two_lines_keeps_nobody_waiting(set_before):
    stopped_at = 0
    while True:
        latch = Latch()
        if set_before:
            latch.set()
        lines = iter(range(stopped_at + 1))

        def trace(frame, event, argument, lines=lines):
            if frame.f_code.co_filename.endswith("latch.py") and event == "line" and next(lines, None) is None:
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            latch.wait(0.001)
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.settrace(before)
        latch.set()
        assert latch.wait(0)
        if not interrupted:
            break
        stopped_at += 1
    assert stopped_at > 0 or set_before
