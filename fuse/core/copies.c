/* Inline buffers on their way, see copies.h. */
#include "copies.h"

#include <errno.h>

#include "driver.h"

static uint64_t inline_bytes(const struct hx_ctx_arg *a)
{
    return a->buffer || a->is_here ? 0 : a->len;
}

/* Takes the next `most` bytes, or what is left, and returns the number of pieces. */
static unsigned take(struct hx_context *ctx, uint64_t most, struct hx_piece *piece)
{
    uint8_t *arena = ctx->channel->arena + ctx->offset;
    struct hx_copy *c = &ctx->copy;
    unsigned n = 0;

    while (c->arg < c->end) {
        const struct hx_ctx_arg *a = &ctx->args[c->arg];
        const uint64_t left = inline_bytes(a) - c->at, len = left < most ? left : most;

        if (len)
            piece[n++] = (struct hx_piece){arena + a->arena + c->at, a->ptr + c->at, len};
        most -= len;
        if (len < left) {
            c->at += len;
            break;
        }
        c->arg++;
        c->at = 0;
    }
    return n;
}

/* Nothing of the context is touched after the client's memory, which may hang (client_watchdog.h). */
static int copy_some(struct hx_context *ctx, uint64_t most)
{
    struct hx_piece piece[FASTRPC_MAX_ARGS];
    unsigned n = take(ctx, most, piece);

    if (!n)
        return 0;
    return (ctx->copy.out ? hx_call_write : hx_call_read)(ctx->call, piece, n) ? -EFAULT : 0;
}

static bool is_large(const struct hx_context *ctx)
{
    const struct hx_driver *d = ctx->driver;
    uint64_t bytes = 0;

    for (unsigned i = ctx->copy.arg; i < ctx->copy.end; i++)
        bytes += inline_bytes(&ctx->args[i]);
    return d->copy_bytes && bytes > d->copy_bytes;
}

static void wait_for_turn(struct hx_context *ctx)
{
    struct hx_context **end = &ctx->driver->copying;

    while (*end)
        end = &(*end)->copy.next;
    *end = ctx;
    ctx->copy.next = NULL;
    ctx->copy.is_waiting = true;
}

void hx_copy_begin(struct hx_context *ctx, unsigned from, unsigned end, bool out,
                   void (*then)(struct hx_context *ctx, int rc))
{
    ctx->copy = (struct hx_copy){.arg = from, .end = end, .out = out, .then = then};
    if (is_large(ctx) && hx_turns_are_taken(ctx->driver))
        wait_for_turn(ctx);
    else
        then(ctx, copy_some(ctx, UINT64_MAX));
}

void hx_copy_end_all(struct hx_driver *d, const struct hx_channel *channel)
{
    struct hx_context *next;

    for (struct hx_context *ctx = d->copying; ctx; ctx = next) {
        next = ctx->copy.next;
        if (ctx->channel == channel)
            hx_call_finish(ctx->call, -EPIPE);
    }
}

/* The first one's process has its turn: all of its copies go behind those of other processes. */
static void rotate(struct hx_driver *d)
{
    const pid_t pid = d->copying->session->pid;
    struct hx_context *others = NULL, *own = NULL, **others_end = &others, **own_end = &own;

    for (struct hx_context *ctx = d->copying; ctx; ctx = ctx->copy.next) {
        struct hx_context ***end = ctx->session->pid == pid ? &own_end : &others_end;

        **end = ctx;
        *end = &ctx->copy.next;
    }
    *own_end = NULL;
    *others_end = own;
    d->copying = others;
}

void hx_copy_round(struct hx_driver *d)
{
    struct hx_context *ctx = d->copying;
    bool out;
    int rc;

    if (!ctx)
        return;
    d->loop.has_work = true;
    rotate(d);
    rc = copy_some(ctx, d->copy_bytes);
    if (!rc && ctx->copy.arg < ctx->copy.end)
        return;
    out = ctx->copy.out;
    hx_context_stop_copy(ctx);
    ctx->copy.then(ctx, rc);
    if (out)
        hx_context_free(ctx);
}
