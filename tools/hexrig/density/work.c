/* Measures the points of a case in a child. */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/report.h"
#include "hx_rig.h"
#include "row.h"

enum { MANY_CALLS = 40000 };

/* --- in the child */

/* A case at work, and the row that is being measured. */
struct running {
    struct hx_sweep *s;
    const struct hx_sweep_case *c;
    const char *density;
    size_t pos;
    json_t *uncosted; /* of all rows so far */
    FILE *to;
};

/* Says so before it takes minutes. */
static void warn_of_many(void *arg, double calls)
{
    const struct running *now = arg;

    if (calls > MANY_CALLS)
        fprintf(stderr, "hexrig %s: %s makes %.0f calls up to position %zu, this takes a while\n", now->s->o.cmd, now->density, calls,
                now->pos);
}

/* One line of JSON, which it releases.  0, HX_EXIT_FAILED after a message, or HX_DENSITY_WORK_LOST. */
static int send_line(const struct hx_sweep *s, FILE *to, json_t *j)
{
    char *text = j && !hx_json_lost() ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    int rc = 0;

    if (!text)
        rc = hx_cmd_fail(s->o.cmd, "out of memory");
    else if (fprintf(to, "%s\n", text) < 0 || fflush(to))
        rc = HX_DENSITY_WORK_LOST;
    free(text);
    json_decref(j);
    return rc;
}

/* How much more there is of one entry than before. */
static json_t *growth(const json_t *before, json_t *now)
{
    static const char *const keys[] = {"pcycles", "hvx_ops"};
    json_t *more = json_copy(now), *was;
    int grown = 0;
    size_t i;

    json_array_foreach(before, i, was) {
        if (!json_equal(json_object_get(was, "name"), json_object_get(now, "name")) ||
            !json_equal(json_object_get(was, "reason"), json_object_get(now, "reason")))
            continue;
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
            json_object_set_new(more, keys[k], json_integer(json_integer_value(json_object_get(now, keys[k])) -
                                                            json_integer_value(json_object_get(was, keys[k]))));
    }
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
        grown |= json_integer_value(json_object_get(more, keys[k])) != 0;
    if (grown)
        return more;
    json_decref(more);
    return NULL;
}

/* The rig tells of all that this process has done: what this row has added.  NULL: nothing. */
static json_t *uncosted_of_row(struct running *r)
{
    json_t *all = hx_report_uncosted(), *more = all ? json_array() : NULL, *now, *one;
    size_t i;

    json_array_foreach(all, i, now)
        if ((one = growth(r->uncosted, now)))
            json_array_append_new(more, one);
    json_decref(r->uncosted);
    r->uncosted = all;
    return more;
}

static json_t *line_of(struct running *r, const struct hx_density_answer *a)
{
    const char *front_end = hx_rig_front_end(), *profile = hx_rig_profile();
    json_t *uncosted = uncosted_of_row(r);
    json_t *j = json_pack("{s:o, s:s, s:I, s:s, s:o}", "row", hx_density_row(r->density, r->pos, a), "basis", a->basis, "n_layer",
                          (json_int_t)a->n_layer, "front_end", front_end ? front_end : "none", "profile",
                          hx_json_text(profile ? profile : "none"));

    if (json_array_size(uncosted) && j)
        json_object_set(j, "uncosted", uncosted);
    json_decref(uncosted);
    return j;
}

static int measure(struct running *r, size_t point, struct hx_density_memo *memo)
{
    const struct hx_sweep_point p = hx_sweep_point(r->s, point);
    const struct hx_engine_cfg cfg = hx_engine_opts_cfg(&r->s->o);
    const double start = hx_report_clock();
    struct hx_density_question q = hx_sweep_question(r->s, &p);
    struct hx_density_answer a;
    struct hx_error err = {""};
    json_t *j;

    r->density = r->c->density[p.density];
    r->pos = q.pos;
    q.model = &cfg;
    q.profile = r->s->o.profile;
    q.memo = &memo[p.density];
    q.begins = warn_of_many;
    q.arg = r;
    j = hx_density_answer(&q, &a, &err) ? json_pack("{s:o}", "failed", hx_json_text(err.text)) : line_of(r, &a);
    if (j)
        json_object_set_new(j, "point", json_integer((json_int_t)point));
    if (j)
        json_object_set_new(j, "seconds", json_real(hx_report_clock() - start));
    return send_line(r->s, r->to, j);
}

static int is_mine(const struct hx_density_claims *claims, size_t point)
{
    return !claims || claims->claim(claims->arg, point);
}

static int measure_all(struct running *r, size_t at, const char *wanted, const struct hx_density_claims *claims)
{
    struct hx_density_memo *memo = calloc(r->c->n_density, sizeof(*memo));
    int rc = memo ? 0 : hx_cmd_fail(r->s->o.cmd, "out of memory");

    for (size_t i = 0; !rc && i < hx_sweep_points(r->s); i++)
        if (hx_sweep_point(r->s, i).at == at && wanted[i] && is_mine(claims, i))
            rc = measure(r, i, memo);
    free(memo);
    return rc;
}

static int measure_case(struct hx_sweep *s, size_t at, const char *wanted, const struct hx_density_claims *claims, FILE *to)
{
    struct running r = {.s = s, .c = &s->cases[at], .to = to};
    int rc;

    s->o.profile = r.c->profile ? r.c->profile : s->o.profile;
    s->o.model = r.c->model ? r.c->model : s->o.model;
    rc = hx_engine_opts_prepare(&s->o);
    if (!rc)
        rc = measure_all(&r, at, wanted, claims);
    json_decref(r.uncosted);
    return rc;
}

/* --- in the parent */

/* Both ends of a pipe, ends[0] to read.  0 or negative errno. */
static int open_pipe(FILE *ends[2])
{
    int fds[2], rc;

    if (pipe2(fds, O_CLOEXEC))
        return -errno;
    ends[0] = fdopen(fds[0], "r");
    ends[1] = ends[0] ? fdopen(fds[1], "w") : NULL;
    if (ends[1])
        return 0;
    rc = -errno;
    if (ends[0])
        fclose(ends[0]);
    else
        close(fds[0]);
    close(fds[1]);
    return rc;
}

int hx_density_work_begin(struct hx_density_work *w, struct hx_sweep *s, size_t at, const char *wanted,
                          const struct hx_density_claims *claims)
{
    const pid_t parent = getpid();
    FILE *ends[2] = {NULL, NULL};
    int rc;

    *w = (struct hx_density_work){.pid = -1};
    rc = open_pipe(ends); /* before there are two that could fail at it */
    if (rc)
        return rc;
    fflush(stdout);
    w->pid = fork();
    rc = w->pid < 0 ? -errno : 0;
    if (w->pid)
        fclose(ends[1]);
    if (w->pid > 0)
        w->lines = ends[0];
    else
        fclose(ends[0]);
    if (w->pid)
        return rc;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    exit(getppid() == parent ? measure_case(s, at, wanted, claims, ends[1]) : HX_EXIT_FAILED);
}

int hx_density_work_next(struct hx_density_work *w, json_t **out)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int rc = 0;

    *out = NULL;
    n = getline(&line, &room, w->lines);
    if (n < 0 && !feof(w->lines)) /* out of memory is no error of the stream's */
        rc = -errno;
    else if (n > 0 && line[n - 1] == '\n') { /* else the child has ended within it, and has said why */
        *out = json_loadb(line, (size_t)n, 0, NULL);
        rc = *out ? 0 : hx_json_lost() ? -ENOMEM : -EPROTO;
    }
    free(line);
    return rc;
}

int hx_density_work_end(struct hx_density_work *w, int stop)
{
    int status;

    if (w->lines)
        fclose(w->lines);
    if (stop)
        kill(w->pid, SIGTERM);
    while (waitpid(w->pid, &status, 0) < 0)
        if (errno != EINTR)
            return -SIGCHLD;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
