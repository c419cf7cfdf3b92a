/* The services that a user PD offers behind static handles.  Method numbers: the public interfaces
 * of the same names. */
#include "services.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "buffers.h"
#include "hx_msg.h"
#include "hx_stage.h"
#include "module.h"

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
    if (out.error)
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects exiting */
static pthread_cond_t exits = PTHREAD_COND_INITIALIZER;
static int exiting; /* the client has said goodbye */

/* The reverse-RPC long poll: the client lends a thread for the DSP to call back with.  This DSP has nothing to ask, so
 * the thread stays here until the PD exits, and leaves with the code that ends the client's loop. */
static int wait_for_exit(void)
{
    pthread_mutex_lock(&lock);
    while (!exiting)
        pthread_cond_wait(&exits, &lock);
    pthread_mutex_unlock(&lock);
    return AEE_DSP(AEE_EBADSTATE);
}

/* adsp_listener1 (static handle 7): 5 init2, 6 next2. */
static int listener1(uint32_t sc, remote_arg *pra)
{
    (void)pra;
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 5:
        return AEE_SUCCESS;
    case 6:
        return wait_for_exit();
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}

/* adsp_listener (static handle 3), the older form: 3 init2, 4 next2. */
static int listener(uint32_t sc, remote_arg *pra)
{
    (void)pra;
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 3:
        return AEE_SUCCESS;
    case 4:
        return wait_for_exit();
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}

static int exit_process(void)
{
    pthread_mutex_lock(&lock);
    exiting = 1;
    pthread_cond_broadcast(&exits);
    pthread_mutex_unlock(&lock);
    return AEE_SUCCESS;
}

/* adsp_current_process1 (static handle 4): 2 exit, 3 thread_exit, 7 exception; 6 setQoS, 9 poll_mode and 10
 * enable_notifications change nothing that this DSP models. */
static int current_process1(uint32_t sc, remote_arg *pra)
{
    (void)pra;
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 2:
        return exit_process();
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
    {FASTRPC_HANDLE_LISTENER1, listener1},
    {FASTRPC_HANDLE_REMOTECTL1, remotectl1},
};
const size_t hx_n_user_services = sizeof(hx_user_services) / sizeof(hx_user_services[0]);
