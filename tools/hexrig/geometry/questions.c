/* Questions, see questions.h. */
#include "questions.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "methods/geometry/head.h"
#include "methods/geometry/nearest.h"

const char *const hx_near_by[] = {"whitened", "metric", NULL};

enum { BLENDED = 4 };

static const double good_error = .05;

int hx_questions_library(struct hx_library **out, const struct hx_cloud *c, const struct hx_near *near, struct hx_error *err)
{
    const struct hx_library_cfg cfg = {.n = c->n, .width = 1, .capacity = c->points, .eps = near->eps,
                                       .by_metric = near->by_metric};
    struct hx_store s = {.frame = {.w = {.n = c->n, .width = 1}}, .n = c->points};
    float none = 0;
    int rc;

    s.at = calloc(c->points, sizeof(*s.at));
    rc = s.at ? hx_library_open(out, &cfg, err) : hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < c->points && !rc; i++) {
        s.at[i].t.n = c->n;
        s.at[i].rho = near->rho;
        s.at[i].state = &none;
        memcpy(s.at[i].t.q, c->x + i * c->n, c->n * sizeof(*c->x));
        rc = hx_cloud_metric_own(&c->metric, i, s.at[i].t.g, err);
    }
    if (!rc)
        rc = hx_library_fill(*out, &s, err);
    free(s.at);
    return rc;
}

static void count(struct hx_substituted *s, enum hx_library_verdict v)
{
    s->asked++;
    s->misses += v == HX_LIBRARY_MISS;
    s->hits += v == HX_LIBRARY_HIT;
    s->corrects += v == HX_LIBRARY_CORRECT;
}

int hx_substitute_shares(const struct hx_cloud *c, const struct hx_near *near, size_t most, struct hx_substituted *out,
                         struct hx_error *err)
{
    struct hx_library *l = NULL;
    int rc = hx_questions_library(&l, c, near, err);

    *out = (struct hx_substituted){0};
    for (size_t i = 0; i < c->held && i < most && !rc; i++)
        count(out, hx_library_ask(l, c->y + i * c->n).verdict);
    hx_library_close(l);
    return rc;
}

/* --- what answers are worth */

struct answer {
    struct hx_library_found found;
    double error, blend, full_s, correct_s; /* error < 0: a miss */
    int same_corrected, same_nearest;
};

struct job {
    struct hx_space *p;
    const struct hx_made *how;
    struct hx_library *l;
    struct hx_head *head;
    pthread_mutex_t lock; /* protects the head */
    struct answer *answer;
};

static double distance(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static int says(struct job *j, const float *state, uint32_t *id, struct hx_error *err)
{
    const float *logits;

    pthread_mutex_lock(&j->lock);
    logits = hx_head_logits(j->head, state, err);
    if (logits)
        *id = hx_head_first(logits, j->p->s.m->vocab);
    pthread_mutex_unlock(&j->lock);
    return logits ? 0 : -EDOM;
}

/* The state that the nearest trajectory aims at, as it is and moved by the correction, beside the true next one. */
static int compare(struct job *j, size_t i, const struct hx_trajectory *t, const double *corrected, struct answer *a, struct hx_error *err)
{
    const size_t width = j->p->s.m->width;
    const float *aimed = j->p->fits.rows + (2 * a->found.which + 1) * width, *truth = j->p->scores.rows + (2 * i + 1) * width;
    float *moved = malloc(width * sizeof(*moved));
    double by[HX_METRIC_MOST];
    uint32_t want = 0, nearest = 0, made = 0;
    int rc = moved ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc) {
        for (size_t k = 0; k < t->n; k++)
            by[k] = corrected[k] - t->end[k];
        memcpy(moved, aimed, width * sizeof(*moved));
        hx_whitening_move(&j->p->w, by, moved);
        rc = says(j, truth, &want, err);
    }
    if (!rc)
        rc = says(j, aimed, &nearest, err);
    if (!rc && isfinite(moved[0]))
        rc = says(j, moved, &made, err);
    a->same_nearest = nearest == want;
    a->same_corrected = isfinite(moved ? moved[0] : 0) && made == want;
    free(moved);
    return rc;
}

/* Ends of the nearest points' trajectories, the nearer the more. */
static int blend_ends(const struct job *j, const double *y, double *to, struct hx_error *err)
{
    const struct hx_cloud *c = &j->p->cloud;
    const struct hx_metric m = hx_cloud_metric_field(&c->metric);
    struct hx_neighbour near[BLENDED];
    const size_t n = hx_nearest_scan(c->x, c->points, c->n, y, BLENDED, SIZE_MAX, near);
    double all = 0;
    int rc = 0;

    memset(to, 0, c->n * sizeof(*to));
    for (size_t b = 0; b < n && !rc; b++) {
        const double weight = exp((near[0].d2 - near[b].d2) / 2);
        struct hx_geodesic g = {.carried = 0};

        memcpy(g.x, c->x + near[b].at * c->n, c->n * sizeof(*y));
        rc = hx_geodesic_aim(&m, g.x, c->x_next + near[b].at * c->n, j->how->step * (double)j->how->steps, g.v, err);
        if (!rc)
            rc = hx_geodesic_run(&m, &g, j->how->step, j->how->steps, NULL, NULL, err);
        for (size_t k = 0; k < c->n; k++)
            to[k] += weight * g.x[k];
        all += weight;
    }
    for (size_t k = 0; k < c->n; k++)
        to[k] /= all;
    return rc;
}

static int one(void *arg, size_t i, struct hx_error *err)
{
    struct job *j = arg;
    const struct hx_cloud *c = &j->p->cloud;
    const struct hx_metric m = hx_cloud_metric_field(&c->metric);
    const double *y = c->y + i * c->n;
    struct answer *a = &j->answer[i];
    double corrected[HX_METRIC_MOST], blended[HX_METRIC_MOST], start;
    struct hx_geodesic g = {.carried = 0};
    struct hx_trajectory t;
    int rc;

    a->error = -1;
    a->found = hx_library_ask(j->l, y);
    if (a->found.verdict == HX_LIBRARY_MISS)
        return 0;
    rc = hx_trajectory_of(c, j->how, a->found.which, &t, err);
    if (rc == -EDOM) { /* it leaves the numbers: nothing to correct by */
        a->error = a->blend = INFINITY;
        return 0;
    }
    if (rc)
        return rc;
    start = hx_report_clock();
    for (size_t k = 0; k < 1000; k++) {
        hx_trajectory_correct(&t, y, corrected);
        __asm__ volatile("" ::: "memory");
    }
    a->correct_s = (hx_report_clock() - start) / 1000;
    memcpy(g.x, y, c->n * sizeof(*y));
    memcpy(g.v, t.v, sizeof(g.v));
    start = hx_report_clock();
    rc = hx_geodesic_run(&m, &g, j->how->step, j->how->steps, NULL, NULL, err);
    a->full_s = hx_report_clock() - start;
    a->error = rc == -EDOM ? INFINITY : distance(corrected, g.x, c->n) / distance(g.x, y, c->n);
    a->blend = INFINITY;
    if (!rc)
        rc = blend_ends(j, y, blended, err);
    if (!rc)
        a->blend = distance(blended, g.x, c->n) / distance(g.x, y, c->n);
    return rc && rc != -EDOM ? rc : compare(j, i, &t, corrected, a, err);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of one verdict: mean of the finite errors, median of all. */
static void sum_errors(const struct answer *a, size_t n, enum hx_library_verdict v, double *room, double *mean, double *median)
{
    size_t many = 0, finite = 0;

    *mean = *median = 0;
    for (size_t i = 0; i < n; i++)
        if (a[i].found.verdict == v) {
            room[many++] = a[i].error;
            *mean += isfinite(a[i].error) ? a[i].error : 0;
            finite += isfinite(a[i].error);
        }
    *mean /= finite ? (double)finite : 1;
    qsort(room, many, sizeof(*room), by_size);
    *median = many ? room[many / 2] : 0;
}

/* Medians of all that are no miss, of corrections and of blends. */
static void compare_anchors(const struct answer *a, size_t n, double *room, struct hx_substituted *s)
{
    size_t many = 0;

    for (size_t i = 0; i < n; i++)
        if (a[i].error >= 0)
            room[many++] = a[i].error;
    qsort(room, many, sizeof(*room), by_size);
    s->anchor_median = many ? room[many / 2] : 0;
    many = 0;
    for (size_t i = 0; i < n; i++)
        if (a[i].error >= 0)
            room[many++] = a[i].blend;
    qsort(room, many, sizeof(*room), by_size);
    s->blend_median = many ? room[many / 2] : 0;
}

static void sum_up(const struct answer *a, size_t n, double *room, struct hx_substituted *s)
{
    size_t answered = 0;

    *s = (struct hx_substituted){0};
    for (size_t i = 0; i < n; i++) {
        count(s, a[i].found.verdict);
        answered += a[i].error >= 0;
        s->good += a[i].error >= 0 && a[i].error <= good_error;
        s->top1_corrected += a[i].same_corrected;
        s->top1_nearest += a[i].same_nearest;
        s->full_us += a[i].full_s * 1e6;
        s->correct_us += a[i].correct_s * 1e6;
    }
    for (double *v = &s->good; v <= &s->correct_us; v++)
        *v /= answered ? (double)answered : 1;
    compare_anchors(a, n, room, s);
    sum_errors(a, n, HX_LIBRARY_CORRECT, room, &s->error[0], &s->error_median[0]);
    sum_errors(a, n, HX_LIBRARY_HIT, room, &s->error[1], &s->error_median[1]);
}

int hx_substitute(struct hx_space *p, const struct hx_made *how, const struct hx_near *near, size_t most, struct hx_substituted *out,
                  struct hx_error *err)
{
    const size_t n = p->held < most ? p->held : most;
    struct job j = {.p = p, .how = how, .lock = PTHREAD_MUTEX_INITIALIZER, .answer = calloc(n, sizeof(*j.answer))};
    double *room = malloc(n * sizeof(*room));
    int rc = j.answer && room ? hx_questions_library(&j.l, &p->cloud, near, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        rc = hx_head_open(&j.head, p->s.m, err);
    for (size_t i = 0; i < n && !rc; i++) {
        /* one after the other where times are measured */
        rc = one(&j, i, err);
        hx_watch_step(&p->watch, "questions", i + 1, n);
    }
    if (!rc)
        sum_up(j.answer, n, room, out);
    hx_head_close(j.head);
    hx_library_close(j.l);
    free(j.answer);
    free(room);
    return rc;
}
