// Records that are linked, copied, compared by their names and changed by functions: what programs of offices do.
#include "guest.h"

enum { RECORDS = 64, LETTERS = 24 };

struct record {
  struct record *next;
  i32 kind, value;
  char name[LETTERS];
};

static struct record records[RECORDS];

static void __attribute__((noinline)) set_name(struct record *record, u32 number) {
  for (int i = 0; i < LETTERS - 1; i++, number = number * 5 + 1) record->name[i] = (char)('a' + (number >> 24) % 3);
  record->name[LETTERS - 1] = 0;
}

static int __attribute__((noinline)) compare(const char *one, const char *other) {
  while (*one && *one == *other) one++, other++;
  return *one - *other;
}

static void __attribute__((noinline)) change(struct record *record, struct record *other) {
  struct record copy = *other;
  copy.value += record->value;
  copy.next = record->next;
  switch (record->kind) {
    case 0: record->value = copy.value / 3; break;
    case 1: record->value = copy.value ^ 21; break;
    case 2: *record = copy; break;
    default: record->value -= other->value % 7;
  }
}

i64 run(i32 rounds) {
  restart_numbers();
  for (int i = 0; i < RECORDS; i++) {
    records[i].next = &records[(i + 1) % RECORDS];
    records[i].kind = (i32)next_below(4);
    records[i].value = (i32)next_below(1000);
    set_name(&records[i], next_number());
  }
  u64 sum = 0;
  struct record *at = records;
  for (i32 round = 0; round < rounds; round++) {
    struct record *other = &records[next_below(RECORDS)];
    if (compare(at->name, other->name) < 0) change(at, other);
    else set_name(other, next_number());
    sum = fold(sum, (u64)(u32)at->value);
    at = at->next;
  }
  return (i64)sum;
}
