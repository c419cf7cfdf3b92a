/* INIT_CREATE: the client gets its user PD. */
#include <errno.h>

#include "driver.h"

static void created(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    struct hx_session *s = ctx->session;
    struct hx_call *call = ctx->call;

    (void)reply;
    if (s->state == HX_SESSION_CREATING)
        s->state = result ? HX_SESSION_NEW : HX_SESSION_UP;
    if (call)
        hx_call_finish(call, result);
}

/* A non-secure node serves unsigned PDs only; the CDSP is a secure channel. */
static int check(const struct hx_call *call)
{
    const struct fastrpc_init_create *in = &call->arg.create;

    if (!call->session->secure_node && !(in->attrs & FASTRPC_MODE_UNSIGNED_MODULE)) {
        hx_log("client %d: a signed PD needs the node fastrpc-cdsp-secure",
               call->session->client_id);
        return -ECONNREFUSED;
    }
    if (in->filelen > FASTRPC_INIT_FILELEN_MAX) {
        hx_log("client %d: INIT_CREATE filelen %u, at most %d", call->session->client_id, in->filelen,
               FASTRPC_INIT_FILELEN_MAX);
        return -EINVAL;
    }
    if (call->session->state == HX_SESSION_DEAD)
        return -EPIPE;
    return call->session->state == HX_SESSION_NEW ? 0 : -EINVAL;
}

void hx_op_init_create(struct hx_call *call)
{
    struct hx_session *s = call->session;
    struct hx_kcreate in = {.client_id = s->client_id, .attrs = call->arg.create.attrs};
    unsigned method = in.attrs ? FASTRPC_RMID_CREATE_ATTR : FASTRPC_RMID_CREATE;
    int rc = check(call);

    if (!rc && !s->channel.rings)
        rc = hx_session_make_channel(s);
    if (!rc) {
        s->unsigned_pd = in.attrs & FASTRPC_MODE_UNSIGNED_MODULE;
        s->state = HX_SESSION_CREATING;
        rc = hx_kernel_call(s->driver, &s->driver->dsp.channel, s, call, FASTRPC_HANDLE_KERNEL,
                            method, &in, sizeof(in), 0, created);
        if (rc)
            s->state = HX_SESSION_NEW;
    }
    if (rc)
        hx_call_finish(call, rc);
}
