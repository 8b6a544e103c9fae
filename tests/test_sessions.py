"""Commands that the documents show are run as somebody would type them, and must write what is shown.

In what is shown, `...` stands for anything that differs from run to run.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MARK = "@@@ command over @@@"


@pytest.fixture
def checkout(tmp_path):
    """A copy of the examples, in which commands may leave files."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def session_of(document: str) -> list[tuple[str, str]]:
    """Commands and what each writes, of all console blocks of a document."""
    blocks = re.findall(r"^```console\n(.*?)^```", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE)
    lines = "".join(blocks).splitlines(keepends=True)
    session: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith("$ "):
            session.append((line[2:].rstrip("\n"), ""))
        else:
            command, shown = session[-1]
            session[-1] = (command, shown + line)
    return session


def shell(script: str, folder: Path) -> str:
    """What a shell writes on both streams."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = os.environ | {"PATH": path, "LANEWISE_DEVICE": "cpu", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", script], stdin=subprocess.DEVNULL, cwd=folder, env=surroundings, text=True, timeout=300,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.stdout


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def matches(shown: str, written: str) -> bool:
    lines = [r"(?:.*\n)*" if line == "...\n" else re.escape(line).replace(r"\.\.\.", ".*") for line in _lines(shown)]
    pattern = "".join(lines)
    return re.fullmatch(pattern, written) is not None


@pytest.mark.parametrize("document", ["README.md", "docs/gpu-run.md"])
def test_a_session_of_the_documents_goes_as_shown(document, checkout):
    session = session_of(document)
    assert len(session) > 3
    script = "".join(f"{command}\necho '{MARK}'\n" for command, _ in session)
    written = shell(script, checkout).split(f"{MARK}\n")
    for (command, shown), text in zip(session, written, strict=False):
        assert matches(shown, text), f"{document}: {command}\nshows\n{shown}\nand writes\n{text}"
    assert len(written) == len(session) + 1


def test_commands_of_the_guests_run(checkout):
    section = (ROOT / "examples/guests/README.md").read_text().split("## Run")[1].split("## Build")[0]
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```", section, re.DOTALL | re.MULTILINE))
    written = shell(f"set -e\n{script}\necho '{MARK}'\n", checkout)
    assert written.rstrip().endswith(MARK), written[-2000:]
    made = {path.name for path in (checkout / "examples/guests").iterdir()}
    assert {"doubled.npy", "sum.npy", "kept.npy", "moved.npy", "grey.png", "mandelbrot.png", "life.png"} <= made


@pytest.mark.parametrize(
    ("shown", "written", "same"),
    [
        ("a\n", "a\n", True), ("a\n", "b\n", False), ("a\n", "a\nb\n", False), ("a ... c\n", "a 1 b c\n", True),
        ("a ... c\n", "a c\n", False), ("a\n...\n", "a\n", True), ("a\n...\n", "a\nb\nc\n", True), ("", "", True),
        ("a\n...\nc\n", "a\nb\n", False), ("", "a\n", False),
        ("on ...\nb\n", "on x\ntrap\nb\n", False),
    ],
)  # fmt: skip
def test_what_is_shown_is_compared_with_what_is_written(shown, written, same):
    assert matches(shown, written) == same
