/* How many steps a point of the plane takes to leave the disc of radius 2 under z -> z^2 + c: the Mandelbrot set.

   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry,--strip-debug -o escape.wasm escape.c
*/

__attribute__((export_name("escape"))) int escape(double x, double y, int most) {
    double a = 0, b = 0;
    for (int step = 0; step < most; step++) {
        if (a * a + b * b > 4) return step;
        double next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
    }
    return most;
}
