/* The prompt cache: which engine's cache a prompt begins like, and what is left there behind a completion. */
#include "cmd_serve_past.h"

#include <stdlib.h>

size_t hx_past_covers(const struct hx_past *p, const uint32_t *prompt, size_t n)
{
    size_t same = 0;

    while (same + 1 < n && same < p->n && p->ids[same] == prompt[same])
        same++;
    return same;
}

int hx_past_better(const struct hx_past *a, const struct hx_past *b, const uint32_t *prompt, size_t n)
{
    const size_t in_a = hx_past_covers(a, prompt, n), in_b = hx_past_covers(b, prompt, n);
    const int half_a = in_a && in_a >= n / 2, half_b = in_b && in_b >= n / 2;

    if (half_a != half_b)
        return half_a;
    return half_a && in_a != in_b ? in_a > in_b : a->used < b->used;
}

void hx_past_keep(struct hx_past *p, struct hx_completion *c, uint64_t now)
{
    if (!c->ids)
        return;
    free(p->ids);
    *p = (struct hx_past){.ids = c->ids, .n = c->n_run, .used = now};
    c->ids = NULL;
}

void hx_past_forget(struct hx_past *p)
{
    free(p->ids);
    *p = (struct hx_past){.ids = NULL};
}
