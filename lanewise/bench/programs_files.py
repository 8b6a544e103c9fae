"""Rows of the benchmark `run`: JSON files, a lane each, against wasmtime for the same files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from lanewise.bench.programs_guests import JSON, program
from lanewise.bench.programs_json import write_documents
from lanewise.bench.programs_many import optimise
from lanewise.bench.programs_peer import Host, find_host
from lanewise.bench.programs_process import Ended, finish, gpu_run
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import bests
from lanewise.devices import Device
from lanewise.devices import device as find_device

FILES, FEW_FILES = 10_000, 200
STARTS, FEW_STARTS = 200, 20
"""Processes that are started one per file; the time for all files follows from theirs."""
_FOLDER = "data"
_EXTRAPOLATED = "the peer's rate is that of {starts} processes, not of all files"


def files_rows(device: Device, quick: bool) -> Iterator[Result]:
    """Whole processes, from start to end, each with its compiled code in a cache; the best of a few rounds."""
    count = FEW_FILES if quick else FILES
    starts = FEW_STARTS if quick else STARTS
    path = program(JSON)
    optimise(path, device)
    with tempfile.TemporaryDirectory(prefix="lanewise-bench-") as name:
        folder = Path(name)
        (folder / _FOLDER).mkdir()
        wanted = write_documents(folder / _FOLDER, count)
        ours = gpu_run(device, "--quiet", "--each-file", f"{_FOLDER}/*.json", str(path), "{}")
        runs: dict[str, Callable[[], Ended]] = {"lanewise": lambda: finish(ours, folder=folder)}
        host = find_host(folder)
        if host is not None:
            runs |= _peers(host, path, folder, sorted(wanted), starts)
        for which, run in runs.items():
            _check(which, run(), wanted, starts if which.startswith("starts") else count)
        taken = bests(runs, rounds=1 if quick else 4)
    what = f"gpu-run --each-file, {count:,} files of JSON"
    name = "wasmtime" if host is None else host.name
    cores = _cores()
    for which, about, at_least, detail in (
        ("starts", ", started once per file", 20, _EXTRAPOLATED.format(starts=starts)),
        ("starts at once", f", started {cores} at a time", None, _EXTRAPOLATED.format(starts=starts)),
        ("loop", "", 1, f"the peer compiles once, then {cores} processes share the files"),
    ):
        done = count if which == "loop" else starts
        yield figure(
            "run", device.name, what, count / taken["lanewise"], "files/s",
            peer=f"{name}{about}", peer_value=done / taken[which] if host else None,
            at_least=None if device.name.startswith("cuda") else at_least, detail=detail,
        )  # fmt: skip


def _peers(host: Host, path: Path, folder: Path, names: Sequence[str], starts: int) -> dict[str, Callable[[], Ended]]:
    words = [str(path), _FOLDER]
    some = "\n".join(names[:starts]).encode()

    def started(at_once: int) -> Callable[[], Ended]:
        command = ["xargs", "-n", "1", "-P", str(at_once), *host.command, "1", *words]
        return lambda: finish(command, folder=folder, stdin=some)

    loop = [*host.command, str(_cores()), *words, *names]
    return {
        "starts": started(1),
        "starts at once": started(_cores()),
        "loop": lambda: finish(loop, folder=folder),
    }


def _cores() -> int:
    return find_device("cpu").properties.cores


def _check(which: str, ended: Ended, wanted: Mapping[str, str], count: int) -> None:
    """Every file's line must be there; only ours come in order."""
    lines = [f"{_FOLDER}/{name}: {summary}" for name, summary in sorted(wanted.items())[:count]]
    given = ended.stdout.decode().splitlines()
    if (given if which == "lanewise" else sorted(given)) != lines:
        wrong = next(iter(set(given) - set(lines)), "a line is missing, or stands elsewhere")
        raise WrongResultError(f"benchmark run: {which}, {len(given):,} lines for {count:,} files: {wrong[:200]}")
