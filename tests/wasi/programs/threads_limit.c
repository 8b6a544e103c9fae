/* Starts threads until there is an error, lets them go, and starts one again. */

#include "threads.h"

#define MOST 64

static struct thread threads[MOST + 1];
static int go;

static void stay(struct thread *thread) {
    wait_while(&go, 0);
    finish(thread);
}

EXPORT("_start") void _start(void) {
    int count = 0, error = 0;
    while (count < MOST && (error = start(&threads[count], count, stay)) > 0) count++;
    print("threads at a time: ", count);
    print("refused: ", error < 0);
    __atomic_store_n(&go, 1, __ATOMIC_SEQ_CST);
    __builtin_wasm_memory_atomic_notify(&go, -1);
    for (int i = 0; i < count; i++) join(&threads[i]);
    int again = 0;
    for (int attempt = 0; attempt < 1000 && again <= 0; attempt++) { /* a thread is over a little after its last word */
        again = start(&threads[MOST], MOST, stay);
        if (again <= 0) __builtin_wasm_memory_atomic_wait32(&go, 1, 1000000);
    }
    if (again > 0) join(&threads[MOST]);
    print("one more, later: ", again > 0);
    proc_exit(error < 0 && again > 0 ? 0 : 3);
}
