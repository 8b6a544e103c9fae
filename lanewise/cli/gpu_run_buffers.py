"""The buffers of the GPU vocabulary as files: NumPy arrays and a picture."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from lanewise.batch.pictures import png
from lanewise.batch.report import as_one_line
from lanewise.batch.spec import Buffers, Results
from lanewise.cli.gpu_run_options import Options
from lanewise.cli.gpu_run_output import OutputError, try_to_write
from lanewise.cli.gpu_run_places import place_of, result_files
from lanewise.cli.mistakes import UsageMistake
from lanewise.kernel.wasi_numbers import FAIL_INDEX, FAILURES

_USUAL = Buffers()


def read_buffers(options: Options, lanes: int) -> Buffers:
    """The buffers that a command line names; where results shall go is looked at, too."""
    if (options.picture is None) != (options.size is None):
        missing, given = ("--size", "--picture") if options.size is None else ("--picture", "--size")
        raise UsageMistake(f"{given} needs {missing} beside it: a picture has a file and a size")
    if options.state_out is not None and options.state is None:
        raise UsageMistake("--state-out writes what became of the state; give what it is at first by --state")
    _check_places(result_files(options))
    if options.picture is not None and os.path.splitext(options.picture)[1].lower() not in ("", ".png"):
        raise UsageMistake(
            f"--picture {as_one_line(options.picture)}: it is written as PNG; name a file that ends in .png"
        )
    return Buffers(
        state=_array("state", options.state),
        input=_array("input", options.input),
        output=lanes if options.output is not None else 0,
        size=options.size or _USUAL.size,
        group=options.group or _USUAL.group,
    )


def write_buffers(options: Options, results: Results) -> None:
    """Write what lanes have left: each file is there as a whole or not at all."""
    if options.state_out is not None:
        _write(options.state_out, lambda file: np.save(file, results.state))
    if options.output is not None:
        _write(options.output, lambda file: np.save(file, results.output))
    if options.picture is not None:
        _write(options.picture, lambda file: file.write(png(results.picture)))


def buffer_hint(kinds: Iterable[str | None], lacking: Sequence[str]) -> list[str]:
    """What to say where lanes ended so and the program was not given all buffers that it may use."""
    if not lacking or FAILURES[FAIL_INDEX] not in kinds:
        return []
    options = " and ".join(f"--{name} FILE.npy" for name in lacking)
    return [f"gpu-run: the program uses {' and '.join(lacking)} of the GPU vocabulary, and has none; write {options}"]


def _check_places(outputs: dict[str, str]) -> None:
    """Refuse now what could not be written when all lanes have run."""
    taken: dict[str, str] = {}
    for name, path in outputs.items():
        if trouble := _trouble_with(path):
            raise UsageMistake(f"--{name} {as_one_line(path)}: {trouble}")
        place = place_of(path)
        if place in taken:
            raise UsageMistake(f"--{taken[place]} and --{name} name the same file, {as_one_line(path)}; name another")
        taken[place] = name


def _trouble_with(path: str) -> str:
    """Why there can be no file of this name; empty if there can."""
    directory, file = os.path.split(path)
    if not file or os.path.isdir(path):
        return "it is a directory; name a file"
    if os.path.exists(path) and not os.path.isfile(path):
        return "it is there and is no file; name another"
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(path)
        if not os.path.isdir(directory or os.curdir):
            return "the directory is not there"
        try_to_write(directory)
    except OSError as error:
        return f"no file can be written there ({error.strerror}); name another"
    return ""


def _array(name: str, path: str | None) -> np.ndarray[Any, Any] | None:
    if path is None:
        return None
    try:
        found: np.ndarray[Any, Any] = np.load(path, allow_pickle=False)
    except OSError as error:
        raise UsageMistake(f"--{name} {path}: it cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        if "allow_pickle" in str(error):
            raise UsageMistake(f"--{name} {path}: it holds Python's objects; write an array of numbers") from None
        raise UsageMistake(f"--{name} {path}: it is no NumPy file; write one with numpy.save") from None
    if not isinstance(found, np.ndarray) or found.dtype.itemsize != 4 or found.dtype.kind not in "iuf":
        kind = getattr(found, "dtype", "several arrays")
        raise UsageMistake(f"--{name} {path}: it holds {kind}; lanes share 32-bit numbers (int32, uint32, float32)")
    return found.astype(found.dtype.newbyteorder("="), copy=False)


def _write(path: str, write: Callable[[IO[bytes]], object]) -> None:
    import tempfile  # for runs that leave something, which most do not

    directory = str(Path(path).absolute().parent)
    try:
        with tempfile.NamedTemporaryFile(dir=directory, prefix=".gpu-run-", delete=False) as file:
            try:
                write(file)
                file.flush()
                os.chmod(file.name, 0o666 & ~_mask())
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise OutputError(f"{as_one_line(path)} cannot be written: {error.strerror or error}") from None


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
