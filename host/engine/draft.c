/* What all drafters share: the rules of a proposal, and closing. */
#include "draft.h"

#include <errno.h>

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
