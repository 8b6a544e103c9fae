"""Directories that a program is given by names such as `./data`, and the paths `./data/file` that it opens then."""

import os

import pytest
from test_escapes import OPERATIONS, SECRET, hostile_paths
from worlds import HostWorld, snapshot

from lanewise.host.files import Filesystem, LaneFiles
from lanewise.kernel import wasi_numbers as wasi

READ = wasi.RIGHT_FD_READ


@pytest.fixture
def tree(tmp_path):
    for name in ("data", "data/sub", "more"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_bytes(name.encode())
    (tmp_path / "f").write_bytes(SECRET)
    return tmp_path


def files_of(tree, *names):
    return Filesystem([(tree / os.path.normpath(name), name) for name in names])


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["./data"], [b"./data", b"."]),
        (["data", "././more/"], [b"data", b"././more/", b"."]),
        (["data"], [b"data"]),
        (["."], [b"."]),
        (["./"], [b"./"]),
        (["./data", "."], [b"./data", b"."]),
    ],
)
def test_a_directory_whose_name_begins_with_a_dot_comes_with_one_that_leads_to_it(tree, given, names):
    files = files_of(tree, *given)
    assert list(files.names) == names
    assert len(files.roots) == len(given)
    files.close()


def opened(lane, handle, path):
    """What a file holds, or the error number."""
    reply = lane.request(wasi.REQUEST_OPEN, [handle, 1, 0, 0, READ], path, 0)
    if reply.errno:
        return reply.errno
    return lane.request(wasi.REQUEST_PREAD, [reply.values[0], 99, 0], b"", 99).data


@pytest.mark.parametrize("given", [["./data", "more"], ["data", ".//more"], ["./data", "./data/sub", "./more"]])
def test_paths_lead_to_the_directories_that_were_given_and_nowhere_else(tree, given):
    files = files_of(tree, *given)
    lane = LaneFiles(files)
    last = len(given)
    for path in (b"./data/f", b"data/f", b"././/data//f", b"./data/sub/../f", b"./data/./f")[: 5 if last == 2 else 3]:
        assert opened(lane, last, path) == b"data", path
    assert opened(lane, last, b"./data/sub/f") == b"data/sub"
    assert opened(lane, last, b"./more/f") == b"more"
    for path in (b"./f", b"f", b".", b"./", b"./dat/f", b"./dataf", b"./x/../data/f", b"./data/f/g", b"../data/f", b""):
        assert isinstance(opened(lane, last, path), int), path
    assert opened(lane, last, b"./data/../f") == wasi.EPERM
    assert opened(lane, last, bytes(tree / "f")) == wasi.ENOENT
    for op in (wasi.REQUEST_READDIR, wasi.REQUEST_FILESTAT, wasi.REQUEST_SET_TIMES):
        assert lane.request(op, [last, 0, 4096, 0], b"", 4096).errno == wasi.EBADF
    lane.close()
    files.close()


@pytest.fixture
def world(tree):
    """A lane that was given `./data`; 1 is the handle of the directory that leads there."""
    world = HostWorld(tree)
    world.close()
    world.filesystem = Filesystem([(tree / "data", "./data")])
    world.lane = LaneFiles(world.filesystem)
    yield world
    world.close()


def test_all_that_is_done_by_name_is_done_there(world, tree):
    data = tree / "data"
    assert world.create_directory(b"./data/new", 1) == 0
    assert world.rename(b"./data/f", b"./data/new/g", 1, 1) == 0
    assert world.link(b"./data/new/g", b"./data/h", 0, 1, 1) == 0
    assert world.symlink(b"h", b"./data/s", 1) == 0
    assert world.readlink(b"./data/s", fd=1) == (0, b"h")
    assert world.path_stat(b"./data/s", 1, 1)[1] == world.path_stat(b"new/g", 0)[1]
    assert world.path_set_times(b"./data/h", 0, 0, 5 * 10**9, 4, 1) == 0
    assert (data / "new" / "g").stat().st_mtime == 5
    assert world.unlink(b"./data/new/g", 1) == 0
    assert world.remove_directory(b"./data/new", 1) == 0
    assert sorted(os.listdir(data)) == ["h", "s", "sub"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_hostile_paths_reach_nothing_outside_by_this_way_either(world, tree, operation):
    outside = tree / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET)
    (tree / "data" / "sub" / "deep").mkdir()
    beside, hostile = sorted(os.listdir(tree)), hostile_paths(tree / "data", outside)
    before = snapshot(outside)
    for path in hostile:
        for way in (b"./data/", b"data/", b"./", b""):
            result = OPERATIONS[operation](world, way + path, 1)
            if operation.startswith(("open", "create", "truncate")) and isinstance(result, tuple) and result[0] == 0:
                assert world.pread(result[1], 99, 0)[1] != SECRET, path
                world.close_file(result[1])
            assert snapshot(outside) == before, path
    assert sorted(os.listdir(tree)) == beside
