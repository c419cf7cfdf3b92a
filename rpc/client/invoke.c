/* One call of a DSP method: the client's arguments as the driver wants them. */
#include "fastrpc_uapi.h"
#include "hx_aee.h"
#include "hx_rpcmem.h"
#include "hx_session.h"
#include "hx_stage.h"

/* What the client registered takes precedence over rpcmem_alloc()'s table: it may have registered such memory anew. */
static int shared_fd(const remote_buf *b)
{
    int fd = hx_registered_find(b->pv, b->nLen);

    return fd > 0 ? fd : hx_rpcmem_find(b->pv, b->nLen);
}

static int set_args(struct fastrpc_invoke_args *args, uint32_t sc, const remote_arg *pra)
{
    uint32_t n_bufs = REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc);
    uint32_t n = REMOTE_SCALARS_LENGTH(sc);

    for (uint32_t i = 0; i < n_bufs; i++) {
        const remote_buf *b = &pra[i].buf;

        if (b->nLen && !b->pv)
            return AEE_EBADPARM;
        args[i].ptr = (uintptr_t)b->pv;
        args[i].length = b->nLen;
        args[i].fd = b->nLen ? shared_fd(b) : -1;
        args[i].attr = 0;
    }
    for (uint32_t i = n_bufs; i < n; i++) {
        const remote_dma_handle *d = &pra[i].dma;
        uint64_t len;

        if (hx_dma_length(d->fd, &len) || d->offset >= len)
            return AEE_EBADPARM;
        args[i].ptr = d->offset;
        args[i].length = len - d->offset;
        args[i].fd = d->fd;
        args[i].attr = 0;
    }
    return AEE_SUCCESS;
}

int hx_invoke(struct hx_client_session *s, uint32_t handle, uint32_t sc, const remote_arg *pra)
{
    /* no longer than needed: the driver reads what lies close to the caller's own variables in one step with them */
    struct fastrpc_invoke_args args[REMOTE_SCALARS_LENGTH(sc) + 1];
    struct fastrpc_invoke inv = {.handle = handle, .sc = sc, .args = (uintptr_t)args};
    int rc;

    if (REMOTE_SCALARS_LENGTH(sc) && !pra)
        return AEE_EBADPARM;
    rc = set_args(args, sc, pra);
    if (rc)
        return rc;
    hx_stage_at("client.invoke.send");
    rc = hx_session_ioctl(s, FASTRPC_IOCTL_INVOKE, &inv);
    hx_stage_at("client.invoke.reply");
    return hx_aee_from_result(rc);
}
