/* What the system says of itself: checked here, as clocks and random bytes differ from run to run. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) printf("%s: %s\n", #what, (what) ? "yes" : "NO")

int main(void)
{
    struct timespec a, b, pause = {0, 20000000};
    struct utsname name;
    struct rlimit limit;
    unsigned char one[32] = {0}, two[32] = {0}, zero[32] = {0};
    char text[16];
    int ends[2];
    clock_gettime(CLOCK_MONOTONIC, &a);
    CHECK(nanosleep(&pause, 0) == 0);
    clock_gettime(CLOCK_MONOTONIC, &b);
    CHECK((b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec >= 20000000);
    CHECK(time(0) > 1700000000);
    CHECK(clock() != -1);
    CHECK(getrandom(one, 32, 0) == 32 && getrandom(two, 32, 0) == 32);
    CHECK(memcmp(one, two, 32) && memcmp(one, zero, 32));
    CHECK(uname(&name) == 0 && !strcmp(name.machine, "aarch64") && !strcmp(name.sysname, "Linux"));
    CHECK(getauxval(AT_PAGESZ) == 4096);
    CHECK(getauxval(AT_RANDOM) != 0);
    CHECK(getpid() > 0 && getppid() > 0);
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur > 0);
    CHECK(isatty(1) == 0);
    CHECK(pipe(ends) == 0 && write(ends[1], "through", 7) == 7 && read(ends[0], text, 16) == 7);
    struct pollfd poll_one = {ends[0], POLLIN, 0};
    CHECK(poll(&poll_one, 1, 10) == 0);
    CHECK(close(ends[1]) == 0 && read(ends[0], text, 16) == 0);
    CHECK(fcntl(1, F_GETFD) == 0);
    CHECK(close(77) == -1 && errno == EBADF);
    CHECK(read(open("/dev/zero", O_RDONLY), text, 16) == 16 && !memcmp(text, zero, 16));
    CHECK(write(open("/dev/null", O_WRONLY), text, 16) == 16);
    CHECK(signal(SIGUSR1, SIG_IGN) == SIG_DFL && raise(SIGUSR1) == 0);
    CHECK(write(1, (void *)-4096L, 8) == -1 && errno == EFAULT);
    return 0;
}
