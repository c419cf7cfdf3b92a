/* What somebody who mistyped a word may have meant. */
#ifndef HX_NEAR_H
#define HX_NEAR_H

#include <stddef.h>

/* Edits that make one word of the other: letters that are added, dropped, changed, or swapped with the next.  Words of more than 63
 * letters are far from everything (SIZE_MAX). */
size_t hx_edits(const char *a, const char *b);

/* Keeps the nearest of the names that it is shown.  Starts as {.word = WORD}; `name` stays NULL while none is near: at most one edit for
 * every three letters of the word, and for a short one a single edit. */
struct hx_near {
    const char *word, *name; /* borrowed */
    size_t edits;            /* from word to name */
};

void hx_near_try(struct hx_near *n, const char *name);

#endif
