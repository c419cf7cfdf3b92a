/* Serving one ioctl, see call.h. */
#include "call.h"

#include <errno.h>
#include <string.h>

#include "driver.h"
#include "hx_session_stats.h"

static const struct {
    uint32_t cmd;
    void (*op)(struct hx_call *call);
} ops[] = {
    {FASTRPC_IOCTL_INVOKE, hx_op_invoke},
    {FASTRPC_IOCTL_INIT_CREATE, hx_op_init_create},
    {FASTRPC_IOCTL_MEM_MAP, hx_op_mem_map},
    {FASTRPC_IOCTL_MEM_UNMAP, hx_op_mem_unmap},
    {FASTRPC_IOCTL_GET_DSP_INFO, hx_op_get_dsp_info},
    {HX_IOCTL_SESSION_STATS, hx_op_session_stats},
};

void hx_call_begin(struct hx_call *call)
{
    int rc = hx_filter_begin(&call->driver->filters, call);

    call->session->used = true;
    if (rc) {
        hx_call_finish(call, rc);
        return;
    }
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (ops[i].cmd == call->cmd && _IOC_SIZE(call->cmd) == call->arg_bytes) {
            ops[i].op(call);
            return;
        }
    hx_call_finish(call, -ENOTTY);
}

void hx_call_finish(struct hx_call *call, int result)
{
    if (call->ctx)
        call->ctx->call = NULL;
    call->ctx = NULL;
    call->front->finish(call, result);
}

void hx_call_interrupt(struct hx_call *call)
{
    if (call->ctx && call->is_invoke && !call->interrupted) {
        call->interrupted = true;
        hx_call_finish(call, -HX_ERESTARTSYS);
    }
}

void hx_op_session_stats(struct hx_call *call)
{
    _Static_assert(sizeof(call->arg) >= sizeof(struct hx_session_stats), "arg");
    memcpy(&call->arg, &call->session->stats, sizeof(call->session->stats));
    hx_call_finish(call, 0);
}
