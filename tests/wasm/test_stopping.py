"""A guest that never ends can be ended: by fuel, which is the same on every device, and by Ctrl-C."""

import signal
import subprocess
import sys
import threading
import time

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


CALLS_HOST = bytes(
    wasmtime.wat2wasm("""(module
      (import "e" "f" (func $f))
      (func (export "g") (loop (call $f) (br 0)))
      (func (export "once") (call $f))
      (func (export "loop") (loop (br 0))))""")
)


def calls_host(function, timeout=None):
    return Module.load(CALLS_HOST).instantiate({"e": {"f": function}}, device="cpu", timeout=timeout)


def test_a_loop_that_calls_the_host_is_ended_too():
    instance = calls_host(lambda: time.sleep(0.002), timeout=0.2)
    for _ in range(2):
        with pytest.raises(lw.WasmTrap, match="interrupted"):
            instance.g()
        instance.once()


@pytest.mark.parametrize("name", ["loop", "g"])
def test_a_call_that_a_host_function_makes_has_a_timeout_of_its_own(name):
    inner, ends = calls_host(lambda: None, timeout=0.2), []

    def function():
        try:
            inner.exports[name]()
        except lw.WasmTrap as trap:
            ends.append(str(trap))

    calls_host(function).once()
    assert ends == ["interrupted"]


def test_a_timeout_ends_the_caller_of_a_host_function_that_calls_guests():
    inner = calls_host(lambda: time.sleep(0.002))
    outer = calls_host(lambda: inner.once(), timeout=0.2)
    with pytest.raises(lw.WasmTrap, match="interrupted"):
        outer.g()
    outer = calls_host(lambda: inner.g(), timeout=0.2)
    with pytest.raises(lw.WasmTrap, match="interrupted"):
        outer.once()
    inner.once()


def test_a_timeout_ends_no_call_of_another_thread_and_does_not_count_while_that_runs():
    module = Module.load(DATA)
    began, ends = threading.Event(), []

    def slow():
        began.set()
        time.sleep(1)
        ends.append("slow")

    thread = threading.Thread(target=calls_host(slow).once)
    thread.start()
    began.wait()
    assert module.instantiate(device="cpu", timeout=0.3).exports["count"](10) == 10
    thread.join()
    assert ends == ["slow"]


THROWS = """(module
  (memory 1) (tag $t (param i32))
  (func $throw (param i32)
    (if (i32.eqz (local.get 0)) (then (throw $t (i32.const 77))))
    (call $throw (i32.sub (local.get 0) (i32.const 1)))
    (i32.store (i32.const 4) (local.get 0)))
  (func $same (param i32) (result i32) (i32.store (i32.const 0) (local.get 0)) (local.get 0))
  (func (export "spin")
    (loop $again
      (block $caught (result i32) (try_table (catch $t $caught) (call $throw (i32.const 2000)))
        (unreachable))
      drop (br $again)))
  (func (export "same") (param i32) (result i32) (call $same (local.get 0))))
"""


def test_a_call_after_one_that_was_ended_finds_no_exception_of_that():
    instance = Module.load(bytes(wasmtime.wat2wasm(THROWS))).instantiate(device="cpu", timeout=0.01)
    for number in range(20):
        with pytest.raises(lw.WasmTrap, match="interrupted"):
            instance.spin()
        assert instance.same(number) == number


HELD = """(module
  (tag $t (param i64))
  (func $throw (throw $t (i64.const 1)))
  (func $catch (export "catch")
    (block $caught (result exnref) (try_table (catch_all_ref $caught) (call $throw)) (unreachable)) drop)
  (func (export "many") (param i32)
    (loop (call $catch) (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))
"""


def test_exceptions_that_a_call_held_are_gone_with_it(device):
    instance = Module.load(bytes(wasmtime.wat2wasm(HELD))).instantiate(device=device)
    for _ in range(3):
        instance.exports["many"](2000)
    with pytest.raises(lw.WasmTrap, match="too many exceptions"):
        instance.exports["many"](3000)
    for _ in range(3):
        instance.exports["many"](2000)
        instance.exports["catch"]()


INTERRUPTED = """
import signal, sys, time
import numpy as np
import lanewise as lw
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
module = lw.load(sys.argv[1])
device = lw.device(sys.argv[2])
use = sys.argv[3]
if use == "instance":
    instance = module.instantiate(device=device)
    work = lambda: instance.exports["loop"]()
elif use == "host":
    instance = lw.load(sys.argv[4]).instantiate({"e": {"f": lambda: time.sleep(0.002)}}, device=device)
    function = module.func("count", device=device)
    work = lambda: instance.exports["g"]()
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


@pytest.mark.parametrize("use", ["instance", "lanes", "host"])
def test_ctrl_c_ends_a_run_and_what_comes_after_it_works(use, device_name, tmp_path):
    if use == "host" and device_name != "cpu":
        pytest.skip("functions of the host are called on the CPU only")
    path, other = tmp_path / "endless.wasm", tmp_path / "host.wasm"
    path.write_bytes(DATA)
    other.write_bytes(CALLS_HOST)
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(path), device_name, use, str(other)],
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
