"""Files that a run writes never take the place of those that it reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from lanewise.batch.report import as_one_line
from lanewise.cli.gpu_run_options import Options
from lanewise.cli.mistakes import UsageMistake

SUFFIXES = ".out", ".err"
"""What follows a lane's name in --output-dir."""


def check_outputs(options: Options, lanes: int, name_of: Callable[[int], str], files: Sequence[str]) -> None:
    """Refuse outputs that would replace the program or an input: lanes that begin later would read the new file.

    A state may be replaced by what becomes of it, for it has been read by then.
    """
    named = [options.program, *files, options.each_line, options.stdin]
    inputs: dict[str, str] = {}
    for path in named:
        if path is not None and path not in ("-", "{}"):
            inputs |= {_place(path): path, os.path.realpath(path): path}
    for option in ("state_out", "output", "picture"):
        path = getattr(options, option)
        if path is not None and (read := inputs.get(_place(path))) is not None:
            raise UsageMistake(
                f"--{option.replace('_', '-')} {as_one_line(path)}: that would overwrite {as_one_line(read)}, which "
                "the run reads; name another file"
            )
    if options.output_dir is None:
        return
    directory = os.path.realpath(options.output_dir)
    inside = {place for place in inputs if place.startswith(directory + os.sep)}
    for lane in range(lanes if inside else 0):
        for suffix in SUFFIXES:
            place = os.path.normpath(os.path.join(directory, name_of(lane) + suffix))
            if place in inside:
                raise UsageMistake(
                    f"--output-dir {as_one_line(options.output_dir)}: the output of a lane would overwrite "
                    f"{as_one_line(inputs[place])}, which the run reads; name another directory"
                )


def _place(path: str) -> str:
    """A file by the directory that it is in: a link itself is replaced, not what it leads to."""
    directory, file = os.path.split(path)
    return os.path.join(os.path.realpath(directory), file)
