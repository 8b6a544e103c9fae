"""From the options of `gpu-run` to what the engine runs: lanes and what each gets, directories, environment, limits."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanewise.batch import amounts
from lanewise.batch.inputs import NO_INPUT, FileInputs, LineInputs, SameInput, Template
from lanewise.batch.lines import Lines, read_whole, shown
from lanewise.batch.report import count_of
from lanewise.batch.source import MAGIC, is_linux, read_program
from lanewise.batch.spec import Inputs, Limits, Task
from lanewise.cli.gpu_run_buffers import read_buffers
from lanewise.cli.gpu_run_options import Options
from lanewise.cli.gpu_run_places import check_outputs
from lanewise.cli.mistakes import UsageMistake
from lanewise.wasm.placement import SEARCH, Placement


@dataclass(frozen=True)
class Job:
    """A task, and what its lanes are called: `label` in sentences, `output_name` in the directory of outputs."""

    task: Task
    alone: bool
    """Whether this is one lane that nobody called a batch."""
    label: Callable[[int], str]
    output_name: Callable[[int], str]
    files: Sequence[str] | None = None
    """The files of --each-file, by lane."""


@dataclass(frozen=True)
class _Lanes:
    """How many lanes there are, and what each gets."""

    count: int
    inputs: Inputs
    label: Callable[[int], str] = lambda lane: ""
    output_name: Callable[[int], str] = str
    directory: str | None = None
    """A directory that they need beside those that were named."""
    files: Sequence[str] | None = None


def job(options: Options, deadline: float | None = None) -> Job:
    """Everything that a run needs, read and checked; nothing has been written when this fails.

    `deadline` is when its time is over, if that began before.
    """
    program = read_program(options.program)
    if options.output_dir is not None and os.path.lexists(options.output_dir) and not os.path.isdir(options.output_dir):
        raise UsageMistake(f"--output-dir {options.output_dir}: it is there and is no directory; name another")
    lanes = _lanes(options, program)
    check_outputs(options, lanes.count, lanes.output_name, lanes.files or ())
    automatic = [(lanes.directory, lanes.directory)] if lanes.directory and not _given(options, lanes.directory) else []
    alone = _alone(options)
    streaming = alone and not options.json and options.output_dir is None
    task = Task(
        program=program,
        name=os.path.basename(options.program),
        lanes=lanes.count,
        inputs=lanes.inputs,
        environment=_environment(options),
        directories=[(_existing(host), guest) for host, guest in (*options.dir, *automatic)],
        device=options.device,
        seed=options.seed,
        limits=Limits(
            memory=options.memory,
            stack=options.stack,
            fuel=options.fuel,
            timeout=options.timeout,
            deadline=deadline,
            output=options.output_limit or (None if streaming else amounts.BATCH_OUTPUT),
        ),
        threads=Task.threads if options.threads is None else options.threads,
        buffers=read_buffers(options, lanes.count),
        streaming=streaming,
        fail_fast=options.fail_fast,
        placement=options.placement if isinstance(options.placement, Placement) else None,
        search=options.placement == SEARCH,
        stats=options.stats,
    )
    return Job(task, alone, lanes.label, lanes.output_name, lanes.files)


def _given(options: Options, directory: str) -> bool:
    """Whether the program is given a directory already, by its name or within another: then links lead as far."""
    for host, guest in options.dir:
        inside = os.path.relpath(directory, guest)
        same = os.path.realpath(os.path.join(host, inside)) == os.path.realpath(directory)
        if guest == directory or (same and not inside.startswith(os.pardir)):
            return True
    return False


def _alone(options: Options) -> bool:
    """Whether the program runs once, like any program: standard input is its own, and there is no batch to sum up."""
    return options.each_line is None and options.each_file is None and options.lanes is None


def _lanes(options: Options, program: bytes) -> _Lanes:
    if options.each_line is not None and options.each_file is not None:
        raise UsageMistake("--each-line and --each-file both say what lanes there are; leave one of them out")
    if options.each_line is not None:
        return _line_per_lane(options, options.each_line)
    if options.each_file is not None:
        return _file_per_lane(options, options.each_file, program)
    if options.stdin == "{}":
        raise UsageMistake("--stdin {} is the file of a lane, and there are none; write --each-file GLOB beside it")
    template = _template(options, item=False)
    stdin = None if _alone(options) and options.stdin is None else _shared_input(options)
    return _Lanes(options.lanes or 1, SameInput(template, stdin))


def _template(options: Options, *, item: bool) -> Template:
    """Without any word of lanes, arguments are passed as they are."""
    return Template(
        os.path.basename(options.program), options.arguments, lane=item or options.lanes is not None, item=item
    )


def _shared_input(options: Options) -> bytes:
    return NO_INPUT if options.stdin is None else read_whole(options.stdin)


def _line_per_lane(options: Options, path: str) -> _Lanes:
    if options.stdin is not None:
        raise UsageMistake("--each-line gives each lane its line on standard input; leave --stdin out")
    lines = Lines.of(path)
    if not len(lines):
        raise UsageMistake(f"{shown(path)} has no lines, so there is nothing to run")
    _check_count(options, len(lines), f"{shown(path)} has", "line")
    template = _template(options, item=True)
    if template.uses_item and (line := lines.with_zero_byte()) is not None:
        raise UsageMistake(
            f"line {line + 1} of {shown(path)} has a byte 0 in it, which no argument can hold; "
            "leave {} out, and read the line from standard input"
        )
    return _Lanes(len(lines), LineInputs(template, lines), lambda lane: f"line {lane + 1}")


def _file_per_lane(options: Options, pattern: str, program: bytes) -> _Lanes:
    if not glob.has_magic(pattern) and not program.startswith(MAGIC) and not is_linux(program):
        raise UsageMistake(
            f"the program {options.program!r} is no WebAssembly module and no program of Linux; if the shell has put "
            "file names in place of the glob, put the glob in quotes"
        )
    paths = sorted(path for path in glob.iglob(pattern, recursive=True) if os.path.isfile(path))
    if not paths:
        raise UsageMistake(f"--each-file {pattern!r} matches no file{_advice(pattern)}")
    _check_count(options, len(paths), f"--each-file {pattern!r} matches", "file")
    template = _template(options, item=True)
    on_stdin = options.stdin == "{}"
    if on_stdin:
        _check_readable(paths)
    if not template.uses_item and not on_stdin:
        raise UsageMistake(
            "--each-file tells a lane its file where an argument has {}, and none has; "
            f"write gpu-run --each-file {pattern!r} {options.program} {{}}, or --stdin {{}} for standard input"
        )
    directory = _fixed_directory(pattern)
    names = _output_names(directory, paths, pattern) if options.output_dir is not None else paths
    return _Lanes(
        len(paths),
        FileInputs(template, paths, None if on_stdin else _shared_input(options)),
        label=lambda lane: paths[lane],
        output_name=lambda lane: names[lane],
        directory=directory if template.uses_item else None,
        files=paths,
    )


def _check_readable(paths: Sequence[str]) -> None:
    """A file that cannot be read would end the whole run, however many lanes had ended by then."""
    for path in paths:
        try:
            with open(path, "rb", buffering=0) as file:
                file.read(1)
        except OSError as error:
            raise UsageMistake(f"{path!r} cannot be read: {error.strerror}; leave it out of --each-file") from None


def _advice(pattern: str) -> str:
    """What to write instead of a glob that shells know and Python does not, or that forgets the files."""
    if os.path.isdir(pattern):
        return f", since it is a directory; write {os.path.join(pattern, '*')!r} for the files in it"
    if "{" in pattern:
        return "; braces mean nothing in it, so run once for each of them, or write * in their place"
    if pattern.startswith("~"):
        return f"; ~ means nothing in it, write {os.path.expanduser(pattern)!r}"
    if os.path.exists(pattern):
        return f"; to name the file itself write {glob.escape(pattern)!r}"
    return ""


def _check_count(options: Options, count: int, what: str, noun: str) -> None:
    if options.lanes is not None and options.lanes != count:
        raise UsageMistake(f"--lanes says {options.lanes:,} and {what} {count_of(count, noun)}; leave --lanes out")
    if count not in amounts.LANES:
        raise UsageMistake(f"{what} {count_of(count, noun)}, and there can be {amounts.LANES[-1]:,} lanes")


def _fixed_directory(pattern: str) -> str:
    """The part of a glob that names one directory, which holds all that it matches."""
    directory = os.path.dirname(pattern)
    while glob.has_magic(directory):
        directory = os.path.dirname(directory)
    return directory or "."


def _output_names(directory: str, paths: Sequence[str], pattern: str) -> list[str]:
    """Names for outputs after those of files, as they are below the directory of all."""
    names = [os.path.relpath(path, directory) for path in paths]
    if len(set(names)) < len(names) or any(name.startswith(os.pardir) for name in names):
        raise UsageMistake(
            f"--output-dir names outputs after files, and --each-file {pattern!r} leads to the same name twice or out "
            "of the directory; write the glob without .."
        )
    folders = {parent.as_posix() for name in names for parent in Path(name).parents}
    for name in names:
        if f"{name}.out" in folders or f"{name}.err" in folders:
            raise UsageMistake(
                f"--output-dir would write the output of {name!r} where the directory of another output is; "
                "run them one after the other"
            )
    return names


def _existing(host: str) -> Path:
    advice = "name one that the program may use"
    try:
        status = os.stat(host)
        if not stat.S_ISDIR(status.st_mode):
            raise UsageMistake(f"--dir {host}: that is no directory; {advice}")
        if not os.access(host, os.R_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except (FileNotFoundError, NotADirectoryError):
        hint = "write HOST::GUEST for another name in the program" if ":" in host else advice
        raise UsageMistake(f"--dir {host}: there is no such directory; {hint}") from None
    except OSError as error:
        raise UsageMistake(f"--dir {host}: it cannot be read: {error.strerror}; {advice}") from None
    return Path(host)


def _environment(options: Options) -> dict[str, str]:
    """Variables without a value are passed on where this process has them, as other runners do it."""
    found = {}
    for name, value in options.env:
        passed = os.environ.get(name) if value is None else value
        if passed is not None:
            found[name] = passed
    return found
