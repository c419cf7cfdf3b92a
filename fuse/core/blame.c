/* Counting crashes of the root PD by user. */
#include "blame.h"

#include <stddef.h>

#include "base/loop.h"

static bool is_over(const struct hx_blame *b)
{
    return !b->crashes || hx_now_ms() - b->last_ms >= HX_BLAME_MS;
}

unsigned hx_blame_add(struct hx_blame *b, uid_t uid)
{
    struct hx_blame *mine = NULL, *oldest = b;

    for (struct hx_blame *i = b; i < b + HX_BLAMES; i++) {
        if (i->crashes && i->uid == uid)
            mine = i;
        if (i->last_ms < oldest->last_ms)
            oldest = i;
    }
    if (!mine || is_over(mine)) {
        mine = mine ? mine : oldest;
        *mine = (struct hx_blame){.uid = uid};
    }
    mine->last_ms = hx_now_ms();
    return ++mine->crashes;
}

bool hx_blame_bars(const struct hx_blame *b, uid_t uid)
{
    for (const struct hx_blame *i = b; i < b + HX_BLAMES; i++)
        if (i->uid == uid && !is_over(i))
            return i->crashes >= HX_BLAME_CRASHES;
    return false;
}
