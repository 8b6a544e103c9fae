"""Random input for minutes, by hand: no trap, no frame that differs between devices or from laying out and drawing all
of it.

    python tests/desktop/soak.py --minutes 10 --device cuda

Each round does the same random things to a desktop on the CPU and to one on the device, and compares their screens.
A line a minute says how far it is. At the end the memory of the process may not have grown by more than a little, and
no more buffers of devices may be alive than after the first rounds.
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
from lanewise.devices.base import Buffer

EVENTS = 120
WARM_UP_ROUNDS = 6
MOST_GROWTH_MIB = 64
"""What the process may take more at its end than after the first rounds: a leak of one desktop a round is far more."""


def peak_mib() -> float:
    """The most memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def live_buffers() -> int:
    """How many pieces of device memory have an owner; takes away first what nobody refers to any more."""
    gc.collect()  # widgets and their desktop refer to each other
    return sum(isinstance(found, Buffer) for found in gc.get_objects())


def play(number: int, places: list[tuple[str, lw.Device]]) -> None:
    """One round; ends the process if screens differ."""
    screens = []
    for name, place in places:
        desktop = gallery(place, groups="one" if number % 2 else "all")
        hand = wander(desktop, number, EVENTS)
        screen = desktop.pixels()
        if not np.array_equal(screen, redrawn(desktop, hand.time - 16)):
            sys.exit(f"round {number}: {name} does not draw what drawing everything gives")
        screens.append(screen)
    if not all(np.array_equal(screen, screens[0]) for screen in screens):
        sys.exit(f"round {number}: {places[1][0]} draws other pixels than the CPU")


def soak(device: lw.Device, minutes: float) -> None:
    """Play rounds for so long; ends the process at the first that differs, or if memory leaks."""
    places = [("the CPU", lw.device("cpu"))] + ([] if device.name == "cpu" else [(device.name, device)])
    for number in range(WARM_UP_ROUNDS):  # compiles, and reaches the memory that a round takes
        play(number, places)
        gc.collect()
    buffers, before, began = live_buffers(), peak_mib(), time.monotonic()
    rounds, said = 0, began
    while time.monotonic() < began + minutes * 60:
        play(WARM_UP_ROUNDS + rounds, places)
        rounds += 1
        gc.collect()
        if time.monotonic() > said + 60:
            said = time.monotonic()
            print(f"{(said - began) / 60:.0f} minutes: {rounds} rounds, +{peak_mib() - before:.0f} MiB", flush=True)
    grown, more = peak_mib() - before, live_buffers() - buffers
    print(f"{rounds} rounds of {EVENTS} events on {device!r}, all the same; memory grew by {grown:.0f} MiB")
    if grown > MOST_GROWTH_MIB:
        sys.exit(f"memory grew by more than {MOST_GROWTH_MIB} MiB")
    if more > 0:
        sys.exit(f"{more} buffers of devices were not given back")


def main() -> None:
    """Soak as long as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--device", default="auto")
    chosen = parser.parse_args()
    soak(lw.device(chosen.device), chosen.minutes)


if __name__ == "__main__":
    main()
