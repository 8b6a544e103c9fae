"""Numbers of Linux that neither Python nor lang has a name for."""

import os
import platform
import sys

OPENAT2_WORKS = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
OPENAT2 = 437
STATX = 291 if platform.machine() == "aarch64" else 332
READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
"""How a file is opened to be read: a pipe without anybody at its other end must not hold up others, and no file may
become our terminal."""
BENEATH = 0x08 | 0x04 | 0x02
"""For openat2: never out of the directory, over no link at all."""
LONGEST_PATH = 4095
"""Bytes, without the 0 that ends it."""
SETTLED_NS = 20_000_000
"""What was changed less than this ago may change again without its times telling: they move in steps of 10 ms."""
