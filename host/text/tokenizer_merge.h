/* The merge loop of both BPE kinds: symbols in a list, candidate pairs in a heap, best pair first.
 *
 * A word of n symbols takes O(n log n) steps. */
#ifndef HX_TOKENIZER_MERGE_H
#define HX_TOKENIZER_MERGE_H

#include <stddef.h>
#include <stdint.h>

enum { HX_SYMBOL_NONE = -1 };

struct hx_symbol {
    uint32_t id;    /* HX_NO_TOKEN: text without a token */
    uint32_t at, n; /* its bytes in the word; n == 0: merged into its left neighbour */
    int prev, next; /* HX_SYMBOL_NONE at the ends */
};

/* The union of two neighbours: lower keys go first, leftmost among equals. */
struct hx_candidate {
    uint32_t key, made, bytes; /* made: its token, bytes: its length */
    int left, right;
};

struct hx_merge_work {
    struct hx_symbol *sym;
    struct hx_candidate *heap;
    size_t n_sym, n_heap, cap; /* cap: symbols; the heap holds 3 * cap: one per pair, two per merge */
};

/* Whether two neighbours may merge; fills key and made. */
struct hx_tokenizer;
typedef int hx_merge_find(const struct hx_tokenizer *t, const char *word, const struct hx_symbol *l,
                          const struct hx_symbol *r, struct hx_candidate *c);

/* Makes room for n symbols; those that are there stay.  0 or -ENOMEM. */
int hx_merge_room(struct hx_merge_work *w, size_t n);

/* Merges sym[0..n_sym), n_sym >= 1, whose at, n and id are set; then walk from 0 by next. */
void hx_merge_run(struct hx_merge_work *w, const struct hx_tokenizer *t, const char *word,
                  hx_merge_find *find);

void hx_merge_free(struct hx_merge_work *w);

#endif
