/* Threads as wasi-threads has them: an import that starts one, an export that it starts in, memory that all share.

   The C library that Debian has is without threads, so that these programs bring what they need themselves. */

#include <stdint.h>

#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

IMPORT("wasi", "thread-spawn") int thread_spawn(void *argument);
IMPORT("wasi_snapshot_preview1", "fd_write") int fd_write(int fd, const void *pieces, int count, int *written);
IMPORT("wasi_snapshot_preview1", "proc_exit") _Noreturn void proc_exit(int code);

/* What a thread needs before it can run C: where its stack is. The rest is the program's own. */
struct thread {
    char *stack;
    void (*run)(struct thread *);
    int id;
    int number;
    int done;
    char bytes[2048] __attribute__((aligned(16)));
};

/* Called by threads_start.s. */
void run_thread(int id, struct thread *thread) {
    thread->id = id;
    thread->run(thread);
}

static int start(struct thread *thread, int number, void (*run)(struct thread *)) {
    thread->stack = thread->bytes + sizeof thread->bytes;
    thread->run = run;
    thread->number = number;
    return thread_spawn(thread);
}

static int load(int *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

static void wait_while(int *word, int value) {
    while (load(word) == value) __builtin_wasm_memory_atomic_wait32(word, value, -1);
}

static void finish(struct thread *thread) {
    __atomic_store_n(&thread->done, 1, __ATOMIC_SEQ_CST);
    __builtin_wasm_memory_atomic_notify((int *)&thread->done, -1);
}

static void join(struct thread *thread) { wait_while(&thread->done, 0); }

static void print(const char *text, int number) {
    char line[80];
    int length = 0, digits = 1;
    while (text[length]) line[length] = text[length], length++;
    for (int rest = number / 10; rest; rest /= 10) digits++;
    for (int digit = digits; digit--; number /= 10) line[length + digit] = '0' + number % 10;
    length += digits;
    line[length++] = '\n';
    struct {
        const char *bytes;
        int length;
    } piece = {line, length};
    int written;
    fd_write(1, &piece, 1, &written);
}
