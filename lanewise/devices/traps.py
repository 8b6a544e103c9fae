"""From the record that a trapping thread leaves behind to the error that the user sees."""

from __future__ import annotations

from lanewise.devices.cpu_scheduler import DEADLOCK_SITE
from lanewise.errors import TrapError
from lanewise.lang.diagnostics import short_path
from lanewise.lang.program import Module


def trap_error(module: Module, count: int, first: int) -> TrapError:
    """The error for a launch in which `count` threads trapped; `first` holds thread and site of the lowest."""
    thread, number = first >> 32, first & 0xFFFFFFFF
    if number == DEADLOCK_SITE:
        message = (
            f"kernel {module.name}: the group of thread {thread} hangs: some of its threads wait at a barrier and "
            "others at a warp operation; let all threads of the group come to the same ones"
        )
        return TrapError(message, kernel=module.name, thread=thread, threads=count, filename="", line=0)
    site = module.sites[number]
    others = f" (and {count - 1:,} other threads stopped too)" if count > 1 else ""
    message = (
        f"{short_path(site.filename)}:{site.line}: {site.message}, in thread {thread} of kernel {module.name}{others}"
    )
    return TrapError(message, kernel=module.name, thread=thread, threads=count, filename=site.filename, line=site.line)
