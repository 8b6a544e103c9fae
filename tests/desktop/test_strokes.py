"""Strokes on a canvas: they are where the pointer was, up to the edges, and nowhere else."""

import numpy as np
import pytest
from hand import Hand

from lanewise.desktop import ui
from lanewise.desktop.handlers import paint_line
from lanewise.desktop.state import Desk, Notice
from lanewise.lang import Ptr, device

INK = (255, 0, 0)
LEFT, TOP = 40, 30


@device
def draw(desk: Ptr[Desk], event: Ptr[Notice]):
    paint_line(desk, event, 1.0, 0xFF0000FF)


@pytest.fixture
def make(device):
    def desktop(columns: int = 100, rows: int = 80, **options) -> Hand:
        inset = (TOP, "auto", "auto", LEFT)
        canvas = ui.Canvas(columns, rows, position="absolute", inset=inset, radius=0, **{"on_draw": draw, **options})
        return Hand(ui.Desktop(canvas, width=200, height=160, device=device, groups="one"))

    return desktop


def draw_along(hand: Hand, *places: tuple[int, int]) -> None:
    """Press at the first place, as seen from the canvas, and move to the others."""
    hand.press(LEFT + places[0][0], TOP + places[0][1])
    for x, y in places[1:]:
        hand.move(LEFT + x, TOP + y)
    hand.release(LEFT + places[-1][0], TOP + places[-1][1])


def inked(hand: Hand) -> np.ndarray:
    """Which pixels of the canvas have ink."""
    seen = hand.desktop.pixels()[TOP : TOP + 80, LEFT : LEFT + 100, :3]
    return (seen == INK).all(axis=2)


def test_a_stroke_that_leaves_ends_at_the_edge_and_begins_anew_where_it_comes_back(make):
    hand = make()
    draw_along(hand, (50, 20), (150, 20), (150, 60), (50, 60))
    ink = inked(hand)
    assert ink[20, 50:99].all()
    assert ink[60, 50:99].all()
    assert not ink[25:55].any()  # the pointer was never there


def test_a_pointer_that_crosses_a_canvas_between_two_events_leaves_a_line(make):
    hand = make()
    draw_along(hand, (50, 70), (50, -20), (-20, -20), (-20, 40), (120, 40), (120, 200))
    ink = inked(hand)
    assert ink[40, 1:99].all()
    assert ink[1:70, 50].all()
    assert not ink[:38, :48].any()
    assert not ink[:, 52:][:38].any()


def test_the_host_hears_where_strokes_begin_and_where_they_come_to(make):
    heard = []
    hand = make(
        50, 40, width=100, on_draw=lambda event: heard.append((event.value, event.detail & 0xFFFF, event.detail >> 16))
    )
    draw_along(hand, (50, 20), (70, 20), (150, 20), (160, 60), (150, 60), (50, 60))
    assert heard == [(0, 25, 10), (1, 35, 10), (1, 49, 10), (0, 49, 30), (1, 25, 30)]


@pytest.mark.parametrize(("start", "end"), [(1, 151), (5, 142), (9, 155), (50, 101)])
def test_the_edge_is_the_last_pixel_however_the_way_to_it_is_rounded(make, start, end):
    heard = []
    hand = make(on_draw=lambda event: heard.append(event.detail & 0xFFFF))
    draw_along(hand, (start, 20), (end, 20))
    assert heard == [start, 99]
