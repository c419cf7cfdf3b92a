/* What each rank measures, and how rank 0 gathers it. */
#include "ranks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/report.h"
#include "measure.h"
#include "meeting.h"
#include "stop.h"

/* --- a rank, or a part, that measures */

struct writer {
    const struct hx_sweep *s;
    struct hx_resume own;
};

static int write_line(void *arg, size_t point, json_t *line)
{
    const struct writer *w = arg;
    const struct hx_sweep_point p = hx_sweep_point(w->s, point);

    json_object_del(line, "point");
    return hx_resume_add(&w->own, w->s, &p, line);
}

static int end_of(int rc)
{
    return hx_stop_signal() ? 128 + hx_stop_signal() : rc;
}

/* Its status is rank 0's to return: a launcher would end the others for one that is not 0. */
static int work(struct hx_density_run *d, const char *base, const struct hx_launcher *l)
{
    struct writer w = {.s = &d->s, .own = {.fd = -1}};
    struct hx_meeting m;
    int rc = hx_meeting_join(&m, &d->s, base, l);

    if (!rc)
        rc = hx_resume_open_part(&w.own, &d->s, base, l->rank);
    if (!rc) {
        const struct hx_density_claims claims = {hx_meeting_claim, &m};
        const struct hx_measure all = {.s = &d->s, .wanted = m.wanted, .claims = &claims, .take = write_line, .arg = &w};
        const int status = hx_measure(&all);

        rc = hx_resume_add_end(&w.own, &d->s, status);
    }
    hx_resume_close(&w.own);
    hx_meeting_close(&m);
    return end_of(rc);
}

/* --- rank 0 */

struct gatherer {
    struct hx_density_run *d;
    const struct hx_launcher *l;
    struct hx_resume got;            /* all lines of all ranks */
    struct hx_resume_reader *of;     /* [ranks] */
    double start, seconds;           /* seconds: of all rows */
    size_t rows;
};

/* What is new of one rank.  *over: nothing more will come. */
static int read_rank(struct gatherer *g, struct hx_resume_reader *f, int *over)
{
    const int alive = hx_resume_is_written(f); /* asked first: what a dead one wrote is all there */
    int rc = f->over ? 0 : hx_resume_read(&g->got, &g->d->s, f);

    *over = f->over || (f->lines && !alive);
    return rc;
}

static int take_new(struct gatherer *g)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < g->d->points; i++) {
        const struct hx_sweep_point p = hx_sweep_point(&g->d->s, i);
        json_t *line = g->d->line[i] ? NULL : hx_resume_find(&g->got, &g->d->s, &p);

        if (!line)
            continue;
        g->seconds += json_number_value(json_object_get(line, "seconds"));
        g->rows++;
        rc = hx_run_take(g->d, i, line);
    }
    return rc;
}

/* Looks at all ranks once. */
static int look(struct gatherer *g, size_t *n_over)
{
    const size_t before = json_object_size(g->got.old);
    int rc = 0, over;

    *n_over = 0;
    for (size_t r = 0; !rc && r < g->l->ranks; r++) {
        rc = read_rank(g, &g->of[r], &over);
        *n_over += !rc && over;
    }
    return rc || json_object_size(g->got.old) == before ? rc : take_new(g);
}

/* A rank that never came, after the time in which it should have. */
static int check_began(const struct gatherer *g)
{
    if (hx_report_clock() - g->start < HX_RESUME_WAIT_S)
        return 0;
    for (size_t r = 0; r < g->l->ranks; r++)
        if (!g->of[r].lines)
            return hx_cmd_fail(g->d->s.o.cmd, "rank %zu of %zu has not begun %s for %d s: --resume FILE names a folder that all ranks "
                               "share", r, g->l->ranks, g->of[r].path, HX_RESUME_WAIT_S);
    return 0;
}

static int gather(struct gatherer *g)
{
    static const struct timespec pause = {.tv_nsec = 50000000};
    size_t n_over = 0;
    int rc = 0;

    while (!rc && !hx_stop_signal()) {
        rc = look(g, &n_over);
        if (n_over == g->l->ranks)
            break;
        if (!rc)
            rc = check_began(g);
        nanosleep(&pause, NULL);
    }
    return rc;
}

/* All ranks are over: what they have come to.  One that was lost with nothing left to do has lost nothing. */
static int verdict(const struct gatherer *g)
{
    const char *file = g->d->resume;
    const size_t there = g->d->there, points = g->d->points;

    for (size_t r = 0; r < g->l->ranks; r++)
        if (g->of[r].over && g->of[r].status)
            return g->of[r].status; /* and it has said why */
    for (size_t r = 0; there < points && r < g->l->ranks; r++)
        if (!g->of[r].over)
            return hx_cmd_fail(g->d->s.o.cmd, "rank %zu of %zu has ended too early: %zu of %zu rows%s%s", r, g->l->ranks, there, points,
                               file ? "; the same command goes on from " : "", file ? file : "");
    return there == points ? 0 : hx_cmd_fail(g->d->s.o.cmd, "%zu of %zu rows were measured by no rank", points - there, points);
}

static void tell_speed_up(const struct gatherer *g)
{
    const double wall = hx_report_clock() - g->start;

    fprintf(stderr, "hexrig %s: %zu ranks: %zu rows of %.2f s altogether in %.2f s: speed-up %.2f\n", g->d->s.o.cmd, g->l->ranks, g->rows,
            g->seconds, wall, wall > 0 ? g->seconds / wall : 0);
}

/* What an interrupted rank may still write is left for --resume. */
static void clean(const struct gatherer *g, const char *base, const struct hx_meeting *m)
{
    for (size_t r = 0; r < g->l->ranks; r++)
        if (g->of[r].over || !g->d->resume)
            unlink(g->of[r].path);
    unlink(m->path);
    if (!g->d->resume)
        hx_resume_drop_parts(base);
}

static int open_readers(struct gatherer *g, const char *base)
{
    int rc = 0;

    g->of = calloc(g->l->ranks, sizeof(*g->of));
    g->got = (struct hx_resume){.fd = -1, .old = json_object()};
    if (!g->of || !g->got.old)
        return hx_cmd_fail(g->d->s.o.cmd, "out of memory");
    for (size_t r = 0; !rc && r < g->l->ranks; r++)
        rc = hx_resume_part_path(g->of[r].path, &g->d->s, base, r);
    return rc;
}

/* Rank 0 gathers, a child of it measures. */
static int start_worker(struct hx_density_run *d, const char *base, const struct hx_launcher *l, const struct hx_meeting *m, pid_t *pid)
{
    const pid_t parent = getpid();

    fflush(stdout);
    *pid = fork();
    if (*pid < 0)
        return hx_cmd_fail(d->s.o.cmd, "cannot start a process: %s", strerror(errno));
    if (*pid) {
        hx_stop_with(*pid);
        return 0;
    }
    hx_stop_with(0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    close(m->fd); /* with which rank 0's lock would outlive it */
    exit(getppid() == parent ? work(d, base, l) : HX_EXIT_FAILED);
}

static void end_worker(pid_t pid, int stop)
{
    hx_stop_with(0);
    if (stop)
        kill(pid, SIGTERM);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static int gather_all(struct gatherer *g, const char *base, const struct hx_meeting *m)
{
    size_t n_over;
    pid_t pid;
    int rc = start_worker(g->d, base, g->l, m, &pid);

    if (rc)
        return rc;
    rc = gather(g);
    end_worker(pid, rc || hx_stop_signal());
    if (!rc && hx_stop_signal())
        return look(g, &n_over);
    rc = rc ? rc : verdict(g);
    if (!rc)
        tell_speed_up(g);
    return rc;
}

static int lead(struct hx_density_run *d, const char *base, const struct hx_launcher *l)
{
    struct gatherer g = {.d = d, .l = l, .start = hx_report_clock()};
    char *wanted = hx_run_wanted(d);
    struct hx_meeting m = {.fd = -1};
    int rc = wanted ? open_readers(&g, base) : hx_cmd_fail(d->s.o.cmd, "out of memory");

    if (!rc)
        rc = hx_meeting_host(&m, &d->s, base, l, wanted);
    if (!rc) {
        rc = gather_all(&g, base, &m);
        clean(&g, base, &m);
    }
    hx_meeting_close(&m);
    hx_resume_close(&g.got);
    free(g.of);
    free(wanted);
    return rc;
}

int hx_ranks_run(struct hx_density_run *d)
{
    const struct hx_launcher *l = &d->l;
    char own[sizeof(l->job) + 32];

    snprintf(own, sizeof(own), ".hexrig-density-%s", l->job);
    return (l->rank ? work : lead)(d, d->resume ? d->resume : own, l);
}

/* --- a part */

struct part {
    struct writer w;
    size_t failed;
};

static int write_part(void *arg, size_t point, json_t *line)
{
    struct part *p = arg;
    const struct hx_sweep_point at = hx_sweep_point(p->w.s, point);
    const char *why = json_string_value(json_object_get(line, "failed"));
    char *name = why ? hx_rows_name(p->w.s, &at) : NULL;

    if (!why)
        return write_line(&p->w, point, line);
    p->failed++;
    hx_cmd_fail(p->w.s->o.cmd, "%s: %s", name ? name : "?", why);
    free(name);
    return 0;
}

/* 1 for what is in neither file and of this part; NULL: out of memory. */
static char *wanted_of(const struct hx_sweep *s, const struct hx_resume *all, const struct hx_resume *own, size_t index, size_t parts)
{
    const size_t n = hx_sweep_points(s);
    size_t *unit = calloc(n, sizeof(*unit));
    char *wanted = calloc(n, 1);

    if (unit && wanted)
        hx_sweep_units(s, unit);
    for (size_t i = 0; unit && wanted && i < n; i++) {
        const struct hx_sweep_point p = hx_sweep_point(s, i);

        wanted[i] = unit[i] % parts == index && !hx_resume_find(all, s, &p) && !hx_resume_find(own, s, &p);
    }
    free(unit);
    return wanted;
}

int hx_part_run(struct hx_density_run *d, size_t index, size_t parts)
{
    struct part part = {.w = {.s = &d->s, .own = {.fd = -1}}};
    struct hx_resume all = {.fd = -1, .old = json_object()};
    struct hx_resume_reader file = {.end = 0};
    char *wanted = NULL;
    int rc;

    snprintf(file.path, sizeof(file.path), "%s", d->resume);
    rc = hx_resume_read(&all, &d->s, &file);
    if (!rc)
        rc = hx_resume_open_part(&part.w.own, &d->s, d->resume, index);
    if (!rc) {
        wanted = wanted_of(&d->s, &all, &part.w.own, index, parts);
        rc = wanted ? hx_measure(&(struct hx_measure){.s = &d->s, .wanted = wanted, .take = write_part, .arg = &part})
                    : hx_cmd_fail(d->s.o.cmd, "out of memory");
    }
    free(wanted);
    hx_resume_close(&all);
    hx_resume_close(&part.w.own);
    return end_of(rc ? rc : part.failed ? HX_EXIT_FAILED : 0);
}
