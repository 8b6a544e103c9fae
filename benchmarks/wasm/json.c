// Parses a JSON document that it makes itself: adds up its numbers, and counts and hashes what else there is.
#include "guest.h"

enum { SPACE = 12288, RECORD = 768, DEEPEST = 12 };

static char document[SPACE];
static u32 length;

// The document: an array of records, some inside others.

static void put(const char *text) {
  while (*text) document[length++] = *text++;
}

static void put_number(u32 value) {
  char digits[10];
  int count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while (value /= 10);
  while (count) document[length++] = digits[--count];
}

static void put_string(void) {
  static const char *const parts[] = {"alpha", "b",  "\\n",   "long ago", "\\u00e9",  "x-1",
                                     "\\\"",  "zz", "\\\\", " of ",     "\xc3\xa4", "7"};
  put("\"");
  for (u32 i = next_below(6); i; i--) put(parts[next_below(12)]);
  put("\"");
}

static void put_record(int depth) {
  put("{\"id\": ");
  put_number(next_number() >> next_below(24));
  put(", \"name\": ");
  put_string();
  put(", \"score\": ");
  if (next_below(2)) put("-");
  put_number(next_below(1000));
  put(".");
  put_number(next_below(1000));
  if (next_below(4) == 0) {
    put(next_below(2) ? "e+" : "E-");
    put_number(next_below(6));
  }
  put(", \"tags\": [");
  for (u32 i = 0, count = next_below(4); i < count; i++) {
    if (i) put(", ");
    put_string();
  }
  put("],\n  \"open\": ");
  put(next_below(2) ? "true" : "false");
  put(", \"next\": ");
  if (depth < 3 && next_below(3) == 0)
    put_record(depth + 1);
  else
    put("null");
  put("}");
}

static void make_document(void) {
  length = 0;
  put("[");
  put_record(0);
  while (length < SPACE - 4 * RECORD) {
    put(",\n ");
    put_record(0);
  }
  put("]\n");
}

// The parser: recursive descent, one token at a time.

static u32 at, depth, wrong;
static u32 objects, arrays, words;
static u64 strings;
static f64 total;

static const f64 powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};

static char peek(void) { return at < length ? document[at] : '\0'; }

static char peek_token(void) {
  while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') at++;
  return peek();
}

static int accept(char wanted) {
  if (peek_token() != wanted) return 0;
  at++;
  return 1;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static void parse_word(const char *word) {
  while (*word)
    if (peek() == *word++)
      at++;
    else
      wrong++;
  words++;
}

static u32 parse_hex(void) {
  u32 value = 0;
  for (int i = 0; i < 4; i++) {
    char c = peek();
    if (is_digit(c))
      value = value * 16 + (u32)(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + (u32)(c - 'a' + 10);
    else
      wrong++;
    at++;
  }
  return value;
}

static void parse_string(void) {
  u64 hash = 0;
  at++;
  while (at < length && peek() != '"') {
    u32 unit = (u8)document[at++];
    if (unit == '\\') {
      char escape = document[at++];
      switch (escape) {
      case 'n': unit = '\n'; break;
      case 't': unit = '\t'; break;
      case 'u': unit = parse_hex(); break;
      case '"':
      case '\\':
      case '/': unit = (u8)escape; break;
      default: wrong++;
      }
    }
    hash = hash * 31 + unit;
  }
  at++;
  strings = fold(strings, hash);
}

static void parse_number(void) {
  int negative = 0, scale = 0, power = 0, power_negative = 0;
  u64 digits = 0;
  if (peek() == '-') {
    negative = 1;
    at++;
  }
  if (!is_digit(peek())) {
    wrong++;
    at++;
    return;
  }
  while (is_digit(peek())) digits = digits * 10 + (u64)(document[at++] - '0');
  if (peek() == '.') {
    at++;
    for (; is_digit(peek()); scale--) digits = digits * 10 + (u64)(document[at++] - '0');
  }
  if (peek() == 'e' || peek() == 'E') {
    at++;
    if (peek() == '+' || peek() == '-') power_negative = document[at++] == '-';
    while (is_digit(peek())) power = power * 10 + (document[at++] - '0');
  }
  scale += power_negative ? -power : power;
  f64 value = (f64)digits;
  if (scale > 12 || scale < -12)
    wrong++;
  else
    value = scale < 0 ? value / powers[-scale] : value * powers[scale];
  total += negative ? -value : value;
}

static void parse_value(void);

static void parse_items(char close, int named) {
  at++;
  if (++depth > DEEPEST) wrong++;
  if (!accept(close)) {
    do {
      if (named) {
        if (peek_token() == '"')
          parse_string();
        else
          wrong++;
        if (!accept(':')) wrong++;
      }
      parse_value();
    } while (!wrong && accept(','));
    if (!accept(close)) wrong++;
  }
  depth--;
}

static void parse_value(void) {
  switch (peek_token()) {
  case '{':
    objects++;
    parse_items('}', 1);
    break;
  case '[':
    arrays++;
    parse_items(']', 0);
    break;
  case '"': parse_string(); break;
  case 't': parse_word("true"); break;
  case 'f': parse_word("false"); break;
  case 'n': parse_word("null"); break;
  default: parse_number();
  }
}

i64 run(i32 rounds) {
  restart_numbers();
  make_document();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    for (int i = 0; i < 4; i++) {
      u32 changed = next_below(length);
      if (is_digit(document[changed])) document[changed] = (char)('1' + next_below(9));
    }
    at = depth = wrong = objects = arrays = words = 0;
    strings = 0;
    total = 0;
    parse_value();
    if (wrong || peek_token()) return -1;
    sum = fold(sum, (u64)(i64)total);
    sum = fold(sum, strings ^ objects ^ arrays << 10 ^ words << 20);
  }
  return (i64)sum;
}
