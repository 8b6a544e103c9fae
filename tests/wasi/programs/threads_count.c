/* Four threads add to one counter; the first joins them by waiting for a word of each to change. */

#include "threads.h"

static struct thread threads[4];
static int counter, go;

static void add(struct thread *thread) {
    wait_while(&go, 0);
    for (int i = 0; i < 1000; i++) __atomic_fetch_add(&counter, thread->number, __ATOMIC_SEQ_CST);
    finish(thread);
}

EXPORT("_start") void _start(void) {
    int ids = 0, different = 1;
    for (int i = 0; i < 4; i++) {
        int id = start(&threads[i], i + 1, add);
        if (id <= 0) proc_exit(1);
        ids++;
    }
    __atomic_store_n(&go, 1, __ATOMIC_SEQ_CST);
    __builtin_wasm_memory_atomic_notify(&go, -1);
    for (int i = 0; i < 4; i++) join(&threads[i]);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) different &= threads[i].id != threads[j].id;
    print("threads: ", ids);
    print("different: ", different);
    print("counter: ", load(&counter));
    print("woken without a thread: ", __builtin_wasm_memory_atomic_notify(&go, -1));
    print("waiting for what is not so: ", __builtin_wasm_memory_atomic_wait32(&go, 0, -1));
    print("waiting for too long: ", __builtin_wasm_memory_atomic_wait32(&go, 1, 1000000));
    proc_exit(load(&counter) == 10000 ? 0 : 1);
}
