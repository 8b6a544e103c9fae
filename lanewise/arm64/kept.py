"""Compiled code that this process has at hand: from the cache on disk, or made, where there may be no cache at all."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from lanewise.compiler import bundle, default_cache, unbundle

_MOST = 12
"""Bundles that are kept, those that were used last: the interpreter, its entry, and translations of some programs."""

_lock = Lock()  # translations are made beside lanes that run
_bundles: OrderedDict[str, list[bytes]] = OrderedDict()


def kept(key: str) -> list[bytes] | None:
    """The pieces of what has this key, or None if they are to be made."""
    with _lock:
        found = _bundles.get(key)
        if found is not None:
            _bundles.move_to_end(key)
            return found
    stored = default_cache().get(key)
    if stored is None:
        return None
    return remember(key, unbundle(stored))


def keep(key: str, pieces: list[bytes]) -> list[bytes]:
    """Keep pieces that were made, on disk, too; gives them."""
    default_cache().put(key, bundle(pieces))
    return remember(key, pieces)


def remember(key: str, pieces: list[bytes]) -> list[bytes]:
    """Keep pieces in this process; gives them."""
    with _lock:
        _bundles[key] = pieces
        _bundles.move_to_end(key)
        while len(_bundles) > _MOST:
            _bundles.popitem(last=False)
    return pieces
