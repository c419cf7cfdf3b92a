/* Calls of stubs, and where those of some handles go instead: a list, as there are few. */
#include "invoke.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct diversion {
    struct diversion *next;
    remote_handle64 h;
    hx_invoke_fn *fn;
    void *context;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER; /* protects the list */
static struct diversion *first;

static __thread const struct hx_invoke_watch *watch;

/* The lock is held.  *find() is NULL when there is none. */
static struct diversion **find(remote_handle64 h)
{
    struct diversion **at = &first;

    while (*at && (*at)->h != h)
        at = &(*at)->next;
    return at;
}

static int invoke(remote_handle64 h, uint32_t sc, remote_arg *args)
{
    struct diversion d = {.fn = NULL};

    pthread_rwlock_rdlock(&lock);
    if (*find(h))
        d = **find(h);
    pthread_rwlock_unlock(&lock);
    return d.fn ? d.fn(d.context, sc, args) : remote_handle64_invoke(h, sc, args);
}

int hx_invoke(remote_handle64 h, uint32_t sc, remote_arg *args)
{
    int rc;

    if (!watch)
        return invoke(h, sc, args);
    watch->begins(watch->arg);
    rc = invoke(h, sc, args);
    watch->ends(watch->arg);
    return rc;
}

void hx_invoke_watch(const struct hx_invoke_watch *w)
{
    watch = w;
}

int hx_invoke_divert(remote_handle64 h, hx_invoke_fn *fn, void *context)
{
    struct diversion *d = malloc(sizeof(*d));

    if (!d)
        return -ENOMEM;
    pthread_rwlock_wrlock(&lock);
    *d = (struct diversion){first, h, fn, context};
    first = d;
    pthread_rwlock_unlock(&lock);
    return 0;
}

void hx_invoke_restore(remote_handle64 h)
{
    struct diversion *d;

    pthread_rwlock_wrlock(&lock);
    d = *find(h);
    if (d)
        *find(h) = d->next;
    pthread_rwlock_unlock(&lock);
    free(d);
}
