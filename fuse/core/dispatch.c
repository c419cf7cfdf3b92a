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

/* Numbers of Qualcomm's own kernels (/dev/adsprpc-smd) whose size no ioctl of Linux's driver has.  12 is left out: its size is another one
 * with each release, as the sizes of what later kernels add to Linux's may be. */
static const struct {
    uint8_t nr, bytes;
    const char *name;
} msm[] = {
    {4, 24, "INVOKE_FD"},   {5, 4, "SETMODE"},      {6, 40, "INIT"},      {7, 32, "INVOKE_ATTRS"}, {8, 4, "GETINFO"},
    {10, 48, "INIT_ATTRS"}, {11, 40, "INVOKE_CRC"}, {14, 32, "MMAP_64"},  {15, 16, "MUNMAP_64"},   {2, 32, "MMAP"},
};

/* Once per session: who sends such a number has the wrong node, and is told only that there is no such ioctl. */
static void note_msm(struct hx_call *call)
{
    for (size_t i = 0; !call->session->told_msm && i < sizeof(msm) / sizeof(msm[0]); i++)
        if (_IOC_TYPE(call->cmd) == 'R' && _IOC_NR(call->cmd) == msm[i].nr && _IOC_SIZE(call->cmd) == msm[i].bytes) {
            call->session->told_msm = true;
            hx_log_client("client %d: %s (0x%x) is an ioctl of Qualcomm's own kernels, /dev/adsprpc-smd, and not of Linux's driver: "
                          "`hexrig run-with --preload` translates it", call->session->client_id, msm[i].name, call->cmd);
        }
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
    note_msm(call);
    hx_call_finish(call, -ENOTTY);
}
