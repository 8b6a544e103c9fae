"""Where lanes live changes how fast they are, and nothing else."""

from pathlib import Path

import numpy as np
import pytest
import wasmtime
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
    "words/32/all",
    "words/16/64/64g",
    "interleaved/32/all/u",
    "words/32/all/64r/u",
    "flat/2/64/u",
    "words/32/fit/64g/u",
    "interleaved/8/fit",
]
LANES = 200
PI = Path(__file__).parents[2] / "examples" / "programs" / "pi.wasm"


@pytest.mark.parametrize("place", PLACES)
def test_a_placement_is_read_as_it_is_shown(place):
    assert str(parse_placement(place)) == place


def test_what_stands_behind_a_placement_may_be_in_any_order():
    assert str(parse_placement("words/32/all/u/64g/48r")) == "words/32/all/48r/64g/u"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("flat", "'flat' is no placement; write LAYOUT/LANES/RESIDENT"),
        ("flat/x/all", "'flat/x/all' is no placement"),
        ("flat/8/some", "'flat/8/some' is no placement"),
        ("round/8/all", "a layout is flat or interleaved, or for functions words, not 'round'"),
        ("flat/3/all", "lanes per warp are a power of two up to 32, not 3"),
        ("flat/64/all", "lanes per warp are a power of two up to 32, not 64"),
        ("flat/8/0", "there are 1 to 4,294,967,295 resident lanes, not 0"),
        ("flat/8/4294967296", "there are 1 to 4,294,967,295 resident lanes, not 4294967296"),
        ("flat/8/all/4r", "a thread has 24 to 255 registers, not 4"),
        ("flat/8/all/48g", "a group has 32, 64, 128, 256 threads, not 48"),
        (
            "flat/8/all/64",
            "/64 in the placement 'flat/8/all/64' can mean nothing; behind LAYOUT/LANES/RESIDENT",
        ),
        ("flat/8/all/64r/48r", "/48r in the placement 'flat/8/all/64r/48r' is there twice"),
        ("flat/8/all/0g", "a group has 32, 64, 128, 256 threads, not 0"),
    ],
)
def test_what_is_no_placement_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(lw.ArgumentError, match=sentence):
        parse_placement(text)


def test_lanes_at_once_are_a_number_or_what_fits():
    with pytest.raises(lw.ArgumentError, match="there are 1 to 4,294,967,295 resident lanes, not some"):
        Placement("flat", 8, "some")


@pytest.mark.parametrize("given", [5, b"flat/8/all", ["flat/8/all"]])
def test_a_placement_is_text(given):
    with pytest.raises(lw.ArgumentError, match=r"a placement is text, LAYOUT/LANES/RESIDENT"):
        lw.load(PROGRAMS["json"].path).func("run", device="cpu", placement=given)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"placement": "words/32/all", "layout": "flat"}, "layout and placement both say how memory lies"),
        ({"placement": "search", "layout": "flat"}, "layout and placement both say how memory lies"),
        ({"placement": "search", "stats": True}, "search without stats"),
    ],
)
def test_choices_that_contradict_each_other_are_refused(choices, sentence):
    with pytest.raises(lw.ArgumentError, match=sentence):
        lw.load(PROGRAMS["json"].path).func("run", device="cpu", **choices)


@pytest.mark.parametrize("given", [5, "flat/8/all"])
def test_what_is_tried_is_a_list(given):
    with pytest.raises(lw.ArgumentError, match="placements is a list of placements"):
        lw.load(PROGRAMS["json"].path).func("run", device="cpu").tune(1, placements=given)


@pytest.mark.parametrize(
    ("place", "lanes", "slots"),
    [
        (Placement(), 10, 32), (Placement(), 33, 64), (Placement(), 10**6, 2048), (Placement("flat", 8), 10**6, 512),
        (Placement("flat", 1, 100), 10**6, 64), (Placement("flat", 32, 100), 10**6, 128),
        (Placement("words", 32, "fit"), 10**6, 2048), (Placement("words", 16, "fit"), 10**6, 1024),
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


DIVERGING = wasmtime.wat2wasm("""(module (memory 1)
  (func $steps (param $n i64) (param $depth i32) (result i32)
    (if (i64.eq (local.get $n) (i64.const 1)) (then (return (local.get $depth))))
    (i32.store8 (i32.and (local.get $depth) (i32.const 1023)) (i32.wrap_i64 (local.get $n)))
    (if (i64.eqz (i64.and (local.get $n) (i64.const 1)))
      (then (return (call $steps (i64.shr_u (local.get $n) (i64.const 1))
        (i32.add (local.get $depth) (i32.const 1))))))
    (loop $even
      (local.set $n (i64.add (i64.mul (local.get $n) (i64.const 3)) (i64.const 1)))
      (local.set $depth (i32.add (local.get $depth) (i32.const 1)))
      (loop $halve
        (local.set $n (i64.shr_u (local.get $n) (i64.const 1)))
        (local.set $depth (i32.add (local.get $depth) (i32.const 1)))
        (br_if $halve (i64.eqz (i64.and (local.get $n) (i64.const 1)))))
      (br_if $even (i64.gt_u (local.get $n) (i64.const 40))))
    (call $steps (local.get $n) (local.get $depth)))
  (func (export "run") (param $n i32) (result i32)
    (i32.sub (call $steps (i64.extend_i32_u (local.get $n)) (i32.const 0)) (i32.load8_u (i32.const 2000)))))""")


def collatz_steps(count: int) -> np.ndarray:
    values, steps = np.arange(1, count + 1, dtype=np.int64), np.zeros(count, np.int32)
    while (going := values != 1).any():
        steps += going
        values = np.where(going, np.where(values % 2 == 0, values // 2, 3 * values + 1), values)
    return steps


@pytest.mark.parametrize("place", ["interleaved/32/1024", "interleaved/16/512", "flat/32/1024", "flat/8/512"])
def test_every_element_runs_once_whatever_ways_its_neighbours_go(place, device):
    count = 100_000
    function = lw.load(DIVERGING).func("run", device=device, placement=place)
    wanted, given = collatz_steps(count), np.arange(1, count + 1, dtype=np.int32)
    for _ in range(3):
        assert np.flatnonzero(function(given) != wanted).tolist() == []
