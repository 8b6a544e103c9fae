/* What Linux says to paths, descriptors and flags that are not quite what a call is for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define SHOW(what)                                                       \
    do {                                                                 \
        errno = 0;                                                       \
        long found = (long)(what);                                       \
        printf("%s: %ld %s\n", #what, found, found < 0 ? strerror(errno) : ""); \
    } while (0)

static struct stat st;
static struct statfs disk;
static char room[64];

static void only_paths(void)
{
    int file = open("f", O_RDWR), path = open("f", O_PATH), folder = open("d", O_PATH), link = open("l", O_PATH | O_NOFOLLOW);
    int null = open("/dev/null", O_PATH);
    off_t from = 0;
    struct pollfd asked = {path, POLLIN, 0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(path, &set);
    SHOW(read(path, room, 1));
    SHOW(write(path, room, 1));
    SHOW(pread(path, room, 1, 0));
    SHOW(lseek(path, 0, SEEK_SET));
    SHOW(ftruncate(path, 0));
    SHOW(fsync(path));
    SHOW(flock(path, LOCK_SH));
    SHOW(fchmod(path, 0600));
    SHOW(fchown(path, -1, -1));
    SHOW(futimens(path, 0));
    SHOW(copy_file_range(path, &from, file, 0, 1, 0));
    SHOW(copy_file_range(file, &from, path, 0, 1, 0));
    SHOW(syscall(SYS_getdents64, folder, room, sizeof room));
    SHOW(mmap(0, 4096, PROT_READ, MAP_PRIVATE, path, 0) == MAP_FAILED);
    SHOW(fcntl(path, F_SETFL, O_APPEND));
    SHOW((fcntl(path, F_GETFL) & O_PATH) != 0);
    SHOW(fcntl(path, F_GETFD));
    SHOW(fcntl(link, F_GETFL) == (O_PATH | O_NOFOLLOW));
    SHOW(fcntl(open("d", O_DIRECTORY), F_GETFL) & O_DIRECTORY);
    SHOW(fcntl(open("d", O_PATH | O_DIRECTORY), F_GETFL) == (O_PATH | O_DIRECTORY));
    SHOW(open("/dev/null", O_DIRECTORY));
    SHOW(readlinkat(link, "", room, sizeof room));
    SHOW(readlinkat(path, "", room, sizeof room));
    SHOW(readlinkat(AT_FDCWD, "", room, sizeof room));
    SHOW(madvise(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), -1, MADV_DONTNEED));
    SHOW(poll(&asked, 1, 0));
    SHOW(asked.revents);
    SHOW(select(path + 1, &set, 0, 0, 0));
    SHOW(write(null, room, 1));
    SHOW(fstat(null, &st));
    SHOW(S_ISCHR(st.st_mode));
    SHOW(fstat(link, &st));
    SHOW(S_ISLNK(st.st_mode));
    SHOW(fstat(path, &st));
    SHOW(st.st_size);
    SHOW(fstatfs(path, &disk));
    SHOW(close(dup(path)));
    SHOW(fstatat(path, "", &st, AT_EMPTY_PATH));
    SHOW(fchownat(path, "", -1, -1, AT_EMPTY_PATH));
    SHOW(utimensat(path, "", 0, AT_EMPTY_PATH));
    SHOW(mkdirat(folder, "in", 0700));
    SHOW(open("f/", O_PATH));
    SHOW(open("made", O_PATH | O_CREAT, 0600));
    SHOW(fchdir(path));
    SHOW(fchdir(folder));
    SHOW(rmdir("in"));
    SHOW(chdir(".."));
    SHOW(close(path));
}

static void odd_paths(int file)
{
    struct timespec neither[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}}, none[2] = {{0, -1}, {0, 0}}, then[2] = {{5, 6}, {7, 8}};
    SHOW(statfs("/", &disk));
    SHOW(statfs("/dev/null", &disk));
    SHOW(statfs("", &disk));
    SHOW(mknod("new/", 0600, 0));
    SHOW(mknod("f/", 0600, 0));
    SHOW(mknod("d/", 0600, 0));
    SHOW(mknod("l", 0600, 0));
    SHOW(mknod(".", 0600, 0));
    SHOW(mknod("/", 0600, 0));
    SHOW(mknod("x", S_IFDIR | 0700, 0));
    SHOW(mknod("x", S_IFLNK | 0700, 0));
    SHOW(mknod("x", 0x3000 | 0700, 0));
    SHOW(mkdir("/", 0700));
    SHOW(rmdir("/"));
    SHOW(fchownat(AT_FDCWD, "f", -1, -1, 0x8000));
    SHOW(fchownat(AT_FDCWD, "", -1, -1, AT_EMPTY_PATH));
    SHOW(fchownat(file, "", -1, -1, 0));
    SHOW(fchownat(file, "x", -1, -1, 0));
    SHOW(fchownat(99, "", -1, -1, AT_EMPTY_PATH));
    SHOW(openat(file, "", O_RDONLY));
    SHOW(utimensat(AT_FDCWD, "f", 0, 0x8000));
    SHOW(utimensat(AT_FDCWD, "nothing", neither, 0));
    SHOW(utimensat(AT_FDCWD, "f", none, 0));
    SHOW(syscall(SYS_utimensat, AT_FDCWD, 0, 0, 0));
    SHOW(syscall(SYS_utimensat, file, 0, 0, AT_SYMLINK_NOFOLLOW));
    SHOW(utimensat(file, "", then, AT_EMPTY_PATH));
    SHOW(fstat(file, &st));
    printf("%ld %ld\n", (long)st.st_atime, (long)st.st_mtime);
}

static void odd_flags(int file)
{
    SHOW(linkat(AT_FDCWD, "l", AT_FDCWD, "file", AT_SYMLINK_FOLLOW));
    SHOW(lstat("file", &st) == 0 && S_ISREG(st.st_mode));
    SHOW(linkat(AT_FDCWD, "l", AT_FDCWD, "link", 0));
    SHOW(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
    SHOW(linkat(AT_FDCWD, "f", AT_FDCWD, "other", 0x8000));
    SHOW(unlinkat(AT_FDCWD, "file", 0x8000));
    SHOW(syscall(SYS_dup3, file, 77, 1));
    SHOW(syscall(SYS_getrandom, room, 4, 0x100));
    SHOW(syscall(SYS_close_range, 9, 3, 0));
}

static void odd_words(int file)
{
    struct timespec moment = {0, 1000}, none = {0, -1}, whole = {0, 1000};
    sigset_t some;
    void *map = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SHOW(msync(map, 4096, MS_SYNC | MS_ASYNC));
    SHOW(msync(map, 4096, 8));
    SHOW(msync(map, 4096, MS_ASYNC | MS_INVALIDATE));
    SHOW(syscall(SYS_fallocate, file, 0, 0, 10));
    SHOW(kill(-getpgrp(), 0));
    SHOW(syscall(SYS_tgkill, getpid(), -1, 0));
    SHOW(syscall(SYS_tgkill, -1, getpid(), 0));
    SHOW(syscall(SYS_tkill, 0, 0));
    SHOW(syscall(SYS_tkill, getpid(), 0));
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, 0);
    raise(SIGUSR1);
    SHOW(sigtimedwait(&some, 0, &none));
    SHOW(sigtimedwait(&some, 0, &moment));
    SHOW(syscall(SYS_ppoll, 0, 0, &none, 0, 8));
    SHOW(syscall(SYS_ppoll, 0, 0, &whole, &some, 7));
    SHOW(syscall(SYS_ppoll, 0, 0, &whole, 1, 8));
    SHOW(syscall(SYS_ppoll, 0, 0, 1, 0, 8));
    SHOW(syscall(SYS_pselect6, 0, 0, 0, 0, &none, 0));
    SHOW(syscall(SYS_pselect6, 0, 0, 0, 0, &whole, 1));
    SHOW(syscall(SYS_pselect6, 0, 0, 0, 0, &whole, (long[]){(long)&some, 4}));
}

int main(void)
{
    mkdir("d", 0755);
    int made = creat("f", 0644);
    write(made, "content", 7);
    symlink("f", "l");
    int file = open("f", O_RDONLY);
    only_paths();
    odd_paths(file);
    odd_flags(file);
    odd_words(file);
    return 0;
}
