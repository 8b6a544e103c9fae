// SHA-256 (FIPS 180-4) of a 1 KiB message; each round writes its digest into the message of the next.
#include "guest.h"

enum { MESSAGE = 1024, BLOCK = 64 };

static const u32 constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const u32 start[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static u8 message[MESSAGE];
static u8 ending[BLOCK]; // The block that pads a message of whole blocks.
static u32 hash[8];

static u32 rotate(u32 value, int by) { return value >> by | value << (32 - by); }

static void add_block(const u8 *block) {
  u32 w[64];
  for (int i = 0; i < 16; i++)
    w[i] = (u32)block[4 * i] << 24 | (u32)block[4 * i + 1] << 16 | (u32)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    u32 x = w[i - 15], y = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
  }
  u32 a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5], g = hash[6], h = hash[7];
  for (int i = 0; i < 64; i++) {
    u32 one = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + constants[i] + w[i];
    u32 two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
    h = g, g = f, f = e, e = d + one;
    d = c, c = b, b = a, a = one + two;
  }
  hash[0] += a, hash[1] += b, hash[2] += c, hash[3] += d;
  hash[4] += e, hash[5] += f, hash[6] += g, hash[7] += h;
}

i64 run(i32 rounds) {
  restart_numbers();
  for (int i = 0; i < MESSAGE; i++) message[i] = (u8)next_number();
  ending[0] = 0x80;
  ending[BLOCK - 2] = (u8)(MESSAGE * 8 >> 8);
  ending[BLOCK - 1] = (u8)(MESSAGE * 8);

  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    for (int i = 0; i < 8; i++) hash[i] = start[i];
    for (int at = 0; at < MESSAGE; at += BLOCK) add_block(message + at);
    add_block(ending);
    u8 *digest = message + (u32)round % (MESSAGE / 32) * 32;
    for (int i = 0; i < 32; i++) digest[i] = (u8)(hash[i / 4] >> (24 - i % 4 * 8));
    sum = fold(sum, (u64)hash[0] << 32 | hash[7]);
  }
  return (i64)sum;
}
