/* Sets a function for SIGUSR1, and sends itself a signal. */
#include <signal.h>
#include <stdlib.h>

static void handle(int number)
{
}

int main(int argc, char **argv)
{
    signal(SIGUSR1, handle);
    raise(atoi(argv[1]));
    return 0;
}
