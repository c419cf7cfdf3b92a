/* Status notifications: who registered, and the thread that calls them. */
#include "hx_notify.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hx_session.h"
#include "hx_worker.h"

struct listener {
    struct listener *next;
    unsigned index;
    fastrpc_notif_fn_t fn;
    void *context;
    char *library; /* that fn is in, with its base; NULL: the program itself, or nobody knows */
    void *base;
};

struct event {
    struct hx_async_job job;
    unsigned index;
    remote_rpc_status_flags_t status;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct listener *listeners; /* only ever grows, at its head, under the lock: walking it needs no lock */
static struct hx_worker worker = HX_WORKER_INIT(1);

/* A library may be closed and leave its function registered. */
static char *library_of(fastrpc_notif_fn_t fn, void **base)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (!dladdr1((void *)(uintptr_t)fn, &info, (void **)&map, RTLD_DL_LINKMAP) || !*map->l_name)
        return NULL;
    *base = info.dli_fbase;
    return strdup(map->l_name);
}

/* Calls it while the library is held, unless that has gone. */
static void call(const struct listener *l, remote_rpc_status_flags_t status)
{
    void *held = l->library ? dlopen(l->library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    Dl_info info;

    if (!l->library || (held && dladdr((void *)(uintptr_t)l->fn, &info) && info.dli_fbase == l->base))
        l->fn(l->context, CDSP_DOMAIN_ID, (int)l->index, status);
    if (held)
        dlclose(held);
}

int hx_notify_register(unsigned index, const struct remote_rpc_notif_register *n)
{
    struct listener *l = malloc(sizeof(*l));

    if (!l)
        return AEE_ENOMEMORY;
    *l = (struct listener){.index = index, .fn = n->notifier_fn, .context = n->context};
    l->library = library_of(l->fn, &l->base);
    pthread_mutex_lock(&lock);
    l->next = listeners;
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
            call(l, e->status);
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
