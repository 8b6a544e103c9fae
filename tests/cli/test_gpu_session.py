"""The session of a machine with a GPU names what there is, and can be run in parts."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from lanewise.bench.registry import benchmarks

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "gpu_session.py"


@pytest.fixture(scope="module")
def session():
    spec = importlib.util.spec_from_file_location("gpu_session", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for their types
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def ran(*arguments):
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_steps_are_scripts_with_options_that_they_have_or_benchmarks_that_there_are(session, tmp_path):
    steps = session.steps(tmp_path)
    assert len({step.name for step in steps}) == len(steps)
    for step in steps:
        first, *given = step.arguments
        if first == "-m":
            names = given[2 : given.index("--device")] if given[:2] == ["lanewise", "bench"] else []
            assert set(names) <= set(benchmarks), step.name
            continue
        text = Path(first).read_text()
        assert all(f'"{one}"' in text for one in given if one.startswith("--")), step.name
    assert {*session.FIGURES, *session.BESIDE.split("+")} <= {step.name for step in steps}
    assert all(any(step.name.startswith(name) for step in steps) for name in session.SHOWN)


def test_named_steps_run_beside_each_other_and_what_fails_is_told(tmp_path):
    done = ran(tmp_path / "out", "info+by-hand")
    assert "info beside by-hand ..." in done.stdout
    assert "auto takes" in done.stdout
    *_, info, by_hand = done.stdout.splitlines()
    assert info.split()[:2] == ["info", "ok"]
    if not importlib.util.find_spec("cupy"):
        assert by_hand.split()[:3] == ["by-hand", "exit", "1"]
        assert "cupy" in by_hand
        assert done.returncode == 1


def test_a_step_that_there_is_not_is_told_before_anything_runs(tmp_path):
    done = ran(tmp_path / "out", "info", "pace+sleep")
    assert done.returncode == 1
    assert done.stderr.startswith("there is no step sleep; there are info, bench-cuda, ")
    assert not (tmp_path / "out").exists()
