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
    if (call->ctx)
        call->ctx->call = NULL;
    call->ctx = NULL;
    call->late_result = result;
    hx_loop_after(&call->driver->loop, &call->timer, call->delay_us, time_is_up, call);
}

void hx_call_interrupt(struct hx_call *call)
{
    if (call->is_invoke && !call->interrupted) {
        call->interrupted = true;
        hx_call_finish(call, -HX_ERESTARTSYS);
    }
}

/* Its context goes, but not what the thread that hangs may still write to: the piece of the arena. */
static void give_up(void *arg, struct hx_watchdog *stall)
{
    struct hx_call *call = arg;
    struct hx_session *s = call->session;

    hx_log_client("client %d: the memory of process %d does not answer (userfaultfd, or a file whose "
                  "server hangs): EFAULT, also for its calls until it does", s->client_id, s->pid);
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
    if (call->session->stall)
        return -EFAULT;
    hx_watchdog_enter(give_up, call);
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

/* A file system cannot put a descriptor into its caller.  What can (docs/run-with.md) answers before the driver is asked. */
void hx_op_alloc_dma_buff(struct hx_call *call)
{
    hx_log_client("client %d: ALLOC_DMA_BUFF of %llu bytes: the %s front end cannot hand out descriptors; "
           "start the program by `hexrig run-with`, or let it use rpcmem_alloc() of hexrig's libcdsprpc.so",
           call->session->client_id, (unsigned long long)call->arg.alloc.size, call->front->name);
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
    memcpy(&call->arg, &call->session->stats, sizeof(call->session->stats));
    hx_call_finish(call, 0);
}
