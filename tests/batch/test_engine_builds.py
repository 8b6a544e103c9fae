"""Quick code first, better code as soon as it is there: in the middle of a run, without anybody noticing."""

import pytest
from engine_runs import program, task_of, words

import lanewise as lw
from lanewise.batch import cpu_engine
from lanewise.batch.engine import Run
from lanewise.compiler import Target
from lanewise.kernel.code import optimised_kernel
from lanewise.wasm import lane_code

LANES = 64
SAYS_WHO = program("(call $say (call $thread_id))", "thread_id")


@pytest.fixture
def nothing_compiled(monkeypatch, tmp_path):
    """A machine that no program has run on, where better code is made at once and every few lanes are a wave."""
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cpu_engine, "OPTIMISE_AFTER", 0.0)
    monkeypatch.setattr("lanewise.batch.program.OPTIMISE_AFTER", 0.0)
    monkeypatch.setattr(cpu_engine, "_FIRST_LANES", 8)
    monkeypatch.setattr(lane_code, "QUICK_FROM", 0)


def test_a_run_goes_over_to_better_code_when_it_is_there(nothing_compiled):
    run = Run(task_of(SAYS_WHO, lw.device("cpu"), LANES))
    backend = run._backend
    guest, kernel = backend._better, backend._better_kernel
    quick = backend._codes, backend._kernel
    bursts = run.bursts()
    outcomes = next(bursts)
    guest.wait()
    kernel.wait()
    outcomes += [outcome for burst in bursts for outcome in burst]
    assert sorted((one.lane, *words(one.stdout)) for one in outcomes) == [(lane, lane) for lane in range(LANES)]
    assert backend._codes == guest.result != quick[0]
    assert backend._kernel == kernel.result == optimised_kernel(Target.host()) != quick[1]


def test_the_next_run_begins_with_the_better_code(nothing_compiled):
    first = Run(task_of(SAYS_WHO, lw.device("cpu")))
    first._backend._better.wait()
    first._backend._better_kernel.wait()
    backend = Run(task_of(SAYS_WHO, lw.device("cpu")))._backend
    assert (backend._better, backend._better_kernel) == (None, None)
    assert backend._codes == first._backend._better.result
    assert backend._kernel == first._backend._better_kernel.result
