/* Many calls of the system that do little. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000, sum = 0;
    for (long i = 0; i < count; i++)
        sum += syscall(SYS_getpid) > 0;
    printf("%ld\n", sum);
    return 0;
}
