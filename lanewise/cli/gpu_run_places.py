"""Files that a run writes never take the place of those that it reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from lanewise.batch.report import as_one_line
from lanewise.cli.gpu_run_options import Options
from lanewise.cli.mistakes import UsageMistake

SUFFIXES = ".out", ".err"
"""What follows a lane's name in --output-dir."""


def result_files(options: Options) -> dict[str, str]:
    """The files for what lanes leave in buffers, by the names of their options."""
    named = {"state-out": options.state_out, "output": options.output, "picture": options.picture}
    return {name: path for name, path in named.items() if path is not None}


def place_of(path: str) -> str:
    """A file by the directory that it is in: a link itself is replaced, not what it leads to."""
    directory, file = os.path.split(path)
    return os.path.join(os.path.realpath(directory), file)


def check_outputs(options: Options, lanes: int, name_of: Callable[[int], str], files: Sequence[str]) -> None:
    """Refuse outputs that would replace the program or an input: lanes that begin later would read the new file.

    A state may be replaced by what becomes of it, for it has been read by then.
    """
    results = result_files(options)
    if not results and options.output_dir is None:
        return  # most runs: looking at each of many files would take as long as reading them
    inputs = _inputs(options, files)
    for option, path in results.items():
        if (read := inputs.get(place_of(path))) is not None:
            raise UsageMistake(
                f"--{option} {as_one_line(path)}: that would overwrite {as_one_line(read)}, which the run reads; "
                "name another file"
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


def left_over(directory: str, lanes: int, names: Sequence[str] | None) -> list[str]:
    """Outputs of an earlier run that this one does not replace; `names` are those of its lanes, or None for numbers.

    A run leaves two files for each lane. What has only one of the two names is something else.
    """
    expected = frozenset(names or ())
    folders = {os.path.dirname(name) for name in expected} or {""}
    found = []
    for folder in sorted(folders):
        pairs = _pairs(os.path.join(directory, folder))
        found += [os.path.join(folder, name) for name in pairs]
    if names is not None:
        return [name for name in found if name not in expected]
    return [name for name in found if name.isdecimal() and name == str(int(name[:20])) and int(name) >= lanes]


def _pairs(directory: str) -> list[str]:
    try:
        there = set(os.listdir(directory))
    except OSError:
        return []
    first, second = SUFFIXES
    stems = sorted(name.removesuffix(first) for name in there if name.endswith(first))
    return [stem for stem in stems if stem + second in there]


def _inputs(options: Options, files: Sequence[str]) -> dict[str, str]:
    """Where the files are that a run reads, and what each is called: links, and what they lead to."""
    found: dict[str, str] = {}
    real: dict[str, str] = {}
    for path in (options.program, options.each_line, options.stdin, *files):
        if path is None or path in ("-", "{}"):
            continue
        directory, file = os.path.split(path)
        if directory not in real:  # many files share a few directories
            real[directory] = os.path.realpath(directory)
        found[os.path.join(real[directory], file)] = path
        if os.path.islink(path):
            found[os.path.realpath(path)] = path
    return found
