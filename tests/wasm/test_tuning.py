"""Placements are tried with real lanes, for little of a run's time, and the best is remembered."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

import lanewise as lw
from lanewise.wasm.candidates import USUAL, Reach, candidates, variants
from lanewise.wasm.placement import FIT, Placement, parse_placement
from lanewise.wasm.tuning import Known, Tuner, Turn, read_known

THREADS = 2048
FAST, SLOW = candidates(THREADS)[:2]


@pytest.fixture(autouse=True)
def nothing_known(tmp_path, monkeypatch):
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path))


def tuner(**more) -> Tuner:
    return Tuner(("program", b"bytes"), "a GPU", Reach(THREADS, unrolls=True), **more)


def run(tuned: Tuner, lanes: int, paces: dict[Placement, float]) -> tuple[list[Turn], float, float]:
    """Run lanes that take so many seconds each in a placement; gives the turns, all seconds, and those of trials."""
    turns, seconds, lost = [], 0.0, 0.0
    tuned.begin(lanes)
    while lanes:
        turn = tuned.turn(lanes)
        taken = turn.lanes * paces.get(turn.placement, 1e-3)
        turns.append(turn)
        seconds += taken
        lost += max(0.0, taken - turn.lanes * 1e-3) if turn.trial else 0.0
        tuned.took(turn, taken)
        lanes -= turn.lanes
    tuned.save()
    return turns, seconds, lost


def test_a_short_run_is_in_the_usual_placement_whole():
    assert run(tuner(), THREADS, {})[0] == [Turn(USUAL, THREADS)]


def test_a_long_run_tries_others_and_goes_on_with_the_best():
    turns, _, _ = run(tuner(), 1000 * THREADS, {FAST: 0.5e-3})
    assert {turn.placement for turn in turns if turn.trial} == {*candidates(THREADS), *variants(FAST, THREADS)}
    assert turns[0] == Turn(USUAL, THREADS)
    assert turns[-1].placement == FAST
    assert turns[-1].lanes > 900 * THREADS


def test_trials_cost_a_few_percent_at_most_however_bad_they_are():
    _, seconds, lost = run(tuner(), 300 * THREADS, dict.fromkeys(candidates(THREADS), 0.003))
    assert 0 < lost < 0.05 * seconds


def test_no_trial_is_made_on_credit():
    """What it may cost has been saved by earlier runs, or is a small part of this one."""
    dear = [Turn(place, THREADS, trial=True) for place in candidates(THREADS) if place.resident is None]
    tuned = tuner()
    assert not any(turn in dear for turn in run(tuned, 40 * THREADS, {})[0])
    tuned.known.purse = 1e3
    assert any(turn in dear for turn in run(tuned, 40 * THREADS, {})[0])


def test_what_trials_cost_beyond_what_was_feared_is_paid_back_before_the_next():
    """However bad they are: over many runs they cost a few percent, and one trial at most that is not paid yet."""
    slow = 20e-3
    paces = dict.fromkeys((*candidates(THREADS), *variants(USUAL, THREADS)), slow)
    total, lost, worst = 0.0, 0.0, THREADS * slow
    for count in range(600):
        _, seconds, more = run(tuner(), 80 * THREADS, paces)
        total, lost = total + seconds, lost + more
        assert lost <= 0.03 * total + worst, f"after {count + 1} runs"
    assert lost > 5 * worst


def test_what_processes_learn_beside_each_other_is_all_kept():
    """Whoever saves last: a process that lives long has read what was known before others learned more."""
    lives_long = tuner()
    lives_long.begin(THREADS)
    tuner().save()
    run(tuner(), 1000 * THREADS, {FAST: 0.5e-3})
    purse = tuner().known.purse
    lives_long.learn(SLOW, 0.25)
    lives_long.ran(100.0)
    lives_long.save()
    both = tuner().known
    assert (both.best(), both.ratios[SLOW]) == (FAST, 0.25)
    assert both.purse == pytest.approx(purse + 0.03 * 100.0)
    assert lives_long.best(THREADS) == FAST
    lives_long.save(over=True)
    assert tuner().known == both  # nothing is added twice


def test_each_run_measures_its_own_pace_first():
    tuned = tuner(search=True)
    run(tuned, 40 * THREADS, {})
    tuned.known.ratios.clear()
    tuned.begin(40 * THREADS)
    first = tuned.turn(40 * THREADS)
    assert not first.trial
    tuned.took(first, first.lanes * 1e-6)  # lanes with a thousandth of the work
    trial = tuned.turn(39 * THREADS)
    tuned.took(trial, trial.lanes * 1e-6)
    assert tuned.known.ratios[trial.placement] == pytest.approx(1.0)


def test_what_was_found_is_remembered_and_no_run_tries_it_again():
    run(tuner(), 1000 * THREADS, {FAST: 0.5e-3})
    turns, _, _ = run(tuner(), 100, {FAST: 0.5e-3})
    assert turns == [Turn(FAST, 100)]
    assert not any(turn.trial for turn in run(tuner(), 1000 * THREADS, {})[0])


def test_many_short_runs_save_for_trials():
    trials = [turn for _ in range(400) for turn in run(tuner(), 40 * THREADS, {})[0] if turn.trial]
    assert {turn.placement for turn in trials} == {*candidates(THREADS), *variants(USUAL, THREADS)}


def call(tuned: Tuner, lanes: int, seconds: float, faster: tuple[Placement, ...] = ()) -> Turn:
    """A call of so many lanes, and its seconds: half of them in placements that are faster. Gives its last turn, the
    only one unless a part of it was a look at a placement, or few lanes at once are known to be fastest."""
    tuned.begin(lanes)
    left = lanes
    while left:
        turn = tuned.turn(left)
        assert turn.lanes == left or turn.glance or tuned.known.best() in faster
        taken = seconds * turn.lanes / lanes
        tuned.took(turn, taken / 2 if turn.placement in faster else taken)
        left -= turn.lanes
    return turn


def test_a_function_that_is_called_often_is_tried_elsewhere_by_whole_calls():
    """Such that fill the GPU once: there is nothing within them to compare with."""
    tuned = tuner()
    turns = [call(tuned, THREADS, 1.0, (FAST,)) for _ in range(5000)]
    assert {*candidates(THREADS)} <= tuned.known.ratios.keys()
    assert tuned.known.best() == turns[-1].placement == FAST
    assert tuned.known.ratio(FAST) == pytest.approx(2.0)
    trials = [turn for turn in turns if turn.trial]
    assert 0 < len(trials) < 0.03 * len(turns)


def test_a_call_is_a_trial_only_between_two_of_the_same_size():
    """That take the same time: others may have other work."""
    tuned = tuner()
    tuned.known.purse = 1e6
    assert [call(tuned, lanes, 1.0).trial for lanes in (THREADS, THREADS + 1, THREADS + 2)] == [False] * 3
    assert call(tuned, THREADS + 2, 0.1).trial
    assert not call(tuned, THREADS + 2, 0.1).trial  # all calls are ten times as fast now
    assert tuned.known.ratios == {}
    assert call(tuned, THREADS + 2, 0.1, (FAST,)).trial
    assert not call(tuned, THREADS, 0.1).trial
    assert tuned.known.ratios == {}
    assert [call(tuned, THREADS, 0.1, (FAST,)).trial for _ in range(2)] == [True, False]
    assert tuned.known.ratios == {FAST: pytest.approx(2.0)}


def test_calls_that_leave_most_of_a_gpu_empty_are_no_trials():
    """What is best for few lanes is not for many."""
    tuned = tuner()
    tuned.known.purse = 1e6
    assert not any(call(tuned, THREADS // 2, 1.0).trial for _ in range(10))


def test_long_calls_are_tried_elsewhere_once_a_small_part_of_one_was_faster():
    """Where lanes at once are few a part is like a whole; a call that nothing was seen of could not be paid."""
    few = next(place for place in candidates(THREADS) if place.layout == "flat" and place.lanes_per_warp == 2)
    tuned = tuner()
    calls = 0
    while tuned.known.best() == USUAL:
        call(tuned, THREADS, 10.0, (few,))
        calls += 1
    assert calls < 20  # 2 / 0.03 of them would have to be saved for else
    assert tuned.known.best() == few
    assert tuned.known.ratio(few) == pytest.approx(2.0)


def test_what_a_part_of_a_call_shows_to_be_slow_is_not_tried_by_a_whole_one():
    tuned = tuner()
    tuned.begin(THREADS)
    tuned.took(tuned.turn(THREADS), 10.0)
    lost, seen = 0.0, []
    for _ in range(61):
        tuned.begin(THREADS)
        left = THREADS
        while left:
            turn = tuned.turn(left)
            pace = 10.0 / THREADS * (2 if turn.trial else 1)
            seen += [turn] if turn.trial else []
            lost += turn.lanes * 10.0 / THREADS if turn.trial else 0.0
            tuned.took(turn, turn.lanes * pace)
            left -= turn.lanes
    assert sum(turn.glance for turn in seen) > 3
    assert all(turn.lanes <= THREADS // 4 for turn in seen if turn.glance)
    assert [turn.placement for turn in seen if not turn.glance] == [FAST]  # half as much is feared for unrolled loops
    assert len({turn.placement for turn in seen}) == len(seen)
    assert {turn.placement for turn in seen} == tuned.known.ratios.keys()
    assert lost <= 0.03 * 62 * 10.0


def test_less_is_feared_for_unrolled_loops_until_they_were_slower():
    for ratio, trials in ((1.0, [False, True, False]), (0.9, [False] * 3)):
        tuned = tuner(layout_seconds=0.0)
        tuned.known.purse = 0.6  # 0.5 s are feared for one, and 2 s for what is not unrolled
        tuned.learn(SLOW, ratio)
        assert [call(tuned, THREADS, 1.0).trial for _ in trials] == trials


@pytest.mark.parametrize(("seconds", "first_looks"), [(0.1, False), (1.0, True)])
def test_short_calls_save_for_unrolled_code_before_they_look_at_others(seconds, first_looks):
    """A look may cost far more than is feared, so that others come late; long calls would save for ever."""
    tuned, trials = tuner(), []
    while not trials:
        tuned.begin(THREADS)
        turn = tuned.turn(THREADS)
        trials += [turn] if turn.trial else []
        tuned.made([FAST])
        tuned.took(turn, seconds * turn.lanes / THREADS)
    assert trials[0].glance is first_looks
    assert (trials[0].placement == FAST) is not first_looks


@pytest.mark.parametrize("slow", [3.5, 50])
def test_trials_that_are_ended_cost_a_few_percent_however_slow_they_were(slow):
    """Of calls, and of runs with many waves: what took more than was feared is ended, and its lanes run once more."""
    for lanes, pace in ((THREADS, 0.1 / THREADS), (300 * THREADS, 1e-3)):
        tuned, total, lost, trials = tuner(), 0.0, 0.0, 0
        while total < 60:
            tuned.begin(lanes)
            left = lanes
            while left:
                turn = tuned.turn(left)
                taken = turn.lanes * pace * (slow if turn.trial else 1)
                tuned.made([turn.placement])
                if turn.trial and taken > turn.most:
                    tuned.ended(turn, turn.most, 0.0)
                    total, lost, trials = total + turn.most, lost + turn.most, trials + 1
                    continue
                tuned.took(turn, taken)
                total, left = total + taken, left - turn.lanes
        assert trials >= 3
        assert lost < 0.04 * total
        assert max(tuned.known.ratios.values()) <= 1 / 3 + 1e-9
        assert tuned.known.best() == USUAL


def test_a_call_with_more_to_do_says_nothing_of_a_trial_that_was_ended_for_it():
    tuned = tuner()
    tuned.known.purse = 1e6
    assert not call(tuned, THREADS, 0.1).trial
    tuned.begin(THREADS)
    turn = tuned.turn(THREADS)
    assert turn.trial
    assert turn.most == pytest.approx(0.3)
    tuned.ended(turn, 0.3, 0.0)
    again = tuned.turn(THREADS)
    assert again == Turn(USUAL, THREADS)
    tuned.took(again, 1.0)
    assert turn.placement not in tuned.known.ratios


def test_a_run_is_split_for_a_trial_that_can_be_paid():
    """Though it fills the GPU but a few times: earlier ones have saved enough, and say how long lanes may take."""
    tuned = tuner()
    turns = [turn for _ in range(300) for turn in run(tuned, 6 * THREADS, {FAST: 0.5e-3})[0]]
    assert {*candidates(THREADS)} <= {turn.placement for turn in turns if turn.trial}
    assert tuned.known.best() == FAST


@pytest.mark.parametrize("late", [0, 2 * THREADS])
def test_a_lane_that_takes_long_makes_no_placement_look_fast(late):
    """Wherever it is: a placement is believed to be faster only by lanes ahead of the trial and behind it."""
    tuned, paces, lanes, total = tuner(search=True), {}, 0, 1000 * THREADS
    tuned.begin(total)
    while lanes < total:
        turn = tuned.turn(total - lanes)
        slow = late in range(lanes, lanes + turn.lanes)
        tuned.took(
            turn, turn.lanes * (1e-3 if turn.placement == USUAL else 2e-3) + (100 * THREADS * 1e-3 if slow else 0)
        )
        lanes += turn.lanes
        paces[turn.placement] = True
    assert len(paces) > 10
    assert max(tuned.known.ratios.values()) <= 0.51
    assert tuned.known.best() == USUAL


def test_short_runs_in_processes_of_their_own_save_for_trials():
    """However little each of them adds."""
    for _ in range(50):
        tuned = tuner()
        run(tuned, 100, {})
        tuned.save(over=True)
    assert tuner().known.purse == pytest.approx(50 * 0.03 * 100 * 1e-3)
    assert tuner().known.pace == pytest.approx(1e-3)


def test_a_search_tries_all_it_has_lanes_for():
    few_registers = next(place for place in variants(FAST, THREADS) if place.registers)
    turns, _, _ = run(tuner(search=True), 20 * THREADS, {SLOW: 9e-3, FAST: 0.9e-3, few_registers: 0.8e-3})
    assert {turn.placement for turn in turns if turn.trial} == {*candidates(THREADS), *variants(FAST, THREADS)}
    assert turns[-1].placement == few_registers


def test_the_best_has_its_neighbours_tried_until_none_is_better():
    paces = {Placement("flat", 8): 0.5e-3, Placement("flat", 4): 0.4e-3, Placement("flat", 4, registers=48): 0.3e-3}
    turns, _, _ = run(tuner(search=True), 100 * THREADS, paces)
    assert turns[-1].placement == Placement("flat", 4, registers=48)
    assert {*variants(Placement("flat", 4), THREADS)} <= {turn.placement for turn in turns if turn.trial}


def test_fewer_lanes_at_once_are_tried_though_as_many_as_fit_are_better_than_all():
    unrolled = Placement("words", 32, unrolled=True)
    fitting, few = (replace(unrolled, resident=count) for count in (FIT, THREADS // 16))
    turns, _, _ = run(tuner(search=True), 200 * THREADS, {unrolled: 0.5e-3, fitting: 0.4e-3, few: 0.3e-3})
    assert turns[-1].placement == few


def test_code_for_another_layout_counts_as_a_cost():
    dear = tuner(layout_seconds=1e9)
    turns, _, _ = run(dear, 1000 * THREADS, {})
    assert {turn.placement.layout for turn in turns} == {"interleaved"}


def test_code_is_worth_making_beside_runs_that_have_taken_a_quarter_as_long():
    tuned = tuner(layout_seconds=4e9)
    tuned.ran(0.9e9)
    assert tuned.to_make() == []
    tuned.ran(0.1e9)
    asked = tuned.to_make()
    assert {place.layout for place in asked} == {"interleaved", "words", "flat"}
    assert Placement("interleaved", 32, THREADS // 8) not in asked  # which needs no other code
    tuned.ran(0.9e9)
    assert tuned.to_make() == []
    tuned.ran(0.1e9)
    assert tuned.to_make() == asked
    tuned.made(asked)
    tuned.ran(1e9)
    assert tuned.to_make() == []
    turns, _, _ = run(tuned, 1000 * THREADS, {})
    assert {turn.placement for turn in turns} >= {*asked}


def test_a_placement_that_is_hardly_faster_is_not_taken():
    turns, _, _ = run(tuner(), 1000 * THREADS, {FAST: 0.99e-3})
    assert turns[-1].placement == USUAL


def test_programs_and_gpus_are_told_apart():
    run(tuner(), 1000 * THREADS, {FAST: 0.5e-3})
    assert Tuner(("other", b"bytes"), "a GPU", Reach(THREADS)).known == Known()
    assert Tuner(("program", b"bytes"), "another GPU", Reach(THREADS)).known == Known()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"ratios": {"flat/8/all": Infinity}, "purse": 0, "pace": null}',
        '{"ratios": {"flat": 1}, "purse": 0, "pace": null}',
        '{"ratios": [], "purse": 0, "pace": null}',
        '{"ratios": {}, "purse": 0, "pace": "fast"}',
        '{"ratios": {}, "purse": 0, "pace": -1.0}',
        '{"ratios": {"flat/8/all": -1.0}, "purse": 0, "pace": null}',
        '{"ratios": {}, "purse": 1' + 400 * "0" + ', "pace": null}',
        "[" * 100_000,
    ],
)
def test_what_is_remembered_wrongly_is_forgotten(text):
    assert read_known(text) == Known()


def test_what_is_known_is_read_as_it_was_written():
    for known in (Known({parse_placement("flat/2/all"): 1.5}, 0.25), Known({}, 0.5, 1e-6)):
        assert read_known(known.as_text()) == known


def test_the_explanation_names_the_choice_and_the_reason():
    fresh = tuner()
    assert fresh.explain()[0] == "placement: interleaved/32/all, the usual one; no other has been tried yet"
    run(fresh, 1000 * THREADS, {FAST: 0.5e-3})
    lines = fresh.explain()
    assert lines[0] == f"placement: {FAST}, measured 2.00x as fast as the usual interleaved/32/all"
    assert lines[1] == f"   2.00x {FAST} (tried in this run)"


FREE = THREADS // 512
"""Warps that there are schedulers for."""


@pytest.mark.parametrize(("lanes", "to_a_warp"), [(1, 1), (FREE, 1), (FREE + 1, 2), (2 * FREE, 2), (16 * FREE + 1, 32)])
def test_lanes_that_are_few_are_spread_over_the_warps_there_are_schedulers_for(lanes, to_a_warp):
    """Nobody waits for the others then, and lanes of a warp that go different ways wait for fewer."""
    assert run(tuner(), lanes, {})[0] == [Turn(replace(USUAL, lanes_per_warp=to_a_warp), lanes)]


def test_lanes_that_are_few_have_no_more_warps_than_when_their_placement_was_measured():
    few = replace(USUAL, resident=THREADS // 32, layout="flat")  # in two warps
    tuned = tuner()
    tuned.learn(few, 2.0)
    for lanes, to_a_warp in ((1000 * THREADS, 32), (THREADS // 32, 32), (THREADS // 64, 16), (2, 1)):
        assert tuned.best(lanes) == replace(few, lanes_per_warp=to_a_warp)


def test_what_is_searched_or_tried_is_as_it_says():
    tuned = tuner(search=True)
    tuned.begin(1)
    assert tuned.turn(1) == Turn(USUAL, 1)
    turns, _, _ = run(tuner(), 1000 * THREADS, {})
    assert all(turn.placement in {*candidates(THREADS), *variants(USUAL, THREADS)} for turn in turns if turn.trial)


def test_where_memory_is_short_fewer_lanes_are_a_trial():
    """A program with large memories never fills a GPU: lanes that fill its memory are compared with each other."""
    room = THREADS // 8
    small, large = tuner(), tuner()
    large.limit(room)
    lanes = 200 * room
    assert not any(turn.trial for turn in run(small, lanes, {})[0])
    faster = Placement("words")
    turns, _, _ = run(large, lanes, {faster: 0.5e-3})
    assert turns[0].lanes == room
    assert turns[-1].placement == faster
    trials = [turn for turn in turns if turn.trial]
    assert all(turn.lanes <= room for turn in trials)
    sizes = {turn.placement.resident for turn in trials}
    assert None in sizes
    assert THREADS // 8 not in sizes  # which is as many as without a limit


def test_a_search_without_lanes_for_a_trial_is_refused():
    """As many run at once as the GPU has threads, and the smallest trial has one warp of single lanes."""
    least = THREADS + 32
    for lanes, search, refused in ((least - 1, True, True), (least, True, False), (1, False, False)):
        tuned = tuner(search=search)
        tuned.begin(lanes)
        with pytest.raises(lw.ArgumentError, match=f"needs {least:,} lanes") if refused else nullcontext():
            tuned.check_search()


def test_the_explanation_says_where_few_lanes_are():
    tuned = tuner()
    run(tuned, 2 * FREE, {})
    assert tuned.explain()[1].startswith(f"  interleaved/2/all for {2 * FREE} lanes: so few ")
    run(tuned, THREADS, {})
    assert "lanes:" not in tuned.explain()[1]
