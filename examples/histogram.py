"""Count a million random numbers into 256 bins, on a GPU if there is one."""

import numpy as np

import lanewise as lw
from lanewise.lang import Ptr, atomic_add, f32, kernel, struct, thread_id, u32


@struct
class Histogram:
    """Counts of values per bin; written by all threads, read by the host."""

    total: u32
    bins: u32[256]


@kernel
def count(data: Ptr[f32], n: u32, out: Ptr[Histogram]):
    i = thread_id()
    if i < n:
        atomic_add(out.bins[u32(data[i] * 256.0)], 1)
        atomic_add(out.total, 1)


dev = lw.device("auto")
data = dev.array(np.random.rand(1_000_000).astype(np.float32))
hist = dev.zeros(Histogram)
count[data.size](data, data.size, hist)
result = hist.get()
print(f"{result['total']:,} values, {result['bins'].min():,} to {result['bins'].max():,} per bin, on {dev}")
