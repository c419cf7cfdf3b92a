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

/* The row that is being measured. */
struct running {
    const struct hx_sweep *s;
    const char *density;
    size_t pos;
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

static int send_row(const struct running *r, FILE *to, const struct hx_density_answer *a)
{
    const char *front_end = hx_rig_front_end(), *profile = hx_rig_profile();

    return send_line(r->s, to, json_pack("{s:o, s:s, s:I, s:s, s:o}", "row", hx_density_row(r->density, r->pos, a),
                                         "basis", a->basis, "n_layer", (json_int_t)a->n_layer,
                                         "front_end", front_end ? front_end : "none", "profile",
                                         hx_json_text(profile ? profile : "none")));
}

static int measure(struct hx_sweep *s, const struct hx_sweep_case *c, const struct hx_sweep_point *p, struct hx_density_memo *memo,
                   FILE *to)
{
    const struct hx_engine_cfg cfg = hx_engine_opts_cfg(&s->o);
    struct running now = {s, c->density[p->density], s->pos[p->pos]};
    const struct hx_density_question q = {
        .plan = c->plan[p->density],
        .geometry = c->shape.name ? &c->shape : NULL,
        .model = &cfg,
        .pos = now.pos,
        .how = s->how,
        .profile = s->o.profile,
        .memo = memo,
        .begins = warn_of_many,
        .arg = &now,
    };
    struct hx_density_answer a;
    struct hx_error err = {""};

    return hx_density_answer(&q, &a, &err) ? hx_cmd_fail(s->o.cmd, "%s", err.text) : send_row(&now, to, &a);
}

static int send_uncosted(const struct hx_sweep *s, FILE *to)
{
    json_t *all = hx_report_uncosted();

    return all ? send_line(s, to, json_pack("{s:o}", "uncosted", all)) : 0;
}

static int measure_case(struct hx_sweep *s, size_t at, const char *wanted, FILE *to)
{
    const struct hx_sweep_case *c = &s->cases[at];
    struct hx_density_memo *memo = calloc(c->n_density, sizeof(*memo));
    int rc = memo ? 0 : hx_cmd_fail(s->o.cmd, "out of memory");

    s->o.profile = c->profile ? c->profile : s->o.profile;
    s->o.model = c->model ? c->model : s->o.model;
    if (!rc)
        rc = hx_engine_opts_prepare(&s->o);
    for (size_t i = 0; !rc && i < hx_sweep_points(s); i++) {
        const struct hx_sweep_point p = hx_sweep_point(s, i);

        if (p.at == at && wanted[i])
            rc = measure(s, c, &p, &memo[p.density], to);
    }
    free(memo);
    return rc ? rc : send_uncosted(s, to);
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

int hx_density_work_begin(struct hx_density_work *w, struct hx_sweep *s, size_t at, const char *wanted)
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
    exit(getppid() == parent ? measure_case(s, at, wanted, ends[1]) : HX_EXIT_FAILED);
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
