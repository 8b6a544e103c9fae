"""Shared by all tests: a cache of their own, and a `device` fixture that runs a test on every device present."""

import os
import signal
import tempfile

import pytest

import lanewise as lw

_cache = tempfile.TemporaryDirectory(prefix="lanewise-test-cache-", ignore_cleanup_errors=True)
os.environ["LANEWISE_CACHE_DIR"] = _cache.name
os.environ.setdefault("LANEWISE_KEPT_MEMORY", "1G")  # others test on the same GPU at the same time

# A shell has what it starts in the background ignore Ctrl-C, and nohup the end of a terminal: tests of these would wait
# for ever, or fail.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", params=["cpu", "cuda"])
def device(request):
    """Each device in turn; one that is absent is skipped with the reason it gives."""
    try:
        return lw.device(request.param)
    except lw.NoDeviceError as absent:
        pytest.skip(str(absent))
