/* Every function of WASI preview 1 that takes a descriptor, called as it is, with what it gives: errors are numbers.

   The current folder holds `file` ("0123456789"), `folder` (empty) and `names`, with files in it. */

#include <stdio.h>
#include <string.h>
#include <wasi/api.h>

#define SHOW(call) printf("%s: %d\n", #call, (int)(call))

enum { OUT = 1, BAD = 1000 };

__attribute__((import_module("wasi_snapshot_preview1"), import_name("proc_raise"))) int proc_raise(int signal);

static const __wasi_rights_t ALL = (1 << 30) - 1;
static __wasi_fd_t here = 3;

static __wasi_fd_t open_file(const char *path, int oflags, int fdflags) {
    __wasi_fd_t fd = BAD;
    __wasi_rights_t rights = __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_WRITE;
    int error = __wasi_path_open(here, 0, path, oflags, rights, 0, fdflags, &fd);
    printf("open %s %d %d: %d\n", path, oflags, fdflags, error);
    return fd;
}

static void descriptors(void) {
    __wasi_prestat_t prestat;
    uint8_t name[8] = "";
    SHOW(__wasi_fd_prestat_get(here, &prestat));
    printf("kind %d, a name of %d\n", prestat.tag, (int)prestat.u.dir.pr_name_len);
    SHOW(__wasi_fd_prestat_dir_name(here, name, prestat.u.dir.pr_name_len));
    SHOW(__wasi_fd_prestat_dir_name(here, name, 0));
    SHOW(__wasi_fd_prestat_get(OUT, &prestat));
    SHOW(__wasi_fd_prestat_get(here + 1, &prestat));
    __wasi_fdstat_t stat;
    SHOW(__wasi_fd_fdstat_get(here, &stat));
    printf("a folder: kind %d, flags %d\n", stat.fs_filetype, stat.fs_flags);
    __wasi_fd_t fd = open_file("file", 0, __WASI_FDFLAGS_APPEND);
    SHOW(__wasi_fd_fdstat_get(fd, &stat));
    printf("a file: kind %d, flags %d, reads %d, writes %d\n", stat.fs_filetype, stat.fs_flags,
           (stat.fs_rights_base & __WASI_RIGHTS_FD_READ) != 0, (stat.fs_rights_base & __WASI_RIGHTS_FD_WRITE) != 0);
    SHOW(__wasi_fd_fdstat_set_flags(fd, 0));
    SHOW(__wasi_fd_fdstat_set_flags(BAD, 0));
    SHOW(__wasi_fd_fdstat_get(fd, &stat));
    printf("flags %d\n", stat.fs_flags);
    SHOW(__wasi_fd_renumber(fd, BAD));
    SHOW(__wasi_fd_renumber(BAD, fd));
    __wasi_fd_t other = open_file("file", 0, 0);
    SHOW(__wasi_fd_renumber(fd, other));
    SHOW(__wasi_fd_sync(fd));
    SHOW(__wasi_fd_datasync(other));
    SHOW(__wasi_fd_sync(BAD));
    SHOW(__wasi_fd_close(other));
    SHOW(__wasi_fd_close(other));
    SHOW(__wasi_fd_close(BAD));
}

/* Parts of what is read or written: an engine may do as many as it likes, but at least one, and in order. */
static void parts(void) {
    uint8_t a[4] = "...", b[8] = ".......", byte;
    __wasi_iovec_t into[3] = {{a, 3}, {b, 0}, {b, 7}}, one = {&byte, 1};
    __wasi_ciovec_t from[3] = {{(const uint8_t *)"AB", 2}, {NULL, 0}, {(const uint8_t *)"CDE", 3}};
    __wasi_size_t size = 0, more = 0;
    __wasi_filesize_t at;
    __wasi_fd_t fd = open_file("file", 0, 0);
    SHOW(__wasi_fd_read(fd, into, 3, &size));
    printf("some: %d, the right ones: %d\n", size >= 3, !memcmp(a, "012", 3) && !memcmp(b, "3456789", size - 3));
    SHOW(__wasi_fd_read(fd, into, 0, &more));
    printf("none: %d\n", (int)more);
    SHOW(__wasi_fd_tell(fd, &at));
    printf("behind them: %d\n", at == size);
    SHOW(__wasi_fd_write(fd, from, 3, &more));
    SHOW(__wasi_fd_pread(fd, &one, 1, size + more - 1, &size));
    printf("the last that was written: %d\n", byte == "ABCDE"[more - 1]);
    SHOW(__wasi_fd_pwrite(fd, (__wasi_ciovec_t[]){{(const uint8_t *)"0123456789", 10}}, 1, 0, &size));
    SHOW(__wasi_fd_filestat_set_size(fd, 10));
    SHOW(__wasi_fd_close(fd));
}

static void files(void) {
    uint8_t a[5] = "";
    __wasi_iovec_t into[1] = {{a, 4}};
    __wasi_ciovec_t from[1] = {{(const uint8_t *)"ABCDE", 5}};
    __wasi_size_t size = 0;
    __wasi_filesize_t at = 0;
    __wasi_filestat_t stat;
    __wasi_fd_t fd = open_file("file", 0, 0);
    SHOW(__wasi_fd_read(fd, into, 1, &size));
    printf("%d: %s\n", (int)size, a);
    SHOW(__wasi_fd_pread(fd, into, 1, 8, &size));
    printf("%d: %s\n", (int)size, a);
    SHOW(__wasi_fd_pread(fd, into, 1, 100, &size));
    printf("%d\n", (int)size);
    SHOW(__wasi_fd_pwrite(fd, from, 1, 12, &size));
    SHOW(__wasi_fd_tell(fd, &at));
    printf("%d, at %d\n", (int)size, (int)at);
    SHOW(__wasi_fd_seek(fd, -3, __WASI_WHENCE_END, &at));
    SHOW(__wasi_fd_write(fd, from, 1, &size));
    SHOW(__wasi_fd_seek(fd, 0, __WASI_WHENCE_CUR, &at));
    printf("%d, at %d\n", (int)size, (int)at);
    SHOW(__wasi_fd_seek(fd, -100, __WASI_WHENCE_CUR, &at));
    SHOW(__wasi_fd_seek(here, 0, __WASI_WHENCE_CUR, &at));
    SHOW(__wasi_fd_tell(here, &at));
    SHOW(__wasi_fd_read(here, into, 1, &size));
    SHOW(__wasi_fd_write(here, from, 1, &size));
    SHOW(__wasi_fd_advise(fd, 0, 10, __WASI_ADVICE_WILLNEED));
    SHOW(__wasi_fd_advise(BAD, 0, 10, 0));
    SHOW(__wasi_fd_filestat_get(fd, &stat));
    printf("kind %d, size %d, links %d\n", stat.filetype, (int)stat.size, (int)stat.nlink);
    SHOW(__wasi_fd_filestat_set_size(fd, 5));
    SHOW(__wasi_fd_filestat_set_size(here, 5));
    SHOW(__wasi_fd_filestat_set_times(fd, 1000000000, 2000000000, __WASI_FSTFLAGS_ATIM | __WASI_FSTFLAGS_MTIM));
    SHOW(__wasi_fd_filestat_set_times(fd, 0, 0, __WASI_FSTFLAGS_MTIM | __WASI_FSTFLAGS_MTIM_NOW));
    SHOW(__wasi_fd_filestat_get(fd, &stat));
    printf("size %d, times %llu %llu\n", (int)stat.size, stat.atim, stat.mtim);
    SHOW(__wasi_fd_close(fd));

    fd = open_file("file", 0, __WASI_FDFLAGS_APPEND);
    SHOW(__wasi_fd_write(fd, from, 1, &size));
    SHOW(__wasi_fd_tell(fd, &at));
    printf("appended, at %d\n", (int)at);
    SHOW(__wasi_fd_close(fd));
    fd = open_file("file", __WASI_OFLAGS_TRUNC, 0);
    SHOW(__wasi_fd_filestat_get(fd, &stat));
    printf("truncated to %d\n", (int)stat.size);
    SHOW(__wasi_fd_close(fd));
    SHOW(__wasi_path_open(here, 0, "file", 0, __WASI_RIGHTS_FD_READ, 0, 0, &fd));
    SHOW(__wasi_fd_write(fd, from, 1, &size));
    SHOW(__wasi_fd_allocate(fd, 0, 10));
    SHOW(__wasi_fd_filestat_set_size(fd, 1));
    SHOW(__wasi_fd_close(fd));
    SHOW(__wasi_path_open(here, 0, "file", 0, __WASI_RIGHTS_FD_WRITE, 0, 0, &fd));
    SHOW(__wasi_fd_read(fd, into, 1, &size));
    SHOW(__wasi_fd_close(fd));
    SHOW(__wasi_path_open(here, 0, "folder", 0, __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_WRITE, 0, 0, &fd));
    SHOW(__wasi_path_open(here, 0, "file", __WASI_OFLAGS_DIRECTORY, ALL, ALL, 0, &fd));
    SHOW(__wasi_path_open(here, 0, "new", __WASI_OFLAGS_CREAT | __WASI_OFLAGS_DIRECTORY, ALL, ALL, 0, &fd));
    SHOW(__wasi_path_open(here, 0, "file", __WASI_OFLAGS_CREAT | __WASI_OFLAGS_EXCL, ALL, ALL, 0, &fd));
    SHOW(__wasi_path_open(BAD, 0, "file", 0, ALL, ALL, 0, &fd));
    SHOW(__wasi_path_open(OUT, 0, "file", 0, ALL, ALL, 0, &fd));
}

static void paths(void) {
    __wasi_filestat_t stat;
    __wasi_size_t size = 0;
    uint8_t name[8] = "";
    SHOW(__wasi_path_create_directory(here, "made"));
    SHOW(__wasi_path_create_directory(here, "made/"));
    SHOW(__wasi_path_create_directory(here, "made/below/"));
    SHOW(__wasi_path_symlink("../file", here, "made/link"));
    SHOW(__wasi_path_symlink("/absolute", here, "made/other"));
    SHOW(__wasi_path_readlink(here, "made/link", name, 7, &size));
    printf("%d %s\n", (int)size, name);
    SHOW(__wasi_path_readlink(here, "made/link", name, 3, &size));
    printf("%d\n", (int)size);
    SHOW(__wasi_path_filestat_get(here, 0, "made/link", &stat));
    printf("kind %d\n", stat.filetype);
    SHOW(__wasi_path_filestat_get(here, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, "made/link", &stat));
    printf("kind %d\n", stat.filetype);
    SHOW(__wasi_path_filestat_get(here, 0, "file/", &stat));
    SHOW(__wasi_path_filestat_get(here, 0, ".", &stat));
    SHOW(__wasi_path_filestat_get(here, 0, "..", &stat));
    SHOW(__wasi_path_filestat_get(here, 0, "made/../..", &stat));
    SHOW(__wasi_path_filestat_get(here, 0, "/", &stat));
    SHOW(__wasi_path_filestat_set_times(here, 0, "file", 5000000000, 7000000000, __WASI_FSTFLAGS_MTIM));
    SHOW(__wasi_path_filestat_get(here, 0, "file", &stat));
    printf("%llu\n", stat.mtim);
    SHOW(__wasi_path_link(here, 0, "file", here, "made/twin"));
    SHOW(__wasi_path_link(here, 0, "folder", here, "made/fourth"));
    SHOW(__wasi_path_filestat_get(here, 0, "made/twin", &stat));
    printf("%d links\n", (int)stat.nlink);
    SHOW(__wasi_path_rename(here, "made/twin", here, "made/renamed"));
    SHOW(__wasi_path_rename(here, "folder", here, "made/below"));
    SHOW(__wasi_path_rename(here, "made", here, "made/below/made"));
    SHOW(__wasi_path_rename(here, "file", here, "made/below"));
    SHOW(__wasi_path_unlink_file(here, "made"));
    SHOW(__wasi_path_unlink_file(here, "made/other"));
    SHOW(__wasi_path_unlink_file(here, "made/renamed/"));
    SHOW(__wasi_path_remove_directory(here, "made"));
    SHOW(__wasi_path_remove_directory(here, "made/link"));
    SHOW(__wasi_path_remove_directory(here, "made/below"));
    SHOW(__wasi_path_remove_directory(here, "."));
}

/* Reads a folder with a buffer too small for all of it: names are cut, cookies lead on. */
static void listing(void) {
    __wasi_fd_t fd;
    SHOW(__wasi_path_open(here, 0, "names", __WASI_OFLAGS_DIRECTORY, __WASI_RIGHTS_FD_READDIR, 0, 0, &fd));
    __wasi_dircookie_t cookie = 0;
    int entries = 0, letters = 0, rounds = 0, dots = 0;
    for (__wasi_size_t size = 100; size == 100; rounds++) {
        uint8_t buffer[100];
        int error = __wasi_fd_readdir(fd, buffer, sizeof buffer, cookie, &size);
        if (error) {
            printf("readdir: %d\n", error);
            return;
        }
        for (__wasi_size_t at = 0; at + sizeof(__wasi_dirent_t) <= size;) {
            __wasi_dirent_t entry;
            memcpy(&entry, buffer + at, sizeof entry);
            at += sizeof entry + entry.d_namlen;
            if (at > size) break;
            cookie = entry.d_next;
            entries++, letters += entry.d_namlen;
            dots += entry.d_type == __WASI_FILETYPE_DIRECTORY && buffer[at - 1] == '.';
        }
    }
    printf("%d entries, %d letters, %d dots, many rounds: %d\n", entries, letters, dots, rounds > 3);
    __wasi_size_t size;
    uint8_t buffer[64];
    SHOW(__wasi_fd_readdir(fd, buffer, sizeof buffer, 1000, &size));
    printf("%d\n", (int)size);
    SHOW(__wasi_fd_readdir(OUT, buffer, sizeof buffer, 0, &size));
    SHOW(__wasi_fd_close(fd));
}

static void others(void) {
    __wasi_timestamp_t time;
    __wasi_size_t size = 0;
    uint8_t bytes[4] = "";
    __wasi_iovec_t into = {bytes, 4};
    __wasi_ciovec_t from = {bytes, 4};
    __wasi_roflags_t flags;
    __wasi_fd_t fd;
    SHOW(__wasi_clock_res_get(__WASI_CLOCKID_MONOTONIC, &time));
    SHOW(__wasi_clock_time_get(__WASI_CLOCKID_REALTIME, 1, &time));
    SHOW(__wasi_random_get(bytes, 0));
    SHOW(__wasi_random_get(bytes, 4));
    SHOW(__wasi_sched_yield());
    SHOW(__wasi_sock_accept(here, 0, &fd));
    SHOW(__wasi_sock_recv(OUT, &into, 1, 0, &size, &flags));
    SHOW(__wasi_sock_send(OUT, &from, 1, 0, &size));
    SHOW(__wasi_sock_shutdown(here, __WASI_SDFLAGS_RD));
    SHOW(__wasi_sock_send(BAD, &from, 1, 0, &size));
    __wasi_subscription_t wanted[3] = {{.userdata = 11, .u = {.tag = __WASI_EVENTTYPE_CLOCK}},
                                       {.userdata = 22, .u = {.tag = __WASI_EVENTTYPE_FD_WRITE}},
                                       {.userdata = 33, .u = {.tag = __WASI_EVENTTYPE_CLOCK}}};
    wanted[0].u.u.clock.id = wanted[2].u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
    wanted[0].u.u.clock.timeout = 2000000;
    wanted[2].u.u.clock.timeout = 3600000000000;
    wanted[1].u.u.fd_write.file_descriptor = BAD;
    __wasi_event_t events[3];
    SHOW(__wasi_poll_oneoff(wanted, events, 0, &size));
    SHOW(__wasi_poll_oneoff(wanted, events, 1, &size));
    printf("%d: %d %d %d\n", (int)size, (int)events[0].userdata, events[0].error, events[0].type);
    SHOW(__wasi_poll_oneoff(wanted + 1, events, 2, &size));
    wanted[1].u.u.fd_write.file_descriptor = OUT;
    SHOW(__wasi_poll_oneoff(wanted + 1, events, 2, &size));
    printf("%d: %d %d %d\n", (int)size, (int)events[0].userdata, events[0].error, events[0].type);
}

/* What wasmtime does in a way of its own. */
static void odd(void) {
    __wasi_timestamp_t time;
    SHOW(__wasi_path_symlink("file", here, "link"));
    SHOW(__wasi_path_link(here, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, "link", here, "twin"));
    SHOW(__wasi_clock_time_get(__WASI_CLOCKID_PROCESS_CPUTIME_ID, 1, &time));
    SHOW(__wasi_clock_res_get(__WASI_CLOCKID_THREAD_CPUTIME_ID, &time));
}

/* What no program means to do: numbers that name nothing, addresses past the end of memory. */
static void wrong(const char *way) {
    __wasi_size_t size = 0;
    __wasi_filesize_t at;
    __wasi_timestamp_t time;
    static __wasi_ciovec_t beyond;
    beyond = (__wasi_ciovec_t){(const uint8_t *)-16, 32};
    if (!strcmp(way, "address")) SHOW(__wasi_fd_write(OUT, &beyond, 1, &size));
    if (!strcmp(way, "result")) SHOW(__wasi_fd_write(OUT, &beyond, 0, (__wasi_size_t *)-16));
    if (!strcmp(way, "whence")) SHOW(__wasi_fd_seek(open_file("file", 0, 0), 0, 7, &at));
    if (!strcmp(way, "advice")) SHOW(__wasi_fd_advise(open_file("file", 0, 0), 0, 10, 77));
    if (!strcmp(way, "clock")) SHOW(__wasi_clock_time_get(99, 1, &time));
    if (!strcmp(way, "odd")) odd();
    if (!strcmp(way, "raise")) SHOW(proc_raise(6));
}

int main(int count, char **arguments) {
    if (count > 1) {
        wrong(arguments[1]);
        return 0;
    }
    descriptors();
    parts();
    files();
    paths();
    listing();
    others();
    return 0;
}
