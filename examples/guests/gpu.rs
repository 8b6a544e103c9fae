//! What a program on GPU lanes can ask for: imports from the module `gpu`. Each lane runs the whole program.
//!
//! `mod gpu;` brings it into a `no_std` program, together with a panic that traps. Buffers are of 32-bit words, and an
//! index counts words. An index past the end ends the lane. The entry is the function that is exported as `_start`;
//! what it returns is the lane's exit code. (A `main` without arguments is given those of C by rustc.)

#![allow(dead_code)]

macro_rules! vocabulary {
    ($($(#[$about:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        mod imports {
            #[link(wasm_import_module = "gpu")]
            extern "C" {
                $(pub fn $name($($argument: $kind),*) $(-> $result)?;)*
                pub fn debug_str(text: *const u8, length: usize);
            }
        }
        $($(#[$about])* #[inline(always)] pub fn $name($($argument: $kind),*) $(-> $result)? {
            unsafe { imports::$name($($argument),*) } // the host checks every index
        })*
    };
}

vocabulary! {
    /// This lane, from 0.
    fn thread_id() -> i32;
    fn thread_count() -> i32;
    /// This lane in its group, from 0.
    fn local_id() -> i32;
    fn group_id() -> i32;
    /// Lanes in a group; the last group may have fewer.
    fn threadgroup_size() -> i32;

    /// Waits for all lanes of the group, which must all come here.
    fn threadgroup_barrier();
    /// What was written before is seen before what is written after.
    fn memory_barrier();

    // The state, which all lanes share.
    fn read_state(index: i32) -> i32;
    fn write_state(index: i32, value: i32);
    fn read_state_f32(index: i32) -> f32;
    fn write_state_f32(index: i32, value: f32);

    // The input, which is only read, and the output.
    fn read_input(index: i32) -> i32;
    fn read_input_f32(index: i32) -> f32;
    fn write_output(index: i32, value: i32);
    fn write_output_f32(index: i32, value: f32);

    // Words of the group: 8,192 of them.
    fn read_shared(index: i32) -> i32;
    fn write_shared(index: i32, value: i32);
    fn read_shared_f32(index: i32) -> f32;
    fn write_shared_f32(index: i32, value: f32);

    // Atomics on the state. Each gives what was there before.
    fn atomic_add(index: i32, value: i32) -> i32;
    fn atomic_sub(index: i32, value: i32) -> i32;
    fn atomic_min(index: i32, value: i32) -> i32;
    fn atomic_max(index: i32, value: i32) -> i32;
    fn atomic_and(index: i32, value: i32) -> i32;
    fn atomic_or(index: i32, value: i32) -> i32;
    fn atomic_xor(index: i32, value: i32) -> i32;
    fn atomic_exchange(index: i32, value: i32) -> i32;
    fn atomic_compare_exchange(index: i32, expected: i32, value: i32) -> i32;
    fn atomic_load(index: i32) -> i32;
    fn atomic_store(index: i32, value: i32);

    /// Seconds since the start of the run.
    fn time() -> f32;
    fn time_ns() -> i64;

    /// Colours are from 0 to 1; (0, 0) is at the top left.
    fn set_pixel(x: i32, y: i32, red: f32, green: f32, blue: f32, alpha: f32);
    fn screen_width() -> i32;
    fn screen_height() -> i32;

    fn sin(x: f32) -> f32;
    fn cos(x: f32) -> f32;
    fn tan(x: f32) -> f32;
    fn asin(x: f32) -> f32;
    fn acos(x: f32) -> f32;
    fn atan(x: f32) -> f32;
    fn atan2(y: f32, x: f32) -> f32;
    fn sqrt(x: f32) -> f32;
    fn exp(x: f32) -> f32;
    fn log(x: f32) -> f32;
    fn pow(x: f32, y: f32) -> f32;
    fn floor(x: f32) -> f32;
    fn ceil(x: f32) -> f32;
    fn fabs(x: f32) -> f32;

    // Writing to the lane's standard output.
    fn debug_i32(value: i32);
    fn debug_f32(value: f32);
    fn debug_bool(value: i32);
    fn debug_newline();
    fn debug_flush();
}

pub fn debug_str(text: &str) {
    unsafe { imports::debug_str(text.as_ptr(), text.len()) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
