/* Reads an inventory from standard input with scanf and writes a table with printf: NAME COUNT PRICE, one a line. */

#include <stdio.h>

int main(void) {
    char name[16], rest[64];
    int count, lines = 0, read;
    double price, total = 0;
    while ((read = scanf("%15s %i %lf", name, &count, &price)) == 3) {
        lines++;
        total += count * price;
        printf("%3d|%-12s|%8d|%#x|%10.2f|%e|%g\n", lines, name, count, count, price, price, count * price);
    }
    if (read != EOF) {
        scanf("%63[^\n]", rest);
        printf("%d of 3 in line %d, then \"%s\"\n", read, lines + 1, rest);
    }
    printf("%d lines, total %.3f, end %d, error %d\n", lines, total, feof(stdin) != 0, ferror(stdin) != 0);
    int a, b, n;
    char c;
    printf("%d", sscanf("17-4x", "%d%d%c%n", &a, &b, &c, &n));
    printf(" %d %d %c %d\n", a, b, c, n);
    printf("[%5s] [%-5s] [%.2s] [%*d] [%05d] [%+d] [% d] ", "ab", "ab", "abc", 6, 42, 42, 42, 42);
    printf("[%lld] [%zu] [%c] [%%]\n", -1234567890123456789LL, sizeof(long), 'x');
    return lines ? 0 : 3;
}
