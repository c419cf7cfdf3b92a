/* The distance between words, and the nearest one of several. */
#include "near.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t hx_edits(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2], *spare;

    if (na > LONGEST || nb > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[nb];
}

void hx_near_try(struct hx_near *n, const char *name)
{
    const size_t edits = hx_edits(n->word, name), most = strlen(n->word) / 3;

    if (edits > (most ? most : 1) || (n->name && edits >= n->edits))
        return;
    n->name = name;
    n->edits = edits;
}
