"""Pictures by WebAssembly guests, a lane a pixel, cell or particle. See: lanewise desktop examples/desktop_guests.py"""

from pathlib import Path

import numpy as np

import lanewise as lw
from lanewise.desktop import ui

GUESTS = Path(__file__).parent / "guests"
SIDE = 16
"""Cells along a side of the game of life; a guest plays 30 generations of it at once."""
PARTICLES = 400


def mandelbrot() -> ui.Window:
    """The Mandelbrot set, painted when its button is pressed."""
    canvas = ui.Canvas(160, 120, width=320, height=240)

    def paint(event: ui.Event) -> None:
        canvas.draw(lw.run(GUESTS / "mandelbrot.wasm", lanes=160 * 120, picture=(160, 120)).picture_on_device)

    button = ui.Button("Paint", accent=True, on_click=paint)
    return ui.Window("Mandelbrot", canvas, button, x=40, y=80, width=360, height=360, resizable=False)


def life() -> ui.Window:
    """The game of life: a lane is a cell."""
    cells = np.random.default_rng(1).integers(0, 2, SIDE * SIDE).astype(np.int32)
    return moving("Life", "Thirty generations", "life.wasm", cells, lanes=SIDE * SIDE, side=SIDE, x=440)


def particles() -> ui.Window:
    """Particles that fall and bounce: a lane is one of them, with its place and its speed in four words."""
    start = np.random.default_rng(2).random((PARTICLES, 4), np.float32) * [1, 1, 4, 4] - [0, 0, 2, 2]
    return moving("Particles", "Fifty steps", "particles.wasm", start.astype(np.float32).ravel(), PARTICLES, 64, x=780)


def moving(title: str, action: str, guest: str, state: np.ndarray, lanes: int, side: int, x: int) -> ui.Window:
    """A square canvas whose guest goes on with each press of the button; its state goes from run to run."""
    canvas = ui.Canvas(side, side, width=256, height=256)

    def go_on(event: ui.Event) -> None:
        done = lw.run(GUESTS / guest, lanes=lanes, state=state, picture=(side, side))
        state[:] = done.state
        canvas.draw(done.picture_on_device)

    button = ui.Button(action, accent=True, on_click=go_on)
    return ui.Window(title, canvas, button, x=x, y=120, width=296, height=380, resizable=False)


def windows() -> list[ui.Window]:
    """The windows of the desktop."""
    return [mandelbrot(), life(), particles()]


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
