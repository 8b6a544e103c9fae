/* The arguments, the environment, what runs at the end, and the exit code: `environment CODE WAY`. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void first(void) { puts("registered first, runs last"); }
static void second(void) { puts("registered second, runs first"); }

static const char *or_none(const char *value) { return value ? value : "(none)"; }

__attribute__((constructor)) static void before_main(void) { puts("before main"); }
__attribute__((destructor)) static void after_main(void) { puts("after main"); }

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) printf("%d: [%s]\n", i, arguments[i]);
    printf("after the last: %d\n", arguments[count] == NULL);
    int variables = 0;
    while (environ[variables]) variables++;
    printf("%d variables, HOME is %s, EMPTY is [%s]\n", variables, or_none(getenv("HOME")), or_none(getenv("EMPTY")));
    setenv("HOME", "/elsewhere", 1);
    setenv("NEW", "1", 0);
    unsetenv("EMPTY");
    printf("HOME is %s, NEW is %s, EMPTY is %s\n", getenv("HOME"), getenv("NEW"), or_none(getenv("EMPTY")));
    char folder[64];
    printf("in %s\n", or_none(getcwd(folder, sizeof folder)));
    atexit(first);
    atexit(second);
    int code = count > 1 ? atoi(arguments[1]) : 0;
    const char *way = count > 2 ? arguments[2] : "return";
    if (!strcmp(way, "exit")) exit(code);
    if (!strcmp(way, "_Exit")) _Exit(code);
    if (!strcmp(way, "abort")) abort();
    return code;
}
