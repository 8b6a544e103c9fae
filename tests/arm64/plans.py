"""Plans for tests: that of some code, and random ones."""

import random

from lanewise.arm64.finding import Block, Code
from lanewise.arm64.places import Place, Plan, copied_places
from lanewise.arm64.units import find_units


def plan_of(code, entries):
    """The plan of a small program, with functions in the place of their calls."""
    (unit,) = find_units(Code(code, 0), entries, calls=True, gpu=True)
    return copied_places(unit)


def any_plan(seed, words=0):
    """A plan of random places, of which some are entries; each block has so many words."""
    numbers = random.Random(seed)
    count = numbers.randint(2, 14)
    places = []
    for number in range(count):
        ways = {4 * way: way for way in numbers.sample(range(count), numbers.choice([0, 1, 1, 2, 2]))}
        places.append(Place(number, Block(4 * number, [0] * words), ways))
    entries = {0, *numbers.sample(range(count), numbers.randint(0, count - 1))}
    return Plan(places, {4 * entry: entry for entry in sorted(entries)})
