/* Looks whether all memory that it gets is 0, and leaves none of it so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char fixed[100000];

static int used(char *memory, long count)
{
    int found = 0;
    for (long i = 0; i < count; i++)
        found |= memory[i];
    memset(memory, 0xa5, count);
    return found;
}

int main(int argc, char **argv)
{
    long large = 4 << 20;
    char *mapped = mmap(NULL, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *heap = sbrk(200000), below[50000];
    int stack = 0;
    for (int i = 0; i < 50000; i += 1000) /* what functions before main have left there is at its upper end */
        stack |= i < 30000 ? ((volatile char *)below)[i] : 0;
    memset(below, 0x5a, sizeof below);
    printf("%d %d %d %d\n", used(fixed, sizeof fixed), used(mapped, large), used(heap, 200000), stack);
    return below[77] != 0x5a;
}
