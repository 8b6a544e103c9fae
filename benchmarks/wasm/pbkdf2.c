// PBKDF2 with HMAC-SHA-256: a round derives a key of 32 bytes from a password and a salt of 16 bytes each, with 64
// iterations. The keys, and so the checksums, are those of hashlib.pbkdf2_hmac in Python.
#include "pbkdf2.h"

enum { PASSWORD = 4, SALT = 4, ITERATIONS = 64 }; // Password and salt in words.

i64 run(i32 rounds) {
  restart_numbers();
  u32 password[PASSWORD], salt[SALT], key[DIGEST];
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    for (int i = 0; i < PASSWORD; i++) password[i] = next_number();
    for (int i = 0; i < SALT; i++) salt[i] = next_number();
    set_password(password, PASSWORD);
    derive(key, DIGEST, salt, SALT, ITERATIONS);
    for (int i = 0; i < DIGEST; i += 2) sum = fold(sum, (u64)key[i] << 32 | key[i + 1]);
  }
  return (i64)sum;
}
