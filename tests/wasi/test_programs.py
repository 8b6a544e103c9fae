"""Real programs, built by packaged toolchains from Rust and C, do on lanes what they do under wasmtime."""

import re

import peer
import pytest
from cases import CASES, PROGRAMS, Case, sample_json

import lanewise as lw

SOURCES = sorted(path.stem for path in PROGRAMS.iterdir() if path.suffix in (".c", ".rs"))
MAX_BYTES = 120_000
LANES = 3
"""On how many lanes a program runs that leaves files alone: all of them must do the same."""


def cases_of(program: str) -> list[tuple[str, Case]]:
    """The cases of a program, with a name for a folder and a message."""
    found = [case for case in CASES if case.program == program]
    return [(f"{program}-{number}", case) for number, case in enumerate(found)]


def test_every_program_is_built_small_and_run():
    assert {case.program for case in CASES} == set(SOURCES) == {path.stem for path in PROGRAMS.glob("*.wasm")}
    for path in PROGRAMS.glob("*.wasm"):
        assert path.stat().st_size < MAX_BYTES, path


@pytest.mark.parametrize("program", SOURCES)
def test_ends_as_stated_under_wasmtime(program, tmp_path):
    for name, case in cases_of(program):
        outcome = peer.run(case, tmp_path / name)
        assert outcome.ended == (case.ends if case.theirs is None else case.theirs), name
        if not case.writes:
            assert outcome.tree == peer.tree_of(peer.prepare(case, tmp_path / f"{name}-again")), name


STACKS = {"json": "96K", "recursion": "256K"}
"""For a GPU, whose lanes have little stack: what programs need that call themselves many times."""


@pytest.mark.parametrize("program", SOURCES)
def test_does_on_lanes_what_it_does_under_wasmtime(program, device, tmp_path):
    for name, case in cases_of(program):
        expected = peer.run(case, tmp_path / f"{name}-wasmtime")
        root = peer.prepare(case, tmp_path / f"{name}-lanewise")
        lanes = 1 if case.writes else LANES
        result = lw.run(
            PROGRAMS / f"{program}.wasm",
            lanes=lanes,
            args=case.args,
            stdin=case.stdin,
            dirs={case.guest: root},
            env=case.env,
            device=device,
            timeout=60,
            stack=None if device.name == "cpu" else STACKS.get(program),
            **threads_of(case),
        )
        for lane in range(lanes):
            about = f"{name}, lane {lane}"
            if isinstance(case.ends, int):
                assert (result.exit_codes[lane], result.traps[lane]) == (case.ends, None), about
            else:
                assert result.exit_codes[lane] == -1, about
                assert case.ends in str(result.traps[lane]), about
            assert blurred(case, result.stdout[lane]) == blurred(case, expected.stdout), about
            assert blurred(case, result.stderr[lane]) == blurred(case, expected.stderr), about
        assert peer.tree_of(root) == expected.tree, name
        assert (root.parent / "outside").read_bytes() == peer.OUTSIDE, name


def threads_of(case: Case) -> dict[str, int]:
    return {} if case.threads is None else {"threads": case.threads}


def blurred(case: Case, output: bytes) -> bytes:
    """What was written, without what differs from run to run."""
    return re.sub(case.vague, b"(it differs)", output)


def test_sample_documents_have_the_size():
    for seed in range(20):
        assert 4096 <= len(sample_json(seed, 4096)) < 4700
