/* What the stubs of our interfaces call in place of remote_handle64_invoke() (hexidl --invoke): the same, unless somebody has said
 * for a handle that its calls go another way, as packets do (packets.h).  Any thread. */
#ifndef HX_INVOKE_H
#define HX_INVOKE_H

#include "remote.h"

int hx_invoke(remote_handle64 h, uint32_t sc, remote_arg *args);

/* A call of the handle that was opened for.  Returns what remote_handle64_invoke() would. */
typedef int hx_invoke_fn(void *context, uint32_t sc, remote_arg *args);

/* From now on fn makes the handle's calls.  0 or -ENOMEM. */
int hx_invoke_divert(remote_handle64 h, hx_invoke_fn *fn, void *context);

/* They are ordinary calls again.  No call is under way on the handle. */
void hx_invoke_restore(remote_handle64 h);

/* Hears of a thread's calls: before each one, and behind it. */
struct hx_invoke_watch {
    void (*begins)(void *arg); /* may wait */
    void (*ends)(void *arg);
    void *arg;
};

/* Of the calling thread's calls from now on; borrowed until it is another one.  NULL: nobody hears of them. */
void hx_invoke_watch(const struct hx_invoke_watch *watch);

#endif
