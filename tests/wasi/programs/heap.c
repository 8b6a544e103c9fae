/* Takes and gives back memory in a pattern that looks random, checks what is in it, and makes memory grow. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 256

static struct {
    unsigned char *bytes;
    size_t size;
    unsigned char mark;
} slots[SLOTS];

static uint32_t state = 12345;

static uint32_t next(void) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state;
}

static int intact(int slot) {
    for (size_t i = 0; i < slots[slot].size; i++)
        if (slots[slot].bytes[i] != slots[slot].mark) return 0;
    return 1;
}

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 2000, broken = 0;
    size_t before = __builtin_wasm_memory_size(0), taken = 0;
    for (int round = 0; round < rounds; round++) {
        int slot = next() % SLOTS;
        size_t size = 1 + next() % (next() % 16 ? 600 : 20000);
        broken += !intact(slot);
        if (slots[slot].bytes && next() % 3 == 0) {
            size_t least = size < slots[slot].size ? size : slots[slot].size;
            slots[slot].bytes = realloc(slots[slot].bytes, size);
            slots[slot].size = least;
            broken += !intact(slot);
        } else {
            free(slots[slot].bytes);
            slots[slot].bytes = next() % 2 ? malloc(size) : calloc(1, size);
        }
        slots[slot].size = size;
        slots[slot].mark = round;
        memset(slots[slot].bytes, round, size);
        taken += size;
    }
    for (int slot = 0; slot < SLOTS; slot++) broken += !intact(slot), free(slots[slot].bytes);
    void *aligned = aligned_alloc(256, 1024);
    printf("%d rounds, %zu bytes, %d broken, aligned: %d\n", rounds, taken, broken, (uintptr_t)aligned % 256 == 0);
    free(aligned);
    char *large = malloc(3 << 20);
    memset(large, 1, 3 << 20);
    printf("grown: %d, large: %d\n", __builtin_wasm_memory_size(0) > before, large[(3 << 20) - 1]);
    free(large);
    printf("too much: %p\n", malloc(0xfff00000));
    return broken != 0;
}
