/* select, of pipes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

static const char *left(const struct timeval *time)
{
    return time->tv_sec || time->tv_usec ? "some time left" : "no time left";
}

static void show(int reads, int writes, int others, long microseconds)
{
    fd_set sets[3];
    int of[3] = {reads, writes, others}, most = 0;
    for (int one = 0; one < 3; one++) {
        FD_ZERO(&sets[one]);
        if (of[one] >= 0)
            FD_SET(of[one], &sets[one]);
        most = of[one] >= most ? of[one] + 1 : most;
    }
    struct timeval time = {microseconds / 1000000, microseconds % 1000000};
    int found = select(most, &sets[0], &sets[1], &sets[2], microseconds < 0 ? 0 : &time);
    printf("%d %s:", found, found < 0 ? strerror(errno) : "");
    for (int one = 0; found >= 0 && one < 3; one++)
        printf(" %d", of[one] >= 0 && FD_ISSET(of[one], &sets[one]));
    printf(" %s\n", left(&time));
}

int main(void)
{
    int ends[2];
    pipe(ends);
    dup2(ends[0], 70);
    close(ends[0]);
    show(70, -1, -1, 1000);
    show(70, ends[1], -1, 0);
    show(70, ends[1], 70, -1);
    write(ends[1], "x", 1);
    show(70, ends[1], -1, -1);
    show(ends[1], 70, -1, 1000);
    close(ends[1]);
    read(70, &ends, 1);
    show(70, -1, 70, -1);
    show(-1, 70, -1, 1000);
    show(70, 80, -1, 0);
    show(-1, -1, -1, 1000);
    show(70, -1, -1, 100000000);
    printf("%d\n", select(-1, 0, 0, 0, 0));
    struct timeval time = {0, 2000};
    int rounds = 0;
    do
        rounds++;
    while (select(0, 0, 0, 0, &time) == 0 && (time.tv_sec || time.tv_usec));
    printf("%d\n", rounds);
    return 0;
}
