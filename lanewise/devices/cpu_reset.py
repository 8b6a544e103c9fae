"""Part of the CPU's runtime, in lang: a linear memory becomes as if nobody had used it, at the cost of what was used.

Programs have memories of a megabyte and touch a few pages of them. The system knows which: `/proc/self/pagemap` has a
word for each page. Pages that were touched once stay where they are and are cleared, since to give them back and to
have them again costs more; only many of them are given back.
"""

from lanewise.devices.cpu_scheduler import lw_worker_table
from lanewise.lang.functions import device
from lanewise.lang.program import external
from lanewise.lang.types import Ptr, i32, i64, u8, u64
from lanewise.lang.vocabulary import addressof

PIECE = 512
"""Pages whose words are read at a time."""
MOST_KEPT = 2 << 20
"""Bytes of touched pages that are cleared rather than given back."""
TOUCHED = 3 << 62
"""Bits of a page's word: it is in memory, or was swapped out."""
NO_ACCESS, GIVE_BACK = 0, 4  # PROT_NONE, MADV_DONTNEED


@external
def pread(descriptor: i32, to: Ptr[u64], nbytes: u64, offset: u64) -> i64: ...


@external
def mprotect(start: u64, nbytes: u64, allowed: i32) -> i32: ...


@external
def madvise(start: u64, nbytes: u64, advice: i32) -> i32: ...


@external
def memset(start: u64, byte: i32, nbytes: u64) -> Ptr[u8]: ...


@device
def lw_reset_memory(base: u64, used: u64, minimum: u64):
    """Clear the bytes of a memory that were in use, and leave no more than `minimum` of them usable."""
    clear_touched(base, used)
    if used > minimum:
        mprotect(base + minimum, used - minimum, NO_ACCESS)


@device(inline=False)
def clear_touched(base: u64, used: u64):
    """Clear the pages that anybody touched, or give back what is left of them once it has been many."""
    table = lw_worker_table()
    page = u64(1) << table.page_bits
    buffer: u64[PIECE]
    words = addressof(buffer[0])
    done, cleared = u64(0), u64(0)
    while done < used:
        count = min(u64(PIECE), (used - done) >> table.page_bits)
        if count * 8 != u64(pread(table.pagemap, words, count * 8, (base + done) >> table.page_bits << 3)):
            clear_all(base + done, used - done)
            return
        for at in range(count):
            if words[at] & TOUCHED != 0:
                if cleared >= MOST_KEPT:
                    give_back(base + done, used - done)
                    return
                memset(base + done, 0, page)
                cleared += page
            done += page


@device
def clear_all(start: u64, nbytes: u64):
    """The same where the system does not tell which pages were touched."""
    if nbytes > MOST_KEPT:
        give_back(start, nbytes)
    else:
        memset(start, 0, nbytes)


@device
def give_back(start: u64, nbytes: u64):
    """Let the system have pages, which are zero when they are touched again."""
    if madvise(start, nbytes, GIVE_BACK) != 0:  # they are locked in memory
        memset(start, 0, nbytes)
