"""Device code of the benchmark `layout`: the same tree laid out many times by one group, without a launch each."""

from lanewise.desktop.layout.engine import run_layout
from lanewise.desktop.layout.keywords import LEFT
from lanewise.desktop.layout.rechecking import forget_answers, mark_dirty
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang import Ptr, f32, i32, kernel, local_id, threadgroup_barrier, threadgroup_size, u32


@kernel
def lay_out_again(tree: Ptr[LayoutTree], times: u32):
    """From scratch each time."""
    for _ in range(times):
        for node in range(local_id(), tree.count, threadgroup_size()):
            forget_answers(tree, i32(node))
        run_layout(tree)


@kernel
def lay_out_changed(tree: Ptr[LayoutTree], times: u32, step: u32, wider: f32):
    """One node is changed each time: its margin grows, and goes back the next time; then it is another node's turn."""
    for turn in range(times):
        node = i32((turn // 2 * step + 1) % tree.count)
        if local_id() == 0:
            (tree.styles + node).margin[LEFT].value += wider if turn % 2 == 0 else -wider
        mark_dirty(tree, node)
        threadgroup_barrier()
        run_layout(tree)
