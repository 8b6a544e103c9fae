/* The largest float of the input, in state 0: an atomic that there is not, made of compare and exchange.

   No lane waits for another: a lane tries again only if another one has just raised the maximum. */

#include "gpu.h"

static int bits(float value) {
    union {
        float value;
        int bits;
    } both = {.value = value};
    return both.bits;
}

static float value(int bits) {
    union {
        int bits;
        float value;
    } both = {.bits = bits};
    return both.value;
}

PROGRAM(maximum) {
    float mine = read_input_f32(thread_id());
    int seen = atomic_load(0);
    while (mine > value(seen)) {
        int before = atomic_compare_exchange(0, seen, bits(mine));
        if (before == seen) break;
        seen = before;
    }
    return 0;
}
