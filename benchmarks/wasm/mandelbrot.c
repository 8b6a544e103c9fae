// Escape times of the Mandelbrot set in f64: a round is a tile of 32 by 32 points near the set's edge, whose place and
// scale the numbers choose, with at most 200 steps for a point.
#include "guest.h"

enum { SIDE = 32, STEPS = 200, PLACES = 8, DEEPEST = 12 };

static const f64 places[PLACES][2] = {
    {-0.75, 0.1}, {-1.25, 0.02}, {-0.1011, 0.9563}, {0.2501, 0.001},
    {-1.7548, 0.01}, {-0.5622, 0.6428}, {0.2755, 0.4825}, {-0.1592, -1.0317},
};

static u32 escape_time(f64 a, f64 b) {
  f64 x = 0, y = 0, xx = 0, yy = 0;
  u32 steps = 0;
  while (steps < STEPS && xx + yy <= 4) {
    y = 2 * x * y + b;
    x = xx - yy + a;
    xx = x * x;
    yy = y * y;
    steps++;
  }
  return steps;
}

static f64 next_fraction(void) { return (f64)next_number() / 4294967296.0; }

i64 run(i32 rounds) {
  restart_numbers();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    const f64 *place = places[next_below(PLACES)];
    f64 step = 1.0 / (f64)(SIDE << next_below(DEEPEST)); // A tile is 1 to 1/2048 wide, and the place lies in it.
    f64 left = place[0] - step * SIDE * next_fraction(), low = place[1] - step * SIDE * next_fraction();
    u32 total = 0;
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) total += escape_time(left + step * j, low + step * i) * (u32)(j + 3 * i + 1);
    sum = fold(sum, total);
  }
  return (i64)sum;
}
