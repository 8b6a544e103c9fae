"""Static AArch64 programs of Linux in lanes: `run_linux` loads them, runs them and does what they call for."""

from lanewise.arm64.linux.result import LinuxResult, Outcome
from lanewise.arm64.linux.run import run_linux

__all__ = ["LinuxResult", "Outcome", "run_linux"]
