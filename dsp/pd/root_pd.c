/* The root PD's loop.  One thread: it forks, and a forked child must find every lock free.  It does not wait for others: the
 * driver takes a root PD that does not answer its pings for a dead one (fuse/core/dsp_alive.h); a PD that is being killed gets
 * a moment. */
#include "root_pd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "buffers.h"
#include "base/farf.h"
#include "hx_stage.h"
#include "invoke.h"
#include "base/machine.h"
#include "machine/vtcm.h"
#include "module.h"
#include "reverse/host_calls.h"
#include "sandbox.h"
#include "user_pd.h"

enum { CLIENTS_MAX = 64, END_MS = 300 };

/* One user PD, or the channel that waits for its RMID_CREATE. */
struct client {
    int32_t id;        /* 0 = free entry */
    uint32_t session;  /* the driver's number of it */
    pid_t pid;         /* 0 = not created yet */
    enum { RUNS, KILLED, ENDS } state; /* KILLED: by RMID_RELEASE, which waits for it; ENDS: which no longer does */
    int fd[HX_PD_FDS]; /* until the PD has taken them; -1 afterwards */
};

static struct hx_dsp_channel *channel;
static struct client clients[CLIENTS_MAX];
static int signals = -1;

static bool is_asked; /* HX_CTL_PING is not answered yet ... */
static uint64_t ping; /* ... which has this number ... */
static unsigned served_since; /* ... and so many requests were served since it came */

/* Attributes of this DSP, by index (enum remote_dsp_attributes); what is not named is 0, and VTCM and architecture are the profile's.  Of
 * HMX a device that has it was seen to tell 0, too. */
static const uint32_t capabilities[FASTRPC_MAX_DSP_ATTRIBUTES] = {
    [FASTRPC_ATTR_UNSIGNED_PD_SUPPORT] = 1,
    [FASTRPC_ATTR_HVX_SUPPORT_128B] = 4,
};

static struct client *find(int32_t id)
{
    for (int i = 0; i < CLIENTS_MAX; i++)
        if (clients[i].id == id)
            return &clients[i];
    return NULL;
}

static void close_fds(int *fd)
{
    for (int i = 0; i < HX_PD_FDS; i++) {
        if (fd[i] >= 0)
            close(fd[i]);
        fd[i] = -1;
    }
}

static void forget(struct client *cl)
{
    close_fds(cl->fd);
    cl->id = 0;
    cl->pid = 0;
    cl->state = RUNS;
}

/* --- PDs that end ---------------------------------------------------------------------------------------------- */

static void tell_driver(const struct hx_ctl *ctl)
{
    if (send(channel->fd[HX_FD_CTL], ctl, sizeof(*ctl), MSG_NOSIGNAL) < 0)
        FARF(ERROR, "control socket: %s", strerror(errno));
}

/* A PD ended, by itself or long after it was released: the driver waits for the latter. */
static void report_exit(const struct client *cl, int status)
{
    if (WIFSIGNALED(status) && cl->state == RUNS)
        FARF(ERROR, "user PD of client %d (pid %d) died: %s", cl->id, cl->pid,
             strsignal(WTERMSIG(status)));
    tell_driver(&(struct hx_ctl){.op = HX_CTL_EXIT, .seq = cl->session, .id = cl->id, .size = (uint64_t)status});
}

/* What the PD held is free again. */
static void reap_machine(int32_t id)
{
    unsigned others = 0;

    hx_machine_reap(id);
    for (int i = 0; i < CLIENTS_MAX; i++)
        others += clients[i].pid && clients[i].id != id;
    if (!others)
        hx_machine_vacate();
}

static void reap_ended(void)
{
    pid_t pid;
    int status;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < CLIENTS_MAX; i++)
            if (clients[i].id && clients[i].pid == pid) {
                reap_machine(clients[i].id);
                if (clients[i].state != KILLED)
                    report_exit(&clients[i], status);
                forget(&clients[i]);
            }
}

/* --- the kernel's calls (static handles 1 and 2) --------------------------------------------------------------- */

/* What the PD prints goes to the driver, line by line where stdio would wait for more. */
static void take_log(struct client *cl)
{
    dup2(cl->fd[HX_FD_LOG], 1);
    dup2(cl->fd[HX_FD_LOG], 2);
    close(cl->fd[HX_FD_LOG]);
    cl->fd[HX_FD_LOG] = -1;
    setvbuf(stdout, NULL, _IOLBF, 0);
}

static _Noreturn void run_child(struct client *cl, const struct hx_kcreate *in, pid_t root)
{
    struct hx_dsp_channel pd;
    sigset_t none;
    int rc;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != root) /* it died before that: no signal will come */
        _exit(1);
    prctl(PR_SET_NAME, "hexrig-pd");
    hx_stage_at("pd.started");
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    hx_pd_client = cl->id;
    take_log(cl);
    hx_buffers_seen(0); /* the new channel counts from 1 again */
    hx_dsp_channel_close(channel);
    close(signals);
    rc = hx_dsp_channel_open(&pd, cl->fd);
    for (int i = 0; i < CLIENTS_MAX; i++) /* channels that wait for their RMID_CREATE are not ours */
        if (clients[i].id && &clients[i] != cl)
            close_fds(clients[i].fd);
    if (rc) {
        FARF(FATAL, "channel: errno %d", -rc);
        _exit(1);
    }
    if (*in->program)
        hx_farf_load(hx_module_path(), in->program);
    hx_host_listens_when_asked(in->attrs & HX_MODE_LISTENS);
    rc = hx_sandbox_user_pd();
    if (rc) {
        FARF(FATAL, "sandbox: %s", strerror(-rc));
        _exit(1);
    }
    hx_stage_at("pd.sandboxed");
    hx_user_pd_main(&pd);
}

static int create(const remote_arg *pra)
{
    const pid_t root = getpid();
    struct hx_kcreate in;
    struct client *cl;

    memcpy(&in, pra[0].buf.pv, sizeof(in));
    in.program[sizeof(in.program) - 1] = '\0';
    cl = in.client_id > 0 ? find(in.client_id) : NULL;
    if (!cl || cl->pid)
        return AEE_DSP(AEE_EBADSTATE);
    hx_stage_at("root.create.taken");
    cl->pid = fork();
    if (cl->pid == 0)
        run_child(cl, &in, root);
    hx_stage_at("root.create.forked");
    close_fds(cl->fd);
    if (cl->pid < 0) {
        forget(cl);
        return AEE_DSP(AEE_ENOMEMORY);
    }
    return AEE_SUCCESS;
}

/* Sleeps until a child has ended, `ms` at most.  signalfd does not see that signal any more. */
static void wait_for_child(int ms)
{
    const struct timespec t = {0, ms * 1000000L};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigtimedwait(&set, NULL, &t);
}

/* Ends a PD.  Nearly always it is gone at once, so that the next one finds what it held; not while a debugger is attached. */
static bool end_pd(struct client *cl)
{
    hx_stage_at("root.release.taken");
    kill(cl->pid, SIGKILL);
    cl->state = KILLED;
    hx_stage_at("root.release.killed");
    for (int ms = 0; cl->pid && ms < END_MS && !is_asked; ms += 10) {
        wait_for_child(10);
        reap_ended();
    }
    if (cl->pid)
        cl->state = ENDS;
    return !cl->pid;
}

static int release(const remote_arg *pra)
{
    struct hx_kcreate in;
    struct client *cl;

    memcpy(&in, pra[0].buf.pv, sizeof(in));
    cl = in.client_id > 0 ? find(in.client_id) : NULL;
    if (!cl)
        return AEE_DSP(AEE_ENOSUCH);
    if (cl->pid && !end_pd(cl))
        return HX_RELEASE_ENDS;
    forget(cl);
    return AEE_SUCCESS;
}

static int kernel(uint32_t sc, remote_arg *pra)
{
    if (REMOTE_SCALARS_INBUFS(sc) < 1 || pra[0].buf.nLen < sizeof(struct hx_kcreate))
        return AEE_DSP(AEE_EBADPARM);
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case FASTRPC_RMID_ATTACH:
    case FASTRPC_RMID_CREATE:
    case FASTRPC_RMID_CREATE_ATTR:
    case FASTRPC_RMID_CREATE_STATIC:
        return create(pra);
    case FASTRPC_RMID_RELEASE:
        return release(pra);
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}

/* DSP utilities (static handle 2), method 0: in u32 count (255), out u32[count] = attributes 1..count. */
static int utilities(uint32_t sc, remote_arg *pra)
{
    const size_t bytes = sizeof(capabilities) - sizeof(capabilities[0]);
    uint32_t told[FASTRPC_MAX_DSP_ATTRIBUTES];

    if (!hx_machine->capabilities || sc != REMOTE_SCALARS_MAKE(0, 1, 1) || pra[1].buf.nLen > bytes)
        return AEE_DSP(AEE_EUNSUPPORTED);
    memcpy(told, capabilities, sizeof(told));
    told[FASTRPC_ATTR_ARCH_VER] = hx_arch_version();
    hx_vtcm_total(&told[FASTRPC_ATTR_VTCM_PAGE], &told[FASTRPC_ATTR_VTCM_COUNT]);
    if (pra[1].buf.nLen)
        memcpy(pra[1].buf.pv, told + 1, pra[1].buf.nLen);
    return AEE_SUCCESS;
}

static const struct hx_static_service services[] = {
    {FASTRPC_HANDLE_KERNEL, kernel},
    {FASTRPC_HANDLE_DSP_UTILITIES, utilities},
};

/* --- events --------------------------------------------------------------------------------------------------- */

static void reap_children(void)
{
    struct signalfd_siginfo info;

    if (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        reap_ended();
}

/* Keeps the descriptors of a PD to come.  1 = go on, 0 = the driver is gone. */
static int take_control(void)
{
    struct hx_ctl ctl;
    int fd[HX_PD_FDS], rc = hx_dsp_channel_control(channel, &ctl, fd);
    struct client *cl;

    if (rc != 1)
        return 0;
    hx_buffers_seen(ctl.seq);
    if (ctl.op == HX_CTL_PING) {
        is_asked = true;
        ping = ctl.size;
        served_since = 0;
        close_fds(fd);
        return 1;
    }
    cl = ctl.op == HX_CTL_PD && ctl.id > 0 && !find(ctl.id) ? find(0) : NULL;
    if (!cl) {
        FARF(ERROR, "control: op %u for client %d is not possible", ctl.op, ctl.id);
        close_fds(fd);
        return 1;
    }
    cl->id = ctl.id;
    cl->session = (uint32_t)ctl.size;
    cl->pid = 0;
    memcpy(cl->fd, fd, sizeof(cl->fd));
    return 1;
}

/* The driver sends control messages before the requests that need them, but poll() may have looked at the socket a moment too
 * early. */
static int take_waiting_control(void)
{
    struct pollfd p = {.fd = channel->fd[HX_FD_CTL], .events = POLLIN};

    while (poll(&p, 1, 0) > 0)
        if (!take_control())
            return 0;
    return 1;
}

static int take_request(void)
{
    struct hx_msg msg;
    struct hx_reply reply;
    int rc = hx_dsp_channel_take_rung(channel, &msg);

    if (rc) { /* nothing can be trusted to arrive any more: a restart makes new rings */
        FARF(FATAL, "request ring of the root PD: %s", rc == -EAGAIN ? "the bell rang for nothing" : strerror(-rc));
        return 0;
    }
    if (!take_waiting_control())
        return 0;
    served_since++;
    hx_invoke_serve(channel, &msg, &reply, services, sizeof(services) / sizeof(services[0]));
    hx_dsp_channel_answer(channel, &reply);
    hx_stage_at("root.replied");
    return 1;
}

/* More requests than can be under way at once: those that are older than the ping are among them. */
static bool can_answer(void)
{
    return is_asked && served_since >= HX_RING_SLOTS;
}

static void answer_ping(void)
{
    is_asked = false;
    tell_driver(&(struct hx_ctl){.op = HX_CTL_PONG, .id = -1, .size = ping});
}

static int watch_children(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &set, NULL))
        return -errno;
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals < 0 ? -errno : 0;
}

int hx_root_pd_main(struct hx_dsp_channel *c)
{
    channel = c;
    if (watch_children()) {
        FARF(FATAL, "signalfd: %s", strerror(errno));
        return 1;
    }
    /* Control before requests: a create finds the descriptors that were sent before it. */
    struct pollfd p[] = {{.fd = c->fd[HX_FD_CTL], .events = POLLIN},
                         {.fd = signals, .events = POLLIN},
                         {.fd = c->fd[HX_FD_REQ_BELL], .events = POLLIN}};
    for (int go = 1; go;) {
        if (poll(p, 3, is_asked ? 0 : -1) < 0 && errno != EINTR)
            return 1;
        if (p[0].revents)
            go = take_control();
        else if (p[1].revents)
            reap_children();
        else if (p[2].revents && !can_answer())
            go = take_request();
        else if (is_asked)
            answer_ping();
    }
    for (int i = 0; i < CLIENTS_MAX; i++)
        if (clients[i].pid > 0) {
            kill(clients[i].pid, SIGKILL);
            waitpid(clients[i].pid, NULL, 0);
        }
    return 0;
}
