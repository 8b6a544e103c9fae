/* Its arguments and a variable of its environment. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *name = getenv("NAME");
    printf("hello %s\n", name ? name : "nobody");
    for (int i = 0; i < argc; i++)
        printf("%d: %s\n", i, argv[i]);
    fprintf(stderr, "%d arguments\n", argc);
    return argc;
}
