// What every guest shares: names for the integer types, the seed, a generator of numbers and a checksum.
// `run(n)` depends on n and on the seed alone: every call makes its data anew.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;

static u32 seed_value = 1;
static u32 number_state;

void seed(i32 value) { seed_value = (u32)value; }

// Starts the generator over from the seed.
static inline void restart_numbers(void) { number_state = seed_value * 2654435761u + 12345u; }

static inline u32 next_number(void) {
  number_state = number_state * 1664525u + 1013904223u;
  u32 mixed = number_state ^ (number_state >> 15);
  mixed *= 0x2c1b3c6du;
  return mixed ^ (mixed >> 13);
}

// A number below `limit`, which is small.
static inline u32 next_below(u32 limit) { return (u32)(((u64)next_number() * limit) >> 32); }

static inline u64 fold(u64 sum, u64 value) {
  sum = (sum ^ value) * 0x9e3779b97f4a7c15ull;
  return sum ^ (sum >> 29);
}
