/* The handles of a skel: what the remote_handle64 numbers that clients hold stand for.
 *
 *     struct state {
 *         struct hx_handle handle; // first
 *         ...
 *     };
 *     static void drop(struct hx_handle *h) { ... free(h); }
 *     static void idle(void) { ... what belongs to no handle ... }
 *     static struct hx_handles handles = HX_HANDLES("my_skel", drop, idle);
 *
 * A state lives from hx_handle_open() until its handle is closed and the last call on it has put it back.  A number is
 * never used twice, so a call on a closed handle finds nothing rather than a stranger.  Any thread may call. */
#ifndef HX_HANDLES_H
#define HX_HANDLES_H

#include <pthread.h>
#include <stdint.h>

#include "remote.h"

enum { HX_HANDLES_MAX = 4096 }; /* open at the same time; a client that never closes is told so before memory ends */

/* What every state begins with; the table's. */
struct hx_handle {
    struct hx_handle *next;
    remote_handle64 id; /* what the client holds */
    unsigned refs;      /* one for being open, one per running call */
};

struct hx_handles {
    const char *name;                  /* of the skel, for messages */
    void (*drop)(struct hx_handle *h); /* frees a state that nobody uses any more */
    void (*idle)(void);                /* the last state is gone; NULL: nothing to do */
    pthread_mutex_t lock;              /* protects what follows, and next and refs of all states */
    struct hx_handle *first;           /* the open ones */
    remote_handle64 last_id;
    unsigned n;                        /* states, also of closed handles while a call still runs */
};

#define HX_HANDLES(skel_name, drop_state, on_idle) \
    {.name = (skel_name), .drop = (drop_state), .idle = (on_idle), .lock = PTHREAD_MUTEX_INITIALIZER}

/* Gives the caller's state a number, *id.  From then on it belongs to the table; after an error it is still the caller's.
 * AEE_ENOMORE: HX_HANDLES_MAX are open. */
int hx_handle_open(struct hx_handles *t, struct hx_handle *h, const char *uri, remote_handle64 *id);

/* The state behind a number, until hx_handle_put(); NULL when there is none: AEE_EINVHANDLE. */
struct hx_handle *hx_handle_get(struct hx_handles *t, remote_handle64 id);
void hx_handle_put(struct hx_handles *t, struct hx_handle *h);

/* The number means nothing from now on; the last running call drops the state.  AEE_EINVHANDLE. */
int hx_handle_close(struct hx_handles *t, remote_handle64 id);

#endif
