"""Each function of WASI with odd arguments: on lanes it gives the error number that it gives under wasmtime, or a trap
where wasmtime has one. Where Lanewise does otherwise, it does so on purpose: see DIFFERENCES."""

import fnmatch
import itertools
import struct
import time
from collections.abc import Iterator, Sequence

import kernel_calls
import pytest
from engine_runs import WASI
from kernel_calls import MEMORY, PATH_AT, PATHS, Call, make_folder

STDIN, STDOUT, PREOPENED, HERE, COPY, FILE, FOLDER, WRITING, CLOSED = 0, 1, 3, 4, 5, 6, 7, 8, 9
"""Descriptors: HERE is a directory of the case's own with files in it, the others are opened by `script`."""
RESULT, SECOND, BUFFER, PARTS, EVENTS = 256, 272, 512, 4096, 4200

Values = dict[str, tuple[int, ...]]
"""What to give for a parameter, or for two that belong together, by name; the first is one that works."""


def fd(first: int, *others: int) -> Values:
    names = ("stdin", "stdout", "stderr", "preopened", "here", "copy", "file", "folder", "writing")
    order = dict.fromkeys([first, *others, *range(9)])
    odd = {"fd closed": (CLOSED,), "fd 128": (128,), "fd -1": (0xFFFFFFFF,)}
    return {f"fd {names[one]}": (one,) for one in order} | odd


def path(first: str) -> Values:
    return {
        **{name: PATH_AT[name] for name in dict.fromkeys([first, *PATHS])},
        "path beyond": (MEMORY - 2, 4),
        "path far beyond": (0xFFFFFFF0, 4),
        "path of 4 GiB": (PATH_AT["file"][0], 0xFFFFFFFF),
        "path of all memory": (0, MEMORY),
        "no path at the end": (MEMORY, 0),
        "no path beyond the end": (MEMORY + 1, 0),
    }


def result(size: int, align: int, at: int = RESULT) -> Values:
    """Where to put something."""
    odd = {f"misaligned by {by}": (at + by,) for by in (1, 2, 4) if by < align}
    ends = {"last": (MEMORY - size,), "cut": (MEMORY - size + align,), "beyond": (MEMORY,), "far": (0xFFFFFFF8,)}
    return {"result": (at,), **odd, **ends}


def parts() -> Values:
    """Parts to read or write."""
    return {
        "part": (PARTS, 1),
        "parts": (PARTS, 2),
        "no parts": (PARTS, 0),
        "no parts beyond": (MEMORY + 8, 0),
        "no parts misaligned": (PARTS + 1, 0),
        "parts misaligned": (PARTS + 2, 1),
        "parts cut": (MEMORY - 8, 2),
        "parts far": (0xFFFFFFF8, 1),
        "4 Gi parts": (PARTS, 0xFFFFFFFF),
        "parts to the end": (PARTS, (MEMORY - PARTS) // 8),
        "a part beyond": (PARTS + 16, 1),
        "a part far beyond": (PARTS + 24, 1),
        "a part behind the end": (PARTS + 32, 1),
    }


PARTS_DATA = struct.pack("<10I", BUFFER, 4, BUFFER + 64, 8, MEMORY - 2, 4, 0xFFFFFFFF, 2, MEMORY, 1)


def room() -> Values:
    """A buffer."""
    return {
        "buffer": (BUFFER, 64),
        "odd buffer": (BUFFER + 1, 63),
        "empty buffer": (BUFFER, 0),
        "small buffer": (BUFFER, 1),
        "empty buffer at the end": (MEMORY, 0),
        "empty buffer beyond": (MEMORY + 1, 0),
        "buffer beyond": (MEMORY - 1, 2),
        "buffer far beyond": (0xFFFFFFFF, 2),
        "buffer of 4 GiB": (BUFFER, 0xFFFFFFFF),
    }


def number(name: str, *values: int) -> Values:
    return {f"{name} {value:#x}": (value,) for value in values}


BIG = ((1 << 63) - 1, 1 << 63, (1 << 64) - 1)
LOOKUP = number("lookup", 0, 1, 2, 0xFFFFFFFF)
TIME = number("time", 5, 1 << 63)
FST = number("fstflags", 5, 0, 1, 2, 3, 8, 10, 12, 15, 16, 0x10000)
RIGHTS = number("rights", 2, 0, 0x40, 0x42, 1 << 29, 1 << 30, 1 << 63)
OFLAGS = number("oflags", 0, 1, 2, 3, 4, 5, 8, 9, 10, 13, 16, 0x10000)
FDFLAGS = number("fdflags", 0, 1, 2, 4, 5, 8, 16, 31, 32, 0x10000)
STRINGS = {"bytes": (BUFFER,), "bytes beyond": (MEMORY - 4,)}
ASKED = {"clock": (EVENTS,), "misaligned": (EVENTS + 4,), "beyond": (MEMORY - 40,), "far": (0xFFFFFFF8,)}

PARAMETERS: dict[str, list[Values]] = {
    "args_get": [result(8, 4), STRINGS],
    "args_sizes_get": [result(4, 4), result(4, 4, SECOND)],
    "clock_res_get": [number("clock", 0, 1, 2, 3, 4, 0xFFFFFFFF), result(8, 8)],
    "clock_time_get": [number("clock", 0, 1, 2, 3, 4, 0xFFFFFFFF), number("precision", 0, *BIG), result(8, 8)],
    "environ_get": [result(4, 4), STRINGS],
    "environ_sizes_get": [result(4, 4), result(4, 4, SECOND)],
    "fd_advise": [
        fd(FILE), number("offset", 0, *BIG), number("length", 0, *BIG), number("advice", 0, 1, 2, 3, 4, 5, 6, 256)
    ],
    "fd_allocate": [fd(FILE), number("offset", 0, *BIG), number("length", 1, 0, *BIG)],
    "fd_close": [fd(FILE)],
    "fd_datasync": [fd(FILE)],
    "fd_fdstat_get": [fd(FILE), result(24, 8)],
    "fd_fdstat_set_flags": [fd(FILE), FDFLAGS],
    "fd_fdstat_set_rights": [fd(FILE), RIGHTS, RIGHTS],
    "fd_filestat_get": [fd(FILE), result(64, 8)],
    "fd_filestat_set_size": [fd(FILE), number("size", 3, 0, 100, *BIG)],
    "fd_filestat_set_times": [fd(FILE), TIME, TIME, FST],
    "fd_pread": [fd(FILE), parts(), number("offset", 2, 9, 10, 11, *BIG), result(4, 4)],
    "fd_prestat_dir_name": [fd(PREOPENED), room()],
    "fd_prestat_get": [fd(PREOPENED), result(8, 4)],
    "fd_pwrite": [fd(FILE), parts(), number("offset", 2, 10, 11, 1 << 62, *BIG), result(4, 4)],
    "fd_read": [fd(FILE), parts(), result(4, 4)],
    "fd_readdir": [fd(FOLDER), room(), number("cookie", 0, 1, 2, 3, 4, 100, *BIG), result(4, 4)],
    "fd_renumber": [fd(FILE), fd(FOLDER)],
    "fd_seek": [fd(FILE), number("offset", 2, 0, 100, *BIG), number("whence", 0, 1, 2, 3, 256), result(8, 8)],
    "fd_sync": [fd(FILE)],
    "fd_tell": [fd(FILE), result(8, 8)],
    "fd_write": [fd(FILE), parts(), result(4, 4)],
    "path_create_directory": [fd(HERE), path("new")],
    "path_filestat_get": [fd(HERE), LOOKUP, path("file"), result(64, 8)],
    "path_filestat_set_times": [fd(HERE), LOOKUP, path("file"), TIME, TIME, FST],
    "path_link": [fd(HERE), LOOKUP, path("file"), fd(HERE), path("new")],
    "path_open": [fd(HERE), LOOKUP, path("file"), OFLAGS, RIGHTS, RIGHTS, FDFLAGS, result(4, 4)],
    "path_readlink": [fd(HERE), path("link"), room(), result(4, 4)],
    "path_remove_directory": [fd(HERE), path("below")],
    "path_rename": [fd(HERE), path("file"), fd(HERE), path("new")],
    "path_symlink": [path("file"), fd(HERE), path("new")],
    "path_unlink_file": [fd(HERE), path("file")],
    "poll_oneoff": [
        ASKED, result(32, 8), number("count", 1, 0, MEMORY // 48, MEMORY // 48 + 1, 0xFFFFFFFF), result(4, 4, SECOND)
    ],
    "proc_exit": [number("code", 0, 1, 125, 126, 255, 256, 0xFFFFFFFF)],
    "proc_raise": [number("signal", 0, 1, 6, 30, 31, 255, 256)],
    "random_get": [room()],
    "sched_yield": [],
    "sock_accept": [fd(FILE), number("fdflags", 0, 4, 31, 32, 0x10000), result(4, 4)],
    "sock_recv": [fd(FILE), parts(), number("riflags", 0, 1, 2, 3, 4, 0x10000), result(4, 4), result(2, 2, SECOND)],
    "sock_send": [fd(FILE), parts(), number("siflags", 0, 1, 0x10000), result(4, 4)],
    "sock_shutdown": [fd(FILE), number("sdflags", 0, 1, 2, 3, 4, 256)],
}  # fmt: skip

ORDINARY = ("file", "absent", "folder", "below", "link", "dangling", "new slash")
PAIRS: dict[str, list[tuple[int, Sequence[str] | None, int, Sequence[str] | None]]] = {
    "path_open": [
        (2, ORDINARY, 3, ("oflags 0x1", "oflags 0x2", "oflags 0x5", "oflags 0x8")),
        (1, ("lookup 0x0", "lookup 0x1"), 2, (*ORDINARY, "loop", "slash", "link slash")),
        (3, ("oflags 0x0", "oflags 0x1", "oflags 0x9"), 4, None),
        (0, None, 2, ("absent", "path far beyond")),
    ],
    "path_link": [(2, ORDINARY[:4], 4, ORDINARY[3:]), (1, None, 2, ("link", "absent"))],
    "path_rename": [(1, ORDINARY, 3, ORDINARY[2:])],
    "path_symlink": [(0, ("up", "absolute"), 2, ORDINARY)],
    "path_filestat_get": [
        (1, ("lookup 0x0", "lookup 0x1"), 2, (*ORDINARY, "loop", "link slash")),
        (0, None, 3, ("far",)),
    ],
    "fd_seek": [(1, None, 2, None), (0, ("fd copy", "fd stdin", "fd folder"), 3, None), (0, ("fd copy",), 1, None)],
    "fd_read": [(0, None, 1, ("parts", "a part beyond", "no parts")), (0, ("fd copy", "fd stdin"), 2, None)],
    "fd_write": [(0, None, 1, ("parts", "a part beyond", "no parts")), (0, ("fd stdout", "fd stderr"), 2, None)],
    "fd_pread": [(0, ("fd copy", "fd stdin"), 1, None), (0, ("fd copy", "fd stdin"), 2, None)],
    "fd_pwrite": [(0, ("fd copy", "fd stdout", "fd writing"), 2, None)],
    "fd_readdir": [(1, ("buffer", "small buffer", "empty buffer"), 2, None), (0, None, 3, ("far",))],
    "fd_advise": [(1, None, 2, None), (0, None, 3, ("advice 0x5", "advice 0x6"))],
    "fd_fdstat_get": [(0, None, 1, ("beyond",))],
    "fd_filestat_get": [(0, None, 1, ("beyond",))],
    "fd_prestat_get": [(0, None, 1, ("beyond",))],
    "fd_prestat_dir_name": [(0, None, 1, ("empty buffer", "buffer far beyond"))],
    "fd_tell": [(0, None, 1, ("beyond",))],
    "clock_res_get": [(0, None, 1, ("beyond",))],
    "clock_time_get": [(0, None, 2, ("beyond", "misaligned by 4"))],
    "fd_renumber": [(0, None, 1, ("fd stdin", "fd preopened", "fd copy", "fd closed"))],
    "fd_filestat_set_times": [(0, None, 3, ("fstflags 0x3", "fstflags 0x10"))],
    "fd_fdstat_set_flags": [(0, None, 1, ("fdflags 0x1", "fdflags 0x2", "fdflags 0x20"))],
    "fd_filestat_set_size": [(0, ("fd copy", "fd writing"), 1, None)],
    "poll_oneoff": [(0, None, 2, ("count 0x0", "count 0xffffffff"))],
}
"""Two parameters of which combinations are tried, with the names of values, or None for all; else one at a time."""

LOOKS = {
    "args_get": (RESULT, RESULT + 4, BUFFER, BUFFER + 4, BUFFER + 8),
    "args_sizes_get": (RESULT, SECOND),
    "environ_get": (RESULT, BUFFER, BUFFER + 8),
    "environ_sizes_get": (RESULT, SECOND),
    "clock_res_get": (RESULT, RESULT + 4),
    "fd_fdstat_get": tuple(range(RESULT, RESULT + 24, 4)),
    "fd_prestat_get": (RESULT, RESULT + 4),
    "fd_prestat_dir_name": (BUFFER,),
    "fd_seek": (RESULT, RESULT + 4),
    "fd_tell": (RESULT, RESULT + 4),
    "fd_read": (BUFFER,),
    "fd_pread": (BUFFER,),
    "path_readlink": (RESULT, BUFFER),
    "path_open": (RESULT,),
}
"""Words that are compared, too, when a call has come back."""

CHANGING = {
    "path_create_directory", "path_link", "path_remove_directory", "path_rename", "path_symlink", "path_unlink_file"
}  # fmt: skip
"""Functions whose cases need a directory of their own; so do those of path_open that make or cut files."""
WRITING_ONLY = {
    "fd_write", "fd_pwrite", "fd_filestat_set_size", "fd_filestat_set_times", "path_filestat_set_times"
}  # fmt: skip
"""Functions whose cases can share one, since what is in the files is nothing to them."""


def subscription(tag: int, word: int, timeout: int = 0, flags: int = 0) -> bytes:
    return struct.pack("<QB7xI4xQQH6x", 77, tag, word, timeout, 0, flags)


SUBSCRIPTIONS = {
    "realtime": [subscription(0, 0)],
    "until the past": [subscription(0, 0, 1, 1)],
    "other clock": [subscription(0, 2)],
    "no clock": [subscription(0, 4)],
    "clock flags": [subscription(0, 0, 0, 2)],
    "no event": [subscription(3, 0)],
    "event of 255": [subscription(255, 0)],
    **{f"read {one}": [subscription(1, one)] for one in (*range(10), 200, 0xFFFFFFFF)},
    **{f"write {one}": [subscription(2, one)] for one in (*range(10), 200, 0xFFFFFFFF)},
    "a file and a clock": [subscription(1, FILE), subscription(0, 0, 1 << 62)],
    "a bad one behind a good one": [subscription(1, FILE), subscription(1, 99)],
    "a bad one before a good one": [subscription(2, 99), subscription(0, 0)],
}


def cases() -> Iterator[tuple[str, list[Call]]]:
    """The calls of each case, by name."""
    for name, asked in SUBSCRIPTIONS.items():
        looks = [("peek", RESULT), *(("peek", BUFFER + at) for at in range(0, 96, 8))]
        data = ("poke", EVENTS, b"".join(asked))
        yield f"poll_oneoff: {name}", [data, ("poll_oneoff", EVENTS, BUFFER, len(asked), RESULT), *looks]
    for function, parameters in PARAMETERS.items():
        chosen: list[dict[int, str]] = [
            {at: name} for at, values in enumerate(parameters) for name in list(values)[at > 0 :]
        ]
        for one, ones, other, others in PAIRS.get(function, []):
            for names in itertools.product(ones or parameters[one], others or parameters[other]):
                chosen.append(dict(zip((one, other), names, strict=True)))
        for choice in chosen or [{}]:
            names = [choice.get(at, next(iter(values))) for at, values in enumerate(parameters)]
            arguments = [value for values, name in zip(parameters, names, strict=True) for value in values[name]]
            setup = [("poke", EVENTS, subscription(0, 1))] if function == "poll_oneoff" else []
            looks = [("peek", at) for at in LOOKS.get(function, ())]
            yield f"{function}: {', '.join(choice.values())}", [*setup, (function, *arguments), *looks]


CASES = dict(cases())
SHARED, WRITTEN = "shared", "written"


HARMLESS = {"empty", "dot", "dots", "up", "climbing", "absolute", "root", "bytes", "nul", "long name"}
HARMLESS |= {name for name in path("file") if "path" in name} | set(fd(FILE)) - {"fd here", "fd preopened", "fd folder"}
"""With one of these nothing can come of it, so that the directory stays as it is."""


def folder_of(number: int, name: str) -> str:
    function, _, about = name.partition(": ")
    (call,) = (one for one in CASES[name] if one[0] in WASI)
    changes = function in CHANGING or (function == "path_open" and call[5] & 9)
    odd = about.split(", ")[-1:] if function == "path_symlink" else about.split(", ")  # a link may lead anywhere
    if changes and not HARMLESS & set(odd):
        return f"case{number:04}"
    return WRITTEN if function in WRITING_ONLY else SHARED


def script(folder: str, calls: list[Call]) -> list[Call]:
    """The calls of a case behind those that open what it uses."""
    return [
        ("poke", 0, folder.encode()),
        ("poke", PARTS, PARTS_DATA),
        ("path_open", PREOPENED, 0, 0, len(folder), 2, 0, 0, 0, RESULT),
        ("path_open", HERE, 0, *PATH_AT["still"], 0, 0x2, 0, 0, RESULT),
        ("path_open", HERE, 0, *PATH_AT["file"], 0, 0x42, 0, 0, RESULT),
        ("path_open", HERE, 0, *PATH_AT["folder"], 2, 0, 0, 0, RESULT),
        ("path_open", HERE, 0, *PATH_AT["file"], 0, 0x40, 0, 0, RESULT),
        *calls,
    ]


BEFORE = kernel_calls.reported(script(SHARED, []))


def make_folders(folder):
    """All folders of all cases; gives the root that lanes get."""
    (folder / "outside").write_bytes(b"nothing for guests")
    for name in {SHARED, WRITTEN, *(folder_of(number, name) for number, name in enumerate(CASES))}:
        make_folder(folder / "root" / name, "../../outside")
    time.sleep(0.05)  # files that have just been changed are not copied
    return folder / "root"


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """What wasmtime does in each case."""
    folder = tmp_path_factory.mktemp("wasmtime")
    root = make_folders(folder)
    peer = kernel_calls.Wasmtime(folder)
    found = {}
    for number, (name, calls) in enumerate(CASES.items()):
        values, ended = peer.calls(script(folder_of(number, name), calls), root)
        assert values[:BEFORE] == [0] * BEFORE, name
        found[name] = (values[BEFORE:], ended)
    return found


def same(ours, theirs) -> bool:
    """Whether a case gave the same numbers, and ended the same way as far as that is a trap or not."""
    exits = [str(one[1]).startswith("exit") for one in (ours, theirs)]
    if any(exits):
        return ours == theirs
    return ours[0] == theirs[0] and (ours[1] is None) == (theirs[1] is None)


_ALL_PARTS = "all parts are read or written, not only the first that is not empty, and so all must be in memory"
_LATER = "what the host does not take is told apart before it is asked"
_WHOLE = "a buffer must be in memory as a whole, not only as far as it is used"
DIFFERENCES = {
    "fd_p*: parts to the end": _ALL_PARTS,
    "fd_read: parts to the end": _ALL_PARTS,
    "fd_write: parts to the end": _ALL_PARTS,
    "fd_pread: fd copy, parts to the end": _ALL_PARTS,
    "fd_read: fd stdin, no parts": "there is nothing that could be interrupted (wasmtime: EINTR)",
    "fd_pread: fd stdin, parts [cfm]*": "standard input cannot be read at a place, whatever the parts",
    "fd_pread: fd stdin, 4 Gi parts": "standard input cannot be read at a place, whatever the parts",
    "fd_read: fd writing, a part beyond": _LATER,
    "fd_write: fd copy, a part beyond": _LATER,
    "fd_pwrite: fd copy, offset 0x[8f]*": _LATER,
    "fd_pread: fd copy, offset 0x7fffffffffffffff": "there is nothing so far behind the end of a copy",
    "fd_readdir: empty buffer beyond": _WHOLE,
    "fd_readdir: buffer of 4 GiB": _WHOLE,
    "path_readlink: empty buffer beyond": _WHOLE,
    "path_readlink: buffer of 4 GiB": _WHOLE,
    "random_get: empty buffer beyond": _WHOLE,
    "path_[clors]*: path of 4 GiB": "it is not in memory, whatever the host could take (wasmtime: ENOMEM)",
    "path_f*: path of 4 GiB": "it is not in memory, whatever the host could take (wasmtime: ENOMEM)",
    "path_*: path of all memory": "it is too long, whatever is in it (wasmtime: EILSEQ)",
    "path_[clrsu]*: long": "no path may have 4,096 bytes or more; wasmtime says so of some functions",
    "path_filestat_set_times: long": "no path may have 4,096 bytes or more; wasmtime says so of some functions",
    "path_remove_directory: folder slash": "a slash behind a directory does not matter",
    "path_remove_directory: link slash": "a link is no directory, with or without a slash",
    "poll_oneoff: count 0xaa[ab]": "subscriptions that cannot all be in memory are not looked at",
    "proc_exit: code 0x7e": "exit codes may be any (wasmtime: below 126)",
    "proc_exit: code 0xff*": "exit codes may be any (wasmtime: below 126)",
    "proc_exit: code 0x100": "exit codes may be any (wasmtime: below 126)",
}
"""Cases in which Lanewise does otherwise, with the reason: patterns, each of which fits nothing else."""


SHARED_FOLDER = ("path_*",)
"""Cases that would meet in one folder where lanes run at once; programs do what they do on a GPU, too."""


def test_every_function_is_called():
    assert {name.partition(":")[0] for name in CASES} == set(WASI)
    assert len(WASI) == 46


def test_odd_arguments_give_what_they_give_under_wasmtime(theirs, device, tmp_path):
    root = make_folders(tmp_path)
    scripts = [script(folder_of(number, name), calls) for number, (name, calls) in enumerate(CASES.items())]
    found = kernel_calls.on_lanes(scripts, device, root)
    differ, wrong = set(), []
    for name, (values, ended) in zip(CASES, found, strict=True):
        assert values[:BEFORE] == [0] * BEFORE, name
        ours = (values[BEFORE:], ended)
        if device.name != "cpu" and any(fnmatch.fnmatchcase(name, pattern) for pattern in SHARED_FOLDER):
            continue  # there lanes run at once, and these cases meet in one folder
        if not same(ours, theirs[name]):
            differ.add(name)
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in DIFFERENCES):
                wrong.append(f"{name}: {ours} and not {theirs[name]}")
    assert not wrong, "\n".join(wrong)
    for pattern in DIFFERENCES:
        if device.name != "cpu" and pattern.startswith("path_"):
            continue
        fitting = {name for name in CASES if fnmatch.fnmatchcase(name, pattern)}
        assert fitting, f"no case is {pattern}"
        assert fitting <= differ, f"no difference any more: {sorted(fitting - differ)}"
    assert (tmp_path / "outside").read_bytes() == b"nothing for guests"


def test_files_are_told_as_ready_beside_a_clock_that_is_due(device, tmp_path):
    """What programs do that ask without waiting: with a time of 0 for a clock."""
    make_folder(tmp_path / SHARED, "../outside")
    asked = [subscription(2, FILE), subscription(0, 1, 0), subscription(1, COPY)]
    calls = [("poke", EVENTS, b"".join(asked)), ("poll_oneoff", EVENTS, BUFFER, 3, RESULT), ("peek", RESULT)]
    looks = [("peek", BUFFER + 32 * event + 8) for event in range(3)]
    ((values, ended),) = kernel_calls.on_lanes([script(SHARED, [*calls, *looks])], device, tmp_path)
    error, count, *kinds = values[BEFORE:]
    assert (ended, error, count) == (None, 0, 3)
    assert sorted(kind >> 16 for kind in kinds) == [0, 1, 2]


@pytest.mark.parametrize("source", ["stdin", "copy", "file"])
def test_parts_that_are_read_over_the_parts_themselves_stay_in_memory(source, device, tmp_path, monkeypatch):
    """The first part is where the second part is written down, which then leads to another lane's memory."""
    data = struct.pack("<II", MEMORY - 4, 4096) + b"x" * 4096
    monkeypatch.setattr(kernel_calls, "STDIN", data)
    make_folder(tmp_path / SHARED, "../outside")
    for name in ("file", "still"):
        (tmp_path / SHARED / name).write_bytes(data)
    time.sleep(0.05)
    parts_at = ("poke", PARTS, struct.pack("<4I", PARTS + 8, 8, BUFFER, 4096))
    read = ("fd_read", {"stdin": STDIN, "copy": COPY, "file": FILE}[source], PARTS, 2, RESULT)
    attack = script(SHARED, [parts_at, read])
    watch = [("fill", 0, 0x5A, MEMORY), *[("sched_yield",)] * 100, ("differs", 0, MEMORY, 0x5A)]
    found = kernel_calls.on_lanes([watch, attack, watch, attack, watch] * 8, device, tmp_path)
    for number, (values, ended) in enumerate(found):
        if number % 5 in (1, 3):
            assert ended == "out of bounds pointer", number
        else:
            assert (values[-1], ended) == (0, None), number
