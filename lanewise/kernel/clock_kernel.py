"""Reading a device's clock from the host."""

from lanewise.lang.functions import kernel
from lanewise.lang.types import Ptr, u64
from lanewise.lang.vocabulary import time_ns


@kernel
def read_clock(out: Ptr[u64]):
    out[0] = time_ns()
