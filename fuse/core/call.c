/* The life of one ioctl: answering it, now or later, and moving the client's memory for it. */
#include "call.h"

#include <errno.h>

#include "driver.h"

/* The DSP goes on with what was sent to it; a copy ends. */
static void leave_context(struct hx_call *call)
{
    struct hx_context *ctx = call->ctx;

    if (!ctx)
        return;
    ctx->call = NULL;
    call->ctx = NULL;
    if (ctx->copy.is_waiting)
        hx_context_free(ctx);
}

void hx_call_finish(struct hx_call *call, int result)
{
    leave_context(call);
    hx_loop_cancel(&call->driver->loop, &call->timer);
    hx_filter_done(&call->driver->filters, call, result);
    call->front->finish(call, result);
}

static void time_is_up(void *arg)
{
    struct hx_call *call = arg;

    hx_call_finish(call, call->late_result);
}

void hx_call_finish_later(struct hx_call *call, int result)
{
    if (!call->delay_us) {
        hx_call_finish(call, result);
        return;
    }
    leave_context(call);
    call->late_result = result;
    hx_loop_after(&call->driver->loop, &call->timer, call->delay_us, time_is_up, call);
}

/* As in the kernel, the DSP may still write to what MMAP has given it, and the id of the call is not free when it answers. */
static void strand(struct hx_call *call, bool is_copied)
{
    hx_buffer_strand_made(call->session);
    if (!call->ctx)
        hx_context_spend(call->session);
    else if (!is_copied)
        call->ctx->keeps_id = true;
}

void hx_call_interrupt(struct hx_call *call)
{
    const bool is_copied = call->ctx && call->ctx->copy.is_waiting;

    if ((call->is_invoke || is_copied) && !call->interrupted) {
        call->interrupted = true;
        strand(call, is_copied);
        hx_call_finish(call, -HX_ERESTARTSYS);
    }
}

/* Frees the context, but not the piece of the arena, to which the thread that hangs may still write. */
static void give_up(void *arg, struct hx_watchdog *stall)
{
    struct hx_call *call = arg;
    struct hx_session *s = call->session;

    hx_log_client("client %d: the memory of process %d does not answer (userfaultfd, or a file whose "
                  "server hangs): EFAULT, also for its calls until it does", s->client_id, s->pid);
    hx_blame_hang(&call->driver->blame, s->uid);
    stall->session = s;
    s->stall = stall;
    if (call->ctx && call->ctx->offset != UINT64_MAX) {
        stall->offset = call->ctx->offset;
        stall->bytes = call->ctx->bytes;
        call->ctx->offset = UINT64_MAX;
    }
    hx_context_free(call->ctx);
    hx_call_finish(call, -EFAULT);
}

int hx_call_enter_client(struct hx_call *call)
{
    const struct hx_session *s = call->session;

    if (s->stall || !hx_blame_may_touch(&call->driver->blame, s->uid))
        return -EFAULT;
    hx_watchdog_enter(s->uid, give_up, call);
    return 0;
}

void hx_call_leave_client(void)
{
    hx_watchdog_leave();
}

static int each(struct hx_call *call, const struct hx_piece *p, unsigned n, bool in)
{
    int rc = 0;

    for (unsigned i = 0; i < n && !rc; i++)
        rc = in ? call->front->read(call, p[i].here, p[i].there, p[i].len)
                : call->front->write(call, p[i].there, p[i].here, p[i].len);
    return rc;
}

static int batches(struct hx_call *call, const struct hx_piece *p, unsigned n,
                   int (*move)(struct hx_call *, const struct hx_piece *, unsigned))
{
    int rc = 0;

    for (unsigned i = 0; i < n && !rc; i += HX_PIECES_MAX)
        rc = move(call, p + i, n - i < HX_PIECES_MAX ? n - i : HX_PIECES_MAX);
    return rc;
}

int hx_call_read(struct hx_call *call, const struct hx_piece *p, unsigned n)
{
    return call->front->read_pieces ? batches(call, p, n, call->front->read_pieces)
                                    : each(call, p, n, true);
}

int hx_call_write(struct hx_call *call, const struct hx_piece *p, unsigned n)
{
    return call->front->write_pieces ? batches(call, p, n, call->front->write_pieces)
                                     : each(call, p, n, false);
}
