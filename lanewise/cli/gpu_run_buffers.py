"""The buffers of the GPU vocabulary as files: NumPy arrays and a picture."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from lanewise.batch.pictures import png
from lanewise.batch.spec import Buffers, Results
from lanewise.cli.gpu_run_options import Options
from lanewise.cli.gpu_run_output import OutputError
from lanewise.cli.mistakes import UsageMistake

_USUAL = Buffers()


def read_buffers(options: Options, lanes: int) -> Buffers:
    """The buffers that a command line names; where results shall go is looked at, too."""
    if (options.picture is None) != (options.size is None):
        missing, given = ("--size", "--picture") if options.size is None else ("--picture", "--size")
        raise UsageMistake(f"{given} needs {missing} beside it: a picture has a file and a size")
    if options.state_out is not None and options.state is None:
        raise UsageMistake("--state-out writes what became of the state; give what it is at first by --state")
    for name, path in _outputs(options).items():
        if not (Path(path).absolute().parent.is_dir()):
            raise UsageMistake(f"--{name} {path}: the directory is not there")
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


def _outputs(options: Options) -> dict[str, str]:
    named = {"state-out": options.state_out, "output": options.output, "picture": options.picture}
    return {name: path for name, path in named.items() if path is not None}


def _array(name: str, path: str | None) -> np.ndarray[Any, Any] | None:
    if path is None:
        return None
    try:
        found: np.ndarray[Any, Any] = np.load(path, allow_pickle=False)
    except OSError as error:
        raise UsageMistake(f"--{name} {path}: it cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError):
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
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from None


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
