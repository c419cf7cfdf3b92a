/* Questions on the DSP, see on_dsp.h. */
#include "on_dsp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "hx_rig.h"
#include "methods/geometry/library.h"
#include "methods/geometry/library_dsp.h"
#include "methods/geometry/nearest.h"

/* What is asked, and what the host says. */
struct asked {
    const struct hx_trajectory *t;
    size_t records, n, most;
    double *x, *y;          /* [most][n] questions, answers of the DSP */
    uint32_t *which;        /* [most] likewise */
    struct hx_nearest *tree; /* of the starts */
};

struct making {
    const struct hx_space *p;
    const struct hx_made *how;
    struct hx_trajectory *t;
};

static int make_one(void *arg, size_t i, struct hx_error *err)
{
    const struct making *m = arg;

    return hx_trajectory_of(&m->p->cloud, m->how, i, &m->t[i], err);
}

static int connect_rig(const struct hx_space *p, const struct hx_dsp_how *dsp)
{
    const struct hx_rig_cfg rig = {.profile = dsp->profile, .force_private = 1};
    const int rc = hx_rig_configure(&rig);

    return rc ? hx_cmd_fail(p->s.cmd, "cannot configure the rig: %s", strerror(-rc)) : hx_cmd_connect(p->s.cmd);
}

/* Microseconds of a question on the host, found and corrected: the least of some rounds. */
static double host_us(const struct asked *a)
{
    const size_t many = a->most < 1000 ? a->most : 1000;
    double least = INFINITY;

    for (size_t r = 0; r < 7; r++) {
        const double start = hx_report_clock();

        for (size_t i = 0; i < many; i++) {
            struct hx_neighbour near;
            double y[HX_METRIC_MOST];

            hx_nearest_find(a->tree, a->x + i * a->n, 1, SIZE_MAX, &near);
            hx_trajectory_correct(&a->t[near.at], a->x + i * a->n, y);
            __asm__ volatile("" ::"r"(y) : "memory");
        }
        least = fmin(least, hx_report_clock() - start);
    }
    return least * 1e6 / (double)many;
}

static double by_metric(const struct hx_trajectory *t, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->n; k++)
            sum += t->g[i * t->n + k] * (x[i] - t->q[i]) * (x[k] - t->q[k]);
    return sum;
}

static size_t nearest_start(const struct asked *a, const double *x)
{
    struct hx_neighbour near;

    hx_nearest_find(a->tree, x, 1, SIZE_MAX, &near);
    return near.at;
}

/* In two stages. */
static size_t nearest_by_metric(const struct asked *a, const double *x)
{
    struct hx_neighbour near[HX_LIBRARY_NEAR];
    const size_t n = hx_nearest_find(a->tree, x, HX_LIBRARY_NEAR, SIZE_MAX, near);
    size_t best = near[0].at;

    for (size_t i = 1; i < n; i++)
        if (by_metric(&a->t[near[i].at], x) < by_metric(&a->t[best], x))
            best = near[i].at;
    return best;
}

/* A method of the DSP's, and what the host finds. */
struct way {
    const char *name;
    int (*ask)(struct hx_library_dsp *l, const double *x, size_t n, uint32_t *which, double *y, struct hx_error *err);
    size_t (*find)(const struct asked *a, const double *x);
};

static int look_up(struct hx_library_dsp *l, const double *x, size_t n, uint32_t *which, double *y, struct hx_error *err)
{
    return hx_library_dsp_look_up(l, x, n, which, NULL, y, err);
}

static const struct way ways[] = {
    {"serve", hx_library_dsp_serve, nearest_start},
    {"look_up", look_up, nearest_by_metric},
};

/* How often the DSP found the same start, and how far its answers are from the host's by that, over how far they are from 0. */
static void compare(const struct asked *a, const struct way *way, size_t many, double *same, double *apart)
{
    *same = *apart = 0;
    for (size_t i = 0; i < many; i++) {
        const struct hx_trajectory *t = &a->t[a->which[i]];
        double want[HX_METRIC_MOST], off = 0, size = 0;

        *same += (way->find(a, a->x + i * a->n) == a->which[i]) / (double)many;
        hx_trajectory_correct(t, a->x + i * a->n, want);
        for (size_t k = 0; k < a->n; k++) {
            off += pow(want[k] - a->y[i * a->n + k], 2);
            size += want[k] * want[k];
        }
        *apart = fmax(*apart, sqrt(off / fmax(size, 1e-300)));
    }
}

static int of_size(const struct asked *a, struct hx_library_dsp *l, const struct way *way, size_t many, double *us, json_t **out,
                   struct hx_error *err)
{
    struct hx_session_stats before, after, d;
    double same, apart;
    int rc = hx_report_now(&before);

    if (!rc)
        rc = way->ask(l, a->x, many, a->which, a->y, err);
    if (!rc)
        rc = hx_report_now(&after);
    if (rc)
        return *err->text ? rc : hx_error_set(err, rc, "the rig gives no figures");
    d = hx_report_diff(&after, &before);
    *us = (double)(d.dispatch_ns + d.marshal_ns + d.queue_ns + d.exec_ns) / 1e3 / (double)many;
    compare(a, way, many, &same, &apart);
    *out = json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "calls", (json_int_t)d.invokes, "packets", (json_int_t)d.packets,
                     "us_per_question", *us, "dispatch_us", (double)d.dispatch_ns / 1e3, "exec_us_per_question",
                     (double)d.exec_ns / 1e3 / (double)many, "same_start", same, "apart", apart);
    return 0;
}

/* One call of corrections by one trajectory. */
static int corrections(const struct asked *a, struct hx_library_dsp *l, json_t *to, struct hx_error *err)
{
    struct hx_session_stats before, after, d;
    const size_t many = a->most;
    double *x = malloc(many * a->n * sizeof(*x));
    int rc = x ? hx_report_now(&before) : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < many * a->n && !rc; i++)
        x[i] = a->x[i % many * a->n + i / many];
    if (!rc)
        rc = hx_library_dsp_correct(l, 0, x, many, a->y, err);
    if (!rc)
        rc = hx_report_now(&after);
    if (!rc) {
        d = hx_report_diff(&after, &before);
        json_object_set_new(to, "correct", json_pack("{s:I, s:I, s:I, s:f}", "questions", (json_int_t)many, "calls", (json_int_t)d.invokes,
                                                     "packets", (json_int_t)d.packets, "exec_us_per_question",
                                                     (double)d.exec_ns / 1e3 / (double)many));
    }
    free(x);
    return rc;
}

/* One way, by number of questions; *crossover the least of them from which on the DSP is ahead of the host, 0: none. */
static int ask_in(const struct asked *a, struct hx_library_dsp *l, const struct way *way, const struct hx_dsp_sizes *sizes, double host,
                  size_t *crossover, json_t *to, struct hx_error *err)
{
    double us = 0, first = 0;
    char name[32];
    int rc = 0;

    *crossover = 0;
    for (size_t i = 0; i < sizes->n && !rc; i++) {
        json_t *row = NULL;

        rc = of_size(a, l, way, sizes->size[i], &us, &row, err);
        if (rc)
            break;
        first = i ? first : us;
        json_object_set_new(row, "over_a_call_each", json_real(first / us));
        *crossover = !*crossover && us < host ? sizes->size[i] : *crossover;
        snprintf(name, sizeof(name), "%s_%zu", way->name, sizes->size[i]);
        json_object_set_new(to, name, row);
    }
    return rc;
}

static int ask(const struct asked *a, struct hx_library_dsp *l, const struct hx_dsp_sizes *sizes, json_t *to, struct hx_error *err)
{
    const double host = host_us(a);
    size_t crossover = 0, of_two_stages = 0;
    int rc = ask_in(a, l, &ways[0], sizes, host, &crossover, to, err);

    if (!rc)
        rc = ask_in(a, l, &ways[1], sizes, host, &of_two_stages, to, err);
    json_object_set_new(to, "host_us", json_real(host));
    json_object_set_new(to, "crossover", crossover ? json_integer((json_int_t)crossover) : json_string("none of these"));
    return rc ? rc : corrections(a, l, to, err);
}

static int make_questions(struct asked *a, const struct hx_space *p, struct hx_error *err)
{
    double *q = malloc(a->records * a->n * sizeof(*q));
    int rc;

    a->x = malloc(a->most * a->n * sizeof(*a->x));
    a->y = malloc(a->most * a->n * sizeof(*a->y));
    a->which = malloc(a->most * sizeof(*a->which));
    rc = q && a->x && a->y && a->which ? 0 : hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < a->most * a->n && !rc; i++)
        a->x[i] = p->cloud.y[i % (p->held * a->n)];
    for (size_t i = 0; i < a->records * a->n && !rc; i++)
        q[i] = a->t[i / a->n].q[i % a->n];
    if (!rc)
        rc = hx_nearest_open(&a->tree, q, a->records, a->n, err);
    free(q);
    return rc;
}

int hx_dsp_resonance(struct hx_space *p, const struct hx_made *how, const struct hx_dsp_how *dsp, const struct hx_dsp_sizes *sizes,
                     json_t **out)
{
    struct hx_trajectory *t = calloc(dsp->records, sizeof(*t));
    struct asked a = {.t = t, .records = dsp->records, .n = p->axes, .most = sizes->size[sizes->n - 1]};
    struct making making = {p, how, t};
    struct hx_library_dsp *l = NULL;
    struct hx_error err = {""};
    int rc = t ? connect_rig(p, dsp) : hx_cmd_fail(p->s.cmd, "out of memory"), failed = 0;

    if (!rc)
        failed = hx_subject_each(&p->s, dsp->records, make_one, &making, &err);
    if (!rc && !failed)
        failed = make_questions(&a, p, &err);
    if (!rc && !failed)
        failed = hx_library_dsp_open(&l, t, dsp->records, a.most, dsp->packets, &err);
    if (!rc && !failed) {
        *out = json_pack("{s:s, s:b, s:I, s:I, s:I}", "profile", dsp->profile, "packets", dsp->packets, "records",
                         (json_int_t)dsp->records, "library_bytes", (json_int_t)hx_library_dsp_bytes(l), "in_vtcm",
                         (json_int_t)hx_library_dsp_in_vtcm(l));
        failed = ask(&a, l, sizes, *out, &err);
    }
    hx_library_dsp_close(l);
    hx_nearest_close(a.tree);
    free(a.x);
    free(a.y);
    free(a.which);
    free(t);
    return failed ? hx_cmd_fail(p->s.cmd, "%s", err.text) : rc;
}
