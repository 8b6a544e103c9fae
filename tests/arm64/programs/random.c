/* Random bytes as text. */
#include <stdio.h>
#include <sys/random.h>

int main(void)
{
    unsigned char bytes[16];
    getrandom(bytes, sizeof bytes, 0);
    for (int i = 0; i < 16; i++)
        printf("%02x", bytes[i]);
    printf("\n");
    return 0;
}
