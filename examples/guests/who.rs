//! You are the threads: each lane says who it is.
#![no_std]
mod gpu;
use gpu::*;

#[export_name = "_start"]
pub extern "C" fn program() -> i32 {
    let me = thread_id();
    debug_str("lane ");
    debug_i32(me);
    debug_str(" of ");
    debug_i32(thread_count());
    debug_str(", number ");
    debug_i32(local_id());
    debug_str(" in group ");
    debug_i32(group_id());
    debug_str(", even: ");
    debug_bool((me % 2 == 0) as i32);
    debug_str(", and a half: ");
    debug_f32(me as f32 + 0.5);
    debug_newline();
    debug_flush();
    0
}
