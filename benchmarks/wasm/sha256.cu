// What sha256.c does, written by hand for a GPU: a thread for each seed, which hashes its own message of 1 KiB.
//
// State and schedule of a block are in registers, all 64 steps are unrolled, and the message is words from the start:
// no byte is ever moved. It lies in local memory, where the threads of a warp read a line together.
#include "guest.cuh"
#include "sha256.h"

enum { WORDS = 256, BLOCK_WORDS = 16, DIGEST_WORDS = 8 };

__device__ __forceinline__ u32 rotated(u32 value, int by) { return __funnelshift_r(value, value, by); }

// Adds a block, whose words become those of the last steps.
__device__ __forceinline__ void add_block(u32 (&hash)[8], u32 (&w)[BLOCK_WORDS]) {
  u32 a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5], g = hash[6], h = hash[7];
#pragma unroll
  for (int i = 0; i < 64; i++) {
    u32 &word = w[i % 16];
    if (i >= 16) {
      u32 x = w[(i + 1) % 16], y = w[(i + 14) % 16];
      word += w[(i + 9) % 16] + (rotated(x, 7) ^ rotated(x, 18) ^ x >> 3) + (rotated(y, 17) ^ rotated(y, 19) ^ y >> 10);
    }
    u32 one = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + (g ^ (e & (f ^ g))) + constants[i] + word;
    u32 two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) | (c & (a | b)));
    h = g, g = f, f = e, e = d + one;
    d = c, c = b, b = a, a = one + two;
  }
  hash[0] += a, hash[1] += b, hash[2] += c, hash[3] += d;
  hash[4] += e, hash[5] += f, hash[6] += g, hash[7] += h;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    run(const i32 *__restrict__ seeds, i64 *__restrict__ results, i32 rounds, u32 count) {
  u32 at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;

  alignas(16) u32 message[WORDS];
  Numbers numbers(seeds[at]);
  for (int i = 0; i < WORDS; i++) {
    u32 word = 0;
    for (int byte = 0; byte < 4; byte++) word = word << 8 | (numbers.next() & 0xff);
    message[i] = word;
  }

  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    u32 hash[8];
#pragma unroll
    for (int i = 0; i < 8; i++) hash[i] = start[i];
#pragma unroll 1
    for (int block = 0; block < WORDS; block += BLOCK_WORDS) {
      u32 w[BLOCK_WORDS];
#pragma unroll
      for (int i = 0; i < BLOCK_WORDS; i++) w[i] = message[block + i];
      add_block(hash, w);
    }
    // The block that pads the message: the compiler knows its whole schedule.
    u32 ending[BLOCK_WORDS] = {0x80000000u};
    ending[BLOCK_WORDS - 1] = WORDS * 32;
    add_block(hash, ending);
    int digest = round % (WORDS / DIGEST_WORDS) * DIGEST_WORDS;
#pragma unroll
    for (int i = 0; i < DIGEST_WORDS; i++) message[digest + i] = hash[i];
    sum = folded(sum, (u64)hash[0] << 32 | hash[7]);
  }
  results[at] = (i64)sum;
}
