/* Calls that programs keep files by: room ahead, copies, disks, and that all is kept. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

static void show(const char *what, long result)
{
    printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

static void show_disk(const char *what, int found, const struct statvfs *disk)
{
    printf("%s: %d %lu %lu %lu", what, found, disk->f_bsize, disk->f_frsize, disk->f_namemax);
    printf(" %d %d\n", disk->f_blocks > disk->f_bfree, disk->f_bfree > 0);
}

int main(void)
{
    struct statvfs disk;
    struct statfs kind;
    struct stat st;
    char text[32] = "";
    off_t from = 2, to = 4;
    show("mknod", mknod("made", S_IFREG | 0640, 0));
    show("mknod again", mknod("made", 0600, 0));
    show("stat", stat("made", &st));
    printf("%o\n", st.st_mode);
    int made = open("made", O_RDWR), other = open("other", O_CREAT | O_RDWR, 0600), here = open(".", O_RDONLY);
    printf("posix_fallocate: %d\n", posix_fallocate(made, 0, 10000));
    printf("%ld\n", (long)lseek(made, 0, SEEK_END));
    pwrite(made, "content", 7, 0);
    lseek(made, 0, SEEK_SET);
    show("copy_file_range", copy_file_range(made, 0, other, 0, 3, 0));
    show("copy_file_range", copy_file_range(made, &from, other, &to, 5, 0));
    printf("%ld %ld %ld %ld\n", (long)from, (long)to, (long)lseek(made, 0, SEEK_CUR), (long)lseek(other, 0, SEEK_CUR));
    printf("%ld %s\n", (long)pread(other, text, sizeof text, 0), text + 4);
    show("of a directory", copy_file_range(here, 0, other, 0, 3, 0));
    show("with flags", copy_file_range(made, 0, other, 0, 3, 1));
    from = -1;
    show("from nowhere", copy_file_range(made, &from, other, 0, 3, 0));
    show_disk("statvfs", statvfs("made", &disk), &disk);
    show_disk("fstatvfs", fstatvfs(here, &disk), &disk);
    show("statfs", statfs(".", &kind));
    printf("%ld\n", (long)kind.f_namelen);
    show("statfs of nothing", statfs("nothing", &kind));
    void *map = mmap(0, 4096, PROT_READ, MAP_SHARED, made, 0);
    show("msync", msync(map, 4096, MS_SYNC));
    show("msync", msync((char *)map + 1, 4096, MS_SYNC));
    sync();
    return 0;
}
