"""Where paths lead, compared with a model of a file system that is a few lines long."""

import errno
import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lanewise.host.paths import MOST_LINKS, Trail, walk

NAMES = [b"a", b"b", b"c"]
contents = st.lists(st.sampled_from([*NAMES, b".", b"..", b""]), min_size=1, max_size=6).map(b"/".join)
"""Paths, some of them absolute, with a slash at the end or two in the middle."""
links = contents.filter(bool)  # Linux has no empty links
trees = st.recursive(
    st.none() | links,  # a file, or a symbolic link
    lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)


def build(directory: Path, tree: dict[bytes, object]) -> None:
    for name, node in tree.items():
        path = directory / name.decode()
        if isinstance(node, dict):
            path.mkdir()
            build(path, node)
        elif node is None:
            path.write_bytes(b"")
        else:
            os.symlink(node, path)


def model(tree: dict[bytes, object], path: bytes, follow: bool) -> object:
    """The kind of what a path leads to, or an error number."""
    if not path:
        return errno.ENOENT
    if path.startswith(b"/"):
        return errno.EPERM
    way: list[dict[bytes, object]] = [tree]
    rest = (path + b"." if path.endswith(b"/") else path).split(b"/")
    followed = 0
    while rest:
        part, *rest = rest
        if part in (b"", b"."):
            continue
        if part == b"..":
            way.pop()
            if not way:
                return errno.EPERM
            continue
        if part not in way[-1]:
            return errno.ENOENT
        node = way[-1][part]
        if isinstance(node, dict):
            way.append(node)
        elif isinstance(node, bytes) and (rest or follow):
            followed += 1
            if followed > MOST_LINKS:
                return errno.ELOOP
            if node.startswith(b"/"):
                return errno.EPERM
            rest = [*(node + b"." if node.endswith(b"/") else node).split(b"/"), *rest]
        elif rest:
            return errno.ENOTDIR
        else:
            return "file" if node is None else "link"
    return "directory"


def walked(root: int, path: bytes, follow: bool) -> object:
    try:
        with walk(root, path, follow=follow) as place:
            mode = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False).st_mode
            trail = Trail(root)
            for name in place.way:  # the way that it tells leads there, too
                trail.enter(name)
            assert os.path.samestat(os.fstat(trail.here), os.fstat(place.directory))
            trail.close()
    except OSError as error:
        return error.errno
    return {0o100000: "file", 0o040000: "directory", 0o120000: "link"}[mode & 0o170000]


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), trees, max_size=3), st.lists(contents, min_size=1, max_size=12))
def test_paths_lead_where_the_model_says(tree, paths):
    with tempfile.TemporaryDirectory() as directory:
        build(Path(directory), tree)
        root = os.open(directory, os.O_RDONLY)
        try:
            for path in paths:
                for follow in (False, True):
                    assert walked(root, path, follow) == model(tree, path, follow), (path, follow)
        finally:
            os.close(root)
