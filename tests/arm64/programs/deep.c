/* Calls itself so many times, with a kilobyte each. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int deep(volatile char *before, long rounds)
{
    volatile char here[1024];
    here[rounds % 1024] = *before;
    return rounds ? deep(here, rounds - 1) + here[rounds % 1024] : 0;
}

int main(int argc, char **argv)
{
    char first = 0;
    if (!deep(&first, argc > 1 ? atol(argv[1]) : 1))
        puts("done");
    return 0;
}
