"""Flags of what is open, as AArch64 and as the host have them."""

import os

_OF_HOST = {
    0o100: os.O_CREAT, 0o200: os.O_EXCL, 0o1000: os.O_TRUNC, 0o2000: os.O_APPEND, 0o40000: os.O_DIRECTORY,
    0o100000: os.O_NOFOLLOW, 0o10000000: os.O_PATH,
}  # fmt: skip
"""Others make no difference here."""
_ACCESS = 0o3


def host_flags(flags: int) -> int:
    """Those of AArch64 as the host calls them."""
    return flags & _ACCESS | sum(host for guest, host in _OF_HOST.items() if flags & guest)


def guest_flags(flags: int) -> int:
    """Those of the host as programs know them; what can be set while it is open is the same on both."""
    others = flags & ~sum(_OF_HOST.values())
    return others | sum(guest for guest, host in _OF_HOST.items() if flags & host)
