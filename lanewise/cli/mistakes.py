"""The error for a command line that asks for what is not there."""

from __future__ import annotations

from lanewise.errors import LanewiseError


class UsageMistake(LanewiseError):  # noqa: N818 - not an error of the program
    """The command line names something that does not exist; ends the command with status 2."""
