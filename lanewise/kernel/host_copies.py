"""Opening small files that are only read, as native code of the host: what most programs with a file each ask for.

Python answers requests one at a time, whatever the number of cores. Here a file is opened, read once for all lanes, and
closed without it; everything out of the ordinary is left to Python, which also gives the errors.
"""

from lanewise.kernel.lane_io import REQUEST_HEAD, Request
from lanewise.kernel.system_numbers import BENEATH, LONGEST_PATH, OPENAT2, READ_FLAGS, SETTLED_NS, STATX
from lanewise.kernel.wasi_numbers import FILESTAT_BYTES, REGULAR_FILE, REQUEST_OPEN, RIGHT_FD_WRITE
from lanewise.lang.atomics import atomic_add, atomic_compare_exchange, atomic_load, atomic_store
from lanewise.lang.functions import device
from lanewise.lang.program import external
from lanewise.lang.structs import struct
from lanewise.lang.types import Ptr, i32, i64, u8, u16, u32, u64
from lanewise.lang.vocabulary import addressof

WRITES, HAS_COPIES = 1, 2
"""What is noted of a lane: by Python that it can write to a file, here that it has been given copies."""
NATIVE_HANDLE = 1 << 31
"""Handles from here on say where a copy lies, in words from the beginning of the room for copies."""
COPY_HEAD = 8
"""In front of a copy: the directory and the length of the path, which lies behind the content; then the filestat."""
LARGEST = 1 << 16
"""Bytes of content."""
PROBES = 8
EMPTY, BEING_MADE, MADE = 0, 1, 2

EMPTY_PATH, BASIC_STATS = 0x1000, 0x7FF
FILE_KIND, REGULAR = 0o170000, 0o100000
SECOND = 1_000_000_000
LAST_SECOND = 2**64 // SECOND
SLASH, DOT = ord("/"), ord(".")


@struct
class CopyEntry:
    """Which version of which file a copy is of."""

    state: u32
    device: u64
    inode: u64
    nbytes: u64
    changed: u64
    touched: u64  # the time of its last change of any kind, of its name or rights, too
    address: u64


@struct
class CopyTable:
    """What the host's native code knows."""

    callback: u64  # Python's function
    roots: u64  # address of an i32 for each preopened directory: its descriptor
    root_count: u32
    lanes: u64  # address of a byte for each lane of the wave
    room: u64  # address of where copies lie
    used: u64  # bytes of it
    room_bytes: u64
    entries: u64
    mask: u64
    rights: u64  # of a file that is only read
    stopping: u32  # whether the run is to end, so that Python is asked, which says so


@struct
class Time:
    """As the system has it."""

    seconds: i64
    nanoseconds: u32
    rest: u32


@struct
class Status:
    """What the system tells of a file: `struct statx`."""

    mask: u32
    block: u32
    attributes: u64
    links: u32
    user: u32
    group: u32
    mode: u16
    spare: u16
    inode: u64
    nbytes: u64
    blocks: u64
    attributes_mask: u64
    accessed: Time
    born: Time
    touched: Time
    changed: Time
    kind_major: u32
    kind_minor: u32
    device_major: u32
    device_minor: u32
    more: u64[14]


ENTRY_BYTES = CopyEntry.size


@external
def lw_call_host(callback: u64, function: u64, values: u64) -> u32: ...


@external
def syscall(number: u64, a: u64, b: u64, c: u64, d: u64, e: u64) -> i64: ...


@external
def pread(descriptor: i32, to: u64, nbytes: u64, offset: u64) -> i64: ...


@external
def close(descriptor: i32) -> i32: ...


@external
def clock_gettime(clock: i32, time: Ptr[i64]) -> i32: ...


@device
def lw_host_answer(table: Ptr[CopyTable], request: Ptr[Request]) -> u32:
    """Answer a request, here or in Python; 1 if the run is to end."""
    if request.op == REQUEST_OPEN and atomic_load(table.stopping) == 0 and open_copy(table, request):
        return u32(0)
    return lw_call_host(table.callback, u64(0), u64(request))


@device
def open_copy(table: Ptr[CopyTable], request: Ptr[Request]) -> bool:
    """Answer with a copy of a file, if what is asked for is an ordinary one to be read."""
    root = request.arguments[0]
    if root >= u64(table.root_count) or request.arguments[2] != 0 or request.arguments[3] != 0:
        return False
    noted = Ptr[u8](table.lanes + u64(request.lane))
    if request.arguments[4] & RIGHT_FD_WRITE != 0 or noted[0] & WRITES != 0:
        return False
    path = Ptr[u8](u64(request) + REQUEST_HEAD)
    if not plain(path, request.sent):
        return False
    path[request.sent] = u8(0)  # there is room: data can be longer than the longest path
    descriptor = open_beneath(Ptr[i32](table.roots)[root], path)
    if descriptor < 0:
        return False
    address = copy_of(table, descriptor, root, path, u64(request.sent))
    close(descriptor)
    if address == 0:
        return False
    noted[0] = noted[0] | u8(HAS_COPIES)
    request.error = 0
    request.received = 0
    request.values[0] = u64(NATIVE_HANDLE) + ((address - table.room) >> 3)
    request.values[1] = REGULAR_FILE
    request.values[2] = table.rights
    request.values[3] = table.rights
    request.values[4] = address
    request.values[5] = 0
    return True


@device
def plain(path: Ptr[u8], length: u32) -> bool:
    """Whether a path is nothing but names, of ASCII, with single slashes between them."""
    if length == 0 or length > LONGEST_PATH:
        return False
    begin, dots = u32(0), u32(0)
    for at in range(length + 1):
        letter = u8(SLASH)
        if at < length:
            letter = path[at]
        if letter == 0 or letter >= 128:
            return False
        if letter == SLASH:
            if at == begin or (dots == at - begin and dots <= 2):
                return False
            begin = at + 1
            dots = u32(0)
        elif letter == DOT:
            dots += 1
    return True


@device
def open_beneath(directory: i32, path: Ptr[u8]) -> i32:
    """Open a path to be read that leads neither out of the directory nor over any link; below 0 if that fails."""
    how: u64[3]
    how[0] = READ_FLAGS
    how[1] = 0
    how[2] = BENEATH
    return i32(syscall(u64(OPENAT2), u64(directory), u64(path), u64(addressof(how[0])), u64(24), u64(0)))


@device(inline=False)
def look_at(descriptor: i32, found: Ptr[CopyEntry], status: Ptr[Status]) -> bool:
    """Which version of which file is open; False if it is not one that can be copied."""
    nothing: u8[1]
    nothing[0] = u8(0)
    empty = u64(addressof(nothing[0]))
    if syscall(u64(STATX), u64(descriptor), empty, u64(EMPTY_PATH), u64(BASIC_STATS), u64(status)) != 0:
        return False
    if status.mode & FILE_KIND != REGULAR or status.nbytes > LARGEST:
        return False
    major, minor = u64(status.device_major), u64(status.device_minor)
    found.device = ((major & 0xFFFFF000) << 32) | ((major & 0xFFF) << 8) | ((minor & 0xFFFFFF00) << 12) | (minor & 0xFF)
    found.inode = status.inode
    found.nbytes = status.nbytes
    found.changed = nanoseconds(addressof(status.changed))
    found.touched = nanoseconds(addressof(status.touched))
    return True


@device
def nanoseconds(time: Ptr[Time]) -> u64:
    """A time as WASI has it: from 1970 on, for 584 years."""
    if time.seconds < 0:
        return u64(0)
    if u64(time.seconds) >= LAST_SECOND:
        return ~u64(0)
    return u64(time.seconds) * SECOND + u64(time.nanoseconds)


@device
def same(a: Ptr[CopyEntry], b: Ptr[CopyEntry]) -> bool:
    """Whether two are of one version of one file."""
    one_file = a.device == b.device and a.inode == b.inode
    return one_file and a.nbytes == b.nbytes and a.changed == b.changed and a.touched == b.touched


@device
def has_name(entry: Ptr[CopyEntry], root: u64, path: Ptr[u8], length: u64) -> bool:
    """Whether a copy was opened by this name: by its name the file itself is found again."""
    head = Ptr[u32](entry.address - COPY_HEAD)
    if u64(head[0]) != root or u64(head[1]) != length:
        return False
    name = Ptr[u8](entry.address + FILESTAT_BYTES + ((entry.nbytes + 8) & ~u64(7)))
    for at in range(length):
        if name[at] != path[at]:
            return False
    return True


@device(inline=False)
def copy_of(table: Ptr[CopyTable], descriptor: i32, root: u64, path: Ptr[u8], length: u64) -> u64:
    """The address of a copy of an open file, made now if nobody has; 0 if there can be none."""
    version: CopyEntry
    again: CopyEntry
    status: Status
    wanted = addressof(version)
    if not look_at(descriptor, wanted, addressof(status)):
        return u64(0)
    now: i64[2]
    clock_gettime(0, addressof(now[0]))
    if u64(now[0]) * SECOND + u64(now[1]) < wanted.touched + SETTLED_NS:
        return u64(0)
    first = (wanted.inode * 0x9E3779B97F4A7C15) >> 32
    for probe in range(PROBES):
        entry = Ptr[CopyEntry](table.entries + ((first + u64(probe)) & table.mask) * ENTRY_BYTES)
        made = atomic_load(entry.state, order="acquire") == MADE
        if made and same(entry, wanted) and has_name(entry, root, path, length):
            return entry.address
    size = (wanted.nbytes + 8) & ~u64(7)  # one byte more, to see that there is no more
    needed = COPY_HEAD + FILESTAT_BYTES + size + ((length + 7) & ~u64(7))
    place = atomic_add(table.used, needed)
    if place + needed > table.room_bytes:
        return u64(0)
    address = table.room + place + COPY_HEAD
    content = address + FILESTAT_BYTES
    if u64(pread(descriptor, content, wanted.nbytes + 1, u64(0))) != wanted.nbytes:
        return u64(0)
    if not look_at(descriptor, addressof(again), addressof(status)) or not same(addressof(again), wanted):
        return u64(0)
    head = Ptr[u32](address - COPY_HEAD)
    head[0] = u32(root)
    head[1] = u32(length)
    filestat = Ptr[u64](address)
    filestat[0] = wanted.device
    filestat[1] = wanted.inode
    filestat[2] = REGULAR_FILE
    filestat[3] = u64(status.links)
    filestat[4] = wanted.nbytes
    filestat[5] = nanoseconds(addressof(status.accessed))
    filestat[6] = wanted.changed
    filestat[7] = wanted.touched
    name = Ptr[u8](content + size)
    for at in range(length):
        name[at] = path[at]
    wanted.address = address
    remember(table, wanted, first)
    return address


@device
def remember(table: Ptr[CopyTable], made: Ptr[CopyEntry], first: u64):
    """Let others find a copy; where there is no place for it, they make their own."""
    for probe in range(PROBES):
        entry = Ptr[CopyEntry](table.entries + ((first + u64(probe)) & table.mask) * ENTRY_BYTES)
        if atomic_load(entry.state) == EMPTY and atomic_compare_exchange(entry.state, EMPTY, BEING_MADE):
            entry.device = made.device
            entry.inode = made.inode
            entry.nbytes = made.nbytes
            entry.changed = made.changed
            entry.touched = made.touched
            entry.address = made.address
            atomic_store(entry.state, u32(MADE), order="release")
            return
