/* Wants so many bytes, and uses the last. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    volatile char *found = malloc(atol(argv[1]));
    if (found)
        found[atol(argv[1]) - 1] = 1;
    puts(found ? "there" : "not there");
    return found == NULL;
}
