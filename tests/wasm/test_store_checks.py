"""What stores and functions are asked for: wrong limits and levels are told in a sentence, NumPy's numbers do."""

import re

import numpy as np
import pytest
import wasmtime

import lanewise as lw
from lanewise.wasm import Module, Store

DATA = bytes(
    wasmtime.wat2wasm(
        """(module (func (export "add") (param i32) (result i32) (i32.add (local.get 0) (i32.const 1))))"""
    )
)


@pytest.fixture
def module():
    return Module.load(DATA)


MAKERS = {
    "store": lambda module, choices: Store("cpu", **choices).instantiate(module),
    "instance": lambda module, choices: module.instantiate(device="cpu", **choices),
    "func": lambda module, choices: module.func("add", device="cpu", **choices),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"fuel": -1}, "fuel is -1; it is a number of steps"),
        ({"fuel": "x"}, "fuel is 'x'; it is a number of steps"),
        ({"fuel": 2**63}, "fuel is 9223372036854775808; it is a number of steps"),
        ({"fuel": 10**5000}, "fuel is int of very many digits; it is a number of steps"),
        ({"fuel": np.float64(2)}, "fuel is 2.0; it is a number of steps"),
        ({"timeout": -1}, "timeout is -1; it is a number of seconds"),
        ({"timeout": 0}, "timeout is 0; it is a number of seconds"),
        ({"timeout": "x"}, "timeout is 'x'; it is a number of seconds"),
        ({"timeout": float("nan")}, "timeout is nan; it is a number of seconds"),
        ({"timeout": True}, "timeout is True; it is a number of seconds"),
        ({"level": "weird"}, "level is 'weird'; it can be 0, 1, 2 or 3"),
        ({"level": [1]}, "level is [1]; it can be 0, 1, 2 or 3"),
        ({"level": 4}, "level is 4; it can be 0, 1, 2 or 3"),
        ({"layout": [1]}, "layout is [1]; it can be 'flat', 'interleaved', 'words'"),
    ],
)
def test_wrong_limits_and_levels_are_refused(make, choices, message, module):
    with pytest.raises(lw.ArgumentError, match="^" + re.escape(message)):
        make(module, choices)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    "choices",
    [
        {"fuel": np.int64(30)},
        {"fuel": np.uint8(30)},
        {"timeout": np.float32(30)},
        {"timeout": np.int32(30)},
        {"level": np.int64(1)},
    ],
    ids=str,
)
def test_numbers_of_numpy_are_numbers(make, choices, module):
    made = make(module, choices)
    assert (made if callable(made) else made.add)(4) == 5


@pytest.mark.parametrize("wrong", [DATA, "tally.wasm", None], ids=["bytes", "path", "none"])
def test_a_store_takes_only_modules(wrong):
    with pytest.raises(lw.ArgumentError, match=f"a store makes instances of modules, not of {type(wrong).__name__}"):
        Store("cpu").instantiate(wrong)


HUGE_TABLE = """(module (table $t 4294967295 funcref)
  (func (export "size") (param i32) (result i32) (drop (table.get $t (local.get 0))) (table.size $t)))"""


@pytest.mark.parametrize("use", ["instance", "func"])
def test_a_table_that_no_memory_can_hold_is_told_so(use, monkeypatch):
    module = Module.load(bytes(wasmtime.wat2wasm(HUGE_TABLE)))
    real = np.zeros

    def refuse(count, *rest, **more):
        if np.prod(count, dtype=object) > 2**31:  # some systems promise any amount
            raise MemoryError("Unable to allocate")
        return real(count, *rest, **more)

    monkeypatch.setattr(np, "zeros", refuse)
    with pytest.raises(lw.OutOfMemoryError, match=r"no memory for 34,359,7\d\d,\d+ bytes of tables and state"):
        module.instantiate(device="cpu") if use == "instance" else module.func("size", device="cpu")(np.arange(2))
