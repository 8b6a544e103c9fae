// A bump allocator that grows the memory, and search trees of nodes of many sizes in it. A round frees all at once, so
// the memory grows in the first rounds alone. The module may have 8 pages; `run` first asks for more, and is refused.
#include "guest.h"

enum { PAGE = 65536, ASKED_PAGES = 9 };

extern u8 __heap_base;

static u32 heap_end;

static void *allocate(u32 size) {
  u32 place = (heap_end + 7) & ~7u;
  while (place + size > __builtin_wasm_memory_size(0) * PAGE)
    if (__builtin_wasm_memory_grow(0, 1) == (u32)-1) return 0;
  heap_end = place + size;
  return (void *)place;
}

struct node {
  struct node *less, *more;
  u32 key, count;
  u32 values[];
};

static struct node *insert(struct node **place, u32 key, u32 count) {
  while (*place) {
    if ((*place)->key == key) return *place;
    place = key < (*place)->key ? &(*place)->less : &(*place)->more;
  }
  struct node *made = allocate((u32)sizeof(struct node) + count * 4);
  if (!made) return 0;
  made->less = made->more = 0;
  made->key = key;
  made->count = count;
  for (u32 i = 0; i < count; i++) made->values[i] = key * (i + 1);
  return *place = made;
}

// Visits the tree in order. The way back up is kept in the heap, above the tree.
static u64 sum_tree(struct node *at) {
  struct node **stack = allocate(128 * sizeof(struct node *));
  if (!stack) return 0;
  u64 sum = 0;
  u32 depth = 0;
  while (at || depth) {
    while (at && depth < 128) {
      stack[depth++] = at;
      at = at->less;
    }
    at = stack[--depth];
    u32 values = 0;
    for (u32 i = 0; i < at->count; i++) values ^= at->values[i];
    sum = fold(sum, (u64)at->key << 32 | values);
    at = at->more;
  }
  return sum;
}

i64 run(i32 rounds) {
  restart_numbers();
  u64 sum = __builtin_wasm_memory_grow(0, ASKED_PAGES);
  for (i32 round = 0; round < rounds; round++) {
    heap_end = (u32)&__heap_base;
    struct node *root = 0;
    u32 nodes = 1000 + next_below(2500);
    for (u32 i = 0; i < nodes; i++) {
      u32 key = next_number() >> 12;
      if (!insert(&root, key, next_below(32))) return -1;
    }
    sum = fold(sum, sum_tree(root));
    sum = fold(sum, heap_end - (u32)&__heap_base);
  }
  return (i64)sum;
}
