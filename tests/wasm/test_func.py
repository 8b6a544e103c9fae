"""Exported functions over arrays: NumPy's rules for shapes and types, on every device present."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import assemble

import lanewise as lw


@pytest.fixture
def device(lane_device):
    return lane_device


SIMPLE = """
(module
  (func (export "add32") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
  (func (export "add64") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1)))
  (func (export "wide") (param i32) (result i64) (i64.extend_i32_u (local.get 0)))
  (func (export "half32") (param f32) (result f32) (f32.mul (local.get 0) (f32.const 0.5)))
  (func (export "half64") (param f64) (result f64) (f64.mul (local.get 0) (f64.const 0.5)))
  (func (export "line") (param f64 f64 f64) (result f64)
    (f64.add (f64.mul (local.get 0) (local.get 1)) (local.get 2)))
  (func (export "divide") (param i32 i32) (result i32 i32)
    (i32.div_s (local.get 0) (local.get 1)) (i32.rem_s (local.get 0) (local.get 1)))
  (func (export "mixed") (param i32 f32) (result f64 i64 f32)
    (f64.convert_i32_s (local.get 0)) (i64.extend_i32_s (local.get 0)) (local.get 1))
  (func (export "nothing") (param i32))
  (func (export "seven") (result i32) (i32.const 7))
  (func (export "collatz") (param i64) (result i32) (local i32)
    (block $end
      (loop $again
        (br_if $end (i64.le_s (local.get 0) (i64.const 1)))
        (local.set 1 (i32.add (local.get 1) (i32.const 1)))
        (local.set 0
          (select
            (i64.add (i64.mul (local.get 0) (i64.const 3)) (i64.const 1))
            (i64.shr_s (local.get 0) (i64.const 1))
            (i32.wrap_i64 (i64.and (local.get 0) (i64.const 1)))))
        (br $again)))
    (local.get 1))
  (func $fib (export "fib") (param i32) (result i32)
    (if (result i32) (i32.lt_s (local.get 0) (i32.const 2))
      (then (local.get 0))
      (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1)))
                     (call $fib (i32.sub (local.get 0) (i32.const 2)))))))
  (func (export "spin_unless") (param i32) (result i32)
    (loop $again (br_if $again (i32.eqz (local.get 0)))) (local.get 0))
  (func (export "vector") (param v128) (result v128) (local.get 0))
)
"""


@pytest.fixture(scope="module")
def module():
    return lw.load(assemble(SIMPLE))


def collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n = 3 * n + 1 if n & 1 else n >> 1
        steps += 1
    return steps


def test_one_call_per_element(module, device):
    x = np.arange(100_003, dtype=np.int32)
    result = module.func("add32", device=device)(x, x[::-1])
    assert isinstance(result, np.ndarray)
    assert result.dtype == np.int32
    assert np.array_equal(result, np.full(x.size, x.size - 1))


def test_arguments_are_broadcast(module, device):
    line = module.func("line", device=device)
    a, b = np.linspace(0, 1, 7)[:, None], np.linspace(2, 3, 5)
    assert np.array_equal(line(a, b, 4), a * b + 4)
    assert line(a, b, np.zeros((3, 1, 1))).shape == (3, 7, 5)
    assert line(np.ones(1), np.ones((2, 1)), np.float64(1)).tolist() == [[2.0], [2.0]]


def test_shapes_that_do_not_fit_are_named(module, device):
    with pytest.raises(lw.ArgumentError, match=r"line: the shapes \(3,\), \(4,\), \(\) cannot be broadcast together"):
        module.func("line", device=device)(np.zeros(3), np.zeros(4), 0)


def test_single_numbers_give_numpy_scalars(module, device):
    result = module.func("line", device=device)(2, 3.5, np.float32(1))
    assert type(result) is np.float64
    assert result == 8.0
    assert type(module.func("add32", device=device)(np.array(3), 4)) is np.int32
    assert all(type(one) is np.int32 for one in module.func("divide", device=device)(7, 2))


def test_several_results_are_a_tuple_of_arrays(module, device):
    quotient, remainder = module.func("divide", device=device)([[7, -7], [9, 3]], 4)
    assert quotient.tolist() == [[1, -1], [2, 0]]
    assert remainder.tolist() == [[3, -3], [1, 3]]
    results = module.func("mixed", device=device)(np.arange(3), 0.5)
    assert [one.dtype for one in results] == [np.float64, np.int64, np.float32]


def test_functions_without_results_or_arguments(module, device):
    assert module.func("nothing", device=device)(np.arange(5)) is None
    assert module.func("seven", device=device)() == 7


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4, 2)])
def test_no_elements_give_no_results(module, device, shape):
    result = module.func("add32", device=device)(np.zeros(shape, np.int32), 1)
    assert result.shape == shape
    assert result.dtype == np.int32
    one, other = module.func("divide", device=device)(np.zeros(shape, np.int32), 0)
    assert one.shape == other.shape == shape
    assert module.func("half64", device=device)([]).shape == (0,)


@pytest.mark.parametrize(
    "arrange",
    [
        lambda x: x[::2],
        lambda x: x[::-3],
        lambda x: np.asfortranarray(x.reshape(50, -1)),
        lambda x: x.reshape(50, -1).T,
        lambda x: x.reshape(50, -1)[:, 3:7],
        lambda x: x.astype(">i4"),
        lambda x: np.frombuffer(b"\0" + x.tobytes(), np.int32, offset=1) if x.dtype == np.int32 else x,
        lambda x: np.broadcast_to(x[0], (4, 4)),
        lambda x: x.tolist(),
    ],
    ids=["strided", "backwards", "fortran", "transposed", "slice", "big-endian", "unaligned", "broadcast", "list"],
)
def test_any_arrangement_in_memory_is_taken(module, device, arrange):
    x = arrange(np.arange(1000, dtype=np.int32))
    result = module.func("add32", device=device)(x, 1)
    assert np.array_equal(result, np.asarray(x) + 1)
    assert result.flags.c_contiguous


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_whole_numbers_of_every_width_are_taken_if_they_fit(module, device, dtype):
    x = np.array([0, 1, 1], dtype)
    assert module.func("add32", device=device)(x, 1).tolist() == [1, 2, 2]
    assert module.func("add64", device=device)(x, 1).tolist() == [1, 2, 2]
    assert module.func("half64", device=device)(x).tolist() == [0, 0.5, 0.5]


def test_unsigned_numbers_keep_their_bits(module, device):
    assert module.func("wide", device=device)(np.array([2**32 - 1, 5], np.uint32)).tolist() == [2**32 - 1, 5]
    assert module.func("wide", device=device)([2**32 - 1, -1]).tolist() == [2**32 - 1] * 2
    assert module.func("add64", device=device)(np.array([2**64 - 1], np.uint64), 0).tolist() == [-1]


def test_floats_are_taken_by_wider_types_only(module, device):
    half = module.func("half32", device=device)
    assert half(np.array([3], np.float16)).dtype == np.float32
    assert half(0.1) == np.float32(0.1) * np.float32(0.5)
    assert half([0.1, 1e300]).tolist() == [float(np.float32(0.1) * np.float32(0.5)), np.inf]
    with pytest.raises(lw.ArgumentError, match="argument 1 of half32 holds float64, which f32 would round"):
        half(np.array([0.1]))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("add32", np.array([1.0]), "argument 1 of add32 holds float64; i32 takes whole numbers"),
        ("add32", np.array([1.5]), "i32 takes whole numbers: round them, then use astype"),
        ("add32", 1.5, "holds float64 1.5; i32 takes whole numbers: round them first, as round() does"),
        ("add32", 2**32, "holds 4294967296, which does not fit i32"),
        ("add32", np.array([5, -(2**31) - 1]), "holds -2147483649, which does not fit i32"),
        ("add64", 2**64, "holds 18446744073709551616, which does not fit i64"),
        ("add64", -(2**63) - 1, "does not fit i64"),
        ("add32", "7", "i32 takes whole numbers"),
        ("add32", None, "i32 takes whole numbers"),
        ("add32", 1j, "i32 takes whole numbers"),
        ("add32", [[1], [2, 3]], "is no array of numbers"),
        ("add32", np.ma.masked_equal([1, 2], 1), "is a masked array; fill it"),
    ],
)
def test_what_would_be_lost_is_refused_by_name(module, device, name, value, words):
    with pytest.raises(lw.ArgumentError) as error:
        module.func(name, device=device)(value, 1)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("name", "dtype"), [("half32", np.float32), ("half64", np.float64)])
@given(value=st.integers(-(2**63), 2**64 - 1))
@settings(max_examples=60, deadline=None)
def test_whole_numbers_become_floats_only_if_nothing_is_lost(module, name, dtype, value):
    half = module.func(name, device="cpu")
    if int(dtype(value)) == value:
        assert half(value) == dtype(value) / 2
    else:
        with pytest.raises(lw.ArgumentError, match=f"holds {value}, which f.. cannot hold exactly"):
            half([value])


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (2**24 + 1, "write 16777217.0 to have it rounded"),
        ([0, 2**24 + 1], "write 16777217.0 to have it rounded"),
        (np.array([2**24 + 1]), "use astype(np.float32)"),
    ],
)
def test_advice_fits_what_was_passed(module, device, value, advice):
    half = module.func("half32", device=device)
    with pytest.raises(lw.ArgumentError, match=re.escape(f"which f32 cannot hold exactly; {advice}")):
        half(value)
    assert half(float(2**24 + 1)) == 2.0**23


def test_the_number_of_arguments_is_checked(module, device):
    with pytest.raises(
        lw.ArgumentError, match=r"add32 takes 2 arguments, 1 given; its type is \(i32, i32\) -> \(i32\)"
    ):
        module.func("add32", device=device)(1)


def test_types_that_arrays_cannot_hold_are_for_instances(module, device):
    with pytest.raises(lw.ArgumentError, match=r"arrays hold i32, i64, f32 and f64, so call it on an instance"):
        module.func("vector", device=device)


def test_functions_with_loops_and_recursion(module, device):
    n = np.arange(1, 3000)
    assert module.func("collatz", device=device)(n).tolist() == [collatz(int(one)) for one in n]
    assert module.func("fib", device=device)(np.arange(12)).tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]


def test_device_arrays_in_device_arrays_out(module, device):
    x = device.array(np.arange(12, dtype=np.int32).reshape(3, 4))
    result = module.func("add32", device=device)(x, 5)
    assert isinstance(result, lw.DeviceArray)
    assert result.device is device
    assert np.array_equal(result.get(), x.get() + 5)
    quotient, remainder = module.func("divide", device=device)(x, np.int32(5))
    assert np.array_equal(quotient.get() * 5 + remainder.get(), x.get())
    single = device.array(np.array(3, np.int32))
    assert np.array_equal(module.func("add32", device=device)(x, single).get(), x.get() + 3)
    assert module.func("add32", device=device)(single, single).get() == 6


def test_unsigned_device_arrays_keep_their_bits(module, device):
    x = device.array(np.array([2**32 - 1], np.uint32))
    assert module.func("wide", device=device)(x).get().tolist() == [2**32 - 1]


def test_device_arrays_must_be_as_they_are_needed(module, device):
    add = module.func("add32", device=device)
    with pytest.raises(
        lw.ArgumentError, match="argument 1 of add32 holds float64; i32 takes int32 from a device array"
    ):
        add(device.zeros(3, np.float64), 1)
    with pytest.raises(lw.ArgumentError, match=r"has the shape \(3,\), not \(2, 3\); device arrays are not broadcast"):
        add(device.zeros(3, np.int32), np.zeros((2, 3), np.int32))
    with pytest.raises(lw.ArgumentError, match="argument 1 of half32 holds uint32"):
        module.func("half32", device=device)(device.zeros(3, np.uint32))
    freed = device.zeros(3, np.int32)
    freed.free()
    with pytest.raises(lw.ArgumentError, match="argument 2 of add32 was freed"):
        add(1, freed)


def test_arrays_of_another_device_are_refused(module, device):
    if device.name == "cpu":
        pytest.skip("takes two devices")
    with pytest.raises(lw.ArgumentError, match="lives on cpu, the function runs on cuda"):
        module.func("add32", device=device)(lw.device("cpu").zeros(3, np.int32), 1)


def test_a_function_shows_what_it_is(module, device):
    assert repr(module.func("wide", device=device)) == f"<vectorised wide (i32) -> (i64) on {device.name}>"


def test_imports_that_a_function_does_not_need_are_not_asked_for(device):
    text = """(module (import "env" "log" (func (param i32)))
      (func (export "double") (param i32) (result i32) (i32.shl (local.get 0) (i32.const 1)))
      (func (export "loud") (param i32) (call 0 (local.get 0)))
      (export "log" (func 0)))"""
    module = lw.load(assemble(text))
    assert module.func("double", device=device)([1, 2]).tolist() == [2, 4]
    with pytest.raises(lw.LinkError, match=r"the module imports env.log.*use instantiate\(imports=...\) instead"):
        module.func("loud", device=device)(1)
    with pytest.raises(lw.LinkError, match="log is imported by the module"):
        module.func("log", device=device)


def test_asking_twice_compiles_once(module, device):
    first, second = module.func("add32", device=device), module.func("add32", device=device, errors="mask")
    assert first._runner is second._runner
    assert module.func("add32", device=device, fuel=5)._runner is not first._runner


def test_a_function_says_where_its_lanes_live(module, device):
    counter = lw.load(
        assemble("""(module (memory 1) (func (export "next") (param i32) (result i32)
          (i32.store (i32.const 0) (i32.add (local.get 0) (i32.const 1))) (i32.load (i32.const 0))))""")
    )
    placed = counter.func("next", device=device, placement="flat/8/64").placement
    assert placed == ("" if device.name == "cpu" else "flat/8/64")
    assert module.func("add32", device=device, placement="flat/8/64").placement == ""  # it needs no memory to live in


# Numbers that NumPy keeps as objects, or makes floats of


def test_whole_numbers_as_objects_are_taken_if_they_fit(module, device):
    add32, add64 = module.func("add32", device=device), module.func("add64", device=device)
    assert add32(np.array([1, 2], object), 0).tolist() == [1, 2]
    assert add32(np.array([[2**32 - 1], [np.int8(-5)]], object), 0).tolist() == [[-1], [-5]]
    assert add64(np.array([2**64 - 1, True, np.uint64(7)], object), 0).tolist() == [-1, 1, 7]
    assert add32(np.array([], object), 0).shape == (0,)
    assert add32(np.empty((0, 3), object), 0).dtype == np.int32


def test_lists_whose_numbers_fit_one_by_one_are_taken(module, device):
    add64, half = module.func("add64", device=device), module.func("half64", device=device)
    assert add64([2**63, 1], 0).tolist() == [-(2**63), 1]
    assert add64([[2**64 - 1], [-1]], 0).tolist() == [[-1], [-1]]
    assert half([2**63, 1]).tolist() == [2.0**62, 0.5]
    assert half([1e300, -1]).tolist() == [5e299, -0.5]


@pytest.mark.parametrize("name", ["half32", "half64"])
def test_large_whole_numbers_are_taken_by_floats_that_hold_them(module, device, name):
    half = module.func(name, device=device)
    assert half(2**70) == 2.0**69
    assert half([2**70, 0.5, True]).tolist() == [2.0**69, 0.25, 0.5]
    for value, words in ((2**70 + 1, str(2**70 + 1)), (10**5000, "a whole number of 16,610 bits")):
        with pytest.raises(lw.ArgumentError, match=f"of {name} holds {words}, which f.. cannot hold exactly"):
            half([value, 0.5])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("add32", [1, 2**70, 3], "holds 1180591620717411303424, which does not fit i32"),
        ("add32", np.array([1, 2**32], object), "holds 4294967296, which does not fit i32"),
        ("add32", np.array([1, 1.5], object), "holds 1.5; i32 takes whole numbers"),
        ("add64", [2**63, 1.0], "holds 1.0; i64 takes whole numbers"),
        ("line", np.array([1, "x"], object), "holds 'x'; f64 takes numbers"),
    ],
)
def test_an_object_that_is_refused_is_shown(module, device, name, value, words):
    function = module.func(name, device=device)
    with pytest.raises(lw.ArgumentError) as error:
        function(value, *[1] * (len(function.type.params) - 1))
    assert words in str(error.value)


def test_masked_elements_are_not_looked_at(module, device):
    wide = module.func("wide", device=device, errors="mask")
    for data in (np.array([7, 2**40, -5]), np.array([7, None, 2**32 - 5], object)):
        found = wide(np.ma.MaskedArray(data, mask=[False, True, False]))
        assert found.mask.tolist() == [False, True, False]
        assert found.compressed().tolist() == [7, 2**32 - 5]
    assert wide(np.ma.masked).mask
    assert wide(np.ma.masked_all((2, 2), float)).mask.all()
    assert wide(np.ma.MaskedArray([], dtype=np.int64)).shape == (0,)
    with pytest.raises(lw.ArgumentError, match="holds 1099511627776, which does not fit i32"):
        wide(np.ma.MaskedArray([1, 2**40], mask=[True, False]))
    with pytest.raises(lw.ArgumentError, match="holds float64; i32 takes whole numbers"):
        wide(np.ma.MaskedArray([1.0, 2.0], mask=[True, False]))


def test_lanes_of_masked_elements_run_as_others_do(module):
    """What lies behind a mask may be anything: here, a number with which the function would never end."""
    steps = module.func("spin_unless", device="cpu", errors="mask")(np.ma.MaskedArray([3, 0], mask=[0, 1]))
    assert steps.compressed().tolist() == [3]
