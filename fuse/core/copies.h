/* Copying a call's inline buffers between its client and the arena.  The loop has one thread, so while several processes have sessions a
 * large copy is done in pieces, one per round of the loop: whatever else is ready is served between two of them. */
#ifndef HX_COPIES_H
#define HX_COPIES_H

#include <stdbool.h>
#include <stdint.h>

struct hx_channel;
struct hx_context;
struct hx_driver;

/* Bytes that a rig copies in a round, of all large copies together: about 10 us.  The processes take turns, and the calls of a process are
 * copied one after the other. */
enum { HX_COPY_BYTES = 64 << 10 };

/* Of a context. */
struct hx_copy {
    unsigned arg, end; /* its arguments [arg, end) are left, */
    uint64_t at;       /* without the first `at` bytes of arg */
    bool out;          /* to the client */
    bool is_waiting;   /* for its next piece, in the driver's list */
    struct hx_context *next;
    void (*then)(struct hx_context *ctx, int rc);
};

/* Copies the inline arguments [from, end) of a context that has a call, then calls then(ctx, 0 or -EFAULT): before it returns, or in a
 * later round.  A copy to the client that ends in a later round frees the context afterwards. */
void hx_copy_begin(struct hx_context *ctx, unsigned from, unsigned end, bool out,
                   void (*then)(struct hx_context *ctx, int rc));

/* The channel's arena goes: the calls whose copies wait end with -EPIPE. */
void hx_copy_end_all(struct hx_driver *d, const struct hx_channel *channel);

/* One piece of what waits.  Called at the end of each round of the loop. */
void hx_copy_round(struct hx_driver *d);

#endif
