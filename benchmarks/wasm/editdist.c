// Levenshtein distance: how few letters have to be put in, left out or replaced to make one word of another. A round is
// a pair of words of about 200 letters, the second made of parts of the first.
#include "guest.h"

enum { LENGTH = 200, SPARE = 24, LONGEST = LENGTH + SPARE, LETTERS = 12, PART = 24 };

static u8 first[LONGEST], second[LONGEST];
static u16 rows[2][LONGEST + 1]; // Two rows of the table that has the distances between all beginnings of the words.

static u8 next_letter(void) { return (u8)('a' + next_below(LETTERS)); }

static u32 make_first(void) {
  u32 length = LENGTH - SPARE + next_below(2 * SPARE);
  for (u32 i = 0; i < length; i++) first[i] = next_letter();
  return length;
}

// Parts of the first word in their order; after each, letters are passed over, put in or replaced, or nothing happens.
static u32 make_second(u32 from_length) {
  u32 from = 0, length = 0;
  while (from < from_length && length < LONGEST) {
    u32 part = 1 + next_below(PART), change = next_below(4), count = 1 + next_below(6);
    for (; part && from < from_length && length < LONGEST; part--) second[length++] = first[from++];
    if (change == 0 || change == 1) from += count;
    if (change == 1 || change == 2)
      for (; count && length < LONGEST; count--) second[length++] = next_letter();
  }
  return length;
}

static u32 distance(u32 height, u32 width) {
  u16 *above = rows[0], *row = rows[1];
  for (u32 j = 0; j <= width; j++) above[j] = (u16)j;
  for (u32 i = 0; i < height; i++) {
    u32 last = row[0] = (u16)(i + 1);
    for (u32 j = 0; j < width; j++) {
      u32 best = above[j] + (first[i] != second[j]);
      if (above[j + 1] + 1u < best) best = above[j + 1] + 1u;
      if (last + 1 < best) best = last + 1;
      row[j + 1] = (u16)best;
      last = best;
    }
    u16 *done = above;
    above = row;
    row = done;
  }
  return above[width];
}

i64 run(i32 rounds) {
  restart_numbers();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    u32 height = make_first();
    u32 width = make_second(height);
    sum = fold(sum, (u64)distance(height, width) << 32 | height << 16 | width);
  }
  return (i64)sum;
}
