"""Instances that keep their state: calls, memories as arrays, tables, globals and tags, on every device present."""

import gc
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from programs import assemble

import lanewise as lw
from lanewise.wasm import Store

COUNTER = """
(module $counter
  (memory (export "memory") 1 4)
  (data (i32.const 8) "hello")
  (global $count (export "count") (mut i32) (i32.const 10))
  (global (export "limit") f64 (f64.const 2.5))
  (global (export "wide") (mut v128) (v128.const i64x2 1 2))
  (table (export "table") 3 5 funcref)
  (elem (i32.const 1) func $next)
  (tag $oops (export "oops") (param i32 f64))
  (func $next (export "next") (result i32)
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (global.get $count))
  (func (export "add") (param i32 i64 f32 f64) (result f64)
    (f64.add (f64.add (f64.convert_i32_s (local.get 0)) (f64.convert_i64_s (local.get 1)))
             (f64.add (f64.promote_f32 (local.get 2)) (local.get 3))))
  (func (export "pair") (param i32) (result i32 i64) (local.get 0) (i64.extend_i32_s (local.get 0)))
  (func (export "load") (param i32) (result f32) (f32.load (local.get 0)))
  (func (export "put") (param i32 i32) (i32.store (local.get 0) (local.get 1)))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "fail") (param i32) (result i32) (i32.div_u (i32.const 1) (local.get 0)))
  (func (export "throw") (param i32) (throw $oops (local.get 0) (f64.const 0.5)))
  (func (export "spin") (loop $again (br $again)))
  (func (export "same") (param externref) (result externref) (local.get 0))
  (func (export "which") (param i32) (result funcref) (table.get 0 (local.get 0)))
  (func (export "vector") (param v128) (result v128) (i8x16.add (local.get 0) (local.get 0)))
  (func (export "a b") (result i32) (i32.const 3))
  (func (export "exports") (result i32) (i32.const 4))
)
"""


@pytest.fixture(scope="module")
def module():
    return lw.load(assemble(COUNTER))


@pytest.fixture
def instance(module, device):
    return module.instantiate(device=device)


def test_state_is_kept_between_calls(instance):
    assert [instance.next() for _ in range(3)] == [11, 12, 13]
    assert instance.exports["next"]() == 14
    assert instance.count.value == 14


def test_instances_are_apart(module, device):
    one, other = (module.instantiate(device=device) for _ in range(2))
    one.next()
    one.memory.write(8, b"HELLO")
    assert other.count.value == 10
    assert other.memory.read(8, 5) == b"hello"


def test_arguments_and_results_are_numbers_of_python(instance):
    assert instance.add(1, 2**40, 0.25, np.float64(3)) == 2**40 + 4.25
    assert instance.add(np.int32(1), np.uint8(2), 3, True) == 7.0
    assert instance.pair(-1) == (-1, -1)
    assert instance.pair(2**32 - 1) == (-1, -1)
    assert instance.put(100, 5) is None
    assert instance.vector(bytes(range(16))) == bytes(range(0, 32, 2))
    assert instance.vector(1 << 120) == bytes(15) + b"\2"


def test_references_come_back_as_what_they_were(instance):
    thing = object()
    assert instance.same(thing) is thing
    assert instance.same(None) is None
    assert instance.which(0) is None
    assert instance.which(1) is instance.next
    assert instance.which(1)() == 11


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("pair", (), "pair takes 1 argument, 0 given; its type is (i32) -> (i32, i64)"),
        ("pair", (1, 2), "pair takes 1 argument, 2 given"),
        ("pair", (1.0,), "argument 1 of pair is 1.0; i32 takes a whole number"),
        ("pair", (2**32,), "argument 1 of pair is 4294967296, which does not fit i32"),
        ("pair", (-(2**31) - 1,), "does not fit i32"),
        ("pair", ("7",), "argument 1 of pair is '7'; i32 takes a whole number"),
        ("pair", (None,), "i32 takes a whole number"),
        ("pair", (np.arange(3),), "i32 takes a whole number"),
        ("add", (1, 2, "x", 4), "argument 3 of add is 'x'; f32 takes a number"),
        ("add", (1, 2, 2**24 + 1, 4), "argument 3 of add is 16777217, which f32 cannot hold exactly"),
        ("add", (1, 2, 3, 10**400), "which f64 cannot hold exactly"),
        ("add", (1, 2**64, 3, 4), "argument 2 of add is 18446744073709551616, which does not fit i64"),
        ("vector", (b"short",), "v128 takes 16 bytes"),
    ],
)
def test_a_wrong_argument_is_named_in_one_sentence(instance, name, args, words):
    with pytest.raises(lw.ArgumentError) as error:
        instance.exports[name](*args)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_functions_of_other_stores_are_refused(module, device):
    text = '(module (func (export "take") (param funcref)))'
    taker = lw.load(assemble(text)).instantiate(device=device)
    with pytest.raises(lw.ArgumentError, match="is no function of this store"):
        taker.take(module.instantiate(device=device).next)


def test_exports_are_found_by_name_and_as_attributes(instance):
    assert instance.exports["a b"]() == 3
    assert instance.exports["exports"]() == 4
    assert "next" in dir(instance)
    assert "a b" not in dir(instance)
    assert "nothing" not in instance.exports
    assert instance.exports.get("nothing") is None
    assert not hasattr(instance, "nothing")


def test_a_missing_export_is_named_with_the_nearest(instance):
    with pytest.raises(
        lw.ArgumentError, match=r"no 'nxt'; did you mean 'next'\? \(it exports memory, count, .* and 8 more\)"
    ):
        instance.exports["nxt"]
    with pytest.raises(AttributeError, match=r"no 'memry'; did you mean 'memory'\? \(it exports memory, count"):
        _ = instance.memry
    with pytest.raises(lw.ArgumentError, match="it exports memory, count, limit"):
        instance.exports["zzz"]


def test_an_instance_shows_what_it_exports(instance, device):
    assert repr(instance).startswith(f"WebAssembly instance of counter on {device.name}\n  export  memory  ")
    assert "<table>" in instance._repr_html_()
    assert repr(instance.memory) == "<memory of 1 page (64 KiB), 4 at most>"
    assert repr(instance.table) == "<table of 3 to 5 funcref>"
    assert repr(instance.count) == "<global mutable i32: 10>"
    assert repr(instance.oops) == "<tag (i32, f64)>"
    assert repr(instance.next) == "<function next () -> (i32)>"


# --- traps -----------------------------------------------------------------------------------------------------------


def test_a_trap_has_kind_function_and_place(instance):
    with pytest.raises(lw.WasmTrap, match="integer divide by zero in fail") as error:
        instance.fail(0)
    assert (error.value.kind, error.value.function) == ("integer divide by zero", "fail")
    assert error.value.offset > 0


def test_an_instance_can_be_called_after_it_or_another_trapped(module, device):
    store = Store(device)
    one, other = store.instantiate(module), store.instantiate(module)
    for _ in range(2):
        with pytest.raises(lw.WasmTrap):
            one.fail(0)
        assert one.fail(1) == 1
        assert other.fail(1) == 1
    assert other.next() == 11


def test_an_exception_that_nobody_catches_carries_its_tag_and_values(instance):
    with pytest.raises(lw.WasmException) as error:
        instance.throw(7)
    assert error.value.values == (7, 0.5)
    assert error.value.tag is instance.oops
    assert instance.next() == 11


def test_fuel_ends_a_call_and_is_new_for_the_next(module, device):
    instance = module.instantiate(device=device, fuel=100_000)
    for _ in range(2):
        with pytest.raises(lw.WasmTrap, match="out of fuel"):
            instance.spin()
        assert instance.pair(3) == (3, 3)


# --- memories --------------------------------------------------------------------------------------------------------


def test_memory_is_read_and_written(instance):
    memory = instance.memory
    assert memory.nbytes == len(memory) == 65536
    assert memory.read(8, 5) == b"hello"
    memory.write(8, np.array([1.5, 2.5], np.float32))
    assert (instance.load(8), instance.load(12)) == (1.5, 2.5)
    memory.write(20, memoryview(b"abc"))
    assert memory.read(20, 3) == b"abc"
    assert memory.read(65530) == bytes(6)
    memory.write(65536, b"")


def test_memory_is_written_in_the_order_of_the_array(instance):
    instance.memory.write(0, np.arange(6, dtype=np.uint8).reshape(2, 3).T)
    assert instance.memory.read(0, 6) == bytes([0, 3, 1, 4, 2, 5])


def test_memory_as_arrays_of_any_type(instance):
    instance.memory.write(16, np.arange(5, dtype=np.int16))
    array = instance.memory.array(np.int16, 16, 5)
    assert array.dtype == np.int16
    assert array.tolist() == [0, 1, 2, 3, 4]
    assert instance.memory.array(np.float64).shape == (8192,)
    assert instance.memory.array(np.uint64, 1).shape == (8191,)
    assert instance.memory.array(np.uint32, 65536).shape == (0,)
    assert instance.memory.array("u1").shape == (65536,)


def test_memory_takes_addresses_of_numpy(instance):
    """Which do not overflow as NumPy's numbers do."""
    memory = instance.memory
    memory.write(np.uint8(250), bytes(range(10)))
    assert memory.read(np.uint8(250), np.uint8(10)) == bytes(range(10))
    assert memory.read(np.int8(100)) == memory.read(100)
    assert memory.array(np.uint8, np.uint8(250), np.int8(10)).tolist() == list(range(10))
    assert memory.array(np.uint64, np.int16(8), np.uint8(200)).shape == (200,)
    assert memory.array(np.int32, np.int32(65532)).tolist() == [0]
    assert memory.read(np.array(250), 1) == b"\0"


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda memory: memory.read(np.uint32(0xFFFFFFF0), 32), "bytes 4,294,967,280 to 4,294,967,312 are not all in"),
        (lambda memory: memory.write(np.uint32(0xFFFFFFF0), bytes(32)), "bytes 4,294,967,280 to 4,294,967,312 are not"),
        (lambda memory: memory.array(np.uint8, np.int32(-8), 4), "bytes -8 to -4 are not all in"),
        (lambda memory: memory.array(np.int32, 0, "x"), "whole numbers, not 'x'"),
        (lambda memory: memory.read(None), "whole numbers, not None"),
        (lambda memory: memory.read(65530, 7), "bytes 65,530 to 65,537 are not all in a memory of 65,536"),
        (lambda memory: memory.read(-1, 1), "bytes -1 to 0 are not all in a memory"),
        (lambda memory: memory.read(0, -1), "are not all in a memory"),
        (lambda memory: memory.read(0.5, 1), "whole numbers, not 0.5"),
        (lambda memory: memory.write(65536, b"x"), "are not all in a memory of 65,536"),
        (lambda memory: memory.write(0, np.zeros(20_000, np.float32)), "are not all in a memory of 65,536"),
        (lambda memory: memory.write(0, "text"), "memory takes bytes or an array, not str; encode it"),
        (lambda memory: memory.write(0, 7), "memory takes bytes or an array, not int"),
        (lambda memory: memory.array(np.float64, 0, 9000), "are not all in a memory of 65,536"),
        (lambda memory: memory.array("no such type"), "'no such type' is no type of NumPy"),
        (lambda memory: memory.array(object), "holds bytes, which are no object"),
        (lambda memory: memory.grow(4), "the memory has 1 pages and can have 4; it cannot grow by 4"),
        (lambda memory: memory.grow(-1), "a whole number of pages, not by -1"),
    ],
)
def test_what_is_not_in_the_memory_is_one_sentence(instance, use, words):
    with pytest.raises(lw.ArgumentError) as error:
        use(instance.memory)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_memory_grows_for_guests_and_for_the_host(instance):
    assert instance.grow(1) == 1
    assert instance.memory.grow(1) == 2
    assert instance.grow(0) == 3
    assert instance.memory.nbytes == 3 * 65536
    instance.put(3 * 65536 - 4, 9)
    assert instance.memory.read(3 * 65536 - 4) == b"\x09\0\0\0"
    assert instance.grow(2) == -1


def test_a_view_is_the_memory_itself(module):
    instance = module.instantiate(device="cpu")
    view = instance.memory.array(np.float32)
    view[5] = 1.25
    assert instance.load(20) == 1.25
    instance.put(20, 0)
    assert view[5] == 0


def test_a_view_is_valid_after_the_memory_grew(module):
    instance = module.instantiate(device="cpu")
    view = instance.memory.array(np.int32)
    instance.grow(1)
    instance.memory.grow(1)
    instance.put(40, 77)
    assert view[10] == 77
    view[10] = 78
    assert instance.memory.read(40, 1) == b"\x4e"
    assert instance.memory.array(np.int32).size == 3 * view.size


def test_a_view_outlives_its_instance(module):
    instance = module.instantiate(device="cpu")
    view = instance.memory.array(np.float64, 64, 100)
    view[:] = np.arange(100)
    gone = weakref.ref(view.base)
    del instance
    gc.collect()
    churn = [module.instantiate(device="cpu").memory.array() for _ in range(5)]
    for other in churn:
        other[:] = 255
    assert view.tolist() == list(range(100))
    del view
    gc.collect()
    assert gone() is None


def test_instances_that_nobody_holds_give_their_memory_back(module):
    memories = []
    for _ in range(3):
        instance = module.instantiate(device="cpu")
        memories.append(weakref.ref(instance.store))
        del instance
    gc.collect()
    assert [one() for one in memories] == [None] * 3


def test_a_copy_cannot_be_mistaken_for_a_view(module, device):
    if device.name == "cpu":
        pytest.skip("a view on the CPU")
    array = module.instantiate(device=device).memory.array()
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_a_memory_without_pages(device):
    instance = lw.load(assemble('(module (memory (export "m") 0 1))')).instantiate(device=device)
    assert instance.m.array().size == 0
    assert instance.m.read() == b""
    assert instance.m.grow(1) == 0
    assert instance.m.array().size == 65536


# --- tables, globals -------------------------------------------------------------------------------------------------


def test_tables_are_sequences_of_references(instance):
    assert len(instance.table) == 3
    assert list(instance.table) == [None, instance.next, None]
    assert instance.table[1]() == 11
    for index in (3, -1, "x"):
        with pytest.raises(lw.ArgumentError, match="the table has 3 entries; there is no entry"):
            instance.table[index]


def test_globals_are_read_and_set(instance):
    assert instance.limit.value == 2.5
    instance.count.value = -7
    assert instance.next() == -6
    assert instance.wide.value == (1).to_bytes(8, "little") + (2).to_bytes(8, "little")
    instance.wide.value = bytes(range(16))
    assert instance.wide.value == bytes(range(16))


def test_globals_refuse_what_does_not_fit(instance):
    with pytest.raises(lw.ArgumentError, match="this global is a constant"):
        instance.limit.value = 1.0
    with pytest.raises(lw.ArgumentError, match="does not fit i32"):
        instance.count.value = 2**32
    with pytest.raises(lw.ArgumentError, match="takes a whole number"):
        instance.count.value = 1.5
    assert instance.count.value == 10


def test_an_export_is_not_hidden_by_an_attribute(instance):
    with pytest.raises(
        AttributeError, match=r"'count' is a global that the instance exports; .*exports\[\"count\"\]\.value ="
    ):
        instance.count = 7
    with pytest.raises(AttributeError, match=r"'next' is a function that the instance exports; it cannot be replaced$"):
        instance.next = print
    with pytest.raises(AttributeError, match=r"'limit' is a global that the instance exports; it cannot be replaced$"):
        instance.limit = 1.0
    assert instance.next() == 11
    instance.note = "an attribute like any other"
    assert instance.note


# --- threads ---------------------------------------------------------------------------------------------------------


def test_calls_from_several_threads_take_turns(instance):
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda _: instance.next(), range(200)))
    assert sorted(seen) == list(range(11, 211))


def test_a_trap_on_one_thread_is_not_seen_on_another(instance):
    def use(at: int) -> str:
        try:
            return str(instance.fail(at % 2))
        except lw.WasmTrap as trap:
            return trap.kind

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(use, range(100)))
    assert outcomes == ["integer divide by zero", "1"] * 50


def test_ctrl_c_ends_a_call_and_the_instance_goes_on(tmp_path):
    binary = tmp_path / "counter.wasm"
    binary.write_bytes(assemble(COUNTER))
    script = f"""
import lanewise as lw, signal, threading, os, time
instance = lw.load({str(binary)!r}).instantiate(device="cpu")
instance.next()
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    instance.spin()
except KeyboardInterrupt:
    print("interrupted", instance.next())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "interrupted 12\n", done.stderr


def test_a_memory_that_the_host_grows_can_be_used_whole_by_code_that_never_grows_it():
    text = """(module (memory (export "memory") 1 4)
      (func (export "get") (param i32) (result i32) (i32.load (local.get 0)))
      (func (export "set") (param i32 i32) (i32.store (local.get 0) (local.get 1))))"""
    instance = lw.load(assemble(text)).instantiate(device="cpu")
    with pytest.raises(lw.WasmTrap, match="out of bounds"):
        instance.exports["get"](65536)
    instance.exports["memory"].grow(1)
    instance.exports["set"](65536, 5)
    assert instance.exports["get"](65536) == 5
    with pytest.raises(lw.WasmTrap, match="out of bounds"):
        instance.exports["get"](2 * 65536)


def test_a_memory_that_another_instance_grows_can_be_used_whole_by_code_that_never_grows_it():
    store = Store("cpu")
    owner = store.instantiate(
        lw.load(
            assemble("""(module (memory (export "memory") 1 4)
                  (func (export "get") (param i32) (result i32) (i32.load (local.get 0))))""")
        )
    )
    with pytest.raises(lw.WasmTrap, match="out of bounds"):
        owner.exports["get"](65536)
    grower = store.instantiate(
        lw.load(
            assemble("""(module (import "o" "memory" (memory 1 4))
                  (func (export "grow") (result i32) (memory.grow (i32.const 1))))""")
        ),
        {"o": owner},
    )
    assert grower.exports["grow"]() == 1
    assert owner.exports["get"](65536) == 0
