// Regular expressions: literals, `.`, classes like [a-z_] and [^0-9], the suffixes * + ?, alternatives and groups. One
// is compiled to an automaton (Thompson's construction) that runs over the text in all its states at once, and so never
// goes back. A round compiles one expression and counts its matches, each as long as can be, in 2 KiB of new text.
#include "guest.h"

enum { TEXT = 2048, NODES = 128, CLASSES = 8, DEEPEST = 8 };
enum { LITERAL, ANY, CLASS, SPLIT, PASS, FOUND };

struct node {
  u8 kind, symbol; // The letter of a literal, or the number of a class.
  u8 next, other;  // Where to go on; SPLIT goes on at both.
};

// A piece of the automaton: it is entered at its first node, and the `next` of its last one is still open.
struct piece {
  u8 first, last;
};

// What is known of a group that is being read: the alternatives before this one, this one so far, and the last item of
// it, which a suffix would apply to.
struct level {
  struct piece before, row, item;
  u8 has_before, has_row, has_item;
};

static const char *const patterns[] = {
    "[a-z]+ing",
    "(the|an?) [a-z]+",
    "[0-9]+([.][0-9]+)?",
    "[A-Z][a-z]* [A-Z][a-z]*",
    "[^ ,.\n]+@[a-z]+[.](com|org)",
    "q[^u]|(ei|ie)+",
    "(a|e|i|o|u)[aeiou]+",
    "s.*t",
    "([a-z][a-z])* ?[0-9]",
    "(ab?|b(c|d)*)+e",
    ".[.] ([A-Z]|[0-9])?",
    "(n(e|i)?(s|t|r)+|[r-t]he)+",
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static const char *const syllables[] = {"the", "an",  "ing", "qu", "er", "ie",  "a",   "ab", "be",
                                        "cd",  "est", "on",  "ri", "st", "ous", "nei", "th", "q"};
enum { SYLLABLES = sizeof syllables / sizeof *syllables };

static char text[TEXT];
static struct node nodes[NODES];
static u32 classes[CLASSES][4]; // A bit for each of 128 letters.
static u32 node_count, class_count, first_node;
static u32 marks[NODES], mark; // Nodes with the mark of this step have been entered in it.
static u8 states[2][NODES];
static u8 to_enter[NODES + 1]; // Every node that is entered takes one away and adds two at most.

static u32 put(u32 at, const char *part) {
  while (*part && at < TEXT) text[at++] = *part++;
  return at;
}

// Sentences of made-up words, with names, numbers and addresses.
static void make_text(void) {
  u32 at = 0;
  while (at < TEXT) {
    u32 from = at, kind = next_below(16);
    for (u32 i = 1 + next_below(4); i; i--) at = put(at, syllables[next_below(SYLLABLES)]);
    if (kind < 3 && text[from] >= 'a') text[from] = (char)(text[from] - 'a' + 'A');
    if (kind == 3) at = put(at, next_below(2) ? "@on.com" : "@best.org");
    if (kind == 4) at = put(at, next_below(2) ? " 365" : " 12.5");
    at = put(at, kind == 5 ? ".\n" : kind == 6 ? ". " : kind == 7 ? ", " : " ");
  }
}

static u8 add_node(u32 kind, u32 symbol, u32 next, u32 other) {
  nodes[node_count] = (struct node){(u8)kind, (u8)symbol, (u8)next, (u8)other};
  return (u8)node_count++;
}

static struct piece single(u32 kind, u32 symbol) {
  u8 node = add_node(kind, symbol, 0, 0);
  return (struct piece){node, node};
}

// Reads a class up to its closing bracket and returns the place after it.
static const char *read_class(const char *at) {
  u32 *set = classes[class_count++], others = *at == '^' ? ~0u : 0;
  if (others) at++;
  for (int i = 0; i < 4; i++) set[i] = 0;
  while (*at != ']') {
    u32 low = (u8)*at++, high = low;
    if (at[0] == '-' && at[1] != ']') {
      high = (u8)at[1];
      at += 2;
    }
    for (u32 letter = low; letter <= high; letter++) set[letter / 32] |= 1u << letter % 32;
  }
  for (int i = 0; i < 4; i++) set[i] ^= others;
  return at + 1;
}

static struct piece repeat(struct piece item, char suffix) {
  u8 end = add_node(PASS, 0, 0, 0);
  u8 split = add_node(SPLIT, 0, item.first, end);
  nodes[item.last].next = suffix == '?' ? end : split;
  return (struct piece){suffix == '+' ? item.first : split, end};
}

// The last item becomes part of its row: now no suffix can follow.
static void close_item(struct level *level) {
  if (!level->has_item) return;
  if (level->has_row) {
    nodes[level->row.last].next = level->item.first;
    level->row.last = level->item.last;
  } else {
    level->row = level->item;
  }
  level->has_row = 1;
  level->has_item = 0;
}

// The row becomes one of the alternatives.
static void close_row(struct level *level) {
  close_item(level);
  struct piece row = level->has_row ? level->row : single(PASS, 0);
  if (level->has_before) {
    u8 end = add_node(PASS, 0, 0, 0), split = add_node(SPLIT, 0, level->before.first, row.first);
    nodes[level->before.last].next = nodes[row.last].next = end;
    row = (struct piece){split, end};
  }
  level->before = row;
  level->has_before = 1;
  level->has_row = 0;
}

static void compile(const char *at) {
  struct level levels[DEEPEST], *level = levels;
  node_count = class_count = 0;
  level->has_before = level->has_row = level->has_item = 0;
  while (*at) {
    char letter = *at++;
    if (letter == '*' || letter == '+' || letter == '?') {
      level->item = repeat(level->item, letter);
    } else if (letter == '|') {
      close_row(level);
    } else if (letter == ')') {
      close_row(level);
      level--;
      level->item = level[1].before;
      level->has_item = 1;
    } else {
      close_item(level);
      if (letter == '(') {
        level++;
        level->has_before = level->has_row = level->has_item = 0;
        continue;
      }
      level->has_item = 1;
      if (letter == '[') {
        level->item = single(CLASS, class_count);
        at = read_class(at);
      } else {
        level->item = single(letter == '.' ? ANY : LITERAL, (u8)letter);
      }
    }
  }
  close_row(level);
  nodes[level->before.last].next = add_node(FOUND, 0, 0, 0);
  first_node = level->before.first;
}

// Adds the states that can be reached from a node without a letter. Returns whether that is the end of the expression.
static u32 enter(u32 node, u8 *set, u32 *count) {
  u32 waiting = 0, found = 0;
  to_enter[waiting++] = (u8)node;
  while (waiting) {
    u32 now = to_enter[--waiting];
    if (marks[now] == mark) continue;
    marks[now] = mark;
    u32 kind = nodes[now].kind;
    if (kind == FOUND) {
      found = 1;
    } else if (kind == PASS || kind == SPLIT) {
      if (kind == SPLIT) to_enter[waiting++] = nodes[now].other;
      to_enter[waiting++] = nodes[now].next;
    } else {
      set[(*count)++] = (u8)now;
    }
  }
  return found;
}

static u32 accepts(const struct node *node, u32 letter) {
  if (node->kind == LITERAL) return node->symbol == letter;
  if (node->kind == ANY) return letter != '\n';
  return classes[node->symbol][letter / 32] >> letter % 32 & 1;
}

// The end of the longest match that begins here; -1 if there is none.
static i32 match(u32 at) {
  u32 count = 0;
  u8 *now = states[0], *then = states[1];
  mark++;
  i32 end = enter(first_node, now, &count) ? (i32)at : -1;
  for (; count && at < TEXT; at++) {
    u32 letter = (u8)text[at], then_count = 0, found = 0;
    mark++;
    for (u32 i = 0; i < count; i++) {
      const struct node *node = &nodes[now[i]];
      if (accepts(node, letter)) found |= enter(node->next, then, &then_count);
    }
    if (found) end = (i32)(at + 1);
    u8 *done = now;
    now = then;
    then = done;
    count = then_count;
  }
  return end;
}

i64 run(i32 rounds) {
  restart_numbers();
  u64 sum = 0;
  for (i32 round = 0; round < rounds; round++) {
    make_text();
    compile(patterns[next_below(PATTERNS)]);
    for (int i = 0; i < NODES; i++) marks[i] = 0;
    mark = 0;
    u32 matches = 0, letters = 0, at = 0;
    while (at < TEXT) {
      i32 end = match(at);
      if (end > (i32)at) {
        matches++;
        letters += (u32)end - at;
        at = (u32)end;
      } else {
        at++; // A match of nothing does not count.
      }
    }
    sum = fold(sum, (u64)matches << 32 | letters);
  }
  return (i64)sum;
}
