/* Counts bytes, a piece at a time: a program that keeps its state in memory and reports to its host.

   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry,--strip-debug -o tally.wasm tally.c
*/

#define EXPORT(name) __attribute__((export_name(name)))

__attribute__((import_module("env"), import_name("progress"))) void progress(int total);

static unsigned char piece[4096];
static unsigned counts[256];
static int total;

EXPORT("piece") unsigned char *where_to_put_a_piece(void) { return piece; }

EXPORT("counts") unsigned *where_the_counts_are(void) { return counts; }

EXPORT("feed") void feed(unsigned size) {
    if (size > sizeof piece) __builtin_trap();
    for (unsigned at = 0; at < size; at++) counts[piece[at]]++;
    total += size;
    progress(total);
}
