"""`lanewise info`: the devices, what each can do, which one `auto` takes, and what Lanewise itself runs on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

import lanewise as lw
from lanewise.cli import environment
from lanewise.cli.output import output, size


@dataclass(frozen=True)
class Found:
    """The devices of this machine, and for each kind that is absent why."""

    devices: list[lw.Device]
    absent: dict[str, str]
    auto: str | None
    auto_problem: str | None


def info(as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False) -> None:
    """Show the devices, what each can do and which one `auto` takes."""
    found = find_devices()
    report = {
        "auto": found.auto,
        "auto_problem": found.auto_problem,
        "devices": [_described(device) for device in found.devices],
        "absent": found.absent,
        "versions": environment.versions(),
        "cache": environment.cache(),
        "ptxas": environment.ptxas(),
    }
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        _show(report)


def find_devices() -> Found:
    """Open every device there is. This is what people run when something is broken, so any failure becomes a line."""
    devices: list[lw.Device] = []
    absent: dict[str, str] = {}
    names = ["cpu"]
    try:
        from lanewise.devices.cuda import device_count  # the CUDA libraries may be missing or broken

        names += [f"cuda:{index}" for index in range(device_count())]
    except Exception as error:
        absent["cuda"] = _sentence(error)
    for name in names:
        try:
            devices.append(lw.device(name))
        except Exception as error:
            absent[name] = _sentence(error)
    try:
        return Found(devices, absent, lw.device("auto").name, None)
    except Exception as error:
        return Found(devices, absent, None, _sentence(error))


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, lw.LanewiseError) else f"it does not work: {type(error).__name__}: {error}"


def _described(device: lw.Device) -> dict[str, Any]:
    properties = device.properties
    return {
        "name": device.name,
        "model": properties.name,
        "cores": properties.cores,
        "resident_threads": properties.resident_threads,
        "memory_bytes": properties.memory_bytes,
        "max_group_size": properties.max_group_size,
        "warp_size": properties.warp_size,
        "details": dict(properties.details),
    }


def _show(report: dict[str, Any]) -> None:
    console = output()
    devices = Table(title="Devices", title_justify="left", title_style="bold", expand=False)
    devices.add_column("")
    for device in report["devices"]:
        chosen = " (auto)" if device["name"] == report["auto"] else ""
        devices.add_column(f"{device['name']}{chosen}", style="green" if chosen else "")
    for label, shown in _rows(report["devices"]):
        devices.add_row(label, *map(escape, shown))
    console.print(devices)
    for name, why in report["absent"].items():
        console.print(f"[yellow]{name}[/]: {escape(why)}", soft_wrap=True)
    if report["auto"] is None:
        console.print(f"[red]auto[/] takes no device: {escape(report['auto_problem'])}", soft_wrap=True)
    else:
        console.print(f"[bold]auto[/] takes {report['auto']}")
    console.print()
    cache = report["cache"]
    held = "turned off" if cache["limit"] == 0 else f"{size(cache['bytes'])} of {size(cache['limit'])}"
    facts = {
        **{name: version or "not installed" for name, version in report["versions"].items()},
        "cache": f"{cache['directory']} ({held})",
        "ptxas": report["ptxas"] or "not found; only needed to check PTX without a GPU",
    }
    for name, fact in facts.items():
        console.print(f"{name:<14}{escape(fact)}", soft_wrap=True)


def _rows(devices: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    rows = [
        ("model", [device["model"] for device in devices]),
        ("cores or multiprocessors", [f"{device['cores']:,}" for device in devices]),
        ("resident threads", [f"{device['resident_threads']:,}" for device in devices]),
        ("memory", [size(device["memory_bytes"]) for device in devices]),
        ("largest group", [f"{device['max_group_size']:,} threads" for device in devices]),
        ("warp", [f"{device['warp_size']} threads" for device in devices]),
    ]
    labels = dict.fromkeys(label for device in devices for label in device["details"])
    return rows + [(label, [device["details"].get(label, "") for device in devices]) for label in labels]
