"""Handles, limits and lifetimes: what is opened is closed, what is wrong is told, and nothing raises."""

import errno
import os
import resource
import stat
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from worlds import ROOT, HostWorld, make_tree

import lanewise as lw
from lanewise.errors import ArgumentError
from lanewise.host.files import MOST_DATA, Filesystem, LaneFiles
from lanewise.host.reply import Reply, error_number
from lanewise.kernel import wasi_numbers as wasi

READ, WRITE = wasi.RIGHT_FD_READ, wasi.RIGHT_FD_WRITE


@pytest.fixture
def world(tmp_path):
    make_tree(tmp_path / "tree")
    world = HostWorld(tmp_path / "tree")
    yield world
    world.close()


def descriptors():
    """The open descriptors of this process, and what they are."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # of the one that lists them
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def test_directories_are_known_by_their_names(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    filesystem = Filesystem([(tmp_path / "one", "/1"), (tmp_path / "two", "zwölf")])
    assert filesystem.names == (b"/1", "zwölf".encode())
    lane = LaneFiles(filesystem)
    for number, name in enumerate(("one", "two")):
        reply = lane.request(wasi.REQUEST_OPEN, (number, 0, 0, 0, READ, 0), b"file", 0)
        assert lane.request(wasi.REQUEST_READ, (reply.values[0], 9), b"", 9).data == name.encode()
    assert lane.request(wasi.REQUEST_OPEN, (2, 0, 0, 0, READ, 0), b"file", 0) == Reply(wasi.EBADF)
    words = 0, 1, 4  # rename from the first to the second
    assert lane.request(wasi.REQUEST_RENAME, words, b"filemoved", 0).errno == 0
    assert (tmp_path / "two" / "moved").read_text() == "one"
    lane.close()
    filesystem.close()


@pytest.mark.parametrize(
    ("directories", "message"),
    [
        ([("missing", "/")], "there is no directory .*missing to give to lanes"),
        ([("file", "/")], "file is not a directory; only directories can be given to lanes"),
        ([("tree", "/a"), ("tree", "/b"), ("tree", "/a")], "two directories have the name '/a' for lanes; give one an"),
        ([("a\0b", "/")], "cannot be read: embedded null byte"),
        ([("tree", str(number)) for number in range(1025)], "lanes can have 64 directories at most, not 1025"),
    ],
    ids=["missing", "file", "twice", "nul", "many"],
)
def test_directories_that_cannot_be_given_are_told(tmp_path, directories, message):
    (tmp_path / "tree").mkdir()
    (tmp_path / "file").touch()
    before = descriptors()
    with pytest.raises(ArgumentError, match=message):
        Filesystem([(tmp_path / path, name) for path, name in directories])
    assert descriptors() == before
    assert issubclass(ArgumentError, lw.LanewiseError)


def test_a_directory_that_may_not_be_read_is_told(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)  # root may read everything, so the system is not asked
    with pytest.raises(ArgumentError, match=r"cannot be read: .*Permission denied"):
        Filesystem([(tmp_path, "/")])


def test_handles_begin_at_the_first_and_are_reused_only_when_closed(world):
    handles = [world.open(b"file")[1] for _ in range(3)]
    assert handles == [wasi.FIRST_HANDLE, wasi.FIRST_HANDLE + 1, wasi.FIRST_HANDLE + 2]
    assert world.close_file(handles[1]) == 0
    assert world.read(handles[1], 1)[0] == wasi.EBADF
    assert world.open(b"sub")[1] == handles[1]
    assert world.open(b"file")[1] == handles[2] + 1


def test_preopened_directories_outlive_a_wish_to_close_them(world):
    assert world.close_file(ROOT) == 0
    assert world.open(b"file")[0] == 0


def test_nothing_stays_open_whatever_was_asked(tmp_path):
    make_tree(tmp_path / "tree")
    before = descriptors()
    filesystem = Filesystem([(tmp_path / "tree", "/")], lambda data: 64)
    roots = descriptors()
    lanes = [LaneFiles(filesystem) for _ in range(3)]
    for lane in lanes:
        for path in (b"file", b"sub", b"missing", b"to_inner", b"loop", b"up", b"sub/inner/x", b"sub/../file", b"/"):
            for oflags in range(16):
                for rights in (READ, WRITE, READ | WRITE):
                    lane.request(wasi.REQUEST_OPEN, (0, 1, oflags, 0, rights, 0), path, 0)
        lane.request(wasi.REQUEST_READDIR, (0, 0, 999, 0), b"", 999)
        for handle in range(wasi.FIRST_HANDLE, wasi.FIRST_HANDLE + 5):
            lane.request(wasi.REQUEST_CLOSE, (handle,), b"", 0)
    opened = set(descriptors()) - set(before)
    assert len(opened) > 20
    assert not any(os.get_inheritable(descriptor) for descriptor in opened)
    for lane in lanes:
        lane.close()
        lane.close()
    assert descriptors() == roots
    filesystem.close()
    filesystem.close()
    assert descriptors() == before


def test_what_was_closed_answers_without_harm(world):
    _, fd = world.open(b"file")
    world.lane.close()
    assert world.read(fd, 1)[0] == wasi.EBADF
    world.filesystem.close()
    assert world.open(b"file")[0] == wasi.EBADF
    assert world.path_stat(b"file")[0] == wasi.EBADF
    world.filesystem.interrupt()


def test_no_more_descriptors_is_an_error_of_the_guest_that_passes(world):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(descriptors()) + 20, hard))
    try:
        handles = []
        error = wasi.SUCCESS
        while error == wasi.SUCCESS:
            error, handle = world.open(b"sub/inner")
            handles.append(handle)
        assert error == wasi.EMFILE
        assert world.path_stat(b"sub/inner")[0] in (wasi.SUCCESS, wasi.EMFILE)
        for handle in handles[:3]:
            world.close_file(handle)
        assert world.open(b"sub/inner")[0] == wasi.SUCCESS
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_huge_rooms_are_cut(world, tmp_path):
    (tmp_path / "tree" / "large").write_bytes(bytes(3 * MOST_DATA))
    _, fd = world.open(b"large")
    huge = (1 << 64) - 1
    for op in (wasi.REQUEST_READ, wasi.REQUEST_PREAD):
        assert len(world.lane.request(op, (fd, huge, 0), b"", huge).data) == MOST_DATA
        assert len(world.lane.request(op, (fd, huge, 0), b"", 100).data) == 100
        assert world.lane.request(op, (fd, huge, 0), b"", -1).data == b""
    assert world.tell(fd) == (0, MOST_DATA + 100)


def test_write_access_is_never_given_unasked(world):
    for oflags in (wasi.OFLAG_CREAT, wasi.OFLAG_TRUNC):
        _, fd = world.open(b"file", oflags=oflags)
        assert world.write(fd, b"x")[0] == wasi.EBADF
        assert world.rights(fd)[0] & WRITE == 0


def test_new_files_and_directories_obey_the_mask(world, tmp_path):
    before = os.umask(0o027)
    try:
        world.open(b"made", oflags=wasi.OFLAG_CREAT, rights=WRITE)
        world.create_directory(b"made_directory")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(tmp_path / "tree" / "made").st_mode) == 0o640
    assert stat.S_IMODE(os.stat(tmp_path / "tree" / "made_directory").st_mode) == 0o750


def test_lanes_that_append_to_one_file_lose_nothing(tmp_path):
    filesystem = Filesystem([(tmp_path, "/")])
    lanes = [LaneFiles(filesystem) for _ in range(10)]
    words = 0, 0, wasi.OFLAG_CREAT, wasi.FDFLAG_APPEND, WRITE, 0
    handles = [lane.request(wasi.REQUEST_OPEN, words, b"log", 0).values[0] for lane in lanes]
    for number in range(10):
        for lane, handle in zip(lanes, handles, strict=True):
            assert lane.request(wasi.REQUEST_WRITE, (handle,), f"{number}\n".encode(), 0).values == (2,)
    assert sorted((tmp_path / "log").read_text().split()) == sorted(f"{number}" for number in range(10) for _ in lanes)
    for lane in lanes:
        lane.close()
    filesystem.close()


def test_times_before_1970_and_odd_lengths_are_no_trouble(world, tmp_path):
    os.utime(tmp_path / "tree" / "file", ns=(-5, -5))
    assert world.path_stat(b"file")[1][40:56] == bytes(16)
    assert world.ask(wasi.REQUEST_RENAME, 0, 0, 99, data=b"short").errno == wasi.EINVAL
    assert world.ask(wasi.REQUEST_LINK, 0, 0, 0, (1 << 64) - 1, data=b"short").errno == wasi.EINVAL
    assert world.ask(wasi.REQUEST_SYMLINK, 0, 6, data=b"short").errno == wasi.EINVAL


def test_errors_without_a_word_in_wasi_are_errors_of_input_and_output():
    assert error_number(OSError(errno.ENOENT, "")) == wasi.ENOENT
    assert error_number(OSError(errno.EOPNOTSUPP, "")) == wasi.ENOTSUP
    assert error_number(OSError(errno.EUCLEAN, "")) == wasi.EIO
    assert error_number(OSError()) == wasi.EIO


words = st.one_of(
    st.integers(0, 8),
    st.integers(wasi.FIRST_HANDLE, wasi.FIRST_HANDLE + 4),
    st.integers(0, (1 << 64) - 1),
    st.sampled_from([(1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 32, wasi.STDIN_HANDLE]),
)
texts = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from([b"file", b"sub", b"..", b".", b"", b"up", b"to_sub", b"new"]), max_size=5).map(b"/".join),
)
asked = st.tuples(st.integers(0, 40), st.lists(words, max_size=8), texts, words)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(asked, min_size=1, max_size=30))
def test_no_request_raises(tmp_path, requests):
    make_tree(tmp_path / "tree")
    before = descriptors()
    world = HostWorld(tmp_path / "tree", lambda data: 64)
    for op, arguments, data, room in requests:
        if op == wasi.REQUEST_POLL:
            arguments = [0, *arguments]  # without waiting
        world.lane.may_block(op, arguments)
        reply = world.lane.request(op, arguments, data, room)
        assert 0 <= reply.errno <= wasi.ENOTCAPABLE
        assert len(reply.data) <= min(room, MOST_DATA) or len(reply.data) == wasi.FILESTAT_BYTES
        assert all(0 <= value < 1 << 64 for value in reply.values)
    world.close()
    assert descriptors() == before
