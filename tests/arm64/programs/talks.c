/* Answers each line as it comes; says first whether its streams are terminals, and waits for input as asked. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char line[256];
    struct winsize size = {0};
    ioctl(1, TIOCGWINSZ, &size);
    printf("terminals %d%d, %d columns\n", isatty(0), isatty(1), size.ws_col);
    fflush(stdout);
    if (argc > 1) {
        struct pollfd one = {.fd = 0, .events = POLLIN};
        printf("poll %d\n", poll(&one, 1, 20));
        fflush(stdout);
        printf("poll %d\n", poll(&one, 1, -1));
        fflush(stdout);
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        printf("you said %s\n", line);
        fflush(stdout);
    }
    printf("over\n");
    return 5;
}
