/* Serves one request: checks its arguments in the arena, calls the method, fills in the reply's figures. */
#include "invoke.h"

#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "buffers.h"
#include "cost/cost.h"
#include "machine/dma.h"
#include "machine/hap_power.h"
#include "machine/slow_path.h"
#include "base/crash.h"
#include "base/machine.h"
#include "hx_trace.h"
#include "module.h"
#include "cost/trace.h"
#include "cost/traffic.h"
#include "cost/uncosted.h"
#include "cost/vtime.h"

/* Copies header and argument table out of the arena after checking that they lie in it. */
static int read_args(const struct hx_dsp_channel *c, const struct hx_msg *msg,
                     struct hx_invoke *head, struct hx_arg *args)
{
    uint64_t n = REMOTE_SCALARS_LENGTH(msg->sc), need = sizeof(*head) + n * sizeof(*args);

    if (msg->addr > HX_ARENA_BYTES || msg->size > HX_ARENA_BYTES - msg->addr || need > msg->size)
        return AEE_DSP(AEE_EBADPARM);
    memcpy(head, c->arena + msg->addr, sizeof(*head));
    if (head->n_args != n)
        return AEE_DSP(AEE_EBADPARM);
    memcpy(args, c->arena + msg->addr + sizeof(*head), n * sizeof(*args));
    return AEE_SUCCESS;
}

static int unpack_buffer(const struct hx_dsp_channel *c, const struct hx_arg *a, remote_arg *out)
{
    void *p = NULL;

    if (a->len == 0) {
        out->buf = (remote_buf){NULL, 0};
        return AEE_SUCCESS;
    }
    if (a->kind == HX_ARG_INLINE && a->addr <= HX_ARENA_BYTES && a->len <= HX_ARENA_BYTES - a->addr)
        p = c->arena + a->addr;
    else if (a->kind == HX_ARG_MAP)
        p = hx_buffers_at(a->map, a->addr, a->len);
    if (!p)
        return AEE_DSP(AEE_EBADPARM);
    out->buf = (remote_buf){p, a->len};
    return AEE_SUCCESS;
}

static int unpack(const struct hx_dsp_channel *c, uint32_t sc, const struct hx_arg *args,
                  remote_arg *pra)
{
    unsigned n_bufs = REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc);

    for (unsigned i = 0; i < REMOTE_SCALARS_LENGTH(sc); i++) {
        if (i < n_bufs) {
            int rc = unpack_buffer(c, &args[i], &pra[i]);
            if (rc)
                return rc;
        } else {
            pra[i].dma = (remote_dma_handle){args[i].map, (uint32_t)args[i].addr};
        }
    }
    return AEE_SUCCESS;
}

static int call(uint32_t handle, uint32_t sc, remote_arg *pra, uint16_t *interface,
                const struct hx_static_service *services, size_t n_services)
{
    for (size_t i = 0; i < n_services; i++)
        if (services[i].handle == handle)
            return services[i].serve(sc, pra);
    if (handle <= FASTRPC_HANDLE_MAX_STATIC)
        return AEE_DSP(AEE_EUNSUPPORTED);
    return hx_module_invoke(handle, sc, pra, interface);
}

/* Checks how a call used HVX contexts: a device stops at an operation without one, and the client sees this code. */
static int check_hvx(const struct hx_msg *msg, int result)
{
    const unsigned method = REMOTE_SCALARS_METHOD(msg->sc);
    const uint64_t unlocked = hx_hvx_unlocked_ops();

    if (hx_hvx_release_leaked())
        FARF(ERROR, "handle 0x%x method %u returned with its HVX context locked", msg->handle, method);
    if (!unlocked)
        return result;
    FARF(ERROR, "handle 0x%x method %u: %llu HVX operations without an HVX context (qurt_hvx_lock)",
         msg->handle, method, (unsigned long long)unlocked);
    return (int)AEE_DSP(AEE_EBADSTATE);
}

/* Key of the trace that the driver wants of this call, or 0. */
static uint64_t open_trace(const struct hx_dsp_channel *c, const struct hx_msg *msg,
                           const struct hx_invoke *head)
{
    uint64_t end = msg->addr + msg->size;

    if (head->trace <= msg->addr || head->trace >= end ||
        head->trace % _Alignof(struct hx_trace_event))
        return 0;
    return hx_trace_open((unsigned)(msg->ctx >> HX_CTX_ID_SHIFT), c->arena + head->trace,
                         end - head->trace);
}

void hx_invoke_serve(struct hx_dsp_channel *c, const struct hx_msg *msg, struct hx_reply *reply,
                     const struct hx_static_service *services, size_t n_services)
{
    struct hx_invoke head;
    struct hx_arg args[FASTRPC_MAX_ARGS];
    remote_arg pra[FASTRPC_MAX_ARGS];
    uint16_t *interface;
    uint64_t trace;

    memset(reply, 0, sizeof(*reply));
    reply->ctx = msg->ctx;
    reply->vote = hx_power_vote();
    reply->retval = read_args(c, msg, &head, args);
    if (reply->retval)
        return;
    hx_buffers_wait(head.ctl_seq);
    reply->retval = unpack(c, msg->sc, args, pra);
    if (reply->retval)
        return;
    hx_vt_call_begin(head.now_ns, head.clock_khz);
    hx_hvx_contexts_begin();
    hx_slow_path_taken(); /* what was before this call is not its own */
    trace = open_trace(c, msg, &head);
    if (trace)
        hx_vt_trace(trace);
    interface = (uint16_t *)(c->arena + msg->addr + offsetof(struct hx_invoke, interface));
    hx_crash_serves((unsigned)(msg->ctx >> HX_CTX_ID_SHIFT));
    reply->retval = check_hvx(msg, call(msg->handle, msg->sc, pra, interface, services, n_services));
    hx_crash_serves(0);
    hx_vt_order_begin(); /* what the call's other threads did before its end has happened */
    hx_dma_end();

    hx_buffers_returned(head.fdlist, FASTRPC_MAX_FDLIST);
    head.traffic = hx_traffic_spent();
    memcpy(c->arena + msg->addr + offsetof(struct hx_invoke, fdlist), head.fdlist,
           sizeof(head.fdlist) + sizeof(head.traffic));

    struct hx_vtime spent = hx_vtime_spent();
    hx_vt_call_end();
    hx_uncosted_call_end(spent.exec_pcycles);
    hx_trace_close(trace);
    reply->exec_pcycles = spent.exec_pcycles;
    if (spent.exec_pcycles > spent.idle_pcycles)
        reply->active = 0xffffffu & (uint32_t)(65536 * (spent.exec_pcycles - spent.idle_pcycles) / spent.exec_pcycles);
    reply->hvx_contexts = hx_hvx_contexts_used() & 0x7f;
    reply->slow_path = hx_slow_path_taken() & 1;
    reply->queue_pcycles = spent.queue_pcycles;
    reply->hvx_ops = spent.hvx_ops;
    reply->vote = hx_power_vote();
}
