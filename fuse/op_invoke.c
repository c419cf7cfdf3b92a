/* INVOKE: gathers the arguments, sends the call, writes the results back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "remote_scalars.h"

static uint64_t align_up(uint64_t n)
{
    return (n + FASTRPC_ALIGN - 1) & ~(uint64_t)(FASTRPC_ALIGN - 1);
}

static unsigned n_in(uint32_t sc)
{
    return REMOTE_SCALARS_INBUFS(sc);
}

static unsigned n_bufs(uint32_t sc)
{
    return REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc);
}

/* --- the way in ----------------------------------------------------------------------------------------------- */

static int check(const struct hx_call *call)
{
    int rc = hx_session_error(call->session);

    if (rc)
        return rc;
    return call->arg.invoke.handle == FASTRPC_HANDLE_KERNEL ? -EPERM : 0;
}

/* 0 and -1 both mean "no descriptor": the kernel driver's quirk. */
static bool has_fd(const struct fastrpc_invoke_args *a)
{
    return a->fd != 0 && a->fd != -1 && a->length != 0;
}

static int take_buffers(struct hx_call *call, struct hx_context *ctx,
                        const struct fastrpc_invoke_args *args)
{
    for (unsigned i = 0; i < ctx->n_args; i++) {
        struct hx_ctx_arg *a = &ctx->args[i];
        int rc;

        a->ptr = args[i].ptr;
        a->len = args[i].length;
        if (!has_fd(&args[i]))
            continue;
        rc = hx_buffer_get(call, args[i].fd, &a->buffer);
        if (rc)
            return rc;
        /* a handle's ptr is an offset already */
        a->offset = i < n_bufs(ctx->sc) ? hx_buffer_offset(call, a->buffer, a->ptr) : a->ptr;
        if (i < n_bufs(ctx->sc)) {
            call->inv.bytes_shared += a->len;
            call->inv.n_shared++;
        }
    }
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct hx_ctx_arg *x = *(struct hx_ctx_arg *const *)a, *y = *(struct hx_ctx_arg *const *)b;

    return x->ptr < y->ptr ? -1 : x->ptr > y->ptr;
}

/* Gives every inline buffer its place after `at` and returns the end, or UINT64_MAX when the sizes are impossible.
 * Buffers that overlap in the client overlap here in the same way: one start per run of overlapping buffers. */
static uint64_t place_inline(struct hx_context *ctx, uint64_t at)
{
    struct hx_ctx_arg *sorted[FASTRPC_MAX_ARGS];
    uint64_t run_start = 0, run_end = 0, run_at = at;
    unsigned n = 0;

    for (unsigned i = 0; i < n_bufs(ctx->sc); i++)
        if (ctx->args[i].len && !ctx->args[i].buffer)
            sorted[n++] = &ctx->args[i];
    qsort(sorted, n, sizeof(sorted[0]), by_start);
    for (unsigned i = 0; i < n; i++) {
        uint64_t end;

        if (sorted[i]->len > HX_ARENA_BYTES || __builtin_add_overflow(sorted[i]->ptr, sorted[i]->len, &end))
            return UINT64_MAX;
        if (i == 0 || sorted[i]->ptr >= run_end) {
            run_at = at;
            run_start = sorted[i]->ptr;
            run_end = end;
        } else if (end > run_end) {
            run_end = end;
        }
        sorted[i]->arena = run_at + (sorted[i]->ptr - run_start);
        at = align_up(run_at + (run_end - run_start));
        if (at > HX_ARENA_BYTES)
            return UINT64_MAX;
    }
    return at;
}

static int copy_in(struct hx_call *call, struct hx_context *ctx)
{
    for (unsigned i = 0; i < n_in(ctx->sc); i++) {
        const struct hx_ctx_arg *a = &ctx->args[i];

        if (!a->len || a->buffer)
            continue;
        if (call->front->read(call, ctx->channel->arena + ctx->offset + a->arena, a->ptr, a->len))
            return -EFAULT;
        call->inv.bytes_in += a->len;
    }
    for (unsigned i = n_in(ctx->sc); i < n_bufs(ctx->sc); i++)
        if (!ctx->args[i].buffer)
            call->inv.bytes_out += ctx->args[i].len;
    return 0;
}

/* The argument table that the DSP reads; ours is kept apart, because the DSP could change it. */
static void write_table(struct hx_context *ctx)
{
    uint8_t *at = ctx->channel->arena + ctx->offset;
    struct hx_invoke head = {
        .n_args = ctx->n_args,
        .ctl_seq = ctx->channel->ctl_seq,
        .now_ns = ctx->call->inv.arrive_ns,
    };

    memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    for (unsigned i = 0; i < ctx->n_args; i++, at += sizeof(struct hx_arg)) {
        const struct hx_ctx_arg *a = &ctx->args[i];
        struct hx_arg out = {.len = a->len, .map = -1, .addr = ctx->offset + a->arena};

        if (a->buffer)
            out = (struct hx_arg){.len = a->len, .map = a->buffer->id, .addr = a->offset,
                                  .kind = HX_ARG_MAP};
        if (i >= n_bufs(ctx->sc)) {
            out.kind = HX_ARG_HANDLE;
            out.addr = a->ptr;
            out.map = a->buffer ? a->buffer->client_fd : -1;
        }
        memcpy(at, &out, sizeof(out));
    }
}

static int gather(struct hx_call *call, struct hx_context *ctx,
                  const struct fastrpc_invoke_args *args)
{
    uint64_t table = align_up(sizeof(struct hx_invoke) + ctx->n_args * sizeof(struct hx_arg)), end;
    int rc = take_buffers(call, ctx, args);

    if (rc)
        return rc;
    end = place_inline(ctx, table);
    if (end == UINT64_MAX)
        return -EINVAL;
    rc = hx_context_reserve(ctx, end);
    return rc ? rc : copy_in(call, ctx);
}

/* --- the way back --------------------------------------------------------------------------------------------- */

uint8_t *hx_call_out(struct hx_call *call, unsigned i, uint64_t *len)
{
    struct hx_context *ctx = call->ctx;
    struct hx_ctx_arg *a;
    uint8_t *bytes;

    if (!ctx || !call->is_invoke || i >= REMOTE_SCALARS_OUTBUFS(ctx->sc))
        return NULL;
    a = &ctx->args[n_in(ctx->sc) + i];
    *len = a->len;
    if (!a->buffer)
        return a->len ? ctx->channel->arena + ctx->offset + a->arena : NULL;
    bytes = hx_buffer_bytes(a->buffer);
    if (!bytes || a->offset > a->buffer->size || a->len > a->buffer->size - a->offset)
        return NULL;
    return bytes + a->offset;
}

/* Every inline out buffer goes back, whatever the result is. */
static int copy_out(struct hx_call *call, struct hx_context *ctx)
{
    for (unsigned i = n_in(ctx->sc); i < n_bufs(ctx->sc); i++) {
        const struct hx_ctx_arg *a = &ctx->args[i];

        if (a->len && !a->buffer &&
            call->front->write(call, a->ptr, ctx->channel->arena + ctx->offset + a->arena, a->len))
            return -EFAULT;
    }
    return 0;
}

/* A DMA handle stays with the DSP after the call, until it names the descriptor in an fdlist. */
static void keep_handles(struct hx_context *ctx)
{
    for (unsigned i = n_bufs(ctx->sc); i < ctx->n_args; i++)
        if (ctx->args[i].buffer) {
            ctx->args[i].buffer->handles++;
            ctx->args[i].buffer = NULL;
        }
}

static void take_fdlist(struct hx_context *ctx)
{
    struct hx_invoke head;

    memcpy(&head, ctx->channel->arena + ctx->offset, sizeof(head));
    for (unsigned i = 0; i < FASTRPC_MAX_FDLIST && head.fdlist[i]; i++)
        hx_buffer_return(ctx->session, (int)head.fdlist[i]);
}

static void done(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    struct hx_call *call = ctx->call;
    int rc;

    if (reply) {
        keep_handles(ctx);
        take_fdlist(ctx);
    }
    if (!call) /* interrupted: nobody wants the answer */
        return;
    if (reply) {
        call->inv.exec_pcycles = reply->exec_pcycles;
        call->inv.queue_pcycles = reply->queue_pcycles;
        call->inv.hvx_ops = reply->hvx_ops;
    }
    hx_filter_end(&call->driver->filters, call, &result);
    rc = reply ? copy_out(call, ctx) : 0;
    hx_call_finish_later(call, rc ? rc : result);
}

/* --- the whole ------------------------------------------------------------------------------------------------ */

static int read_args(struct hx_call *call, unsigned n, struct fastrpc_invoke_args *args)
{
    if (n && call->front->read(call, args, call->arg.invoke.args, n * sizeof(*args)))
        return -EFAULT;
    return 0;
}

static int start(struct hx_call *call, struct hx_context **out)
{
    struct fastrpc_invoke_args args[FASTRPC_MAX_ARGS];
    struct hx_session *s = call->session;
    unsigned n = REMOTE_SCALARS_LENGTH(call->arg.invoke.sc);
    struct hx_context *ctx = NULL;
    int rc = read_args(call, n, args);

    if (!rc)
        rc = check(call);
    if (!rc)
        rc = hx_context_alloc(&ctx, call->driver, &s->channel, s, n);
    if (rc)
        return rc;
    *out = ctx;
    ctx->handle = call->inv.handle = call->arg.invoke.handle;
    ctx->sc = call->inv.sc = call->arg.invoke.sc;
    ctx->done = done;
    rc = gather(call, ctx, args);
    if (rc)
        return rc;
    call->is_invoke = true;
    ctx->call = call;
    call->ctx = ctx;
    hx_filter_send(&call->driver->filters, call);
    write_table(ctx);
    return hx_context_send(ctx, s->client_id, s->pd, call->tid);
}

void hx_op_invoke(struct hx_call *call)
{
    struct hx_context *ctx = NULL;
    int rc = start(call, &ctx);

    if (rc) {
        hx_context_free(ctx);
        hx_call_finish(call, rc);
    }
}
