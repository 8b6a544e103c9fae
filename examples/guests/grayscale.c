/* An image in grey: each lane is one pixel. The input has red, green and blue from 0 to 255, a word each. */

#include "gpu.h"

PROGRAM(grayscale) {
    int pixel = thread_id(), width = screen_width();
    if (pixel >= width * screen_height()) return 0;
    int red = read_input(pixel * 3), green = read_input(pixel * 3 + 1), blue = read_input(pixel * 3 + 2);
    float grey = (float)((77 * red + 150 * green + 29 * blue) >> 8) / 255;
    set_pixel(pixel % width, pixel / width, grey, grey, grey, 1);
    return 0;
}
