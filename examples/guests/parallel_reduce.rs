//! Parallel reduce: each lane adds its word of the input to state 0; state 1 and 2 become the smallest and the largest.
#![no_std]
mod gpu;
use gpu::*;

#[export_name = "_start"]
pub extern "C" fn program() -> i32 {
    let mine = read_input(thread_id());
    atomic_add(0, mine);
    atomic_min(1, mine);
    atomic_max(2, mine);
    0
}
