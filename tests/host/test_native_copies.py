"""Files that native code opens: the same copies that Python makes, and whatever is out of the ordinary is Python's."""

import ctypes
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from lanewise.host import native_copies
from lanewise.host.files import Filesystem, LaneFiles
from lanewise.host.filestat import encode_filestat, rights_of
from lanewise.host.native_copies import NativeCopies
from lanewise.kernel import wasi_numbers as wasi
from lanewise.kernel.host_copies import LARGEST, NATIVE_HANDLE
from lanewise.kernel.lane_io import Request
from lanewise.kernel.system_numbers import OPENAT2_WORKS, SETTLED_NS

pytestmark = pytest.mark.skipif(not OPENAT2_WORKS, reason="native code opens files on Linux alone")

READ, WRITE = wasi.RIGHT_FD_READ, wasi.RIGHT_FD_WRITE
ASKED_PYTHON = 77
LANES = 4


class Host:
    """The native code over a directory, with a Python function that says that it was asked."""

    def __init__(self, folder):
        self.files = Filesystem([(folder, "/"), (folder / "sub", "sub")])
        self.copies = self.files.native = NativeCopies()
        self.asked = []
        self._function = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)(self._python)
        self._answer = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)(self.copies.answer)
        self.begin()

    def begin(self):
        address = ctypes.cast(self._function, ctypes.c_void_p).value
        self.copies.begin_wave(self.files.roots, LANES, address)

    def _python(self, _, request):
        self.asked.append(request)
        return ASKED_PYTHON

    def open(self, path, *, root=0, lane=0, oflags=0, fdflags=0, rights=READ, op=wasi.REQUEST_OPEN):
        """The words of the answer, or None if Python was asked."""
        room = ctypes.create_string_buffer(Request.size + 65536)
        request = np.frombuffer(room, Request.dtype, 1)[0]
        request["lane"], request["op"], request["sent"] = lane, op, len(path)
        request["arguments"] = (root, wasi.LOOKUP_SYMLINK_FOLLOW, oflags, fdflags, rights, 0)
        request["error"], request["received"] = 99, 99
        ctypes.memmove(ctypes.addressof(room) + Request.size, path, len(path))
        status = self._answer(self.copies.table, ctypes.addressof(room))
        if status == ASKED_PYTHON:
            assert (request["error"], request["received"]) == (99, 99)
            return None
        assert (status, request["error"], request["received"]) == (0, 0, 0)
        return [int(word) for word in request["values"]]


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "sub" / "deep" / "file").write_bytes(b"deep content")
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "...").write_bytes(b"a name of dots")
    (tmp_path / ".hidden").write_bytes(b"hidden")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "largest").write_bytes(bytes(range(256)) * (LARGEST // 256))
    (tmp_path / "larger").write_bytes(bytes(LARGEST + 1))
    (tmp_path / "é").write_bytes(b"not ASCII")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "way").symlink_to("sub")
    os.mkfifo(tmp_path / "pipe")
    settle()
    return tmp_path


def settle():
    time.sleep(SETTLED_NS / 1e9 + 0.02)


@pytest.fixture
def host(tree):
    host = Host(tree)
    yield host
    host.files.close()


def content(words, path):
    """What a lane finds at the address of a copy, as far as the file is long."""
    return ctypes.string_at(words[4], wasi.FILESTAT_BYTES + path.stat().st_size)


@pytest.mark.parametrize("name", ["file", "sub/deep/file", "...", ".hidden", "empty", "largest"])
def test_a_copy_is_a_filestat_and_the_content(host, tree, name):
    path = tree / name
    words = host.open(name.encode())
    rights = rights_of(wasi.REGULAR_FILE, readable=True, writable=False)
    assert words[1:4] == [wasi.REGULAR_FILE, rights, rights]
    assert words[5] == 0
    assert words[0] >= NATIVE_HANDLE
    found = content(words, path)
    assert found[wasi.FILESTAT_BYTES :] == path.read_bytes()
    accessed = slice(40, 48)  # reading it may have changed that
    wanted = bytearray(encode_filestat(path.stat()))
    wanted[accessed] = found[accessed]
    assert found[: wasi.FILESTAT_BYTES] == wanted


def test_paths_begin_at_the_directory_that_is_named(host, tree):
    words = host.open(b"deep/file", root=1)
    assert content(words, tree / "sub/deep/file").endswith(b"deep content")


@pytest.mark.parametrize(
    "path",
    [
        b"", b".", b"..", b"/file", b"/etc/passwd", b"./file", b"sub/../file", b"../file", b"sub//deep/file", b"file/",
        b"sub/.", b"missing", b"sub", b"sub/deep", b"link", b"way/deep/file", b"pipe", b"larger", "é".encode(),
        b"file\0", b"fi\0le", b"file/x", b"x" * 5000, b"a/" * 2047 + b"b",
    ],
)  # fmt: skip
def test_what_is_out_of_the_ordinary_is_left_to_python(host, path):
    before = len(os.listdir("/proc/self/fd"))
    assert host.open(path) is None
    assert len(host.asked) == 1
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    "how",
    [
        {"oflags": wasi.OFLAG_CREAT}, {"oflags": wasi.OFLAG_DIRECTORY}, {"fdflags": wasi.FDFLAG_APPEND},
        {"rights": READ | WRITE}, {"root": 2}, {"root": 1 << 40}, {"op": wasi.REQUEST_PATH_FILESTAT},
    ],
)  # fmt: skip
def test_other_requests_are_left_to_python(host, how):
    assert host.open(b"file", **how) is None


def test_a_file_that_changed_just_now_is_left_to_python(host, tree):
    (tree / "new").write_bytes(b"new")
    assert host.open(b"new") is None
    settle()
    assert host.open(b"new") is not None


def test_all_lanes_have_one_copy(host):
    addresses = {host.open(b"file", lane=lane)[4] for lane in range(LANES)}
    assert len(addresses) == 1


def test_a_file_that_has_changed_is_copied_anew(host, tree):
    before = host.open(b"file")
    (tree / "file").write_bytes(b"CONTENT")
    settle()
    after = host.open(b"file")
    assert content(after, tree / "file").endswith(b"CONTENT")
    assert content(before, tree / "file").endswith(b"content")


def test_a_lane_that_can_write_gets_no_copies_and_others_do(host):
    host.copies.note_writer(2)
    assert host.open(b"file", lane=2) is None
    assert host.open(b"file", lane=1) is not None
    host.begin()
    assert host.open(b"file", lane=2) is not None


def test_python_knows_which_file_a_copy_is_of(host, tree):
    handle = host.open(b"sub/deep/file")[0]
    lane = LaneFiles(host.files)
    reopened = lane.request(wasi.REQUEST_REOPEN, [handle, 5], b"", 0)
    assert reopened.errno == 0
    assert lane.request(wasi.REQUEST_READ, [reopened.values[0], 100], b"", 100).data == b"content"
    assert lane.request(wasi.REQUEST_CLOSE, [handle], b"", 0).errno == 0
    assert lane.request(wasi.REQUEST_OPEN, [handle, 0, 0, 0, READ], b"x", 0).errno == wasi.ENOTDIR
    lane.close()


def test_the_original_of_a_copy_is_not_another_file_of_its_name(host, tree):
    handle = host.open(b"file")[0]
    (tree / "kept").hardlink_to(tree / "file")
    (tree / "file").unlink()
    (tree / "file").write_bytes(b"another")
    assert LaneFiles(host.files).request(wasi.REQUEST_REOPEN, [handle, 0], b"", 0).errno == wasi.EIO


def test_each_name_of_a_file_is_known_by_itself(host, tree):
    (tree / "one").write_bytes(b"content")
    (tree / "other").hardlink_to(tree / "one")
    settle()
    host.open(b"one")
    handle = host.open(b"other")[0]
    (tree / "one").unlink()
    assert LaneFiles(host.files).request(wasi.REQUEST_REOPEN, [handle, 0], b"", 0).errno == 0


def test_a_directory_that_was_renamed_is_known_by_its_new_name(host, tree):
    host.open(b"sub/deep/file")
    (tree / "sub").rename(tree / "new")
    handle = host.open(b"new/deep/file")[0]
    assert LaneFiles(host.files).request(wasi.REQUEST_REOPEN, [handle, 0], b"", 0).errno == 0


@pytest.mark.parametrize("handle", [NATIVE_HANDLE - 1, NATIVE_HANDLE, NATIVE_HANDLE + 1_000_000, 1 << 40, 1 << 63])
def test_handles_that_nobody_gave_name_nothing(host, handle):
    host.open(b"file")
    assert LaneFiles(host.files).request(wasi.REQUEST_REOPEN, [handle, 0], b"", 0).errno == wasi.EBADF


@pytest.mark.parametrize(("seconds", "shown"), [(-5, 0), (32_503_680_000, 2**64 - 1)])
def test_times_that_wasi_does_not_have_are_the_nearest_that_it_has(seconds, shown):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:  # which keeps such times
        path = Path(folder) / "file"
        path.write_bytes(b"content")
        (Path(folder) / "sub").mkdir()
        os.utime(path, ns=(seconds * 10**9, seconds * 10**9))
        settle()
        host = Host(Path(folder))
        found = content(host.open(b"file"), path)
        host.files.close()
        assert found[: wasi.FILESTAT_BYTES] == encode_filestat(path.stat())
        assert int.from_bytes(found[48:56], "little") == shown


def test_a_run_that_is_to_end_asks_python(host):
    host.copies.stop()
    assert host.open(b"file") is None
    host.begin()
    assert host.open(b"file") is not None


def test_a_lane_that_opens_a_file_to_write_must_let_go_of_its_copies(host):
    host.open(b"file", lane=1)
    for number, wanted in ((1, 1), (3, 0)):
        lane = LaneFiles(host.files, number)
        assert lane.request(wasi.REQUEST_OPEN, [0, 0, 0, 0, READ | WRITE], b"file", 0).values[5] == wanted
        assert host.open(b"file", lane=number) is None
        lane.close()


def test_a_full_room_is_left_to_python_until_it_is_made_anew(tree, monkeypatch):
    monkeypatch.setattr(native_copies, "_ROOM", 250)
    host = Host(tree)
    assert host.open(b"file") is not None
    assert host.open(b"sub/deep/file") is not None
    assert host.open(b"empty") is None
    assert host.open(b"file") is not None  # it is there
    host.copies.forget_many()
    assert host.open(b"empty") is not None
    host.files.close()


def test_more_files_than_entries_have_copies_all_the_same(tree, monkeypatch):
    monkeypatch.setattr(native_copies, "_ENTRIES", 16)
    for number in range(60):
        (tree / f"n{number}").write_bytes(b"%d" % number)
    settle()
    host = Host(tree)
    for _ in range(2):
        for number in range(60):
            words = host.open(b"n%d" % number)
            assert content(words, tree / f"n{number}")[wasi.FILESTAT_BYTES :] == b"%d" % number
    host.files.close()


def test_threads_that_open_the_same_files_find_whole_copies(host, tree):
    for number in range(40):
        (tree / f"t{number}").write_bytes(b"%d " % number * 500)
    settle()
    wrong = []

    def work(lane):
        for turn in range(200):
            number = turn % 40
            words = host.open(b"t%d" % number, lane=lane)
            if content(words, tree / f"t{number}")[wasi.FILESTAT_BYTES :] != b"%d " % number * 500:
                wrong.append((lane, number))

    threads = [threading.Thread(target=work, args=(lane,)) for lane in range(LANES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_directory_that_is_swapped_for_a_link_never_leads_out(host, tree, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "file").write_bytes(b"secret")
    (tree / "swap").mkdir()
    (tree / "swap" / "file").write_bytes(b"inside")
    settle()
    over = threading.Event()

    def swap():
        while not over.is_set():
            (tree / "swap").rename(tree / "aside")
            (tree / "swap").symlink_to(outside)
            (tree / "swap").unlink()
            (tree / "aside").rename(tree / "swap")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(2000):
            words = host.open(b"swap/file")
            assert words is None or content(words, outside / "file")[wasi.FILESTAT_BYTES :] == b"inside"
    finally:
        over.set()
        thread.join()
        shutil.rmtree(outside)
