/* Connections of hexrig serve: libmicrohttpd knows only how long one is silent, so a client that sends a byte now and then could
 * keep it for ever, and a hundred of them everybody out.  See cmd_serve.h.
 *
 * A connection that has to go gets a reply in one piece, as far as its socket takes it, and is shut down; its own thread then
 * finds its end. */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "cmd_serve.h"
#include "timed_wait.h"

enum { LOOK_MS = 250 };

struct hx_conn_entry {
    struct hx_conn_entry *next, **prev;
    int fd;
    int gone; /* 1: it has been shut down */
    enum hx_conn_state state;
    int64_t since_ms; /* of the state */
    struct in6_addr from; /* IPv4 as ::ffff:a.b.c.d */
};

struct hx_conns {
    pthread_t thread;
    size_t most;
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t end;
    int stop;
    struct hx_conn_entry *first;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* How long a connection may be in each state; 0: as long as it likes. */
static const int limit_s[] = {
    [HX_CONN_HEAD] = HX_CONN_HEAD_S,
    [HX_CONN_NEXT] = HX_CONN_NEXT_S,
    [HX_CONN_BODY] = HX_CONN_BODY_S,
    [HX_CONN_WHOLE] = 0,
};

static int is_half(const struct hx_conn_entry *e)
{
    return e->state != HX_CONN_WHOLE && !e->gone;
}

/* Under the lock, as what follows.  Between two requests there is nothing to reply to. */
static void drop(struct hx_conn_entry *e, const char *reply)
{
    if (e->state != HX_CONN_NEXT)
        (void)!send(e->fd, reply, strlen(reply), MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(e->fd, SHUT_RDWR);
    e->gone = 1;
}

static int same_address(const struct hx_conn_entry *a, const struct hx_conn_entry *b)
{
    return memcmp(&a->from, &b->from, sizeof(a->from)) == 0;
}

static size_t halves_of(const struct hx_conns *c, const struct hx_conn_entry *like)
{
    size_t n = 0;

    for (const struct hx_conn_entry *e = c->first; e; e = e->next)
        n += is_half(e) && (!like || same_address(e, like));
    return n;
}

/* The list begins with the newest, so the last of several is the oldest. */
static void make_room(struct hx_conns *c)
{
    static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
                               "Content-Length: 0\r\n\r\n";
    struct hx_conn_entry *worst = NULL;
    size_t most = 0;

    if (halves_of(c, NULL) <= HX_CONNS_HALF)
        return;
    for (struct hx_conn_entry *e = c->first; e; e = e->next) {
        const size_t n = is_half(e) ? halves_of(c, e) : 0;

        if (n && n >= most) {
            most = n;
            worst = e;
        }
    }
    if (worst)
        drop(worst, busy);
}

static void drop_the_late(struct hx_conns *c)
{
    static const char late[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    const int64_t now = now_ms();

    for (struct hx_conn_entry *e = c->first; e; e = e->next)
        if (limit_s[e->state] && !e->gone && now - e->since_ms >= limit_s[e->state] * 1000)
            drop(e, late);
}

void hx_conns_look(struct hx_conns *c)
{
    pthread_mutex_lock(&c->lock);
    drop_the_late(c);
    pthread_mutex_unlock(&c->lock);
}

static void *watch(void *arg)
{
    struct hx_conns *c = arg;

    pthread_mutex_lock(&c->lock);
    while (!c->stop) {
        const struct timespec until = hx_timed_wait_end(LOOK_MS);

        pthread_cond_timedwait(&c->end, &c->lock, &until);
        drop_the_late(c);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

int hx_conns_open(struct hx_conns **out, size_t most)
{
    struct hx_conns *c = calloc(1, sizeof(*c));
    int rc;

    if (!c)
        return -ENOMEM;
    c->most = most;
    pthread_mutex_init(&c->lock, NULL);
    hx_timed_wait_init(&c->end);
    rc = -pthread_create(&c->thread, NULL, watch, c);
    if (rc)
        free(c);
    else
        *out = c;
    return rc;
}

void hx_conns_close(struct hx_conns *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stop = 1;
    pthread_cond_signal(&c->end);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->end);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static struct in6_addr address_of(const struct sockaddr *from)
{
    struct in6_addr a = {{{[10] = 0xff, [11] = 0xff}}};

    if (from && from->sa_family == AF_INET6)
        return ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
    if (from && from->sa_family == AF_INET)
        memcpy(&a.s6_addr[12], &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
    return a;
}

struct hx_conn_entry *hx_conns_add(struct hx_conns *c, int fd, const struct sockaddr *from)
{
    struct hx_conn_entry *e = calloc(1, sizeof(*e));

    if (!e)
        return NULL;
    e->fd = fd;
    e->since_ms = now_ms();
    e->from = address_of(from);
    pthread_mutex_lock(&c->lock);
    e->next = c->first;
    e->prev = &c->first;
    if (c->first)
        c->first->prev = &e->next;
    c->first = e;
    make_room(c);
    pthread_mutex_unlock(&c->lock);
    return e;
}

void hx_conns_del(struct hx_conns *c, struct hx_conn_entry *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&c->lock);
    *e->prev = e->next;
    if (e->next)
        e->next->prev = e->prev;
    pthread_mutex_unlock(&c->lock);
    free(e);
}

/* Requests under way, this one not counted. */
static int is_too_much(const struct hx_conns *c, const struct hx_conn_entry *e)
{
    size_t all = 0, here = 0;

    for (const struct hx_conn_entry *o = c->first; o; o = o->next)
        if (o != e && o->state == HX_CONN_WHOLE) {
            all++;
            here += (size_t)same_address(o, e);
        }
    return all >= c->most || here >= c->most - HX_CONNS_SPARE / 2;
}

int hx_conns_set(struct hx_conns *c, struct hx_conn_entry *e, enum hx_conn_state state)
{
    int over = 0;

    if (!e)
        return 0;
    pthread_mutex_lock(&c->lock);
    if (state == HX_CONN_BODY)
        over = is_too_much(c, e);
    e->state = state;
    e->since_ms = now_ms();
    pthread_mutex_unlock(&c->lock);
    return over;
}
