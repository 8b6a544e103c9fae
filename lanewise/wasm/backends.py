"""Which backend runs instances on which device."""

from __future__ import annotations

from typing import Any

from lanewise.devices import Device
from lanewise.devices import device as find_device
from lanewise.devices.cpu import CpuDevice
from lanewise.errors import ArgumentError
from lanewise.wasm.backend import Backend
from lanewise.wasm.build import check_choices, check_timeout, gpu_build, host_build


def backend_for(
    device: Device | str,
    *,
    fuel: int | None = None,
    timeout: float | None = None,
    level: int | None = None,
    **choices: Any,
) -> Backend:
    """The backend for a device; `choices` are fields of `Build`."""
    made = _backend_for(device, fuel, level, choices)
    check_timeout(made.build, timeout)
    made.timeout = timeout
    return made


def _backend_for(device: Device | str, fuel: int | None, level: int | None, choices: dict[str, Any]) -> Backend:
    check_choices(choices, fuel)
    if choices.get("layout") == "words":
        raise ArgumentError("layout='words' is for functions over many lanes; an instance is flat or interleaved")
    if choices.get("meter") == "tally":
        raise ArgumentError("meter='tally' is for functions over arrays; an instance counts each step, with 'count'")
    found = find_device(device) if isinstance(device, str) else device
    if isinstance(found, CpuDevice):
        from lanewise.wasm.cpu_backend import CpuBackend

        choices.setdefault("meter", "off" if fuel is None else "count")
        return CpuBackend(found, host_build(linked=True, **choices), level, "checks" in choices)
    if found.name.startswith("cuda"):
        from lanewise.devices.cuda import CudaDevice  # loaded already, if there is such a device
        from lanewise.wasm.cuda_backend import CudaBackend

        assert isinstance(found, CudaDevice)
        if fuel is not None:
            choices["meter"] = "count"
        return CudaBackend(found, gpu_build(linked=True, **choices), level)
    raise ArgumentError(f"instances live on cpu or cuda, not on {found.name}")
