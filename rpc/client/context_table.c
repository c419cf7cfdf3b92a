/* The table of contexts: which sessions each keeps up. */
#include "hx_context_table.h"

#include <pthread.h>
#include <stdlib.h>

#include "hx_session.h"

struct context {
    struct context *next;
    uint64_t id;
    struct hx_client_session *session[HX_SESSIONS]; /* referenced; NULL = not in it */
    int domains[HX_SESSIONS];                /* [n_domains], as they were given */
    unsigned n_domains;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list, last_id */
static struct context *list;
static uint64_t last_id;

static void release(struct context *c)
{
    for (unsigned i = 0; i < HX_SESSIONS; i++)
        hx_session_put(c->session[i]);
    free(c);
}

static int fill(struct context *c, const struct fastrpc_context_create *want)
{
    unsigned index;
    int rc = AEE_SUCCESS;

    for (uint32_t i = 0; i < want->num_domain_ids && rc == AEE_SUCCESS; i++) {
        if (want->effec_domain_ids[i] > INT32_MAX)
            return AEE_EBADPARM;
        rc = hx_domain_session((int)want->effec_domain_ids[i], &index);
        if (rc == AEE_SUCCESS && c->session[index])
            rc = AEE_EBADPARM;
        if (rc == AEE_SUCCESS)
            rc = hx_session_get_new(index, &c->session[index]);
        c->domains[c->n_domains++] = (int)want->effec_domain_ids[i];
    }
    return rc;
}

int hx_context_create(struct fastrpc_context_create *want)
{
    struct context *c;
    int rc;

    if (want->flags || !want->effec_domain_ids || want->num_domain_ids == 0 ||
        want->num_domain_ids > HX_SESSIONS)
        return AEE_EBADPARM;
    c = calloc(1, sizeof(*c));
    if (!c)
        return AEE_ENOMEMORY;
    rc = fill(c, want);
    if (rc) {
        release(c);
        return rc;
    }
    pthread_mutex_lock(&lock);
    want->ctx = c->id = ++last_id;
    c->next = list;
    list = c;
    pthread_mutex_unlock(&lock);
    return AEE_SUCCESS;
}

int hx_context_domains(uint64_t id, int *domains, unsigned *n)
{
    const struct context *c;

    pthread_mutex_lock(&lock);
    for (c = list; c && c->id != id; c = c->next)
        ;
    *n = c ? c->n_domains : 0;
    for (unsigned i = 0; i < *n; i++)
        domains[i] = c->domains[i];
    pthread_mutex_unlock(&lock);
    return c ? AEE_SUCCESS : AEE_EBADPARM;
}

int hx_context_destroy(const struct fastrpc_context_destroy *d)
{
    struct context **p, *c;

    if (d->flags)
        return AEE_EBADPARM;
    pthread_mutex_lock(&lock);
    for (p = &list; *p && (*p)->id != d->ctx; p = &(*p)->next)
        ;
    c = *p;
    if (c)
        *p = c->next;
    pthread_mutex_unlock(&lock);
    if (!c)
        return AEE_EBADPARM;
    release(c);
    return AEE_SUCCESS;
}
