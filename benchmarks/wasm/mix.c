// Integer work with many branches: a linked list, a small matrix, a state machine over text, and a CRC of the results.
#include "guest.h"

enum { NODES = 96, SIDE = 12, TEXT = 640 };

struct node {
  struct node *next;
  u16 key;
  u16 place;
};

static struct node nodes[NODES];
static i16 left[SIDE][SIDE], right[SIDE][SIDE];
static i32 product[SIDE][SIDE];
static char text[TEXT];

static u32 crc_add(u32 crc, u32 value, int bits) {
  for (int i = 0; i < bits; i++) {
    u32 differs = (crc ^ value) & 1;
    crc >>= 1;
    value >>= 1;
    if (differs) crc ^= 0xa001;
  }
  return crc;
}

// The list: sorted by one field and then by the other, reversed, searched.

static int by_key(const struct node *a, const struct node *b) { return a->key < b->key; }

static int by_place(const struct node *a, const struct node *b) { return a->place < b->place; }

static struct node *merge(struct node *a, struct node *b, int (*before)(const struct node *, const struct node *)) {
  struct node *first = 0, **end = &first;
  while (a && b) {
    struct node **from = before(b, a) ? &b : &a;
    *end = *from;
    end = &(*from)->next;
    *from = (*from)->next;
  }
  *end = a ? a : b;
  return first;
}

static struct node *sort(struct node *list, int (*before)(const struct node *, const struct node *)) {
  if (!list || !list->next) return list;
  struct node *middle = list;
  for (struct node *ahead = list->next; ahead && ahead->next; ahead = ahead->next->next) middle = middle->next;
  struct node *rest = middle->next;
  middle->next = 0;
  return merge(sort(list, before), sort(rest, before), before);
}

static struct node *reverse(struct node *list) {
  struct node *done = 0;
  while (list) {
    struct node *rest = list->next;
    list->next = done;
    done = list;
    list = rest;
  }
  return done;
}

static u32 list_round(struct node **list, u32 crc) {
  u16 key = (u16)next_number(); // First: C leaves open which side of an assignment is.
  nodes[next_below(NODES)].key = key;
  *list = sort(*list, by_key);
  for (int i = 0; i < 8; i++) {
    u32 wanted = next_number() & 0xffff;
    const struct node *at = *list;
    while (at && at->key < wanted) at = at->next;
    crc = crc_add(crc, at ? at->place : 0xffff, 16);
  }
  *list = reverse(*list);
  crc = crc_add(crc, (*list)->key, 16);
  *list = sort(*list, by_place);
  return crc_add(crc, (*list)->key, 16);
}

// The matrix: a product, and a walk that counts rises and keeps a bounded total.

static u32 matrix_round(u32 crc) {
  i16 shift = (i16)next_below(64);
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) left[i][j] = (i16)(left[i][j] + shift);
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      i32 sum = 0;
      for (int k = 0; k < SIDE; k++) {
        i32 term = left[i][k] * right[k][j];
        sum += (term >> 2 & 0xf) * (term >> 5 & 0x7f);
      }
      product[i][j] = sum;
    }
  i32 total = 0, last = 0;
  u32 rises = 0;
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      i32 value = product[i][j];
      total += value;
      if (total > 20000) {
        rises += 10;
        total = 0;
      } else if (value > last) {
        rises++;
      }
      last = value;
    }
  return crc_add(crc_add(crc, rises, 16), (u32)total, 16);
}

// The state machine: what kind of number each word of the text is.

enum state { START, SIGN, ZERO, WHOLE, DOT, FRACTION, EXPONENT, EXPONENT_SIGN, POWER, PREFIX, HEX, WRONG, STATES };

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static enum state step(enum state state, char c) {
  switch (state) {
  case START:
    if (c == '+' || c == '-') return SIGN;
    // Falls through: without a sign a word goes on as with one.
  case SIGN:
    if (c == '0') return ZERO;
    if (is_digit(c)) return WHOLE;
    return c == '.' ? DOT : WRONG;
  case ZERO:
    if (c == 'x') return PREFIX;
    // Falls through: a zero may open a longer number.
  case WHOLE:
    if (is_digit(c)) return WHOLE;
    if (c == '.') return FRACTION;
    return c == 'e' ? EXPONENT : WRONG;
  case DOT:
    return is_digit(c) ? FRACTION : WRONG;
  case FRACTION:
    if (is_digit(c)) return FRACTION;
    return c == 'e' ? EXPONENT : WRONG;
  case EXPONENT:
    if (c == '+' || c == '-') return EXPONENT_SIGN;
    // Falls through: the sign may be left out.
  case EXPONENT_SIGN:
  case POWER:
    return is_digit(c) ? POWER : WRONG;
  case PREFIX:
  case HEX:
    return is_digit(c) || (c >= 'a' && c <= 'f') ? HEX : WRONG;
  default:
    return WRONG;
  }
}

static char letter(void) { return ",,,0123456789012345678900xx..eea+-b"[next_below(35)]; }

static u32 text_round(u32 crc) {
  u16 ended[STATES] = {0}, changes = 0;
  char other = letter(); // First, as above.
  text[next_below(TEXT)] = other;
  enum state state = START;
  for (int i = 0; i < TEXT; i++) {
    if (text[i] == ',') {
      ended[state]++;
      state = START;
    } else {
      enum state following = step(state, text[i]);
      changes += following != state;
      state = following;
    }
  }
  for (int i = 0; i < STATES; i++) crc = crc_add(crc, ended[i], 8);
  return crc_add(crc, changes, 16);
}

i64 run(i32 rounds) {
  restart_numbers();
  for (int i = 0; i < NODES; i++) {
    nodes[i].next = i + 1 < NODES ? &nodes[i + 1] : 0;
    nodes[i].key = (u16)next_number();
    nodes[i].place = (u16)i;
  }
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      left[i][j] = (i16)next_below(1000);
      right[i][j] = (i16)next_below(1000);
    }
  for (int i = 0; i < TEXT; i++) text[i] = letter();

  struct node *list = nodes;
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    u32 crc = list_round(&list, 0xffff);
    crc = matrix_round(crc);
    crc = text_round(crc);
    sum = fold(sum, crc);
  }
  return (i64)sum;
}
