/* What the DSP left of a finished INVOKE: out buffers and trace. */
#include "call_result.h"

#include "buffer.h"
#include "context.h"
#include "remote_scalars.h"

int hx_call_alter_out(struct hx_call *call, unsigned i, uint64_t bytes,
                      void (*alter)(uint8_t *bytes, size_t n))
{
    const struct hx_context *ctx = call->ctx;
    const struct hx_ctx_arg *a;

    if (!ctx || !call->is_invoke || i >= REMOTE_SCALARS_OUTBUFS(ctx->sc))
        return 0;
    a = &ctx->args[REMOTE_SCALARS_INBUFS(ctx->sc) + i];
    if (bytes > a->len)
        bytes = a->len;
    if (a->buffer)
        return hx_buffer_alter(a->buffer, a->offset, bytes, alter);
    if (bytes)
        alter(ctx->channel->arena + ctx->offset + a->arena, bytes);
    return 0;
}

const struct hx_trace *hx_call_trace(const struct hx_call *call, uint32_t *capacity)
{
    const struct hx_context *ctx = call->ctx;

    if (!ctx || !ctx->trace_events)
        return NULL;
    *capacity = ctx->trace_events;
    return (const void *)(ctx->channel->arena + ctx->offset + ctx->trace);
}
