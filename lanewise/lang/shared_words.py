"""`read_shared` and `write_shared`: a group's shared memory as plain 32-bit words."""

from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, i32, u32
from lanewise.lang.vocabulary import shared

SHARED_WORDS = 2048


@device
def read_shared(index: u32) -> i32:
    """The word at this index of the group's shared memory; there are 2,048 of them."""
    words = _shared_words()
    assert index < SHARED_WORDS, "read_shared beyond the 2,048 words of a group"
    return words[index]


@device
def write_shared(index: u32, value: i32):
    """Set the word at this index of the group's shared memory; others see it behind the next barrier."""
    words = _shared_words()
    assert index < SHARED_WORDS, "write_shared beyond the 2,048 words of a group"
    words[index] = value


@device
def _shared_words() -> Ptr[i32]:
    return shared(i32[SHARED_WORDS]) + 0
