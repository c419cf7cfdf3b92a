/* Requests that wait for their client's turn, see fuse_turns.h. */
#include "fuse_turns.h"

#include <stdlib.h>
#include <string.h>

#include "core/driver.h"

struct waiting {
    struct waiting *next;
    size_t bytes;
    char request[]; /* [bytes] */
};

enum { REQUEST_MAX = 17 << 10 }; /* an ioctl's struct has 16 KiB at most */

/* One per session, by client_id - 1.  The file of a session stays open as long as requests of it wait. */
static struct queue {
    struct waiting *first, **end; /* end: where the next one is hung in */
    pid_t pid;
} queues[FASTRPC_MAX_SESSIONS];

static unsigned n_waiting;
static unsigned start; /* queue that a round begins with: a process's sessions take turns, too */

bool hx_fuse_turns_wait(struct hx_session *s, const void *request, size_t bytes)
{
    struct queue *q = &queues[s->client_id - 1];
    struct waiting *w = bytes <= REQUEST_MAX ? malloc(sizeof(*w) + bytes) : NULL;

    if (!w)
        return false;
    w->next = NULL;
    w->bytes = bytes;
    memcpy(w->request, request, bytes);
    if (!q->first)
        q->end = &q->first;
    *q->end = w;
    q->end = &w->next;
    q->pid = s->pid;
    n_waiting++;
    return true;
}

/* Takes the first one out; what is not NULL gets its bytes. */
static size_t take(struct queue *q, void *request)
{
    struct waiting *w = q->first;
    size_t bytes = w->bytes;

    q->first = w->next;
    n_waiting--;
    if (request)
        memcpy(request, w->request, bytes);
    free(w);
    return bytes;
}

void hx_fuse_turns_round(void (*serve)(void *request, size_t bytes))
{
    /* here, not in the heap: serving does not come back when it hangs in the client's memory (client_watchdog.h) */
    _Alignas(8) char request[REQUEST_MAX];
    pid_t served[FASTRPC_MAX_SESSIONS];
    unsigned n = 0;

    start = (start + 1) % FASTRPC_MAX_SESSIONS;
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS && n_waiting; i++) {
        struct queue *q = &queues[(start + i) % FASTRPC_MAX_SESSIONS];
        unsigned k = 0;

        while (k < n && served[k] != q->pid)
            k++;
        if (!q->first || k < n)
            continue;
        served[n++] = q->pid;
        serve(request, take(q, request));
    }
}

bool hx_fuse_turns_left(void)
{
    return n_waiting > 0;
}

void hx_fuse_turns_clear(void)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        while (queues[i].first)
            take(&queues[i], NULL);
}
