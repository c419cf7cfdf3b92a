/* Runs a command in a process group of its own, times it, and keeps the end of its stderr. */
#include "timed_command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/report.h"

static const int interrupts[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

enum { PATIENCE_S = 10 }; /* for a command that was interrupted */

void hx_timed_begin(struct hx_timed *t)
{
    t->interrupted = 0;
    signal(SIGCHLD, SIG_DFL); /* children that are ignored leave no status */
    sigemptyset(&t->caught);
    sigaddset(&t->caught, SIGCHLD);
    for (size_t i = 0; i < sizeof(interrupts) / sizeof(interrupts[0]); i++)
        sigaddset(&t->caught, interrupts[i]);
    sigprocmask(SIG_BLOCK, &t->caught, &t->before);
}

/* Waits for a signal until `until` on the monotonic clock (< 0: for ever).  The signal, or 0. */
static int next_signal(const struct hx_timed *t, double until)
{
    const double left = until - hx_report_clock();
    const struct timespec wait = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    int sig;

    if (until >= 0 && left <= 0)
        return 0;
    sig = sigtimedwait(&t->caught, NULL, until < 0 ? NULL : &wait);
    return sig > 0 ? sig : 0; /* EAGAIN, or EINTR after SIGCONT */
}

static _Noreturn void child(const struct hx_timed *t, char *const *argv, int err, int report)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), error;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever ends hexrig itself */
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0) {
        sigprocmask(SIG_SETMASK, &t->before, NULL);
        execvp(argv[0], argv);
    }
    error = -errno;
    if (write(report, &error, sizeof(error)) < 0)
        _exit(126);
    _exit(127);
}

/* 1 once the process has ended; it stays a zombie, so that its number and its group's are nobody else's yet. */
static int has_ended(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* The command's own end, or an interrupt: then it gets the signal, too, and its group is killed behind it. */
static void wait_for(struct hx_timed *t, pid_t pid)
{
    double until = -1;

    while (!has_ended(pid)) {
        const int sig = next_signal(t, until);

        if (sig && sig != SIGCHLD && !t->interrupted) {
            t->interrupted = sig;
            until = hx_report_clock() + PATIENCE_S;
            kill(-pid, sig);
        } else if (until >= 0 && hx_report_clock() >= until) {
            kill(-pid, SIGKILL);
            until = -1;
        }
    }
    if (t->interrupted)
        kill(-pid, SIGKILL); /* what it left */
}

static void keep_stderr(int fd, char *text)
{
    const off_t end = lseek(fd, 0, SEEK_END), from = end > HX_TIMED_STDERR ? end - HX_TIMED_STDERR : 0;
    const ssize_t n = pread(fd, text, HX_TIMED_STDERR, from);

    text[n > 0 ? n : 0] = '\0';
}

/* Behind fork(): until the command has ended, or was none. */
static int follow(struct hx_timed *t, pid_t pid, int report, struct hx_timed_run *run, double start)
{
    int error = 0;
    ssize_t n;

    setpgid(pid, pid); /* as the child does: whoever is first */
    while ((n = read(report, &error, sizeof(error))) < 0 && errno == EINTR)
        ;
    wait_for(t, pid);
    run->wall_s = hx_report_clock() - start;
    while (waitpid(pid, &run->status, 0) < 0 && errno == EINTR)
        ;
    return n > 0 ? error : t->interrupted ? -EINTR : 0;
}

int hx_timed_run(struct hx_timed *t, char *const *argv, struct hx_timed_run *run)
{
    int report[2] = {-1, -1}, err = memfd_create("stderr", MFD_CLOEXEC), rc = 0;
    const double start = hx_report_clock();
    pid_t pid = -1;

    run->err[0] = '\0';
    if (err < 0 || pipe2(report, O_CLOEXEC) || (pid = fork()) < 0)
        rc = -errno;
    if (pid == 0)
        child(t, argv, err, report[1]);
    if (report[1] >= 0)
        close(report[1]);
    if (!rc) {
        rc = follow(t, pid, report[0], run, start);
        keep_stderr(err, run->err);
    }
    if (report[0] >= 0)
        close(report[0]);
    if (err >= 0)
        close(err);
    return rc;
}

int hx_timed_pause(struct hx_timed *t, double seconds)
{
    const double until = hx_report_clock() + seconds;

    while (!t->interrupted && hx_report_clock() < until) {
        const int sig = next_signal(t, until);

        if (sig && sig != SIGCHLD)
            t->interrupted = sig;
    }
    return t->interrupted ? -EINTR : 0;
}
