"""Where kernels run: `cpu`, `cuda` and `null` behind one small interface."""

from lanewise.devices.arrays import DeviceArray
from lanewise.devices.base import Device, Launch, Properties
from lanewise.devices.registry import device

__all__ = ["Device", "DeviceArray", "Launch", "Properties", "device"]
