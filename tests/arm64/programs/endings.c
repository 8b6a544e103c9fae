/* All the ways to end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int *volatile nowhere;

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    printf("to %s", how); /* without an end of line: exit writes it, a signal loses it */
    if (!strcmp(how, "exit"))
        exit(300);
    if (!strcmp(how, "_exit"))
        _exit(7);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segfault"))
        *nowhere = 1;
    if (!strcmp(how, "illegal"))
        __asm__ volatile("udf #0");
    if (!strcmp(how, "trap"))
        __asm__ volatile("brk #1000");
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGTERM);
    if (!strcmp(how, "assert"))
        fputs("failed\n", stderr), raise(SIGABRT);
    if (!strcmp(how, "loop"))
        for (;;)
            ;
    return 42;
}
