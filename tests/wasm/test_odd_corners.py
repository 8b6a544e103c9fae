"""What programs seldom do and engines get wrong: each case here was once wrong, or is next to one that was."""

import numpy as np
import pytest
import wasmtime

import lanewise as lw
from lanewise.wasm import Store


def load(text):
    return lw.load(bytes(wasmtime.wat2wasm(text)))


def turning(kind, count):
    """A function that calls itself at its end, each time with its arguments turned by one; it gives the last."""
    params = " ".join([kind] * count)
    turned = " ".join(f"(local.get {at})" for at in (*range(2, count + 1), 1))
    return f"""(module
      (func $turn (export "turn") (param i32 {params}) (result {kind})
        (if (result {kind}) (i32.eqz (local.get 0)) (then (local.get {count}))
          (else (return_call $turn (i32.sub (local.get 0) (i32.const 1)) {turned}))))
      (func (export "enter") (param i32) (result {kind})
        (return_call $turn (local.get 0) {" ".join(f"({kind}.const {at})" for at in range(count))})))"""


@pytest.mark.parametrize("kind", ["i32", "i64", "f32", "f64"])
@pytest.mark.parametrize("count", [1, 4, 5, 9, 40])
@pytest.mark.parametrize("level", [0, 3])
def test_tail_calls_keep_all_arguments_and_use_no_stack(kind, count, level, device):
    if device.name != "cpu" and level == 0:
        pytest.skip("the level changes nothing about arguments there")
    instance = Store(device, level=level).instantiate(load(turning(kind, count)))
    for rounds in (0, 1, 2, count, 100_000):
        assert instance.exports["turn"](rounds, *range(count)) == (count - 1 + rounds) % count
        assert instance.exports["enter"](rounds) == (count - 1 + rounds) % count


def test_a_function_of_the_host_can_be_called_through_a_table():
    module = load("""(module
      (type $t (func (param i32) (result i32))) (import "e" "f" (func $f (type $t)))
      (table 1 funcref) (elem (i32.const 0) $f)
      (func (export "go") (param i32) (result i32) (call_indirect (type $t) (local.get 0) (i32.const 0))))""")
    assert module.instantiate({"e": {"f": lambda x: x + 1}}, device="cpu").exports["go"](4) == 5


def test_a_function_of_the_host_is_not_called_on_the_last_of_the_stack():
    module = load("""(module (import "e" "h" (func $h))
      (func $down (export "down") (param i32)
        (if (i32.eqz (local.get 0)) (then (call $h)) (else (call $down (i32.sub (local.get 0) (i32.const 1)))))))""")
    instance = module.instantiate({"e": {"h": lambda: None}}, device="cpu")
    low, high, kinds = 1000, 4_000_000, set()
    while high - low > 100:  # to the edge, where the call would still fit but the host would not
        middle = (low + high) // 2
        try:
            instance.exports["down"](middle)
            low = middle
        except lw.WasmTrap as trap:
            kinds.add(trap.kind)
            high = middle
    assert low > 10_000
    assert kinds == {"call stack exhausted"}


def test_exceptions_that_carry_much_work_in_lanes(device):
    module = load("""(module (tag $t (param i64 f64))
      (func $throw (param i32) (throw $t (i64.extend_i32_s (local.get 0)) (f64.convert_i32_s (local.get 0))))
      (func (export "f") (param i32) (result i64 f64)
        (block $caught (result i64 f64)
          (try_table (catch $t $caught) (call $throw (local.get 0)))
          (unreachable))))""")
    whole, real = module.func("f", device=device)(np.arange(5))
    assert whole.tolist() == [0, 1, 2, 3, 4]
    assert real.tolist() == [0, 1, 2, 3, 4]


def test_exceptions_that_are_caught_by_a_clause_for_all_leave_nothing_behind(device):
    module = load("""(module (tag $t (param i64))
      (func (export "f") (param i32) (result i32) (local i32)
        (loop $again
          (block $caught (try_table (catch_all $caught) (throw $t (i64.const 1))))
          (br_if $again (i32.lt_u (local.tee 1 (i32.add (local.get 1) (i32.const 1))) (local.get 0))))
        (local.get 1)))""")
    assert Store(device).instantiate(module).exports["f"](10_000) == 10_000


def test_exceptions_that_nobody_catches_leave_nothing_behind(device):
    module = load('(module (tag $t (param i64)) (func (export "f") (throw $t (i64.const 7))))')
    instance = Store(device).instantiate(module)
    for _ in range(3000 if device.name == "cpu" else 10):
        with pytest.raises(lw.WasmException):
            instance.exports["f"]()


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("operation", ["mul", "div", "add", "sub"])
def test_arithmetic_quiets_a_nan_also_where_it_changes_nothing_else(kind, operation, device):
    neutral = "1" if operation in ("mul", "div") else "0"
    bits = f"i{kind[1:]}"
    module = load(f"""(module
      (func $neutral (result {kind}) ({kind}.const {neutral}))
      (func (export "local") (param {bits}) (result {bits}) (local {kind})
        (local.set 1 ({kind}.const {neutral}))
        ({bits}.reinterpret_{kind} ({kind}.{operation} ({kind}.reinterpret_{bits} (local.get 0)) (local.get 1))))
      (func (export "call") (param {bits}) (result {bits})
        ({bits}.reinterpret_{kind} ({kind}.{operation} ({kind}.reinterpret_{bits} (local.get 0)) (call $neutral)))))""")
    signalling, quiet = (0x7F800001, 0x400000) if kind == "f32" else (0x7FF0000000000001, 0x8000000000000)
    instance = Store(device).instantiate(module)
    for name in ("local", "call"):
        assert instance.exports[name].call_bits([signalling])[0] & quiet


def test_a_function_without_arguments_and_results_runs_over_nothing(device):
    assert load('(module (func (export "f")))').func("f", device=device)() is None


def test_constructors_of_a_library_run_before_anything_else(device):
    module = load("""(module (global $g (mut i32) (i32.const 0))
      (func (export "_initialize") (global.set $g (i32.const 42)))
      (func (export "value") (result i32) (global.get $g)))""")
    assert module.func("value", device=device)() == 42
    assert Store(device).instantiate(module).exports["value"]() == 42


def test_an_instance_that_is_given_a_function_sees_its_exceptions():
    store = Store("cpu")
    thrower = store.instantiate(load('(module (tag $t) (func (export "boom") (throw $t)))'))
    caller = store.instantiate(
        load("""(module (type $t (func)) (table 1 funcref) (global (export "f") (mut funcref) (ref.null func))
          (func (export "go") (result i32)
            (table.set 0 (i32.const 0) (global.get 0)) (call_indirect (type $t) (i32.const 0)) (i32.const 77)))""")
    )
    caller.exports["f"].value = thrower.exports["boom"]
    with pytest.raises(lw.WasmException):
        caller.exports["go"]()


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"layout": "bogus"}, "layout is 'bogus'"),
        ({"checks": None}, "checks is None"),
        ({"gpu": True}, "there is no choice 'gpu'"),
        ({"layout": "interleaved", "checks": "guard"}, "interleaved memory needs"),
        ({"layout": "interleaved", "alignment": "any"}, "interleaved memory needs"),
    ],
)
def test_choices_that_would_break_the_sandbox_are_refused(choices, words):
    module = load('(module (memory 1) (func (export "f") (param i32) (result i32) (i32.load (local.get 0))))')
    with pytest.raises(lw.ArgumentError, match=words):
        module.instantiate(device="cpu", **choices)
    with pytest.raises(lw.ArgumentError, match=words):
        module.func("f", device="cpu", **choices)(0)


@pytest.mark.parametrize("layout", ["interleaved", "words"])
def test_interleaved_memory_cannot_be_left(layout, device):
    module = load('(module (memory 1) (func (export "f") (param i32) (result i32) (i32.load (local.get 0))))')
    addresses = np.array([0, 65532, 65533, 65536, 1 << 28, -4], np.int64)
    found = module.func("f", device=device, layout=layout, errors="mask")(addresses)
    assert np.ma.getmaskarray(found).tolist() == [False, False, True, True, True, True]


@pytest.mark.parametrize("access", ["(drop (i32.load (local.get 0)))", "(i32.store (local.get 0) (i32.const 1))"])
@pytest.mark.parametrize("checks", ["guard", "explicit"])
def test_what_was_set_before_an_access_out_of_bounds_is_set(access, checks):
    instance = load(f"""(module (memory 1) (table 1 funcref) (elem declare func $f)
      (global (export "g") (mut i32) (i32.const 0))
      (func $f (export "f") (param i32)
        (global.set 0 (i32.const 1)) (table.set 0 (i32.const 0) (ref.func $f)) {access}
        (global.set 0 (i32.const 2)) (table.set 0 (i32.const 0) (ref.null func)))
      (func (export "set") (result i32) (ref.is_null (table.get 0 (i32.const 0)))))""").instantiate(
        device="cpu", checks=checks
    )
    with pytest.raises(lw.WasmTrap, match="out of bounds memory access"):
        instance.exports["f"](-1)
    assert instance.exports["g"].value == 1
    assert instance.exports["set"]() == 0


def test_an_element_can_be_a_global_of_the_module_itself(device):
    module = load("""(module (type $t (func (result i32))) (table 2 funcref)
      (func $seven (result i32) (i32.const 7)) (global $g funcref (ref.func $seven))
      (elem (i32.const 1) funcref (global.get $g))
      (func (export "f") (result i32) (call_indirect (type $t) (i32.const 1))))""")
    assert Store(device).instantiate(module).exports["f"]() == 7
    assert module.func("f", device=device)() == 7


@pytest.mark.parametrize("meter", ["off", "stop", "count"])
def test_loops_end_by_themselves_however_they_are_metered(meter, device):
    module = load("""(module (func (export "f") (param i32) (result i32) (local i32)
      (loop (local.set 1 (i32.add (local.get 1) (i32.const 1))) (br_if 0 (i32.lt_u (local.get 1) (local.get 0))))
      (local.get 1)))""")
    assert module.func("f", device=device, meter=meter)(np.array([1, 100_000])).tolist() == [1, 100_000]
