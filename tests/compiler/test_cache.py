"""The cache on disk: what it keeps, what it refuses to trust, and that it never breaks a compile."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewise.compiler import Cache, cache, default_cache

MIB = 1 << 20
KEY = Cache.key_of("an entry")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "code"


@pytest.fixture
def store(directory: Path) -> Cache:
    return Cache(directory, MIB)


def entry(directory: Path) -> Path:
    (path,) = directory.iterdir()
    return path


def test_what_was_put_is_got_by_another_process_object(store: Cache, directory: Path) -> None:
    assert store.get(KEY) is None
    store.put(KEY, b"code")
    assert Cache(directory, MIB).get(KEY) == b"code"
    store.put(KEY, b"")
    assert store.get(KEY) == b""


def test_getting_from_a_cache_that_is_not_there_makes_no_directory(store: Cache, directory: Path) -> None:
    assert store.get(KEY) is None
    assert not directory.exists()


@given(st.lists(st.binary()), st.lists(st.binary()))
def test_keys_tell_apart_where_one_part_ends(a: list[bytes], b: list[bytes]) -> None:
    assert (Cache.key_of(*a) == Cache.key_of(*b)) == (a == b)


@given(st.binary(max_size=40), st.data())
def test_any_flipped_bit_or_cut_is_noticed(payload: bytes, data: st.DataObject) -> None:
    stored = cache._pack(KEY, payload)
    assert cache._unpack(KEY, stored) == payload
    assert cache._unpack(Cache.key_of("another"), stored) is None
    bit = data.draw(st.integers(0, len(stored) * 8 - 1))
    flipped = bytearray(stored)
    flipped[bit // 8] ^= 1 << bit % 8
    assert cache._unpack(KEY, bytes(flipped)) is None
    assert cache._unpack(KEY, stored[: data.draw(st.integers(0, len(stored) - 1))]) is None
    assert cache._unpack(KEY, stored + b"x") is None


def test_a_damaged_entry_is_removed_and_built_anew(store: Cache, directory: Path) -> None:
    store.put(KEY, b"code")
    os.truncate(entry(directory), 20)
    assert store.get(KEY) is None
    assert list(directory.iterdir()) == []
    store.put(KEY, b"code")
    assert store.get(KEY) == b"code"


def test_directory_and_entries_are_the_users_alone(store: Cache, directory: Path) -> None:
    before = os.umask(0)
    try:
        store.put(KEY, b"code")
    finally:
        os.umask(before)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(directory).stat().st_mode) == 0o600


def test_an_entry_that_others_may_write_is_not_trusted(store: Cache, directory: Path) -> None:
    store.put(KEY, b"code")
    entry(directory).chmod(0o620)
    assert store.get(KEY) is None
    entry(directory).chmod(0o602)
    assert store.get(KEY) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_another_user_owns_is_not_trusted(store: Cache, directory: Path) -> None:
    store.put(KEY, b"code")
    os.chown(entry(directory), 12345, 12345)
    assert store.get(KEY) is None
    os.chown(directory, 12345, 12345)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        store.put(KEY, b"code")


def test_what_another_user_owns_is_not_trusted_by_any_user(
    store: Cache, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(KEY, b"code")
    someone_else = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: someone_else)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert store.get(KEY) is None


def test_a_linked_entry_is_not_trusted(store: Cache, directory: Path, tmp_path: Path) -> None:
    store.put(KEY, b"code")
    elsewhere = tmp_path / "elsewhere"
    path = entry(directory)
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert store.get(KEY) is None
    store.put(KEY, b"new")
    assert store.get(KEY) == b"new"
    assert not entry(directory).is_symlink()


def test_an_entry_that_is_no_file_is_no_entry(store: Cache, directory: Path) -> None:
    store.put("other", b"code")
    os.mkfifo(directory / f"{KEY}.code")
    assert store.get(KEY) is None


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_directory_that_others_may_write_warns_once_and_is_not_used(directory: Path, mode: int) -> None:
    directory.mkdir()
    directory.chmod(mode)
    store = Cache(directory, MIB)
    with pytest.warns(RuntimeWarning, match="can be written by others; Lanewise goes on without it"):
        store.put(KEY, b"code")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.put(KEY, b"code")
        assert store.get(KEY) is None
    assert list(directory.iterdir()) == []


def test_a_linked_directory_is_not_used(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    directory.symlink_to(tmp_path / "real")
    with pytest.warns(RuntimeWarning, match="is not a directory"):
        Cache(directory, MIB).put(KEY, b"code")


def test_a_file_in_the_place_of_the_directory_warns(directory: Path) -> None:
    directory.write_text("")
    with pytest.warns(RuntimeWarning, match="is not a directory"):
        assert Cache(directory, MIB).get(KEY) is None
    with pytest.warns(RuntimeWarning, match="cannot be opened"):
        Cache(directory / "below", MIB).put(KEY, b"code")


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_or_read_only_disk_warns_and_goes_on(
    store: Cache, directory: Path, error: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(KEY, b"code")

    def refuse(*_: object) -> int:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(cache, "_private", refuse)
    monkeypatch.setattr(os, "utime", refuse)
    with pytest.warns(RuntimeWarning, match=os.strerror(error)):
        store.put("other", b"code")
    assert store.get("other") is None
    assert store.get(KEY) == b"code"
    assert len(list(directory.iterdir())) == 1


def test_a_disk_that_fills_while_writing_leaves_nothing_behind(
    store: Cache, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        store.put(KEY, b"code")
    assert list(directory.iterdir()) == []


def test_what_was_used_longest_ago_goes_first(directory: Path) -> None:
    store = Cache(directory, 10_000)
    for number in range(9):
        store.put(f"key{number}", bytes(1000))
        os.utime(directory / f"key{number}.code", (number, number))
    assert store.get("key0") == bytes(1000)  # used now, so no longer the oldest
    store.put("key9", bytes(1000))
    assert sum(path.stat().st_size for path in directory.iterdir()) <= 10_000
    assert store.get("key0") is not None
    assert store.get("key9") is not None
    assert store.get("key1") is None


def test_an_entry_over_the_limit_is_not_kept(directory: Path) -> None:
    store = Cache(directory, 1000)
    store.put(KEY, bytes(1000))
    assert store.get(KEY) is None


def test_a_limit_of_0_turns_the_cache_off(directory: Path) -> None:
    store = Cache(directory, 0)
    store.put(KEY, b"")
    assert store.get(KEY) is None
    assert not directory.exists()


def test_what_crashed_processes_left_half_written_is_removed(store: Cache, directory: Path) -> None:
    directory.mkdir(mode=0o700)
    old, new = directory / ".unfinished-old", directory / ".unfinished-new"
    for path in (old, new):
        path.write_bytes(b"half")
    yesterday = time.time() - 86400
    os.utime(old, (yesterday, yesterday))
    store.put(KEY, b"code")
    assert not old.exists()
    assert new.exists()


def test_processes_that_write_read_and_evict_at_once_never_see_a_wrong_entry(
    directory: Path, start_python: Callable[[str], subprocess.Popen[str]]
) -> None:
    script = f"""
import random, warnings
from lanewise.compiler import Cache
warnings.simplefilter("error")
store = Cache({str(directory)!r}, 20_000)
for step in range(600):
    number = random.randrange(40)
    if random.random() < 0.5:
        store.put(f"key{{number}}", bytes([number]) * 1000)
    else:
        assert store.get(f"key{{number}}") in (None, bytes([number]) * 1000)
"""
    for process in [start_python(script) for _ in range(4)]:
        _, complaint = process.communicate(timeout=60)
        assert process.returncode == 0, complaint
    assert not list(directory.glob(".unfinished-*"))


def test_the_default_cache_follows_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path / "a"))
    monkeypatch.setenv("LANEWISE_CACHE_SIZE", "3K")
    first = default_cache()
    assert (first.directory, first.limit) == (tmp_path / "a" / "code", 3072)
    assert default_cache() is first
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path / "b"))
    assert default_cache().directory == tmp_path / "b" / "code"
