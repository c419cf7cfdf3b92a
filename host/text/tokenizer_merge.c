/* The merge loop of both kinds of BPE: the best pair of neighbours first, from a heap. */
#include "tokenizer_merge.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static int before(const struct hx_candidate *a, const struct hx_candidate *b)
{
    return a->key != b->key ? a->key < b->key : a->left < b->left;
}

static void heap_push(struct hx_merge_work *w, struct hx_candidate c)
{
    size_t i = w->n_heap++;

    while (i && before(&c, &w->heap[(i - 1) / 2])) {
        w->heap[i] = w->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    w->heap[i] = c;
}

static struct hx_candidate heap_pop(struct hx_merge_work *w)
{
    struct hx_candidate top = w->heap[0], last = w->heap[--w->n_heap];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < w->n_heap) {
        if (child + 1 < w->n_heap && before(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!before(&w->heap[child], &last))
            break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return top;
}

int hx_merge_room(struct hx_merge_work *w, size_t n)
{
    struct hx_symbol *sym;
    struct hx_candidate *heap;

    if (n <= w->cap)
        return 0;
    n = n < 128 ? 256 : 2 * n;
    if (n > INT_MAX / 4)
        return -ENOMEM;
    sym = realloc(w->sym, n * sizeof(*sym));
    if (!sym)
        return -ENOMEM;
    w->sym = sym;
    heap = realloc(w->heap, 3 * n * sizeof(*heap));
    if (!heap)
        return -ENOMEM;
    w->heap = heap;
    w->cap = n;
    return 0;
}

void hx_merge_free(struct hx_merge_work *w)
{
    free(w->sym);
    free(w->heap);
}

struct merging {
    struct hx_merge_work *w;
    const struct hx_tokenizer *t;
    const char *word;
    hx_merge_find *find;
};

/* Queues the union of symbol `left` and its right neighbour. */
static void consider(const struct merging *m, int left)
{
    const struct hx_symbol *sym = m->w->sym;
    struct hx_candidate c = {.left = left};

    if (left == HX_SYMBOL_NONE || sym[left].next == HX_SYMBOL_NONE)
        return;
    c.right = sym[left].next;
    c.bytes = sym[left].n + sym[c.right].n;
    if (m->find(m->t, m->word, &sym[left], &sym[c.right], &c))
        heap_push(m->w, c);
}

static void apply(const struct merging *m, const struct hx_candidate *c)
{
    struct hx_symbol *sym = m->w->sym, *a = &sym[c->left], *b = &sym[c->right];

    /* a candidate goes stale when one of its symbols has grown or is gone */
    if (!a->n || !b->n || a->n + b->n != c->bytes)
        return;
    a->id = c->made;
    a->n = c->bytes;
    a->next = b->next;
    b->n = 0;
    if (a->next != HX_SYMBOL_NONE)
        sym[a->next].prev = c->left;
    consider(m, a->prev);
    consider(m, c->left);
}

void hx_merge_run(struct hx_merge_work *w, const struct hx_tokenizer *t, const char *word,
                  hx_merge_find *find)
{
    const struct merging m = {w, t, word, find};
    const int n = (int)w->n_sym;

    w->n_heap = 0;
    for (int i = 0; i < n; i++) {
        w->sym[i].prev = i - 1; /* HX_SYMBOL_NONE for the first */
        w->sym[i].next = i + 1 < n ? i + 1 : HX_SYMBOL_NONE;
    }
    for (int i = 0; i + 1 < n; i++)
        consider(&m, i);
    while (w->n_heap) {
        struct hx_candidate c = heap_pop(w);
        apply(&m, &c);
    }
}
