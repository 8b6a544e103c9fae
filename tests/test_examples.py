"""Every example gives what NumPy gives, on every device present and at awkward sizes, and runs as a script."""

import importlib.util
import os
import subprocess
import sys
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SIZES = (1, 31, 1000, 12345, 1_000_003)


def load(name: str) -> ModuleType:
    path = EXAMPLES / "threading" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.mark.parametrize("size", SIZES)
def test_parallel_map(device, random, size):
    values = random.standard_normal(size).astype(np.float32)
    assert np.array_equal(load("parallel_map").run(device, values), values * 2)


@pytest.mark.parametrize("size", SIZES)
def test_parallel_reduce(device, random, size):
    values = random.integers(-(2**31), 2**31, size, np.int64).astype(np.int32)
    expected = int(values.sum(dtype=np.int64))
    assert load("parallel_reduce").run(device, values) == (expected, expected)


@pytest.mark.parametrize("by_warp", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_parallel_filter(device, random, size, by_warp):
    values = random.standard_normal(size).astype(np.float32)
    kept = load("parallel_filter").run(device, values, 0.5, by_warp=by_warp)
    assert np.array_equal(np.sort(kept), np.sort(values[values > np.float32(0.5)]))


@pytest.mark.parametrize("size", [(1, 1), (37, 1), (1, 53), (101, 67), (640, 427)])
def test_image_grayscale(device, size):
    width, height = size
    y, x = np.mgrid[:height, :width]
    expected = np.stack([x * 255 // width, y * 255 // height, (x ^ y) & 255], axis=2)
    colour, grey = load("image_grayscale").run(device, width, height)
    assert np.array_equal(colour, expected)
    assert np.array_equal(grey, (expected @ [77, 150, 29]) >> 8)


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3)])
def test_image_is_written_as_png(random, shape):
    pixels = random.integers(0, 256, shape, np.uint8)
    data = load("image_grayscale").png(pixels)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    start = data.index(b"IDAT") + 4
    length = int.from_bytes(data[start - 8 : start - 4])
    rows = zlib.decompress(data[start : start + length])
    assert np.array_equal(np.frombuffer(rows, np.uint8).reshape(5, -1)[:, 1:], pixels.reshape(5, -1))


@pytest.mark.parametrize("size", [1, 31, 12345])
def test_particles(device, size):
    example = load("particles")
    start = example.scatter(size)
    moved = example.run(device, start, 50)
    expected = start.copy()
    for _ in range(50):
        _move_with_numpy(expected)
    for field in example.Particle.fields:  # the same operations in the same order: the same bits
        assert np.array_equal(moved[field], expected[field]), field


def _move_with_numpy(p: np.ndarray) -> None:
    f = np.float32
    p["vy"] += f(-9.81 * 0.01)
    p["x"] += p["vx"] * f(0.01)
    p["y"] += p["vy"] * f(0.01)
    beyond = (p["x"] < 0) | (p["x"] > 1)
    p["x"] = np.clip(p["x"], 0, 1)
    p["vx"] = np.where(beyond, -p["vx"], p["vx"])
    below = p["y"] < 0
    p["y"] = np.where(below, f(0), p["y"])
    p["vy"] = np.where(below, -p["vy"] * f(0.8), p["vy"])


@pytest.mark.parametrize("size", [*SIZES, 257])
def test_two_phase_sum(device, random, size):
    values = random.random(size, np.float32)
    assert load("two_phase_sum").run(device, values) == pytest.approx(values.sum(dtype=np.float64), rel=1e-5)


@pytest.mark.parametrize("script", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.stem)
def test_example_runs_as_a_script(script, tmp_path):
    arguments = ["--device", "cpu"] if script.parent.name == "threading" else []
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), *arguments],
        cwd=tmp_path,
        env=os.environ | {"LANEWISE_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert 1 <= len(done.stdout.splitlines()) <= 2
    assert "on <cpu" in done.stdout
    assert done.stderr == ""
