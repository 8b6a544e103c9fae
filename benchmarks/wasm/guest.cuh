// What the programs written by hand for CUDA share: guest.h's numbers and checksum, for threads with a seed each.
#pragma once
#include "guest.h" // for the types: its functions are those of the host here

// Threads in a group; the benchmark launches groups of this size.
enum { GROUP = 128 };

struct Numbers {
  u32 state;

  __device__ __forceinline__ explicit Numbers(i32 seed) : state((u32)seed * 2654435761u + 12345u) {}

  __device__ __forceinline__ u32 next() {
    state = state * 1664525u + 1013904223u;
    u32 mixed = state ^ (state >> 15);
    mixed *= 0x2c1b3c6du;
    return mixed ^ (mixed >> 13);
  }
};

__device__ __forceinline__ u64 folded(u64 sum, u64 value) {
  sum = (sum ^ value) * 0x9e3779b97f4a7c15ull;
  return sum ^ (sum >> 29);
}
