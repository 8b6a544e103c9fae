"""Where lanes live changes how fast they are, and nothing else."""

from pathlib import Path

import numpy as np
import pytest
from test_builds import PROGRAMS

import lanewise as lw
from lanewise.wasm.placement import Placement, parse_placement

PLACES = [
    "interleaved/32/all",
    "interleaved/8/all",
    "interleaved/1/64",
    "flat/32/all",
    "flat/4/96",
    "flat/1/32",
    "flat/8/64/64r/64g",
]
LANES = 200
PI = Path(__file__).parents[2] / "examples" / "programs" / "pi.wasm"


@pytest.mark.parametrize("place", PLACES)
def test_a_placement_is_read_as_it_is_shown(place):
    assert str(parse_placement(place)) == place


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("flat", "'flat' is no placement; write LAYOUT/LANES/RESIDENT"),
        ("flat/x/all", "'flat/x/all' is no placement"),
        ("flat/8/some", "'flat/8/some' is no placement"),
        ("round/8/all", "a layout is flat or interleaved, not 'round'"),
        ("flat/3/all", "lanes per warp are a power of two up to 32, not 3"),
        ("flat/64/all", "lanes per warp are a power of two up to 32, not 64"),
        ("flat/8/0", "there is 1 resident lane or more, not 0"),
        ("flat/8/all/4r", "a thread has 24 to 255 registers, not 4"),
        ("flat/8/all/48g", "a group has 32, 64, 128, 256 threads, not 48"),
        ("flat/8/all/64", "'flat/8/all/64' is no placement"),
    ],
)
def test_what_is_no_placement_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(lw.ArgumentError, match=sentence):
        parse_placement(text)


@pytest.mark.parametrize(
    ("place", "lanes", "slots"),
    [
        (Placement(), 10, 32), (Placement(), 33, 64), (Placement(), 10**6, 2048), (Placement("flat", 8), 10**6, 512),
        (Placement("flat", 1, 100), 10**6, 64), (Placement("flat", 32, 100), 10**6, 128),
    ],
)  # fmt: skip
def test_lanes_at_once_are_whole_tiles(place, lanes, slots):
    assert place.slots(lanes, 2048) == slots


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["json", "sha256"])
def test_lanes_give_the_same_wherever_they_live(name, place, device):
    program = PROGRAMS[name]
    function = lw.load(program.path).func("run", device=device, placement=place)
    rounds = np.arange(LANES, dtype=np.int32) % 4
    wanted = {0: program.checksums[0, 1], 1: program.checksums[1, 1], 3: program.checksums[3, 1]}
    found = function(rounds)
    for count, checksum in wanted.items():
        assert set(found[rounds == count].tolist()) == {checksum}


@pytest.mark.parametrize("place", ["interleaved/4/32", "flat/1/64"])
def test_programs_do_the_same_wherever_they_live(place, device):
    result = lw.run(PI, lanes=300, args=["{lane}", "50"], device=device, placement=place)
    usual = lw.run(PI, lanes=300, args=["{lane}", "50"], device=device)
    assert result.ok
    assert result.stdout.text == usual.stdout.text
