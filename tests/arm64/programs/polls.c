/* What poll says of pipes, whose ends are open or closed, empty or full. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static void show(const char *what, int fd)
{
    static const short wanted[] = {0, POLLIN, POLLOUT, POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM};
    printf("%s:", what);
    for (int one = 0; one < 4; one++) {
        struct pollfd asked = {fd, wanted[one], 0};
        int ready = poll(&asked, 1, 0);
        printf(" %d %x", ready, asked.revents);
    }
    printf("\n");
}

int main(void)
{
    static char room[65536];
    int ends[2], others[2];
    pipe(ends);
    show("nothing to read", ends[0]);
    show("room to write", ends[1]);
    write(ends[1], room, sizeof room);
    show("something to read", ends[0]);
    show("no room", ends[1]);
    close(ends[1]);
    show("the last there is", ends[0]);
    read(ends[0], room, sizeof room);
    show("the end", ends[0]);
    pipe(others);
    close(others[0]);
    show("nobody reads", others[1]);
    struct pollfd both[] = {{ends[0], 0, 0}, {-1, POLLIN, 0}, {others[1], POLLIN, 0}};
    printf("%d %x %x %x\n", poll(both, 3, -1), both[0].revents, both[1].revents, both[2].revents);
    pipe2(others, O_NONBLOCK);
    write(others[1], room, sizeof room);
    close(others[0]);
    show("nobody reads, and no room", others[1]);
    show("a file", open("polled", O_CREAT | O_RDWR, 0600));
    close(0);
    show("nothing", 0);
    return 0;
}
