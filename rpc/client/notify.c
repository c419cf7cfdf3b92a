/* Status notifications: who registered, and the thread that calls them. */
#include "hx_notify.h"

#include <stdio.h>
#include <stdlib.h>

#include "hx_session.h"
#include "hx_worker.h"

struct listener {
    struct listener *next;
    unsigned index;
    fastrpc_notif_fn_t fn;
    void *context;
};

struct event {
    struct hx_async_job job;
    unsigned index;
    remote_rpc_status_flags_t status;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct listener *listeners; /* only ever grows, at its head, under the lock: walking it needs no lock */
static struct hx_worker worker = HX_WORKER_INIT(1);

int hx_notify_register(unsigned index, const struct remote_rpc_notif_register *n)
{
    struct listener *l = malloc(sizeof(*l));

    if (!l)
        return AEE_ENOMEMORY;
    pthread_mutex_lock(&lock);
    *l = (struct listener){listeners, index, n->notifier_fn, n->context};
    listeners = l;
    pthread_mutex_unlock(&lock);
    return AEE_SUCCESS;
}

static struct listener *head(void)
{
    struct listener *l;

    pthread_mutex_lock(&lock);
    l = listeners;
    pthread_mutex_unlock(&lock);
    return l;
}

static void deliver(struct hx_async_job *job)
{
    struct event *e = (struct event *)job;

    for (const struct listener *l = head(); l; l = l->next)
        if (l->index == e->index)
            l->fn(l->context, CDSP_DOMAIN_ID, (int)e->index, e->status);
    free(e);
}

void hx_notify(unsigned index, remote_rpc_status_flags_t status)
{
    struct event *e;

    if (!head())
        return;
    e = malloc(sizeof(*e));
    if (e) {
        *e = (struct event){.job.run = deliver, .index = index, .status = status};
        if (hx_worker_submit(&worker, &e->job) == 0)
            return;
        free(e);
    }
    fprintf(stderr, "libcdsprpc: session %u: status %d could not be reported\n", index, (int)status);
}
