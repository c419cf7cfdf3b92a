/* Starting, ending and restarting the DSP process. */
#include "dsp_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own_folder.h"
#include "driver.h"
#include "hx_stage.h"

enum { END_MS = 2000, QUICK_MS = 2000, QUICK_DEATHS_MAX = 5 };
/* Until the next attempt: after so many quick deaths, and after a start that failed, from the first to the last. */
enum { REST_MS = 30000, BACKOFF_MS = 100, BACKOFF_MAX_MS = 10000 };
/* How long the nodes are away in a subsystem restart (assumed; a phone reloads its firmware meanwhile). */
enum { DOWN_MS = 100 };
enum { DSP_SLICE_NS = 500000 }; /* default slices are 0.7 ms and more */

void hx_dsp_configure(struct hx_dsp_process *p, const char *profile,
                      void (*gone)(struct hx_driver *d))
{
    const char *dsp = getenv("DSP_LIBRARY_PATH"), *adsp = getenv("ADSP_LIBRARY_PATH");
    char own[2048];

    p->gone = gone;
    hx_own_folder(own, sizeof(own));
    snprintf(p->program, sizeof(p->program), "%s/hexrig-dsp", own);
    snprintf(p->profile, sizeof(p->profile), "%s", profile);
    snprintf(p->skel_path, sizeof(p->skel_path), "%.2500s%s%.2500s%s%s/../../lib", dsp ? dsp : "",
             dsp && *dsp ? ":" : "", adsp ? adsp : "", adsp && *adsp ? ":" : "", own);
}

/* On a core that they share with us, threads of the DSP are to run as soon as we wake them and to answer before we sleep: a
 * shorter slice than ours has that effect, for all threads and PDs.  Kernels before 6.12 ignore it. */
static void run_before_us(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice_ns, deadline, period;
    } attr = {.size = sizeof(attr), .flags = SCHED_FLAG_KEEP_POLICY,
              .nice = getpriority(PRIO_PROCESS, 0), .slice_ns = DSP_SLICE_NS};

    syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* glibc keeps what a thread has freed for that thread, so where a skel's memory lies, and with it the figures of the
 * cost model, would depend on which of a PD's threads happened to serve a call. */
static void share_freed_memory(void)
{
    static const char off[] = "glibc.malloc.tcache_count=0";
    const char *old = getenv("GLIBC_TUNABLES");
    char text[512];

    if (!old || !*old)
        setenv("GLIBC_TUNABLES", off, 1);
    else if (snprintf(text, sizeof(text), "%s:%s", old, off) < (int)sizeof(text))
        setenv("GLIBC_TUNABLES", text, 1);
}

/* The DSP gets neither the log's descriptor nor the terminal's, or does not start. */
static void take_streams(int log)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) {
        hx_log("no streams for the DSP: %s", strerror(errno));
        _exit(127);
    }
}

static _Noreturn void exec_dsp(const struct hx_dsp_process *p, const int *fd, int vtcm_fd)
{
    char list[80], table[16];
    sigset_t none;

    snprintf(list, sizeof(list), "%d,%d,%d,%d,%d", fd[0], fd[1], fd[2], fd[3], fd[4]);
    snprintf(table, sizeof(table), "%d", vtcm_fd);
    for (int i = 0; i < HX_FD_LOG; i++)
        fcntl(fd[i], F_SETFD, 0);
    fcntl(vtcm_fd, F_SETFD, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    run_before_us();
    share_freed_memory();
    take_streams(fd[HX_FD_LOG]);
    execl(p->program, "hexrig-dsp", "--channel", list, "--profile", p->profile, "--skel-path",
          p->skel_path, "--vtcm-table", table, (char *)NULL);
    hx_log("%s: %s", p->program, strerror(errno));
    _exit(127);
}

static void replies_ready(void *arg)
{
    struct hx_driver *d = arg;

    hx_context_replies(d, &d->dsp.channel, HX_RING_SLOTS);
}

/* The root PD ends by itself when its control socket closes, once its user PDs have; if that takes too long, it is killed. */
static void wait_for_end(pid_t pid, int ctl)
{
    uint64_t until = hx_now_ms() + END_MS;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    shutdown(ctl, SHUT_RDWR);
    while (pidfd >= 0 && hx_now_ms() < until)
        if (poll(&p, 1, (int)(until - hx_now_ms())) > 0)
            break;
    if (pidfd >= 0)
        close(pidfd);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void tear_down(struct hx_driver *d)
{
    struct hx_dsp_process *p = &d->dsp;

    wait_for_end(p->pid, p->channel.ctl);
    p->pid = 0;
    p->failed = false;
    hx_loop_del(&d->loop, &p->replies.bell);
    hx_loop_del(&d->loop, &p->control);
    p->gone(d);
    hx_context_abort(d, &p->channel, -EPIPE); /* ends the sessions that were closing, too */
    hx_channel_close(&p->channel);
}

/* The root PD is gone: everything it ran is gone with it.  It is restarted a little later, so that clients see the nodes
 * vanish as they do on a phone. */
static void ssr(struct hx_driver *d)
{
    struct hx_dsp_process *p = &d->dsp;
    bool quick = hx_now_ms() - p->started_ms < QUICK_MS;
    pid_t pid = p->pid;

    tear_down(d);
    d->have_capabilities = false;
    if (!p->charged)
        p->quick_deaths = quick ? p->quick_deaths + 1 : 0;
    p->charged = false;
    p->why[0] = '\0';
    if (p->quick_deaths >= QUICK_DEATHS_MAX) {
        snprintf(p->why, sizeof(p->why), "it died %u times in a row within %d ms of its start; next attempt after %d s",
                 p->quick_deaths, QUICK_MS, REST_MS / 1000);
        hx_log("the DSP stays down: %s", p->why);
        p->restart_ms = hx_now_ms() + REST_MS;
        return;
    }
    p->restart_ms = hx_now_ms() + DOWN_MS;
    hx_log("the DSP (pid %d) died; subsystem restart %u", pid, p->restarts + 1);
}

/* What prevents a start may pass: descriptors or memory that somebody else holds. */
static void start_later(struct hx_dsp_process *p, int error)
{
    unsigned ms = p->backoff_ms ? 2 * p->backoff_ms : BACKOFF_MS;

    if (p->backoff_ms < BACKOFF_MAX_MS) /* the log gets a line per step, not per attempt */
        hx_log("the DSP cannot be started: %s; it is tried again", strerror(error));
    p->backoff_ms = ms < BACKOFF_MAX_MS ? ms : BACKOFF_MAX_MS;
    p->restart_ms = hx_now_ms() + p->backoff_ms;
    snprintf(p->why, sizeof(p->why), "it cannot be started: %s; next attempt after %u ms", strerror(error),
             p->backoff_ms);
}

void hx_dsp_revive(struct hx_driver *d)
{
    struct hx_dsp_process *p = &d->dsp;
    int rc;

    if (p->failed && p->pid)
        ssr(d);
    if (!p->restart_ms || hx_now_ms() < p->restart_ms)
        return;
    rc = hx_dsp_start(d);
    if (rc) {
        start_later(p, -rc);
        return;
    }
    if (p->backoff_ms)
        hx_log("the DSP is started after all");
    p->restart_ms = p->backoff_ms = 0;
    p->restarts++;
}

static void control_ready(void *arg)
{
    struct hx_driver *d = arg;
    struct hx_ctl ctl;
    ssize_t n = recv(d->dsp.channel.ctl, &ctl, sizeof(ctl), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        ssr(d);
    else if (n == (ssize_t)sizeof(ctl) && ctl.op == HX_CTL_PONG)
        hx_dsp_alive_pong(d, ctl.size);
    else if (n == (ssize_t)sizeof(ctl) && ctl.op == HX_CTL_EXIT && !hx_session_pd_ended(d, ctl.id, ctl.seq))
        hx_log_client("user PD of client %d ended, wait status 0x%llx", ctl.id,
               (unsigned long long)ctl.size);
}

struct launch {
    struct hx_dsp_process *p;
    const int *fd;
    int vtcm_fd;
    pid_t pid;
    int error; /* of fork(), which runs in another thread */
};

static void fork_dsp(void *arg)
{
    struct launch *l = arg;

    l->pid = fork();
    if (l->pid == 0)
        exec_dsp(l->p, l->fd, l->vtcm_fd);
    l->error = errno;
}

int hx_dsp_start(struct hx_driver *d)
{
    struct hx_dsp_process *p = &d->dsp;
    int fd[HX_PD_FDS], vtcm_fd, rc = hx_vtcm_view_make(&d->vtcm, &vtcm_fd);
    struct launch l = {.p = p, .fd = fd};

    if (rc)
        return rc;
    rc = hx_channel_create(&p->channel, &d->loop, 0, fd);
    if (rc) {
        close(vtcm_fd);
        return rc;
    }
    p->channel.rings_bell = true;
    l.vtcm_fd = vtcm_fd;
    hx_watchdog_on_main(fork_dsp, &l);
    hx_stage_at("driver.dsp.forked");
    rc = l.pid < 0 ? -l.error : 0;
    close(vtcm_fd);
    for (int i = 0; i < HX_PD_FDS; i++)
        close(fd[i]);
    p->replies = (struct hx_ring_watch){.bell = {p->channel.rep_bell, replies_ready, d},
                                        .ring = &p->channel.rings->reply,
                                        .expected = &p->channel.in_flight};
    p->control = (struct hx_watch){p->channel.ctl, control_ready, d};
    if (!rc)
        rc = hx_loop_add_ring(&d->loop, &p->replies);
    if (!rc)
        rc = hx_loop_add(&d->loop, &p->control);
    if (rc) {
        if (l.pid > 0) {
            kill(l.pid, SIGKILL);
            waitpid(l.pid, NULL, 0);
        }
        hx_loop_del(&d->loop, &p->replies.bell);
        hx_channel_close(&p->channel);
        return rc;
    }
    p->pid = l.pid;
    p->started_ms = hx_now_ms();
    hx_dsp_alive_begin(&p->alive);
    return rc;
}

void hx_dsp_reap_orphans(const struct hx_dsp_process *p)
{
    siginfo_t info = {0};

    /* Peeks before it reaps, because the DSP's own end is noticed by its control socket. */
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
           info.si_pid != p->pid) {
        waitpid(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
}

void hx_dsp_stop(struct hx_driver *d)
{
    if (d->dsp.pid)
        tear_down(d);
}
