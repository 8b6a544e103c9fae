/* Wants so many bytes. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *found = malloc(atol(argv[1]));
    puts(found ? "there" : "not there");
    return found == NULL;
}
