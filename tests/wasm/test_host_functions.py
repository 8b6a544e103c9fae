"""Python functions that guests import on the CPU: values both ways, and errors that come through as they are."""

import subprocess
import sys

import numpy as np
import pytest
from programs import assemble

import lanewise as lw
from lanewise.wasm import Store

CALLER = """
(module
  (import "env" "log" (func $log (param i32)))
  (import "env" "mix" (func $mix (param i32 i64 f32 f64) (result f64)))
  (import "env" "swap" (func $swap (param i32 i64) (result i64 i32)))
  (import "env" "ref" (func $ref (param externref) (result externref)))
  (memory (export "memory") 1)
  (func (export "say") (param i32) (call $log (local.get 0)) (call $log (i32.const -1)))
  (func (export "blend") (result f64) (call $mix (i32.const -2) (i64.const -3) (f32.const 0.5) (f64.const 1e300)))
  (func (export "turn") (param i32 i64) (result i64 i32) (call $swap (local.get 0) (local.get 1)))
  (func (export "pass") (param externref) (result externref) (call $ref (local.get 0)))
  (func (export "loop") (param i32) (result i32) (local i32)
    (loop $again
      (call $log (local.get 1))
      (local.set 1 (i32.add (local.get 1) (i32.const 1)))
      (br_if $again (i32.lt_s (local.get 1) (local.get 0))))
    (local.get 1))
)
"""


class Host:
    """Functions that note how they are called."""

    def __init__(self) -> None:
        self.seen = []
        self.mix = lambda *args: self.seen.append(args) or 2.5
        self.swap = lambda a, b: (b, a)
        self.ref = lambda thing: thing
        self.log = self.seen.append

    def instance(self, **choices):
        names = {name: lambda *args, name=name: getattr(self, name)(*args) for name in ("log", "mix", "swap", "ref")}
        return lw.load(assemble(CALLER)).instantiate({"env": names}, device="cpu", **choices)


@pytest.fixture
def host():
    return Host()


def test_values_go_both_ways(host):
    instance = host.instance()
    assert instance.say(7) is None
    assert host.seen == [7, -1]
    assert instance.blend() == 2.5
    assert host.seen[2] == (-2, -3, 0.5, 1e300)
    assert instance.turn(5, 2**40) == (2**40, 5)
    thing = object()
    assert getattr(instance, "pass")(thing) is thing


def test_results_may_be_numbers_of_numpy(host):
    host.mix = lambda *args: np.float32(1.5)
    host.swap = lambda a, b: [np.int64(b), np.uint8(a)]
    instance = host.instance()
    assert instance.blend() == 1.5
    assert instance.turn(5, 6) == (6, 5)


def test_the_very_exception_comes_through_and_the_instance_goes_on(host):
    class MyError(Exception):
        pass

    error = MyError("from the host")

    def fail(number):
        if number == 3:
            raise error
        host.seen.append(number)

    host.log = fail
    instance = host.instance()
    with pytest.raises(MyError) as raised:
        instance.loop(10)
    assert raised.value is error
    assert host.seen == [0, 1, 2]
    host.log = host.seen.append
    assert instance.loop(2) == 2


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit, MemoryError])
def test_exceptions_of_any_kind_come_through(host, kind):
    def fail(number):
        raise kind

    host.log = fail
    with pytest.raises(kind):
        host.instance().say(1)


@pytest.mark.parametrize(
    ("name", "function", "call", "words"),
    [
        ("mix", lambda *args: None, "blend", "result 1 of env.mix is None; f64 takes a number"),
        ("mix", lambda *args: "x", "blend", "result 1 of env.mix is 'x'; f64 takes a number"),
        ("swap", lambda a, b: 3, "turn", "env.swap is to give a tuple of 2 results, it gave 3"),
        ("swap", lambda a, b: (1, 2, 3), "turn", "env.swap is to give 2 results, it gave 3"),
        ("swap", lambda a, b: (1, 2**32), "turn", "result 2 of env.swap is 4294967296, which does not fit i32"),
    ],
)
def test_a_wrong_result_names_the_function(host, name, function, call, words):
    setattr(host, name, function)
    instance = host.instance()
    with pytest.raises(lw.ArgumentError) as error:
        instance.exports[call](*([1, 2] if call == "turn" else []))
    assert words in str(error.value)


def test_a_host_function_of_another_arity_is_the_error_of_python(host):
    host.log = lambda: None
    with pytest.raises(TypeError, match="takes 0 positional arguments but 1 was given"):
        host.instance().say(1)


def test_a_host_function_sees_and_changes_memory(host):
    instance = host.instance()

    def log(number):
        instance.memory.array(np.int32)[number] += 1
        host.seen.append(instance.memory.read(0, 4))

    host.log = log
    instance.loop(3)
    assert instance.memory.array(np.int32)[:4].tolist() == [1, 1, 1, 0]
    assert host.seen == [b"\1\0\0\0"] * 3


def test_a_host_function_can_be_exported_again():
    text = '(module (import "a" "f" (func (param i32) (result i32))) (export "f" (func 0)))'
    store = Store("cpu")
    first = store.instantiate(lw.load(assemble(text)), {"a": {"f": lambda x: x + 1}})
    user = """(module (import "b" "f" (func (param i32) (result i32)))
      (func (export "g") (result i32) (call 0 (i32.const 4))))"""
    assert store.instantiate(lw.load(assemble(user)), {"b": first}).g() == 5
    with pytest.raises(lw.ArgumentError, match="is a function of the host; call it in Python"):
        first.f(1)


def test_a_start_function_may_call_the_host():
    text = '(module (import "a" "f" (func)) (start 0))'
    seen = []
    lw.load(assemble(text)).instantiate({"a": {"f": lambda: seen.append(1)}}, device="cpu")
    assert seen == [1]
    with pytest.raises(ZeroDivisionError):
        lw.load(assemble(text)).instantiate({"a": {"f": lambda: 1 // 0}}, device="cpu")


def test_python_functions_are_refused_where_there_is_no_python(device):
    if device.name == "cpu":
        pytest.skip("the CPU runs them")
    text = '(module (import "a" "f" (func)))'
    with pytest.raises(lw.LinkError, match="functions written in Python run on the CPU device only"):
        lw.load(assemble(text)).instantiate({"a": {"f": print}}, device=device)


def run_alone(binary, script: str, tmp_path) -> str:
    """The output of a script that may hang, in a process of its own."""
    path = tmp_path / "module.wasm"
    path.write_bytes(binary)
    command = [sys.executable, "-c", f"import lanewise as lw\nmodule = lw.load({str(path)!r})\n{script}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except subprocess.TimeoutExpired:
        pytest.fail("it hangs")
    return done.stdout + done.stderr


NESTED = assemble("""
(module
  (import "env" "call" (func $call (param i32) (result i32)))
  (func (export "down") (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (i32.add (i32.const 1) (call $call (i32.sub (local.get 0) (i32.const 1)))))
      (else (i32.const 0))))
  (func (export "twice") (param i32) (result i32) (i32.shl (local.get 0) (i32.const 1)))
  (func (export "trap") unreachable)
)
""")


def test_a_host_function_may_call_its_instance(tmp_path):
    script = """
instance = module.instantiate({"env": {"call": lambda n: instance.down(n)}}, device="cpu")
print(instance.down(5))
"""
    assert run_alone(NESTED, script, tmp_path) == "5\n"


def test_a_trap_inside_a_nested_call_can_be_caught_by_the_host_function(tmp_path):
    script = """
def call(n):
    try:
        instance.trap()
    except lw.WasmTrap as trap:
        print(trap.kind)
    return 10 * n

instance = module.instantiate({"env": {"call": call}}, device="cpu")
print(instance.down(3))
"""
    assert run_alone(NESTED, script, tmp_path) == "unreachable\n21\n"


def test_a_host_function_may_grow_the_memory(tmp_path):
    text = """(module (import "env" "more" (func)) (memory (export "memory") 1)
      (func (export "size") (result i32) (call 0) (i32.store (i32.const 196604) (i32.const 1)) (memory.size)))"""
    script = """
instance = module.instantiate({"env": {"more": lambda: instance.memory.grow(2)}}, device="cpu")
print(instance.size())
"""
    assert run_alone(assemble(text), script, tmp_path) == "3\n"


def test_a_host_function_may_make_instances_in_its_store(tmp_path):
    script = """
from lanewise.wasm import Store
store = Store("cpu")
second = lambda n: store.instantiate(module, {"env": {"call": lambda n: 10}}).down(n)
print(store.instantiate(module, {"env": {"call": second}}).down(2))
"""
    assert run_alone(NESTED, script, tmp_path) == "12\n"


def test_a_host_function_is_not_called_through_its_own_export(tmp_path):
    text = """(module (import "env" "f" (func)) (export "f" (func 0)) (func (export "g") (call 0)))"""
    script = """
instance = module.instantiate({"env": {"f": lambda: instance.f()}}, device="cpu")
try:
    instance.g()
except lw.ArgumentError as error:
    print(error)
"""
    assert "is a function of the host; call it in Python" in run_alone(assemble(text), script, tmp_path)


def test_an_exception_comes_through_as_many_calls_as_there_are(tmp_path):
    script = """
def call(n):
    return instance.down(n) if n else 1 // 0

instance = module.instantiate({"env": {"call": call}}, device="cpu")
for _ in range(2):
    try:
        instance.down(4)
    except ZeroDivisionError as error:
        print(error)
try:
    instance.trap()
except lw.WasmTrap as trap:
    print(trap.kind)
"""
    assert run_alone(NESTED, script, tmp_path) == "integer division or modulo by zero\n" * 2 + "unreachable\n"


def test_calls_without_end_between_guest_and_host_are_an_error_of_python(tmp_path):
    script = """
instance = module.instantiate({"env": {"call": lambda n: instance.down(n)}}, device="cpu")
try:
    instance.down(1_000_000)
except (RecursionError, lw.WasmTrap) as error:
    print("too deep")
print(instance.down(5))
"""
    assert run_alone(NESTED, script, tmp_path) == "too deep\n5\n"


OTHERS = {
    "an instance of another store": "other.down(n)",
    "a function over arrays": 'int(module.func("twice", device="cpu")([n, 0]).sum()) - n',
    "an array of the device": 'int(lw.device("cpu").array([n]).get()[0])',
}


@pytest.mark.parametrize("use", OTHERS.values(), ids=OTHERS)
def test_a_host_function_may_use_the_device(tmp_path, use):
    script = f"""
other = module.instantiate({{"env": {{"call": lambda n: n}}}}, device="cpu")
instance = module.instantiate({{"env": {{"call": lambda n: {use} + 1}}}}, device="cpu")
print(instance.down(3))
"""
    assert run_alone(NESTED, script, tmp_path) == "4\n"
