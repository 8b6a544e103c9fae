/* A mutex out of one word: 0 is free, 1 is held, 2 is held and waited for. Four threads share what it guards. */

#include "threads.h"

static struct thread threads[4];
static int mutex, total, inside, broken, order[4], last;

static void lock(void) {
    int was = 0;
    if (__atomic_compare_exchange_n(&mutex, &was, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
    while (__atomic_exchange_n(&mutex, 2, __ATOMIC_SEQ_CST)) __builtin_wasm_memory_atomic_wait32(&mutex, 2, -1);
}

static void unlock(void) {
    if (__atomic_exchange_n(&mutex, 0, __ATOMIC_SEQ_CST) == 2) __builtin_wasm_memory_atomic_notify(&mutex, 1);
}

static void work(struct thread *thread) {
    for (int i = 0; i < 250; i++) {
        lock();
        broken += inside++ != 0;
        total += thread->number * i % 7; /* not atomic: what the mutex is for */
        inside--;
        unlock();
    }
    lock();
    order[last++] = thread->number;
    print("done: ", last);
    unlock();
    finish(thread);
}

EXPORT("_start") void _start(void) {
    for (int i = 0; i < 4; i++)
        if (start(&threads[i], i, work) <= 0) proc_exit(1);
    for (int i = 0; i < 4; i++) join(&threads[i]);
    int seen = 0;
    for (int i = 0; i < 4; i++) seen |= 1 << order[i];
    print("all four: ", seen);
    print("total: ", total);
    print("broken: ", broken);
    proc_exit(broken);
}
