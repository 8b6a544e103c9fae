/* The peer of the benchmark `run`: a host that runs a program once per file under wasmtime's C interface.

   programs_host WORKERS MODULE FOLDER NAME...

   The module is compiled once, or taken from wasmtime's cache; then WORKERS processes share the files, each in a fresh
   store. A file is FOLDER/NAME to the program, whose output goes to ours. The declarations are those of wasmtime 50. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct any any;
typedef struct { uint64_t store; void *inner; } handle;
typedef struct { uint8_t kind; union { handle func; uint64_t others[4]; } of; } export_t;

any *wasm_config_new(void);
any *wasmtime_config_cache_config_load(any *, const char *);
any *wasm_engine_new_with_config(any *);
any *wasmtime_module_new(any *, const uint8_t *, size_t, any **);
any *wasmtime_linker_new(any *);
any *wasmtime_linker_define_wasi(any *);
any *wasmtime_linker_instantiate_pre(any *, any *, any **);
any *wasi_config_new(void);
bool wasi_config_set_argv(any *, size_t, const char **);
void wasi_config_inherit_stdout(any *);
bool wasi_config_preopen_dir(any *, const char *, const char *, bool);
any *wasmtime_store_new(any *, void *, void *);
any *wasmtime_store_context(any *);
any *wasmtime_context_set_wasi(any *, any *);
any *wasmtime_instance_pre_instantiate(any *, any *, handle *, any **);
bool wasmtime_instance_export_get(any *, const handle *, const char *, size_t, export_t *);
any *wasmtime_func_call(any *, const handle *, const void *, size_t, void *, size_t, any **);
bool wasmtime_error_exit_status(any *, int *);
void wasmtime_error_delete(any *);
void wasmtime_store_delete(any *);

static void need(bool fine, const char *what) {
    if (!fine) {
        fprintf(stderr, "programs_host: %s failed\n", what);
        exit(1);
    }
}

static void run(any *engine, any *program, const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const char *arguments[] = {"json.wasm", path};
    any *wasi = wasi_config_new();
    need(wasi_config_set_argv(wasi, 2, arguments), "setting arguments");
    wasi_config_inherit_stdout(wasi);
    need(wasi_config_preopen_dir(wasi, folder, folder, false), "opening the folder");
    any *store = wasmtime_store_new(engine, NULL, NULL);
    any *context = wasmtime_store_context(store), *trap = NULL;
    need(!wasmtime_context_set_wasi(context, wasi), "giving WASI");
    handle instance;
    need(!wasmtime_instance_pre_instantiate(program, context, &instance, &trap) && !trap, "instantiating");
    export_t start;
    need(wasmtime_instance_export_get(context, &instance, "_start", 6, &start), "finding _start");
    any *error = wasmtime_func_call(context, &start.of.func, NULL, 0, NULL, 0, &trap);
    int status = 0;
    need(!trap && (!error || (wasmtime_error_exit_status(error, &status) && status == 0)), name);
    if (error)
        wasmtime_error_delete(error);
    wasmtime_store_delete(store);
}

int main(int count, char **words) {
    need(count > 4, "reading the command line");
    int workers = atoi(words[1]), status = 0;
    FILE *file = fopen(words[2], "rb");
    need(file != NULL, "opening the module");
    static uint8_t code[1 << 22];
    size_t bytes = fread(code, 1, sizeof code, file);
    any *config = wasm_config_new(), *module, *program;
    need(!wasmtime_config_cache_config_load(config, NULL), "opening the cache");
    any *engine = wasm_engine_new_with_config(config);
    need(!wasmtime_module_new(engine, code, bytes, &module), "compiling");
    any *linker = wasmtime_linker_new(engine);
    need(!wasmtime_linker_define_wasi(linker), "defining WASI");
    need(!wasmtime_linker_instantiate_pre(linker, module, &program), "linking");
    for (int worker = 0; worker < workers; worker++) {
        if (workers == 1 || fork() == 0) {
            for (int at = 4 + worker; at < count; at += workers)
                run(engine, program, words[3], words[at]);
            _exit(0);
        }
    }
    for (int worker = 0; worker < workers; worker++)
        need(wait(&status) > 0 && status == 0, "a worker");
    return 0;
}
