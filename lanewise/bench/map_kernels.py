"""Device code of the benchmark `map`: y = 2x + 1, written the ways a user would."""

from lanewise.lang import Ptr, f32, grid_range, kernel, thread_id, u32


@kernel
def scale(x: Ptr[f32], n: u32, y: Ptr[f32]):
    """One thread an element."""
    i = thread_id()
    if i < n:
        y[i] = 2.0 * x[i] + 1.0


@kernel
def scale_grid(x: Ptr[f32], n: u32, y: Ptr[f32]):
    """Any number of threads; each takes its share."""
    for i in grid_range(n):
        y[i] = 2.0 * x[i] + 1.0


@kernel
def scale_again(x: Ptr[f32], n: u32, y: Ptr[f32], passes: u32):
    """The same work many times over, for data that stays in the caches."""
    for _ in range(passes):
        for i in grid_range(n):
            y[i] = 2.0 * x[i] + 1.0
