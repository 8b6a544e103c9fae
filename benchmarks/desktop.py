"""Frames of the desktop: how long they take with everything dirty, with a part of it, and at rest.

python benchmarks/desktop.py                      # the default device, 1,920 x 1,080, 256 widgets
python benchmarks/desktop.py --size 3840x2160 --groups all
python benchmarks/desktop.py --device cpu --size 1280x720 --widgets 64
"""

import argparse
import time

import numpy as np

import lanewise as lw
from lanewise.desktop import ui
from lanewise.desktop.limits import SMALLEST_WINDOW


def crowd(widgets: int, width: int, height: int, **options) -> ui.Desktop:
    """A desktop of so many widgets with text, in windows that overlap."""
    windows = []
    left = widgets - 1
    while left >= 8:
        count = min(left - 5, 24)
        place = len(windows)
        content = []
        for number in range(count):
            kind = (ui.Button, ui.Checkbox, ui.Label, ui.Switch)[number % 4]
            content.append(kind(f"Widget {number + 1} of {count}"))
        windows.append(
            ui.Window(
                f"Window {place + 1}",
                *content,
                x=20 + place % 6 * (width - 320) // 6,
                y=20 + place // 6 * (height // 2 - 20) + place % 6 * 12,
                width=300,
                height=max(min(90 + count * 46, height - 60), SMALLEST_WINDOW),
                resizable=False,
            )
        )
        left -= count + 4
    return ui.Desktop(*windows, width=width, height=height, **options)


def measure(desktop: ui.Desktop, before, frames: int) -> tuple[float, float, int]:
    """The middle and the slowest time of frames in milliseconds, with no state read back; and tiles that were dirty."""
    machine = desktop.machine
    times = []
    clock = 100_000
    for _ in range(frames):
        before(clock)
        machine.device.synchronize()
        started = time.perf_counter()
        machine.launch(clock)
        machine.device.synchronize()
        times.append((time.perf_counter() - started) * 1000)
        clock += 8
    return float(np.median(times)), max(times), int(machine.part("frame").get()["dirty_tiles"])


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--widgets", type=int, default=256)
    parser.add_argument("--groups", choices=["one", "all"])
    parser.add_argument("--frames", type=int, default=50)
    chosen = parser.parse_args()
    width, height = map(int, chosen.size.split("x"))
    device = lw.device(chosen.device)
    desktop = crowd(chosen.widgets, width, height, device=device, groups=chosen.groups)
    desktop.settle()
    machine = desktop.machine
    state = desktop.last.state
    tiles = -(-width // 32) * -(-height // 32)
    some = desktop.windows[len(desktop.windows) // 2]
    print(
        f"{len(desktop.nodes)} widgets, {int(state['primitives'])} primitives, {int(state['glyphs'])} glyphs, "
        f"{tiles} tiles, {'one group' if machine.one_group else 'all groups'} on {device!r}"
    )

    buttons = [node.number for node in desktop.nodes if isinstance(node, ui.Button)]
    moving = 0  # as many as make a twentieth of all tiles dirty

    def all_dirty(clock: int) -> None:
        machine.change_state(full_redraw=1)

    def shift(number: int, clock: int) -> None:
        """Move a box by a pixel, there and back."""
        boxes = machine.part("boxes", number, 1)
        box = boxes.get()
        box["x"] += 1 if clock % 16 else -1
        boxes.set(box)

    def window_moves(clock: int) -> None:
        shift(some.number, clock)

    def some_move(clock: int) -> None:
        for number in buttons[:moving]:
            shift(number, clock)

    def one_event(clock: int) -> None:
        machine.send(1, clock // 8 % width, height // 3, 0, 0, 0, clock)
        machine.fill_ring()

    def laid_out(clock: int) -> None:
        machine.lay_out_anew()

    while moving < len(buttons) and measure(desktop, some_move, 2)[2] < tiles / 20:
        moving += 1
    for name, before in (
        ("all dirty", all_dirty),
        ("5 % dirty", some_move),
        ("a window moves", window_moves),
        ("the pointer moves", one_event),
        ("laid out anew", laid_out),
        ("at rest", lambda clock: None),
    ):
        middle, slowest, dirty = measure(desktop, before, chosen.frames)
        print(f"{name:<18} {middle:8.3f} ms   slowest {slowest:8.3f} ms   {dirty:5} tiles dirty")


if __name__ == "__main__":
    main()
