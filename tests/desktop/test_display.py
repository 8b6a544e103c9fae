"""Desktops on a thread of their own; the command `lanewise desktop`."""

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hand import Hand
from samples import gallery

from lanewise.cli.desktop import desktop as desktop_command
from lanewise.desktop import ui
from lanewise.desktop.display.runner import MOST_WAITING, Runner
from lanewise.desktop.limits import FRAME_EVENTS
from lanewise.errors import ArgumentError, LanewiseError

HERE = Path(__file__).parent


def wait_until(holds, seconds: float = 30) -> None:
    ended = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ended, "it did not happen"
        time.sleep(0.01)


def test_a_runner_makes_frames_only_while_something_changes(device):
    desktop = gallery(device, groups="one")
    runner = Runner(desktop)
    runner.start()
    wait_until(lambda: not desktop.restless)
    frames = runner.stats().frames
    time.sleep(0.1)
    assert runner.stats().frames == frames
    button = next(node for node in desktop.nodes if node.initial_text == "Save")
    x, y, _, _ = button.box
    runner.send({"event_type": "pointer_move", "x": x + 4, "y": y + 4})
    wait_until(lambda: desktop.machine.widget(button.number)["hover"] == 1)
    runner.close()
    assert runner.stats().frames > frames
    assert runner.stats().latency_ms > 0


def test_events_have_the_time_at_which_they_came_though_their_frame_is_late(device, monkeypatch):
    button = ui.Button("Save")
    hand = Hand(ui.Desktop(button, width=480, height=360, device=device, groups="one"))
    runner = Runner(hand.desktop)
    x, y = hand.place(button)
    for time_ms in (1000, 1700):
        monkeypatch.setattr(hand.desktop, "now_ms", lambda now=time_ms: now)
        for kind in ("pointer_down", "pointer_up"):
            runner.send({"event_type": kind, "x": x, "y": y, "button": 1})
    runner._frame()  # a handler of the frame before took so long
    assert hand.kinds(button) == ["click", "click"]


def test_events_that_nobody_takes_do_not_fill_memory(device):
    runner = Runner(gallery(device, groups="one"))  # not started: no frame takes events
    for _ in range(MOST_WAITING + 100):
        runner.send({"event_type": "pointer_move", "x": 1, "y": 1})
    assert len(runner._inputs) == MOST_WAITING


def test_a_text_takes_as_much_of_the_line_as_it_has_characters(device):
    runner = Runner(gallery(device, groups="one"))  # not started: no frame takes events
    runner.send({"event_type": "char", "data": "x" * (MOST_WAITING - 2)})
    runner.send({"event_type": "char", "data": "much"})  # for which there is no room: all of it is left out,
    runner.send({"event_type": "char", "data": "é"})  # but not what comes behind it
    assert len(runner._inputs) == MOST_WAITING - 1
    with pytest.raises(ArgumentError, match="data has 4,097 characters; it is sent in parts of 4,096"):
        runner.send({"event_type": "char", "data": "x" * (MOST_WAITING + 1)})


def test_what_waits_for_a_frame_waits_in_one_line(device):
    """A long text is taken frame by frame: what waits is counted where it waits, and others are told how long."""
    field = ui.Field("", capacity=400)
    desktop = ui.Desktop(field, width=480, height=360, device=device, groups="one")
    Hand(desktop).click(field)
    runner = Runner(desktop)
    runner.send({"event_type": "char", "data": "x" * 200})
    runner._frame()
    assert desktop.machine.waiting == 0
    assert len(runner._inputs) == 200 - FRAME_EVENTS
    while runner._inputs:
        runner._frame()
    assert field.text == "x" * 200
    assert len(runner.stats().latencies) == 200


def test_what_a_handler_changes_is_shown_without_another_event(device):
    rows, label = ["one", "two"], ui.Label("nothing")
    chosen = ui.List(rows, chosen=0, on_change=lambda event: setattr(label, "text", rows[int(event.value)]))
    desktop = ui.Desktop(ui.Window("Test", chosen, label), width=480, height=360, device=device, groups="one")
    desktop.settle()
    desktop.send({"event_type": "key_down", "key": "Tab"})
    time_ms = desktop.settle(1000)
    desktop.send({"event_type": "key_down", "key": "ArrowDown"})
    desktop.settle(time_ms)
    assert label.text == "two"
    shown = desktop.pixels()
    desktop.machine.change_state(full_redraw=1)
    desktop.step(time_ms)
    assert np.array_equal(shown, desktop.pixels())


def test_pixels_leave_the_device_only_while_somebody_watches(device):
    desktop = gallery(device, groups="one")
    runner = Runner(desktop)
    seen = []
    runner.on_tiles = lambda numbers, pixels: seen.append(len(numbers))
    runner.start()
    wait_until(lambda: not desktop.restless)
    assert seen == []
    runner.watch(1)
    wait_until(lambda: seen)
    assert seen[0] == 20 * 15  # who comes sees all of it
    runner.close()


# --- the command -----------------------------------------------------------------------------------------------------


COMPILING = r"(lanewise: compiling the kernel \w+ for the CPU; it is kept, so that later runs begin at once\n)"


def command(*arguments: str, device: str = "cpu", **surroundings: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.Popen(
        [sys.executable, "-m", "lanewise", "desktop", "--device", device, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=kept | surroundings,
    )


def test_the_command_says_that_it_compiles_where_nothing_is_kept_yet(tmp_path):
    with command("--width", "64", "--height", "64", LANEWISE_CACHE_DIR=str(tmp_path)) as process:
        said = process.stderr.readline()
        process.kill()
    assert re.fullmatch(COMPILING, said)


def test_a_second_ctrl_c_ends_a_desktop_whose_handler_never_comes_back(tmp_path):
    file = tmp_path / "busy.py"
    file.write_text("""
import time
from lanewise.desktop import ui

def windows():
    ui.Desktop.step = lambda desktop, *given: time.sleep(3600)  # as a frame is whose handler does that
    return [ui.Window("x")]
""")
    with command(str(file)) as process:
        assert process.stdout.readline().startswith("open http://127.0.0.1:")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert "a handler is still at work; Ctrl-C again ends it" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 128 + signal.SIGINT


FIRST_FRAME = """
import time
from lanewise.desktop import ui

real, frames = ui.Desktop.step, []

def step(desktop, *given):
    frames.append(desktop)
    if {slow}:
        time.sleep({seconds})
    return real(desktop, *given)

def windows():
    ui.Desktop.step = step
    return [ui.Window("x")]
"""


def test_a_desktop_whose_handler_never_comes_back_ends_after_its_seconds(tmp_path):
    file = tmp_path / "busy.py"
    file.write_text(FIRST_FRAME.format(slow="len(frames) > 1", seconds=3600))  # as a frame is whose handler does that
    with command(str(file), "--seconds", "0.1", "--stats") as process:
        try:
            said, complaints = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 1
    sentence = "a handler is still at work after --seconds 0.1; it is ended with the desktop\n"
    assert complaints.endswith(sentence)
    assert "0 frames, 0 dropped" in said


def test_the_seconds_of_a_desktop_begin_after_the_first_frame_which_compiles(tmp_path):
    file = tmp_path / "slow.py"
    file.write_text(FIRST_FRAME.format(slow="len(frames) == 1", seconds=3))
    with command(str(file), "--seconds", "0.1") as process:
        _, complaints = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "still at work" not in complaints


def test_the_command_serves_a_page_and_ends_on_a_signal():
    with command("--stats", "--width", "320", "--height", "200") as process:
        address = process.stdout.readline()
        assert re.fullmatch(r"open http://127\.0\.0\.1:\d+/\?token=[\w-]{32}\n", address)
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    assert re.search(r"\d+ frames, \d+ dropped; frame [\d.]+ ms", said)


def test_the_command_shows_the_windows_of_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("from lanewise.desktop import ui\ndef windows():\n    return [ui.Window('Mine')]\n")
    with command(str(path), "--seconds", "0.5") as process:
        said, complaints = process.communicate(timeout=60)
    assert process.returncode == 0
    assert re.fullmatch(f"{COMPILING}?", complaints)
    assert said.startswith("open http://127.0.0.1:")


def test_what_the_desktop_needs_is_named_with_what_brings_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(LanewiseError, match="the desktop needs Pillow and aiohttp: pip install pillow font-roboto"):
        desktop_command(device="cpu")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--groups", "two"], "Desktop: groups is 'two'; it is one or all"),
        (["--device", "gpu"], "there is no device 'gpu'; write auto, cpu"),
        (["--device", "null"], "the device null compiles and never runs"),
        (["nowhere.py"], "nowhere.py is not a file; name a Python file that has a function windows()"),
        ([str(HERE / "hand.py")], "has no function windows()"),
        (["--theme", "pink"], "theme is 'pink'; it is light or dark"),
        (["--width", "100000"], "which is 3,840 x 2,160 pixels"),
        (["--port", "80000"], "--port is 80000; it is a number from 0 to 65,535"),
        (["--seconds", "-1"], "--seconds is -1; it is 0 or more"),
    ],
)
def test_mistakes_end_the_command_with_one_sentence_and_status_2(arguments, said):
    with command(*arguments) as process:
        _, complaints = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said in complaints
    assert len(complaints.splitlines()) == 1


def test_what_fails_without_a_mistake_ends_the_command_with_status_1():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with command("--port", str(port), "--width", "64", "--height", "64") as process:
            _, complaints = process.communicate(timeout=120)
    assert process.returncode == 1
    reason = os.strerror(errno.EADDRINUSE)
    assert f"lanewise: port {port} of 127.0.0.1 cannot be served: {reason}; choose another\n" in complaints


def test_a_file_may_have_modules_beside_it_and_dataclasses_in_it(tmp_path, monkeypatch):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "beside.py").write_text("NAME = 'Mine'\n")
    (tmp_path / "app" / "mine.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nimport beside\n"
        "from lanewise.desktop import ui\n@dataclass\nclass Model:\n    name: str\n"
        "def windows():\n    return [ui.Window(Model(beside.NAME).name)]\n"
    )
    monkeypatch.chdir(tmp_path)
    with command("app/mine.py", "--seconds", "0.5") as process:
        said, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    assert said.startswith("open http://127.0.0.1:")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("ui.Window('One')", "gave <Window 'One'>; it gives a list of windows"),
        ("[]", "gave []; it gives a list of windows, at least one"),
        (
            "[\n        ui.Buton('a')]",
            "mine.py:4: AttributeError: module 'lanewise.desktop.ui' has no attribute 'Buton'; did you mean 'Button'?",
        ),
        ("[]\nimport nowhere", "mine.py:4: ModuleNotFoundError: No module named 'nowhere'"),
        ("[\n        ui.Label(5)]", "mine.py:4: Label: text is 5; it is a string"),
        ("[\n        ui.Label('a',, 5)]", "mine.py:4: SyntaxError: invalid syntax\n"),
        ("['text']", "Desktop: window 1 is 'text'; it is a widget"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(given, said, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(f"from lanewise.desktop import ui\ndef windows():\n    return {given}\n")
    monkeypatch.chdir(tmp_path)
    with command("mine.py") as process:  # by a name that is not the whole path
        _, complaints = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said in complaints


def test_a_desktop_goes_on_if_somebody_is_told_of_what_handlers_raise(device):
    def fail(event):
        raise ValueError("a mistake of somebody")

    button = ui.Button("Press", on_click=fail)
    desktop = ui.Desktop(ui.Window("Test", button), width=480, height=360, device=device, groups="one")
    desktop.settle()
    x, y, width, height = button.box

    def press(time_ms):
        for kind in ("pointer_move", "pointer_down", "pointer_up"):
            desktop.send({"event_type": kind, "x": x + width / 2, "y": y + height / 2, "button": 1})
        desktop.settle(time_ms)

    with pytest.raises(ValueError, match="a mistake of somebody"):
        press(4000)
    told = []
    desktop.report = told.append
    press(8000)
    assert [str(error) for error in told] == ["a mistake of somebody"]
