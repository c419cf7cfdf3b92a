/* Closing a session: every handle, so that the skels' close functions run, then the file. */
#include "hx_session.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "fastrpc_uapi.h"
#include "hx_queues.h"

enum {
    PATIENCE_S = 5,   /* that closing handles may take before the PD has to show that it runs */
    PROCESS_EXIT = 2, /* method of the static handle "current process 1" */
};

/* Who closes, and the thread that watches over it. */
struct closing {
    struct hx_client_session *s;
    pthread_mutex_t lock; /* protects the rest */
    pthread_cond_t changed;
    bool is_closed;
    bool is_stuck; /* the PD does not answer: its handles end with the file */
};

static bool wait_for_end(struct closing *c)
{
    struct timespec end;
    bool is_closed;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&c->lock);
    while (!c->is_closed && rc != ETIMEDOUT)
        rc = pthread_cond_clockwait(&c->changed, &c->lock, CLOCK_MONOTONIC, &end);
    is_closed = c->is_closed;
    pthread_mutex_unlock(&c->lock);
    return is_closed;
}

/* Says goodbye: a PD that runs answers at once, and goes on with what it does; of one that does not, the driver ends all calls. */
static void *watch(void *arg)
{
    struct closing *c = arg;

    while (!wait_for_end(c)) {
        int rc = hx_invoke(c->s, FASTRPC_HANDLE_CURRENT_PROCESS, REMOTE_SCALARS_MAKE(PROCESS_EXIT, 0, 0), NULL);

        pthread_mutex_lock(&c->lock);
        c->is_stuck |= rc != AEE_SUCCESS;
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

/* It must not take the client's signals. */
static bool start_watch(struct closing *c, pthread_t *thread)
{
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(thread, NULL, watch, c);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc == 0;
}

static bool is_stuck(struct closing *c)
{
    bool is;

    pthread_mutex_lock(&c->lock);
    is = c->is_stuck;
    pthread_mutex_unlock(&c->lock);
    return is;
}

static void end_watch(struct closing *c, pthread_t thread)
{
    pthread_mutex_lock(&c->lock);
    c->is_closed = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(thread, NULL);
}

void hx_session_end(unsigned index)
{
    struct closing c = {.s = hx_session_get(index), .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    remote_handle64 h, last = 0;
    pthread_t thread;
    const bool is_watched = c.s && start_watch(&c, &thread);

    hx_queues_disconnect(index);
    while (!is_stuck(&c) && (h = hx_session_any_handle(index)) && h != last) {
        last = h; /* one that cannot be closed ends with the file */
        remote_handle64_close(h);
    }
    if (is_watched)
        end_watch(&c, thread);
    hx_session_put(c.s);
    hx_session_drop(index);
}
