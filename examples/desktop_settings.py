"""Settings whose handlers run on the device. Look at it with: lanewise desktop examples/desktop_settings.py"""

from lanewise.desktop import ui
from lanewise.desktop.handlers import set_number, set_theme, target_of
from lanewise.desktop.numbers import CHANGED
from lanewise.desktop.state import Desk, Notice
from lanewise.lang import Ptr, device, i32


@device
def choose_theme(desk: Ptr[Desk], event: Ptr[Notice]):
    """The switch is on for the dark theme. No Python runs when it is turned."""
    if event.kind == CHANGED:
        set_theme(desk, event.value > 0.0)


@device
def show_level(desk: Ptr[Desk], event: Ptr[Notice]):
    """The number beside a slider follows it."""
    if event.kind == CHANGED:
        set_number(desk, target_of(desk, event.widget), i32(event.value))


def level(name: str, value: int) -> ui.Row:
    """A slider with its name and its number."""
    number = ui.Label(str(value), width=32, align="end")
    slider = ui.Slider(value, step=1, flex_grow=1, on_change=show_level, target=number)
    return ui.Row(ui.Label(name, muted=True, width=90), slider, number)


def section(title: str, *widgets: ui.Node) -> ui.Panel:
    """Settings that belong together."""
    return ui.Panel(ui.Label(title, bold=True), *widgets)


def windows() -> list[ui.Window]:
    """The windows of the desktop."""
    look = section(
        "Look", ui.Switch("Dark theme", on_change=choose_theme), level("Brightness", 80), level("Contrast", 50)
    )
    sound = section("Sound", level("Volume", 35), ui.Checkbox("Mute when headphones are unplugged", checked=True))
    person = section(
        "Person",
        ui.Row(ui.Label("Name", muted=True, width=90), ui.Field("Grace Hopper", flex_grow=1)),
        ui.Row(ui.Label("Language", muted=True, width=90), ui.Menu(["English", "Ελληνικά", "Українська"])),
    )
    buttons = ui.Row(ui.Spacer(), ui.Button("Cancel"), ui.Button("Apply", accent=True))
    return [ui.Window("Settings", look, sound, person, buttons, x=340, y=40, width=560, height=600)]


if __name__ == "__main__":
    desktop = ui.Desktop(*windows())
    time_ms = desktop.settle()
    switch = next(node for node in desktop.nodes if isinstance(node, ui.Switch))
    x, y, _, _ = switch.box
    for kind in ("pointer_move", "pointer_down", "pointer_up"):
        desktop.send({"event_type": kind, "x": x + 8, "y": y + 8, "button": 1}, time_ms)
    desktop.settle(time_ms)
    print(f"one click made the theme {desktop.theme} on {desktop.device!r}")
