/* Files in the directory that it is in: made, written, read, renamed, listed, removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void show(const char *what, long result)
{
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *path)
{
    char *names[64];
    int count = 0;
    DIR *dir = opendir(path);
    if (!dir) {
        show(path, -1);
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) && count < 64;)
        names[count++] = strdup(e->d_name);
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    for (int i = 0; i < count; i++)
        printf(" %s", names[i]);
    printf("\n");
}

int main(void)
{
    struct stat st;
    char text[128];
    show("mkdir", mkdir("made", 0755));
    show("mkdir again", mkdir("made", 0755));
    FILE *f = fopen("made/one.txt", "w");
    for (int i = 0; i < 1000; i++)
        fprintf(f, "line %d\n", i);
    fclose(f);
    show("stat", stat("made/one.txt", &st));
    printf("%ld bytes, mode %o\n", (long)st.st_size, (unsigned)(st.st_mode & 0777));
    f = fopen("made/one.txt", "r");
    fseek(f, -9, SEEK_END);
    printf("%s", fgets(text, sizeof text, f));
    fclose(f);
    f = fopen("made/one.txt", "a");
    fputs("the end\n", f);
    fclose(f);
    show("rename", rename("made/one.txt", "made/two.txt"));
    int fd = open("made/two.txt", O_RDWR);
    char *map = mmap(0, 64, PROT_READ, MAP_PRIVATE, fd, 0);
    printf("%.13s\n", map);
    show("munmap", munmap(map, 64));
    show("truncate", ftruncate(fd, 10));
    show("pwrite", pwrite(fd, "LINE", 4, 0));
    printf("%ld: %.6s\n", (long)pread(fd, text, sizeof text, 0), text);
    int again = dup(fd);
    lseek(again, 5, SEEK_SET);
    printf("%ld\n", (long)read(fd, text, sizeof text));
    close(fd);
    close(again);
    show("close twice", close(again));
    list(".");
    list("made");
    show("rmdir of a full one", rmdir("made"));
    show("unlink", unlink("made/two.txt"));
    show("rmdir", rmdir("made"));
    show("missing", open("missing", O_RDONLY));
    show("access", access("given.txt", R_OK));
    return 0;
}
