"""The machine that a desktop runs on: its memory on a device, events on their way to it, frames and their pixels."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lanewise.desktop import limits, theme
from lanewise.desktop.distance import SPREAD
from lanewise.desktop.font import ATLAS_WIDTH, EM, FontTables, load_font
from lanewise.desktop.frame import draw_tiles, fill_bins, gather_tiles, make_frame
from lanewise.desktop.layout.structures import Font, LayoutTree, NodeBox, NodeLinks, NodeStyle, NodeWork
from lanewise.desktop.phases.arrange import ALL_ANEW
from lanewise.desktop.state import Desk, FrameState, InputEvent, InputRing, Notice, Row, Scratch, Typeface, Widget
from lanewise.desktop.text import LINE_HEIGHT
from lanewise.devices.arrays import DeviceArray
from lanewise.devices.base import Buffer, Device, Launch
from lanewise.errors import ArgumentError, shown
from lanewise.lang.types import u32

Array = np.ndarray[Any, Any]
DRAW_GROUP = 256
NO_NOTICES = np.zeros(0, Notice.dtype)


@dataclass(frozen=True)
class Frame:
    """What a frame left behind: its state, what happened to widgets, and which tiles of the screen it drew."""

    state: Any
    """A record of FrameState.dtype."""
    notices: Array
    """Records of Notice.dtype, in the order of events."""

    @property
    def number(self) -> int:
        """How many frames there were, with this one."""
        return int(self.state["frame"])


class Machine:
    """A desktop's memory on a device, and the kernels that turn it into frames."""

    def __init__(
        self,
        device: Device,
        width: int,
        height: int,
        *,
        font: Path | None = None,
        handlers: Sequence[Any] = (),
        one_group: bool = True,
    ) -> None:
        tiles = -(-width // limits.TILE), -(-height // limits.TILE)
        if width < 1 or height < 1 or tiles[0] * tiles[1] > limits.MAX_TILES:
            raise ArgumentError(
                f"a screen of {shown(width)} x {shown(height)} pixels has {shown(tiles[0] * tiles[1])} tiles; "
                f"it may have 1 to {limits.MAX_TILES:,}, which is 3,840 x 2,160 pixels"
            )
        self.device = device
        self.width = width
        self.height = height
        self.one_group = one_group
        self.changed = False
        """Whether the host has changed something that no frame has shown yet."""
        self._events: deque[tuple[int, ...]] = deque()
        self._ring = np.zeros((), InputRing.dtype)
        self._frame_kernel = make_frame(one_group, tuple(handlers))
        self._arrays: dict[str, DeviceArray] = {}
        self._allocate(tiles, load_font(device, font))

    def _allocate(self, tiles: tuple[int, int], tables: FontTables) -> None:
        device = self.device
        face = np.zeros((), Typeface.dtype)
        face["em"], face["spread"], face["atlas_width"] = EM, SPREAD, ATLAS_WIDTH
        face["x_height"], face["code_count"] = tables.x_height, tables.codes.size
        face["kerning_columns"] = tables.kerning.shape[1]
        for name in ("codes", "shapes", "kerning", "atlas"):
            face[name] = self._keep(name, device.array(getattr(tables, name)))
        self._keep("advances", device.array(tables.shapes["advance"][tables.codes].astype(np.float32)))
        fonts = np.zeros(1, Font.dtype)
        fonts[0] = (self._arrays["advances"].address, tables.codes.size, LINE_HEIGHT, tables.ascent)
        addresses = {
            "ring": device.zeros(InputRing),
            "frame": device.zeros(FrameState),
            "widgets": device.zeros(limits.MAX_WIDGETS, Widget),
            "styles": device.zeros(limits.MAX_WIDGETS, NodeStyle),
            "links": device.zeros(limits.MAX_WIDGETS, NodeLinks),
            "boxes": device.zeros(limits.MAX_WIDGETS, NodeBox),
            "typeface": device.array(face),
            "texts": device.zeros(limits.TEXT_CODES, u32),
            "rows": device.zeros(limits.MAX_ROWS, Row),
            "pictures": device.zeros(limits.NO_PICTURE + limits.IMAGE_PIXELS, u32),
            "clipboard": device.zeros(limits.CLIPBOARD_CODES, u32),
            "palettes": device.array(theme.palettes()),
            "scratch": device.zeros(Scratch),
            "pixels": device.zeros((self.height, self.width), u32),
        }
        desk = np.zeros((), Desk.dtype)
        desk["width"], desk["height"] = self.width, self.height
        desk["tiles_across"], desk["tiles_down"] = tiles
        for name, array in addresses.items():
            desk[name] = self._keep(name, array)
        self._keep("fonts", device.array(fonts))
        self._keep("work", device.zeros(limits.MAX_WIDGETS + 1, NodeWork))
        desk["layout"] = self._keep("layout", device.zeros(LayoutTree))
        self._keep("desk", device.array(desk))
        self._keep("tiles", device.empty((tiles[0] * tiles[1], limits.TILE, limits.TILE), u32))

    def _keep(self, name: str, array: DeviceArray) -> int:
        self._arrays[name] = array
        return array.address

    # --- memory, as the host may look at it and change it between frames ----------------------------------------------

    def part(self, name: str, start: int = 0, count: int | None = None) -> DeviceArray:
        """Some elements of one of the machine's arrays, in place."""
        whole = self._arrays[name]
        if not whole.shape:
            return whole
        size = whole.nbytes // whole.shape[0]
        count = whole.shape[0] - start if count is None else count
        buffer = Buffer(self.device, whole.address + start * size, count * size, owner=whole)
        return DeviceArray(buffer, (count, *whole.shape[1:]), whole.dtype, whole.element)

    def field(self, name: str, struct: Any, field: str, count: int) -> Array:
        """The first elements of an array inside one of the machine's structures."""
        kind, offset = struct.dtype.fields[field]
        element, _ = kind.subdtype
        buffer = Buffer(self.device, self._arrays[name].address + offset, count * element.itemsize, owner=self)
        return DeviceArray(buffer, (count,), element, None).get()

    def load(self, arrays: Mapping[str, Array]) -> None:
        """Put a tree of widgets on the device; it is laid out and drawn by the next frame."""
        for name, values in arrays.items():
            self.part(name, 0, len(values)).set(values)
        count = len(arrays["widgets"])
        tree = np.zeros((), LayoutTree.dtype)
        for name in ("styles", "links", "boxes", "work", "fonts"):
            tree[name] = self._arrays[name].address
        tree["text"] = self._arrays["texts"].address
        tree["count"], tree["available"], tree["rounding"] = count, (self.width, self.height), 1
        self._arrays["layout"].set(tree)
        state = self._arrays["frame"].get()
        for name in ("hovered", "captured", "focused", "open_popup", "click_widget"):
            state[name] = -1
        state["widgets"], state["relayout"], state["full_redraw"] = count, ALL_ANEW, 1
        state["top_layer"] = int(arrays["widgets"]["layer"][arrays["widgets"]["layer"] < limits.POPUP_LAYER].max())
        self._arrays["frame"].set(state)

    def lay_out_anew(self) -> None:
        """Find all boxes anew in the next frame, after the host has changed a style or a text."""
        self.change_state(relayout=ALL_ANEW)

    def change_state(self, **fields: Any) -> None:
        """Change fields of the state between two frames."""
        state = self._arrays["frame"].get()
        for name, value in fields.items():
            state[name] = value
        self._arrays["frame"].set(state)
        self.changed = True

    def widget(self, number: int) -> Any:
        """A copy of one widget, a record of Widget.dtype."""
        return self.part("widgets", number, 1).get()[0]

    def change_widget(self, number: int, **fields: Any) -> None:
        """Change fields of a widget between two frames."""
        record = self.part("widgets", number, 1).get()
        for name, value in fields.items():
            record[0][name] = value
        self.part("widgets", number, 1).set(record)
        self.changed = True

    # --- input and frames ---------------------------------------------------------------------------------------------

    def send(self, kind: int, x: int, y: int, button: int, modifiers: int, code: int, time_ms: int) -> None:
        """Put an event in line; frames take them in order, FRAME_EVENTS at a time."""
        edge = 2**15 - 1
        place = max(-edge, min(edge, x)), max(-edge, min(edge, y))
        self._events.append((kind, button & 255, modifiers, *place, code & 0xFFFFFFFF, time_ms & 0xFFFFFFFF))

    @property
    def waiting(self) -> int:
        """How many events no frame has taken yet."""
        return len(self._events)

    def fill_ring(self) -> None:
        """Events of the next frame into the ring: no more than a frame takes, so that none is overwritten."""
        head = int(self._ring["head"])
        for _ in range(min(len(self._events), limits.FRAME_EVENTS)):
            self._ring["events"][head % limits.RING_EVENTS] = np.array(self._events.popleft(), InputEvent.dtype)
            head = (head + 1) & 0xFFFFFFFF
        self._ring["head"] = head
        self._arrays["ring"].set(self._ring)

    def step(self, time_ms: int) -> Frame:
        """Run one frame at this time, and wait for it."""
        if self._events:
            self.fill_ring()
        self.changed = False
        self.launch(time_ms).wait_quietly()
        state = self._arrays["frame"].get()
        notices = NO_NOTICES
        if state["notices"]:
            all_of_them = self.field("scratch", Scratch, "notices", limits.MAX_NOTICES)
            notices = all_of_them[all_of_them["kind"] != 0]
        return Frame(state, notices)

    def launch(self, time_ms: int) -> Launch:
        """Begin a frame with the events that are in the ring; returns at once."""
        desk = self._arrays["desk"]
        launched = self.device.launch(self._frame_kernel, limits.THREADS, limits.THREADS, (desk, time_ms & 0xFFFFFFFF))
        if not self.one_group:
            tiles = threads = self._arrays["tiles"].shape[0]
            if self.device.stream_handle is not None:
                threads = tiles * limits.BLOCKS * 32
                self.device.launch(fill_bins, tiles * 32, DRAW_GROUP, (desk,))
            launched = self.device.launch(draw_tiles, threads, DRAW_GROUP, (desk,))
        return launched

    def pixels(self) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
        """The screen: height x width x 4 bytes, red, green, blue, alpha."""
        return self._arrays["pixels"].get().view(np.uint8).reshape(self.height, self.width, 4)

    def dirty_tiles(self, frame: Frame) -> tuple[Array, Array]:
        """The tiles that a frame drew: their numbers, row by row from the upper left, and their pixels.

        Call it before the next frame. Pixels beyond the screen's edges are 0.
        """
        count = int(frame.state["dirty_tiles"])
        words = self.field("scratch", Scratch, "dirty", limits.TILE_WORDS)
        numbers = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        if count:
            gather_tiles[min(count * limits.TILE**2, 1 << 20)](self._arrays["desk"], self._arrays["tiles"])
        return numbers, self.part("tiles", 0, count).get()
