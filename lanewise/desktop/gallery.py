"""The gallery: what people read, press, type in and choose from. `lanewise desktop` shows it where no file is named."""

from __future__ import annotations

import numpy as np

from lanewise.desktop import ui


def picture() -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """A sunset, 240 x 135 pixels."""
    y, x = np.mgrid[:135, :240].astype(np.float32)
    sun = np.clip(1.2 - np.hypot(x - 160, y - 70) / 34, 0, 1)[..., None]
    sky = (
        np.array([94, 84, 190])
        + (np.array([255, 158, 108]) - np.array([94, 84, 190])) * (y / 100).clip(0, 1)[..., None]
    )
    hills = (y > 98 + 10 * np.sin(x / 23) + 5 * np.sin(x / 9))[..., None]
    sky = sky + (np.array([255, 236, 190]) - sky) * sun
    return np.where(hills, np.array([54, 44, 96]), sky).astype(np.uint8)


def windows() -> list[ui.Window]:
    """The windows of the gallery."""
    return [_controls(), _list(), _pictures()]


def _controls() -> ui.Window:
    said = ui.Label("Nothing was pressed yet.", muted=True)

    def tell(event: ui.Event) -> None:
        said.text = f"{event.widget.called or type(event.widget).__name__}: {event.kind}"[:32]

    def volume(event: ui.Event) -> None:
        bar.value = event.value

    bar = ui.Progress(60, flex_grow=1)
    controls = ui.Column(
        ui.Row(
            ui.Button("Cancel", on_click=tell),
            ui.Button("Save", accent=True, on_click=tell),
            ui.Button("Disabled", disabled=True),
        ),
        ui.Row(
            ui.Checkbox("Autosave", checked=True, on_change=tell),
            ui.Checkbox("Backup", on_change=tell),
            ui.Radio("Fast", group="speed", checked=True),
            ui.Radio("Thorough", group="speed"),
            column_gap=22,
        ),
        ui.Row(ui.Switch("Wi-Fi", checked=True), ui.Switch("Bluetooth"), column_gap=22),
        ui.Row(ui.Label("Volume", muted=True, width=64), ui.Slider(60, flex_grow=1, on_change=volume)),
        ui.Row(ui.Label("Level", muted=True, width=64), bar),
        ui.Row(ui.Field("Ada Lovelace", flex_grow=1), ui.Field("secret", secret=True, flex_grow=1)),
        ui.Row(ui.Menu(["Daily", "Weekly", "Monthly"]), said),
    )
    text = ui.Column(
        ui.Label("Hamburgefonstiv", size=44),
        ui.Label("Größe, façade, Żółć, AVATAR, Type", size=22),
        ui.Label("Ζαφείρι δέξου πάγκαλο, βαθών ψυχής το σήμα", size=16),
        ui.Label("Съешь ещё этих мягких французских булок", size=16),
        ui.Label("Small print at ten pixels stays readable: 0123456789.", size=10, muted=True),
    )
    return ui.Window("Widgets", ui.Tabs({"Controls": controls, "Text": text}), x=50, y=48, width=560, height=470)


def _list() -> ui.Window:
    return ui.Window(
        "Ten thousand rows",
        ui.List([f"Row {number + 1:,}" for number in range(10_000)], chosen=3),
        x=660,
        y=40,
        width=320,
        height=360,
    )


def _pictures() -> ui.Window:
    return ui.Window(
        "Picture",
        ui.Image(picture(), width="100%", height="auto", aspect_ratio=16 / 9),
        ui.Label("A picture keeps its shape when the window is resized.", muted=True, size=12),
        x=860,
        y=300,
        width=360,
        height=330,
    )
