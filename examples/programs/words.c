// How many words and letters standard input has, and which word is the longest.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  char word[64] = "", longest[sizeof word] = "";
  int words = 0, letters = 0;
  while (scanf("%63s", word) == 1) {
    words++;
    for (const char *at = word; *at; at++) letters += isalpha((unsigned char)*at) != 0;
    if (strlen(word) > strlen(longest)) strcpy(longest, word);
  }
  printf("%d words, %d letters, the longest is %s\n", words, letters, words ? longest : "none");
}
