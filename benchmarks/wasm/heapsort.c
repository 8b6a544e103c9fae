// Heap sort of 4,096 numbers; every round has new ones.
#include "guest.h"

enum { COUNT = 4096 };

static u32 keys[COUNT];

// Moves the key at `top` down until the heap of `count` keys is in order again.
static void sift_down(u32 top, u32 count) {
  u32 key = keys[top];
  for (;;) {
    u32 child = 2 * top + 1;
    if (child >= count) break;
    if (child + 1 < count && keys[child + 1] > keys[child]) child++;
    if (keys[child] <= key) break;
    keys[top] = keys[child];
    top = child;
  }
  keys[top] = key;
}

static void sort(void) {
  for (u32 top = COUNT / 2; top-- > 0;) sift_down(top, COUNT);
  for (u32 last = COUNT - 1; last > 0; last--) {
    u32 largest = keys[0];
    keys[0] = keys[last];
    keys[last] = largest;
    sift_down(0, last);
  }
}

i64 run(i32 rounds) {
  restart_numbers();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    for (int i = 0; i < COUNT; i++) keys[i] = next_number();
    sort();
    for (int i = 1; i < COUNT; i++)
      if (keys[i - 1] > keys[i]) return -1;
    for (int i = 0; i < COUNT; i += 64) sum = fold(sum, keys[i]);
  }
  return (i64)sum;
}
