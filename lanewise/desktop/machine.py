"""The machine that a desktop runs on: its memory on a device, the events that go to it, and its frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lanewise.desktop import limits, theme
from lanewise.desktop.font import ATLAS_WIDTH, EM, load_font
from lanewise.desktop.distance import SPREAD
from lanewise.desktop.frame import draw_tiles, make_frame
from lanewise.desktop.layout.structures import NodeBox, NodeLinks, NodeStyle
from lanewise.desktop.state import Desk, FrameState, InputRing, Row, Scratch, Typeface, Widget
from lanewise.devices.arrays import DeviceArray
from lanewise.devices.base import Device
from lanewise.lang import u32


class Machine:
    def __init__(self, device: Device, width: int, height: int, font: Path | None = None, one_group=True) -> None:
        self.device = device
        self.width = width
        self.height = height
        self._arrays: dict[str, DeviceArray] = {}
        across = -(-width // limits.TILE)
        down = -(-height // limits.TILE)
        tables = load_font(device, font)
        self.typeface = tables
        face = np.zeros((), Typeface.dtype)
        face["ascent"], face["descent"], face["x_height"] = tables.ascent, tables.descent, tables.x_height
        face["em"], face["spread"], face["atlas_width"] = EM, SPREAD, ATLAS_WIDTH
        face["code_count"] = tables.codes.size
        for name in ("codes", "shapes", "pairs", "atlas"):
            face[name] = self._keep(name, device.array(getattr(tables, name))).address
        desk = np.zeros((), Desk.dtype)
        desk["width"], desk["height"], desk["tiles_across"], desk["tiles_down"] = width, height, across, down
        made = {
            "ring": device.zeros(InputRing),
            "frame": device.zeros(FrameState),
            "widgets": device.zeros(limits.MAX_WIDGETS, Widget),
            "styles": device.zeros(limits.MAX_WIDGETS, NodeStyle),
            "links": device.zeros(limits.MAX_WIDGETS, NodeLinks),
            "boxes": device.zeros(limits.MAX_WIDGETS, NodeBox),
            "typeface": device.array(face),
            "texts": device.zeros(limits.TEXT_CODES, u32),
            "rows": device.zeros(limits.MAX_ROWS, Row),
            "pictures": device.zeros(limits.IMAGE_PIXELS, u32),
            "clipboard": device.zeros(limits.CLIPBOARD_CODES, u32),
            "palettes": device.array(theme.palettes()),
            "scratch": device.zeros(Scratch),
            "pixels": device.zeros((height, width), u32),
        }
        for name, array in made.items():
            desk[name] = self._keep(name, array).address
        self._keep("desk", device.array(desk))
        state = np.zeros((), FrameState.dtype)
        self.one_group = one_group
        self._frame = make_frame(one_group)

    def _keep(self, name: str, array: DeviceArray) -> DeviceArray:
        self._arrays[name] = array
        return array

    def __getitem__(self, name):
        return self._arrays[name]

    def step(self, time_ms: int) -> None:
        self._frame[limits.THREADS, limits.THREADS](self._arrays["desk"], time_ms)
        if not self.one_group:
            draw_tiles[2048, 256](self._arrays["desk"])
