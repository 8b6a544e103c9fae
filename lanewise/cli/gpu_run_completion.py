"""Shells complete the options of `gpu-run`: Typer writes the scripts and answers them, from the table of options."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from lanewise.cli.gpu_run_options import TABLE, Option

_OF_TYPER = {"--help", "--install-completion", "--show-completion"}


def run_completion(words: list[str]) -> None:
    """Answer a shell, or install or show its script; ends the process."""

    def gpu_run(**values: Any) -> None:
        """Never called: only completions are asked for here."""

    parameters = [_parameter(option) for option in TABLE.values() if option.name not in _OF_TYPER]
    parameters += [
        _made("program", Annotated[str, typer.Argument()]),
        _made("arguments", Annotated[list[str] | None, typer.Argument()], None),
    ]
    gpu_run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    gpu_run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command(context_settings={"allow_interspersed_args": False})(gpu_run)
    app(words, prog_name="gpu-run")


def _parameter(option: Option) -> inspect.Parameter:
    if not option.value:
        return _made(option.field, Annotated[bool, typer.Option(option.name, help=option.about)], False)
    choices = list(option.choices)
    declared = typer.Option(option.name, help=option.about, autocompletion=(lambda: choices) if choices else None)
    if option.many:
        return _made(option.field, Annotated[list[str] | None, declared], None)
    return _made(option.field, Annotated[str | None, declared], None)


def _made(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
