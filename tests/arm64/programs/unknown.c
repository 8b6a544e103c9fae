/* Calls that there are none of. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    for (int i = 0; i < 2; i++) {
        if (syscall(999 + i) == -1)
            printf("%m\n");
    }
    return 0;
}
