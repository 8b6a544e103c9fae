"""What `gpu-run --help` says: first how it is used, then every option."""

from __future__ import annotations

import shutil
import textwrap

from lanewise.cli.gpu_run_options import GROUPS

EXAMPLES = (
    ("gpu-run app.wasm", "one lane, like any WASM runner"),
    ("gpu-run --lanes 10240 app.wasm --seed {lane}", "the same program, 10,240 times"),
    ("gpu-run --each-line inputs.txt app.wasm", "one lane per line, on its standard input"),
    ("gpu-run --each-file 'data/*.json' app.wasm {}", "one lane per file"),
    ("gpu-run --dir data::/in --env LANG app.wasm /in/a.csv", "a directory and a variable for the program"),
    ("gpu-run --lanes 1000 hello.elf {lane}", "a static AArch64 program of Linux, 1,000 times"),
    ("gpu-run --lanes 1000 --json --timeout 30s app.wasm {lane}", "JSON Lines, and an end after 30 s"),
)
_NARROWEST, _WIDEST = 60, 110


def help_text() -> str:
    """All of it, as wide as the terminal."""
    width = max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST))
    about = (
        "Run a program on one lane or on many: WebAssembly (WASI), on a GPU if there is one, else on all CPU cores; "
        "or a static AArch64 program of Linux."
    )
    lines = ["Usage: gpu-run [OPTIONS] PROGRAM [ARGS]...", "", *textwrap.wrap(about, width), "", "Examples:"]
    column = max(len(command) for command, _ in EXAMPLES)
    for command, meaning in EXAMPLES:
        lines += [f"  {command:<{column}}  # {meaning}"] if column + 50 < width else [f"  {command}"]
    for title, options in GROUPS.items():
        lines += ["", f"{title}:"]
        for option in options:
            left = f"  {option.name} {option.value}".rstrip()
            lines += textwrap.wrap(
                option.about,
                width,
                initial_indent=f"{left:<26}  ",
                subsequent_indent=" " * 28,
                break_on_hyphens=False,
            )
    status = (
        "Exit status: that of the program, 134 if it trapped, 128 + n if signal n ended it; of a batch 0 if every lane "
        "had 0, else 1. 2 if the command was wrong, 3 if the run could not be finished, 124 after --timeout, "
        "130 after Ctrl-C."
    )
    return "\n".join([*lines, "", *textwrap.wrap(status, width)])
