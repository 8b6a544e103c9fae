"""Where the commands begin: outside of the package, whose import alone takes longer than some take to press Ctrl-C.

Until a command can answer that, it ends the process as it ends any other: without a word, as status 130 to a shell.
"""

import _signal as signal  # type: ignore[import-not-found]  # beneath Python's own, which takes ten milliseconds
import sys

_INTERRUPTED = 128 + signal.SIGINT


def gpu_run() -> None:
    """Run the command `gpu-run`."""
    _run("lanewise.cli.gpu_run")


def lanewise() -> None:
    """Run the command `lanewise`."""
    _run("lanewise.cli.main")


def _run(module: str) -> None:
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else who starts us has it ignored
    if heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    import importlib

    command = importlib.import_module(module)
    try:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command.main()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
