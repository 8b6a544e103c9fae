"""The command `lanewise`: its subcommands, and how mistakes end it: one sentence, never a traceback."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from lanewise.cli.bench import bench
from lanewise.cli.desktop import desktop
from lanewise.cli.info import info
from lanewise.cli.mistakes import UsageMistake
from lanewise.errors import LanewiseError
from lanewise.version import __version__


def _print_version(asked: bool) -> None:
    if asked:
        print(f"lanewise {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="lanewise",
    help="Whole programs and typed Python kernels on thousands of GPU threads, or on every core of a CPU.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def lanewise(
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True)] = False,
) -> None:
    """Whole programs and typed Python kernels on thousands of GPU threads, or on every core of a CPU."""


app.command()(info)
app.command()(bench)
app.command()(desktop)


def main() -> None:
    """Run the command line of this process; exits with 2 where the command was wrong and 1 where its work failed."""
    try:
        app(prog_name="lanewise")
    except UsageMistake as mistake:
        _fail(mistake, 2)
    except (LanewiseError, OSError) as error:
        _fail(error, 1)


def _fail(error: Exception, status: int) -> None:
    print(f"lanewise: {error}", file=sys.stderr)
    sys.exit(status)
