/* The services that a user PD offers behind static handles.  Method numbers: the public interfaces
 * of the same names. */
#include "services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "buffers.h"
#include "hx_msg.h"
#include "hx_stage.h"
#include "logging.h"
#include "module.h"
#include "reverse/host_calls.h"
#include "reverse/messages.h"

static int has_shape(uint32_t sc, unsigned in, unsigned out, const remote_arg *pra,
                     const size_t *least)
{
    if (REMOTE_SCALARS_INBUFS(sc) != in || REMOTE_SCALARS_OUTBUFS(sc) != out)
        return 0;
    for (unsigned i = 0; i < in + out; i++)
        if (pra[i].buf.nLen < least[i])
            return 0;
    return 1;
}

struct name_in {
    uint32_t name_len;
    uint32_t dlerr_len;
};
struct open_out {
    uint32_t handle;
    int32_t error;
};
struct close_in {
    uint32_t handle;
    uint32_t dlerr_len;
};

static int remotectl_open(uint32_t sc, remote_arg *pra)
{
    static const size_t least[] = {sizeof(struct name_in), 1, sizeof(struct open_out), 1};
    const char *uri;
    struct open_out out = {0};
    char why[512] = "";

    if (!has_shape(sc, 2, 2, pra, least))
        return AEE_DSP(AEE_EBADPARM);
    uri = pra[1].buf.pv;
    if (uri[pra[1].buf.nLen - 1] != '\0')
        return AEE_DSP(AEE_EBADPARM);
    out.error = hx_module_open(uri, &out.handle, why, sizeof(why));
    memcpy(pra[2].buf.pv, &out, sizeof(out));
    snprintf(pra[3].buf.pv, pra[3].buf.nLen, "%s", why);
    if (out.error && out.error != HX_LISTEN_FIRST)
        FARF(ERROR, "open %s: 0x%x: %s", uri, (unsigned)out.error, why);
    return AEE_SUCCESS;
}

static int remotectl_close(uint32_t sc, remote_arg *pra)
{
    static const size_t least[] = {sizeof(struct close_in), sizeof(int32_t), 1};
    struct close_in in;
    int32_t error;

    if (!has_shape(sc, 1, 2, pra, least))
        return AEE_DSP(AEE_EBADPARM);
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    error = hx_module_close(in.handle);
    memcpy(pra[1].buf.pv, &error, sizeof(error));
    *(char *)pra[2].buf.pv = '\0';
    return AEE_SUCCESS;
}

/* remotectl1 (static handle 8): methods 2 open1, 3 close1, 5 set_param, which this DSP accepts and ignores. */
static int remotectl1(uint32_t sc, remote_arg *pra)
{
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 2:
        return remotectl_open(sc, pra);
    case 3:
        return remotectl_close(sc, pra);
    case 5:
        return AEE_SUCCESS;
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}

/* remotectl (static handle 0), the older form: methods 0 open, 1 close, with the same arguments. */
static int remotectl(uint32_t sc, remote_arg *pra)
{
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 0:
        return remotectl_open(sc, pra);
    case 1:
        return remotectl_close(sc, pra);
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}

/* The reverse-RPC long poll: the client lends a thread for this PD to call back with (reverse/host_calls.h). */
static int next2(uint32_t sc, remote_arg *pra)
{
    static const size_t least[] = {sizeof(struct hx_next_in), 0, sizeof(struct hx_next_out), 0};
    struct hx_next_out out;
    struct hx_next_in in;
    int rc;

    if (!has_shape(sc, 2, 2, pra, least))
        return AEE_DSP(AEE_EBADPARM);
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    if (in.answer_bytes > pra[1].buf.nLen || in.room > pra[3].buf.nLen)
        return AEE_DSP(AEE_EBADPARM);
    rc = hx_host_next(&in, pra[1].buf.pv, &out, pra[3].buf.pv);
    if (!rc)
        memcpy(pra[2].buf.pv, &out, sizeof(out));
    return rc;
}

static int get_in_bufs2(uint32_t sc, remote_arg *pra)
{
    static const size_t least[] = {sizeof(struct hx_in_bufs_in), sizeof(uint32_t), 0};
    struct hx_in_bufs_in in;
    uint32_t bytes;
    int rc;

    if (!has_shape(sc, 1, 2, pra, least))
        return AEE_DSP(AEE_EBADPARM);
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    if (in.room > pra[2].buf.nLen)
        return AEE_DSP(AEE_EBADPARM);
    rc = hx_host_get_in_bufs(&in, &bytes, pra[2].buf.pv);
    if (!rc)
        memcpy(pra[1].buf.pv, &bytes, sizeof(bytes));
    return rc;
}

/* adsp_listener1 (static handle 7) */
static int listener1(uint32_t sc, remote_arg *pra)
{
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case HX_LISTENER1_INIT2:
        return hx_host_listen();
    case HX_LISTENER1_NEXT2:
        return next2(sc, pra);
    case HX_LISTENER1_GET_IN_BUFS2:
        return get_in_bufs2(sc, pra);
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}

/* adsp_listener (static handle 3), the older form. */
static int listener(uint32_t sc, remote_arg *pra)
{
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case HX_LISTENER_INIT2:
        return hx_host_listen();
    case HX_LISTENER_NEXT2:
        return next2(sc, pra);
    case HX_LISTENER_GET_IN_BUFS2:
        return get_in_bufs2(sc, pra);
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}

static int start_messages(uint32_t sc, remote_arg *pra)
{
    static const size_t least[] = {sizeof(struct hx_messages_in), sizeof(uint64_t)};
    struct hx_messages_in in;
    uint64_t at_host;
    int rc;

    if (!has_shape(sc, 1, 1, pra, least))
        return AEE_DSP(AEE_EBADPARM);
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    rc = hx_messages_start(&in, &at_host);
    memcpy(pra[1].buf.pv, &at_host, sizeof(at_host));
    return rc;
}

static int wait_for_messages(uint32_t sc, remote_arg *pra)
{
    static const size_t least[] = {sizeof(uint64_t)};
    uint64_t bytes;
    int rc;

    if (!has_shape(sc, 0, 1, pra, least))
        return AEE_DSP(AEE_EBADPARM);
    rc = hx_messages_wait(&bytes);
    memcpy(pra[0].buf.pv, &bytes, sizeof(bytes));
    return rc;
}

/* adspmsgd_adsp1 (static handle 5): 3 deinit, 4 init3, 5 wait.  2, init2, is an older way without a ring, which is not published. */
static int adspmsgd1(uint32_t sc, remote_arg *pra)
{
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 3:
        return hx_messages_stop();
    case 4:
        return start_messages(sc, pra);
    case 5:
        return wait_for_messages(sc, pra);
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}

static int exit_process(void)
{
    hx_host_end();
    hx_messages_stop();
    return AEE_SUCCESS;
}

/* adsp_current_process1 (static handle 4): 2 exit, 3 thread_exit, 4 and 8 set_logging_params, 5 getASID, 7 exception; 6 setQoS,
 * 9 poll_mode and 10 enable_notifications change nothing that this DSP models. */
static int current_process1(uint32_t sc, remote_arg *pra)
{
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 2:
        return exit_process();
    case 4:
    case 8:
        return hx_logging_set(sc, pra);
    case 5:
        return hx_logging_asid(sc, pra);
    case 7:
        abort(); /* what was asked for: the client's calls get the exception's code */
    case 3:
    case 6:
    case 9:
    case 10:
        return AEE_SUCCESS;
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}

static int kernel_mem_map(uint32_t sc, remote_arg *pra)
{
    static const size_t least[] = {sizeof(struct hx_kmem_map), sizeof(struct hx_kmem_mapped)};
    struct hx_kmem_map in;
    struct hx_kmem_mapped out;

    if (!has_shape(sc, 1, 1, pra, least))
        return AEE_DSP(AEE_EBADPARM);
    hx_stage_at("pd.map.taken");
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    out.vaddr = (uintptr_t)hx_buffers_at(in.map, in.offset, in.length);
    if (!out.vaddr)
        return AEE_DSP(AEE_EBADPARM);
    if (hx_buffers_bind(in.map))
        return AEE_DSP(AEE_ENOMEMORY);
    hx_stage_at("pd.map.bound");
    memcpy(pra[1].buf.pv, &out, sizeof(out));
    return AEE_SUCCESS;
}

/* The kernel's own calls to this PD (static handle 1).  Unmapping is the driver's HX_CTL_UNMAP. */
static int kernel(uint32_t sc, remote_arg *pra)
{
    if (REMOTE_SCALARS_METHOD(sc) == FASTRPC_RMID_MEM_MAP)
        return kernel_mem_map(sc, pra);
    return AEE_DSP(AEE_EUNSUPPORTED);
}

const struct hx_static_service hx_user_services[] = {
    {FASTRPC_HANDLE_REMOTECTL, remotectl},
    {FASTRPC_HANDLE_KERNEL, kernel},
    {FASTRPC_HANDLE_LISTENER, listener},
    {FASTRPC_HANDLE_CURRENT_PROCESS, current_process1},
    {FASTRPC_HANDLE_ADSPMSGD1, adspmsgd1},
    {FASTRPC_HANDLE_LISTENER1, listener1},
    {FASTRPC_HANDLE_REMOTECTL1, remotectl1},
};
const size_t hx_n_user_services = sizeof(hx_user_services) / sizeof(hx_user_services[0]);
