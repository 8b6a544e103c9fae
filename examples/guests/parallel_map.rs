//! Parallel map: each lane doubles one word of the state.
#![no_std]
mod gpu;
use gpu::*;

#[export_name = "_start"]
pub extern "C" fn program() -> i32 {
    let me = thread_id();
    write_state(me, read_state(me).wrapping_mul(2));
    0
}
