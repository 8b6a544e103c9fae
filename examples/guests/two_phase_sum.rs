//! A sum in two phases: first within each group, in shared memory, then one atomic of each group on state 0.
#![no_std]
mod gpu;
use gpu::*;

#[export_name = "_start"]
pub extern "C" fn program() -> i32 {
    let here = local_id();
    let members = threadgroup_size().min(thread_count() - group_id() * threadgroup_size());
    write_shared(here, read_input(thread_id()));
    threadgroup_barrier();

    let mut count = members; // words that are still to be added up
    while count > 1 {
        let half = (count + 1) / 2;
        if here + half < count {
            write_shared(here, read_shared(here).wrapping_add(read_shared(here + half)));
        }
        threadgroup_barrier();
        count = half;
    }
    if here == 0 {
        atomic_add(0, read_shared(0));
    }
    0
}
