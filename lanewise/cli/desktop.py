"""`lanewise desktop`: a desktop of windows, in a window if there is a screen, else as a page for the browser."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

import lanewise as lw
from lanewise.cli.compiling import compiling_told
from lanewise.cli.mistakes import UsageMistake
from lanewise.errors import shown

if TYPE_CHECKING:
    from lanewise.desktop import ui
    from lanewise.desktop.display.runner import Runner

NEEDED = {"PIL": "Pillow", "aiohttp": "aiohttp"}
_EXTRA = "pip install pillow font-roboto aiohttp rendercanvas"
_PATIENCE = 1.0
"""Seconds in which a frame and its handlers should be over."""
_AT_WORK = "a frame, which may be compiling, or a handler is still at work"
STATS_SECONDS = 2.0


def desktop(
    file: Annotated[
        Path | None, typer.Argument(help="A Python file whose function windows() gives the windows; else a gallery.")
    ] = None,
    device: Annotated[str, typer.Option(help="The device that the desktop runs on.")] = "auto",
    width: Annotated[int, typer.Option(help="Pixels across.")] = 1280,
    height: Annotated[int, typer.Option(help="Pixels down.")] = 720,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    groups: Annotated[str | None, typer.Option(help="Who draws the pixels: one group of threads, or all.")] = None,
    page: Annotated[bool, typer.Option("--page", help="Serve the page even if there is a screen.")] = False,
    port: Annotated[int, typer.Option(help="The port of the page; 0 for any that is free.")] = 0,
    seconds: Annotated[float | None, typer.Option(help="End so many seconds after the first frame.")] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Say what frames take, and at the end.")] = False,
) -> None:
    """Open a desktop whose widgets live on the device: in a window, or as a page on this machine."""
    if not 0 <= port < 2**16:
        raise UsageMistake(f"--port is {port}; it is a number from 0 to 65,535")
    if seconds is not None and not seconds >= 0:
        raise UsageMistake(f"--seconds is {seconds:g}; it is 0 or more")
    if device == "null":
        raise UsageMistake("the device null compiles and never runs, so it shows nothing; write cpu or cuda")
    missing = [name for module, name in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise lw.LanewiseError(f"the desktop needs {' and '.join(missing)}: {_EXTRA}, which its extra desktop has")
    from lanewise.desktop import ui
    from lanewise.desktop.display.canvas import NoWindowError, has_screen, show_window

    windows = _windows(file)
    with contextlib.ExitStack() as start:
        start.enter_context(compiling_told(_say))
        try:
            made = ui.Desktop(*windows, width=width, height=height, device=device, theme=theme, groups=groups)
        except (lw.ArgumentError, lw.NoDeviceError) as mistake:
            raise UsageMistake(str(mistake)) from None
        made.report = traceback.print_exception  # one handler that fails does not end the desktop
        if has_screen() and not page:
            made.step()  # compiles before there is a window, which would stay black
            start.close()
            try:
                with _end_at_last(seconds) as begin:
                    view = show_window(made, seconds=seconds, on_open=begin)
                if stats:
                    print(view.stats())
                return
            except NoWindowError as reason:
                _say(f"{reason}; the page needs nothing")
        asyncio.run(_serve(made, port, seconds, stats, start.close))


def _say(sentence: str) -> None:
    print(f"lanewise: {sentence}", file=sys.stderr, flush=True)


def _windows(file: Path | None) -> Sequence[ui.Window]:
    if file is None:
        from lanewise.desktop.gallery import windows

        return windows()
    if not file.is_file():
        raise UsageMistake(f"{file} is not a file; name a Python file that has a function windows()")
    spec = importlib.util.spec_from_file_location("lanewise_desktop_file", file)
    if spec is None or spec.loader is None:
        raise UsageMistake(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their module
    sys.path.insert(0, str(file.resolve().parent))  # as Python does, for what a program has beside it
    try:
        spec.loader.exec_module(module)
        found: Any = getattr(module, "windows", None)
        if not callable(found):
            raise UsageMistake(f"{file} has no function windows(); it gives the windows of the desktop as a list")
        given = found()
    except (UsageMistake, lw.DeviceError):
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [entry.lineno for entry in frames if Path(entry.filename).resolve() == file.resolve()]
        kind, words = "" if isinstance(error, lw.LanewiseError) else f"{type(error).__name__}: ", str(error)
        if isinstance(error, SyntaxError) and Path(error.filename or "").resolve() == file.resolve():
            lines, words = [error.lineno or 1], error.msg  # the file did not get as far as to run
        raise UsageMistake(f"{file}:{lines[-1] if lines else 1}: {kind}{words}") from None
    if not isinstance(given, list | tuple) or not given:
        raise UsageMistake(f"windows() in {file} gave {shown(given)}; it gives a list of windows, at least one")
    return given


async def _serve(
    made: ui.Desktop, port: int, seconds: float | None, stats: bool, on_first_frame: Callable[[], Any]
) -> None:
    from lanewise.desktop.display.page import Page
    from lanewise.desktop.display.runner import Runner

    runner = Runner(made)
    served = Page(runner, lambda address: print(f"open {address}", flush=True))
    ended = asyncio.Event()
    signals: list[int] = []
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        """End when the frame under way is over; asked again, at once, for a handler may never come back."""
        if ended.is_set():
            os._exit(128 + number)
        signals.append(number)
        ended.set()

    def begin() -> None:
        """After the first frame, which compiles: from now on time counts."""
        on_first_frame()
        if seconds is not None:
            loop.call_soon_threadsafe(loop.call_later, seconds, ended.set)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end, number)
    await served.start(port)
    runner.call(begin)
    runner.start()
    try:
        await _wait(runner, ended, stats)
    finally:
        ended.set()  # by itself, too, after its time: from here on a signal ends it at once
        await served.close()
        closing = asyncio.create_task(asyncio.to_thread(runner.close))
        done, _ = await asyncio.wait([closing], timeout=_PATIENCE)
        if not done:
            if seconds is not None and not signals:
                if stats:
                    print(runner.stats())
                _leave(seconds)
            again = "SIGTERM" if signal.SIGTERM in signals else "Ctrl-C"
            _say(f"{_AT_WORK}; {again} again ends it")
        await closing
        if stats:
            print(runner.stats())


def _leave(seconds: float) -> NoReturn:
    """End after the time that was said, whatever is still at work, for it may never come back."""
    _say(f"{_AT_WORK} after --seconds {seconds:g}; it is ended with the desktop")
    sys.stdout.flush()
    os._exit(1)


@contextlib.contextmanager
def _end_at_last(seconds: float | None) -> Iterator[Callable[[], None]]:
    """Gives what begins to count the time of a window, which nothing closes while a handler is at work."""
    if seconds is None:
        yield lambda: None
        return
    watch = threading.Timer(seconds + _PATIENCE, _leave, [seconds])
    watch.daemon = True
    try:
        yield watch.start
    finally:
        watch.cancel()


async def _wait(runner: Runner, ended: asyncio.Event, stats: bool) -> None:
    """Wait until the person has enough or the desktop fails; say what frames take on the way."""
    said = 0
    while not ended.is_set() and runner.running:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), STATS_SECONDS)
        found = runner.stats()
        if stats and found.frames != said and not ended.is_set():
            print(found, flush=True)
            said = found.frames
