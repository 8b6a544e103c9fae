"""What tests of the desktop share."""

import pytest
from hand import Hand

from lanewise.desktop import ui


@pytest.fixture
def make(device):
    """Makes a desktop with one window that holds some widgets, and gives a hand on it."""

    def desktop(*widgets: ui.Node, **options) -> Hand:
        window = ui.Window("Test", *widgets, x=20, y=20, width=360, height=320)
        return Hand(ui.Desktop(window, width=480, height=360, device=device, groups="one", **options))

    return desktop
