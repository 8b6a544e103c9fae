// The beginning of a program without any library: `NAME ROUNDS SEED` writes what `run` returns, in hexadecimal digits.
void seed(int value);
long long run(int rounds);

static long call(long number, long a, long b, long c) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}

static int number(const char *digits) {
  int found = 0;
  while (*digits) found = found * 10 + (*digits++ - '0');
  return found;
}

void *memcpy(void *to, const void *from, unsigned long count) {
  for (unsigned long i = 0; i < count; i++) ((char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memset(void *to, int byte, unsigned long count) {
  for (unsigned long i = 0; i < count; i++) ((char *)to)[i] = (char)byte;
  return to;
}

__attribute__((used)) static void begin(char **stack) {
  static char text[17];
  char **argv = stack + 1;
  seed(number(argv[2]));
  unsigned long long result = (unsigned long long)run(number(argv[1]));
  for (int i = 15; i >= 0; i--, result >>= 4) text[i] = "0123456789abcdef"[result & 15];
  text[16] = '\n';
  call(64, 1, (long)text, 17);
  call(94, 0, 0, 0);
  __builtin_unreachable();
}

__asm__(".globl _start\n_start:\n  mov x0, sp\n  b begin\n");
