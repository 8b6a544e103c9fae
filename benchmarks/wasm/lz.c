// Compression by earlier matches, and decompression. The packed form is a row of items: a byte below 128 is followed by
// that many literals plus one; a byte of 128 or more is a match of that many bytes less 124, followed by its distance.
#include "guest.h"

enum { SIZE = 8192, SLOTS = 2048, SHORTEST = 4, LONGEST = 131, MOST_LITERALS = 128 };

static u8 plain[SIZE];
static u8 packed[SIZE + SIZE / MOST_LITERALS + 8];
static u8 unpacked[SIZE];
static u16 slots[SLOTS]; // One more than the last place of four bytes with this hash.

static void make_text(void) {
  u32 at = 0;
  while (at < SIZE) {
    u32 length = 3 + next_below(20);
    if (length > SIZE - at) length = SIZE - at;
    if (at > 256 && next_below(4)) {
      u32 from = next_below(at - 32);
      for (u32 i = 0; i < length; i++) plain[at + i] = plain[from + i];
    } else {
      for (u32 i = 0; i < length; i++) plain[at + i] = (u8) "etaoin shrdlu,.\n"[next_below(16)];
    }
    at += length;
  }
}

static u32 hash_at(u32 at) {
  u32 four = plain[at] | (u32)plain[at + 1] << 8 | (u32)plain[at + 2] << 16 | (u32)plain[at + 3] << 24;
  return four * 2654435761u >> 21;
}

static u32 put_literals(u32 end, u32 from, u32 to) {
  while (from < to) {
    u32 count = to - from < MOST_LITERALS ? to - from : MOST_LITERALS;
    packed[end++] = (u8)(count - 1);
    for (u32 i = 0; i < count; i++) packed[end++] = plain[from++];
  }
  return end;
}

static u32 compress(void) {
  for (int i = 0; i < SLOTS; i++) slots[i] = 0;
  u32 end = 0, at = 0, literals_from = 0;
  while (at + SHORTEST <= SIZE) {
    u32 slot = hash_at(at);
    u32 before = slots[slot];
    slots[slot] = (u16)(at + 1);
    u32 length = 0;
    if (before) {
      before--;
      while (length < LONGEST && at + length < SIZE && plain[before + length] == plain[at + length]) length++;
    }
    if (length < SHORTEST) {
      at++;
      continue;
    }
    end = put_literals(end, literals_from, at);
    packed[end++] = (u8)(length - SHORTEST + 128);
    packed[end++] = (u8)(at - before);
    packed[end++] = (u8)((at - before) >> 8);
    at += length;
    literals_from = at;
  }
  return put_literals(end, literals_from, SIZE);
}

static u32 decompress(u32 end) {
  u32 from = 0, to = 0;
  while (from < end) {
    u32 item = packed[from++];
    if (item < 128) {
      for (u32 i = 0; i <= item; i++) unpacked[to++] = packed[from++];
    } else {
      u32 distance = packed[from] | (u32)packed[from + 1] << 8;
      from += 2;
      for (u32 i = 0; i < item - 128 + SHORTEST; i++, to++) unpacked[to] = unpacked[to - distance];
    }
  }
  return to;
}

i64 run(i32 rounds) {
  restart_numbers();
  make_text();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    for (int i = 0; i < 8; i++) {
      u8 letter = (u8)('A' + next_below(26)); // First: C leaves open which side of an assignment is.
      plain[next_below(SIZE)] = letter;
    }
    u32 end = compress();
    u32 size = decompress(end);
    u32 low = 1, high = 0, wrong = size != SIZE;
    for (u32 i = 0; i < SIZE; i++) {
      wrong += unpacked[i] != plain[i];
      low += unpacked[i];
      high += low;
    }
    if (wrong) return -1;
    sum = fold(sum, (u64)end << 48 ^ (u64)high << 16 ^ low);
  }
  return (i64)sum;
}
