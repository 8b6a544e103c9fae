"""The guests of `examples/guests` do what NumPy does, and both declarations of the vocabulary are the same."""

import re

import expected_guests
import gpu_peer
import pytest
from expected_guests import GUESTS, RUNS, GuestRun

from lanewise.batch.engine import Run
from lanewise.batch.spec import Buffers, Limits, Task

C_TYPES = {"void": "", "int": "i32", "float": "f32", "long long": "i64", "const char *": "i32"}
MAX_BYTES = 3000
MAX_LINES = 60


def vocabulary_of_c() -> dict[str, tuple[list[str], str]]:
    """What gpu.h imports: the types of the parameters and of the result, by name."""
    line = re.compile(r"GPU\((\w+)\) (void|int|float|long long) \w+\((.*)\);")
    found = {}
    for name, result, parameters in line.findall((GUESTS / "gpu.h").read_text()):
        kinds = [re.sub(r"(?<=[ *])\w+$", "", one).strip() for one in parameters.split(", ") if one != "void"]
        found[name] = ([C_TYPES[kind] for kind in kinds], C_TYPES[result])
    return found


def vocabulary_of_rust() -> dict[str, tuple[list[str], str]]:
    """What gpu.rs imports; `debug_str` is the one that takes an address."""
    line = re.compile(r"^    fn (\w+)\((.*)\)(?: -> (\w+))?;", re.MULTILINE)
    found = {}
    for name, parameters, result in line.findall((GUESTS / "gpu.rs").read_text()):
        found[name] = ([one.partition(": ")[2] for one in parameters.split(", ") if one], result)
    return {**found, "debug_str": (["i32", "i32"], "")}


def test_both_declarations_are_the_same():
    assert len(vocabulary_of_c()) == 55
    assert vocabulary_of_c() == vocabulary_of_rust()


def test_every_guest_is_short_small_and_run():
    sources = [path for path in GUESTS.iterdir() if path.suffix in (".c", ".rs") and path.stem != "gpu"]
    assert {path.stem for path in sources} == set(RUNS) == {path.stem for path in GUESTS.glob("*.wasm")}
    for path in sources:
        assert len(path.read_text().splitlines()) <= MAX_LINES, path
        assert path.with_suffix(".wasm").stat().st_size <= MAX_BYTES, path


def test_every_guest_is_in_the_readme_and_is_built():
    for name in RUNS:
        assert f"{name}.wasm" in (GUESTS / "README.md").read_text()
        assert re.search(rf"\b{name}\b", (GUESTS / "build.sh").read_text())


@pytest.mark.parametrize("guest", RUNS)
def test_gives_what_numpy_gives(guest):
    run = RUNS[guest](256 if guest == "life" else 96)
    expected_guests.check(run, gpu_peer.run(guest, run))


@pytest.mark.parametrize("guest", ["neighbours", "two_phase_sum", "who"])
def test_the_last_group_may_have_fewer_lanes(guest):
    run = RUNS[guest](75)
    expected_guests.check(run, gpu_peer.run(guest, run))


class Nothing:
    """Inputs of lanes that are given none."""

    same_arguments = True

    def arguments(self, lane):
        return [b"guest"]

    def stdin(self, lane):
        return b""

    def sizes(self, lanes):
        return None


def on_lanes(guest: str, run: GuestRun, device) -> expected_guests.Buffers:
    """What a guest leaves on lanes, as far as it must leave anything."""
    words = 0 if run.after.output is None else run.after.output.size
    buffers = Buffers(run.state, run.input, words, run.size or (0, 0), run.group)
    source = (GUESTS / f"{guest}.wasm").read_bytes()
    task = Task(source, guest, run.lanes, Nothing(), device=device.name, buffers=buffers, limits=Limits(timeout=60))
    running = Run(task)
    outcomes = sorted(running.outcomes(), key=lambda outcome: outcome.lane)
    assert [outcome.lane for outcome in outcomes] == list(range(run.lanes))
    assert [outcome for outcome in outcomes if not outcome.ok] == []
    left = running.results
    assert left is not None
    return expected_guests.Buffers(left.state, left.output, left.picture, tuple(one.stdout for one in outcomes))


@pytest.mark.parametrize("guest", RUNS)
def test_gives_on_lanes_what_numpy_gives(guest, device):
    for lanes in (256, 1024):
        run = RUNS[guest](lanes)
        expected_guests.check(run, on_lanes(guest, run, device))


@pytest.mark.parametrize("guest", sorted(set(RUNS) - {"life", "grayscale", "mandelbrot"}))
def test_any_number_of_lanes_will_do(guest, device):
    for lanes in (1, 75, 1000):
        run = RUNS[guest](lanes)
        expected_guests.check(run, on_lanes(guest, run, device))


def test_a_state_that_goes_on_from_run_to_run(device):
    """What one run leaves is what the next begins with."""
    run = RUNS["parallel_map"](500)
    once = on_lanes("parallel_map", run, device).state
    again = on_lanes("parallel_map", GuestRun(500, run.after, state=once), device).state
    assert again.tolist() == (run.state * 4).tolist()
