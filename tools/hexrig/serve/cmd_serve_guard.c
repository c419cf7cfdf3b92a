/* What a guard saw of a request, for a header of its reply. */
#include <math.h>
#include <stdio.h>

#include "cmd_serve.h"
#include "methods/guard/guard_tap.h"

void hx_serve_guard_begin(struct hx_serve_guard *g, const struct hx_engine *e)
{
    struct hx_tap *t = hx_guard_tap_find(e->taps);

    *g = (struct hx_serve_guard){.on = t != NULL};
    if (!t)
        return;
    hx_guard_tap_most(t);
    g->seen = hx_guard_tap_seen(t);
}

void hx_serve_guard_end(struct hx_serve_guard *g, const struct hx_engine *e)
{
    struct hx_tap *t = g->on ? hx_guard_tap_find(e->taps) : NULL;
    struct hx_guard_seen now;

    if (!t)
        return;
    now = hx_guard_tap_seen(t);
    g->seen.tokens = now.tokens - g->seen.tokens;
    g->seen.told = now.told - g->seen.told;
    g->seen.projected = now.projected - g->seen.projected;
    g->seen.teh_most = hx_guard_tap_most(t);
}

int hx_serve_guard_text(const struct hx_serve_choices *all, char *to, size_t room)
{
    struct hx_guard_seen sum = {0};

    if (!all->n || !all->job[0]->guard.on)
        return 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct hx_guard_seen *s = &all->job[i]->guard.seen;

        sum.tokens += s->tokens;
        sum.told += s->told;
        sum.projected += s->projected;
        sum.teh_most = fmax(sum.teh_most, s->teh_most);
    }
    snprintf(to, room, "teh=%.2f states=%zu told=%zu projected=%zu", 100 * sum.teh_most, sum.tokens, sum.told, sum.projected);
    return 1;
}
