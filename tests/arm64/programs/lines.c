/* Counts lines, words and bytes of standard input, and gives the longest line back. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[4096], longest[4096] = "";
    long lines = 0, words = 0, bytes = 0;
    while (fgets(line, sizeof line, stdin)) {
        int inside = 0;
        lines++;
        for (char *c = line; *c; c++) {
            bytes++;
            if (isspace((unsigned char)*c))
                inside = 0;
            else if (!inside)
                inside = 1, words++;
        }
        if (strlen(line) > strlen(longest))
            strcpy(longest, line);
    }
    printf("%ld %ld %ld\n%s", lines, words, bytes, longest);
    return 0;
}
