/* qsort and bsearch over records, by several orders, each through a pointer to a function. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 2000

struct record {
    unsigned key;
    int number;
    char name[8];
};

static struct record records[COUNT];

static int by_key(const void *a, const void *b) {
    const struct record *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->number - y->number;
}

static int by_name(const void *a, const void *b) {
    int order = strcmp(((const struct record *)a)->name, ((const struct record *)b)->name);
    return order ? order : by_key(a, b);
}

static int by_number_down(const void *a, const void *b) {
    return ((const struct record *)b)->number - ((const struct record *)a)->number;
}

static void sort(const char *title, int (*order)(const void *, const void *)) {
    qsort(records, COUNT, sizeof *records, order);
    unsigned sum = 0;
    for (int i = 0; i < COUNT; i++) {
        sum = sum * 31 + records[i].number;
        if (i && order(&records[i - 1], &records[i]) > 0) printf("not sorted at %d\n", i);
    }
    printf("%s: first %s %u %d, last %s %u %d, %08x\n", title, records[0].name, records[0].key, records[0].number,
           records[COUNT - 1].name, records[COUNT - 1].key, records[COUNT - 1].number, sum);
}

int main(void) {
    srand(7);
    for (int i = 0; i < COUNT; i++) {
        records[i].key = rand() % 1000;
        records[i].number = i;
        snprintf(records[i].name, sizeof records[i].name, "n%04x", rand() & 0xffff);
    }
    sort("by name", by_name);
    sort("by number, down", by_number_down);
    sort("by key", by_key);
    int found = 0;
    for (int i = 0; i < COUNT; i++) {
        struct record wanted = {records[i].key + (i % 3 == 0) * 1000, records[i].number, ""};
        struct record *hit = bsearch(&wanted, records, COUNT, sizeof *records, by_key);
        found += hit == &records[i];
    }
    printf("%d found\n", found);
    return 0;
}
