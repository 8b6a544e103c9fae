"""The CUDA device."""

from lanewise.devices.base import Device
from lanewise.errors import NoDeviceError


def CudaDevice(index: int) -> Device:
    raise NoDeviceError("no CUDA device")
