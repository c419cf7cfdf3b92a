/* What all drafters share: making a chain, the rules of a proposal, and closing. */
#include "draft.h"

#include <errno.h>
#include <math.h>

int hx_draft_add(struct hx_draft_tree *t, const struct hx_draft_room *room, uint32_t id, float p)
{
    t->id[t->n] = id;
    t->parent[t->n] = (int)t->n - 1;
    t->p[t->n++] = p;
    return t->n < room->n && t->n < room->depth && !(p > 0 && p < room->thresh);
}

static void choose_largest(float *logits, size_t vocab, uint32_t *id, float *p)
{
    double sum = 0;

    *id = 0;
    for (size_t i = 1; i < vocab; i++)
        if (logits[i] > logits[*id])
            *id = (uint32_t)i;
    for (size_t i = 0; i < vocab; i++)
        sum += exp((double)logits[i] - (double)logits[*id]);
    *p = (float)(1 / sum);
}

int hx_draft_add_chosen(struct hx_draft_tree *t, const struct hx_draft_room *room, float *logits)
{
    uint32_t id;
    float p;

    if (room->choose)
        room->choose(room->arg, t->n, logits, &id, &p);
    else
        choose_largest(logits, room->vocab, &id, &p);
    return hx_draft_add(t, room, id, p);
}

void hx_draft_prune(struct hx_draft_tree *t, float thresh)
{
    int now[HX_DRAFT_MAX]; /* indexes of those that stay; HX_DRAFT_MAX: out */
    size_t kept = 0;

    for (size_t i = 0; i < t->n; i++) {
        const int up = t->parent[i] < 0 ? HX_DRAFT_ROOT : now[t->parent[i]];

        now[i] = HX_DRAFT_MAX;
        if (up == HX_DRAFT_MAX || (t->p[i] > 0 && t->p[i] < thresh))
            continue;
        now[i] = (int)kept;
        t->id[kept] = t->id[i];
        t->parent[kept] = up;
        t->p[kept++] = t->p[i];
    }
    t->n = kept;
}

int hx_draft_check(const struct hx_draft *d, const struct hx_draft_tree *t, const struct hx_draft_room *room,
                   size_t vocab, struct hx_error *err)
{
    size_t depth[HX_DRAFT_MAX];

    if (t->n > room->n)
        return hx_error_set(err, -EPROTO, "draft %s: %zu guesses where %zu fit", d->ops->name, t->n, room->n);
    for (size_t i = 0; i < t->n; i++) {
        const int up = t->parent[i];

        if (t->id[i] >= vocab || up < HX_DRAFT_ROOT || up >= (int)i)
            return hx_error_set(err, -EPROTO, "draft %s: guess %zu is token %u (of %zu) behind guess %d",
                                d->ops->name, i, t->id[i], vocab, up);
        depth[i] = up < 0 ? 1 : depth[up] + 1;
        if (depth[i] > room->depth || (!room->tree && up != (int)i - 1))
            return hx_error_set(err, -EPROTO, "draft %s: guess %zu, %zu deep behind guess %d, where chains of %zu fit",
                                d->ops->name, i, depth[i], up, room->depth);
    }
    return 0;
}

void hx_draft_close(struct hx_draft *d)
{
    if (d)
        d->ops->close(d);
}
