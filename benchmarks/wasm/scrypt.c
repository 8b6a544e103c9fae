// scrypt (RFC 7914) with N = 1024, r = 1 and p = 1: a round derives a key of 32 bytes from a password and a salt of 16
// bytes each, by way of 128 KiB of memory. The keys, and so the checksums, are those of hashlib.scrypt in Python.
#include "pbkdf2.h"

enum { PASSWORD = 4, SALT = 4, COST = 1024, HALF = 16, WIDTH = 2 * HALF }; // All but COST in words.

static u32 blocks[COST][WIDTH];

static u32 rotate_left(u32 value, int by) { return value << by | value >> (32 - by); }

static void quarter(u32 *a, u32 *b, u32 *c, u32 *d) {
  *b ^= rotate_left(*a + *d, 7);
  *c ^= rotate_left(*b + *a, 9);
  *d ^= rotate_left(*c + *b, 13);
  *a ^= rotate_left(*d + *c, 18);
}

// Takes `with` into `half` and applies Salsa20/8: four times the columns and the rows of four by four words.
static void salsa(u32 *half, const u32 *with) {
  u32 x[HALF];
  for (int i = 0; i < HALF; i++) x[i] = half[i] ^= with[i];
  for (int i = 0; i < 4; i++) {
    quarter(&x[0], &x[4], &x[8], &x[12]);
    quarter(&x[5], &x[9], &x[13], &x[1]);
    quarter(&x[10], &x[14], &x[2], &x[6]);
    quarter(&x[15], &x[3], &x[7], &x[11]);
    quarter(&x[0], &x[1], &x[2], &x[3]);
    quarter(&x[5], &x[6], &x[7], &x[4]);
    quarter(&x[10], &x[11], &x[8], &x[9]);
    quarter(&x[15], &x[12], &x[13], &x[14]);
  }
  for (int i = 0; i < HALF; i++) half[i] += x[i];
}

static void mix_block(u32 *block) {
  salsa(block, block + HALF);
  salsa(block + HALF, block);
}

// The words of SHA-256 have their highest byte first, those of Salsa20 their lowest.
static void swap_bytes(u32 *words) {
  for (int i = 0; i < WIDTH; i++)
    words[i] = (rotate_left(words[i], 8) & 0x00ff00ffu) | (rotate_left(words[i], 24) & 0xff00ff00u);
}

// Writes down every state on the way, then visits them in an order that each state chooses for the next.
static void mix_memory(u32 *block) {
  for (int i = 0; i < COST; i++) {
    for (int j = 0; j < WIDTH; j++) blocks[i][j] = block[j];
    mix_block(block);
  }
  for (int i = 0; i < COST; i++) {
    const u32 *chosen = blocks[block[HALF] % COST];
    for (int j = 0; j < WIDTH; j++) block[j] ^= chosen[j];
    mix_block(block);
  }
}

i64 run(i32 rounds) {
  restart_numbers();
  u32 password[PASSWORD], salt[SALT], key[DIGEST], block[WIDTH];
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    for (int i = 0; i < PASSWORD; i++) password[i] = next_number();
    for (int i = 0; i < SALT; i++) salt[i] = next_number();
    set_password(password, PASSWORD);
    derive(block, WIDTH, salt, SALT, 1);
    swap_bytes(block);
    mix_memory(block);
    swap_bytes(block);
    derive(key, DIGEST, block, WIDTH, 1);
    for (int i = 0; i < DIGEST; i += 2) sum = fold(sum, (u64)key[i] << 32 | key[i + 1]);
  }
  return (i64)sum;
}
