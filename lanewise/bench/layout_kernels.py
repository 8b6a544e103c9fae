"""Device code of the benchmark `layout`: the same tree laid out many times by one group, without a launch each."""

from lanewise.desktop.layout.engine import run_layout
from lanewise.desktop.layout.rechecking import forget_answers, mark_dirty
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang import Ptr, i32, kernel, local_id, threadgroup_size, u32


@kernel
def lay_out_again(tree: Ptr[LayoutTree], times: u32, step: u32):
    """From scratch each time if the step is 0; else one node is changed, and each time it is another one."""
    changed = u32(1)
    for _ in range(times):
        if step == 0:
            for node in range(local_id(), tree.count, threadgroup_size()):
                forget_answers(tree, i32(node))
        else:
            mark_dirty(tree, i32(changed % tree.count))
        changed += step
        run_layout(tree)
