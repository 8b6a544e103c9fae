"""What the kernel keeps of a lane and of a run: the structures that host and device share."""

from lanewise.lang.structs import struct
from lanewise.lang.types import i64, u8, u32, u64
from lanewise.settings import LANE_FILES

CLOSED, STDIN, STDOUT, STDERR, PREOPENED, COPY, FILE, CLAIMED = range(8)
"""What a descriptor is: a standard stream, a preopened directory, a copy of a file on the device, or the host's.
CLAIMED is one that is being opened."""


TEXT_BYTES = 256
TEAM_THREADS = 64
"""Threads that a lane can have at most."""
SHARED_WORDS = 8192
"""Words that the lanes of a group share."""

LANE_WAITS, LANE_RUNS, LANE_ENDED = range(3)
"""Whether a lane has begun, and whether it is over."""


@struct
class Descriptor:
    """One open file of a lane."""

    kind: u32
    flags: u32
    filetype: u32
    handle: u32  # what the host knows it by
    rights: u64
    inheriting: u64
    position: u64  # COPY: where the next read begins
    content: u64  # COPY: the address of its filestat and content


@struct
class LaneRecord:
    """How a lane ended; written by the lane, read by the host. `state` is written last."""

    last: u64  # where the lane's last record in the console begins, plus one; 0 if there is none
    nanoseconds: u64
    exit_code: u32
    state: u32


@struct
class Span:
    """Bytes that belong to a lane; `count` is how many strings they hold where they hold strings."""

    address: u64
    nbytes: u32
    count: u32


@struct
class Console:
    """Where lanes gather what they write. What a call wrote follows a `ConsoleRecord`."""

    head: u64  # bytes taken, by lanes; beyond `capacity` none are left
    capacity: u64
    records: u64


@struct
class ConsoleRecord:
    """What one call wrote. The records of a lane are a chain, whose end its LaneRecord has."""

    previous: u64  # where the lane's record before this one begins, plus one; 0 for the first
    nbytes: u64  # and the stream in the upper 16 bits


@struct
class Request:
    """What a lane asks of the host; `data` of `RunIo.capacity` bytes follows."""

    asked: u64  # the ticket plus one, written by the lane last
    answered: u64  # the same, written by the host last
    lane: u32  # the lane's number in the wave
    op: u32
    wave: u32  # GPU: which of the waves that run at the same time
    padding: u32
    arguments: u64[6]
    sent: u32  # bytes of data that go along
    room: u32  # bytes of data that the reply may have
    error: u32
    received: u32  # bytes of data of the reply
    values: u64[6]


@struct
class Ring:
    """GPU: the requests that lanes share. Lives in device memory; the requests themselves in memory of the host."""

    head: u64  # tickets given
    slots: u64  # a power of two
    requests: u64
    step: u64  # bytes from one request to the next
    turns: u64  # address of a word per slot: the ticket that may use it
    nowhere: u64  # address of a request that is never served


@struct
class Words:
    """A buffer of 32-bit words that all lanes share."""

    address: u64
    count: u64


@struct
class RunIo:
    """What all lanes of a wave have in common."""

    first_lane: u64  # the number in the run of the wave's first lane
    lanes: u64  # in the whole run
    arguments: u64  # address of a Span a lane, or of one for all
    argument_step: u64  # 0 if it is one for all
    stdin: u64  # address of a Span a lane; 0 if standard input is the host's
    environment: u64  # address of a Span
    preopened: u64  # address of a Span a directory: its name
    preopened_count: u32
    wave: u32  # GPU: which of the waves that run at the same time
    records: u64  # address of a LaneRecord a lane
    console: u64
    output_limit: u64
    realtime_offset: i64  # from the device's clock to the time of day
    started: u64  # on the device's clock
    key: u32[8]  # of the random numbers
    stop: u64  # address of a word that is set when lanes are to end
    ring: u64  # GPU
    callback: u64  # CPU: the function of the host that serves requests
    copies: u64  # CPU: what it is given besides the request, see `host_copies`
    capacity: u64  # bytes of data that a request can take
    stride: u64  # bytes from one 8-byte cell of a lane's memory to its next
    stream_types: u32[3]  # what kind of file the standard streams are
    group_shift: u32  # the lanes of a group are 2 to this power
    state: Words
    input: Words
    output: Words
    picture: u64  # address of 4 bytes a pixel
    width: u32
    height: u32
    shared: u64  # address of SHARED_WORDS words a group
    team_size: u64  # threads that a lane may have, its first included


@struct
class Team:
    """The threads of a lane that may have several, and the memory that they share."""

    lock: u32
    over: u32  # whether the lane has ended, so that its threads end, too
    last_id: u32
    reserved: u32
    memory: u64  # three words: a memory's record as the engine has it
    memory_bytes: u64
    memory_maximum: u64
    ids: u32[TEAM_THREADS]  # of the threads that run; 0 for one that is parked
    arguments: u32[TEAM_THREADS]
    waits: u64[TEAM_THREADS]  # the address that a thread waits at; WOKEN when it need not any more; 0 if it does not


@struct
class LaneIo:
    """What the kernel keeps of a lane."""

    run: u64
    process: u64  # the LaneIo of the lane's first thread
    team: u64  # the lane's threads, 0 if it has one only
    member: u32  # which of them this is
    error: u32  # why the host took less of the output than it was given
    index: u32  # the lane's number in the wave
    failure: u32  # why the lane is to end, see `wasi_numbers.FAILURES`
    memory: u64  # the guest's linear memory
    memory_bytes: u64
    stride: u64
    began: u64
    stdin_position: u64
    written: u64  # bytes of output so far
    random_block: u64  # how many blocks of random numbers were used
    request: u64  # CPU: the lane's own request
    ticket: u64  # GPU: of the request under way
    exit_code: u32
    held: u32  # whether the host holds anything for this lane
    files: u32  # descriptors from here on are closed
    slot: u32  # where it runs: lanes of a group have neighbouring slots
    fiber: u64  # CPU: the fiber that it runs on, where lanes wait for each other; else 0
    sink: u64  # what is read and written instead of what must not be
    nothing: u64[8]  # an empty file: all zero
    text_bytes: u32  # of `text` that are not yet written
    padding: u32
    text: u8[TEXT_BYTES]  # debug output
    descriptors: Descriptor[LANE_FILES]


assert Request.size % 8 == 0
REQUEST_HEAD = Request.size
