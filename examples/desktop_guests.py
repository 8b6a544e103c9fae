"""Pictures by WebAssembly guests, a lane a pixel. Look at them with: lanewise desktop examples/desktop_guests.py"""

from pathlib import Path

import numpy as np

import lanewise as lw
from lanewise.desktop import ui

GUESTS = Path(__file__).parent / "guests"
SIDE = 16
"""Cells along a side of the game of life; a guest plays 30 generations of it at once."""


def mandelbrot() -> ui.Window:
    """The Mandelbrot set, painted when its button is pressed."""
    canvas = ui.Canvas(160, 120, width=320, height=240)

    def paint(event: ui.Event) -> None:
        canvas.draw(lw.run(GUESTS / "mandelbrot.wasm", lanes=160 * 120, picture=(160, 120)).picture_on_device)

    button = ui.Button("Paint", accent=True, on_click=paint)
    return ui.Window("Mandelbrot", canvas, button, x=120, y=80, width=360, height=360, resizable=False)


def life() -> ui.Window:
    """The game of life; its state goes from run to run."""
    state = np.random.default_rng(1).integers(0, 2, SIDE * SIDE).astype(np.int32)
    canvas = ui.Canvas(SIDE, SIDE, width=256, height=256)

    def play(event: ui.Event) -> None:
        played = lw.run(GUESTS / "life.wasm", lanes=SIDE * SIDE, group=SIDE * SIDE, state=state, picture=(SIDE, SIDE))
        state[:] = played.state
        canvas.draw(played.picture_on_device)

    button = ui.Button("Thirty generations", accent=True, on_click=play)
    return ui.Window("Life", canvas, button, x=560, y=120, width=296, height=380, resizable=False)


def windows() -> list[ui.Window]:
    """The windows of the desktop."""
    return [mandelbrot(), life()]


if __name__ == "__main__":
    desktop = ui.Desktop(*windows())
    time_ms = desktop.settle()
    for button in (node for node in desktop.nodes if isinstance(node, ui.Button)):
        x, y, _, _ = button.box
        for kind in ("pointer_down", "pointer_up"):
            desktop.send({"event_type": kind, "x": x + 5, "y": y + 5, "button": 1}, time_ms)
    desktop.settle(time_ms)
    colours = len(np.unique(desktop.pixels().view("u4")))
    print(f"guests have painted {colours:,} colours on {desktop.device!r}")
