"""How a run is summed up: counts, the slowest, what did not end; in little memory, whatever lanes do."""

import io
import random
import threading
import time

import pytest
from fake_engine import ended

from lanewise.batch.ordering import LaneOrder
from lanewise.batch.report import Tally, duration, summary, unfinished_sentence
from lanewise.cli.compiling import compiling_told
from lanewise.cli.gpu_run_progress import Progress, progress_line
from lanewise.compiler import compiling


def tally_of(lanes, outcomes, **more):
    tally = Tally(lanes, **more)
    for outcome in outcomes:
        tally.add(outcome)
    return tally


def test_a_run_without_failures_is_one_line():
    tally = tally_of(2, [ended(0), ended(1)])
    assert summary(tally, 0.5, "cpu", "") == ["2 lanes in 500 ms, 4 lanes/s, on cpu"]
    placed = summary(tally, 0.5, "cuda:0 NVIDIA H200", "interleaved, 32 lanes/warp")
    assert placed == ["2 lanes in 500 ms, 4 lanes/s, on cuda:0 NVIDIA H200 (interleaved, 32 lanes/warp)"]


def test_failures_are_counted_by_kind_with_the_lowest_lane():
    lanes = [ended(9, 2), ended(4, 2), ended(6, trap="out of fuel in g (+0x1)"), ended(0)]
    tally = tally_of(4, lanes, label=lambda lane: f"line {lane + 1}")
    assert summary(tally, 0.5, "cpu", "")[1:] == [
        "  1 ok",
        "  2 exit code 2, first lane 4 (line 5)",
        "  1 trap: out of fuel, lane 6 (line 7) in g (+0x1)",
    ]


def test_a_million_exit_codes_are_not_told_apart():
    tally = tally_of(1000, [ended(lane, lane + 1) for lane in range(1000)])
    assert len(tally.failures) == 17
    assert (tally.failures[-1].words, tally.failures[-1].count) == ("in other ways", 984)
    assert summary(tally, 1, "cpu", "")[-2] == "  984 in other ways, first lane 16"
    assert sum(ends.count for ends in tally.failures) == 1000


def test_the_ten_slowest_come_first_the_slowest():
    taken = random.Random(1).sample(range(1000), 500)
    tally = tally_of(500, [ended(lane, seconds=seconds) for lane, seconds in enumerate(taken)])
    assert [seconds for _, seconds in tally.slowest] == sorted(taken, reverse=True)[:10]
    assert all(taken[lane] == seconds for lane, seconds in tally.slowest)
    assert len(summary(tally_of(10, map(ended, range(10))), 1, "cpu", "")) == 1


def test_lanes_that_take_turns_are_told_apart_by_their_instructions():
    tally = tally_of(12, [ended(lane, seconds=2, instructions=1000 * (lane % 3) + lane) for lane in range(12)])
    *_, last = summary(tally, 1, "cpu", "")
    assert last.startswith(
        "most instructions: lane 11 2,011, lane 8 2,008, lane 5 2,005, lane 2 2,002, lane 10 1,010, "
    )
    assert last.endswith(", lane 1 1,001, lane 9 9, lane 6 6")
    same = tally_of(12, [ended(lane, seconds=lane, instructions=9600) for lane in range(12)])
    assert summary(same, 1, "cpu", "")[-1] == "each lane ran 9,600 instructions"


def test_lanes_that_were_cut_off_have_not_ended():
    tally = tally_of(6, [ended(5), ended(0), ended(2, kind="timed out", trap="timed out"), ended(3)])
    assert (tally.ended, tally.ok, tally.unfinished) == (3, 3, 3)
    assert list(tally.unfinished_lanes()) == [range(1, 3), range(4, 5)]
    assert unfinished_sentence(tally) == "3 of 6 lanes ended, 3 did not: lanes 1-2, 4"


def test_a_long_list_of_unfinished_lanes_is_cut():
    tally = tally_of(40, [ended(lane) for lane in range(0, 40, 2)])
    expected = "20 of 40 lanes ended, 20 did not: lanes 1, 3, 5, 7, 9, 11 and 14 more"
    assert unfinished_sentence(tally) == expected


def test_lanes_that_end_in_order_leave_nothing_in_memory():
    tally, order = Tally(1000), LaneOrder()
    for lane in range(1000):
        tally.add(ended(lane))
        assert [one.lane for one in order.push(ended(lane))] == [lane]
    assert not tally._above
    assert not order._held


def test_any_order_becomes_the_order_of_lanes():
    lanes = list(range(200))
    random.Random(2).shuffle(lanes)
    order = LaneOrder()
    came = [one.lane for lane in lanes for one in order.push(ended(lane))]
    assert came == list(range(200))
    assert order.rest() == []


def test_lanes_behind_one_that_never_ends_come_last():
    order = LaneOrder()
    assert [one.lane for lane in (4, 0, 2) for one in order.push(ended(lane))] == [0]
    assert [one.lane for one in order.rest()] == [2, 4]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 us"), (12e-6, "12 us"), (0.0034, "3.4 ms"), (1.25, "1.25 s"), (59.94, "59.9 s"), (125, "2 min 5 s")],
)
def test_durations_are_short(seconds, words):
    assert duration(seconds) == words


def test_the_progress_line_says_how_far_and_how_long():
    assert progress_line(0, 100, 2.0) == f"[{'.' * 24}] 0 of 100 lanes, 2 s"
    assert progress_line(25, 100, 5.0) == f"[{'#' * 6}{'.' * 18}] 25 of 100 lanes, 5 s, 5 lanes/s, 15 s left"


@pytest.mark.parametrize(
    ("room", "line"),
    [
        (200, "[############............] 500,000 of 1,000,000 lanes, 10 s, 50,000 lanes/s, 10 s left"),
        (79, "[########.........] 500,000 of 1,000,000 lanes, 10 s, 50,000 lanes/s, 10 s left"),
        (60, "[##..] 500,000 of 1,000,000 lanes, 50,000 lanes/s, 10 s left"),
        (45, "[##...] 500,000 of 1,000,000 lanes, 10 s left"),
        (40, "500,000 of 1,000,000 lanes, 10 s left"),
        (30, "500,000 of 1,000,000 lanes"),
        (10, "500,000 of"),
        (-1, ""),
    ],
)
def test_the_progress_line_fits_and_says_the_time_left_as_long_as_it_can(room, line):
    found = progress_line(500_000, 1_000_000, 10.0, room)
    assert len(found) <= max(0, room)
    assert found == line
    for columns in range(100):
        assert len(progress_line(7, 4_000_000_000, 1e6, columns)) <= columns


def test_the_progress_line_steps_aside_and_is_gone_at_the_end(monkeypatch):
    monkeypatch.setattr("lanewise.cli.gpu_run_progress._PATIENCE", 0.001)
    monkeypatch.setattr("lanewise.cli.compiling._LOOK_AGAIN", 0.001)
    screen = io.BytesIO()
    stream = io.TextIOWrapper(screen, write_through=True)
    with Progress(Tally(10), stream) as progress:
        while b"0 of 10 lanes" not in screen.getvalue():
            pass
        progress.write(screen, b"output of lanes\n")
    assert b"\r\x1b[Koutput of lanes\n" in screen.getvalue()
    assert screen.getvalue().endswith((b"\r\x1b[K", b"output of lanes\n"))


def test_without_a_terminal_there_is_no_progress_line():
    screen = io.BytesIO()
    with Progress(Tally(10), None) as progress:
        progress.write(screen, b"output of lanes\n")
    assert screen.getvalue() == b"output of lanes\n"


def test_who_waits_is_told_once_what_is_compiled(monkeypatch):
    monkeypatch.setattr("lanewise.cli.compiling._PATIENCE", 0.001)
    monkeypatch.setattr("lanewise.cli.compiling._LOOK_AGAIN", 0.001)
    told, heard = [], threading.Event()

    def tell(sentence):
        told.append(sentence)
        heard.set()

    with compiling_told(tell), compiling("something large"):
        assert heard.wait(60)
    assert told == ["compiling something large; it is kept, so that later runs begin at once"]


def test_nobody_is_told_of_what_is_there_in_a_moment(monkeypatch):
    monkeypatch.setattr("lanewise.cli.compiling._PATIENCE", 0.001)
    monkeypatch.setattr("lanewise.cli.compiling._LOOK_AGAIN", 0.001)
    seen = iter(["kept", None, "kept too", "large", "large"])
    monkeypatch.setattr("lanewise.compiler.what_is_compiled", lambda: next(seen))
    told, heard = [], threading.Event()

    def tell(sentence):
        told.append(sentence)
        heard.set()

    with compiling_told(tell):
        assert heard.wait(60)
    assert [sentence.split(";")[0] for sentence in told] == ["compiling large"]


def test_nobody_is_told_of_compiling_where_nothing_is_compiled_or_nobody_looks(monkeypatch):
    monkeypatch.setattr("lanewise.cli.compiling._PATIENCE", 0.001)
    monkeypatch.setattr("lanewise.cli.compiling._LOOK_AGAIN", 0.001)
    told = []
    with compiling_told(told.append):
        time.sleep(0.05)
    with compiling_told(None), compiling("something"):
        time.sleep(0.05)
    assert told == []
