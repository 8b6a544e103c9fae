/* Writes so many pieces of 64 KiB, each of the letter that is given; then waits for so many milliseconds. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char piece[65536];
    memset(piece, argv[1][0], sizeof piece);
    for (int i = atoi(argv[2]); i > 0; i--)
        if (write(1, piece, sizeof piece) != sizeof piece)
            return 1;
    if (argc > 3)
        usleep(1000 * atoi(argv[3]));
    return 0;
}
