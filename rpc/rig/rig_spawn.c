/* Starting hexrig-fuse: found beside this library, run in a session of its own, waited for until it serves. */
#include "hx_rig_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 1024

/* Our ends of what parent and rig share while it starts; -1 = not open. */
struct spawn {
    char exe[PATH_MAX];
    const char **argv;
    char ready_text[16], life_text[16];
    int ready[2];    /* rig writes one line */
    int lifeline[2]; /* rig reads EOF */
    int pid[2];      /* the middle process writes the rig's pid */
    int log_fd;
};

static int find_exe(char *exe, size_t bytes, char *why, size_t why_bytes)
{
    const char *libexec = getenv("HEXRIG_LIBEXEC");
    char lib[PATH_MAX];
    Dl_info info;
    char *slash;

    if (libexec && *libexec) {
        snprintf(exe, bytes, "%s/hexrig-fuse", libexec);
    } else {
        if (!dladdr((void *)(uintptr_t)&hx_rig_spawn, &info) || !info.dli_fname ||
            !realpath(info.dli_fname, lib))
            return hx_rig_why(-ENOENT, why, why_bytes,
                              "libcdsprpc.so: own path unknown; set HEXRIG_LIBEXEC");
        slash = strrchr(lib, '/');
        *slash = '\0';
        if ((size_t)snprintf(exe, bytes, "%s/../libexec/hexrig/hexrig-fuse", lib) >= bytes)
            return hx_rig_why(-ENAMETOOLONG, why, why_bytes, "%s: path too long", lib);
    }
    if (access(exe, X_OK))
        return hx_rig_why(-errno, why, why_bytes, "%s: %s", exe, strerror(errno));
    return 0;
}

/* Descriptors 0..2 get replaced in the child, so ours lie above. */
static int pipe_high(int fds[2])
{
    int p[2];
    int rc = 0;

    if (pipe2(p, O_CLOEXEC))
        return -errno;
    for (int i = 0; i < 2; i++) {
        fds[i] = fcntl(p[i], F_DUPFD_CLOEXEC, 3);
        if (fds[i] < 0)
            rc = -errno;
        close(p[i]);
    }
    return rc;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int make_argv(struct spawn *s, const struct hx_rig_cfg *cfg, const struct hx_spawn_opts *o)
{
    const struct {
        const char *name, *value;
    } options[] = {
        {"--mount", o->dir},
        {"--ready-fd", s->ready_text},
        {"--front-end", cfg->front_end},
        {"--profile", cfg->profile},
        {"--mode", cfg->mode},
        {"--owner", cfg->owner},
        {"--lifeline-fd", o->lifeline ? s->life_text : NULL},
        {"--log", o->log},
    };
    size_t n_options = sizeof(options) / sizeof(options[0]), n = 0;

    s->argv = calloc(2 * (n_options + cfg->n_filters) + 4, sizeof(*s->argv));
    if (!s->argv)
        return -ENOMEM;
    s->argv[n++] = s->exe;
    for (size_t i = 0; i < n_options; i++)
        if (options[i].value) {
            s->argv[n++] = options[i].name;
            s->argv[n++] = options[i].value;
        }
    for (size_t i = 0; i < cfg->n_filters; i++) {
        s->argv[n++] = "--filter";
        s->argv[n++] = cfg->filters[i];
    }
    if (cfg->strict_pd)
        s->argv[n++] = "--strict-pd";
    if (o->remove_dir)
        s->argv[n++] = "--remove-dir";
    return 0;
}

static int prepare(struct spawn *s, const struct hx_rig_cfg *cfg, const struct hx_spawn_opts *o)
{
    int rc = pipe_high(s->ready);

    if (rc == 0)
        rc = pipe_high(s->pid);
    if (rc == 0 && o->lifeline)
        rc = pipe_high(s->lifeline);
    if (rc)
        return rc;
    s->log_fd = o->log_fd;
    snprintf(s->ready_text, sizeof(s->ready_text), "%d", s->ready[1]);
    snprintf(s->life_text, sizeof(s->life_text), "%d", s->lifeline[0]);
    return make_argv(s, cfg, o);
}

/* Between fork and exec: only async-signal-safe calls, the parent may have threads. */
static void child_signals(void)
{
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int sig = 1; sig < SIGRTMIN; sig++)
        sigaction(sig, &dfl, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void child_exec(struct spawn *s)
{
    static const char failed[] = "error: hexrig-fuse cannot be executed\n";
    int null = open("/dev/null", O_RDWR);

    child_signals();
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1); /* whoever reads the client's output must not wait for the rig to close it */
    }
    if (s->log_fd >= 0)
        dup2(s->log_fd, 2);
    syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
    fcntl(s->ready[1], F_SETFD, 0);
    if (s->lifeline[0] >= 0)
        fcntl(s->lifeline[0], F_SETFD, 0);
    execv(s->exe, (char *const *)s->argv);
    if (write(s->ready[1], failed, sizeof(failed) - 1) < 0)
        _exit(126);
    _exit(127);
}

/* Forks twice: a client that waits for its own children must not see ours, and the rig gets a session of its own, so
 * that a ^C meant for the client reaches it only through the lifeline. */
static int fork_rig(struct spawn *s)
{
    pid_t middle = fork(), rig;
    int status;

    if (middle < 0)
        return -errno;
    if (middle == 0) {
        setsid();
        rig = fork();
        if (rig == 0)
            child_exec(s);
        if (rig > 0 && write(s->pid[1], &rig, sizeof(rig)) == sizeof(rig))
            _exit(0);
        if (rig > 0)
            kill(rig, SIGKILL); /* nobody would know of it */
        _exit(1);
    }
    while (waitpid(middle, &status, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

static int64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Reads until a newline; returns 0, -EPIPE (EOF first) or -ETIMEDOUT. */
static int read_line(int fd, char *line, size_t bytes, int timeout_ms)
{
    int64_t end = now_ms() + timeout_ms;
    size_t n = 0;

    while (n + 1 < bytes) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = end - now_ms();
        ssize_t got;

        if (left <= 0)
            return -ETIMEDOUT;
        if (poll(&p, 1, (int)left) <= 0)
            continue;
        got = read(fd, line + n, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -EPIPE;
        if (line[n] == '\n')
            break;
        n++;
    }
    line[n] = '\0';
    return 0;
}

/* `word` of "ok a=b c=d". */
static void field(const char *line, const char *key, char *buf, size_t bytes)
{
    size_t n = strlen(key);

    buf[0] = '\0';
    while ((line = strchr(line, ' '))) {
        line++;
        if (strncmp(line, key, n) == 0 && line[n] == '=') {
            snprintf(buf, bytes, "%.*s", (int)strcspn(line + n + 1, " "), line + n + 1);
            return;
        }
    }
}

static int read_ready(struct spawn *s, struct hx_rig_proc *out, char *why, size_t why_bytes)
{
    char line[LINE_BYTES];
    int rc = read_line(s->ready[0], line, sizeof(line), HX_RIG_START_MS);

    if (rc == -ETIMEDOUT)
        return hx_rig_why(rc, why, why_bytes, "rig: hexrig-fuse did not serve within %d s",
                          HX_RIG_START_MS / 1000);
    if (rc)
        return hx_rig_why(-ECHILD, why, why_bytes,
                          "rig: hexrig-fuse ended before it could serve");
    if (strncmp(line, "error: ", 7) == 0)
        return hx_rig_why(-EIO, why, why_bytes, "rig: %s", line + 7);
    if (strncmp(line, "refused: ", 9) == 0)
        return hx_rig_why(-EINVAL, why, why_bytes, "rig: %s", line + 9);
    if (strncmp(line, "ok ", 3) != 0)
        return hx_rig_why(-EPROTO, why, why_bytes, "rig: hexrig-fuse said '%.100s'", line);
    field(line, "front_end", out->front_end, sizeof(out->front_end));
    field(line, "profile", out->profile, sizeof(out->profile));
    return 0;
}

int hx_rig_wait_end(int pidfd, int timeout_ms)
{
    int64_t end = now_ms() + timeout_ms;

    for (;;) {
        struct pollfd p = {.fd = pidfd, .events = POLLIN};
        int64_t left = end - now_ms();

        if (left < 0)
            return -ETIMEDOUT;
        if (poll(&p, 1, (int)left) > 0)
            return 0;
    }
}

/* Ends a rig that did not come up: first by request, then by force. */
static void give_up(struct hx_rig_proc *out)
{
    close_fd(&out->lifeline);
    if (out->pidfd < 0)
        return;
    syscall(SYS_pidfd_send_signal, out->pidfd, SIGTERM, NULL, 0);
    if (hx_rig_wait_end(out->pidfd, 2000)) {
        syscall(SYS_pidfd_send_signal, out->pidfd, SIGKILL, NULL, 0);
        hx_rig_wait_end(out->pidfd, 2000);
    }
    close_fd(&out->pidfd);
}

/* For a rig whose process id did not arrive: it ends without its lifeline, and `ready` with it, or with what it had to say. */
static void give_up_unknown(struct spawn *s)
{
    struct pollfd p = {.fd = s->ready[0], .events = 0}; /* just the other end's closing */

    close_fd(&s->lifeline[0]);
    close_fd(&s->lifeline[1]);
    close_fd(&s->ready[1]);
    poll(&p, 1, HX_RIG_START_MS);
}

static int start(struct spawn *s, struct hx_rig_proc *out, char *why, size_t why_bytes)
{
    int rc = fork_rig(s);

    if (rc)
        return hx_rig_why(rc, why, why_bytes, "rig: fork: %s", strerror(-rc));
    close_fd(&s->pid[1]);
    if (read(s->pid[0], &out->pid, sizeof(out->pid)) != sizeof(out->pid)) {
        give_up_unknown(s);
        return hx_rig_why(-EAGAIN, why, why_bytes, "rig: fork failed");
    }
    out->pidfd = (int)syscall(SYS_pidfd_open, out->pid, 0);
    out->lifeline = s->lifeline[1];
    s->lifeline[1] = -1;
    close_fd(&s->lifeline[0]);
    close_fd(&s->ready[1]);
    return read_ready(s, out, why, why_bytes);
}

int hx_rig_spawn(const struct hx_rig_cfg *cfg, const struct hx_spawn_opts *o,
                 struct hx_rig_proc *out, char *why, size_t why_bytes)
{
    struct spawn s = {.ready = {-1, -1}, .lifeline = {-1, -1}, .pid = {-1, -1}, .log_fd = -1};
    int rc = find_exe(s.exe, sizeof(s.exe), why, why_bytes);

    *out = (struct hx_rig_proc){.pidfd = -1, .lifeline = -1};
    if (rc)
        return rc;
    rc = prepare(&s, cfg, o);
    if (rc)
        hx_rig_why(rc, why, why_bytes, "rig: %s", strerror(-rc));
    else
        rc = start(&s, out, why, why_bytes);
    if (rc)
        give_up(out);
    for (int i = 0; i < 2; i++) {
        close_fd(&s.ready[i]);
        close_fd(&s.lifeline[i]);
        close_fd(&s.pid[i]);
    }
    free(s.argv);
    return rc;
}
