// SHA-256 (FIPS 180-4), HMAC (RFC 2104) and PBKDF2 (RFC 8018), for texts of whole words: a word is four bytes, the
// highest first.
#pragma once
#include "sha256.h"

enum { BLOCK = 16, DIGEST = 8, LONGEST_SALT = 32 }; // In words.

static u32 inner[DIGEST], outer[DIGEST]; // The hashes of the two blocks that HMAC makes of the password.

static u32 rotate_right(u32 value, int by) { return value >> by | value << (32 - by); }

static void add_block(u32 *hash, const u32 *block) {
  u32 w[64];
  for (int i = 0; i < BLOCK; i++) w[i] = block[i];
  for (int i = BLOCK; i < 64; i++) {
    u32 x = w[i - 15], y = w[i - 2];
    w[i] = w[i - 16] + (rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3) + w[i - 7] +
           (rotate_right(y, 17) ^ rotate_right(y, 19) ^ y >> 10);
  }
  u32 a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5], g = hash[6], h = hash[7];
  for (int i = 0; i < 64; i++) {
    u32 one = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    u32 two = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    one += h + (g ^ (e & (f ^ g))) + constants[i] + w[i];
    two += (a & b) | (c & (a | b));
    h = g, g = f, f = e, e = d + one;
    d = c, c = b, b = a, a = one + two;
  }
  hash[0] += a, hash[1] += b, hash[2] += c, hash[3] += d;
  hash[4] += e, hash[5] += f, hash[6] += g, hash[7] += h;
}

// Goes on from the hash of one block, `from`, with a text of `count` words and the padding.
static void finish(u32 *hash, const u32 *from, const u32 *text, int count) {
  u32 block[BLOCK];
  int at = 0;
  for (int i = 0; i < DIGEST; i++) hash[i] = from[i];
  for (; count - at >= BLOCK; at += BLOCK) add_block(hash, text + at);
  int left = count - at; // Never so many that the length would need one more block.
  for (int i = 0; i < BLOCK; i++) block[i] = i < left ? text[at + i] : 0;
  block[left] = 0x80000000u;
  block[BLOCK - 1] = 32 * (u32)(BLOCK + count);
  add_block(hash, block);
}

static void set_password(const u32 *password, int count) {
  u32 block[BLOCK];
  for (int i = 0; i < BLOCK; i++) block[i] = (i < count ? password[i] : 0) ^ 0x36363636u;
  for (int i = 0; i < DIGEST; i++) inner[i] = outer[i] = start[i];
  add_block(inner, block);
  for (int i = 0; i < BLOCK; i++) block[i] ^= 0x36363636u ^ 0x5c5c5c5cu;
  add_block(outer, block);
}

static void hmac(u32 *digest, const u32 *text, int count) {
  u32 hash[DIGEST];
  finish(hash, inner, text, count);
  finish(digest, outer, hash, DIGEST);
}

// Writes `count` words of key, a multiple of DIGEST, from the password that was set. The salt has at most LONGEST_SALT
// words, and their number leaves 0 to 12 when divided by BLOCK.
static void derive(u32 *key, int count, const u32 *salt, int salt_count, int iterations) {
  u32 text[LONGEST_SALT + 1], digest[DIGEST];
  for (int i = 0; i < salt_count; i++) text[i] = salt[i];
  for (int done = 0; done < count; done += DIGEST) {
    text[salt_count] = (u32)(done / DIGEST + 1);
    hmac(digest, text, salt_count + 1);
    for (int i = 0; i < DIGEST; i++) key[done + i] = digest[i];
    for (int iteration = 1; iteration < iterations; iteration++) {
      hmac(digest, digest, DIGEST);
      for (int i = 0; i < DIGEST; i++) key[done + i] ^= digest[i];
    }
  }
}
