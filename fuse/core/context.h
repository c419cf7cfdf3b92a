/* One message on its way to the DSP and back.  Ids 1..255, shared by all clients of the rig.
 *
 * An id is free again when the DSP has answered, but that of an INVOKE which a signal has ended, or of a kernel call that has timed
 * out, stays taken until its file is closed: in the kernel's driver, too, nobody but release() then drops the context. */
#ifndef HX_CONTEXT_H
#define HX_CONTEXT_H

#include "call.h"
#include "channel.h"
#include "copies.h"

struct hx_buffer;

/* An argument as the client gave it and where it went. */
struct hx_ctx_arg {
    uint64_t ptr, len;        /* client's */
    uint64_t arena;           /* offset in the arena, for inline arguments */
    struct hx_buffer *buffer; /* held reference, or NULL */
    uint64_t offset;          /* in buffer */
    bool is_here;             /* its bytes came with the argument array */
};

struct hx_context {
    unsigned id;
    struct hx_driver *driver;
    struct hx_channel *channel;
    struct hx_session *session; /* NULL for a call of the rig itself, or when the session is gone */
    struct hx_call *call;       /* the call that waits for it; NULL = none any more */
    /* Called once: reply == NULL means the DSP died (result = what to tell the caller). */
    void (*done)(struct hx_context *ctx, const struct hx_reply *reply, int result);
    unsigned checks_left; /* until it has timed out; 0 = it never does */
    uint64_t pings;       /* number of the last ping when it was sent (dsp_alive.h) */
    uint32_t handle, sc;
    uint64_t offset, bytes; /* arena piece */
    uint64_t trace;         /* where in it a struct hx_trace with room for trace_events lies */
    uint32_t trace_events;  /* 0 = there is none */
    struct hx_copy copy;    /* of its inline arguments */
    bool sent;              /* the DSP knows of it: counted in channel->in_flight */
    bool keeps_id;          /* a signal ended its INVOKE, or its time was up */
    bool is_spent;          /* it keeps its id, and nothing else is left */
    unsigned n_args;
    struct hx_ctx_arg args[]; /* [n_args] */
};

/* Takes an id.  0, -ENOSPC (all 255 in use) or -ENOMEM. */
int hx_context_alloc(struct hx_context **out, struct hx_driver *d, struct hx_channel *channel,
                     struct hx_session *session, unsigned n_args);

/* It times out after `ms` and ends with -ETIMEDOUT, as kernel calls do.  No effect on one that times out anyway, or that the DSP does not
 * know of. */
void hx_context_limit(struct hx_context *ctx, unsigned ms);

/* Whether hx_context_alloc() would find an id. */
bool hx_context_is_free(const struct hx_driver *d);

/* Reserves `bytes` of arena for the header, the argument table and the inline data.  0 or -ENOMEM. */
int hx_context_reserve(struct hx_context *ctx, uint64_t bytes);

/* Sends it.  client_id: session's, or 0 for the kernel's own calls.  0 or negative errno. */
int hx_context_send(struct hx_context *ctx, int32_t client_id, unsigned pd, pid_t tid);

/* Takes an id for an INVOKE that is interrupted when the DSP has answered it already (its end is delayed).  No effect when none is
 * free. */
void hx_context_spend(struct hx_session *s);

/* The session is closed, or dead: the ids of its spent contexts are free again. */
void hx_context_drop_spent(struct hx_driver *d, const struct hx_session *s);

/* Releases everything it holds; accepts NULL. */
void hx_context_free(struct hx_context *ctx);

/* Ends a copy that waits for its next piece (copies.h), without a call of its then(). */
void hx_context_stop_copy(struct hx_context *ctx);

/* The DSP has answered the context's call; what it wrote is on its way to the client. */
bool hx_context_is_answered(const struct hx_context *ctx);

/* A kernel call on handle 1 or 2: `in` bytes in, out_bytes out (read by done() at arena + args[1].arena).  Times out after
 * 10 s with -ETIMEDOUT; time in which nobody here ran (a machine that was suspended, a driver that was stopped) does not count, since
 * the DSP may not have run either.  Returns 0, or negative errno when it could not be sent (done() is then not called). */
int hx_kernel_call(struct hx_driver *d, struct hx_channel *channel, struct hx_session *session,
                   struct hx_call *call, uint32_t handle, unsigned method, const void *in,
                   size_t in_bytes, size_t out_bytes,
                   void (*done)(struct hx_context *, const struct hx_reply *, int));

/* Takes the replies that wait on `channel`: as many as the ring holds, HX_RING_SLOTS, or `most` of them. */
void hx_context_replies(struct hx_driver *d, struct hx_channel *channel, unsigned most);

/* Ends every context on `channel` with `result`: its DSP side is gone.  What was answered before and is copied back goes on, ids
 * that are kept stay taken. */
void hx_context_abort(struct hx_driver *d, struct hx_channel *channel, int result);

/* The session is about to be freed: its kernel calls that the root PD still has end without it. */
void hx_context_forget(struct hx_driver *d, const struct hx_session *s);

/* Ends kernel calls that have timed out.  To be called in every round of the loop. */
void hx_context_expire(struct hx_driver *d);

#endif
