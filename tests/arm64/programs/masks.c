/* Signals that are let through while ppoll or pselect wait: p or s first, then how.
   i: nothing happens by the signal, 0: no time, r: something is ready at once, n: no timeout. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    sigset_t some, none, waiting, after;
    struct timespec time = {0, strchr(argv[1], '0') ? 0 : 1000000};
    const struct timespec *timeout = strchr(argv[1], 'n') ? 0 : &time;
    int ends[2], count = strchr(argv[1], 'r') != 0;
    fd_set reads;
    pipe(ends);
    write(ends[1], "x", 1);
    FD_ZERO(&reads);
    FD_SET(ends[0], &reads);
    sigemptyset(&none);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    if (strchr(argv[1], 'i'))
        signal(SIGUSR1, SIG_IGN);
    sigprocmask(SIG_BLOCK, &some, 0);
    raise(SIGUSR1);
    printf("begin\n");
    fflush(stdout);
    struct pollfd asked = {ends[0], POLLIN, 0};
    printf("%d\n", *argv[1] == 'p' ? ppoll(&asked, count, timeout, &none)
                                   : pselect(count * (ends[0] + 1), &reads, 0, 0, timeout, &none));
    sigpending(&waiting);
    sigprocmask(SIG_BLOCK, 0, &after);
    printf("waiting %d, blocked %d\n", sigismember(&waiting, SIGUSR1), sigismember(&after, SIGUSR1));
    return 0;
}
