// Fibonacci numbers by plain recursion: calls and little else.
#include "guest.h"

__attribute__((noinline, disable_tail_calls)) static u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

i64 run(i32 rounds) {
  restart_numbers();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) sum = fold(sum, fib(14 + next_below(4)));
  return (i64)sum;
}
