/* Which paths can be read, which can be had at all, and what may be made next to them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct stat st;
    for (int i = 1; i < argc; i++) {
        int fd = open(argv[i], O_RDONLY);
        printf("%s:%s%s%s%s\n", argv[i], fd < 0 ? "" : " opened", stat(argv[i], &st) ? "" : " found",
               access(argv[i], R_OK) ? "" : " readable", open(argv[i], O_RDWR | O_CREAT, 0600) < 0 ? "" : " writable");
    }
    return 0;
}
