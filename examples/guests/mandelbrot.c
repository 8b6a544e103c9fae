/* The Mandelbrot set: each lane is one pixel. */

#include "gpu.h"

#define MOST 200

PROGRAM(mandelbrot) {
    int pixel = thread_id(), width = screen_width(), height = screen_height();
    if (pixel >= width * height) return 0;
    int column = pixel % width, row = pixel / width, steps = 0;
    float x = (float)column / (float)width * 3 - 2.25f, y = (float)row / (float)height * 3 - 1.5f;
    for (float a = 0, b = 0; steps < MOST && a * a + b * b <= 4; steps++) {
        float next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
    }
    float inside = steps == MOST ? 0 : 1, hue = gpu_sqrt((float)steps / MOST) * 6.2831853f;
    set_pixel(column, row, inside * (0.5f - 0.5f * gpu_cos(hue)), inside * (0.5f - 0.5f * gpu_cos(hue * 2)),
              inside * (0.5f + 0.5f * gpu_sin(hue)), 1);
    return 0;
}
