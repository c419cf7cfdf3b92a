/* Test support: running programs.  See hxt_proc.h. */
#include "hxt_proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hxt.h"

#define DEFAULT_TIMEOUT_S 60
#define SLOWER 4        /* than the machine for which somebody chose a limit */
#define STEP_MOST_S 0.25 /* of the time from one look to the next: the rest the machine stood still, or did something else */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Time since *last, as limits count it. */
static double step_s(double *last)
{
    double now = now_s(), took = now - *last;

    *last = now;
    return took < STEP_MOST_S ? took : STEP_MOST_S;
}

/* stdin of the command: a pipe that already holds all of the input, so that nobody has to feed it */
static int open_input(const char *input)
{
    int p[2];

    if (!input)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (pipe2(p, O_CLOEXEC))
        return -1;
    fcntl(p[1], F_SETFL, O_NONBLOCK);
    size_t n = strlen(input);
    ssize_t put = write(p[1], input, n);
    close(p[1]);
    if (put != (ssize_t)n) {
        close(p[0]);
        errno = E2BIG;
        return -1;
    }
    return p[0];
}

static void child_exec(const struct hxt_cmd *cmd, int in, int out, int err, int report)
{
    sigset_t none;

    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    for (size_t i = 0; cmd->env && cmd->env[i]; i++) {
        if (strchr(cmd->env[i], '='))
            putenv((char *)cmd->env[i]);
        else
            unsetenv(cmd->env[i]);
    }
    if (!cmd->cwd || chdir(cmd->cwd) == 0)
        execvp(cmd->argv[0], (char *const *)cmd->argv);
    int e = errno;
    while (write(report, &e, sizeof(e)) < 0 && errno == EINTR)
        ;
    _exit(127);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Forks and learns through `report` (closed by a successful exec) whether exec worked. */
static int fork_child(struct hxt_child *c, const struct hxt_cmd *cmd, int in, int out, int err)
{
    int report[2], e = 0;

    if (pipe2(report, O_CLOEXEC))
        return -errno;
    c->pid = fork();
    if (c->pid < 0) {
        e = errno;
    } else if (c->pid == 0) {
        child_exec(cmd, in, out, err, report[1]);
    } else {
        setpgid(c->pid, c->pid); /* both sides do it: whoever comes first */
        close_fd(&report[1]);
        ssize_t n;
        while ((n = read(report[0], &e, sizeof(e))) < 0 && errno == EINTR)
            ;
        if (n != sizeof(e))
            e = 0;
        if (e)
            waitpid(c->pid, NULL, 0);
    }
    close_fd(&report[0]);
    close_fd(&report[1]);
    return -e;
}

int hxt_start(struct hxt_child *c, const struct hxt_cmd *cmd)
{
    int in, out[2] = {-1, -1}, err[2] = {-1, -1}, rc;

    *c = (struct hxt_child){.pid = -1, .pidfd = -1, .out_fd = -1, .err_fd = -1};
    c->start = now_s();
    c->left_s = SLOWER * (cmd->timeout_s > 0 ? cmd->timeout_s : DEFAULT_TIMEOUT_S);
    in = open_input(cmd->input);
    if (in < 0 || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
        rc = -errno;
        goto done;
    }
    rc = fork_child(c, cmd, in, out[1], err[1]);
    if (rc)
        goto done;
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->pidfd < 0) {
        rc = -errno;
        kill(-c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
        goto done;
    }
    c->out_fd = out[0];
    c->err_fd = err[0];
    out[0] = err[0] = -1;
    fcntl(c->out_fd, F_SETFL, O_NONBLOCK);
    fcntl(c->err_fd, F_SETFL, O_NONBLOCK);
done:
    close_fd(&in);
    close_fd(&out[0]);
    close_fd(&out[1]);
    close_fd(&err[0]);
    close_fd(&err[1]);
    return rc;
}

int hxt_signal(const struct hxt_child *c, int sig)
{
    if (sig == SIGSTOP)
        return hxt_stop(c->pid);
    return kill(c->pid, sig) ? -errno : 0;
}

/* State letter of a thread, as in /proc/PID/stat; 'X': it is not there. */
static char state_of(pid_t pid, const char *thread)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/task/%s/stat", pid, thread), NULL), *name_end = text ? strrchr(text, ')') : NULL;
    char state = name_end && name_end[1] ? name_end[2] : 'X';

    free(text);
    return state;
}

int hxt_is_stopped(pid_t pid)
{
    DIR *d = opendir(hxt_path("/proc/%d/task", pid));
    struct dirent *e;
    int is = 1;

    while (d && is && (e = readdir(d)))
        is = e->d_name[0] == '.' || strchr("TtZX", state_of(pid, e->d_name));
    if (d)
        closedir(d);
    return is;
}

static int is_stopped(void *pid)
{
    return hxt_is_stopped(*(pid_t *)pid);
}

int hxt_stop(pid_t pid)
{
    if (kill(pid, SIGSTOP))
        return -errno;
    return hxt_until(is_stopped, &pid, 15) ? 0 : -ETIMEDOUT;
}

/* Appends what is there; closes the pipe at its end.  Running out of memory ends the test program. */
static void drain(int *fd, char **text, size_t *len)
{
    char piece[4096];
    ssize_t n;

    while (*fd >= 0) {
        n = read(*fd, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close_fd(fd);
            return;
        }
        char *grown = realloc(*text, *len + (size_t)n + 1);
        if (!grown)
            abort();
        memcpy(grown + *len, piece, (size_t)n);
        *len += (size_t)n;
        grown[*len] = 0;
        *text = grown;
    }
}

int hxt_wait(struct hxt_child *c, struct hxt_result *r)
{
    double last = now_s();
    int status = 0, ended = 0;

    *r = (struct hxt_result){.exit_code = -1, .group = c->pid};
    while (!ended) {
        struct pollfd p[3] = {
            {.fd = c->pidfd, .events = POLLIN},
            {.fd = c->out_fd, .events = POLLIN},
            {.fd = c->err_fd, .events = POLLIN},
        };

        c->left_s -= step_s(&last);
        if (c->left_s <= 0 && !r->timed_out) {
            r->timed_out = 1;
            kill(-c->pid, SIGKILL);
        }
        poll(p, 3, r->timed_out ? -1 : 100);
        ended = p[0].revents != 0;
        drain(&c->out_fd, &r->out, &r->out_len); /* after `ended`: nothing it wrote is lost */
        drain(&c->err_fd, &r->err, &r->err_len);
    }
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    r->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    r->seconds = now_s() - c->start;
    if (!r->out)
        r->out = calloc(1, 1);
    if (!r->err)
        r->err = calloc(1, 1);
    close_fd(&c->out_fd);
    close_fd(&c->err_fd);
    close_fd(&c->pidfd);
    return 0;
}

int hxt_run(struct hxt_result *r, const struct hxt_cmd *cmd)
{
    struct hxt_child c;
    int rc = hxt_start(&c, cmd);

    return rc ? rc : hxt_wait(&c, r);
}

int hxt_succeeds(const struct hxt_cmd *cmd)
{
    struct hxt_result r;
    int yes = hxt_run(&r, cmd) == 0;

    if (!yes)
        return 0;
    yes = r.exit_code == 0;
    hxt_result_free(&r);
    return yes;
}

int hxt_group_alive(pid_t group)
{
    return kill(-group, 0) == 0 || errno == EPERM;
}

void hxt_result_free(struct hxt_result *r)
{
    free(r->out);
    free(r->err);
    r->out = r->err = NULL;
}

int hxt_until(int (*ready)(void *arg), void *arg, double timeout_s)
{
    double left = SLOWER * timeout_s, last = now_s();
    struct timespec nap = {.tv_nsec = 10 * 1000 * 1000};
    int yes;

    while (!(yes = ready(arg)) && left > 0) {
        nanosleep(&nap, NULL);
        left -= step_s(&last);
    }
    return yes;
}

size_t hxt_children(pid_t pid, pid_t *children, size_t max)
{
    DIR *d = opendir(hxt_path("/proc/%d/task", pid));
    struct dirent *e;
    size_t n = 0;

    while (d && (e = readdir(d))) {
        char *text = hxt_read_file(hxt_path("/proc/%d/task/%s/children", pid, e->d_name), NULL), *at = text, *end;

        for (long child = at ? strtol(at, &end, 10) : 0; child > 0; at = end, child = strtol(at, &end, 10))
            if (n++ < max)
                children[n - 1] = (pid_t)child;
        free(text);
    }
    if (d)
        closedir(d);
    return n;
}
