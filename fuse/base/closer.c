/* Threads that close, see closer.h. */
#include "closer.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"

enum { PATIENCE_MS = 1000 };

enum kind { DESCRIPTOR, CONNECTION }; /* each with threads of its own: what waits for the former never holds up the latter */

struct closing {
    struct closing *next;
    int fd;
    uid_t uid;
    enum kind kind;
    enum { WAITS, STARTS, CLOSES } state; /* for a thread; has one; is inside close() */
    pthread_t thread;                     /* CLOSES: the one, and since when */
    uint64_t since_ms;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static struct closing *all, **end = &all; /* in the order in which they came */
static bool lacks_threads; /* one could not be started */

static unsigned running_of(uid_t uid, enum kind kind)
{
    unsigned n = 0;

    for (const struct closing *c = all; c; c = c->next)
        n += c->state != WAITS && c->uid == uid && c->kind == kind;
    return n;
}

static struct closing *waiting_of(uid_t uid, enum kind kind)
{
    struct closing *c = all;

    while (c && (c->state != WAITS || c->uid != uid || c->kind != kind))
        c = c->next;
    return c;
}

static void forget(struct closing *gone)
{
    struct closing **p = &all;

    while (*p != gone)
        p = &(*p)->next;
    *p = gone->next;
    if (end == &gone->next)
        end = p;
    free(gone);
}

/* Closes c and then whatever else of the user's and of its kind waits. */
static void *run(void *arg)
{
    struct closing *c = arg;

    pthread_mutex_lock(&lock);
    while (c) {
        const uid_t uid = c->uid;
        const enum kind kind = c->kind;

        c->state = CLOSES;
        c->thread = pthread_self();
        c->since_ms = hx_now_ms();
        pthread_mutex_unlock(&lock);
        close(c->fd);
        pthread_mutex_lock(&lock);
        forget(c);
        c = waiting_of(uid, kind);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void interrupted(int signal)
{
    (void)signal;
}

/* The only signal that such a thread gets: system calls end by it, and are not restarted. */
static int signal_of_closers(void)
{
    static bool is_set;

    if (!is_set) {
        const struct sigaction a = {.sa_handler = interrupted};

        sigaction(SIGRTMIN, &a, NULL);
        is_set = true;
    }
    return SIGRTMIN;
}

static int start_thread(struct closing *c)
{
    pthread_attr_t attr;
    sigset_t most, old;
    pthread_t t;
    int rc;

    sigfillset(&most);
    sigdelset(&most, signal_of_closers());
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &most, &old);
    rc = pthread_create(&t, &attr, run, c);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

/* As many as the user may have. */
static void start_threads(uid_t uid, enum kind kind)
{
    struct closing *c = waiting_of(uid, kind);

    for (unsigned n = running_of(uid, kind); c && n < HX_CLOSING_OF_USER; n++) {
        if (start_thread(c)) {
            lacks_threads = true;
            return;
        }
        c->state = STARTS;
        c = waiting_of(uid, kind);
    }
}

/* Tries again what failed. */
static void start_lacking(void)
{
    const struct closing *c = all;

    if (!lacks_threads)
        return;
    lacks_threads = false;
    for (; c && !lacks_threads; c = c->next)
        if (c->state == WAITS)
            start_threads(c->uid, c->kind);
}

static void close_later(uid_t uid, enum kind kind, const int *fd, unsigned n)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n; i++) {
        struct closing *c = calloc(1, sizeof(*c));

        if (!c) {
            close(fd[i]); /* at the risk of waiting for it, which is nothing beside a rig without memory */
            continue;
        }
        *c = (struct closing){.fd = fd[i], .uid = uid, .kind = kind};
        *end = c;
        end = &c->next;
    }
    start_threads(uid, kind);
    pthread_mutex_unlock(&lock);
}

void hx_close_later(uid_t uid, const int *fd, unsigned n)
{
    close_later(uid, DESCRIPTOR, fd, n);
}

void hx_close_connection_later(uid_t uid, int fd)
{
    close_later(uid, CONNECTION, &fd, 1);
}

bool hx_closer_is_behind(uid_t uid)
{
    unsigned n = 0;

    pthread_mutex_lock(&lock);
    for (const struct closing *c = all; c; c = c->next)
        n += c->state == WAITS && c->uid == uid && c->kind == DESCRIPTOR;
    pthread_mutex_unlock(&lock);
    return n >= HX_CLOSING_BACKLOG;
}

bool hx_closer_may_take(uid_t uid)
{
    const uint64_t now = hx_now_ms();
    unsigned hang = 0;

    pthread_mutex_lock(&lock);
    for (const struct closing *c = all; c; c = c->next)
        hang += c->state == CLOSES && c->uid == uid && c->kind == DESCRIPTOR && now - c->since_ms >= PATIENCE_MS;
    pthread_mutex_unlock(&lock);
    return hang < HX_CLOSING_OF_USER && !hx_closer_is_behind(uid);
}

void hx_closer_prod(void)
{
    const uint64_t now = hx_now_ms();

    pthread_mutex_lock(&lock);
    for (const struct closing *c = all; c; c = c->next)
        if (c->state == CLOSES && now - c->since_ms >= PATIENCE_MS)
            pthread_kill(c->thread, signal_of_closers());
    start_lacking();
    pthread_mutex_unlock(&lock);
}
