/* Messages in flight: ids, space in the arena, replies, and calls of the driver itself. */
#include "context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "driver.h"
#include "remote_scalars.h"

enum { CHECK_MS = 250, KERNEL_MS = 10000 };

static int take_id(struct hx_driver *d, struct hx_context *ctx)
{
    for (unsigned i = 1; i < FASTRPC_CTX_MAX; i++) {
        unsigned id = (d->last_ctx_id + i - 1) % (FASTRPC_CTX_MAX - 1) + 1; /* cyclic, 1..255 */
        if (!d->context[id]) {
            d->context[id] = ctx;
            d->last_ctx_id = ctx->id = id;
            return 0;
        }
    }
    return -ENOSPC;
}

bool hx_context_is_free(const struct hx_driver *d)
{
    for (unsigned id = 1; id < FASTRPC_CTX_MAX; id++)
        if (!d->context[id])
            return true;
    return false;
}

int hx_context_alloc(struct hx_context **out, struct hx_driver *d, struct hx_channel *channel,
                     struct hx_session *session, unsigned n_args)
{
    struct hx_context *ctx = calloc(1, sizeof(*ctx) + n_args * sizeof(ctx->args[0]));
    int rc;

    *out = NULL;
    if (!ctx)
        return -ENOMEM;
    ctx->driver = d;
    ctx->channel = channel;
    ctx->session = session;
    ctx->offset = UINT64_MAX;
    ctx->n_args = n_args;
    rc = take_id(d, ctx);
    if (rc) {
        hx_context_free(ctx);
        return rc;
    }
    *out = ctx;
    return 0;
}

int hx_context_reserve(struct hx_context *ctx, uint64_t bytes)
{
    ctx->offset = hx_arena_take(&ctx->channel->space, bytes);
    if (ctx->offset == UINT64_MAX) {
        hx_log_client("arguments: need %llu bytes, the arena has %u", (unsigned long long)bytes,
               HX_ARENA_BYTES);
        return -ENOMEM;
    }
    ctx->bytes = bytes;
    return 0;
}

void hx_context_stop_copy(struct hx_context *ctx)
{
    struct hx_context **p = &ctx->driver->copying;

    if (!ctx->copy.is_waiting)
        return;
    while (*p != ctx)
        p = &(*p)->copy.next;
    *p = ctx->copy.next;
    ctx->copy.is_waiting = false;
}

bool hx_context_is_answered(const struct hx_context *ctx)
{
    return ctx->copy.is_waiting && ctx->copy.out;
}

/* Gives everything back but the id. */
static void empty(struct hx_context *ctx)
{
    hx_context_stop_copy(ctx);
    ctx->channel->in_flight -= ctx->sent;
    ctx->sent = false;
    ctx->driver->n_expiring -= ctx->checks_left != 0;
    ctx->checks_left = 0;
    for (unsigned i = 0; i < ctx->n_args; i++)
        if (ctx->args[i].buffer)
            hx_buffer_put(ctx->session, ctx->args[i].buffer);
    ctx->n_args = 0;
    if (ctx->offset != UINT64_MAX && ctx->channel->rings)
        hx_channel_give(ctx->channel, ctx->offset, ctx->bytes);
    ctx->offset = UINT64_MAX;
}

void hx_context_free(struct hx_context *ctx)
{
    if (!ctx)
        return;
    if (ctx->call)
        ctx->call->ctx = NULL;
    empty(ctx);
    if (ctx->id)
        ctx->driver->context[ctx->id] = NULL;
    free(ctx);
}

void hx_context_spend(struct hx_session *s)
{
    struct hx_context *ctx;

    if (hx_context_alloc(&ctx, s->driver, &s->channel, s, 0) == 0)
        ctx->keeps_id = ctx->is_spent = true;
}

void hx_context_drop_spent(struct hx_driver *d, const struct hx_session *s)
{
    for (unsigned id = 1; id < FASTRPC_CTX_MAX; id++)
        if (d->context[id] && d->context[id]->is_spent && d->context[id]->session == s)
            hx_context_free(d->context[id]);
}

int hx_context_send(struct hx_context *ctx, int32_t client_id, unsigned pd, pid_t tid)
{
    struct hx_msg msg = {
        .client_id = client_id,
        .tid = tid,
        .ctx = (uint64_t)ctx->id << HX_CTX_ID_SHIFT | pd,
        .handle = ctx->handle,
        .sc = ctx->sc,
        .addr = ctx->offset,
        .size = (ctx->bytes + 4095) & ~UINT64_C(4095),
    };
    int rc;

    if (msg.size > HX_ARENA_BYTES - msg.addr)
        msg.size = HX_ARENA_BYTES - msg.addr;
    rc = hx_channel_send(ctx->channel, &msg);
    if (rc && ctx->channel == &ctx->driver->dsp.channel)
        hx_dsp_fail(ctx->driver, "its request ring is broken"); /* it has room for all contexts */
    ctx->pings = ctx->driver->dsp.alive.asked;
    ctx->sent = rc == 0;
    ctx->channel->in_flight += ctx->sent;
    return rc;
}

static uint64_t align_up(uint64_t n)
{
    return (n + FASTRPC_ALIGN - 1) & ~(uint64_t)(FASTRPC_ALIGN - 1);
}

/* Lays out head, two arguments, `in` and room for the answer. */
static int pack_kernel_call(struct hx_context *ctx, const void *in, size_t in_bytes,
                            size_t out_bytes)
{
    uint64_t table = align_up(sizeof(struct hx_invoke) + 2 * sizeof(struct hx_arg));
    uint64_t data[2] = {table, table + align_up(in_bytes)};
    struct hx_arg args[2] = {{.len = in_bytes, .map = -1}, {.len = out_bytes, .map = -1}};
    struct hx_invoke head = {.n_args = (uint16_t)ctx->n_args, .ctl_seq = ctx->channel->ctl_seq};
    int rc = hx_context_reserve(ctx, data[1] + align_up(out_bytes));
    uint8_t *at;

    if (rc)
        return rc;
    at = ctx->channel->arena + ctx->offset;
    for (int i = 0; i < 2; i++) {
        args[i].addr = ctx->offset + data[i];
        if ((unsigned)i < ctx->n_args)
            ctx->args[i].arena = args[i].addr;
    }
    memcpy(at, &head, sizeof(head));
    memcpy(at + sizeof(head), args, ctx->n_args * sizeof(args[0]));
    memcpy(at + data[0], in, in_bytes);
    memset(at + data[1], 0, out_bytes);
    return 0;
}

void hx_context_limit(struct hx_context *ctx, unsigned ms)
{
    if (ctx->checks_left || !ctx->sent)
        return;
    ctx->checks_left = ms / CHECK_MS + 1; /* the first check may come at once */
    ctx->driver->n_expiring++;
}

int hx_kernel_call(struct hx_driver *d, struct hx_channel *channel, struct hx_session *session,
                   struct hx_call *call, uint32_t handle, unsigned method, const void *in,
                   size_t in_bytes, size_t out_bytes,
                   void (*done)(struct hx_context *, const struct hx_reply *, int))
{
    struct hx_context *ctx;
    int rc = hx_context_alloc(&ctx, d, channel, session, out_bytes ? 2 : 1);

    if (rc)
        return rc;
    ctx->done = done;
    ctx->handle = handle;
    ctx->sc = REMOTE_SCALARS_MAKE(method, 1, out_bytes ? 1 : 0);
    rc = pack_kernel_call(ctx, in, in_bytes, out_bytes);
    if (!rc)
        rc = hx_context_send(ctx, 0, HX_PD_ROOT, 0);
    hx_context_limit(ctx, KERNEL_MS);
    if (rc) {
        hx_context_free(ctx);
        return rc;
    }
    if (call) {
        ctx->call = call;
        call->ctx = ctx;
    }
    if (session)
        session->stats.kernel_calls++;
    return 0;
}

void hx_context_forget(struct hx_driver *d, const struct hx_session *s)
{
    for (unsigned id = 1; id < FASTRPC_CTX_MAX; id++)
        if (d->context[id] && d->context[id]->session == s)
            d->context[id]->session = NULL;
}

/* The context is done: notifies whoever waits, then frees it, unless a copy of what the DSP wrote has only begun, or its id has to
 * stay taken. */
static void complete(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    hx_context_stop_copy(ctx);
    ctx->done(ctx, reply, result);
    if (ctx->keeps_id) {
        empty(ctx);
        ctx->is_spent = true;
    } else if (!hx_context_is_answered(ctx)) {
        hx_context_free(ctx);
    }
}

void hx_context_replies(struct hx_driver *d, struct hx_channel *channel, unsigned most)
{
    struct hx_reply reply;
    int rc = 0;

    hx_pd_log_read(&channel->log); /* what a call printed is in the log when it returns */
    /* bounded: a PD that writes faster than we read must not starve the others; the loop comes back for the rest */
    for (unsigned n = 0; n < most && channel->rings; n++) {
        rc = hx_channel_take(channel, &reply);
        if (rc)
            break;
        uint64_t id = reply.ctx >> HX_CTX_ID_SHIFT;
        struct hx_context *ctx = id < FASTRPC_CTX_MAX ? d->context[id] : NULL;
        if (!ctx || ctx->channel != channel || ctx->copy.is_waiting || ctx->is_spent) /* not sent so far, or answered already */
            hx_log_client("No context ID matches response 0x%llx", (unsigned long long)reply.ctx);
        else
            complete(ctx, &reply, reply.retval);
    }
    if (rc == -EPROTO && channel == &d->dsp.channel) {
        hx_dsp_fail(d, "its reply ring is broken");
    } else if (rc == -EPROTO) {
        hx_log_client("a PD broke its reply ring; its calls end");
        hx_context_abort(d, channel, AEE_DSP(AEE_ECPUEXCEPTION));
    }
}

void hx_context_abort(struct hx_driver *d, struct hx_channel *channel, int result)
{
    for (unsigned id = 1; id < FASTRPC_CTX_MAX; id++)
        if (d->context[id] && d->context[id]->channel == channel && !hx_context_is_answered(d->context[id]) &&
            !d->context[id]->is_spent)
            complete(d->context[id], NULL, result);
}

void hx_context_expire(struct hx_driver *d)
{
    uint64_t now;

    if (!d->n_expiring)
        return;
    now = hx_now_ms();
    if (now - d->expiry_ms < CHECK_MS)
        return;
    d->expiry_ms = now;
    for (unsigned id = 1; id < FASTRPC_CTX_MAX; id++) {
        struct hx_context *ctx = d->context[id];

        if (!ctx || !ctx->checks_left)
            continue;
        ctx->checks_left--;
        if (ctx->checks_left)
            continue;
        d->n_expiring--;
        ctx->keeps_id = ctx->session && ctx->session->state != HX_SESSION_CLOSING;
        complete(ctx, NULL, -ETIMEDOUT);
    }
}
