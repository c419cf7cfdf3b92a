/* INVOKE: gathers the arguments, sends the call, writes the results back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "driver.h"
#include "hx_stage.h"
#include "hx_trace.h"
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

enum { BEFORE = 256, AFTER = 768 }; /* bytes around the argument array that are read with it, within its pages */

/* The client's argument array and what lies around it: small inputs mostly lie there, on the caller's stack, and then
 * cost no system call of their own. */
struct window {
    uint64_t start, end; /* client addresses */
    uint8_t *bytes;      /* [end - start] */
    struct fastrpc_invoke_args *args;
    _Alignas(16)
    uint8_t room[BEFORE + FASTRPC_MAX_ARGS * sizeof(struct fastrpc_invoke_args) + AFTER];
};

static uint64_t page_of(uint64_t addr)
{
    return addr & ~UINT64_C(4095);
}

/* Reads the n arguments of the call.  Whatever else a window holds lies in the same pages. */
static int read_args(struct hx_call *call, unsigned n, struct window *w)
{
    uint64_t at = call->arg.invoke.args, bytes = n * sizeof(w->args[0]);

    w->start = w->end = at;
    w->args = (void *)(w->room + BEFORE);
    w->bytes = w->room + BEFORE;
    if (!n)
        return 0;
    if (__builtin_add_overflow(at, bytes, &w->end))
        return -EFAULT;
    if (call->front->reads_pages && w->end < UINT64_MAX - 4096) {
        uint64_t first = page_of(at), last = page_of(w->end - 1) + 4096;

        w->start = at - first > BEFORE ? at - BEFORE : first;
        w->end = last - w->end > AFTER ? w->end + AFTER : last;
        w->bytes -= at - w->start;
    }
    return call->front->read(call, w->bytes, w->start, w->end - w->start) ? -EFAULT : 0;
}

/* Skels here have no signature, so a phone would not load them into a signed PD, nor into the root PD. */
static bool is_unsigned_skel_refused(const struct hx_call *call)
{
    static const struct {
        uint32_t handle;
        unsigned method;
    } opens[] = {{FASTRPC_HANDLE_REMOTECTL, 0}, {FASTRPC_HANDLE_REMOTECTL1, 2}};
    const struct fastrpc_invoke *in = &call->arg.invoke;

    if (!call->driver->strict_pd || call->session->unsigned_pd)
        return false;
    for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++)
        if (in->handle == opens[i].handle && REMOTE_SCALARS_METHOD(in->sc) == opens[i].method)
            return true;
    return false;
}

static int check(const struct hx_call *call)
{
    int rc = hx_session_error(call->session);

    if (rc != -EPIPE && call->arg.invoke.handle == FASTRPC_HANDLE_KERNEL)
        return -EPERM;
    if (!rc && is_unsigned_skel_refused(call)) {
        hx_log_client("client %d: opens a skel in a signed PD, and the rig has --strict-pd: ask for an unsigned PD first "
                      "(DSPRPC_CONTROL_UNSIGNED_MODULE)", call->session->client_id);
        return -EPERM;
    }
    return rc;
}

/* 0 and -1 both mean "no descriptor": the kernel driver's quirk. */
static bool has_fd(const struct fastrpc_invoke_args *a)
{
    return a->fd != 0 && a->fd != -1 && a->length != 0;
}

/* As the kernel's driver maps it: everything that is wrong with the descriptor is EINVAL, a buffer that is mapped already is not
 * looked at again, but a DMA handle always is. */
static int take_buffer(struct hx_call *call, const struct fastrpc_invoke_args *a, bool is_handle, struct hx_buffer **out)
{
    int rc = hx_buffer_get(call, a->fd, out);

    if (rc)
        return rc == -ENOMEM ? rc : -EINVAL;
    return (is_handle || (*out)->refs == 1) && !hx_buffer_has(*out, a->length) ? -EINVAL : 0;
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
        rc = take_buffer(call, &args[i], i >= n_bufs(ctx->sc), &a->buffer);
        if (rc)
            return rc;
        a->offset = a->ptr; /* a handle's is an offset already */
        if (i < n_bufs(ctx->sc)) {
            rc = hx_buffer_offset(call, a->buffer, a->ptr, &a->offset);
            if (rc)
                return rc;
            call->inv.bytes_shared += a->len;
            call->inv.n_shared++;
        }
    }
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct hx_ctx_arg *x = *(struct hx_ctx_arg *const *)a;
    const struct hx_ctx_arg *y = *(struct hx_ctx_arg *const *)b;

    return x->ptr < y->ptr ? -1 : x->ptr > y->ptr;
}

/* Gives every inline buffer its place after `at` and returns the end, or UINT64_MAX when nothing can hold them all.
 * Buffers that overlap in the client overlap here in the same way: one start per run of overlapping buffers. */
static uint64_t place_inline(struct hx_context *ctx, uint64_t at)
{
    struct hx_ctx_arg *sorted[FASTRPC_MAX_ARGS];
    uint64_t run_start = 0, run_end = 0, run_at = at;
    unsigned n = 0;

    for (unsigned i = 0; i < n_bufs(ctx->sc); i++)
        if (ctx->args[i].len && !ctx->args[i].buffer)
            sorted[n++] = &ctx->args[i];
    if (n > 1)
        qsort(sorted, n, sizeof(sorted[0]), by_start);
    for (unsigned i = 0; i < n; i++) {
        uint64_t end;

        if (sorted[i]->len > HX_ARENA_BYTES ||
            __builtin_add_overflow(sorted[i]->ptr, sorted[i]->len, &end))
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

/* Takes what came with the argument array, and counts. */
static void take_inline(struct hx_call *call, struct hx_context *ctx, const struct window *w)
{
    for (unsigned i = 0; i < n_bufs(ctx->sc); i++) {
        struct hx_ctx_arg *a = &ctx->args[i];

        if (!a->len || a->buffer)
            continue;
        if (i >= n_in(ctx->sc)) {
            call->inv.bytes_out += a->len;
            continue;
        }
        call->inv.bytes_in += a->len;
        a->is_here = a->ptr >= w->start && a->ptr < w->end && a->len <= w->end - a->ptr;
        if (a->is_here)
            memcpy(ctx->channel->arena + ctx->offset + a->arena,
                   w->bytes + (a->ptr - w->start), a->len);
    }
}

/* The argument table that the DSP reads; ours is kept apart, because the DSP could change it. */
static void write_table(struct hx_context *ctx)
{
    uint8_t *at = ctx->channel->arena + ctx->offset;
    struct hx_invoke head = {
        .n_args = (uint16_t)ctx->n_args,
        .ctl_seq = ctx->channel->ctl_seq,
        .now_ns = ctx->call->inv.arrive_ns,
        .clock_khz = ctx->call->inv.clock_khz,
    };

    if (ctx->trace_events) {
        struct hx_trace empty = {.capacity = ctx->trace_events};

        memcpy(at + ctx->trace, &empty, offsetof(struct hx_trace, name));
        head.trace = (uint32_t)(ctx->offset + ctx->trace);
    }
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

enum { EXTENDED = 31 }; /* method 31: the real number is the first word of in buffer 0 */

/* Valid once the arguments are here.  A number in a shared buffer is for the DSP alone to read. */
static uint32_t method_of(const struct hx_context *ctx)
{
    uint32_t method = REMOTE_SCALARS_METHOD(ctx->sc);
    const struct hx_ctx_arg *a = &ctx->args[0];

    if (method == EXTENDED && n_in(ctx->sc) && !a->buffer && a->len >= sizeof(method))
        memcpy(&method, ctx->channel->arena + ctx->offset + a->arena, sizeof(method));
    return method;
}

/* Arena space for the arguments and, behind them, for a trace; no call fails for lack of the latter. */
static int reserve(struct hx_call *call, struct hx_context *ctx, uint64_t bytes)
{
    if (call->trace_events &&
        hx_context_reserve(ctx, bytes + hx_trace_bytes(call->trace_events)) == 0) {
        ctx->trace = bytes;
        ctx->trace_events = call->trace_events;
        return 0;
    }
    return hx_context_reserve(ctx, bytes);
}

static int gather(struct hx_call *call, struct hx_context *ctx, const struct window *w)
{
    uint64_t table = align_up(sizeof(struct hx_invoke) + ctx->n_args * sizeof(struct hx_arg)), end;
    int rc = take_buffers(call, ctx, w->args);

    if (rc)
        return rc;
    end = place_inline(ctx, table);
    if (end == UINT64_MAX)
        return -ENOMEM;
    rc = reserve(call, ctx, end);
    if (!rc)
        take_inline(call, ctx, w);
    return rc;
}

/* --- the way back --------------------------------------------------------------------------------------------- */

/* A DMA handle stays with the DSP after the call, until it names the descriptor in an fdlist. */
static void keep_handles(struct hx_context *ctx)
{
    for (unsigned i = n_bufs(ctx->sc); i < ctx->n_args; i++)
        if (ctx->args[i].buffer) {
            ctx->args[i].buffer->handles++;
            ctx->args[i].buffer = NULL;
        }
}

/* What the DSP wrote is not trusted: no call moves a petabyte. */
static void limit(struct hx_traffic *t)
{
    uint64_t *number = (uint64_t *)t;

    for (size_t i = 0; i < sizeof(*t) / sizeof(*number); i++)
        if (number[i] > HX_TRAFFIC_MAX)
            number[i] = HX_TRAFFIC_MAX;
}

static void take_head(struct hx_context *ctx)
{
    struct hx_invoke head;

    memcpy(&head, ctx->channel->arena + ctx->offset, sizeof(head));
    for (unsigned i = 0; i < FASTRPC_MAX_FDLIST && head.fdlist[i]; i++)
        hx_buffer_return(ctx->session, (int)head.fdlist[i]);
    limit(&head.traffic);
    ctx->call->inv.traffic = head.traffic;
}

/* Written before the method was called, so it is there for a call that its PD did not survive, too. */
static void take_interface(struct hx_context *ctx)
{
    memcpy(&ctx->call->inv.interface, ctx->channel->arena + ctx->offset + offsetof(struct hx_invoke, interface),
           sizeof(ctx->call->inv.interface));
}

static void copied_out(struct hx_context *ctx, int rc)
{
    struct hx_call *call = ctx->call;

    hx_stage_at("driver.invoke.written");
    hx_call_finish_later(call, rc ? rc : call->late_result);
}

/* Methods of adsp_current_process1. */
enum { EXIT = 2, EXCEPTION = 7, GOODBYE_MS = 1000 };

static bool is_of_process(const struct hx_context *ctx, unsigned method)
{
    return ctx->handle == FASTRPC_HANDLE_CURRENT_PROCESS && REMOTE_SCALARS_METHOD(ctx->sc) == method;
}

/* exit() is answered at once, whatever else the PD does.  One that is stopped, or does not want to, is not waited for any longer, by
 * nobody: who says goodbye is about to close its file. */
static void end_calls(const struct hx_context *exit)
{
    struct hx_driver *d = exit->driver;

    for (unsigned id = 1; id < FASTRPC_CTX_MAX; id++)
        if (d->context[id] && d->context[id] != exit && d->context[id]->session == exit->session)
            hx_context_limit(d->context[id], 0);
}

static void done(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    struct hx_call *call = ctx->call;

    hx_stage_at("driver.invoke.reply");
    if (!reply && result == (int)AEE_DSP(AEE_ECPUEXCEPTION) && is_of_process(ctx, EXCEPTION)) /* who asked is told otherwise */
        result = (int)AEE_DSP(AEE_EBADSTATE);
    if (!reply && result == -ETIMEDOUT && is_of_process(ctx, EXIT))
        end_calls(ctx);
    if (reply) {
        ctx->session->vote = reply->vote;
        keep_handles(ctx);
    }
    if (!call) /* interrupted: nobody reads the answer, nor its fdlist */
        return;
    if (reply)
        take_head(ctx);
    if (reply) {
        call->inv.exec_pcycles = reply->exec_pcycles;
        call->inv.active = reply->active < 65536 ? reply->active / 65536.0 : 1;
        call->inv.queue_pcycles = reply->queue_pcycles;
        call->inv.hvx_ops = reply->hvx_ops;
        call->inv.hvx_contexts = reply->hvx_contexts;
        call->inv.slow_path = reply->slow_path;
    }
    if (call->is_invoke) {
        take_interface(ctx);
        hx_filter_end(&call->driver->filters, call, &result);
    }
    call->late_result = result;
    if (reply) /* every inline out buffer goes back, whatever the result is */
        hx_copy_begin(ctx, n_in(ctx->sc), n_bufs(ctx->sc), true, copied_out);
    else
        copied_out(ctx, 0);
}

/* --- the whole ------------------------------------------------------------------------------------------------ */

/* The DSP would refuse this call, for its PD is not there; what the driver itself would refuse comes first. */
static int refuse(struct hx_call *call, const struct fastrpc_invoke_args *args, unsigned n, int result)
{
    for (unsigned i = 0; i < n; i++)
        if (has_fd(&args[i]) && hx_buffer_check(call, args[i].fd, args[i].length))
            return -EINVAL;
    return result;
}

static int start(struct hx_call *call, struct hx_context **out)
{
    struct hx_session *s = call->session;
    unsigned n = REMOTE_SCALARS_LENGTH(call->arg.invoke.sc);
    struct hx_context *ctx = NULL;
    struct window w;
    int rc = read_args(call, n, &w);

    if (!rc)
        rc = check(call);
    if (rc < -4095)
        rc = refuse(call, w.args, n, rc);
    if (!rc)
        rc = hx_context_alloc(&ctx, call->driver, &s->channel, s, n);
    if (rc)
        return rc;
    *out = ctx;
    ctx->handle = call->inv.handle = call->arg.invoke.handle;
    ctx->sc = call->inv.sc = call->arg.invoke.sc;
    call->inv.method = REMOTE_SCALARS_METHOD(ctx->sc);
    ctx->done = done;
    ctx->call = call;
    call->ctx = ctx;
    return gather(call, ctx, &w);
}

static int send_call(struct hx_call *call, struct hx_context *ctx)
{
    struct hx_session *s = call->session;
    int rc;

    call->inv.method = method_of(ctx);
    call->is_invoke = true;
    hx_queue_stats_collect(s); /* packets that came before this call are charged before it */
    hx_filter_send(&call->driver->filters, call);
    write_table(ctx);
    rc = hx_context_send(ctx, s->client_id, s->pd, call->tid);
    hx_stage_at("driver.invoke.sent");
    if (!rc && is_of_process(ctx, EXIT))
        hx_context_limit(ctx, GOODBYE_MS);
    return rc;
}

static void fail(struct hx_call *call, struct hx_context *ctx, int rc)
{
    hx_context_free(ctx);
    hx_call_finish(call, rc);
}

static void copied_in(struct hx_context *ctx, int rc)
{
    struct hx_call *call = ctx->call;

    if (!rc)
        rc = send_call(call, ctx);
    if (rc)
        fail(call, ctx, rc);
}

void hx_op_invoke(struct hx_call *call)
{
    struct hx_context *ctx = NULL;
    int rc;

    hx_stage_at("driver.invoke.taken");
    rc = start(call, &ctx);
    if (rc)
        fail(call, ctx, rc);
    else
        hx_copy_begin(ctx, 0, n_in(ctx->sc), false, copied_in);
}
