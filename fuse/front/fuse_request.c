/* Ioctls that came through libfuse: unpacked, served, interrupted and answered. */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/closer.h"
#include "client_memory.h"
#include "core/driver.h"
#include "fuse_request.h"
#include "hx_reach.h"

struct fuse_call {
    struct hx_call call;
    struct hx_front_ops ops;
    fuse_req_t req;
    bool signalled; /* FUSE_INTERRUPT came */
    struct fuse_call *next, **prev;
};

static struct fuse_call *under_way;
static bool some_signalled;

/* The client's errno does not show this, so the log does, once per session.  Returns rc. */
static int explain(struct hx_call *call, int rc)
{
    struct hx_session *s = call->session;

    if ((rc != -EPERM && rc != -EACCES) || s->unreachable_logged)
        return rc;
    s->unreachable_logged = true;
    hx_log_client("client %d: process %d does not let the rig (pid %d) read its memory or take its "
           "descriptors (%s): it is not dumpable, or Yama's ptrace_scope is 1 or more; hexrig's "
           "libcdsprpc.so then uses the sockets in %s by itself, a program with ioctls of its own "
           "needs prctl(PR_SET_DUMPABLE, 1) or prctl(PR_SET_PTRACER, %d), or a rig of root's",
           s->client_id, s->pid, getpid(), strerror(-rc),
           s->driver->sockets ? s->driver->sockets : "(none)", getpid());
    return rc;
}

static int move(struct hx_call *call, const struct hx_piece *p, unsigned n,
                int (*pieces)(pid_t, const struct hx_piece *, unsigned))
{
    pid_t tid = call->tid; /* while inside, the call may be ended at any time */
    int rc = hx_call_enter_client(call);

    if (rc)
        return rc;
    rc = pieces(tid, p, n);
    hx_call_leave_client();
    return explain(call, rc);
}

static int read_client(struct hx_call *call, void *dst, uint64_t addr, uint64_t len)
{
    return move(call, &(struct hx_piece){dst, addr, len}, 1, hx_client_read_pieces);
}

static int write_client(struct hx_call *call, uint64_t addr, const void *src, uint64_t len)
{
    return move(call, &(struct hx_piece){(void *)(uintptr_t)src, addr, len}, 1,
                hx_client_write_pieces);
}

static int fd_of_client(struct hx_call *call, int fd)
{
    return explain(call, hx_client_fd(call->tid, fd));
}

static int read_pieces(struct hx_call *call, const struct hx_piece *p, unsigned n)
{
    return move(call, p, n, hx_client_read_pieces);
}

static int write_pieces(struct hx_call *call, const struct hx_piece *p, unsigned n)
{
    return move(call, p, n, hx_client_write_pieces);
}

static bool same_file(struct hx_call *call, int fd, int own)
{
    return hx_client_same_file(call->tid, fd, own);
}

static int locate_in_client(struct hx_call *call, int fd, uint64_t inode, uint64_t addr, uint64_t *offset)
{
    pid_t tid = call->tid;
    uint64_t at;
    int rc = hx_call_enter_client(call);

    (void)fd;
    if (rc)
        return rc;
    rc = hx_client_locate(tid, inode, addr, &at);
    hx_call_leave_client();
    if (!rc)
        *offset = at;
    return rc;
}

static void finish(struct hx_call *call, int result)
{
    struct fuse_call *fc = call->request;
    /* INVOKE changes nothing in its struct: what does not go back need not be copied */
    bool out = (_IOC_DIR(call->cmd) & _IOC_READ) && result == 0 &&
               call->cmd != FASTRPC_IOCTL_INVOKE;

    fuse_req_interrupt_func(fc->req, NULL, NULL);
    /* A negative ioctl result below -4095 reaches the caller as it is; -1..-4095 become its errno. */
    fuse_reply_ioctl(fc->req, result, out ? call->arg.bytes : NULL, out ? call->arg_bytes : 0);
    *fc->prev = fc->next;
    if (fc->next)
        fc->next->prev = fc->prev;
    free(fc);
}

/* Only notes it: libfuse calls this while it holds locks of its own. */
static void interrupted(fuse_req_t req, void *data)
{
    struct fuse_call *fc = data;

    (void)req;
    fc->signalled = true;
    some_signalled = true;
}

static void enlist(struct fuse_call *fc)
{
    fc->next = under_way;
    fc->prev = &under_way;
    if (under_way)
        under_way->prev = &fc->next;
    under_way = fc;
}

void hx_fuse_request_begin(struct fuse_req *req, const char *front_name, struct hx_session *session,
                           uint32_t cmd, const void *in, size_t in_bytes, size_t bytes)
{
    struct fuse_call *fc;

    if (bytes > sizeof(fc->call.arg) || in_bytes > bytes) {
        fuse_reply_err(req, ENOTTY);
        return;
    }
    fc = calloc(1, sizeof(*fc));
    if (!fc) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    fc->req = req;
    fc->ops = (struct hx_front_ops){front_name, read_client, write_client, fd_of_client,
                                    locate_in_client, finish, read_pieces, write_pieces,
                                    same_file, true};
    fc->call = (struct hx_call){
        .driver = session->driver, .session = session, .front = &fc->ops, .request = fc,
        .tid = fuse_req_ctx(req)->pid, .thread = (uint32_t)fuse_req_ctx(req)->pid, .cmd = cmd, .arg_bytes = bytes,
    };
    if (in_bytes)
        memcpy(fc->call.arg.bytes, in, in_bytes);
    enlist(fc);
    fuse_req_interrupt_func(req, interrupted, fc);
    hx_call_begin(&fc->call);
}

/* Nothing has to be kept: the thread that hangs reads to its own stack. */
static void give_up_reach(void *arg, struct hx_watchdog *stall)
{
    struct fuse_req *req = arg;
    struct hx_driver *d = fuse_req_userdata(req);

    hx_blame_hang(&d->blame, stall->uid);
    fuse_reply_err(req, EFAULT);
}

void hx_fuse_request_reach(struct fuse_req *req, const void *in)
{
    const struct hx_driver *d = fuse_req_userdata(req);
    const pid_t caller = fuse_req_ctx(req)->pid;
    const uid_t uid = hx_client_user(caller, fuse_req_ctx(req)->uid);
    uint64_t bytes;
    struct hx_reach r;
    int fd;

    if (!hx_blame_may_touch(&d->blame, uid)) {
        fuse_reply_err(req, EFAULT);
        return;
    }
    memcpy(&r, in, sizeof(r));
    hx_watchdog_enter(uid, give_up_reach, req);
    r.memory = hx_client_read(caller, &bytes, r.addr, sizeof(bytes));
    hx_watchdog_leave();
    fd = hx_closer_may_take(uid) ? hx_client_fd(caller, r.fd) : -EBUSY;
    r.descriptor = fd < 0 ? fd : 0;
    if (fd >= 0)
        hx_close_later(uid, &fd, 1);
    r.rig_pid = getpid();
    r.caller_pid = caller ? hx_client_process(caller) : 0;
    fuse_reply_ioctl(req, 0, &r, sizeof(r));
}

void hx_fuse_request_interrupts(void)
{
    struct fuse_call *next;

    if (!some_signalled)
        return;
    some_signalled = false;
    for (struct fuse_call *fc = under_way; fc; fc = next) {
        next = fc->next;
        if (fc->signalled)
            hx_call_interrupt(&fc->call);
    }
}

void hx_fuse_request_end_all(void)
{
    while (under_way)
        hx_call_finish(&under_way->call, -EPIPE);
}
