"""How large pictures are: as their arrays, as people say, or in the shape of the array where they say one side."""

import numpy as np
import pytest
from hand import Hand

from lanewise.desktop import ui

SIDES = [
    ({}, (100, 50)),
    ({"width": "auto", "height": "auto"}, (100, 50)),
    ({"width": 40}, (40, 20)),
    ({"height": 40}, (80, 40)),
    ({"width": 40, "height": "auto"}, (40, 20)),
    ({"height": 40, "width": "auto"}, (80, 40)),
    ({"width": "50%"}, (120, 60)),
    ({"height": "50%"}, (200, 100)),
    ({"width": 40, "height": 40}, (40, 40)),
    ({"width": 40, "aspect_ratio": 1}, (40, 40)),
]


@pytest.mark.parametrize("holder", [ui.Row, ui.Column])
@pytest.mark.parametrize(("said", "found"), SIDES, ids=str)
def test_a_picture_of_which_one_side_is_said_keeps_its_shape(device, holder, said, found):
    pictures = ui.Image(np.zeros((50, 100, 3), np.uint8), **said), ui.Canvas(100, 50, **said)
    windows = [ui.Window("Test", holder(each, width=240, height=200)) for each in pictures]
    Hand(ui.Desktop(*windows, width=480, height=360, device=device, groups="one"))
    assert [each.box[2:] for each in pictures] == [found, found]


def test_a_side_may_be_a_number_that_python_does_not_write(device):
    picture = ui.Image(np.zeros((4, 4, 3), np.uint8), width=10**5000)
    desktop = ui.Desktop(ui.Column(picture, width=100, height=100), width=100, height=100, device=device)
    desktop.step()
    assert picture.layout.width == 10**5000
