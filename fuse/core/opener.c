/* Openers that wait for a session which is being closed, in the order in which they came. */
#include "opener.h"

#include <errno.h>

#include "driver.h"

enum { CHECK_MS = 250, CHECKS_MAX = 40 }; /* counted rather than timed, as a context's: a driver that was stopped has missed nothing */

static void enlist(struct hx_opener *o)
{
    struct hx_opener **end = &o->driver->openers;

    if (!*end)
        o->driver->openers_ms = hx_now_ms();
    while (*end)
        end = &(*end)->next;
    o->checks_left = CHECKS_MAX;
    o->next = NULL;
    o->prev = end;
    *end = o;
}

void hx_open(struct hx_opener *o)
{
    struct hx_session *s = NULL;
    int rc = -EAGAIN;

    if (!o->driver->openers || !hx_dsp_is_up(&o->driver->dsp))
        rc = hx_session_open(&s, o->driver, o->pid, o->uid, o->secure_node);
    if (rc == -EAGAIN)
        enlist(o);
    else
        o->opened(o, s, rc);
}

bool hx_open_waits(const struct hx_opener *o)
{
    return o->prev != NULL;
}

void hx_open_cancel(struct hx_opener *o)
{
    if (!o->prev)
        return;
    *o->prev = o->next;
    if (o->next)
        o->next->prev = o->prev;
    o->prev = NULL;
}

void hx_open_refuse(struct hx_opener *o, int rc)
{
    if (!o->prev)
        return;
    hx_open_cancel(o);
    o->opened(o, NULL, rc);
}

static void expire(struct hx_driver *d)
{
    struct hx_opener *next;
    uint64_t now = hx_now_ms();

    if (now - d->openers_ms < CHECK_MS)
        return;
    d->openers_ms = now;
    for (struct hx_opener *o = d->openers; o; o = next) {
        next = o->next;
        if (--o->checks_left)
            continue;
        hx_log_client("No session available: all %u are open or still being closed", d->profile.sessions);
        hx_open_refuse(o, -EBUSY);
    }
}

void hx_open_round(struct hx_driver *d)
{
    struct hx_opener *o;

    while ((o = d->openers)) {
        struct hx_session *s;
        int rc = hx_session_open(&s, d, o->pid, o->uid, o->secure_node);

        if (rc == -EAGAIN)
            break;
        hx_open_cancel(o);
        o->opened(o, s, rc);
    }
    expire(d);
}
