"""Random numbers of a lane: ChaCha20 blocks, keyed by the run and numbered by the lane."""

from lanewise.kernel.guest_memory import store_u8
from lanewise.kernel.lane_io import LaneIo
from lanewise.kernel.requests import owner, run_of, stopping
from lanewise.lang.atomics import atomic_add
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, u32, u64
from lanewise.lang.vocabulary import addressof

DOUBLE_ROUNDS = 10


@device
def rotate(value: u32, by: u32) -> u32:
    """Turn the bits of a word to the left."""
    return (value << by) | (value >> (u32(32) - by))


@device
def quarter_round(block: Ptr[u32], a: u32, b: u32, c: u32, d: u32):
    """Mix four words."""
    block[a] += block[b]
    block[d] = rotate(block[d] ^ block[a], u32(16))
    block[c] += block[d]
    block[b] = rotate(block[b] ^ block[c], u32(12))
    block[a] += block[b]
    block[d] = rotate(block[d] ^ block[a], u32(8))
    block[c] += block[d]
    block[b] = rotate(block[b] ^ block[c], u32(7))


@device
def begin_block(io: Ptr[LaneIo], block: Ptr[u32], number: u64):
    """The words that a block is made of: constants, the key, which block it is, and whose."""
    run = run_of(io)
    block[0] = 0x61707865
    block[1] = 0x3320646E
    block[2] = 0x79622D32
    block[3] = 0x6B206574
    for word in range(8):
        block[4 + word] = run.key[word]
    lane = run.first_lane + u64(io.index)
    block[12] = u32(number)
    block[13] = u32(number >> 32)
    block[14] = u32(lane)
    block[15] = u32(lane >> 32)


@device(inline=False)
def random_bytes(io: Ptr[LaneIo], address: u32, count: u32):
    """Fill guest memory, within bounds that were checked."""
    block: u32[16]
    first: u32[16]
    words = addressof(block[0])
    before = addressof(first[0])
    done = u32(0)
    while done < count and not (done & 0xFFFF == 0 and stopping(io)):
        number = atomic_add(owner(io).random_block, 1)
        begin_block(io, before, number)
        begin_block(io, words, number)
        for _ in range(DOUBLE_ROUNDS):
            quarter_round(words, u32(0), u32(4), u32(8), u32(12))
            quarter_round(words, u32(1), u32(5), u32(9), u32(13))
            quarter_round(words, u32(2), u32(6), u32(10), u32(14))
            quarter_round(words, u32(3), u32(7), u32(11), u32(15))
            quarter_round(words, u32(0), u32(5), u32(10), u32(15))
            quarter_round(words, u32(1), u32(6), u32(11), u32(12))
            quarter_round(words, u32(2), u32(7), u32(8), u32(13))
            quarter_round(words, u32(3), u32(4), u32(9), u32(14))
        for at in range(min(u32(64), count - done)):
            mixed = words[at >> 2] + before[at >> 2]
            store_u8(io, address + done + at, mixed >> ((at & 3) * 8))
        done += min(u32(64), count - done)
