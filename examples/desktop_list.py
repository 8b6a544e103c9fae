"""Ten thousand rows of which the device keeps a few. Look at it with: lanewise desktop examples/desktop_list.py"""

from lanewise.desktop import ui

ROWS = [f"{number:,} is {'even' if number % 2 == 0 else 'odd'}" for number in range(1, 10_001)]


def windows() -> list[ui.Window]:
    """The windows of the desktop."""
    chosen = ui.Label("Choose a row.", muted=True)

    def tell(event: ui.Event) -> None:
        chosen.text = ROWS[int(event.value)]

    return [ui.Window("Numbers", ui.List(ROWS, on_change=tell), chosen, x=400, y=60, width=420, height=560)]


if __name__ == "__main__":
    desktop = ui.Desktop(*windows())
    time_ms = desktop.settle()
    desktop.send({"event_type": "key_down", "key": "Tab"}, time_ms)
    desktop.send({"event_type": "key_down", "key": "End"}, time_ms)
    desktop.settle(time_ms)
    label = next(node for node in desktop.nodes if node.initial_text == "Choose a row.")
    print(f"{len(ROWS):,} rows in {len(desktop.nodes)} widgets, the last one {label.text!r}, on {desktop.device!r}")
