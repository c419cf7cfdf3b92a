/* Takes the calls of several clients in the order of their clocks. */
#include "clients.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "cli/report.h"
#include "dsp/invoke.h"
#include "hx_rig.h"

enum state { COMPUTES, WAITS, CALLS, DONE };

struct client {
    struct clients *all;
    unsigned i;
    pthread_t thread;
    enum state state;
    uint64_t now_ns; /* since all began */
    int rc;
    struct hx_error err;
};

struct clients {
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    struct client client[HX_CLIENTS_MAX];
    unsigned n;
    struct hx_session_stats last; /* the session's figures before the next call */
    int stats_rc;
    hx_client_token *token;
    void *arg;
};

static uint64_t spent(const struct hx_session_stats *s)
{
    return s->dispatch_ns + s->marshal_ns + s->queue_ns + s->exec_ns;
}

/* The lock is held. */
static int may_call(const struct client *c)
{
    for (unsigned i = 0; i < c->all->n; i++) {
        const struct client *o = &c->all->client[i];

        if (o->state == COMPUTES || o->state == CALLS)
            return 0;
        if (o->state == WAITS && (o->now_ns < c->now_ns || (o->now_ns == c->now_ns && o->i < c->i)))
            return 0;
    }
    return 1;
}

/* The lock is held. */
static void enter(struct client *c, enum state state)
{
    c->state = state;
    pthread_cond_broadcast(&c->all->changed);
}

static void wait_for_turn(void *arg)
{
    struct client *c = arg;

    pthread_mutex_lock(&c->all->lock);
    enter(c, WAITS);
    while (!may_call(c))
        pthread_cond_wait(&c->all->changed, &c->all->lock);
    c->state = CALLS;
    pthread_mutex_unlock(&c->all->lock);
}

/* What the session has spent since the last call is this one's. */
static void note_call(void *arg)
{
    struct client *c = arg;
    struct hx_session_stats now;
    const int rc = hx_report_now(&now);

    pthread_mutex_lock(&c->all->lock);
    if (rc) {
        c->all->stats_rc = rc;
    } else {
        c->now_ns += spent(&now) - spent(&c->all->last);
        c->all->last = now;
    }
    enter(c, COMPUTES);
    pthread_mutex_unlock(&c->all->lock);
}

static void *run_client(void *arg)
{
    struct client *c = arg;
    const struct hx_invoke_watch watch = {wait_for_turn, note_call, c};

    c->rc = hx_rig_own_clock();
    if (c->rc) {
        hx_error_set(&c->err, c->rc, "a client's clock: %s", strerror(-c->rc));
    } else {
        hx_invoke_watch(&watch);
        c->rc = c->all->token(c->all->arg, c->i, &c->err);
        hx_invoke_watch(NULL);
    }
    pthread_mutex_lock(&c->all->lock);
    enter(c, DONE);
    pthread_mutex_unlock(&c->all->lock);
    return NULL;
}

/* Those that could not be started are done. */
static int start(struct clients *all)
{
    unsigned started = 0;
    int rc = 0;

    pthread_mutex_lock(&all->lock);
    for (; !rc && started < all->n; started += !rc) {
        struct client *c = &all->client[started];

        *c = (struct client){.all = all, .i = started, .state = COMPUTES};
        rc = -pthread_create(&c->thread, NULL, run_client, c);
    }
    all->n = started;
    pthread_mutex_unlock(&all->lock);
    return rc;
}

int hx_clients_run(unsigned n, hx_client_token *token, void *arg, struct hx_error *err)
{
    struct clients all = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .n = n, .token = token, .arg = arg};
    int rc = hx_report_now(&all.last);

    if (rc)
        return hx_error_set(err, rc, "cannot read the session's figures: %s", strerror(-rc));
    rc = start(&all);
    for (unsigned i = 0; i < all.n; i++)
        pthread_join(all.client[i].thread, NULL);
    if (rc)
        return hx_error_set(err, rc, "no thread for a client: %s", strerror(-rc));
    for (unsigned i = 0; i < all.n; i++)
        if (all.client[i].rc)
            return hx_error_set(err, all.client[i].rc, "client %u: %s", i + 1, all.client[i].err.text);
    return all.stats_rc ? hx_error_set(err, all.stats_rc, "cannot read the session's figures: %s", strerror(-all.stats_rc)) : 0;
}
