// SHA-256 (FIPS 180-4) of a 1 KiB message; each round writes its digest into the message of the next.
#include "sha256.h"

enum { MESSAGE = 1024, BLOCK = 64 };

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
