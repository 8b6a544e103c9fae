"""Builds with stats count how far the lanes of a warp are in step."""

import numpy as np
import pytest
import wasmtime

import lanewise as lw
from lanewise.wasm import state
from lanewise.wasm.build import Build, gpu_build
from lanewise.wasm.divergence import Divergence, divergence_of
from lanewise.wasm.lanes import LaneProgram

ROUNDS = wasmtime.wat2wasm("""(module (memory 1 1) (func (export "run") (param i32) (result i32)
  (loop $again
    (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
    (br_if $again (i32.lt_u (i32.load (i32.const 0)) (local.get 0))))
  (i32.load (i32.const 0))))""")
LANES = 96


@pytest.mark.parametrize(("layout", "shape"), [("interleaved", (2, 30, 32)), ("flat", (64, 30, 1))])
def test_what_lanes_counted_is_summed_up(layout, shape):
    states = np.zeros(shape, np.uint64)
    states[:, state.ROUNDS] = 10
    states[:, state.ROUND_SHARES] = 10 * 2**20 // 4  # four lanes of a warp at a time
    found = divergence_of(states.reshape(-1), 30, Build(gpu=True, layout=layout))
    assert found == Divergence(640, 160.0)
    assert str(found + found) == "divergence: 4.0 lanes of a warp active, in 1,280 rounds of loops"


def test_without_loops_there_is_nothing_to_say():
    assert Divergence().active == 0
    assert str(Divergence()) == "divergence: no loop was counted"


PLAIN = wasmtime.wat2wasm("""(module (func (export "run") (param i32) (result i32) (local i32)
  (loop $again (br_if $again (i32.lt_u (local.tee 1 (i32.add (local.get 1) (i32.const 1))) (local.get 0))))
  (local.get 1)))""")


@pytest.mark.parametrize("stats", [False, True])
def test_functions_that_need_no_instance_have_one_to_count_in(stats):
    module = lw.load(PLAIN).model
    program = LaneProgram(module, 0, gpu_build(lanes=True, stats=stats), (False,))
    assert program.plain != stats
    assert sum("call void @lw.sample(" in part.ir for part in program.parts(1)) == stats


def test_rounds_of_functions_that_need_no_instance_are_counted(device):
    function = lw.load(PLAIN).func("run", device=device, stats=True)
    assert function(np.arange(1, LANES + 1, dtype=np.int32)).tolist() == list(range(1, LANES + 1))
    assert function.divergence.lane_rounds == (0 if device.name == "cpu" else LANES * (LANES + 1) // 2)


def test_functions_that_need_no_instance_live_nowhere(device):
    function = lw.load(PLAIN).func("run", device=device)
    assert function.placement == ""
    assert function.explain().startswith("placement: none; ")


@pytest.mark.parametrize("place", ["interleaved/32/all", "flat/8/all"])
def test_lanes_in_step_are_told_from_lanes_that_are_not(place, device):
    lanes = {}
    for name, rounds in (("same", np.full(LANES, 50)), ("different", np.arange(1, LANES + 1))):
        function = lw.load(ROUNDS).func("run", device=device, placement=place, stats=True)
        before = function.divergence
        assert function(rounds.astype(np.int32)).tolist() == rounds.tolist()
        lanes[name] = function.divergence.lane_rounds - before.lane_rounds, function.divergence.active
    if device.name == "cpu":
        assert lanes == {"same": (0, 0.0), "different": (0, 0.0)}
        return
    width = int(place.split("/")[1])
    assert lanes["same"] == (LANES * 50, pytest.approx(width, rel=0.01))
    assert lanes["different"][0] == LANES * (LANES + 1) // 2
    assert lanes["different"][1] < 0.99 * width
