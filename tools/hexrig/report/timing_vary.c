/* Variants of a profile, each on a rig of its own: a rig belongs to a process, so each has a child process. */
#include "timing_vary.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/terminal_watch.h"
#include "hx_rig.h"

/* A rig is several processes, of which one is busy at a time. */
enum { AT_A_TIME_MIN = 2, AT_A_TIME_MAX = 8 };

/* Variant 0 is the profile itself. */
static size_t n_variants(const struct hx_timing_params *p)
{
    return 1 + p->n_varying;
}

size_t hx_timing_vary_room(const struct hx_timing_params *p, size_t n_figures)
{
    return n_variants(p) * n_figures;
}

/* The profile as a file that only descriptors know: nothing has to be removed afterwards, however this ends.  Returns the
 * descriptor, or negative errno. */
static int write_profile(const struct hx_profile *profile)
{
    const int fd = memfd_create("profile", MFD_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(dup(fd), "w");

    if (!f)
        return -errno;
    for (size_t k = 0; k < hx_profile_n_keys(); k++)
        fprintf(f, "%s = %.17g\n", hx_profile_key(k), hx_profile_get(profile, k));
    return fclose(f) ? -errno : fd;
}

/* A rig with that profile, in a child process. */
static int connect_variant(const struct hx_timing_vary *v, const struct hx_profile *profile)
{
    const int fd = write_profile(profile);
    char path[64];
    const struct hx_rig_cfg rig = {.force_private = 1, .profile = path, .front_end = v->front_end};
    int rc;

    if (fd < 0)
        return hx_cmd_fail(v->cmd, "a variant of the profile: %s", strerror(-fd));
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
    rc = hx_rig_configure(&rig);
    return rc ? hx_cmd_fail(v->cmd, "%s", strerror(-rc)) : hx_cmd_connect(v->cmd);
}

static _Noreturn void child(const struct hx_timing_vary *v, const struct hx_timing_params *p, size_t variant,
                            pid_t parent, double *all)
{
    const struct hx_timing_param *moved = variant ? &p->of[variant - 1] : NULL;
    struct hx_profile profile = p->profile;
    int rc;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(HX_EXIT_FAILED);
    if (variant)
        hx_timing_moved(p, variant - 1, &profile);
    rc = connect_variant(v, &profile);
    if (!rc)
        rc = v->measure(v->arg, moved, variant ? all : NULL, all + variant * v->n_figures);
    exit(rc); /* ends the rig */
}

/* Returns an enum hx_exit. */
static int wait_for(const char *cmd, pid_t pid)
{
    int status = 0;

    if (pid <= 0)
        return HX_EXIT_OK;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return hx_cmd_fail(cmd, "waiting for a variant: %s", strerror(errno));
    if (WIFSIGNALED(status))
        return hx_cmd_fail(cmd, "a variant of the profile: %s", strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status);
}

static size_t slots(void)
{
    cpu_set_t cpus;
    const int n = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

    return n < AT_A_TIME_MIN ? AT_A_TIME_MIN : n > AT_A_TIME_MAX ? AT_A_TIME_MAX : (size_t)n;
}

/* Variants that are at work, and how many are done. */
struct progress {
    struct hx_watch watch;
    pid_t running[AT_A_TIME_MAX]; /* 0: nobody has the place */
    size_t done, of;
};

static int finish(const struct hx_timing_vary *v, struct progress *g, size_t slot)
{
    const int rc = wait_for(v->cmd, g->running[slot]);

    g->done += g->running[slot] > 0;
    g->running[slot] = 0;
    if (!rc)
        hx_watch_step(&g->watch, "variants of the profile", g->done, g->of);
    return rc;
}

static int run_all(const struct hx_timing_vary *v, const struct hx_timing_params *p, double *shared)
{
    const pid_t parent = getpid();
    const size_t at_a_time = slots();
    struct progress g = {.watch = hx_terminal_watch(v->cmd), .of = n_variants(p)};
    int rc = HX_EXIT_OK;

    fflush(NULL); /* children end by exit(), which would print it again */
    for (size_t i = 0; !rc && i < g.of; i++) {
        const size_t slot = i % at_a_time;

        rc = finish(v, &g, slot);
        if (rc)
            break;
        g.running[slot] = fork();
        if (g.running[slot] == 0)
            child(v, p, i, parent, shared);
        if (g.running[slot] < 0)
            rc = hx_cmd_fail(v->cmd, "fork: %s", strerror(errno));
        if (i == 0 && !rc) /* the others look at its figures */
            rc = finish(v, &g, slot);
    }
    for (size_t slot = 0; slot < at_a_time; slot++) {
        const int last = finish(v, &g, slot);

        rc = rc ? rc : last;
    }
    return rc;
}

int hx_timing_vary(const struct hx_timing_vary *v, const struct hx_timing_params *p, double *figures)
{
    const size_t bytes = hx_timing_vary_room(p, v->n_figures) * sizeof(*figures);
    double *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int rc;

    if (shared == MAP_FAILED)
        return hx_cmd_fail(v->cmd, "out of memory");
    rc = run_all(v, p, shared);
    memcpy(figures, shared, bytes);
    munmap(shared, bytes);
    return rc;
}

void hx_timing_slopes(const struct hx_timing_params *p, size_t n_figures, const double *figures, double *out)
{
    for (size_t k = 0; k < p->n_varying; k++) {
        const double *there = figures + (k + 1) * n_figures;
        struct hx_profile moved;
        const double by = log(hx_timing_moved(p, k, &moved) / p->of[k].value);

        for (size_t i = 0; i < n_figures; i++)
            out[i * p->n_varying + k] = figures[i] > 0 && there[i] > 0 && by != 0 ? log(there[i] / figures[i]) / by : 0;
    }
}
