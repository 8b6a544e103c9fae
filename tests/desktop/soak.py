"""Random input for minutes, by hand: no trap, no frame that differs between devices or from drawing all of it.

    python tests/desktop/soak.py --minutes 10 --device cuda

Each round does the same random things to a desktop on the CPU and to one on the device, and compares their screens.
"""

import argparse
import gc
import resource
import sys
import time

import numpy as np
from hand import redrawn
from samples import gallery
from test_frames import wander

import lanewise as lw

EVENTS = 120


def soak(device: lw.Device, minutes: float) -> int:
    """How many rounds there were; ends the process at the first that differs."""
    ended = time.monotonic() + minutes * 60
    places = [("the CPU", lw.device("cpu"))] + ([] if device.name == "cpu" else [(device.name, device)])
    rounds = 0
    while time.monotonic() < ended:
        screens = []
        for name, place in places:
            desktop = gallery(place, groups="one" if rounds % 2 else "all")
            hand = wander(desktop, rounds, EVENTS)
            screen = desktop.pixels()
            if not np.array_equal(screen, redrawn(desktop, hand.time - 16)):
                sys.exit(f"round {rounds}: {name} does not draw what drawing everything gives")
            screens.append(screen)
        if not all(np.array_equal(screen, screens[0]) for screen in screens):
            sys.exit(f"round {rounds}: {places[1][0]} draws other pixels than the CPU")
        rounds += 1
        del desktop, hand
        gc.collect()  # widgets and their desktop refer to each other
    return rounds


def main() -> None:
    """Soak as long as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--device", default="auto")
    chosen = parser.parse_args()
    device = lw.device(chosen.device)
    soak(device, 0.05)  # compiles, and reaches the memory that a round takes
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rounds = soak(device, chosen.minutes)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{rounds} rounds of {EVENTS} events on {device!r}, all the same; memory grew by {grown / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
