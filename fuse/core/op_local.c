/* SET_OPTION, ALLOC_DMA_BUFF and the session's figures: ioctls that the driver answers by itself, without the DSP. */
#include <errno.h>
#include <string.h>

#include "driver.h"
#include "hx_session_stats.h"

/* A file system cannot put a descriptor into its caller.  `hexrig run-with` can, and answers before the driver is asked. */
void hx_op_alloc_dma_buff(struct hx_call *call)
{
    hx_log_client("client %d: ALLOC_DMA_BUFF of %llu bytes: the %s front end cannot hand out descriptors; "
           "start the program by `hexrig run-with`, or let it use rpcmem_alloc() of hexrig's libcdsprpc.so%s",
           call->session->client_id, (unsigned long long)call->arg.alloc.size, call->front->name,
           call->arg.alloc.size > UINT32_MAX ? "; or is it INVOKE of /dev/adsprpc-smd, which has the same number?" : "");
    hx_call_finish(call, -EOPNOTSUPP);
}

void hx_op_set_option(struct hx_call *call)
{
    const struct fastrpc_ioctl_set_option *o = &call->arg.option;
    int rc = call->driver->profile.poll_mode ? 0 : -ENOTTY;

    for (unsigned i = 0; i < sizeof(o->reserved) / sizeof(o->reserved[0]) && !rc; i++)
        rc = o->reserved[i] ? -EINVAL : 0;
    if (!rc && o->request_id != FASTRPC_POLL_MODE)
        rc = -EINVAL;
    if (!rc)
        call->session->poll_mode = o->value != 0;
    hx_call_finish(call, rc);
}

void hx_op_session_stats(struct hx_call *call)
{
    _Static_assert(sizeof(call->arg) >= sizeof(struct hx_session_stats), "arg");
    hx_queue_stats_collect(call->session);
    memcpy(&call->arg, &call->session->stats, call->arg_bytes); /* all of it, or what it once was */
    hx_call_finish(call, 0);
}

void hx_op_own_clock(struct hx_call *call)
{
    hx_queue_stats_collect(call->session); /* packets so far came before */
    hx_callers_own_clock(&call->session->callers, call->thread);
    hx_call_finish(call, 0);
}
