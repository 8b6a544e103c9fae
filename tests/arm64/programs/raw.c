/* Does calls of the system, one for each argument, and writes their results to standard error. An argument is words
   between semicolons, the number of the call first: a number, $ for a buffer (and $ with a number for a place in it),
   ' before a text, % before the number of an earlier call for its result, = before one of these that is only put into
   the buffer, 8 bytes further each time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char buffer[4 << 20] __attribute__((aligned(4096)));

static long raw(const long *w)
{
    register long x8 asm("x8") = w[0], x0 asm("x0") = w[1], x1 asm("x1") = w[2], x2 asm("x2") = w[3];
    register long x3 asm("x3") = w[4], x4 asm("x4") = w[5], x5 asm("x5") = w[6];
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

static long results[2000];

static long word(const char *part)
{
    const char *rest = part + 1;
    return *part == '$'    ? (long)(buffer + strtoul(rest, NULL, 0))
           : *part == '\'' ? (long)rest
           : *part == '%'  ? results[strtoul(rest, NULL, 0)]
                           : (long)strtoull(part, NULL, 0);
}

int main(int argc, char **argv)
{
    long put = 0;
    for (int i = 1; i < argc; i++) {
        long words[7] = {0};
        int count = 0;
        for (char *part = strtok(argv[i], ";"); part && count < 7; part = strtok(NULL, ";")) {
            words[count++] = word(*part == '=' ? part + 1 : part);
            if (*part == '=') {
                memcpy(buffer + put, &words[--count], 8);
                put += 8;
            }
        }
        if (count) {
            results[i - 1] = raw(words);
            fprintf(stderr, "%ld\n", results[i - 1]);
        }
    }
    return 0;
}
