"""Programs for AArch64 that tests run here and under qemu-aarch64, which says what is right."""

import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from gpu_on_host import LANE_DEVICES, arm64_on_host, lane_device

SOURCES = Path(__file__).parent / "programs"
COMPILER = "aarch64-linux-gnu-gcc"


def _need(tool):
    """Where a tool is; without it there is nothing to test, which must not pass unnoticed in CI."""
    found = shutil.which(tool)
    if found is None:
        message = f"{tool} is not installed (packages gcc-aarch64-linux-gnu and qemu-user)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session")
def qemu():
    """Runs a program elsewhere: arguments (the name first), standard input or its path, directory, environment."""
    path = _need("qemu-aarch64")

    def run(program, argv, stdin=b"", cwd=None, env=None):
        command = [path, "-0", argv[0], str(program), *argv[1:]]
        with ExitStack() as files:
            is_path = isinstance(stdin, Path)
            given = {"stdin": files.enter_context(stdin.open("rb"))} if is_path else {"input": stdin}
            done = subprocess.run(command, **given, capture_output=True, cwd=cwd, env=env or {}, timeout=60)
        own = b"qemu: uncaught target signal"
        stderr = b"".join(line for line in done.stderr.splitlines(True) if not line.startswith(own))
        return done.returncode, done.stdout, stderr

    return run


@pytest.fixture
def preprocessed():
    """Gives all that a header of Linux defines, as lines of the preprocessor."""
    compiler = _need(COMPILER)

    def found(header):
        command = [compiler, "-dM", "-E", "-include", header, "-"]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout

    return found


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Builds a program of `programs/` by its name, once for each set of options."""
    compiler = _need(COMPILER)
    folder = tmp_path_factory.mktemp("programs")

    def make(name, *options):
        target = folder / "-".join([name, *(one.strip("-") for one in options)])
        if not target.exists():
            source = next(SOURCES.glob(f"{name}.*"))
            ways = ["-nostdlib", "-static"] if source.suffix == ".S" else ["-O2", *(options or ["-static"])]
            subprocess.run([compiler, *ways, "-o", target, source, "-lm"], check=True, timeout=60)
        return target

    return make


@pytest.fixture(params=LANE_DEVICES, name="lane_device")
def find_lane_device(request):
    """Every device present, and the host with the code of a GPU."""
    yield from lane_device(request.param, arm64_on_host)
