/* Reads from a pipe that only it could write to. */
#include <unistd.h>

int main(void)
{
    int ends[2];
    char byte;
    return pipe(ends) || read(ends[0], &byte, 1);
}
