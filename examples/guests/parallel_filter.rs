//! Parallel filter: lanes whose word of the input is above 0 write it to the output, in any order, without gaps.
//! State 0 counts them.
#![no_std]
mod gpu;
use gpu::*;

#[export_name = "_start"]
pub extern "C" fn program() -> i32 {
    let mine = read_input(thread_id());
    if mine > 0 {
        let slot = atomic_add(0, 1);
        write_output(slot, mine);
    }
    0
}
