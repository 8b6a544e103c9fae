"""What a run needs of a device: waves of lanes that are started, looked at while they run, and ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from lanewise.batch.service import HostService
from lanewise.batch.spec import Task
from lanewise.wasm.model import Module


class WaveBackend(ABC):
    """A device as a place for the lanes of one task, one wave after the other."""

    device_name: str
    placement: str = ""
    wave_lanes: int
    """How many lanes a wave can have."""

    def __init__(self, task: Task, module: Module) -> None:
        self.task = task
        self.module = module

    @abstractmethod
    def place(self, content: bytes) -> int:
        """Put the copy of a file where all lanes can read it, for as long as the run lasts; 0 if there is no room."""

    @abstractmethod
    def start(self, first: int, count: int, service: HostService) -> None:
        """Start a wave: lanes from `first` on."""

    @abstractmethod
    def wait(self, seconds: float) -> bool:
        """Serve the wave for a while; says whether it is over."""

    @abstractmethod
    def look(self) -> np.ndarray[Any, Any]:
        """Take what lanes have written so far to the outputs of the service; gives the LaneRecords."""

    @abstractmethod
    def traps(self) -> np.ndarray[Any, Any]:
        """A word per lane: kind and place of its trap."""

    @abstractmethod
    def stop(self) -> None:
        """End the wave; returns when it is over."""

    def close(self) -> None:  # noqa: B027 - not every device has something to give back
        """The run is over."""
