/* Signals that are blocked wait until they are not, and do then what is wanted then. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void show(const char *what)
{
    sigset_t waiting;
    sigpending(&waiting);
    printf("%s:", what);
    for (int one = 1; one < 32; one++)
        if (sigismember(&waiting, one))
            printf(" %d", one);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    sigset_t some, all, before;
    siginfo_t info;
    struct timespec moment = {0, 1000};
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGUSR2);
    sigaddset(&some, SIGCHLD);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &some, 0);
    raise(SIGUSR2);
    raise(SIGUSR1);
    raise(SIGCHLD);
    show("blocked");
    signal(SIGUSR1, SIG_IGN);
    show("one ignored");
    raise(SIGUSR1);
    show("and come again");
    printf("taken: %d\n", sigtimedwait(&some, &info, &moment));
    printf("%d %d %d\n", info.si_signo, info.si_code, info.si_pid == getpid());
    signal(SIGCHLD, SIG_DFL);
    show("another by default");
    raise(SIGCHLD);
    sigtimedwait(&some, 0, &moment);
    show("taken in order");
    sigtimedwait(&some, 0, &moment);
    printf("none: %d %s\n", sigtimedwait(&some, 0, &moment), strerror(errno));
    sigprocmask(SIG_BLOCK, &all, &before);
    sigprocmask(SIG_SETMASK, &before, &all);
    printf("never blocked: %d %d\n", sigismember(&all, SIGKILL), sigismember(&all, SIGSTOP));
    raise(SIGUSR2);
    if (argc > 1)
        signal(SIGUSR2, SIG_IGN);
    show("to be let through");
    sigprocmask(SIG_UNBLOCK, &some, 0);
    show("ignored");
    sigprocmask(SIG_BLOCK, &all, 0);
    raise(SIGKILL);
    return 0;
}
