"""`lanewise bench`: what it lists, runs, writes and refuses."""

import json
import subprocess
import sys
from datetime import datetime

import pytest
from typer.testing import CliRunner

import lanewise as lw
from lanewise.bench import Benchmark, WrongResultError, benchmarks
from lanewise.bench.result import figure
from lanewise.cli.main import app

NAMES = [
    "map",
    "sum",
    "launch",
    "barrier",
    "start",
    "wasm",
    "wasm-lane",
    "wasm-map",
    "wasm-start",
    "wasm-slice",
    "arm64",
    "layout",
    "run",
]


def test_list_names_every_benchmark_and_runs_none(command):
    done = command("bench", "--list")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == NAMES
    assert "kernel[n](...)" in done.stdout


def test_ratios_are_drawn(command, tmp_path):
    file = tmp_path / "figures.svg"
    done = command("bench", "map", "--quick", "--device", "cpu", "--plot", str(file))
    assert done.returncode == 0, done.stderr
    assert file.read_text().startswith("<svg")
    assert "lanewise bench map on cpu" in file.read_text()


def test_figures_are_told_as_they_come_where_nobody_sees_a_bar(command):
    lines = command("bench", "barrier", "--quick", "--device", "cpu").stderr.splitlines()
    assert lines
    assert all(line.startswith("barrier on cpu: ") and " ms" in line for line in lines), lines


def test_quick_run_prints_a_table_and_writes_json(command, tmp_path):
    file = tmp_path / "figures.json"
    done = command("bench", "barrier", "--quick", "--device", "cpu", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "1,024 threads, 10 barriers" in done.stdout
    report = json.loads(file.read_text())
    assert report["command"] == f"lanewise bench barrier --quick --device cpu --json {file}"
    assert (report["device"], report["gpu"], report["quick"], report["failures"]) == ("cpu", None, True, [])
    assert datetime.fromisoformat(report["date"]).tzinfo is not None
    assert report["machine"]["cpu"] == lw.device("cpu").properties.name
    assert report["versions"]["lanewise"] == lw.__version__
    assert report["peers"]["numpy"]
    (row,) = report["results"]
    assert row["unit"] == "ms"
    assert row["value"] > 0
    assert row["target"] == "< 2 ms"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mop"], f"there is no benchmark 'mop'; there are {', '.join(NAMES)}"),
        (["--device", "tpu"], "there is no device 'tpu'; write auto, cpu, cuda, cuda:1 or null"),
        (["--device", "null"], "the device null compiles and never runs, so it has no speed; write cpu or cuda"),
        (["map", "--plot", "/nowhere/at/all.svg"], "--plot /nowhere/at/all.svg: there is no directory /nowhere/at"),
        (["map", "--plot", "/"], "--plot /: that is a directory; name a file in it"),
        (["map", "--plot", "figures.png"], "--plot figures.png: pictures are SVG; write figures.svg"),
        (["map", "--json", "/nowhere/at/all.json"], "--json /nowhere/at/all.json: there is no directory /nowhere/at"),
    ],
)
def test_a_wrong_command_is_one_sentence_and_status_2(command, arguments, message):
    done = command("bench", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


def test_an_unknown_option_has_status_2(command):
    assert command("bench", "--fast").returncode == 2


def test_a_wrong_result_fails_loudly_and_the_others_still_run(monkeypatch):
    def wrong(device, quick):
        yield figure("wrong", device.name, "a figure that must not count", 1.0, "ms")
        raise WrongResultError("benchmark wrong gave 2, NumPy gives 3")

    def right(device, quick):
        yield figure("right", device.name, "fine", 3.0, "GB/s", peer="numpy", peer_value=2.0, at_least=1.0)

    for name, run in (("wrong", wrong), ("right", right)):
        monkeypatch.setitem(benchmarks, name, Benchmark(name, "", run))
    done = CliRunner().invoke(app, ["bench", "wrong", "right", "--device", "cpu"])
    assert done.exit_code == 1
    assert "FAILED wrong: benchmark wrong gave 2, NumPy gives 3" in done.output
    assert "must not count" not in done.stdout
    assert "1.50x" in done.output


def test_files_stay_as_they_are_where_nothing_was_measured(command, tmp_path, monkeypatch):
    """Programs of AArch64 are built in a checkout; elsewhere that is said before anything is measured."""
    monkeypatch.chdir(tmp_path)
    kept = {name: tmp_path / name for name in ("figures.json", "figures.svg")}
    for file in kept.values():
        file.write_text("from before")
    files = ["--json", str(kept["figures.json"]), "--plot", str(kept["figures.svg"])]
    done = command("bench", "arm64", "--quick", "--device", "cpu", *files)
    assert done.returncode == 1
    assert "FAILED arm64: out/arm64/mix is not there" in " ".join(done.stdout.split())
    assert "lanewise" not in done.stdout  # no table
    assert [file.read_text() for file in kept.values()] == ["from before"] * 2


def test_a_broken_peer_is_a_failure_with_its_place(monkeypatch):
    def broken(device, quick):
        yield figure("broken", device.name, "time", 1.0 / len(()), "ms")

    monkeypatch.setitem(benchmarks, "broken", Benchmark("broken", "", broken))
    done = CliRunner().invoke(app, ["bench", "broken", "--device", "cpu"])
    assert done.exit_code == 1
    assert "FAILED broken: ZeroDivisionError: " in done.output
    assert "test_bench.py:" in done.output


@pytest.mark.parametrize(
    ("peer", "words"),
    [
        ("wasmtime, 2 cores", "* wasmtime is not installed or does not work here (pip install wasmtime brings it), so"),
        (
            "Taffy (stretchable)",
            "* Taffy (stretchable) is not installed or does not work here (pip install stretchable",
        ),
        ("a copy", "* a copy is not installed or does not work here, so"),
    ],
)
def test_an_absent_peer_is_named_below_the_table(monkeypatch, tmp_path, peer, words):
    def alone(device, quick):
        yield figure("alone", device.name, "time", 3.0, "ms", peer=peer, peer_value=None, at_most=1.2)

    monkeypatch.setitem(benchmarks, "alone", Benchmark("alone", "", alone))
    picture = tmp_path / "alone.svg"
    done = CliRunner().invoke(app, ["bench", "alone", "--device", "cpu", "--plot", str(picture)])
    assert done.exit_code == 0
    assert words in done.output
    assert "there is no rate to compare with a peer's, so" in done.output
    assert not picture.exists()


def test_what_was_measured_before_ctrl_c_is_shown_and_kept(monkeypatch, tmp_path):
    def stopped(device, quick):
        yield figure("stopped", device.name, "one", 3.0, "ms")
        raise KeyboardInterrupt

    monkeypatch.setitem(benchmarks, "stopped", Benchmark("stopped", "", stopped))
    figures = tmp_path / "figures.json"
    done = CliRunner().invoke(app, ["bench", "stopped", "--device", "cpu", "--json", str(figures)])
    assert done.exit_code == 130
    assert "interrupted; figures that were measured before: 1" in done.output
    report = json.loads(figures.read_text())
    assert ([row["what"] for row in report["results"]], report["interrupted"]) == (["one"], True)


def test_what_else_was_measured_has_a_table_and_names_in_json(monkeypatch, tmp_path):
    def thorough(device, quick):
        yield figure("thorough", device.name, "one", 3.0, "GB/s", facts={"set-up, ms": 1.25, "placement": "flat/1/all"})
        yield figure("thorough", device.name, "two", 3.0, "GB/s", facts={"placement": "words/32/fit", "lanes": 1024})
        yield figure("thorough", device.name, "three", 3.0, "GB/s")

    monkeypatch.setitem(benchmarks, "thorough", Benchmark("thorough", "", thorough))
    figures = tmp_path / "figures.json"
    done = CliRunner().invoke(app, ["bench", "thorough", "--device", "cpu", "--json", str(figures)])
    lines = [line.split() for line in done.output.splitlines()]
    assert ["what", "set-up,", "ms", "placement", "lanes"] in lines
    assert ["one", "1.25", "flat/1/all"] in lines
    assert ["two", "words/32/fit", "1,024"] in lines
    assert [row["facts"] for row in json.loads(figures.read_text())["results"]] == [
        {"set-up, ms": 1.25, "placement": "flat/1/all"},
        {"placement": "words/32/fit", "lanes": 1024},
        {},
    ]


@pytest.mark.parametrize(
    ("bounds", "value", "ratio", "target", "met"),
    [
        ({"peer_value": 4.0, "at_least": 0.85}, 3.4, 0.85, ">= 0.85x", True),
        ({"peer_value": 4.0, "at_least": 0.85}, 3.3, 0.825, ">= 0.85x", False),
        ({"peer_value": 2.0, "at_most": 1.2}, 2.4, 1.2, "<= 1.2x", True),
        ({"peer_value": 2.0, "at_most": 1.2}, 2.5, 1.25, "<= 1.2x", False),
        ({"below": 60}, 59.0, None, "< 60 ms", True),
        ({"below": 60}, 60.0, None, "< 60 ms", False),
        ({"at_most": 2.0}, 1.0, None, "<= 2x", None),
        ({}, 1.0, None, None, None),
    ],
)
def test_ratio_and_verdict(bounds, value, ratio, target, met):
    row = figure("b", "cpu", "w", value, "ms", peer="p", **bounds)
    assert (row.ratio, row.target, row.met) == (pytest.approx(ratio) if ratio else None, target, met)


def test_files_are_written_before_the_table_whose_reader_may_have_gone(tmp_path):
    command = [sys.executable, "-m", "lanewise", "bench", "map", "--quick", "--device", "cpu"]
    with subprocess.Popen(
        [*command, "--json", str(tmp_path / "a.json"), "--plot", str(tmp_path / "a.svg")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        process.stdout.close()
        process.wait(timeout=120)
    assert json.loads((tmp_path / "a.json").read_text())["device"] == "cpu"
    picture = (tmp_path / "a.svg").read_text()
    assert picture.startswith("<svg")
    assert "lanewise bench map on cpu, a quick run" in picture
