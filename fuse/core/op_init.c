/* INIT_ATTACH, INIT_ATTACH_SNS, INIT_CREATE, INIT_CREATE_STATIC: the client gets its PD.
 *
 * Attached clients live in the root (or sensors) PD.  Here each has a process of its own as well, so that
 * the root PD keeps a single thread and can always fork; but when a client of the root PD crashes, the whole DSP does. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "driver.h"
#include "hx_stage.h"

static void created(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    struct hx_session *s = ctx->session;
    struct hx_call *call = ctx->call;

    hx_stage_at("driver.create.reply");
    if (!s) /* closed, and its PD released, before this is answered: calls end in any order when the DSP dies */
        return;
    if (s->state == HX_SESSION_CREATING && !result && s->pd_died) { /* nothing would ever tell its calls */
        s->state = HX_SESSION_EXITED;
        result = (int)AEE_DSP(AEE_ECPUEXCEPTION);
    }
    if (s->state == HX_SESSION_CREATING)
        s->state = result ? HX_SESSION_NEW : HX_SESSION_UP;
    if (reply && result && s->state == HX_SESSION_NEW)
        hx_session_drop_channel(s);
    if (call)
        hx_call_finish(call, result);
}

/* A non-secure node serves unsigned PDs only: the CDSP is a secure channel. */
static int check_rejected(const struct hx_session *s, bool unsigned_pd)
{
    if (s->secure_node || unsigned_pd)
        return 0;
    hx_log_client("client %d: a signed PD needs the node fastrpc-cdsp-secure", s->client_id);
    return -ECONNREFUSED;
}

/* The client has a PD, or had one.  The driver does not look: the root PD refuses. */
static void refused(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    (void)reply;
    if (ctx->call)
        hx_call_finish(ctx->call, result);
}

/* What the client calls itself, for its .farf file: the last part of its argv[0], as the library on a phone has it.  No
 * slashes: it becomes part of a path.  "" when it cannot be read. */
static void program_of(struct hx_call *call, char *name, size_t bytes)
{
    char path[64], text[4096] = "", *slash;
    int fd, n, rc;

    *name = '\0';
    snprintf(path, sizeof(path), "/proc/%d/cmdline", call->session->pid);
    fd = call->session->pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    /* the kernel waits for the client's mmap_lock, which a thread of it may hold for ever */
    rc = hx_call_enter_client(call);
    n = rc ? 0 : (int)read(fd, text, sizeof(text) - 1);
    close(fd); /* before leaving, from where a thread that hung does not come back */
    if (!rc)
        hx_call_leave_client();
    text[n > 0 ? n : 0] = '\0';
    slash = strrchr(text, '/');
    snprintf(name, bytes, "%.*s", (int)bytes - 1, slash ? slash + 1 : text);
}

static int ask_root_pd(struct hx_call *call, unsigned method, const struct hx_kcreate *in,
                       void (*done)(struct hx_context *, const struct hx_reply *, int))
{
    struct hx_session *s = call->session;
    int rc = hx_kernel_call(s->driver, &s->driver->dsp.channel, s, call, FASTRPC_HANDLE_KERNEL, method, in, sizeof(*in), 0, done);

    hx_stage_at("driver.create.sent");
    return rc;
}

static int make_first_pd(struct hx_call *call, unsigned pd, unsigned method, const struct hx_kcreate *in)
{
    struct hx_session *s = call->session;
    int rc = s->channel.rings ? 0 : hx_session_make_channel(s);

    if (rc)
        return rc;
    s->pd = pd;
    s->unsigned_pd = in->attrs & FASTRPC_MODE_UNSIGNED_MODULE;
    s->state = HX_SESSION_CREATING;
    rc = ask_root_pd(call, method, in, created);
    if (rc)
        s->state = HX_SESSION_NEW;
    return rc;
}

/* Finishes the call now when rc says so, else when the root PD has answered. */
static void make_pd(struct hx_call *call, int rc, unsigned pd, unsigned method, uint32_t attrs)
{
    struct hx_session *s = call->session;
    struct hx_kcreate in = {.client_id = s->client_id, .attrs = attrs};

    hx_stage_at("driver.create.taken");
    program_of(call, in.program, sizeof(in.program));
    if (!rc && s->state == HX_SESSION_DEAD)
        rc = -EPIPE;
    /* before the root PD hears of the session: its end would need a context as well, and until then it would take up a place */
    if (!rc && !hx_context_is_free(s->driver))
        rc = -ENOSPC;
    if (!rc)
        rc = s->state == HX_SESSION_NEW ? make_first_pd(call, pd, method, &in) : ask_root_pd(call, method, &in, refused);
    if (rc)
        hx_call_finish(call, rc);
}

void hx_op_init_attach(struct hx_call *call)
{
    const struct hx_session *s = call->session;
    bool barred = hx_blame_bars(&s->driver->blame, HX_BLAME_CRASH, s->uid);

    if (barred)
        hx_log_client("client %d: user %u has crashed the root PD too often to attach to it now", s->client_id,
                      (unsigned)s->uid);
    make_pd(call, barred ? -ECONNREFUSED : 0, HX_PD_ROOT, FASTRPC_RMID_ATTACH, 0);
}

void hx_op_init_attach_sns(struct hx_call *call)
{
    make_pd(call, 0, HX_PD_SENSORS, FASTRPC_RMID_ATTACH, 0);
}

/* The shell is mapped for the DSP by its descriptor (0 = none, as everywhere) or else copied from where it is.  The
 * DSP here has a shell of its own, so it is enough that there is one. */
static int check_shell(struct hx_call *call)
{
    const struct fastrpc_init_create *in = &call->arg.create;
    uint8_t chunk[4096];

    if (in->filelen && in->filefd)
        return hx_buffer_check(call, in->filefd, in->filelen);
    for (uint32_t at = 0, n; at < in->filelen; at += n) {
        n = in->filelen - at < sizeof(chunk) ? in->filelen - at : sizeof(chunk);
        if (call->front->read(call, chunk, in->file + at, n))
            return -EFAULT;
    }
    return 0;
}

void hx_op_init_create(struct hx_call *call)
{
    const struct fastrpc_init_create *in = &call->arg.create;
    bool unsigned_pd = in->attrs & FASTRPC_MODE_UNSIGNED_MODULE;
    int rc = check_rejected(call->session, unsigned_pd);

    if (!rc && in->filelen > FASTRPC_INIT_FILELEN_MAX) {
        hx_log_client("client %d: INIT_CREATE filelen %u, at most %d", call->session->client_id,
               in->filelen, FASTRPC_INIT_FILELEN_MAX);
        rc = -EINVAL;
    }
    if (!rc)
        rc = check_shell(call);
    make_pd(call, rc, HX_PD_USER, in->attrs ? FASTRPC_RMID_CREATE_ATTR : FASTRPC_RMID_CREATE,
            in->attrs);
}

void hx_op_init_create_static(struct hx_call *call)
{
    const struct fastrpc_init_create_static *in = &call->arg.create_static;
    char name[FASTRPC_NAMELEN_MAX];
    int rc = 0;

    if (in->namelen > FASTRPC_NAMELEN_MAX) {
        hx_log_client("client %d: INIT_CREATE_STATIC namelen %u, at most %d", call->session->client_id,
               in->namelen, FASTRPC_NAMELEN_MAX);
        rc = -EINVAL;
    }
    if (!rc && call->front->read(call, name, in->name, in->namelen))
        rc = -EFAULT;
    make_pd(call, rc, HX_PD_USER, FASTRPC_RMID_CREATE_STATIC, 0);
}
