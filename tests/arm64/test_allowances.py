"""Where lanes ask whether they have enough instructions left, and for how many: never too few, whatever way they go."""

import random

import pytest

from lanewise.arm64.allowances import _MOST, find_allowances
from lanewise.arm64.finding import Block
from lanewise.arm64.places import Place, Plan


def plan_of(rng):
    """Places that go on anywhere, some of them entries."""
    count = rng.randrange(1, 30)
    places = []
    for number in range(count):
        ways = {4 * other: other for other in rng.sample(range(count), min(count, rng.randrange(3)))}
        returns = (0, rng.randrange(count)) if not ways and rng.random() < 0.5 else None
        longest = rng.choice([4, 40, 140])
        places.append(Place(number, Block(4 * number, [0] * rng.randrange(1, longest)), ways, returns))
    return Plan(places, {4 * one: one for one in rng.sample(range(count), rng.randrange(1, count + 1))})


@pytest.mark.parametrize("seed", range(200))
def test_no_lane_runs_more_than_it_has_asked_for(seed):
    rng = random.Random(seed)
    plan = plan_of(rng)
    found = find_allowances(plan)
    for _ in range(50):
        at, allowed = rng.choice(list(plan.entries.values())), found.entering
        for _ in range(100):
            place = plan.places[at]
            allowed = found.asked.get(at, allowed) - len(place.block.words)
            assert allowed >= 0
            if not place.next_places:
                break
            at = rng.choice(place.next_places)


@pytest.mark.parametrize("seed", range(200))
def test_no_more_is_asked_for_than_an_interpreter_runs_soon(seed):
    plan = plan_of(random.Random(seed))
    found = find_allowances(plan)
    longest = max(len(place.block.words) for place in plan.places)
    assert max([found.entering, *found.asked.values()]) <= max(_MOST, longest)


def test_ways_are_cut_where_they_are_long():
    """Ten blocks of 30 instructions one after the other: each third asks, for three."""
    places = [
        Place(number, Block(120 * number, [0] * 30), {0: number + 1} if number < 9 else {}) for number in range(10)
    ]
    found = find_allowances(Plan(places, {0: 0}))
    assert _MOST == 100
    assert (found.asked, found.entering) == ({1: 90, 4: 90, 7: 90}, 30)


def test_what_goes_on_for_ever_asks_once_a_round():
    """Four blocks in a circle, entered at one: it alone asks, for all of them."""
    places = [Place(number, Block(4 * number, [0] * 5), {0: (number + 1) % 4}) for number in range(4)]
    found = find_allowances(Plan(places, {0: 0}))
    assert (found.asked, found.entering) == ({0: 20}, 0)
