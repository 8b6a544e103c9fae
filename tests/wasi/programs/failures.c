/* What does not work, and which error says so: absent files, folders as files, paths that lead out of the folder. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void report(const char *what, long result) {
    int error = errno;
    if (result >= 0)
        printf("%s: %ld\n", what, result);
    else
        printf("%s: %s\n", what, strerror(error));
    errno = 0;
}

#define REPORT(call) report(#call, call)

int main(void) {
    char byte;
    struct stat status;
    REPORT(open("absent", O_RDONLY));
    REPORT(open("absent/below", O_CREAT | O_WRONLY));
    REPORT(open("file/below", O_RDONLY));
    REPORT(open("folder", O_WRONLY));
    REPORT(open("file", O_RDONLY | O_DIRECTORY));
    REPORT(open("file", O_CREAT | O_EXCL | O_WRONLY));
    REPORT(open("", O_RDONLY));
    REPORT(open("../outside", O_RDONLY));
    REPORT(open("folder/../../outside", O_RDONLY));
    REPORT(open("folder/../file", O_RDONLY) > 2);
    REPORT(open("/etc/passwd", O_RDONLY));
    REPORT(open("out", O_RDONLY));
    REPORT(open("out/passwd", O_RDONLY));
    REPORT(stat("out", &status));
    REPORT(lstat("out", &status));
    REPORT(open("loop", O_RDONLY));
    REPORT(open("inside", O_RDONLY) > 2);
    REPORT(open("inside", O_RDONLY | O_NOFOLLOW));
    REPORT(mkdir("folder", 0777));
    REPORT(mkdir("../new", 0777));
    REPORT(rmdir("file"));
    REPORT(rmdir("folder"));
    REPORT(rmdir("absent"));
    REPORT(unlink("folder"));
    REPORT(unlink("absent"));
    REPORT(unlink("../outside"));
    REPORT(rename("absent", "other"));
    REPORT(rename("file", "../outside"));
    REPORT(rename("folder", "file"));
    REPORT(symlink("/etc", "absolute"));
    REPORT(symlink("file", "folder"));
    REPORT(link("absent", "other"));
    REPORT(readlink("file", &byte, 1));
    REPORT(read(99, &byte, 1));
    REPORT(write(0, "", 1));
    REPORT(close(99));
    REPORT(lseek(1, 0, SEEK_CUR));
    int file = open("file", O_RDONLY), folder = open("folder", O_RDONLY | O_DIRECTORY);
    REPORT(write(file, "x", 1));
    REPORT(lseek(file, -1, SEEK_SET));
    REPORT(ftruncate(file, 0));
    REPORT(read(folder, &byte, 1));
    REPORT(close(file));
    REPORT(read(file, &byte, 1));
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    report("a long name", open(name, O_RDONLY));
    printf("opendir: %d %s\n", opendir("file") == NULL, strerror(errno));
    printf("fopen: %d %s\n", fopen("absent", "r") == NULL, strerror(errno));
    return 0;
}
