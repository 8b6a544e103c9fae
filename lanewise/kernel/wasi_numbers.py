"""Numbers of WASI preview 1 and of the requests that lanes make to the host: the one place for both sides."""

# Error numbers.
SUCCESS = 0
E2BIG = 1
EACCES = 2
EAGAIN = 6
EBADF = 8
EBUSY = 10
EEXIST = 20
EFAULT = 21
EFBIG = 22
EILSEQ = 25
EINTR = 27
EINVAL = 28
EIO = 29
EISDIR = 31
ELOOP = 32
EMFILE = 33
EMLINK = 34
ENAMETOOLONG = 37
ENFILE = 41
ENOENT = 44
ENOMEM = 48
ENOSPC = 51
ENOSYS = 52
ENOTDIR = 54
ENOTEMPTY = 55
ENOTSOCK = 57
ENOTSUP = 58
ENXIO = 60
EOVERFLOW = 61
EPERM = 63
EPIPE = 64
EROFS = 69
ESPIPE = 70
ETXTBSY = 74
EXDEV = 75
ENOTCAPABLE = 76

# Kinds of files.
UNKNOWN, BLOCK_DEVICE, CHARACTER_DEVICE, DIRECTORY, REGULAR_FILE, SOCKET_DGRAM, SOCKET_STREAM, SYMBOLIC_LINK = range(8)

# Rights.
RIGHT_FD_DATASYNC = 1 << 0
RIGHT_FD_READ = 1 << 1
RIGHT_FD_SEEK = 1 << 2
RIGHT_FD_FDSTAT_SET_FLAGS = 1 << 3
RIGHT_FD_SYNC = 1 << 4
RIGHT_FD_TELL = 1 << 5
RIGHT_FD_WRITE = 1 << 6
RIGHT_FD_ADVISE = 1 << 7
RIGHT_FD_ALLOCATE = 1 << 8
RIGHT_PATH_CREATE_DIRECTORY = 1 << 9
RIGHT_PATH_CREATE_FILE = 1 << 10
RIGHT_PATH_LINK_SOURCE = 1 << 11
RIGHT_PATH_LINK_TARGET = 1 << 12
RIGHT_PATH_OPEN = 1 << 13
RIGHT_FD_READDIR = 1 << 14
RIGHT_PATH_READLINK = 1 << 15
RIGHT_PATH_RENAME_SOURCE = 1 << 16
RIGHT_PATH_RENAME_TARGET = 1 << 17
RIGHT_PATH_FILESTAT_GET = 1 << 18
RIGHT_PATH_FILESTAT_SET_SIZE = 1 << 19
RIGHT_PATH_FILESTAT_SET_TIMES = 1 << 20
RIGHT_FD_FILESTAT_GET = 1 << 21
RIGHT_FD_FILESTAT_SET_SIZE = 1 << 22
RIGHT_FD_FILESTAT_SET_TIMES = 1 << 23
RIGHT_PATH_SYMLINK = 1 << 24
RIGHT_PATH_REMOVE_DIRECTORY = 1 << 25
RIGHT_PATH_UNLINK_FILE = 1 << 26
RIGHT_POLL_FD_READWRITE = 1 << 27
RIGHT_SOCK_SHUTDOWN = 1 << 28
RIGHT_SOCK_ACCEPT = 1 << 29

RIGHTS_PREOPENED = 0x7B7FE00
RIGHTS_PREOPENED_INHERITING = 0xFF7FFFF
RIGHTS_END = 1 << 30
"""No right lies here or above."""

# Flags.
FDFLAG_APPEND, FDFLAG_DSYNC, FDFLAG_NONBLOCK, FDFLAG_RSYNC, FDFLAG_SYNC = (1 << bit for bit in range(5))
OFLAG_CREAT, OFLAG_DIRECTORY, OFLAG_EXCL, OFLAG_TRUNC = (1 << bit for bit in range(4))
LOOKUP_SYMLINK_FOLLOW = 1
FST_ATIM, FST_ATIM_NOW, FST_MTIM, FST_MTIM_NOW = (1 << bit for bit in range(4))
WHENCE_SET, WHENCE_CUR, WHENCE_END = range(3)
CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS, CLOCK_THREAD = range(4)
EVENT_CLOCK, EVENT_FD_READ, EVENT_FD_WRITE = range(3)

FILESTAT_BYTES = 64
"""A filestat: u64 device, inode, u8 kind (8 bytes), u64 links, size, and the times of access, change and status."""

# Requests to the host. `h` is a handle: a preopened directory's number, or what OPEN gave. The arguments in brackets
# are words; what follows is the data that goes along. Behind the arrow: the words and the data of the reply. Each reply
# has an error number, too.
(
    REQUEST_NONE,
    REQUEST_OPEN,  # (h, lookup, oflags, fdflags, rights, inheriting) path -> (h, kind, rights, inheriting, id, 1)
    #   A file that is only read may come as a copy on the device instead: `id` is its address then, and h names it to
    #   REOPEN. There lie a filestat and the content. `id` is 0 otherwise.
    #   The last word is 1 if the lane must let go of its copies, since it can write to one of these files now.
    REQUEST_REOPEN,  # (h, position) -> (h): a handle for a file that was opened as a copy, at this position
    REQUEST_CLOSE,  # (h)
    REQUEST_READ,  # (h, room) -> data; no data at the end
    REQUEST_PREAD,  # (h, room, offset) -> data
    REQUEST_WRITE,  # (h) data -> (written)
    REQUEST_PWRITE,  # (h, offset) data -> (written)
    REQUEST_SEEK,  # (h, offset, whence) -> (position)
    REQUEST_TELL,  # (h) -> (position)
    REQUEST_ADVISE,  # (h, offset, length, advice)
    REQUEST_DATASYNC,  # (h)
    REQUEST_SYNC,  # (h)
    REQUEST_SET_FLAGS,  # (h, fdflags)
    REQUEST_FILESTAT,  # (h) -> filestat
    REQUEST_SET_SIZE,  # (h, size)
    REQUEST_SET_TIMES,  # (h, access, change, fst flags)
    REQUEST_READDIR,  # (h, cookie, room, skip) -> data: of the entries from the cookie on, encoded, from byte `skip` on
    REQUEST_CREATE_DIRECTORY,  # (h) path
    REQUEST_PATH_FILESTAT,  # (h, lookup flags) path -> filestat
    REQUEST_PATH_SET_TIMES,  # (h, lookup flags, access, change, fst flags) path
    REQUEST_LINK,  # (h, lookup flags, h of the new path, length of the old path) old path, new path
    REQUEST_READLINK,  # (h, room) path -> data, cut at room
    REQUEST_REMOVE_DIRECTORY,  # (h) path
    REQUEST_RENAME,  # (h, h of the new path, length of the old path) old path, new path
    REQUEST_SYMLINK,  # (h, length of the content) content, path
    REQUEST_UNLINK,  # (h) path
    REQUEST_POLL,  # (most nanoseconds to wait) pairs of u32 h and u32 kind of event -> () u32 a pair
    REQUEST_STDIN,  # (room) -> data
    REQUEST_CONSOLE,  # (stream: 1 or 2) data -> (written)
    REQUEST_LANE_OVER,  # ()
) = range(31)

STDIN_HANDLE = 0xFFFFFFFF
"""In POLL: standard input of the host."""
POLL_READY, POLL_HANGUP = 1 << 16, 1 << 17
"""In the reply of POLL: it is ready; and nothing more will come."""
FIRST_HANDLE = 1024
"""Handles below are preopened directories, which all lanes share."""

FAILURES = (
    "",
    "exit",
    "out of bounds pointer",
    "unaligned pointer",
    "output limit reached",
    "interrupted",
    "index out of range",
    "invalid argument of a system call",
)
"""Why a call of the kernel ended the lane, by number; 0 is no failure."""
FAIL_EXIT, FAIL_POINTER, FAIL_ALIGNMENT, FAIL_OUTPUT, FAIL_STOP, FAIL_INDEX, FAIL_ARGUMENT = range(1, len(FAILURES))
