"""Device code that copies many pieces of memory, 32 threads each: what lies side by side is read at once."""

from lanewise.lang import Ptr, device, kernel, thread_id, u8, u64


@device
def copy_piece(source: u64, target: u64, count: u64):
    """Copy this thread's share of a piece, in words where both sides allow it."""
    first = u64(thread_id()) % 32
    words = u64(0)
    if (source | target) % 8 == 0:
        words = count // 8
        from_words = Ptr[u64](source)
        to_words = Ptr[u64](target)
        word = first
        while word < words:
            to_words[word] = from_words[word]
            word += 32
    from_bytes = Ptr[u8](source)
    to_bytes = Ptr[u8](target)
    at = words * 8 + first
    while at < count:
        to_bytes[at] = from_bytes[at]
        at += 32


@kernel
def gather(pieces: Ptr[u64], block: Ptr[u8]):
    """Copy pieces into a block. A piece is three words: its address, where it goes in the block, how many bytes."""
    piece = pieces + (thread_id() // 32) * 3
    copy_piece(piece[0], u64(block) + piece[1], piece[2])


@kernel
def spread(pieces: Ptr[u64], block: Ptr[u8]):
    """Copy parts of a block to where they belong."""
    piece = pieces + (thread_id() // 32) * 3
    copy_piece(u64(block) + piece[1], piece[0], piece[2])
