/* Which handler serves which ioctl. */
#include <errno.h>

#include "driver.h"

static const struct {
    uint32_t cmd;
    void (*op)(struct hx_call *call);
} ops[] = {
    {FASTRPC_IOCTL_INVOKE, hx_op_invoke},
    {FASTRPC_IOCTL_ALLOC_DMA_BUFF, hx_op_alloc_dma_buff},
    {FASTRPC_IOCTL_INIT_ATTACH, hx_op_init_attach},
    {FASTRPC_IOCTL_INIT_ATTACH_SNS, hx_op_init_attach_sns},
    {FASTRPC_IOCTL_INIT_CREATE, hx_op_init_create},
    {FASTRPC_IOCTL_INIT_CREATE_STATIC, hx_op_init_create_static},
    {FASTRPC_IOCTL_MMAP, hx_op_mmap},
    {FASTRPC_IOCTL_MUNMAP, hx_op_munmap},
    {FASTRPC_IOCTL_MEM_MAP, hx_op_mem_map},
    {FASTRPC_IOCTL_MEM_UNMAP, hx_op_mem_unmap},
    {FASTRPC_IOCTL_GET_DSP_INFO, hx_op_get_dsp_info},
    {FASTRPC_IOCTL_SET_OPTION, hx_op_set_option},
    {HX_IOCTL_SESSION_STATS, hx_op_session_stats},
    {HX_IOCTL_SESSION_STATS_1, hx_op_session_stats},
    {HX_IOCTL_OWN_CLOCK, hx_op_own_clock},
};

bool hx_call_is_known(uint32_t cmd)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (ops[i].cmd == cmd)
            return true;
    return false;
}

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
