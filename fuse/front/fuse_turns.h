/* Turns of the clients of a FUSE mount.  The kernel hands out requests in the order in which they came, so a client with many threads
 * would be served as many times between two calls of another one.  While several processes have sessions, the ioctls that wait are
 * taken out of the kernel's queue, and each process gets one served per round of the loop. */
#ifndef HX_FUSE_TURNS_H
#define HX_FUSE_TURNS_H

#include <stdbool.h>
#include <stddef.h>

struct hx_session;

/* Keeps a copy of a request of the session's.  False: no memory, the caller serves it now. */
bool hx_fuse_turns_wait(struct hx_session *s, const void *request, size_t bytes);

/* Hands one request of each process that has any to `serve`. */
void hx_fuse_turns_round(void (*serve)(void *request, size_t bytes));

/* Requests wait for the next round. */
bool hx_fuse_turns_left(void);

/* Forgets all of them. */
void hx_fuse_turns_clear(void);

#endif
