"""Rows of the benchmark `run`: JSON files, a lane each, against wasmtime for the same files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from lanewise.bench.programs_guests import JSON, program
from lanewise.bench.programs_json import write_documents
from lanewise.bench.programs_many import optimise
from lanewise.bench.programs_peer import Host, find_hosts
from lanewise.bench.programs_process import Ended, finish, gpu_run
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import bests
from lanewise.devices import Device
from lanewise.devices import device as find_device

FILES, FEW_FILES = 10_000, 200
STARTS, FEW_STARTS = 200, 20
"""Processes that are started one per file; the time for all files follows from theirs."""
_FOLDER = "data"
_OURS = "gpu-run"
_STARTED, _EACH = "started", "once per file"


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
        runs: dict[str, Callable[[], Ended]] = {_OURS: lambda: finish(ours, folder=folder)}
        hosts = find_hosts(folder)
        for host in hosts:
            runs |= _peers(host, path, folder, sorted(wanted), starts, anew=host is hosts[0])
        for which, run in runs.items():
            _check(which, run(), wanted, starts if _STARTED in which else count)
        taken = bests(runs, rounds=1 if quick else 4)
    what = f"gpu-run --each-file, {count:,} files of JSON"
    for peer in [which for which in runs if which != _OURS] or ["wasmtime"]:
        anew = _STARTED in peer
        yield figure(
            "run", device.name, what, count / taken[_OURS], "files/s",
            peer=peer, peer_value=(starts if anew else count) / taken[peer] if peer in taken else None,
            at_least=_least(device, peer),
            detail=f"the peer's rate is that of {starts} processes, not of all files" if anew else "",
        )  # fmt: skip


def _least(device: Device, peer: str) -> float | None:
    """The targets are for a CPU, and for processes that are started one after the other, as a shell's loop does."""
    if device.name.startswith("cuda"):
        return None
    if _STARTED in peer:
        return 20 if peer.endswith(_EACH) else None
    return 1


def _peers(
    host: Host, path: Path, folder: Path, names: Sequence[str], starts: int, *, anew: bool
) -> dict[str, Callable[[], Ended]]:
    """A host that loops over all files on all cores, and if `anew` such that are started for a file each."""
    words = [str(path), _FOLDER]
    some = "\n".join(names[:starts]).encode()
    cores = _cores()

    def started(at_once: int) -> Callable[[], Ended]:
        command = ["xargs", "-n", "1", "-P", str(at_once), *host.command, "1", *words]
        return lambda: finish(command, folder=folder, stdin=some)

    loop = [*host.command, str(cores), *words, *names]
    peers = {host.name: lambda: finish(loop, folder=folder)}
    if anew:
        one_by_one = {f"{host.name}, {_STARTED} {_EACH}": started(1)}
        peers = one_by_one | {f"{host.name}, {_STARTED} {cores} at a time": started(cores)} | peers
    return peers


def _cores() -> int:
    return find_device("cpu").properties.cores


def _check(which: str, ended: Ended, wanted: Mapping[str, str], count: int) -> None:
    """Every file's line must be there; only ours come in order."""
    lines = [f"{_FOLDER}/{name}: {summary}" for name, summary in sorted(wanted.items())[:count]]
    given = ended.stdout.decode().splitlines()
    if (given if which == _OURS else sorted(given)) != lines:
        wrong = next(iter(set(given) - set(lines)), "a line is missing, or stands elsewhere")
        raise WrongResultError(f"benchmark run: {which}, {len(given):,} lines for {count:,} files: {wrong[:200]}")
