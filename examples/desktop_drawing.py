"""A canvas to draw on, by a handler on the device. Look at it with: lanewise desktop examples/desktop_drawing.py"""

from lanewise.desktop import ui
from lanewise.desktop.handlers import paint_line
from lanewise.desktop.numbers import DRAWN
from lanewise.desktop.state import Desk, Notice
from lanewise.desktop.theme import rgba
from lanewise.lang import Ptr, device

INK = rgba("#3b6ff2")


@device
def draw(desk: Ptr[Desk], event: Ptr[Notice]):
    """The pointer leaves a line behind it while it is pressed."""
    if event.kind == DRAWN:
        paint_line(desk, event, 3.5, INK)


def windows() -> list[ui.Window]:
    """The windows of the desktop."""
    canvas = ui.Canvas(640, 400, on_draw=draw)
    hint = ui.Label("Press and move.", muted=True)
    return [ui.Window("Drawing", canvas, hint, x=280, y=80, width=680, height=520, resizable=False)]


if __name__ == "__main__":
    desktop = ui.Desktop(*windows())
    time_ms = desktop.settle()
    canvas = next(node for node in desktop.nodes if isinstance(node, ui.Canvas))
    x, y, _, _ = canvas.box
    for kind, column, row in (("pointer_down", 100, 300), ("pointer_move", 320, 100), ("pointer_move", 540, 300)):
        desktop.send({"event_type": kind, "x": x + column, "y": y + row, "button": 1}, time_ms)
    desktop.settle(time_ms)
    inked = int((desktop.pixels().view("u4")[..., 0] == INK).sum())
    print(f"two strokes inked {inked:,} pixels on {desktop.device!r}")
