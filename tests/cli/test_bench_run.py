"""The benchmark of `gpu-run` on tiny sizes: what it measures, what it compares with, what it refuses to count."""

import json
import subprocess
import sys

import pytest

import lanewise as lw
from lanewise.bench import WrongResultError, programs_end, programs_files, programs_many, programs_peer
from lanewise.bench.programs_guests import BEGUN, JSON, program, write_endless
from lanewise.bench.programs_json import document, summary, write_documents
from lanewise.bench.programs_process import finish, gpu_run


@pytest.fixture(scope="module")
def cpu():
    return lw.device("cpu")


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(programs_many, "LANES", 40)
    monkeypatch.setattr(programs_many, "FEW", 60)
    monkeypatch.setattr(programs_files, "FEW_FILES", 12)
    monkeypatch.setattr(programs_files, "FEW_STARTS", 3)


def test_lanes_that_print(cpu, few):
    row = programs_many.lines_row(cpu, quick=True)
    assert (row.what, row.unit, row.target, row.met) == ("40 lanes, a line each", "s", "< 1 s", True)
    seconds, memory = programs_many.million_rows(cpu, quick=True)
    assert [seconds.what, memory.what] == ["gpu-run --lanes 60 hello.wasm", "gpu-run --lanes 60 hello.wasm, memory"]
    assert (seconds.target, memory.target) == ("< 60 s", "< 4 GiB")
    assert 0.01 < memory.value < 4


def test_wrong_output_has_no_figure(cpu, few, monkeypatch):
    monkeypatch.setattr(programs_many, "GREETING", b"Hello!\n")
    with pytest.raises(WrongResultError, match=r"40 of 40 lanes ended; wrong: \[0, 1, 2"):
        programs_many.lines_row(cpu, quick=True)
    with pytest.raises(WrongResultError, match="0 right lines in 840 bytes of 60 lanes"):
        list(programs_many.million_rows(cpu, quick=True))


def test_a_start_is_a_whole_process(cpu):
    cold, cached = programs_many.start_rows(cpu, quick=True)
    assert [cold.what, cached.what] == ["gpu-run hello.wasm, empty cache", "gpu-run hello.wasm, from the cache"]
    assert [cold.target, cached.target] == ["< 1.5 s", "< 0.35 s"]
    assert cold.value > cached.value > 0


def test_files_are_compared_with_hosts_of_wasmtime(cpu, few):
    pytest.importorskip("wasmtime")
    rows = list(programs_files.files_rows(cpu, quick=True))
    cores = cpu.properties.cores
    first = rows[0].peer.removesuffix(", started once per file")
    assert [row.peer for row in rows[:3]] == [
        f"{first}, started once per file",
        f"{first}, started {cores} at a time",
        first,
    ]
    assert [row.target for row in rows[:3]] == [">= 20x", None, ">= 1x"]
    assert rows[-1].peer == "wasmtime, host in Python"
    assert all(row.ratio > 0 and row.what == "gpu-run --each-file, 12 files of JSON" for row in rows)


def test_files_without_wasmtime_have_no_ratio(cpu, few, monkeypatch):
    monkeypatch.setattr(programs_files, "find_hosts", lambda folder: [])
    (row,) = programs_files.files_rows(cpu, quick=True)
    assert (row.peer, row.peer_value, row.ratio, row.unit) == ("wasmtime", None, None, "files/s")


def test_without_a_compiler_the_host_is_in_python(monkeypatch, tmp_path):
    pytest.importorskip("wasmtime")
    monkeypatch.setattr(programs_peer.shutil, "which", lambda name: None)
    (host,) = programs_peer.find_hosts(tmp_path)
    (tmp_path / "data").mkdir()
    wanted = write_documents(tmp_path / "data", 3)
    ended = finish([*host.command, "2", str(program(JSON)), "data", *wanted], folder=tmp_path)
    assert sorted(ended.stdout.decode().splitlines()) == [f"data/{name}: {said}" for name, said in wanted.items()]


def test_summaries_are_those_of_the_guest(cpu):
    texts = [document(seed) for seed in range(8)]
    found = lw.run(program(JSON), args=["-"], stdin=texts, device=cpu, check=True)
    assert found.stdout == [f"-: {summary(json.loads(text))}\n".encode() for text in texts]
    assert all(4096 <= len(text) < 5000 for text in texts)


def test_ends_are_taken_from_outside(cpu, monkeypatch):
    monkeypatch.setattr(programs_end, "LANES", 120)
    rows = list(programs_end.end_rows(cpu, quick=True))
    assert [row.what for row in rows] == [
        f"{by}, {n}" for n in ("one lane", "120 lanes") for by in ("Ctrl-C", "--timeout")
    ]
    assert {row.target for row in rows} == {"< 1 s"}


def test_endless_lanes_end_if_their_number_is_short(cpu, tmp_path):
    path = write_endless(tmp_path)
    done = subprocess.run(
        gpu_run(cpu, "--quiet", "--lanes", "100", str(path), "{lane}"), capture_output=True, check=True
    )
    assert done.stdout == BEGUN * 100
    late = subprocess.run(gpu_run(cpu, "--timeout", "3", str(path), "100"), capture_output=True, check=False)
    assert (late.returncode, late.stdout) == (124, BEGUN)


def test_a_command_that_fails_says_what_it_said():
    with pytest.raises(WrongResultError, match="ended with 3: no such thing"):
        finish([sys.executable, "-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(3)"])
