"""Lanes note where they store: the next one in a slot finds nothing of them, and no more is cleared than they noted."""

import ctypes

import numpy as np
import pytest
import wasmtime

import lanewise as lw
from lanewise.wasm import cpu_lanes, state


@pytest.fixture
def device(lane_device):
    return lane_device


LANES = 2000
STORES = {
    "i32.store8": "(local.get $to) (i32.const -1)",
    "i32.store16": "(local.get $to) (i32.const -1)",
    "i32.store": "(local.get $to) (i32.const -1)",
    "i64.store": "(local.get $to) (i64.const -1)",
    "f32.store": "(local.get $to) (f32.const 1.5)",
    "f64.store": "(local.get $to) (f64.const -0.1)",
    "v128.store": "(local.get $to) (v128.const i32x4 -1 -1 -1 -1)",
    "memory.fill": "(local.get $to) (i32.const 7) (i32.const 5000)",
    "memory.copy": "(local.get $to) (i32.const 16) (i32.const 3000)",
    "memory.init $piece": "(local.get $to) (i32.const 0) (i32.const 20)",
    "i32.atomic.store": "(i32.and (local.get $to) (i32.const -4)) (i32.const -1)",
    "drop": "(i32.atomic.rmw.add (i32.and (local.get $to) (i32.const -4)) (i32.const -1))",
    "drop ": "(i64.atomic.rmw.cmpxchg (i32.and (local.get $to) (i32.const -8)) (i64.const 0) (i64.const -1))",
    "call $deep": "(local.get $to)",
    "memory.fill ": "(i32.const 65536) (i32.const 7) (i32.sub (memory.size) (memory.size))",
    "if ": "(i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then (i32.store8 (i32.const 131071) (i32.const 1)))",
}
ATOMICS = [name for name, operands in STORES.items() if "atomic" in name + operands]
PIECE = 65536 // 32


def module(names, memory="(memory 1 2)"):
    """Counts the bytes of its memory that are not as they began, then stores in one way, and traps where told to."""
    stores = "".join(
        f"(if (i32.eq (local.get $way) (i32.const {at})) (then ({name} {STORES[name]})))"
        for at, name in enumerate(names)
    )
    return wasmtime.wat2wasm(f"""(module {memory}
      (data (i32.const 16) "\\01\\02\\03\\04\\05\\06\\07\\08")
      (data $piece "abcdefghijklmnopqrstuvwxyz")
      (func $deep (param $to i32)
        (i32.store8 (local.get $to) (i32.const 1))
        (if (i32.and (local.get $to) (i32.const 31)) (then (call $deep (i32.sub (local.get $to) (i32.const 1))))))
      (func (export "f") (param $way i32) (param $to i32) (param $trap i32) (result i32)
        (local $at i32) (local $found i32)
        (loop $each
          (local.set $found (i32.add (local.get $found) (i32.ne (i32.load8_u (local.get $at))
            (if (result i32) (i32.lt_u (i32.sub (local.get $at) (i32.const 16)) (i32.const 8))
              (then (i32.sub (local.get $at) (i32.const 15))) (else (i32.const 0))))))
          (br_if $each (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1)))
            (i32.shl (memory.size) (i32.const 16)))))
        {stores}
        (if (local.get $trap) (then unreachable))
        (i32.add (local.get $found) (i32.shl (memory.size) (i32.const 20)))))""")


def places(device, names):
    """Layouts, and on a GPU few slots for many lanes."""
    layouts = ["interleaved"] if any(name in ATOMICS for name in names) else ["interleaved", "words"]
    if device.name == "cpu":
        return [{"layout": layout, "alignment": "branch"} for layout in layouts]
    found = [{"placement": f"{layout}/32/64/{kind}".rstrip("/")} for layout in [*layouts, "flat"] for kind in ("", "u")]
    return found + [{"placement": f"{layout}/32/64", "alignment": "careful"} for layout in layouts]


@pytest.mark.parametrize("names", [[name for name in STORES if name not in ATOMICS], ATOMICS])
@pytest.mark.parametrize("trapping", [0.0, 0.1])
def test_nobody_finds_what_another_has_stored(names, trapping, device):
    chosen = np.random.default_rng(5)
    way = chosen.integers(0, len(names), LANES).astype(np.int32)
    to = chosen.integers(0, 65536 - 5100, LANES).astype(np.int32)
    to = np.where(chosen.random(LANES) < 0.3, to // 2048 * 2048 - chosen.integers(0, 9, LANES), to).clip(0)
    traps = (chosen.random(LANES) < trapping).astype(np.int32)
    data = module(names)
    for choices in places(device, names):
        function = lw.load(data).func("f", device=device, marks=True, errors="mask", **choices)
        found = function(way, to.astype(np.int32), traps)
        assert np.array_equal(np.ma.getmaskarray(found), traps != 0), choices
        kept = found.compressed()
        grown = np.array(["grow" in STORES[names[one]] for one in way[traps == 0]])
        assert np.array_equal(kept, np.where(grown, 2 << 20, 1 << 20)), choices


FUNCTIONS = {
    "a tail call": (
        """(func $f (param i32) (result i32) (i32.store8 (local.get 0) (i32.const 9))
             (return_call $g (i32.add (local.get 0) (i32.const 4096))))
           (func $g (param i32) (result i32) (i32.store8 (local.get 0) (i32.const 9)) (i32.const 0))""",
        "(drop (call $f (local.get $to)))",
    ),
    "a tail call by reference": (
        """(type $t (func (param i32) (result i32))) (table 1 funcref) (elem (i32.const 0) $g)
           (func $f (param i32) (result i32) (i32.store8 (local.get 0) (i32.const 9))
             (return_call_indirect (type $t) (i32.add (local.get 0) (i32.const 4096)) (i32.const 0)))
           (func $g (param i32) (result i32) (i32.store8 (local.get 0) (i32.const 9)) (i32.const 0))""",
        "(drop (call $f (local.get $to)))",
    ),
    "an exception": (
        """(tag $odd)
           (func $f (param i32) (i32.store8 (local.get 0) (i32.const 9))
             (if (i32.and (local.get 0) (i32.const 1)) (then (throw $odd))))
           (func $g (param i32) (i32.store8 offset=4096 (local.get 0) (i32.const 1)) (call $f (local.get 0)))""",
        "(block $odd_one (try_table (catch $odd $odd_one) (call $g (local.get $to))))",
    ),
    "a ring of calls": (
        """(func $f (param i32 i32) (i32.store8 (i32.add (local.get 1) (i32.mul (local.get 0) (i32.const 177)))
             (i32.const 7)) (if (local.get 0) (then (call $g (i32.sub (local.get 0) (i32.const 1)) (local.get 1)))))
           (func $g (param i32 i32) (i32.store8 (i32.add (local.get 1) (i32.mul (local.get 0) (i32.const 97)))
             (i32.const 7)) (if (local.get 0) (then (call $f (i32.sub (local.get 0) (i32.const 1)) (local.get 1)))))""",
        "(call $f (i32.and (local.get $to) (i32.const 15)) (local.get $to))",
    ),
    "another memory": (
        "(memory $other 1)",
        """(i32.store $other (local.get $to) (i32.const -1))
           (memory.copy 0 $other (local.get $to) (local.get $to) (i32.const 4))
           (memory.fill $other (i32.const 60000) (i32.const 9) (i32.const 100))""",
    ),
    "lanes of a vector": (
        "",
        """(v128.store8_lane 3 (local.get $to) (v128.const i32x4 -1 -1 -1 -1))
           (v128.store64_lane offset=4096 1 (i32.and (local.get $to) (i32.const -8)) (v128.const i32x4 1 2 3 4))""",
    ),
    "a start function": (
        """(func $begin (i32.store (i32.const 30000) (i32.const -1)) (i32.store (i32.const 30000) (i32.const 0)))
           (start $begin)""",
        "(i32.store8 (local.get $to) (i32.const 1))",
    ),
    "a memory that begins with nothing": (
        None,
        """(if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then (i32.store8 (local.get $to) (i32.const 1))))
           (memory.fill (i32.const 0) (i32.const 0) (i32.const 0))""",
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_hand_on_what_they_noted_however_they_end(name, device):
    functions, store = FUNCTIONS[name]
    memory = "(memory 0 1)" if functions is None else "(memory 1 1)"
    data = wasmtime.wat2wasm(f"""(module {memory} {functions or ""}
      (func (export "f") (param $to i32) (result i32) (local $at i32) (local $found i32)
        (if (memory.size)
          (then (loop $each
            (local.set $found (i32.add (local.get $found) (i32.ne (i32.load8_u (local.get $at)) (i32.const 0))))
            (br_if $each (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 65536))))))
        {store}
        (local.get $found)))""")
    to = np.random.default_rng(7).integers(0, 56000, 300).astype(np.int32)
    for choices in places(device, []):
        for meeting in (True, False):
            function = lw.load(data).func("f", device=device, marks=True, meeting=meeting, **choices)
            assert not function(to).any(), (choices, meeting)


@pytest.mark.parametrize("pages", [1, 3, 33, 70])
def test_memories_of_every_size_are_cleared_to_their_end(pages, device):
    data = module(["i64.store"], f"(memory {pages} {pages})")
    last = np.full(40, pages * 65536 - 8, np.int32)
    for choices in places(device, []):
        found = lw.load(data).func("f", device=device, marks=True, **choices)(np.int32(0), last, np.int32(0))
        assert found.tolist() == [pages << 20] * 40, choices


@pytest.fixture
def slots(monkeypatch):
    """The slots of the last call, each with a full memory of which parts are marked: those of the bits that are set."""
    made = cpu_lanes.make_slots
    known = {"marks": 0}

    def prepared(module, build, facts, words, workers):
        kept = made(module, build, facts, words, workers)
        (states, memory, *_), *_ = kept
        assert workers == 1
        cells = states.view(np.uint64).reshape(-1, build.columns)[:, 0]
        cells[state.StateLayout(module).memories[0] + state.MEMORY_BYTES] = 65536
        cells[state.MARKS] = known["marks"]
        ctypes.memset(memory.address, 0xFF, 65536 * build.columns)
        known["cells"] = cells
        return kept

    monkeypatch.setattr(cpu_lanes, "make_slots", prepared)
    return known


@pytest.mark.parametrize("layout", ["interleaved", "words"])
@pytest.mark.parametrize(("marks", "cleared"), [(0, 0), (0b1000, PIECE), (1 << 31, PIECE), (1 << 32, 65536)])
def test_what_is_not_marked_is_not_cleared_unless_the_one_before_ended_early(layout, marks, cleared, slots):
    slots["marks"] = marks
    function = lw.load(module(["i64.store"])).func("f", device="cpu", layout=layout, marks=True)
    found = int(function(np.int32(0), np.array([3 * PIECE - 4], np.int32), np.int32(0))[0]) - (1 << 20)
    data = 0 if marks == 1 << 32 else 8
    assert found == 65536 - cleared - data
    assert slots["cells"][state.MARKS] == 0b1100  # an access that lies in two pieces


@pytest.mark.parametrize(
    ("name", "to", "pieces"),
    [
        ("i32.store8", 5 * PIECE, 1 << 5),
        ("memory.fill", 5 * PIECE - 1, 0b11110000),
        ("memory.fill ", 0, 0),
        ("call $deep", 9 * PIECE + 7, 1 << 9),
        ("memory.copy", 31 * PIECE - 3000, 0b11 << 29),
    ],
)
def test_pieces_are_noted_that_were_stored_to_and_no_others(name, to, pieces, slots):
    function = lw.load(module([name])).func("f", device="cpu", layout="interleaved", marks=True)
    function(np.int32(0), np.array([to], np.int32), np.int32(0))
    assert slots["cells"][state.MARKS] == pieces
