"""Frames: the same pixels whoever draws them, on every device, and the same as a person has looked at."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from hand import STEP_MS, Hand, redrawn
from samples import gallery

import lanewise as lw
from lanewise.desktop import limits, ui
from lanewise.desktop.layout.style import Style

PICTURES = Path(__file__).parent / "pictures"


OF_PEOPLE = (
    ui.Window,
    ui.Row,
    ui.Column,
    ui.Tabs,
    ui.Button,
    ui.Checkbox,
    ui.Slider,
    ui.Field,
    ui.Menu,
    ui.List,
    ui.Label,
)
"""Widgets that people make, and show and hide; others are parts of these."""


def wander(desktop: ui.Desktop, seed: int, count: int) -> Hand:
    """Do random things all over the screen; now and then widgets are disabled or hidden, and come back."""
    random = np.random.default_rng(seed)
    hand = Hand(desktop)
    kinds = ("pointer_move", "pointer_move", "pointer_down", "pointer_up", "wheel", "char", "key_down")
    keys = ("Tab", "ArrowLeft", "ArrowRight", "ArrowDown", "End", "Home", "Enter", "Backspace", "Escape", "a", "c", "v")
    for _ in range(count):
        x, y = int(random.integers(-5, desktop.width + 5)), int(random.integers(-5, desktop.height + 5))
        node = desktop.nodes[int(random.integers(1, len(desktop.nodes)))]
        if random.random() < 0.5 and node.box[2] > 0:  # so that small ones are met, too
            x, y = hand.place(node)
        if type(node) in OF_PEOPLE and random.random() < 0.1:
            node.disabled = not node.disabled
        elif type(node) in OF_PEOPLE and random.random() < 0.1:
            node.show(bool(random.random() < 0.7))
        hand.send(
            str(random.choice(kinds)),
            x=x,
            y=y,
            button=1,
            dy=int(random.integers(-300, 300)),
            data=chr(int(random.integers(32, 1200))),
            key=str(random.choice(keys)),
            modifiers=["Control"] if random.random() < 0.2 else [],
        )
        if random.random() < 0.5:
            hand.wait()
    hand.wait()
    return hand


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_groups_draw_what_one_group_draws(device, theme):
    pictures = []
    for groups in ("one", "all"):
        desktop = gallery(device, theme=theme, groups=groups)
        desktop.settle()
        pictures.append(desktop.pixels())
    assert np.array_equal(*pictures)


@pytest.mark.parametrize("seed", range(3))
def test_drawing_only_what_changed_gives_the_same_as_drawing_all(device, seed):
    desktop = gallery(device, groups="one")
    hand = wander(desktop, seed, 60)
    desktop.step(hand.time)
    seen = desktop.pixels()
    assert np.array_equal(seen, redrawn(desktop, hand.time))


def test_every_device_draws_the_same_frames(device):
    if device.name == "cpu":
        pytest.skip("the CPU is what others are compared with")
    pictures = []
    for which in (lw.device("cpu"), device):
        desktop = gallery(which, groups="one")
        pictures.append([wander(desktop, 5, 80), desktop.pixels()])
    assert np.array_equal(pictures[0][1], pictures[1][1])


def test_the_dirty_tiles_of_a_frame_are_all_that_changed(device):
    desktop = gallery(device, groups="one")
    desktop.settle()
    before = desktop.pixels()
    hand = Hand(desktop)
    button = next(node for node in desktop.nodes if node.initial_text == "Save")
    hand.move(*hand.place(button))
    numbers, tiles = desktop.machine.dirty_tiles(desktop.last)
    assert 0 < len(numbers) < 30
    after = before.copy().view(np.uint32)[..., 0]
    for number, tile in zip(numbers, tiles, strict=True):
        down, across = divmod(int(number), desktop.width // limits.TILE)
        area = after[down * limits.TILE :, across * limits.TILE :][: limits.TILE, : limits.TILE]
        area[...] = tile[: area.shape[0], : area.shape[1]]
    assert np.array_equal(after, desktop.pixels().view(np.uint32)[..., 0])


def test_a_desktop_at_rest_draws_nothing_and_says_so(device):
    desktop = gallery(device, groups="one")
    time = desktop.settle()
    frame = desktop.step(time + STEP_MS)
    assert frame.state["dirty_tiles"] == 0
    assert not desktop.restless


def test_a_tile_with_more_than_its_bin_holds_is_drawn_whole(device):
    """Many small panels in one tile, the last of them on top."""
    panels = [
        ui.Panel(
            background="#ff0000", position="absolute", inset=(4, "auto", "auto", 4), width=20, height=20, padding=0
        )
        for _ in range(limits.BIN_ENTRIES + 20)
    ]
    # Transparent, so that none of them hides those below it.
    top = ui.Panel(background="#00ff0080", position="absolute", inset=(4, "auto", "auto", 4), width=20, height=20)
    desktop = ui.Desktop(*panels, top, width=64, height=64, device=device, groups="one")
    desktop.settle()
    red, green, blue, _ = desktop.pixels()[14, 14].tolist()
    assert abs(red - 127) <= 1
    assert abs(green - 128) <= 1
    assert blue == 0


@pytest.mark.parametrize("size", [(1, 1), (33, 31), (333, 111)])
def test_screens_of_awkward_sizes(device, size):
    desktop = ui.Desktop(ui.Button("Hello", width=200, height=100), width=size[0], height=size[1], device=device)
    desktop.settle()
    assert desktop.pixels().shape == (size[1], size[0], 4)
    assert (desktop.pixels()[..., 3] == 255).all()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_gallery_looks_as_it_did(device, theme):
    """Within what another version of FreeType may draw otherwise; LANEWISE_REWRITE=1 writes the picture anew."""
    image = pytest.importorskip("PIL.Image")
    desktop = gallery(device, theme=theme, groups="one")
    hand = Hand(desktop)
    hand.click(next(node for node in desktop.nodes if isinstance(node, ui.Field)))
    hand.settle_at(10_000)
    seen = desktop.pixels()[..., :3]
    path = PICTURES / f"gallery-{theme}.png"
    if os.environ.get("LANEWISE_REWRITE"):
        packed = io.BytesIO()
        image.fromarray(seen).save(packed, "png", optimize=True)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(packed.getvalue())
    expected = np.asarray(image.open(path).convert("RGB")).astype(int)
    differs = np.abs(expected - seen.astype(int)).max(axis=2)
    assert differs.mean() < 4
    assert (differs > 48).mean() < 0.002


def test_a_screen_that_is_too_large_is_refused(device):
    with pytest.raises(lw.ArgumentError, match="may have 1 to 8,192, which is 3,840 x 2,160"):
        ui.Desktop(width=8000, height=8000, device=device)


def test_styles_of_widgets_are_those_of_layout():
    assert ui.Row(column_gap=3).layout == Style(flex_direction="row", column_gap=3, row_gap=12, align_items="center")
