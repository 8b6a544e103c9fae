//! Neighbours: lanes of a group show each other their words, wait, and write the sum over both neighbours and
//! themselves. The group is a ring.
#![no_std]
mod gpu;
use gpu::*;

#[export_name = "_start"]
pub extern "C" fn program() -> i32 {
    let (me, here) = (thread_id(), local_id());
    let members = threadgroup_size().min(thread_count() - group_id() * threadgroup_size());
    write_shared(here, read_input(me));
    threadgroup_barrier();
    let left = read_shared((here + members - 1) % members);
    let right = read_shared((here + 1) % members);
    write_output(me, left + read_shared(here) + right);
    0
}
