"""The host answers as wasmtime does, but where a table here says that it does not and why."""

import struct

import pytest
from worlds import ROOT, HostWorld, WasmtimeWorld, make_tree, snapshot

from lanewise.kernel import wasi_numbers as wasi

READ, WRITE = wasi.RIGHT_FD_READ, wasi.RIGHT_FD_WRITE
CREAT, DIRECTORY, EXCL, TRUNC = wasi.OFLAG_CREAT, wasi.OFLAG_DIRECTORY, wasi.OFLAG_EXCL, wasi.OFLAG_TRUNC

PATHS = [
    *(b"file", b"file/", b"file//", b"./file", b"file/.", b"file/..", b"file/x", b"sub", b"sub/", b"sub//", b"sub/."),
    *(b"sub/..", b"sub/../file", b"sub/inner", b"sub/inner/", b"empty", b"empty/", b"empty/.", b"empty/../../x"),
    *(b"", b".", b"./", b"..", b"../", b"../x", b"../tree/file", b"/", b"//", b"/x", b"/etc/passwd"),
    *(
        b"new",
        b"new/",
        b"new/x",
        b"new/..",
        b"sub/new",
        b"to_file",
        b"to_file/",
        b"to_sub",
        b"to_sub/",
        b"to_sub/inner",
    ),
    *(b"to_sub/../file", b"to_sub_slash", b"to_sub_slash/inner", b"to_file_slash", b"to_inner", b"dangling"),
    *(b"dangling/", b"loop", b"loop/", b"loop/x", b"absolute", b"absolute/", b"up", b"up/", b"up/tree/file", b"around"),
    *(b"a\0b", b"file\0", b"\xff\xfe", "ä".encode(), b"back\\slash", b"n" * 255, b"n" * 256, b"n/" * 3000),
    b"./" * 2040 + b"file",
]


def stats(world, path, lookup):
    error, found = world.path_stat(path, lookup)
    return error, found and _comparable(found)


def _comparable(filestat):
    """Kind, links, size and time of change: device and inode are other numbers in wasmtime, on purpose."""
    fields = struct.unpack("<QQB7xQQQQQ", filestat)
    return fields[2:5]


def opens(lookup, oflags, rights, fdflags=0):
    def act(world, path):
        error, fd = world.open(path, lookup, oflags, rights, fdflags)
        return error, None if error else world.kind(fd)

    return act


TIME = 1_000_000_000_123_456_789
ACTIONS = {
    "open": opens(0, 0, READ),
    "open, follow": opens(1, 0, READ),
    "open to write": opens(0, 0, READ | WRITE),
    "open to write, follow": opens(1, 0, WRITE),
    "open directory": opens(0, DIRECTORY, READ),
    "open directory, follow": opens(1, DIRECTORY, 0),
    "open directory to write": opens(1, DIRECTORY, READ | WRITE),
    "create": opens(0, CREAT, READ | WRITE),
    "create, follow": opens(1, CREAT, READ),
    "create exclusively": opens(0, CREAT | EXCL, WRITE),
    "create exclusively, follow": opens(1, CREAT | EXCL, WRITE),
    "exclusively alone": opens(1, EXCL, READ),
    "truncate": opens(0, TRUNC, WRITE),
    "truncate, follow": opens(1, TRUNC, READ),
    "create directory": opens(0, CREAT | DIRECTORY, READ),
    "truncate directory": opens(0, TRUNC | DIRECTORY, READ),
    "open synchronously": opens(0, 0, READ, wasi.FDFLAG_SYNC),
    "path_create_directory": lambda world, path: world.create_directory(path),
    "path_remove_directory": lambda world, path: world.remove_directory(path),
    "path_unlink_file": lambda world, path: world.unlink(path),
    "path_filestat_get": lambda world, path: stats(world, path, 0),
    "path_filestat_get, follow": lambda world, path: stats(world, path, 1),
    "path_filestat_set_times": lambda world, path: world.path_set_times(path, 0, TIME, TIME, 5),
    "path_filestat_set_times, follow": lambda world, path: world.path_set_times(path, 1, TIME, TIME, 5),
    "path_readlink": lambda world, path: world.readlink(path),
    "path_symlink at": lambda world, path: world.symlink(b"x", path),
    "path_symlink to": lambda world, path: world.symlink(path, b"made"),
    "path_link from": lambda world, path: world.link(path, b"made"),
    "path_link to": lambda world, path: world.link(b"file", path),
    "path_link, follow": lambda world, path: world.link(path, b"made", 1),
    "path_rename from": lambda world, path: world.rename(path, b"made"),
    "path_rename from, to directory": lambda world, path: world.rename(path, b"made/"),
    "path_rename file to": lambda world, path: world.rename(b"file", path),
    "path_rename directory to": lambda world, path: world.rename(b"sub", path),
}

REMOVES_WITH_SLASH = "rmdir of a directory with a slash behind it works, as WASI's own test suite wants"
DIFFERENT = {
    ("path_remove_directory", b"empty/"): (REMOVES_WITH_SLASH, wasi.SUCCESS, wasi.EINVAL),
    ("path_remove_directory", b"sub/"): (REMOVES_WITH_SLASH, wasi.ENOTEMPTY, wasi.EINVAL),
    ("path_remove_directory", b"sub//"): (REMOVES_WITH_SLASH, wasi.ENOTEMPTY, wasi.EINVAL),
    ("path_remove_directory", b"to_sub/"): (REMOVES_WITH_SLASH, wasi.ENOTDIR, wasi.EINVAL),
    ("path_remove_directory", b"dangling/"): (REMOVES_WITH_SLASH, wasi.ENOTDIR, wasi.ENOENT),
    ("path_remove_directory", b"loop/"): (REMOVES_WITH_SLASH, wasi.ENOTDIR, wasi.ELOOP),
    ("path_remove_directory", b"absolute/"): (REMOVES_WITH_SLASH, wasi.ENOTDIR, wasi.EPERM),
    ("path_remove_directory", b"up/"): (REMOVES_WITH_SLASH, wasi.ENOTDIR, wasi.EPERM),
}


def outcomes(world_type, directory, act, paths):
    """What each path gives, and how the tree is changed by it, on a tree that is as new for each."""
    make_tree(directory)
    fresh = snapshot(directory)
    found = {}
    for path in paths:
        world = world_type(directory)
        result = act(world, path)
        world.close()
        found[path] = result, {}
        if (result[0] if isinstance(result, tuple) else result) == 0:
            after = snapshot(directory)
            if after != fresh:
                found[path] = result, after
                make_tree(directory)
    assert snapshot(directory) == fresh, "what fails changes nothing"
    return found


@pytest.mark.parametrize("action", ACTIONS)
def test_paths_lead_to_what_wasmtime_finds(tmp_path, action):
    here, there = tmp_path / "host", tmp_path / "wasmtime"
    here.mkdir()
    there.mkdir()
    mine = outcomes(HostWorld, here / "tree", ACTIONS[action], PATHS)
    theirs = outcomes(WasmtimeWorld, there / "tree", ACTIONS[action], PATHS)
    for path in PATHS:
        if (action, path) in DIFFERENT:
            _, my_error, their_error = DIFFERENT[action, path]
            assert (mine[path][0], theirs[path][0]) == (my_error, their_error), path
        else:
            assert mine[path] == theirs[path], path


@pytest.fixture(params=[HostWorld, WasmtimeWorld], ids=["host", "wasmtime"])
def both(request, tmp_path):
    make_tree(tmp_path / "tree")
    world = request.param(tmp_path / "tree")
    yield world
    world.close()


def test_rights_follow_from_what_is_asked_for(both):
    for rights, expected in ((READ, 0x3FFFFFBF), (0, 0x3FFFFFBF), (WRITE, 0x3FFFBFFD), (READ | WRITE, 0x3FFFFFFF)):
        _, fd = both.open(b"file", rights=rights)
        assert both.rights(fd) == (expected, expected)
    _, fd = both.open(b"sub")
    assert both.rights(fd) == (0x3FB7FFBB, 0x3FB7FFBB)


def test_only_what_is_opened_for_it_is_read_and_written(both):
    _, reader = both.open(b"file")
    _, writer = both.open(b"file", rights=WRITE)
    _, directory = both.open(b"sub")
    assert both.read(reader, 3) == (0, b"hel")
    assert both.pread(reader, 3, 1) == (0, b"ell")
    assert both.write(writer, b"HE") == (0, 2)
    assert both.pwrite(writer, b"O", 4) == (0, 1)
    assert both.pread(reader, 9, 0) == (0, b"HEllO")
    for fd in (writer, directory, ROOT, 99):
        assert both.read(fd, 3)[0] == wasi.EBADF
        assert both.read(fd, 0)[0] == wasi.EBADF
        assert both.pread(fd, 3, 0)[0] == wasi.EBADF
    for fd in (reader, directory, ROOT, 99):
        assert both.write(fd, b"x")[0] == wasi.EBADF
        assert both.write(fd, b"")[0] == wasi.EBADF
        assert both.pwrite(fd, b"x", 0)[0] == wasi.EBADF


def test_positions_go_where_wasmtime_lets_them(both):
    _, fd = both.open(b"file", rights=READ | WRITE)
    top = (1 << 63) - 1
    assert both.seek(fd, 2, wasi.WHENCE_SET) == (0, 2)
    assert both.tell(fd) == (0, 2)
    assert both.seek(fd, -3, wasi.WHENCE_CUR)[0] == wasi.EINVAL
    assert both.seek(fd, -1, wasi.WHENCE_SET)[0] == wasi.EINVAL
    assert both.seek(fd, -1, wasi.WHENCE_END) == (0, 4)
    assert both.read(fd, 9) == (0, b"o")
    assert both.read(fd, 9) == (0, b"")
    assert both.seek(fd, 1000, wasi.WHENCE_END) == (0, 1005)
    assert both.read(fd, 9) == (0, b"")
    assert both.seek(fd, top, wasi.WHENCE_SET) == (0, top)
    assert both.seek(fd, 1, wasi.WHENCE_CUR) == (0, top + 1)
    assert both.read(fd, 1)[0] == wasi.EINVAL
    assert both.write(fd, b"x")[0] == wasi.EINVAL
    assert both.seek(fd, top, wasi.WHENCE_CUR) == (0, (1 << 64) - 1)
    assert both.seek(fd, 1, wasi.WHENCE_CUR)[0] == wasi.EINVAL
    assert both.pread(fd, 1, 1 << 63)[0] == wasi.EINVAL
    assert both.pread(fd, 1, 1 << 62) == (0, b"")
    assert both.pwrite(fd, b"x", (1 << 64) - 1)[0] == wasi.EINVAL
    assert both.pwrite(fd, b"x", 1 << 62)[0] == wasi.EFBIG
    _, directory = both.open(b"sub")
    for bad in (directory, ROOT, 99):
        assert both.seek(bad, 0, wasi.WHENCE_CUR)[0] == wasi.EBADF
        assert both.tell(bad)[0] == wasi.EBADF


def test_appending_ignores_positions(both, tmp_path):
    _, fd = both.open(b"file", rights=READ | WRITE, fdflags=wasi.FDFLAG_APPEND)
    assert both.write(fd, b"AB") == (0, 2)
    assert both.tell(fd) == (0, 7)
    assert both.pwrite(fd, b"C", 0) == (0, 1)
    assert both.tell(fd) == (0, 7)
    assert both.seek(fd, 0, wasi.WHENCE_SET) == (0, 0)
    assert both.write(fd, b"D") == (0, 1)
    assert both.tell(fd) == (0, 9)
    assert both.set_flags(fd, 0) == 0
    assert both.seek(fd, 0, wasi.WHENCE_SET) == (0, 0)
    assert both.write(fd, b"E") == (0, 1)
    assert both.tell(fd) == (0, 1)
    assert both.set_flags(fd, wasi.FDFLAG_APPEND | wasi.FDFLAG_NONBLOCK) == 0
    assert both.write(fd, b"F") == (0, 1)
    assert (tmp_path / "tree" / "file").read_bytes() == b"EelloABCDF"
    assert both.set_flags(fd, wasi.FDFLAG_SYNC) == wasi.EINVAL
    assert both.set_flags(ROOT, 0) == wasi.EBADF
    assert both.set_flags(99, 0) == wasi.EBADF


def test_the_file_itself_is_changed_as_in_wasmtime(both):
    _, fd = both.open(b"file", rights=READ | WRITE)
    _, reader = both.open(b"file")
    _, directory = both.open(b"sub")
    assert both.set_size(fd, 3) == 0
    assert both.pread(fd, 9, 0) == (0, b"hel")
    assert both.set_size(reader, 3) == wasi.EINVAL
    assert both.set_size(fd, 1 << 63) == wasi.EINVAL
    assert both.set_size(fd, 1 << 62) == wasi.EFBIG
    assert both.set_times(fd, TIME, TIME, 3) == wasi.EINVAL
    assert both.set_times(99, TIME, TIME, 12) == wasi.EINVAL
    assert both.set_times(reader, TIME, TIME + 1, 5) == 0
    assert struct.unpack("<QQ", both.stat(fd)[1][40:56]) == (TIME, TIME + 1)
    assert both.set_times(reader, 7, 9, 4) == 0
    assert struct.unpack("<QQ", both.stat(fd)[1][40:56]) == (TIME, 9)
    assert both.set_times(directory, TIME, TIME, 5) == 0
    assert both.set_times(99, TIME, TIME, 5) == wasi.EBADF
    for advice in range(6):
        assert both.advise(fd, 0, 10, advice) == 0
    assert both.advise(fd, 1 << 63, 0, 0) == 0
    assert both.advise(fd, 0, 1 << 63, 0) == wasi.EINVAL
    for file in (fd, reader):
        assert both.sync(file) == 0
        assert both.datasync(file) == 0
    for bad in (directory, ROOT, 99):
        assert both.sync(bad) == wasi.EBADF
        assert both.datasync(bad) == wasi.EBADF
        assert both.advise(bad, 0, 0, 0) == wasi.EBADF
        assert both.set_size(bad, 1) == wasi.EBADF


def test_what_is_no_directory_has_no_paths(both):
    _, fd = both.open(b"file", rights=READ | WRITE)
    assert both.open(b"x", fd=fd)[0] == wasi.ENOTDIR
    for bad in (fd, 99):
        assert both.path_stat(b"x", fd=bad)[0] == wasi.EBADF
        assert both.create_directory(b"x", bad) == wasi.EBADF
        assert both.remove_directory(b"x", bad) == wasi.EBADF
        assert both.unlink(b"x", bad) == wasi.EBADF
        assert both.readlink(b"x", fd=bad)[0] == wasi.EBADF
        assert both.symlink(b"x", b"x", bad) == wasi.EBADF
        assert both.link(b"file", b"x", new_fd=bad) == wasi.EBADF
        assert both.rename(b"x", b"file", old_fd=bad) == wasi.EBADF
        assert both.path_set_times(b"x", 0, 0, 0, 5, bad) == wasi.EBADF
        assert both.readdir(bad, 0, 99)[0] == wasi.EBADF
    assert both.close_file(99) == wasi.EBADF
    assert both.close_file(fd) == 0
    assert both.close_file(fd) == wasi.EBADF


def test_an_opened_directory_is_a_root_of_its_own(both):
    _, sub = both.open(b"sub")
    assert both.open(b"inner", fd=sub)[0] == 0
    assert both.open(b"../file", fd=sub)[0] == wasi.EPERM
    assert both.open(b"..", fd=sub)[0] == wasi.EPERM
    assert both.rename(b"inner", b"moved", old_fd=sub) == 0
    assert both.link(b"moved", b"back", new_fd=sub) == 0


def entries(listing):
    found = []
    while listing:
        cookie, _, length, kind = struct.unpack("<QQIB3x", listing[:24])
        found.append((cookie, listing[24 : 24 + length], kind))
        listing = listing[24 + length :]
    return found


def test_listings_are_the_same_from_every_cookie_and_in_every_room(tmp_path):
    make_tree(tmp_path / "tree")
    mine, theirs = HostWorld(tmp_path / "tree"), WasmtimeWorld(tmp_path / "tree")
    whole = entries(mine.readdir(ROOT, 0, 4096)[1])
    assert whole == entries(theirs.readdir(ROOT, 0, 4096)[1])
    assert [name for _, name, _ in whole[:2]] == [b".", b".."]
    assert [cookie for cookie, _, _ in whole] == list(range(1, len(whole) + 1))
    for cookie in (*range(len(whole) + 2), 1 << 32, 1 << 63, (1 << 64) - 1):
        assert entries(mine.readdir(ROOT, cookie, 4096)[1]) == entries(theirs.readdir(ROOT, cookie, 4096)[1])
    for room in range(100):
        assert len(mine.readdir(ROOT, 0, room)[1]) == len(theirs.readdir(ROOT, 0, room)[1]) == room
    mine.close()
    theirs.close()


def test_names_that_are_not_text_are_refused(both, tmp_path):
    (tmp_path / "tree" / b"bad\xff".decode(errors="surrogateescape")).write_bytes(b"")
    (tmp_path / "tree" / "bad_link").symlink_to(b"\xff".decode(errors="surrogateescape"))
    assert both.readdir(ROOT, 0, 4096)[0] == wasi.EILSEQ
    assert both.readlink(b"bad_link")[0] == wasi.EILSEQ


def test_a_removed_directory_is_empty(both):
    assert both.create_directory(b"gone") == 0
    _, fd = both.open(b"gone")
    assert both.remove_directory(b"gone") == 0
    error, listing = both.readdir(fd, 0, 4096)
    assert (error, [name for _, name, _ in entries(listing)]) == (0, [b".", b".."])
    assert both.open(b"x", oflags=CREAT, rights=WRITE, fd=fd)[0] == wasi.ENOENT
    assert both.create_directory(b"x", fd) == wasi.ENOENT
    assert both.path_stat(b".", fd=fd)[0] == 0
