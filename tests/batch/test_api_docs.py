"""docs/gpu-run.md says what is so: its Python blocks run, and its tables name every option, status and field."""

import re
import subprocess
import sys
from pathlib import Path

from fake_engine import ENVIRONMENT, ended
from small_guest import small_guest

from lanewise.cli import gpu_run
from lanewise.cli.gpu_run_help import EXAMPLES
from lanewise.cli.gpu_run_options import TABLE, parse
from lanewise.cli.gpu_run_output import JsonSink

GUIDE = (Path(__file__).parents[2] / "docs" / "gpu-run.md").read_text()


def first_cells(heading: str) -> str:
    """The first column of the first table below a heading."""
    section = GUIDE.split(f"\n{heading}\n")[1]
    return "\n".join(re.findall(r"^\| ([^|]+) \|", section.split("\n#")[0], re.MULTILINE))


def test_every_option_is_described():
    assert set(re.findall(r"--[a-z-]+", first_cells("## Options"))) == set(TABLE)


def test_every_status_is_described():
    described = {int(status) for status in re.findall(r"^\d+$", first_cells("## Exit status"), re.MULTILINE)}
    assert described == {
        gpu_run.OK,
        gpu_run.FAILED,
        gpu_run.MISTAKE,
        gpu_run.UNFINISHED,
        gpu_run.TIMED_OUT,
        gpu_run.TRAPPED,
        130,
    }


def test_every_field_of_json_is_described():
    record = JsonSink(None, ["a"], with_output=True)._record(ended(0, instructions=7))
    described = re.findall(r"`(\w+)`", first_cells("### JSON Lines"))
    assert described == list(record)


def test_the_commands_can_be_parsed():
    for command, _ in EXAMPLES:  # those of the guide are run, see test_sessions.py
        words = command.removeprefix("gpu-run ").replace("'", "").split()
        assert parse(words).program in ("app.wasm", "mandelbrot.wasm", "hello.elf")


def test_python_blocks_run(tmp_path):
    (tmp_path / "app.wasm").write_bytes(small_guest())
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    (tmp_path / "guide.py").write_text("\n\n".join(blocks))
    command = [sys.executable, "-W", "error", "guide.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
