/* Particles that fall and bounce: each lane is one, with x, y and its speed in four words of the state.

   A picture shows them from 0 to 1 across and, upwards, from its lower edge on. */

#include "gpu.h"

#define STEPS 50

PROGRAM(particles) {
    int first = thread_id() * 4;
    float x = read_state_f32(first), y = read_state_f32(first + 1);
    float vx = read_state_f32(first + 2), vy = read_state_f32(first + 3);
    const float dt = 0.01f, gravity = -9.81f;
    for (int step = 0; step < STEPS; step++) {
        vy += gravity * dt;
        x += vx * dt;
        y += vy * dt;
        if (x < 0 || x > 1) {
            x = x < 0 ? 0 : 1;
            vx = -vx;
        }
        if (y < 0) {
            y = 0;
            vy = -vy * 0.8f;
        }
    }
    write_state_f32(first, x);
    write_state_f32(first + 1, y);
    write_state_f32(first + 2, vx);
    write_state_f32(first + 3, vy);
    int column = (int)(x * (float)screen_width()), height = screen_height(), row = height - 1 - (int)(y * (float)height);
    if (column == screen_width()) column--; /* at the right wall */
    if (column >= 0 && row >= 0) set_pixel(column, row, 1, 0.75f, 0.25f, 1);
    return 0;
}
