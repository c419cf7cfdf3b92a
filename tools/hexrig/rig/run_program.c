/* Runs a program as a shell would: signals, exit status, and with seccomp the system calls that are answered for it. */
#include "run_program.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "seccomp_notify.h"

/* What the child says before it becomes the program; after that the socket just closes. */
enum step { WATCHED, WATCH_FAILED, EXEC_FAILED };
struct report {
    enum step step;
    int error; /* negative errno */
};

struct run {
    const struct hx_program *p;
    sigset_t caught, before; /* signals that we read from `signals`; the mask that the program gets */
    int signals;             /* signalfd */
    int report[2];           /* child writes [1] */
    int listener;            /* -1: none, or no process is left under the filter */
    pid_t pid;
    int ended, status; /* of the program, as wait() gives it */
};

/* --- the child -------------------------------------------------------------------------------------------------- */

/* A report, and the listener with it. */
static void say(int to, struct report r, int fd)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {.room = {0}};
    struct iovec iov = {&r, sizeof(r)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    if (fd >= 0) {
        struct cmsghdr *c = &control.align;

        m.msg_control = control.room;
        m.msg_controllen = sizeof(control.room);
        *c = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    }
    if (sendmsg(to, &m, MSG_NOSIGNAL) < 0) {
        if (errno != EPIPE) /* with our parent gone there is nobody to be told */
            hx_cmd_fail("run-with", "cannot report to hexrig: %s", strerror(errno));
        _exit(1);
    }
}

static _Noreturn void child(struct run *r, pid_t parent)
{
    int listener;

    /* However hexrig ends, the program must not stay: its system calls would not be answered. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    /* The rig reads the arguments of calls from the program's memory.  Where Yama lets only ancestors do that, the program has
     * to allow it; elsewhere this fails and is not needed. */
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    sigprocmask(SIG_SETMASK, &r->before, NULL);
    if (r->p->watch) {
        listener = hx_seccomp_watch();
        say(r->report[1], (struct report){listener < 0 ? WATCH_FAILED : WATCHED, listener}, listener);
        if (listener < 0)
            _exit(1);
    }
    execvp(r->p->argv[0], r->p->argv);
    say(r->report[1], (struct report){EXEC_FAILED, -errno}, -1);
    _exit(127);
}

/* --- the parent ------------------------------------------------------------------------------------------------- */

/* 1: a report, *fd as it came or -1.  0: the child has become the program, or has ended. */
static int hear(int from, struct report *r, int *fd)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {.room = {0}};
    struct iovec iov = {r, sizeof(*r)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room,
                       .msg_controllen = sizeof(control.room)};
    struct cmsghdr *c;
    ssize_t n;

    while ((n = recvmsg(from, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    c = CMSG_FIRSTHDR(&m);
    *fd = -1;
    if (n > 0 && c && c->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(c), sizeof(*fd));
    return n < 0 ? -errno : n == sizeof(*r);
}

static int watch_failed(int error)
{
    if (error == -EBUSY)
        return hx_cmd_fail("run-with", "another program answers system calls here already (hexrig run-with inside "
                           "hexrig run-with?); try --preload");
    return hx_cmd_fail("run-with", "seccomp: %s%s; try --preload", strerror(-error),
                       error == -ENOTSUP ? " (needs Linux 5.14)" : "");
}

/* Until the child is the program.  HX_EXIT_OK, or how it failed. */
static int begin(struct run *r)
{
    struct report rep;
    int fd, heard, rc = HX_EXIT_OK;

    while ((heard = hear(r->report[0], &rep, &fd)) > 0) {
        if (rep.step == WATCHED) {
            r->listener = fd;
        } else if (rep.step == WATCH_FAILED) {
            rc = watch_failed(rep.error);
        } else {
            rc = rep.error == -ENOENT ? 127 : 126;
            hx_cmd_fail("run-with", "%s: %s", r->p->argv[0], strerror(-rep.error));
        }
    }
    if (heard < 0 && rc == HX_EXIT_OK) {
        kill(r->pid, SIGKILL); /* nobody would answer its system calls, or know that */
        rc = hx_cmd_fail("run-with", "%s does not start: %s", r->p->argv[0], strerror(-heard));
    }
    return rc;
}

/* Takes in every child that has ended: the program, and orphans that it left to us. */
static void reap(struct run *r)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == r->pid) {
            r->ended = 1;
            r->status = status;
        }
}

/* Returns 1 when we are told to end and the program, which would be told, has ended. */
static int take_signal(struct run *r)
{
    struct signalfd_siginfo s;

    if (read(r->signals, &s, sizeof(s)) != sizeof(s))
        return 0;
    if (s.ssi_signo == SIGCHLD)
        reap(r);
    else if (r->ended)
        return 1;
    else if (s.ssi_code != SI_KERNEL) /* a terminal tells the program itself, too */
        kill(r->pid, (int)s.ssi_signo);
    return 0;
}

static int is_done(const struct run *r)
{
    return r->ended && r->listener < 0;
}

static void serve(struct run *r)
{
    while (!is_done(r)) {
        struct pollfd p[] = {{.fd = r->signals, .events = POLLIN}, {.fd = r->listener, .events = POLLIN}};

        if (poll(p, 2, -1) < 0)
            continue; /* stopped and continued */
        if (p[1].revents & POLLIN) {
            hx_seccomp_serve(r->listener, r->p->device);
        } else if (p[1].revents) { /* the last process under the filter has ended */
            close(r->listener);
            r->listener = -1;
        }
        if ((p[0].revents & POLLIN) && take_signal(r))
            return;
    }
}

static int run_child(struct run *r)
{
    pid_t me = getpid();
    int rc;

    r->pid = fork();
    if (r->pid < 0)
        return hx_cmd_fail("run-with", "fork: %s", strerror(errno));
    if (r->pid == 0)
        child(r, me);
    close(r->report[1]);
    r->report[1] = -1;
    rc = begin(r);
    serve(r);
    if (rc != HX_EXIT_OK)
        return rc;
    return WIFSIGNALED(r->status) ? 128 + WTERMSIG(r->status) : WEXITSTATUS(r->status);
}

static int prepare(struct run *r)
{
    static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};

    sigemptyset(&r->caught);
    sigaddset(&r->caught, SIGCHLD);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
        sigaddset(&r->caught, forwarded[i]);
    sigprocmask(SIG_BLOCK, &r->caught, &r->before);
    r->signals = signalfd(-1, &r->caught, SFD_CLOEXEC | SFD_NONBLOCK);
    if (r->signals < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, r->report))
        return hx_cmd_fail("run-with", "%s", strerror(errno));
    return HX_EXIT_OK;
}

int hx_program_run(const struct hx_program *p)
{
    struct run r = {.p = p, .signals = -1, .report = {-1, -1}, .listener = -1};
    int fds[4], rc = prepare(&r);

    if (rc == HX_EXIT_OK)
        rc = run_child(&r);
    memcpy(fds, (int[]){r.signals, r.report[0], r.report[1], r.listener}, sizeof(fds));
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return rc;
}
