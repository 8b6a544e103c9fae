// The price of an Asian call option, one on the mean price of 32 days, as the mean over 64 random paths, in f64. A
// round is one option, whose terms the numbers choose. Logarithm and exponential are made of plain arithmetic.
#include "guest.h"

enum { PATHS = 64, DAYS = 32 };

union bits {
  f64 value;
  u64 bits;
};

static f64 spare; // Normal numbers come in pairs.
static u32 has_spare;

static f64 next_fraction(void) { return (f64)next_number() / 4294967296.0; }

// Of a positive number that is not tiny: x = m * 2^n with m near 1, and the series of log((1 + z) / (1 - z)).
static f64 logarithm(f64 x) {
  union bits given = {.value = x};
  i32 exponent = (i32)(given.bits >> 52) - 1023;
  given.bits = (given.bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
  f64 m = given.value;
  if (m > 1.4142135623730951) {
    m *= 0.5;
    exponent++;
  }
  f64 z = (m - 1) / (m + 1), square = z * z, sum = 1.0 / 19;
  for (int i = 17; i > 0; i -= 2) sum = sum * square + 1.0 / i;
  return 2 * z * sum + exponent * 0.6931471805599453;
}

// Of a number between -700 and 700: 2^n times the exponential of the rest, by its series.
static f64 exponential(f64 x) {
  i32 n = (i32)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
  f64 rest = x - n * 0.6931471805599453, sum = 1;
  for (int i = 13; i > 0; i--) sum = sum * rest * (1.0 / i) + 1;
  union bits scale = {.bits = (u64)(n + 1023) << 52};
  return sum * scale.value;
}

// Marsaglia's polar method: a random point in the circle gives two independent numbers.
static f64 next_normal(void) {
  if (has_spare) {
    has_spare = 0;
    return spare;
  }
  f64 x, y, square;
  do {
    x = 2 * next_fraction() - 1;
    y = 2 * next_fraction() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  f64 scale = __builtin_sqrt(-2 * logarithm(square) / square);
  spare = y * scale;
  has_spare = 1;
  return x * scale;
}

static f64 price(f64 spot, f64 strike, f64 rate, f64 volatility, f64 years) {
  f64 day = years / DAYS, drift = (rate - 0.5 * volatility * volatility) * day;
  f64 spread = volatility * __builtin_sqrt(day), paid = 0;
  for (int path = 0; path < PATHS; path++) {
    f64 now = spot, sum = 0;
    for (int i = 0; i < DAYS; i++) {
      now *= exponential(drift + spread * next_normal());
      sum += now;
    }
    f64 gain = sum / DAYS - strike;
    if (gain > 0) paid += gain;
  }
  return exponential(-rate * years) * paid / PATHS;
}

i64 run(i32 rounds) {
  restart_numbers();
  has_spare = 0;
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    f64 strike = 80 + 40 * next_fraction(), rate = 0.1 * next_fraction();
    f64 volatility = 0.1 + 0.4 * next_fraction(), years = 0.25 + next_fraction();
    union bits found = {.value = price(100, strike, rate, volatility, years)};
    sum = fold(sum, found.bits);
  }
  return (i64)sum;
}
