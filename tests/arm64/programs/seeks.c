/* What its standard input is, and where it can go in it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    struct stat st;
    char text[16] = "";
    fstat(0, &st);
    printf("%s of %ld\n", S_ISREG(st.st_mode) ? "a file" : S_ISFIFO(st.st_mode) ? "a pipe" : "something", (long)st.st_size);
    printf("%ld %.4s\n", (long)read(0, text, 4), text);
    printf("%ld %s\n", (long)lseek(0, -3, SEEK_CUR), errno ? strerror(errno) : "");
    if (errno)
        return 1;
    printf("%d ", getchar());
    printf("%ld\n", ftell(stdin));
    fseek(stdin, -2, SEEK_END);
    printf("%s", fgets(text, sizeof text, stdin));
    printf("%d\n", getchar());
    rewind(stdin);
    printf("%s", fgets(text, sizeof text, stdin));
    printf("%ld %.3s\n", (long)pread(0, text, 3, 2), text);
    printf("%d", (int)lseek(0, -1, SEEK_SET));
    printf(" %s\n", strerror(errno));
    printf("%d", (int)lseek(0, 0, 77));
    printf(" %s\n", strerror(errno));
    printf("%d\n", (int)lseek(0, 5, SEEK_END));
    printf("%d\n", (int)read(0, text, 4));
    printf("%d", (int)write(0, text, 4));
    printf(" %s\n", strerror(errno));
    printf("%d", (int)pwrite(0, text, 4, 0));
    printf(" %s\n", strerror(errno));
    printf("%d", ftruncate(0, 4));
    printf(" %s\n", strerror(errno));
    printf("%.3s\n", (char *)mmap(0, 4096, PROT_READ, MAP_PRIVATE, 0, 0));
    lseek(0, 1, SEEK_SET);
    return 0;
}
