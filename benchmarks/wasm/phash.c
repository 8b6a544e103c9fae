// Perceptual hash of a picture of 64 by 64 grey bytes: it is shrunk to 32 by 32 and transformed to cosines in f32. Each
// of the 8 by 8 lowest coefficients gives a bit: whether it is above their median. A round is one picture.
#include "guest.h"

enum { SIDE = 64, SMALL = 32, LOW = 8, SHAPES = 16 };

static u8 picture[SIDE][SIDE];
static f32 shrunk[SMALL][SMALL];
static f32 waves[LOW][SMALL]; // waves[k][i] is the cosine of k * (2 * i + 1) * pi / 64.
static f32 rows[SMALL][LOW];
static f32 lowest[LOW * LOW];

// cos(a + b) = 2 * cos(b) * cos(a) - cos(a - b), which needs one cosine to begin with. In f64, as errors add up.
static void make_waves(void) {
  const f64 first = 0.99879545620517239271; // The cosine of pi / 64.
  f64 before = first, base = first;
  for (int i = 0; i < SMALL; i++) {
    f64 last = 1, now = base;
    waves[0][i] = 1;
    for (int k = 1; k < LOW; k++) {
      waves[k][i] = (f32)now;
      f64 next = 2 * base * now - last;
      last = now;
      now = next;
    }
    f64 next = 2 * (2 * first * first - 1) * base - before;
    before = base;
    base = next;
  }
}

// A slope with rectangles on it, each of one grey.
static void draw(void) {
  u32 base = next_below(128), across = next_below(3), down = next_below(3);
  for (u32 y = 0; y < SIDE; y++)
    for (u32 x = 0; x < SIDE; x++) picture[y][x] = (u8)(base + (across * x + down * y) / 2);
  for (int i = 0; i < SHAPES; i++) {
    u32 left = next_below(SIDE), top = next_below(SIDE), right = left + 1 + next_below(SIDE - left);
    u32 bottom = top + 1 + next_below(SIDE - top), grey = next_below(256);
    for (u32 y = top; y < bottom; y++)
      for (u32 x = left; x < right; x++) picture[y][x] = (u8)grey;
  }
}

static void shrink(void) {
  for (int y = 0; y < SMALL; y++)
    for (int x = 0; x < SMALL; x++) {
      const u8 *above = &picture[2 * y][2 * x], *below = above + SIDE;
      shrunk[y][x] = (f32)(above[0] + above[1] + below[0] + below[1]) * 0.25f;
    }
}

// The lowest coefficients alone, first along the rows and then along the columns.
static void transform(void) {
  for (int y = 0; y < SMALL; y++)
    for (int k = 0; k < LOW; k++) {
      f32 sum = 0;
      for (int x = 0; x < SMALL; x++) sum += shrunk[y][x] * waves[k][x];
      rows[y][k] = sum;
    }
  for (int j = 0; j < LOW; j++)
    for (int k = 0; k < LOW; k++) {
      f32 sum = 0;
      for (int y = 0; y < SMALL; y++) sum += rows[y][k] * waves[j][y];
      lowest[j * LOW + k] = sum;
    }
}

// The mean of the two in the middle, by insertion into a sorted copy.
static f32 median(void) {
  f32 sorted[LOW * LOW];
  for (int i = 0; i < LOW * LOW; i++) {
    int at = i;
    for (; at > 0 && sorted[at - 1] > lowest[i]; at--) sorted[at] = sorted[at - 1];
    sorted[at] = lowest[i];
  }
  return (sorted[LOW * LOW / 2 - 1] + sorted[LOW * LOW / 2]) * 0.5f;
}

i64 run(i32 rounds) {
  restart_numbers();
  make_waves();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    draw();
    shrink();
    transform();
    f32 middle = median();
    u64 bits = 0;
    for (int i = 0; i < LOW * LOW; i++) bits = bits << 1 | (lowest[i] > middle);
    sum = fold(sum, bits);
  }
  return (i64)sum;
}
