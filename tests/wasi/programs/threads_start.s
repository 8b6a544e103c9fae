# Where a thread starts: it takes its stack from the first word of the argument, then goes on in C.

    .globaltype __stack_pointer, i32
    .functype run_thread (i32, i32) -> ()
    .globl wasi_thread_start
    .export_name wasi_thread_start, wasi_thread_start

wasi_thread_start:
    .functype wasi_thread_start (i32, i32) -> ()
    local.get 1
    i32.load 0
    global.set __stack_pointer
    local.get 0
    local.get 1
    call run_thread
    end_function
