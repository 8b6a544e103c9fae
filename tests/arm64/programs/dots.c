/* Paths whose last name is a dot or two: the directory itself, which has another name and cannot be removed by this one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRY(what) \
    do { \
        long result = what; \
        printf("%s: %s\n", #what, result < 0 ? strerror(errno) : "done"); \
    } while (0)

int main(void)
{
    struct stat st;
    char text[8];
    mkdir("a", 0755);
    mkdir("keep", 0755);
    close(creat("f", 0600));
    symlink("a", "l");
    TRY(rmdir("keep/."));
    TRY(rmdir("keep/.//.//"));
    TRY(rmdir("a/../keep/."));
    TRY(rmdir("keep/.."));
    TRY(rmdir("l/."));
    TRY(rename("a/.", "new"));
    TRY(rename("keep", "a/./"));
    TRY(mkdir("new/.", 0700));
    TRY(mkdir("a/.", 0700));
    TRY(symlink("x", "new/."));
    TRY(link("f", "a/."));
    TRY(unlink("f/."));
    TRY(unlink("a/."));
    TRY(open("new/.", O_CREAT | O_RDWR, 0600));
    TRY(open("a/.", O_CREAT | O_RDONLY, 0600));
    TRY(readlink("l/.", text, sizeof text));
    TRY(lstat("l/.", &st));
    printf("%d\n", S_ISDIR(st.st_mode));
    TRY(chdir("keep"));
    TRY(rmdir("."));
    TRY(rmdir(".."));
    TRY(rename(".", "../new"));
    TRY(unlink("."));
    TRY(open(".", O_RDONLY));
    return 0;
}
