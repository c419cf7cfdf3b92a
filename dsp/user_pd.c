/* A user PD, see user_pd.h.
 *
 * The main thread reads the control socket (buffers come and go; its end is the PD's end).  Worker threads take requests:
 * whoever is woken by the bell serves the call to its end, and a thread that leaves nobody waiting starts another
 * one first, so that calls of several client threads run in parallel. */
#include "user_pd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "buffers.h"
#include "invoke.h"
#include "low_memory.h"
#include "machine.h"
#include "module.h"

enum { WORKERS_MAX = 256, STACK_BYTES = 1 << 20 };

static struct hx_dsp_channel *channel;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects idle, workers */
static int idle, workers;

/* --- services behind static handles --------------------------------------------------------------------------- */

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

/* remotectl1 (static handle 8): methods 2 open1, 3 close1. */
static int remotectl(uint32_t sc, remote_arg *pra)
{
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 2:
        return remotectl_open(sc, pra);
    case 3:
        return remotectl_close(sc, pra);
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
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    out.vaddr = (uintptr_t)hx_buffers_at(in.map, in.offset, in.length);
    if (!out.vaddr)
        return AEE_DSP(AEE_EBADPARM);
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

static const struct hx_static_service services[] = {
    {FASTRPC_HANDLE_KERNEL, kernel},
    {FASTRPC_HANDLE_REMOTECTL1, remotectl},
};

/* --- threads -------------------------------------------------------------------------------------------------- */

static void start_worker(void);

static void *worker(void *arg)
{
    struct hx_msg msg;
    struct hx_reply reply;

    (void)arg;
    for (;;) {
        int rc = hx_dsp_channel_take(channel, &msg), start;
        if (rc) {
            FARF(FATAL, "request ring: errno %d", -rc);
            _exit(1);
        }
        pthread_mutex_lock(&lock);
        start = --idle == 0 && workers < WORKERS_MAX;
        if (start) {
            idle++;
            workers++;
        }
        pthread_mutex_unlock(&lock);
        if (start)
            start_worker();
        hx_invoke_serve(channel, &msg, &reply, services, sizeof(services) / sizeof(services[0]));
        pthread_mutex_lock(&lock);
        idle++; /* before the answer, so that a client in a loop does not make us start threads */
        pthread_mutex_unlock(&lock);
        hx_dsp_channel_answer(channel, &reply);
    }
    return NULL;
}

/* The caller has counted the new thread already. */
static void start_worker(void)
{
    pthread_attr_t attr;
    pthread_t t;
    void *stack = hx_low_map(STACK_BYTES, -1);
    int rc = stack ? 0 : ENOMEM;

    pthread_attr_init(&attr);
    if (!rc)
        rc = pthread_attr_setstack(&attr, stack, STACK_BYTES);
    if (!rc)
        rc = pthread_create(&t, &attr, worker, NULL);
    pthread_attr_destroy(&attr);
    if (rc) {
        hx_low_unmap(stack, STACK_BYTES);
        FARF(ERROR, "thread %d cannot be started: errno %d", workers, rc);
        pthread_mutex_lock(&lock);
        idle--;
        workers--;
        pthread_mutex_unlock(&lock);
    } else {
        pthread_detach(t);
    }
}

_Noreturn void hx_user_pd_main(struct hx_dsp_channel *c)
{
    struct hx_ctl ctl;
    int fd[HX_PD_FDS], rc;

    channel = c;
    idle = workers = 1;
    start_worker();
    while ((rc = hx_dsp_channel_control(c, &ctl, fd)) == 1) {
        hx_buffers_apply(&ctl, fd[0]);
        for (int i = 1; i < HX_PD_FDS; i++)
            if (fd[i] >= 0)
                close(fd[i]);
    }
    /* The client is gone, or the driver; whatever still runs here must not outlive them. */
    _exit(rc ? 1 : 0);
}
