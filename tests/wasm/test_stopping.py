"""A guest that never ends can be ended: by fuel, which is the same on every device, and by Ctrl-C."""

import signal
import subprocess
import sys

import numpy as np
import pytest
import wasmtime

import lanewise as lw
from lanewise.wasm import Module, Store

TEXT = """(module
  (func (export "loop") (loop (br 0)))
  (func $calls (export "calls") (call $calls) (call $calls))
  (func (export "count") (param i32) (result i32) (local i32)
    (loop (local.set 1 (i32.add (local.get 1) (i32.const 1))) (br_if 0 (i32.lt_u (local.get 1) (local.get 0))))
    (local.get 1)))
"""
DATA = bytes(wasmtime.wat2wasm(TEXT))


def test_fuel_ends_a_loop_that_has_no_end(device):
    instance = Store(device, fuel=1000).instantiate(Module.load(DATA))
    with pytest.raises(lw.WasmTrap, match="out of fuel"):
        instance.exports["loop"]()
    assert instance.exports["count"](10) == 10


def test_a_fuel_limit_is_the_same_on_every_device_to_the_step(device):
    # A call costs one step, and so does each round of the loop.
    module = Module.load(DATA)
    for rounds in (1, 5, 100):
        assert Store(device, fuel=rounds + 1).instantiate(module).exports["count"](rounds) == rounds
        with pytest.raises(lw.WasmTrap, match="out of fuel"):
            Store(device, fuel=rounds).instantiate(module).exports["count"](rounds)
        assert module.func("count", device=device, fuel=rounds + 1)(np.full(3, rounds)).tolist() == [rounds] * 3
        with pytest.raises(lw.LaneError, match="1 of 2 lanes trapped: lane 1: out of fuel"):
            module.func("count", device=device, fuel=rounds + 1)(np.array([rounds, rounds + 1]))


def test_a_call_that_takes_too_long_is_ended(device):
    module = Module.load(DATA)
    instance = module.instantiate(device=device, timeout=0.2)
    for _ in range(2):
        with pytest.raises(lw.WasmTrap, match="interrupted"):
            instance.exports["loop"]()
        assert instance.exports["count"](10) == 10
    with pytest.raises(lw.WasmTrap, match="interrupted"):
        module.func("loop", device=device, timeout=0.2)()
    assert module.func("count", device=device, timeout=60)(3) == 3


INTERRUPTED = """
import signal, sys
import numpy as np
import lanewise as lw
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
module = lw.load(sys.argv[1])
device = lw.device(sys.argv[2])
use = sys.argv[3]
if use == "instance":
    instance = module.instantiate(device=device)
    work = lambda: instance.exports["loop"]()
else:
    function = module.func("count", device=device)
    work = module.func("loop", device=device)
try:
    print("ready", flush=True)
    work()
except KeyboardInterrupt:
    print("interrupted", flush=True)
if use == "instance":
    print(instance.exports["count"](3), flush=True)
else:
    print(function(3), flush=True)
"""


@pytest.mark.parametrize("use", ["instance", "lanes"])
def test_ctrl_c_ends_a_run_and_what_comes_after_it_works(use, device_name, tmp_path):
    path = tmp_path / "endless.wasm"
    path.write_bytes(DATA)
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(path), device_name, use],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        for _ in range(100):  # the first may come before the call
            try:
                process.wait(0.2)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                if process.stdout.readline() == "interrupted\n":
                    break
        else:
            pytest.fail("nothing interrupts it")
        assert process.stdout.read() == "3\n", process.stderr.read()
        assert process.wait(60) == 0
    finally:
        process.kill()
        with process:  # closes its pipes and waits for it
            pass
