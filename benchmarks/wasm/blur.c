// Blurs an image of 96 by 96 bytes: seven weights along the rows and then along the columns, in f32.
#include "guest.h"

enum { SIDE = 96, REACH = 3 };

static const f32 weights[2 * REACH + 1] = {0.03f, 0.11f, 0.22f, 0.28f, 0.22f, 0.11f, 0.03f};

static u8 image[SIDE][SIDE];
static f32 rows[SIDE][SIDE];

// Places beyond an edge count as the edge.
static int inside(int place) { return place < 0 ? 0 : place >= SIDE ? SIDE - 1 : place; }

static u8 to_byte(f32 value) { return value <= 0 ? 0 : value >= 255 ? 255 : (u8)(i32)(value + 0.5f); }

static void blur(void) {
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      f32 sum = 0;
      for (int i = -REACH; i <= REACH; i++) sum += weights[i + REACH] * (f32)image[y][inside(x + i)];
      rows[y][x] = sum;
    }
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      f32 sum = 0;
      for (int i = -REACH; i <= REACH; i++) sum += weights[i + REACH] * rows[inside(y + i)][x];
      image[y][x] = to_byte(sum);
    }
}

i64 run(i32 rounds) {
  restart_numbers();
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) image[y][x] = (u8)next_number();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    for (int i = 0; i < 64; i++) {
      u8 dot = (u8)(next_below(2) * 255); // First: C leaves open which side of an assignment is.
      u32 row = next_below(SIDE);
      image[row][next_below(SIDE)] = dot;
    }
    blur();
    u32 total = 0;
    for (int y = 0; y < SIDE; y++)
      for (int x = 0; x < SIDE; x++) total += image[y][x] * (u32)(x + 3 * y + 1);
    sum = fold(sum, total);
  }
  return (i64)sum;
}
