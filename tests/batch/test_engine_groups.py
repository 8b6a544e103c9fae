"""The GPU vocabulary: lanes of a group meet at barriers and share words; all lanes share state, input and output."""

import numpy as np
import pytest
from engine_runs import few_slots, numbers, program, run_all, small_waves, words

from lanewise.batch.spec import Buffers, Limits

MEETING = program(
    """(local $me i32) (local $size i32)
    (local.set $me (call $local_id))
    (local.set $size (call $threadgroup_size))
    (call $say (call $thread_id))
    (call $say (local.get $me))
    (call $say (call $group_id))
    (call $say (local.get $size))
    (call $write_shared (local.get $me) (i32.mul (call $thread_id) (i32.const 10)))
    (call $threadgroup_barrier)
    (call $say (call $read_shared (i32.rem_u (i32.add (local.get $me) (i32.const 1)) (local.get $size))))
    (call $threadgroup_barrier)
    (call $write_shared (local.get $me) (i32.const 1))
    (call $threadgroup_barrier)
    (call $say (call $read_shared (i32.sub (i32.sub (local.get $size) (i32.const 1)) (local.get $me))))
    (drop (call $atomic_add (i32.const 0) (i32.const 1)))""",
    "thread_id",
    "local_id",
    "group_id",
    "threadgroup_size",
    "threadgroup_barrier",
    "read_shared",
    "write_shared",
    "atomic_add",
)


def met(lane: int, lanes: int, group: int) -> list[int]:
    """What a lane of that program says."""
    first = lane // group * group
    size = min(group, lanes - first)
    neighbour = first + (lane - first + 1) % size
    return [lane, lane - first, lane // group, size, neighbour * 10, 1]


@pytest.mark.parametrize("group", [1, 2, 64, 256])
@pytest.mark.parametrize("extra", [0, 1, -1])
def test_lanes_of_a_group_meet_and_share_words(group, extra, device):
    lanes = max(1, 3 * group + extra)
    buffers = Buffers(state=np.zeros(1, np.int32), group=group)
    ended = run_all(MEETING, device, lanes, buffers=buffers)
    assert [words(one) for one in ended.stdout] == [met(lane, lanes, group) for lane in range(lanes)]
    assert ended.results.state.tolist() == [lanes]


def test_groups_meet_in_every_wave(device, monkeypatch):
    few_slots(monkeypatch)
    small_waves(monkeypatch, device, 16)
    lanes = 43 if device.name == "cpu" else 700
    ended = run_all(MEETING, device, lanes, buffers=Buffers(state=np.zeros(1, np.int32), group=8))
    assert [words(one) for one in ended.stdout] == [met(lane, lanes, 8) for lane in range(lanes)]
    assert ended.results.state.tolist() == [lanes]


ROUNDS = 200
RELAY = program(
    """(local $me i32) (local $value i32) (local $round i32) (local $turns i32)
    (local.set $me (call $local_id))
    (local.set $value (call $thread_id))
    (loop $rounds
      (local.set $turns (i32.rem_u (i32.add (i32.mul (local.get $me) (i32.const 7)) (local.get $round)) (i32.const 13)))
      (block $done
        (loop $apart
          (br_if $done (i32.eqz (local.get $turns)))
          (local.set $value (i32.add (i32.mul (local.get $value) (i32.const 31)) (local.get $turns)))
          (local.set $turns (i32.sub (local.get $turns) (i32.const 1)))
          (br $apart)))
      (call $write_shared (local.get $me) (local.get $value))
      (call $threadgroup_barrier)
      (local.set $value (i32.add (local.get $value) (call $read_shared
        (i32.rem_u (i32.add (local.get $me) (i32.const 1)) (call $threadgroup_size)))))
      (call $threadgroup_barrier)
      (local.set $round (i32.add (local.get $round) (i32.const 1)))
      (br_if $rounds (i32.lt_u (local.get $round) (i32.const 200))))
    (call $say (local.get $value))""",
    "thread_id",
    "local_id",
    "threadgroup_size",
    "threadgroup_barrier",
    "read_shared",
    "write_shared",
)


def relayed(lanes: int) -> list[int]:
    """What the lanes of one group say in the end."""
    values = list(range(lanes))
    for round_number in range(ROUNDS):
        for lane in range(lanes):
            for turns in range((lane * 7 + round_number) % 13, 0, -1):
                values[lane] = values[lane] * 31 + turns & 0xFFFFFFFF
        values = [value + values[(lane + 1) % lanes] & 0xFFFFFFFF for lane, value in enumerate(values)]
    return values


@pytest.mark.parametrize("lanes", [32, 128])
def test_lanes_that_go_apart_between_barriers_see_what_the_others_wrote(lanes, device):
    ended = run_all(RELAY, device, lanes, buffers=Buffers(group=lanes))
    assert [words(one)[0] & 0xFFFFFFFF for one in ended.stdout] == relayed(lanes)


LEAVING = program(
    """(local $way i32)
    (local.set $way (i32.rem_u (call $thread_id) (i32.const 5)))
    (call $write_shared (call $local_id) (i32.const 1))
    (if (i32.eq (local.get $way) (i32.const 1)) (then (return)))
    (if (i32.eq (local.get $way) (i32.const 2)) (then unreachable))
    (if (i32.eq (local.get $way) (i32.const 3)) (then (call $proc_exit (i32.const 4))))
    (call $threadgroup_barrier)
    (call $say (call $sum))
    (call $threadgroup_barrier)
    (if (i32.eq (local.get $way) (i32.const 4)) (then (drop (call $read_shared (i32.const 8192)))))
    (call $threadgroup_barrier)
    (call $say (i32.const 7))""",
    "thread_id",
    "local_id",
    "threadgroup_barrier",
    "read_shared",
    "write_shared",
    "proc_exit",
    more="""(func $sum (result i32) (local $at i32) (local $total i32)
      (loop $next
        (local.set $total (i32.add (local.get $total) (call $read_shared (local.get $at))))
        (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 32))))
      (local.get $total))""",
)


@pytest.mark.parametrize("lanes", [32, 64])
def test_lanes_that_have_ended_are_not_waited_for(lanes, device):
    ended = run_all(LEAVING, device, lanes, buffers=Buffers(group=32), limits=Limits(timeout=20))
    kinds = [None, None, "unreachable", None, "index out of range"]
    codes = [0, 0, None, 4, None]
    said = [[32, 7], [], [], [], [32]]
    for lane, one in enumerate(ended.outcomes):
        assert (one.kind, one.exit_code, words(one.stdout)) == (kinds[lane % 5], codes[lane % 5], said[lane % 5]), lane


def test_a_group_finds_nothing_of_the_group_before_it_in_its_words(device, monkeypatch):
    few_slots(monkeypatch)
    small_waves(monkeypatch, device, 16)
    leaving = program(
        """(call $say (call $read_shared (call $local_id)))
        (call $say (call $read_shared (i32.const 8191)))
        (call $threadgroup_barrier)
        (call $write_shared (call $local_id) (i32.const 5))
        (call $write_shared (i32.const 8191) (i32.const 5))""",
        "local_id",
        "threadgroup_barrier",
        "read_shared",
        "write_shared",
    )
    lanes = 64 if device.name == "cpu" else 1024
    ended = run_all(leaving, device, lanes, buffers=Buffers(group=8))
    assert {tuple(words(one)) for one in ended.stdout} == {(0, 0)}


# --- buffers ---------------------------------------------------------------------------------------------------------

BUFFERS = {
    "read_state": "(drop (call $read_state (local.get $index)))",
    "write_state": "(call $write_state (local.get $index) (i32.const -1))",
    "atomic_add": "(drop (call $atomic_add (local.get $index) (i32.const 1)))",
    "read_input": "(drop (call $read_input (local.get $index)))",
    "write_output": "(call $write_output (local.get $index) (i32.const -1))",
}
SIZES = {"read_input": 4, "write_output": 5}


@pytest.mark.parametrize("function", BUFFERS)
@pytest.mark.parametrize("empty", [False, True])
def test_an_index_past_the_end_ends_its_lane_alone(function, empty, device):
    size = 0 if empty else SIZES.get(function, 3)
    indexed = program(
        f"""(local $index i32)
        (local.set $index (i32.sub (call $argument) (i32.const 2)))
        {BUFFERS[function]}
        (call $say (i32.const 1))""",
        function,
        numbered=True,
    )
    buffers = Buffers() if empty else Buffers(np.arange(3, dtype=np.int32), np.arange(4, dtype=np.int32), output=5)
    indices = [-2, -1, *range(6), 2**31 - 2, 2**30, 2**32 - 3]
    ended = run_all(indexed, device, len(indices), numbers(lambda lane: indices[lane] + 2), buffers=buffers)
    assert ended.kinds == [None if 0 <= index < size else "index out of range" for index in indices]
    assert [words(one) for one in ended.stdout] == [[1] if 0 <= index < size else [] for index in indices]


def test_buffers_come_back_as_they_were_given(device):
    double = program(
        "(call $write_state (call $thread_id) (i32.mul (call $read_state (call $thread_id)) (i32.const 2)))",
        "thread_id",
        "read_state",
        "write_state",
    )
    state = np.arange(6, dtype=np.uint32).reshape(2, 3)
    ended = run_all(double, device, 6, buffers=Buffers(state=state))
    assert ended.results.state.tolist() == (state * 2).tolist()
    assert ended.results.state.dtype == np.uint32
    assert state.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert ended.results.output.shape == (0,)
    assert ended.results.picture.shape == (0, 0, 4)


@pytest.mark.parametrize("lanes", [100, 1000])
def test_atomics_of_all_lanes_in_all_waves_add_up(lanes, device, monkeypatch):
    small_waves(monkeypatch, device, 64)
    adding = program(
        """(local $left i32)
        (local.set $left (i32.const 10))
        (loop $next
          (drop (call $atomic_add (i32.const 1) (call $thread_id)))
          (br_if $next (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
        (if (i32.and (call $thread_id) (i32.const 1)) (then unreachable))""",
        "thread_id",
        "atomic_add",
    )
    ended = run_all(adding, device, lanes, buffers=Buffers(state=np.zeros(2, np.int32)))
    assert ended.results.state.tolist() == [0, 10 * sum(range(lanes))]


# --- the picture and debug prints ------------------------------------------------------------------------------------


def test_pixels_outside_of_the_picture_are_ignored(device):
    painting = program(
        """(local $x i32) (local $y i32)
        (local.set $x (i32.sub (i32.rem_u (call $thread_id) (i32.const 8)) (i32.const 2)))
        (local.set $y (i32.sub (i32.div_u (call $thread_id) (i32.const 8)) (i32.const 2)))
        (call $set_pixel (local.get $x) (local.get $y) (f32.const 1) (f32.convert_i32_s (local.get $x))
          (f32.const 0.5) (f32.div (f32.const 0) (f32.const 0)))
        (call $set_pixel (i32.const 0x7fffffff) (i32.const 0) (f32.const 1) (f32.const 1) (f32.const 1) (f32.const 1))
        (call $set_pixel (i32.const 0) (i32.const -1) (f32.const 1) (f32.const 1) (f32.const 1) (f32.const 1))
        (call $set_pixel (i32.const -2147483648) (i32.const 0x40000000)
          (f32.const 1) (f32.const 1) (f32.const 1) (f32.const 1))""",
        "thread_id",
        "set_pixel",
    )
    ended = run_all(painting, device, 64, buffers=Buffers(size=(4, 3)))
    assert set(ended.kinds) == {None}
    assert ended.results.picture.shape == (3, 4, 4)
    for row in ended.results.picture.tolist():
        assert row == [[255, 0, 128, 0], [255, 255, 128, 0], [255, 255, 128, 0], [255, 255, 128, 0]]
    assert run_all(painting, device, 64).results.picture.size == 0


def debug(name: str, *values: str) -> str:
    return f"(call $debug_{name} {' '.join(values)}) (call $debug_newline)"


def test_debug_prints_are_the_lane_s_output(device):
    floats = ["0", "-0", "1", "-1.5", "0.1", "3.14159274", "1e-7", "123456.789", "1e15", "3.4e38", "inf", "-inf", "nan"]
    printing = program(
        " ".join(
            [
                *(debug("i32", f"(i32.const {value})") for value in (0, 1, -1, 2**31 - 1, -(2**31))),
                *(debug("f32", f"(f32.const {value})") for value in floats),
                *(debug("bool", f"(i32.const {value})") for value in (0, 1, -5)),
                debug("str", "(i32.const 1024)", "(i32.const 5)"),
                debug("str", "(i32.const 1024)", "(i32.const 0)"),
                debug("str", "(i32.const 2048)", "(i32.const 1000)"),
                "(call $debug_i32 (i32.const 8))",
            ]
        ),
        *(f"debug_{name}" for name in ("i32", "f32", "str", "bool", "newline", "flush")),
        more=f"""(data (i32.const 1024) "h\\c3\\a9llo") (data (i32.const 2048) "{"0123456789" * 100}")""",
    )
    for output in run_all(printing, device, 3).stdout:
        lines = output.decode().split("\n")
        assert lines[:5] == ["0", "1", "-1", "2147483647", "-2147483648"]
        printed = [np.float32(line) for line in lines[5:18]]
        given = [np.float32(value) for value in floats]
        assert np.allclose(printed, given, rtol=1e-6, atol=1e-6, equal_nan=True), lines[5:18]
        assert lines[18:21] == ["false", "true", "true"]
        assert lines[21:] == ["héll", "", "0123456789" * 100, "8"]


@pytest.mark.parametrize("limit", [0, 5, 300])
def test_debug_prints_count_towards_the_limit(limit, device):
    printing = program(
        "(loop $ever (call $debug_str (i32.const 1024) (i32.const 10)) (br $ever))",
        "debug_str",
        more='(data (i32.const 1024) "0123456789")',
    )
    ended = run_all(printing, device, 2, limits=Limits(output=limit, timeout=30))
    assert ended.kinds == ["output limit reached"] * 2
    assert ended.stdout == [(b"0123456789" * 50)[:limit]] * 2


def test_debug_text_beyond_memory_ends_the_lane(device):
    beyond = program("(call $debug_str (i32.const 65530) (i32.const 7))", "debug_str")
    assert run_all(beyond, device, 2).kinds == ["out of bounds pointer"] * 2


def test_a_lane_that_traps_has_printed_what_it_printed_before(device):
    trapping = program("(call $debug_i32 (i32.const 12)) unreachable", "debug_i32")
    ended = run_all(trapping, device, 2)
    assert (ended.stdout, ended.kinds) == ([b"12"] * 2, ["unreachable"] * 2)
