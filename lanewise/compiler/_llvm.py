"""The one door to LLVM: llvmlite is imported and initialised when it is first needed, not by importing lanewise."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

_JOIN_SECONDS = 0.2

lock = threading.RLock()
"""Held around every use of a shared target machine or of the JIT; llvmlite's own lock covers single calls only."""


T = TypeVar("T")


def undisturbed(work: Callable[[], T]) -> T:
    """Do something with LLVM where Ctrl-C cannot break into it: llvmlite's objects do not survive an exception midway.

    Python raises KeyboardInterrupt on the main thread only. So work that the main thread asks for is done by another;
    an interrupt then ends the wait, and the work itself comes to its end unseen.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, name="lanewise-llvm")
    thread.start()
    while thread.is_alive():
        thread.join(_JOIN_SECONDS)  # in steps: a signal that lands on another thread does not wake this one
    if failure:
        raise failure[0]
    return outcome[0]


@functools.cache
def binding() -> Any:
    """Return `llvmlite.binding` with all targets and printers ready; llvmlite has no types, hence Any."""
    with lock:
        import llvmlite.binding as llvm  # type: ignore[import-untyped]

        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        llvm.initialize_native_asmparser()  # inline assembly of the host is parsed when an object is made
        return llvm


def run_passes(module: Any, machine: Any, level: int, names: Sequence[str]) -> None:
    """Run some of LLVM's passes on a module, in order, by the names that llvmlite has for them."""
    llvm = binding()
    with (
        llvm.create_pipeline_tuning_options(speed_level=level) as options,
        llvm.create_pass_builder(machine, options) as builder,
        llvm.create_new_module_pass_manager() as passes,
    ):
        for name in names:
            getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)


@functools.cache
def version() -> str:
    """Name the LLVM that compiles, for cache keys: two llvmlite builds may carry different patches."""
    import llvmlite

    return f"llvm {'.'.join(map(str, binding().llvm_version_info))}, llvmlite {llvmlite.__version__}"
