/* Much memory, in many pieces, freed in another order, grown, mapped; and sorting. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    enum { COUNT = 2000 };
    static char *pieces[COUNT];
    uint32_t state = 1, sum = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            state = state * 1664525 + 1013904223;
            size_t size = 16 + (state >> 20);
            pieces[i] = malloc(size);
            memset(pieces[i], i, size);
        }
        for (int i = 0; i < COUNT; i++)
            sum += (unsigned char)pieces[(i * 7) % COUNT][10], free(pieces[(i * 7) % COUNT]), pieces[(i * 7) % COUNT] = 0;
    }
    char *large = malloc(1 << 20);
    strcpy(large, "kept");
    large = realloc(large, 3 << 20);
    large[(3 << 20) - 1] = 1;
    printf("%u %s\n", sum, large);
    free(large);
    for (int i = 0; i < 100; i++) {
        unsigned char *map = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED || map[0] || map[(1 << 20) - 1])
            return 1;
        map[0] = map[(1 << 20) - 1] = 1;
        if (munmap(map, 1 << 20))
            return 2;
    }
    printf("too much: %s\n", malloc((size_t)1 << 50) ? "had" : "refused");
    uint32_t *numbers = malloc(50000 * sizeof *numbers);
    for (int i = 0; i < 50000; i++)
        numbers[i] = state = state * 1664525 + 1013904223;
    qsort(numbers, 50000, sizeof *numbers, by_number);
    for (int i = 0; i < 50000; i += 10000)
        printf("%u\n", numbers[i]);
    return 0;
}
