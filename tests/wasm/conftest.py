"""Shared by the tests of WebAssembly: engines that run the same programs."""

import engines
import pytest
from gpu_on_host import LANE_DEVICES, lane_device, lanes_on_host

import lanewise as lw


@pytest.fixture(scope="session", params=["wasmtime", "cpu", "cuda"])
def engine(request):
    """wasmtime, which shows that a test asks for the right thing, then Lanewise on every device present."""
    if request.param == "wasmtime":
        return engines.wasmtime_engine()
    try:
        lw.device(request.param)
    except lw.NoDeviceError as absent:
        pytest.skip(str(absent))
    return engines.lanewise_engine(request.param)


@pytest.fixture
def device_name(device):
    """The device in turn, as a store is asked for it: cpu or cuda."""
    return device.name.partition(":")[0]


@pytest.fixture(params=LANE_DEVICES, name="lane_device")
def find_lane_device(request):
    """Every device present, and the host with the code of a GPU."""
    yield from lane_device(request.param, lanes_on_host)
