/* The game of life: each group of 256 lanes plays its own board of 16 by 16 cells, whose edges meet.

   The state has a word per cell, 0 or 1, before and after. A picture shows the boards one below the other. */

#include "gpu.h"

#define SIDE 16
#define CELLS (SIDE * SIDE)
#define GENERATIONS 30

static int cell(int board, int x, int y) {
    return read_shared(board * CELLS + (y + SIDE) % SIDE * SIDE + (x + SIDE) % SIDE);
}

PROGRAM(life) {
    int me = thread_id(), here = local_id(), x = here % SIDE, y = here / SIDE, alive = read_state(me);
    if (threadgroup_size() != CELLS) return 1;
    write_shared(here, alive);
    threadgroup_barrier();
    for (int generation = 0; generation < GENERATIONS; generation++) {
        int old = generation % 2, around = -alive; /* one half of shared memory is read, the other is written */
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) around += cell(old, x + dx, y + dy);
        alive = around == 3 || (alive && around == 2);
        write_shared((1 - old) * CELLS + here, alive);
        threadgroup_barrier();
    }
    write_state(me, alive);
    if (x < screen_width() && me / SIDE < screen_height()) set_pixel(x, me / SIDE, alive, alive, alive, 1);
    return 0;
}
