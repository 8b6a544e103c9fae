"""Shells complete `gpu-run`: the scripts are Typer's, the options those of the table; a run does without Typer."""

import json
import subprocess
import sys

import pytest
from fake_engine import ENVIRONMENT

MAIN = "from lanewise.cli.gpu_run import main; main()"


def gpu_run(*words, environment):
    environment = {"PYTHONPATH": ENVIRONMENT["PYTHONPATH"], **environment}
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("--la", ["--lanes"]),
        ("--each", ["--each-line", "--each-file"]),
        ("--device c", ["cpu", "cuda"]),
        ("--lanes 3 --js", ["--json"]),
    ],
)
def test_bash_is_offered_options_and_devices(monkeypatch, typed, offered):
    words = ["gpu-run", *typed.split()]
    environment = {
        "_GPU_RUN_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    assert gpu_run(environment=environment).split() == offered


def test_completion_can_be_installed(tmp_path):
    environment = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    assert "completion installed" in gpu_run("--install-completion", "bash", environment=environment)
    assert "gpu-run" in (tmp_path / ".bashrc").read_text() + "".join(
        path.read_text() for path in (tmp_path / ".bash_completions").iterdir()
    )
    assert "complete -o default" in gpu_run("--show-completion", "bash", environment=environment)


def test_a_run_loads_none_of_what_only_help_or_other_tools_need():
    show = "import json, sys, lanewise.cli.gpu_run; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", show], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & {"typer", "rich", "pydantic", "llvmlite", "cuda", "wasmtime", "numba", "tempfile", "argparse"}
