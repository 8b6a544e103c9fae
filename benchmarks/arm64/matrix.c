// Products of matrices of 48 by 48 numbers of 64 bits; every round has new ones.
#include "guest.h"

enum { SIZE = 48 };

static u64 left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];

i64 run(i32 rounds) {
  restart_numbers();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    for (int i = 0; i < SIZE; i++)
      for (int k = 0; k < SIZE; k++) left[i][k] = next_number(), right[i][k] = next_number();
    for (int i = 0; i < SIZE; i++)
      for (int j = 0; j < SIZE; j++) {
        u64 cell = 0;
        for (int k = 0; k < SIZE; k++) cell += left[i][k] * right[k][j];
        product[i][j] = cell;
      }
    for (int i = 0; i < SIZE; i++) sum = fold(sum, product[i][(i * 7) % SIZE]);
  }
  return (i64)sum;
}
