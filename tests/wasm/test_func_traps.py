"""Elements that trap: each alone, for its own reason, named or masked, on every device present."""

import numpy as np
import pytest
from programs import assemble

import lanewise as lw


@pytest.fixture
def device(lane_device):
    return lane_device


KINDS = {
    1: "unreachable",
    2: "integer divide by zero",
    3: "integer overflow",
    4: "invalid conversion to integer",
    5: "out of bounds memory access",
    6: "out of bounds table access",
    7: "undefined element",
    8: "uninitialized element",
    9: "indirect call type mismatch",
    10: "call stack exhausted",
    11: "uncaught exception",
}
EVERY_KIND = """
(module
  (type $none (func))
  (memory 1)
  (table 3 funcref)
  (elem (i32.const 0) func $wrong)
  (tag $oops (param i32))
  (func $wrong (param i64))
  (func $deep (param i32) (result i32) (i32.add (i32.const 1) (call $deep (i32.add (local.get 0) (i32.const 1)))))
  (func $fail (export "fail") (param i32) (result i32)
    (block $11 (block $10 (block $9 (block $8 (block $7 (block $6
    (block $5 (block $4 (block $3 (block $2 (block $1 (block $0
      (br_table $0 $1 $2 $3 $4 $5 $6 $7 $8 $9 $10 $11 $0 (local.get 0))
    ) (return (i32.mul (local.get 0) (i32.const 10)))
    ) unreachable
    ) (return (i32.div_s (i32.const 1) (i32.sub (local.get 0) (i32.const 2))))
    ) (return (i32.div_s (i32.const 0x80000000) (i32.sub (i32.const 2) (local.get 0))))
    ) (return (i32.trunc_f32_s (f32.div (f32.const 0) (f32.convert_i32_s (i32.sub (local.get 0) (i32.const 4))))))
    ) (return (i32.load (i32.add (i32.const 65528) (local.get 0))))
    ) (drop (table.get 0 (local.get 0))) (return (i32.const 1))
    ) (call_indirect (type $none) (local.get 0)) (return (i32.const 1))
    ) (call_indirect (type $none) (i32.sub (local.get 0) (i32.const 7))) (return (i32.const 1))
    ) (call_indirect (type $none) (i32.sub (local.get 0) (i32.const 9))) (return (i32.const 1))
    ) (return (call $deep (local.get 0)))
    ) (throw $oops (local.get 0)))
)
"""
DIVIDE = """
(module
  (func $quotient (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
  (func (export "divide") (param i32 i32) (result i32 i32)
    (call $quotient (local.get 0) (local.get 1)) (i32.const 1))
  (func (export "check") (param i32) (if (local.get 0) (then unreachable)))
)
"""
COUNT = """
(module
  (func (export "count") (param i32) (result i32) (local i32)
    (loop $again
      (local.set 1 (i32.add (local.get 1) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get 1) (local.get 0))))
    (local.get 1))
)
"""


@pytest.fixture(scope="module")
def divide():
    return lw.load(assemble(DIVIDE))


def test_every_kind_of_trap_ends_its_own_element_only(device):
    fail = lw.load(assemble(EVERY_KIND)).func("fail", device=device)
    with pytest.raises(lw.LaneError) as error:
        fail([0, *KINDS, 0, 99])
    assert error.value.lanes.tolist() == list(KINDS)
    assert error.value.kinds == list(KINDS.values())
    results = error.value.results
    assert results[[0, -2, -1]].tolist() == [0, 0, 990]
    assert fail([0, 12]).tolist() == [0, 120]


def test_recursion_too_deep_in_one_element_leaves_the_others_alone(device):
    text = """(module (func $down (export "down") (param i32) (result i32)
      (if (result i32) (local.get 0)
        (then (i32.add (i32.const 1) (call $down (i32.sub (local.get 0) (i32.const 1)))))
        (else (i32.const 0)))))"""
    down = lw.load(assemble(text)).func("down", device=device, errors="mask")
    depths = np.arange(1000) % 7
    depths[500] = 2**31 - 1
    result = down(depths)
    assert np.flatnonzero(result.mask).tolist() == [500]
    assert np.array_equal(result.compressed(), np.delete(depths, 500))


def test_the_error_names_lanes_kinds_function_and_offset(divide, device):
    with pytest.raises(lw.LaneError) as error:
        divide.func("divide", device=device)([6, 1, -(2**31), 8], [3, 0, -1, 2])
    assert error.value.lanes.tolist() == [1, 2]
    assert error.value.kinds == ["integer divide by zero", "integer overflow"]
    assert error.value.lane == 1
    assert error.value.kind == "integer divide by zero"
    assert error.value.function == "quotient"
    place = f"quotient (+{error.value.offset:#x})"
    assert str(error.value).startswith(
        f"divide: 2 of 4 lanes trapped: lane 1: integer divide by zero in {place}; lane 2: integer overflow in {place}"
    )
    quotient, ones = error.value.results
    assert quotient[[0, 3]].tolist() == [2, 4]
    assert ones[[0, 3]].tolist() == [1, 1]


def test_lanes_of_arrays_with_several_axes_are_named_by_index(divide, device):
    by = np.ones((3, 4), np.int32)
    by[2, 1] = 0
    with pytest.raises(lw.LaneError, match=r"lane 9 \(index 2, 1\): integer divide by zero"):
        divide.func("divide", device=device)(1, by)


def test_only_the_first_lanes_are_listed(divide, device):
    with pytest.raises(lw.LaneError, match=r"1,000 of 1,000 lanes trapped: lane 0: .*; and 995 more") as error:
        divide.func("divide", device=device)(np.zeros(1000, np.int32), 0)
    assert len(error.value.lanes) == len(error.value.kinds) == 1000
    assert str(error.value).count("lane ") == 5


def test_masks_tell_who_trapped(divide, device):
    quotient, ones = divide.func("divide", device=device, errors="mask")([6, 1, 8], [3, 0, 2])
    assert isinstance(quotient, np.ma.MaskedArray)
    assert quotient.mask.tolist() == ones.mask.tolist() == [False, True, False]
    assert quotient.compressed().tolist() == [2, 4]
    assert quotient.filled(-1).tolist() == [2, -1, 4]


def test_masked_results_are_masked_arrays_even_if_nothing_trapped(divide, device):
    quotient, _ = divide.func("divide", device=device, errors="mask")(6, 3)
    assert isinstance(quotient, np.ma.MaskedArray)
    assert quotient.shape == ()
    assert not quotient.mask
    on_device = device.array(np.array([6, 8], np.int32))
    quotient, _ = divide.func("divide", device=device, errors="mask")(on_device, 2)
    assert isinstance(quotient, np.ma.MaskedArray)
    assert quotient.tolist() == [3, 4]


def test_masks_of_arguments_are_passed_on(divide, device):
    function = divide.func("divide", device=device, errors="mask")
    first, _ = function([[12], [7]], [3, 0])
    second, _ = function(first, 2)
    assert second.mask.tolist() == [[False, True], [False, True]]
    assert second.compressed().tolist() == [2, 1]


def test_device_arrays_of_elements_that_did_not_trap_are_kept(divide, device):
    with pytest.raises(lw.LaneError) as error:
        divide.func("divide", device=device)(device.array(np.array([4, 5], np.int32)), np.array([2, 0], np.int32))
    assert error.value.results[0].get()[0] == 2


def test_functions_without_results_can_trap(divide, device):
    check = divide.func("check", device=device)
    assert check([0, 0]) is None
    with pytest.raises(lw.LaneError, match="1 of 2 lanes trapped: lane 1: unreachable"):
        check([0, 1])


def test_a_function_works_after_it_trapped(divide, device):
    function = divide.func("divide", device=device)
    for _ in range(3):
        with pytest.raises(lw.LaneError):
            function(1, 0)
        assert function(9, 3)[0] == 3


def test_a_single_number_that_traps_is_lane_0(divide, device):
    with pytest.raises(lw.LaneError, match="divide: 1 of 1 lanes trapped: lane 0: integer divide by zero") as error:
        divide.func("divide", device=device)(1, 0)
    assert error.value.lanes.tolist() == [0]


def test_fuel_ends_elements_that_take_too_many_steps(device):
    module = lw.load(assemble(COUNT))
    steps = np.array([1, 100, 2**31, 5, 2**32 - 1])
    result = module.func("count", device=device, errors="mask", fuel=10_000)(steps)
    assert result.mask.tolist() == [False, False, True, False, True]
    assert result.compressed().tolist() == [1, 100, 5]
    with pytest.raises(lw.LaneError, match="lane 2: out of fuel in count"):
        module.func("count", device=device, fuel=10_000)(steps)


def test_fuel_runs_out_at_the_same_step_on_every_device(device):
    function = lw.load(assemble(COUNT)).func("count", device=device, errors="mask", fuel=1000)
    last = np.flatnonzero(~function(np.arange(3000)).mask)[-1]
    on_the_cpu = lw.load(assemble(COUNT)).func("count", device="cpu", errors="mask", fuel=1000)
    assert last == np.flatnonzero(~on_the_cpu(np.arange(3000)).mask)[-1]


def test_each_element_has_fuel_of_its_own(device):
    function = lw.load(assemble(COUNT)).func("count", device=device, fuel=1000)
    assert function(np.full(10_000, 500)).tolist() == [500] * 10_000


def test_without_results_there_is_nothing_to_mask_and_traps_are_raised(device):
    data = assemble('(module (func (export "f") (param i32) (if (local.get 0) (then unreachable))))')
    function = lw.load(data).func("f", device=device, errors="mask")
    assert function(np.zeros(3, np.int32)) is None
    with pytest.raises(lw.LaneError, match="1 of 3 lanes trapped: lane 1: unreachable"):
        function(np.array([0, 1, 0], np.int32))
