// How many lines and bytes a file has, and how long its longest line is: `lines FILE`.
#include <stdio.h>

int main(int count, char **words) {
  FILE *file = count == 2 ? fopen(words[1], "r") : NULL;
  if (!file) {
    fprintf(stderr, count == 2 ? "lines: %s cannot be read\n" : "usage: %s FILE\n", words[count - 1]);
    return 2;
  }
  long bytes = 0, lines = 0, longest = 0, length = 0;
  for (int letter; (letter = getc(file)) != EOF; bytes++) {
    length = letter == '\n' ? 0 : length + 1;
    lines += letter == '\n';
    if (length > longest) longest = length;
  }
  printf("%s: %ld lines, %ld bytes, the longest line has %ld\n", words[1], lines, bytes, longest);
}
