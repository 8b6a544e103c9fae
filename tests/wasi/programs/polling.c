/* poll over standard input, standard output, a file and nothing at all. The input ends. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char *names(short events) {
    static char text[32];
    snprintf(text, sizeof text, "%s%s%s%s", events & POLLIN ? "in " : "", events & POLLOUT ? "out " : "",
             events & POLLERR ? "err " : "", events & POLLNVAL ? "nval " : "");
    return text;
}

int main(void) {
    struct pollfd out = {1, POLLOUT, 0};
    int ready = poll(&out, 1, 1000);
    printf("output: %d %s\n", ready, names(out.revents));
    char buffer[32];
    ssize_t length, total = 0;
    do {
        struct pollfd in = {0, POLLIN, 0};
        ready = poll(&in, 1, 5000);
        if (ready != 1 || !(in.revents & POLLIN)) {
            printf("input: %d %s\n", ready, names(in.revents));
            return 1;
        }
        length = read(0, buffer, sizeof buffer);
        total += length;
    } while (length > 0);
    printf("%zd bytes were read, %zd at the end\n", total, length);
    int fd = open("file", O_RDONLY);
    struct pollfd both[2] = {{fd, POLLIN, 0}, {1, POLLOUT, 0}};
    ready = poll(both, 2, -1);
    printf("at least one of both: %d\n", ready >= 1 && (both[0].revents & POLLIN || both[1].revents & POLLOUT));
    ready = poll(both, 1, -1);
    printf("a file: %d %s\n", ready, names(both[0].revents));
    struct pollfd absent = {77, POLLIN, 0};
    ready = poll(&absent, 1, 10);
    printf("absent: %d %s\n", ready, ready < 0 ? strerror(errno) : names(absent.revents));
    long start = milliseconds();
    ready = poll(NULL, 0, 15);
    long waited = milliseconds() - start;
    printf("nothing: %d, waited: %d\n", ready, waited >= 14 && waited < 5000);
    return 0;
}
