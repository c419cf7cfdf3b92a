/* GET_DSP_INFO: capabilities, asked of the DSP once and remembered. */
#include <errno.h>
#include <string.h>

#include "AEEStdErr.h"
#include "driver.h"

enum { ATTRIBUTES = FASTRPC_MAX_DSP_ATTRIBUTES - 1 };

static void answer(struct hx_call *call)
{
    call->arg.capability.capability = call->driver->capability[call->arg.capability.attribute_id];
    hx_call_finish(call, 0);
}

static void received(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    struct hx_driver *d = ctx->driver;

    if (reply && result == 0) {
        memcpy(d->capability + 1, ctx->channel->arena + ctx->args[1].arena,
               ATTRIBUTES * sizeof(d->capability[0]));
        d->have_capabilities = true;
    }
    if (!ctx->call)
        return;
    if (result == 0)
        answer(ctx->call);
    else
        hx_call_finish(ctx->call, result == AEE_DSP(AEE_EUNSUPPORTED) ? -EOPNOTSUPP : result);
}

void hx_op_get_dsp_info(struct hx_call *call)
{
    const struct fastrpc_ioctl_capability *c = &call->arg.capability;
    struct hx_driver *d = call->driver;
    uint32_t count = ATTRIBUTES;
    int rc = 0;

    /* newer kernels do not look at it: a node has one domain */
    if (!d->profile.poll_mode && (c->domain >= FASTRPC_DEV_MAX || c->domain == FASTRPC_MDSP_DOMAIN))
        rc = -ECHRNG;
    else if (c->attribute_id >= FASTRPC_MAX_DSP_ATTRIBUTES)
        rc = -EOVERFLOW;
    else if (!hx_dsp_is_up(&d->dsp))
        rc = -EPIPE;
    if (!rc && d->have_capabilities) {
        answer(call);
        return;
    }
    if (!rc)
        rc = hx_kernel_call(d, &d->dsp.channel, call->session, call,
                            FASTRPC_HANDLE_DSP_UTILITIES, 0, &count, sizeof(count),
                            ATTRIBUTES * sizeof(uint32_t), received);
    if (rc)
        hx_call_finish(call, rc);
}
