/* A drafter for tests of trees: it knows the text and hangs each right guess between wrong ones, so that a path that is kept has to be
 * moved every time.  Wrong guesses have right ones behind them. */
#ifndef COMB_DRAFT_H
#define COMB_DRAFT_H

#include "engine/draft.h"
#include "hxt.h"

struct comb_draft {
    struct hx_draft draft; /* first */
    const uint32_t *text;  /* [n] */
    size_t n, vocab;
    size_t steps, moved;   /* proposals that were looked at; those of which a path was moved */
    size_t entries;        /* that were put: with guesses, all of a batch */
};

static inline void comb_put(struct hx_draft_tree *t, uint32_t id, int parent)
{
    t->id[t->n] = id;
    t->parent[t->n++] = parent;
}

/* Every seventh guess is wrong. */
static inline int comb_propose(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                               struct hx_draft_tree *t, struct hx_error *err)
{
    struct comb_draft *c = (struct comb_draft *)d;
    int from = HX_DRAFT_ROOT;

    (void)err;
    assert_memory_equal(ids, c->text, n * sizeof(*ids));
    assert_int_equal(room->tree, 1);
    for (size_t i = 0; i < room->depth && t->n + 4 <= room->n && n + i + 1 < c->n; i++) {
        const uint32_t right = c->text[n + i], vocab = (uint32_t)c->vocab;
        const int lost = (int)t->n;

        comb_put(t, (right + 1) % vocab, from);
        comb_put(t, (n + i) % 7 ? right : (right + 3) % vocab, from);
        comb_put(t, (right + 2) % vocab, from);
        if (i + 1 < room->depth)
            comb_put(t, c->text[n + i + 1], lost);
        from = lost + 1;
    }
    c->entries += t->n;
    return 0;
}

static inline int comb_accept(struct hx_draft *d, const uint32_t *ids, size_t n, size_t n_new, struct hx_error *err)
{
    struct comb_draft *c = (struct comb_draft *)d;

    (void)err;
    assert_memory_equal(ids, c->text, n * sizeof(*ids));
    c->steps++;
    c->moved += n_new > 1;
    return 0;
}

static const struct hx_draft_ops comb_ops = {.name = "comb", .propose = comb_propose, .accept = comb_accept};

#endif
