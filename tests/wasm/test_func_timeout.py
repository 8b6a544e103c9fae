"""A timeout on the CPU ends the lanes that have not finished, and those alone: the others keep their results."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import wasmtime

import lanewise as lw
from lanewise.wasm import Module


@pytest.fixture
def device(lane_device):
    return lane_device


SPIN = """(module
  (memory 1)
  (func (export "spin") (param i32) (result i32)
    (loop (br_if 0 (i32.and (local.get 0) (i32.const 1))))
    (i32.sub (local.get 0) (i32.const 2)))
  (func (export "stored") (param i32) (result i32 i64)
    (i32.store (i32.const 8) (local.get 0))
    (loop (br_if 0 (i32.and (i32.load (i32.const 8)) (i32.const 1))))
    (i32.load (i32.const 8)) (i64.extend_i32_s (local.get 0)))
  (func (export "silent") (param i32)
    (if (i32.eq (local.get 0) (i32.const 4)) (then unreachable))
    (loop (br_if 0 (i32.and (local.get 0) (i32.const 1)))))
  (func (export "work") (param i32) (result i32) (local i32)
    (loop
      (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const 1103515245)) (i32.const 12345)))
      (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))
  (func (export "straight") (param i32) (result i32) (i32.mul (local.get 0) (i32.const 3))))
"""


@pytest.fixture(scope="module")
def spin():
    return Module.load(bytes(wasmtime.wat2wasm(SPIN)))


def test_lanes_that_a_timeout_ends_are_masked_and_the_others_keep_their_results(spin):
    result = spin.func("spin", device="cpu", timeout=0.5, errors="mask")([0, 1, 2, 3])
    # Each worker spins in one lane; what none of them has come to is interrupted, too.
    assert result.mask[[1, 3]].all()
    assert not result.mask[0]
    finished = np.flatnonzero(~result.mask)
    assert result.data[finished].tolist() == (finished - 2).tolist()  # 0 is a result like others


def test_lanes_that_a_timeout_ends_are_named(spin):
    with pytest.raises(lw.LaneError, match=r"stored: .*lane 3: interrupted") as error:
        spin.func("stored", device="cpu", timeout=0.5)([2, 4, 6, 7])
    assert error.value.lanes[-1] == 3
    assert set(error.value.kinds) == {"interrupted"}
    finished = [lane for lane in range(4) if lane not in error.value.lanes]
    assert finished[0] == 0
    for result in error.value.results:
        assert result[finished].tolist() == [2 * lane + 2 for lane in finished]


def test_lanes_that_trapped_before_a_timeout_keep_their_kind(spin):
    function = spin.func("silent", device="cpu", timeout=0.5)
    with pytest.raises(lw.LaneError) as error:
        function([4, 2, 2, 1])
    assert error.value.kinds[0] == "unreachable"
    assert error.value.kinds[-1] == "interrupted"
    assert function([0, 2, 6]) is None


def test_a_timeout_ends_lanes_whose_turn_never_came(spin):
    masked = spin.func("spin", device="cpu", timeout=0.5, errors="mask")(np.full(10_000, 1))
    assert masked.mask.all()
    assert spin.func("straight", device="cpu", timeout=60)([1, 2]).tolist() == [3, 6]
    masked = spin.func("straight", device="cpu", timeout=1e-9, errors="mask")(np.arange(2_000_000))
    finished = ~masked.mask
    assert np.array_equal(masked.data[finished], 3 * np.flatnonzero(finished))


def test_a_timeout_leaves_the_launches_of_other_threads_alone(spin):
    work = spin.func("work", device="cpu")
    expected = work(np.full(2, 300_000_000)).tolist()
    before = spin.func("spin", device="cpu", timeout=0.05, errors="mask")
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(lambda: work(np.full(2, 300_000_000)).tolist())
        while not other.running():
            time.sleep(0.001)
        assert before([0, 1]).mask[1]
        assert other.result() == expected


def test_a_function_that_is_called_by_a_host_function_has_a_timeout_of_its_own(spin):
    text = '(module (import "e" "f" (func $f)) (func (export "once") (call $f)))'
    function, found = spin.func("spin", device="cpu", timeout=0.2, errors="mask"), []
    outer = Module.load(bytes(wasmtime.wat2wasm(text))).instantiate(
        {"e": {"f": lambda: found.append(function([0, 1, 2]))}}, device="cpu"
    )
    outer.once()
    assert found[0].mask[1]
    assert found[0].data[0] == -2
    assert not found[0].mask[0]
