"""Each element runs as if on a fresh instance: no memory, global, table or page of another element is ever seen."""

import numpy as np
import pytest
from programs import assemble

import lanewise as lw


@pytest.fixture
def device(lane_device):
    return lane_device


STATEFUL = """
(module
  (memory 1 4)
  (data (i32.const 16) "\\2a\\00\\00\\00")
  (data $passive "xyz")
  (global $count (mut i32) (i32.const 5))
  (global $started (mut i32) (i32.const 0))
  (type $get (func (result i32)))
  (table $t 4 8 funcref)
  (elem (table $t) (i32.const 0) func $one $two)
  (elem declare func $one $two)
  (func $one (result i32) (i32.const 1))
  (func $two (result i32) (i32.const 2))
  (start $begin)
  (func $begin (global.set $started (i32.add (global.get $started) (i32.const 1))))

  ;; What was at an address before this element wrote to it: always what a new instance has there.
  (func (export "swap") (param $at i32) (param $value i32) (result i32)
    (i32.load (local.get $at))
    (i32.store (local.get $at) (local.get $value)))
  (func (export "count") (param i32) (result i32)
    (global.set $count (i32.add (global.get $count) (local.get 0)))
    (global.get $count))
  (func (export "started") (result i32) (global.get $started))
  (func (export "grow") (param i32) (result i32 i32 i32)
    (memory.grow (local.get 0))
    (memory.size)
    ;; The last byte of what there is now: nobody wrote to it.
    (i32.load8_u (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 1)))
    (i32.store8 (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 1)) (i32.const 255)))
  (func (export "through_the_table") (param i32) (result i32)
    (call_indirect $t (type $get) (i32.const 0))
    (table.set $t (i32.const 0) (ref.func $two))
    (if (i32.and (local.get 0) (i32.const 1))
      (then (table.set $t (i32.const 0) (ref.null func)))))
  (func (export "grow_table") (param i32) (result i32 i32)
    (table.grow $t (ref.func $one) (local.get 0))
    (table.size $t))
  (func (export "drop_data") (param i32) (result i32)
    (memory.init $passive (i32.const 100) (i32.const 0) (i32.const 3))
    (data.drop $passive)
    (i32.load8_u (i32.const 101)))
  (func (export "fill") (param i32) (result i32)
    (memory.fill (i32.const 0) (i32.const 255) (i32.const 65536))
    (if (i32.eq (local.get 0) (i32.const 3)) (then unreachable))
    (i32.load (i32.const 16)))
  (func (export "spread") (param i32 i32) (result i64)
    ;; An address of any alignment: written, and read back together with what is beside it.
    (i32.store (local.get 0) (local.get 1))
    (i64.load (i32.sub (local.get 0) (i32.const 2))))
)
"""


@pytest.fixture(scope="module")
def module():
    return lw.load(assemble(STATEFUL))


LANES = 5000
"""More than a CPU has workers, so that each of them runs many elements one after the other."""


def test_memory_is_that_of_a_new_instance(module, device):
    swap = module.func("swap", device=device)
    assert not swap(np.full(LANES, 1000), np.arange(LANES)).any()
    assert (swap(16, np.arange(LANES)) == 42).all()
    assert not swap(np.arange(LANES) * 4 + 32, 2**31 - 1).any()


def test_memory_is_new_after_an_element_that_trapped(module, device):
    fill = module.func("fill", device=device, errors="mask")
    assert fill(np.arange(LANES) % 5).mask.sum() == LANES // 5
    swap = module.func("swap", device=device, errors="mask")
    addresses = np.where(np.arange(LANES) % 2, 65536, 1000)
    result = swap(addresses, 7)
    assert result.mask.tolist() == (addresses == 65536).tolist()
    assert not result.compressed().any()


def test_globals_are_those_of_a_new_instance(module, device):
    added = np.arange(LANES)
    assert np.array_equal(module.func("count", device=device)(added), added + 5)


def test_the_start_function_runs_once_per_element(module, device):
    assert module.func("started", device=device)() == 1
    assert (module.func("swap", device=device)(np.zeros(9, np.int32), 1) == 0).all()


def test_pages_that_an_element_added_are_gone_for_the_next(module, device):
    more = np.arange(LANES) % 6
    before, pages, last = module.func("grow", device=device)(more)
    assert np.array_equal(before, np.where(more <= 3, 1, -1))
    assert np.array_equal(pages, np.where(more <= 3, 1 + more, 1))
    assert not last.any()


def test_tables_are_those_of_a_new_instance(module, device):
    assert (module.func("through_the_table", device=device)(np.arange(LANES)) == 1).all()
    more = np.arange(LANES) % 7
    before, size = module.func("grow_table", device=device)(more)
    assert np.array_equal(before, np.where(more <= 4, 4, -1))
    assert np.array_equal(size, np.where(more <= 4, 4 + more, 4))


def test_segments_are_those_of_a_new_instance(module, device):
    assert (module.func("drop_data", device=device)(np.arange(LANES)) == ord("y")).all()


def test_addresses_of_any_alignment(module, device):
    at = np.arange(LANES) % 97 + 1001
    expected = np.arange(LANES, dtype=np.int64) << 16
    assert np.array_equal(module.func("spread", device=device)(at, np.arange(LANES)), expected)


def test_no_elements_and_one_element(module, device):
    assert module.func("count", device=device)(np.zeros((0, 3), np.int32)).shape == (0, 3)
    assert module.func("count", device=device)(2) == 7


def test_calls_from_several_threads_do_not_meet(module, device):
    from concurrent.futures import ThreadPoolExecutor

    count = module.func("count", device=device)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda at: count(np.full(1000, at)), range(12)))
    assert all((result == at + 5).all() for at, result in enumerate(results))


def test_pages_that_were_added_can_be_used_in_every_layout():
    text = """(module (memory 0 4)
      (func (export "last") (result i32)
        (drop (memory.grow (i32.const 2)))
        (i32.store (i32.const 131068) (i32.const 7))
        (i32.load (i32.const 131068))))"""
    assert lw.load(assemble(text)).func("last", device="cpu", layout="interleaved")() == 7


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ("(start $s) (func $s unreachable)", "unreachable"),
        ('(memory 1) (data (i32.const 65536) "x")', "out of bounds memory access"),
        ('(memory 1) (data (i32.const -1) "x")', "out of bounds memory access"),
        ('(memory 0) (data (i32.const 1) "")', "out of bounds memory access"),
        ('(memory 1) (global $g i32 (i32.const 65535)) (data (global.get $g) "xy")', "out of bounds memory access"),
        ('(memory 1) (data (i32.sub (i32.const 0) (i32.const 1)) "x")', "out of bounds memory access"),
        ("(table 1 funcref) (elem (i32.const 1) func 0)", "out of bounds table access"),
        ("(tag $t) (start $s) (func $s (throw $t))", "uncaught exception"),
    ],
)
def test_functions_that_need_no_instance_trap_where_none_can_be_made(fields, kind, device):
    text = f'(module {fields} (func (export "twice") (param i32) (result i32) (i32.add (local.get 0) (local.get 0))))'
    with pytest.raises(lw.LaneError) as error:
        lw.load(assemble(text)).func("twice", device=device)([1, 2, 3])
    assert error.value.kinds == [kind] * 3
    assert lw.load(assemble(text)).func("twice", device=device, errors="mask")([1, 2]).mask.all()


def test_functions_that_need_no_instance_need_none_where_it_can_always_be_made():
    text = """(module
      (import "env" "memory" (memory 1)) (import "env" "log" (func $log))
      (table 2 funcref) (elem (i32.const 1) func $log) (elem declare func $log)
      (global $g i32 (i32.const 65000))
      (data (i32.add (global.get $g) (i32.const 535)) "x") (data "passive") (data (i32.const 65536) "")
      (func (export "twice") (param i32) (result i32) (i32.add (local.get 0) (local.get 0))))"""
    assert lw.load(assemble(text)).func("twice", device="cpu")([1, 2]).tolist() == [2, 4]


@pytest.mark.parametrize(
    "fields",
    [
        '(import "env" "f" (func $f)) (start $f)',
        '(import "env" "g" (global $g i32)) (memory 1) (data (global.get $g) "x")',
        '(import "env" "m" (memory 0)) (data (i32.const 0) "x")',
    ],
)
def test_whether_an_instance_can_be_made_is_not_guessed_where_imports_decide_it(fields):
    text = f'(module {fields} (func (export "one") (result i32) (i32.const 1)))'
    with pytest.raises(lw.LinkError, match="the module imports env"):
        lw.load(assemble(text)).func("one", device="cpu")()
