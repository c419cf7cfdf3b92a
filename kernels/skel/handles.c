/* A skel's table of handles, see handles.h. */
#include "handles.h"

#include "AEEStdErr.h"
#include "HAP_farf.h"

int hx_handle_open(struct hx_handles *t, struct hx_handle *h, const char *uri, remote_handle64 *id)
{
    pthread_mutex_lock(&t->lock);
    const int is_full = t->n == HX_HANDLES_MAX;

    if (!is_full) {
        *h = (struct hx_handle){.next = t->first, .id = ++t->last_id, .refs = 1};
        t->first = h;
        t->n++;
        *id = h->id;
    }
    pthread_mutex_unlock(&t->lock);
    if (is_full) {
        FARF(ERROR, "%s: %d handles are open, the limit", t->name, HX_HANDLES_MAX);
        return AEE_ENOMORE;
    }
    FARF(LOW, "%s: opened %s as handle %llu", t->name, uri, (unsigned long long)*id);
    return AEE_SUCCESS;
}

/* Where the state of a number hangs; *find() is NULL when there is none. */
static struct hx_handle **find(struct hx_handles *t, remote_handle64 id)
{
    struct hx_handle **at = &t->first;

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

struct hx_handle *hx_handle_get(struct hx_handles *t, remote_handle64 id)
{
    struct hx_handle *h;

    pthread_mutex_lock(&t->lock);
    h = *find(t, id);
    if (h)
        h->refs++;
    pthread_mutex_unlock(&t->lock);
    return h;
}

void hx_handle_put(struct hx_handles *t, struct hx_handle *h)
{
    pthread_mutex_lock(&t->lock);
    const int is_unused = --h->refs == 0;

    t->n -= (unsigned)is_unused;
    const int is_last = is_unused && t->n == 0;

    pthread_mutex_unlock(&t->lock);
    if (is_unused)
        t->drop(h);
    if (is_last && t->idle)
        t->idle();
}

int hx_handle_close(struct hx_handles *t, remote_handle64 id)
{
    struct hx_handle **at, *h;

    pthread_mutex_lock(&t->lock);
    at = find(t, id);
    h = *at;
    if (h)
        *at = h->next;
    pthread_mutex_unlock(&t->lock);
    if (!h)
        return AEE_EINVHANDLE;
    hx_handle_put(t, h);
    return AEE_SUCCESS;
}
