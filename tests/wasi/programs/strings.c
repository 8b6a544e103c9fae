/* The functions of string.h, ctype.h and stdlib.h that work on text. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int sign(int value) { return (value > 0) - (value < 0); }

int main(void) {
    char text[128] = "the quick brown fox jumps over the lazy dog", copy[128];
    printf("%zu %td %td %s\n", strlen(text), strchr(text, 'q') - text, strrchr(text, 'o') - text, strstr(text, "fox"));
    strcpy(copy, text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        word[0] = toupper((unsigned char)word[0]);
        printf("%s.", word);
    }
    putchar('\n');
    memmove(text + 4, text, strlen(text) + 1);
    memcpy(text, "and ", 4);
    strncat(text, ", again and again", 7);
    puts(text);
    printf("%d %d %d %d\n", sign(strcmp("abc", "abd")), sign(strncmp("abc", "abd", 2)), sign(strcasecmp("ABC", "abc")),
           sign(memcmp("\xff", "\x01", 1)));
    printf("%zu %zu %s\n", strspn("12345abc", "0123456789"), strcspn("abc,def", ","), strpbrk("key=value", "=:"));

    char *end;
    printf("%ld %s ", strtol("  -0x1fz", &end, 0), end);
    printf("%lu %s ", strtoul("777 8", &end, 8), end);
    errno = 0;
    printf("%lld %d ", strtoll("99999999999999999999", NULL, 10), errno == ERANGE);
    printf("%.17g %s ", strtod("6.02214076e23mol", &end), end);
    printf("%a %g %g\n", strtod("0x1.8p-3", NULL), strtod("1e999", NULL), atof("-.5e-3"));
    printf("%d %d\n", atoi("2147483647"), abs(-5));

    int classes[6] = {0};
    for (int c = 0; c < 128; c++) {
        classes[0] += isalpha(c) != 0, classes[1] += isdigit(c) != 0, classes[2] += isspace(c) != 0;
        classes[3] += ispunct(c) != 0, classes[4] += isxdigit(c) != 0, classes[5] += iscntrl(c) != 0;
    }
    for (int i = 0; i < 6; i++) printf("%d ", classes[i]);
    char small[8];
    printf("%d %s\n", snprintf(small, sizeof small, "%d-%s", 1234, "overlong"), small);
    char *twice = strdup("twice");
    memset(twice + 1, '*', 3);
    printf("%s %s %s\n", twice, strerror(ENOENT), (char *)memchr(twice, 'e', 6));
    free(twice);
    return 0;
}
