"""Desktops that several tests look at."""

import numpy as np

from lanewise.desktop import ui


def gallery(device, **options) -> ui.Desktop:
    """Most kinds of widgets in two windows, one over the other."""
    y, x = np.mgrid[:60, :100]
    picture = np.stack([x * 255 // 100, y * 255 // 60, (x * y) & 255], axis=2).astype(np.uint8)
    controls = ui.Column(
        ui.Row(ui.Button("Cancel"), ui.Button("Save", accent=True), ui.Button("Never", disabled=True)),
        ui.Row(ui.Checkbox("Checked", checked=True), ui.Checkbox("Not"), ui.Radio("One", group="g", checked=True)),
        ui.Row(ui.Switch("On", checked=True), ui.Switch("Off"), ui.Radio("Two", group="g")),
        ui.Row(ui.Slider(60, flex_grow=1), ui.Progress(40, flex_grow=1)),
        ui.Row(ui.Field("Ada Lovelace", flex_grow=1), ui.Menu(["First", "Second"])),
        ui.Row(ui.Image(picture), ui.Label("Labels wrap: Ελληνικά, кириллица, AVATAR.", muted=True, flex_shrink=1)),
    )
    return ui.Desktop(
        ui.Window("Gallery", ui.Tabs({"Controls": controls, "Text": ui.Label("Ag", size=64)}), width=400, height=400),
        ui.Window("List", ui.List([f"Row {k + 1}" for k in range(1000)], chosen=2), x=420, y=90, width=200, height=240),
        width=640,
        height=480,
        device=device,
        **options,
    )
