/* Whose turn it is, see turns.h. */
#include "driver.h"

bool hx_turns_are_taken(const struct hx_driver *d)
{
    const struct hx_session *first = NULL;

    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++) {
        if (first && d->session[i] && d->session[i]->pid != first->pid)
            return true;
        if (!first)
            first = d->session[i];
    }
    return false;
}

bool hx_turns_is_next(const struct hx_session *s)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++) {
        const struct hx_session *o = s->driver->session[i];

        if (!o || o == s || o->pid != s->pid || !o->channel.rings)
            continue;
        if (o->reply_round == s->driver->round ||
            (o->reply_round < s->reply_round && o->channel.in_flight && !hx_ring_is_empty(&o->channel.rings->reply)))
            return false;
    }
    return true;
}
