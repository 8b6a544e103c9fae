/* Files as C has them, in the current folder: write, append, seek, read, rename, remove, list. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check(int ok, const char *what) {
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void list(const char *path) {
    DIR *folder = opendir(path);
    check(folder != NULL, path);
    char *names[32];
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) && count < 32;) {
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            names[count++] = strcat(strcpy(malloc(strlen(entry->d_name) + 2), entry->d_name),
                                    entry->d_type == DT_DIR ? "/" : "");
    }
    closedir(folder);
    qsort(names, count, sizeof *names, compare);
    printf("%s:", path);
    for (int i = 0; i < count; i++) printf(" %s", names[i]);
    putchar('\n');
}

int main(void) {
    FILE *file = fopen("numbers.bin", "wb+");
    check(file != NULL, "numbers.bin");
    for (int i = 0; i < 3000; i++) {
        int square = i * i;
        check(fwrite(&square, sizeof square, 1, file) == 1, "fwrite");
    }
    printf("at %ld\n", ftell(file));
    int value, block[100];
    for (int i = 2999; i >= 0; i -= 749) {
        check(fseek(file, i * (long)sizeof value, SEEK_SET) == 0, "fseek");
        check(fread(&value, sizeof value, 1, file) == 1, "fread");
        printf("%d: %d\n", i, value);
    }
    check(fseek(file, -400, SEEK_END) == 0, "fseek");
    printf("%zu items, %ld\n", fread(block, sizeof *block, 200, file), ftell(file));
    printf("end %d, last %d\n", feof(file) != 0, block[99]);
    rewind(file);
    printf("%d %d\n", fgetc(file), ungetc('!', file) == '!' && fgetc(file) == '!');
    fclose(file);

    check((file = fopen("log.txt", "w")) != NULL, "log.txt");
    fprintf(file, "first %d\n", 1);
    fputs("second\n", file);
    fclose(file);
    check((file = fopen("log.txt", "a")) != NULL, "log.txt");
    fputs("third\n", file);
    printf("appended at %ld\n", ftell(file));
    fclose(file);
    check(rename("log.txt", "kept.txt") == 0, "rename");
    printf("the old name: %d\n", fopen("log.txt", "r") == NULL);
    check((file = fopen("kept.txt", "r")) != NULL, "kept.txt");
    for (char line[32]; fgets(line, sizeof line, file);) printf("> %s", line);
    fclose(file);

    check(mkdir("folder", 0777) == 0, "mkdir");
    int fd = open("folder/raw", O_CREAT | O_EXCL | O_RDWR, 0666);
    check(fd >= 0, "folder/raw");
    check(write(fd, "0123456789", 10) == 10 && pwrite(fd, "ab", 2, 4) == 2, "write");
    char bytes[11] = "";
    check(pread(fd, bytes, 10, 0) == 10, "pread");
    printf("%s at %lld\n", bytes, (long long)lseek(fd, 0, SEEK_CUR));
    check(lseek(fd, 4, SEEK_END) == 14 && write(fd, "!", 1) == 1, "a gap");
    struct stat status;
    check(fstat(fd, &status) == 0, "fstat");
    printf("%lld bytes, a file: %d\n", (long long)status.st_size, S_ISREG(status.st_mode));
    check(ftruncate(fd, 12) == 0 && close(fd) == 0, "ftruncate");
    check(stat("folder", &status) == 0, "stat");
    printf("a folder: %d, links: %d\n", S_ISDIR(status.st_mode), access("folder/raw", R_OK) == 0);
    check(symlink("raw", "folder/link") == 0, "symlink");
    printf("%zd %.3s\n", readlink("folder/link", bytes, sizeof bytes), bytes);
    check(link("folder/raw", "folder/same") == 0, "link");
    list(".");
    list("folder");
    check(unlink("folder/link") == 0 && remove("folder/same") == 0, "remove");
    check(remove("numbers.bin") == 0, "remove");
    list(".");
    return 0;
}
