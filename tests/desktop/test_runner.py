"""A runner whose frames, handlers and calls fail, or that is asked for what it does not do."""

import threading
import time

import numpy as np
import pytest
from hand import Hand
from test_display import wait_until

from lanewise.desktop import ui
from lanewise.desktop.display.changes import Changes
from lanewise.desktop.display.runner import Runner
from lanewise.desktop.handlers import set_number, target_of
from lanewise.desktop.state import Desk, Notice
from lanewise.errors import ArgumentError, LanewiseError
from lanewise.lang import Ptr
from lanewise.lang import device as on_device


@on_device
def act_on_nothing(desk: Ptr[Desk], event: Ptr[Notice]):
    set_number(desk, target_of(desk, event.widget), 3)


def fail(event):
    raise ZeroDivisionError("in a handler")


def shown(device, *widgets: ui.Node) -> ui.Desktop:
    desktop = ui.Desktop(ui.Window("Test", *widgets), width=480, height=360, device=device, groups="one")
    Hand(desktop)  # runs the first frame, by which widgets have places
    return desktop


def click(runner: Runner, button: ui.Button) -> None:
    x, y, _, _ = button.box
    for kind in ("pointer_down", "pointer_up"):
        runner.send({"event_type": kind, "x": x + 4, "y": y + 4, "button": 1})


def test_what_fails_in_handlers_and_calls_is_told_and_frames_go_on(device):
    label, button = ui.Label("before"), ui.Button("Fail", on_click=fail)
    desktop = shown(device, label, button)
    told = []
    desktop.report = told.append
    runner = Runner(desktop)
    runner.start()
    click(runner, button)
    wait_until(lambda: len(told) == 1)
    runner.call(lambda: setattr(label, "text", 5))
    wait_until(lambda: len(told) == 2)
    runner.call(lambda: setattr(label, "text", "after"))
    wait_until(lambda: label.text == "after")
    runner.close()
    assert [str(error) for error in told] == ["in a handler", "Label 'before': text is 5; it is a string"]


def test_what_other_threads_set_is_seen_and_mistakes_are_theirs(device):
    """A clock, or the progress of some work, is set by a thread of the program's own."""
    label, canvas = ui.Label("before", capacity=20), ui.Canvas(4, 4)
    desktop = shown(device, label, canvas)
    told = []
    desktop.report = told.append
    runner = Runner(desktop)
    runner.start()
    wait_until(lambda: runner.stats().frames > 0)
    time.sleep(0.1)  # at rest
    before = runner.stats().frames
    makers = []
    real = desktop.set_text
    desktop.set_text = lambda *given: (makers.append(threading.current_thread().name), real(*given))
    label.text = "after"
    assert label.text == "after"
    assert makers == ["lanewise-desktop"]
    wait_until(lambda: runner.stats().frames > before)
    canvas.draw(np.full((4, 4, 3), 9, np.uint8))
    desktop.theme = "dark"
    desktop.clipboard = "copied"
    label.show(False)
    assert (desktop.theme, desktop.clipboard) == ("dark", "copied")
    with pytest.raises(ArgumentError, match="text is 5; it is a string"):
        label.text = 5
    assert not told
    runner.close()
    label.text = "at the end"
    assert label.text == "at the end"


def test_who_waits_for_a_change_is_told_when_frames_have_ended():
    never = Changes(threading.Thread(), lambda change: None, lambda: True)
    with pytest.raises(LanewiseError, match="the desktop has ended, and takes no changes any more"):
        never(print)


def test_a_report_that_fails_itself_ends_no_frames(device):
    """As one that writes where nobody reads any more."""
    label, button = ui.Label("before"), ui.Button("Fail", on_click=fail)
    desktop = shown(device, label, button)
    desktop.report = lambda error: [][0]
    runner = Runner(desktop)
    runner.start()
    click(runner, button)
    runner.call(lambda: 1 // 0)
    runner.call(lambda: setattr(label, "text", "after"))
    wait_until(lambda: label.text == "after")
    runner.close()


def test_tiles_that_nobody_could_take_do_not_end_the_frames(device):
    desktop = shown(device, ui.Label("text"))
    told = []
    desktop.report = told.append
    runner = Runner(desktop)
    runner.on_tiles = lambda numbers, pixels: 1 // 0
    runner.start()
    runner.watch(1)
    wait_until(lambda: told)
    assert runner.running
    runner.close()


def test_where_nobody_is_to_be_told_errors_go_to_stderr(device, capfd):
    desktop = shown(device, ui.Label("text"))
    runner = Runner(desktop)
    done = []
    runner.start()
    runner.call(lambda: 1 // 0)
    runner.call(lambda: done.append(1))
    wait_until(lambda: done)
    runner.close()
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_what_ends_the_frames_is_said_to_who_comes_later_and_raised_by_close(device):
    button = ui.Button("Trap", on_click=act_on_nothing)
    runner = Runner(shown(device, button))
    runner.start()
    click(runner, button)
    wait_until(lambda: not runner.running)
    said = "nothing takes it any more, since the runner has failed: .*a handler asks for the target of a widget"
    with pytest.raises(LanewiseError, match=f"call: {said}"):
        runner.call(print)
    with pytest.raises(LanewiseError, match=f"send: {said}"):
        runner.send({"event_type": "pointer_leave"})
    runner.watch(0)  # viewers may go
    with pytest.raises(LanewiseError, match="a handler asks for the target of a widget that has none"):
        runner.close()


@pytest.mark.parametrize("started", [True, False])
def test_a_runner_that_was_closed_takes_nothing_any_more(device, started):
    runner = Runner(shown(device))
    runner.call(print)  # what comes before the first frame waits for it
    if started:
        runner.start()
    runner.close()
    for take in (lambda: runner.call(print), lambda: runner.send({"event_type": "pointer_leave"})):
        with pytest.raises(LanewiseError, match="nothing takes it any more, since the runner was closed"):
            take()
    with pytest.raises(LanewiseError, match=r"start: a runner is started once; Runner\(desktop\) makes another"):
        runner.start()


def test_a_runner_is_started_once(device):
    runner = Runner(shown(device))
    runner.start()
    with pytest.raises(LanewiseError, match="start: a runner is started once"):
        runner.start()
    runner.close()


async def later():
    pass


@pytest.mark.parametrize("wrong", [5, None, fail, later, act_on_nothing])
def test_a_call_is_of_a_function_without_arguments(device, wrong):
    with pytest.raises(ArgumentError, match=r"call: function is .*; it is a function without arguments"):
        Runner(shown(device)).call(wrong)


def test_a_runner_runs_a_desktop_at_some_rate(device):
    with pytest.raises(ArgumentError, match=r"Runner: desktop is 5; it is a ui\.Desktop"):
        Runner(5)
    with pytest.raises(ArgumentError, match="Runner: rate is 0; it is a number above 0"):
        Runner(shown(device), rate=0)
