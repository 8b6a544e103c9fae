// An interpreter of a small register machine: every instruction is a call through a table of functions, and arithmetic
// is a second one through a table of another type. The program that it runs comes from the seed.
#include "guest.h"

enum { CODE = 64, REGISTERS = 8, CELLS = 256, LOOPS = 32 };
enum { BINARY, IMMEDIATE, MOVE, LOAD, STORE, SKIP_ZERO, SKIP_LESS, ROTATE, LOOP, KINDS };

struct instruction {
  u8 kind, to, from, operation;
  u32 value;
};

static struct instruction code[CODE + 1];
static u32 registers[REGISTERS], cells[CELLS], left_to_do;

typedef u32 (*binary)(u32, u32);

static u32 add(u32 a, u32 b) { return a + b; }
static u32 subtract(u32 a, u32 b) { return a - b; }
static u32 multiply(u32 a, u32 b) { return a * b; }
static u32 divide(u32 a, u32 b) { return b ? a / b : 0; }
static u32 both(u32 a, u32 b) { return a & b; }
static u32 either(u32 a, u32 b) { return a | b; }
static u32 differ(u32 a, u32 b) { return a ^ b; }
static u32 shift(u32 a, u32 b) { return b & 1 ? a << (b & 31) : a >> (b & 31); }

static const binary operations[8] = {add, subtract, multiply, divide, both, either, differ, shift};

// Each handler is given its instruction and the place after it, and returns the place to go on at.
typedef u32 (*handler)(const struct instruction *, u32);

static u32 do_binary(const struct instruction *at, u32 next) {
  registers[at->to] = operations[at->operation](registers[at->to], registers[at->from]);
  return next;
}

static u32 do_immediate(const struct instruction *at, u32 next) {
  registers[at->to] = operations[at->operation](registers[at->from], at->value);
  return next;
}

static u32 do_move(const struct instruction *at, u32 next) {
  registers[at->to] = registers[at->from];
  return next;
}

static u32 do_load(const struct instruction *at, u32 next) {
  registers[at->to] ^= cells[(registers[at->from] + at->value) % CELLS];
  return next;
}

static u32 do_store(const struct instruction *at, u32 next) {
  cells[(registers[at->to] + at->value) % CELLS] += registers[at->from] + at->value;
  return next;
}

static u32 do_skip_zero(const struct instruction *at, u32 next) {
  return next + (registers[at->from] & 3 ? 0 : at->operation);
}

static u32 do_skip_less(const struct instruction *at, u32 next) {
  return next + (registers[at->to] < registers[at->from] ? at->operation : 0);
}

static u32 do_rotate(const struct instruction *at, u32 next) {
  u32 by = 1 + at->value % 31, value = registers[at->from];
  registers[at->to] += value << by | value >> (32 - by);
  return next;
}

static u32 do_loop(const struct instruction *at, u32 next) {
  registers[at->to] += left_to_do;
  return --left_to_do ? 0 : next;
}

static const handler handlers[KINDS] = {do_binary,    do_immediate, do_move,   do_load, do_store,
                                        do_skip_zero, do_skip_less, do_rotate, do_loop};

static void make_program(void) {
  for (u32 i = 0; i < CODE; i++) {
    code[i].kind = (u8)next_below(LOOP);
    code[i].to = (u8)next_below(REGISTERS);
    code[i].from = (u8)next_below(REGISTERS);
    code[i].operation = (u8)next_below(8);
    code[i].value = next_number();
    if (code[i].kind == SKIP_ZERO || code[i].kind == SKIP_LESS) {
      u32 skipped = 1 + next_below(4);
      code[i].operation = (u8)(i + 1 + skipped <= CODE ? skipped : 0);
    }
  }
  code[CODE] = (struct instruction){.kind = LOOP};
}

i64 run(i32 rounds) {
  restart_numbers();
  make_program();
  for (int i = 0; i < CELLS; i++) cells[i] = next_number();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    for (int i = 0; i < REGISTERS; i++) registers[i] = next_number();
    left_to_do = LOOPS;
    for (u32 at = 0; at <= CODE;) at = handlers[code[at].kind](&code[at], at + 1);
    for (int i = 0; i < REGISTERS; i++) sum = fold(sum, registers[i]);
  }
  return (i64)sum;
}
