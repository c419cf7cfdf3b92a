/* Slopes of the published rows, and of a question's answer, by the parameters of the profile; and what follows. */
#include "timing_fit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "timing.h"
#include "timing_vary.h"

/* A parameter of calls alone is not held against rows of which calls are less than this: they take seconds to ask. */
#define OF_CALLS_MIN 0.005

struct list {
    double *values; /* [HX_TIMING_ANSWER_MAX] */
    size_t n;       /* may be more */
};

static void append(void *to, const char *path, double value)
{
    struct list *l = to;

    (void)path;
    if (l->n < HX_TIMING_ANSWER_MAX)
        l->values[l->n] = value;
    l->n++;
}

static void walk(json_t *j, const char *prefix, hx_timing_see *see, void *to)
{
    const char *key;
    json_t *v;

    json_object_foreach(j, key, v) {
        char path[256];

        snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", key);
        if (json_is_object(v))
            walk(v, path, see, to);
        else if (json_is_real(v))
            see(to, path, json_real_value(v));
    }
}

void hx_timing_numbers(json_t *answer, hx_timing_see *see, void *to)
{
    walk(answer, "", see, to);
}

/* --- in a child */

struct child {
    const struct hx_timing_fit_how *how;
    int fd; /* where the profile's own answer goes, as text */
};

static int answer(const struct child *c, int keep, double *figures)
{
    const struct hx_timing_fit_how *how = c->how;
    json_t *j = how->answer(how->arg);
    struct list l = {figures, 0};
    int rc = j ? HX_EXIT_OK : HX_EXIT_FAILED;

    hx_timing_numbers(j, append, &l);
    if (l.n > HX_TIMING_ANSWER_MAX)
        rc = hx_cmd_fail(how->cmd, "--interval: %zu figures, at most %d", l.n, HX_TIMING_ANSWER_MAX);
    if (!rc && keep && json_dumpfd(j, c->fd, 0))
        rc = hx_cmd_fail(how->cmd, "--interval: cannot keep the answer");
    json_decref(j);
    return rc;
}

/* Figures are the rows; which share of each is what its call costs beside its execution; passes in brief; then the answer's. */
enum figures { ROWS, OF_CALLS, BRIEF, ANSWER };

static double *figures_of(double *figures, enum figures which)
{
    return figures + which * hx_timing_n_rows;
}

static int predict(const struct child *c, double *figures, double *of_calls, const int *skip, int brief)
{
    const struct hx_timing_row *failed;
    const int rc = hx_timing_predict(figures, of_calls, skip, brief, &failed);

    return rc ? hx_cmd_fail(c->how->cmd, "%s: error 0x%x; the DSP's log says why", failed->id, (unsigned)rc) : HX_EXIT_OK;
}

/* Under the profile itself: passes both ways. */
static int measure_base(const struct child *c, double *figures)
{
    int skip[hx_timing_n_rows], rc = predict(c, figures, figures_of(figures, OF_CALLS), NULL, 0);

    memset(skip, 0, sizeof(skip));
    for (size_t i = 0; i < hx_timing_n_rows; i++)
        skip[i] = !hx_timing_is_pass(&hx_timing_rows[i]);
    return rc ? rc : predict(c, figures_of(figures, BRIEF), NULL, skip, 1);
}

/* A pass changes as it does in brief. */
static int measure_moved(const struct child *c, const struct hx_timing_param *moved, const double *base, double *figures)
{
    const double *of_calls = base + OF_CALLS * hx_timing_n_rows, *brief = base + BRIEF * hx_timing_n_rows;
    int skip[hx_timing_n_rows], rc;

    memset(skip, 0, sizeof(skip));
    for (size_t i = 0; i < hx_timing_n_rows; i++) {
        skip[i] = (hx_profile_is_of_calls(moved->key) && of_calls[i] < OF_CALLS_MIN) ||
                  (hx_profile_is_of_start(moved->key) && hx_timing_is_pass(&hx_timing_rows[i]));
        figures[i] = base[i];
    }
    rc = predict(c, figures, NULL, skip, 1);
    for (size_t i = 0; !rc && i < hx_timing_n_rows; i++)
        if (!skip[i] && hx_timing_is_pass(&hx_timing_rows[i]))
            figures[i] *= base[i] / brief[i];
    return rc;
}

static int measure(const void *arg, const struct hx_timing_param *moved, const double *base, double *figures)
{
    const struct child *c = arg;
    const int rc = moved ? measure_moved(c, moved, base, figures) : measure_base(c, figures);

    return rc || !c->how->answer ? rc : answer(c, !moved, figures_of(figures, ANSWER));
}

/* --- in the parent */

static int take_slopes(struct hx_timing_fit *f, size_t n_figures, const double *figures)
{
    const size_t n = f->params.n_varying, rows = hx_timing_n_rows;

    f->slopes = malloc((n_figures * n + 1) * sizeof(double));
    f->predicted = malloc(rows * sizeof(double));
    if (!f->slopes || !f->predicted)
        return -ENOMEM;
    hx_timing_slopes(&f->params, n_figures, figures, f->slopes);
    f->answer_slopes = f->slopes + ANSWER * rows * n;
    memcpy(f->predicted, figures, rows * sizeof(double));
    return 0;
}

/* n_figures: of the rows and, when there is a question, HX_TIMING_ANSWER_MAX more, most of which stay 0. */
static int vary(struct hx_timing_fit *f, const struct hx_timing_fit_how *how)
{
    const size_t n_figures = ANSWER * hx_timing_n_rows + (how->answer ? HX_TIMING_ANSWER_MAX : 0);
    const struct child c = {how, memfd_create("answer", MFD_CLOEXEC)};
    const struct hx_timing_vary v = {how->cmd, how->front_end, measure, &c, n_figures};
    double *figures = malloc(hx_timing_vary_room(&f->params, n_figures) * sizeof(*figures));
    int rc = figures && c.fd >= 0 ? HX_EXIT_OK : hx_cmd_fail(how->cmd, "out of memory");

    if (!rc)
        rc = hx_timing_vary(&v, &f->params, figures);
    if (!rc && how->answer && lseek(c.fd, 0, SEEK_SET) == 0)
        f->answer = json_loadfd(c.fd, 0, NULL);
    if (!rc && ((how->answer && !f->answer) || take_slopes(f, n_figures, figures)))
        rc = hx_cmd_fail(how->cmd, "out of memory");
    if (c.fd >= 0)
        close(c.fd);
    free(figures);
    return rc;
}

static int estimate(struct hx_timing_fit *f, const char *cmd)
{
    const size_t n = f->params.n_varying, rows = hx_timing_n_rows;
    size_t source[rows];
    struct hx_estimate_problem p = {.n_rows = rows, .n = n, .slopes = f->slopes, .source = source};
    struct hx_error err = {""};

    f->param = calloc(n + 1, sizeof(*f->param));
    f->residual = calloc(rows, sizeof(double));
    if (!f->param || !f->residual)
        return hx_cmd_fail(cmd, "out of memory");
    for (size_t k = 0; k < n; k++) {
        const struct hx_timing_param *q = &f->params.of[k];

        f->param[k] = (struct hx_estimate_param){q->value, q->low, q->high, q->origin == HX_TIMING_FITTED};
    }
    for (size_t i = 0; i < rows; i++) {
        source[i] = hx_timing_same_question(i);
        f->residual[i] = log(f->predicted[i] / hx_timing_rows[i].measured);
    }
    p.residual = f->residual;
    p.param = f->param;
    return hx_estimate(&f->estimate, &p, &err) ? hx_cmd_fail(cmd, "%s", err.text) : HX_EXIT_OK;
}

int hx_timing_fit(struct hx_timing_fit *f, const struct hx_timing_fit_how *how)
{
    char why[600];
    int rc;

    memset(f, 0, sizeof(*f));
    rc = hx_timing_params_read(&f->params, how->profile, why, sizeof(why));
    if (rc == -ENOMEM)
        return hx_cmd_fail(how->cmd, "%s", why);
    if (rc)
        return hx_cmd_usage(how->cmd, "%s", why);
    rc = vary(f, how);
    return rc ? rc : estimate(f, how->cmd);
}

void hx_timing_fit_free(struct hx_timing_fit *f)
{
    hx_timing_params_free(&f->params);
    hx_estimate_free(&f->estimate);
    free(f->param);
    free(f->predicted);
    free(f->residual);
    free(f->slopes);
    json_decref(f->answer);
    memset(f, 0, sizeof(*f));
}

double hx_timing_sd_of_parameters(const struct hx_timing_fit *f, const double *slopes)
{
    return hx_estimate_sd(&f->estimate, f->params.n_varying, slopes);
}

double hx_timing_sd(const struct hx_timing_fit *f, const double *slopes)
{
    return hypot(hx_timing_sd_of_parameters(f, slopes), f->estimate.scatter);
}
