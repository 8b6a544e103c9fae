"""`lanewise bench`: run benchmarks side by side with their peers, print the ratios, keep the figures as JSON."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import lanewise as lw
from lanewise.bench import Benchmark, Result, benchmarks
from lanewise.bench.plot import plot
from lanewise.cli import environment
from lanewise.cli.mistakes import UsageMistake
from lanewise.cli.output import output

_BUSY = 0.7
"""Load average before a run above which its figures are doubtful."""
_INTERRUPTED = 130
_REMEDIES = {
    "wasmtime": "pip install wasmtime",
    "native": "clang-14 or cc",
    "numba": "pip install numba",
    "cupy": "pip install cupy-cuda13x",
    "taffy": "pip install stretchable",
    "unicorn": "pip install unicorn",
    "qemu": "Debian's qemu-user",
}
"""What brings a peer, by the first word of its name."""


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Which to run; all by default.")] = None,
    device: Annotated[str, typer.Option(help="Where to run: auto, cpu, cuda, cuda:1, ...")] = "auto",
    quick: Annotated[bool, typer.Option("--quick", help="Less data and fewer repeats; figures mean less.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures, with machine and versions.")
    ] = None,
    plot_file: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg", help="Also draw the ratios to the peers.")
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="Show which benchmarks there are, and run none.")] = False,
) -> None:
    """Measure this machine: Lanewise next to NumPy, CuPy, Numba, wasmtime and the bare memory, in one run."""
    console = output()
    chosen = _chosen(names or list(benchmarks))
    if listing:
        for benchmark in chosen:
            console.print(f"[bold]{benchmark.name:<12}[/]{escape(benchmark.about)}", soft_wrap=True)
        return
    for option, file in (("--json", json_file), ("--plot", plot_file)):
        if file is not None and not file.resolve().parent.is_dir():
            raise UsageMistake(f"{option} {file}: there is no directory {file.resolve().parent}; create it first")
        if file is not None and file.is_dir():
            raise UsageMistake(f"{option} {file}: that is a directory; name a file in it")
    if plot_file is not None and plot_file.suffix.lower() != ".svg":
        raise UsageMistake(f"--plot {plot_file}: pictures are SVG; write {plot_file.with_suffix('.svg')}")
    try:
        place = lw.device(device)
    except lw.NoDeviceError as error:
        raise UsageMistake(str(error)) from None
    if place.name == "null":
        raise UsageMistake("the device null compiles and never runs, so it has no speed; write cpu or cuda")
    load = os.getloadavg()[0]
    results, failures, interrupted = _run_all(chosen, place, quick)
    # Before the table, whose reader may have gone meanwhile. What is there from before stays where nothing is new.
    if json_file is not None and results:
        report = _report(place, quick, load, results, failures) | {"interrupted": interrupted}
        json_file.write_text(json.dumps(report, indent=2) + "\n")
    picture = None
    if plot_file is not None:
        what = place.name if place.name == "cpu" else f"{place.name}, {place.properties.name}"
        what += ", a quick run" if quick else ""
        picture = plot(results, f"lanewise bench {' '.join(names or ())} on {what}")
        if picture is not None:
            plot_file.write_text(picture)
    if results:
        _show(console, results, quick, load)
    if plot_file is not None and picture is None and results:
        console.print(
            escape(f"there is no rate to compare with a peer's, so {plot_file} was not drawn"), soft_wrap=True
        )
    for failure in failures:
        console.print(f"[bold red]FAILED[/] {escape(failure)}", soft_wrap=True)
    if interrupted:
        console.print(f"interrupted; figures that were measured before: {len(results)}", soft_wrap=True)
        raise typer.Exit(_INTERRUPTED)
    if failures:
        raise typer.Exit(1)


def _chosen(names: Sequence[str]) -> list[Benchmark]:
    for name in names:
        if name not in benchmarks:
            raise UsageMistake(f"there is no benchmark {name!r}; there are {', '.join(benchmarks)}")
    return [benchmarks[name] for name in dict.fromkeys(names)]


def _run_all(chosen: Sequence[Benchmark], device: lw.Device, quick: bool) -> tuple[list[Result], list[str], bool]:
    """Run each; one that fails does not keep the others from running, and its figures so far do not count.

    Those before Ctrl-C count, which is said last.
    """
    results: list[Result] = []
    failures: list[str] = []
    progress = Console(stderr=True)
    for benchmark in chosen:
        where, found = f"{benchmark.name} on {device.name}", list[Result]()
        with progress.status(where) as shown:
            try:
                for result in benchmark.run(device, quick):
                    found.append(result)
                    shown.update(escape(f"{where}: {result.what} is done"))
                    if not progress.is_terminal:  # a run of minutes that is cut off has told what it has
                        progress.print(escape(f"{where}: {_line(result)}"), soft_wrap=True, highlight=False)
                results += found
            except KeyboardInterrupt:
                return results + found, failures, True
            except lw.LanewiseError as error:
                failures.append(f"{benchmark.name}: {error}")
            except Exception as error:  # a peer or a driver that breaks must not take the other figures with it
                place = traceback.extract_tb(error.__traceback__)[-1]
                failures.append(f"{benchmark.name}: {type(error).__name__}: {error} ({place.filename}:{place.lineno})")
    return results, failures, False


def _line(result: Result) -> str:
    """A figure as soon as it is there."""
    ratio = "" if result.ratio is None else f", {result.ratio:.2f}x {result.peer}"
    return f"{result.what}, {_number(result.value)} {result.unit}{ratio}"


def _table(results: Sequence[Result], details: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("benchmark", "what"):
        table.add_column(heading)
    table.add_column("lanewise", justify="right", no_wrap=True)
    table.add_column("peer")
    table.add_column("ratio", justify="right", no_wrap=True)
    table.add_column("target", justify="right", no_wrap=True)
    table.add_column("met", no_wrap=True)
    for result in results:
        mark = f" [dim]({details.index(result.detail) + 1})[/]" if result.detail else ""
        table.add_row(
            result.name,
            escape(result.what) + mark,
            f"{_number(result.value)} {result.unit}",
            _peer(result),
            "" if result.ratio is None else f"{result.ratio:.2f}x",
            result.target or "",
            {True: "[green]yes[/]", False: "[bold red]NO[/]", None: ""}[result.met],
        )
    return table


def _facts_table(results: Sequence[Result]) -> Table:
    """What else was measured of some rows."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("what")
    for fact in (facts := list(dict.fromkeys(fact for result in results for fact in result.facts))):
        table.add_column(fact, justify="right")
    for result in results:
        cells = (result.facts.get(fact, "") for fact in facts)
        table.add_row(escape(result.what), *(cell if isinstance(cell, str) else _number(cell) for cell in cells))
    return table


def _peer(result: Result) -> str:
    if result.peer is None:
        return ""
    return f"{result.peer} *" if result.peer_value is None else f"{result.peer}: {_number(result.peer_value)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _show(console: Console, results: Sequence[Result], quick: bool, load: float) -> None:
    """The table, then what its marks stand for."""
    details = list(dict.fromkeys(result.detail for result in results if result.detail))
    console.print(_table(results, details))
    if more := [result for result in results if result.facts]:
        console.print(_facts_table(more))
    notes = [f"({number}) {detail}" for number, detail in enumerate(details, 1)]
    missing = dict.fromkeys(result.peer for result in results if result.peer is not None and result.peer_value is None)
    notes += [f"* {_absent(peer)}, so nothing is compared with it" for peer in missing]
    if quick:
        notes.append("--quick: less data and fewer repeats than the targets are meant for")
    if load > _BUSY:
        notes.append(f"the load was {load:.1f} before, by what ran in the last minute; repeat on a quiet machine")
    for note in notes:
        console.print(escape(note), style="dim", soft_wrap=True)


def _absent(peer: str) -> str:
    """That a peer is not there, and what brings it; a name may say on how many cores, or by what."""
    name = peer.partition(",")[0]
    brings = _REMEDIES.get(re.split(r"\W", name, maxsplit=1)[0].lower())
    return f"{name} is not installed or does not work here" + (f" ({brings} brings it)" if brings else "")


def _report(
    device: lw.Device, quick: bool, load: float, results: Sequence[Result], failures: Sequence[str]
) -> dict[str, object]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["lanewise", *sys.argv[1:]]),
        "device": device.name,
        "quick": quick,
        "load_before": load,
        "machine": environment.machine(lw.device("cpu")),
        "gpu": device.properties.name if device.name.startswith("cuda") else None,
        "versions": environment.versions(),
        "peers": environment.peer_versions(),
        "results": [asdict(result) for result in results],
        "failures": list(failures),
    }
