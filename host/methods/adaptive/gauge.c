/* Gains by tails, see gauge.h. */
#include "gauge.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/eigen.h"

static const double step = 1, one = 1, zero = 0;

/* One evaluation; threads take matrices in turn. */
struct work {
    const struct hx_gauge *g;
    const double *log_gain;
    double *left;         /* [n][width] what each matrix leaves of each value; summed in order, so that threads change no digit */
    _Atomic size_t next;
    pthread_mutex_t lock; /* protects rc and *err */
    int rc;
    struct hx_error *err;
};

/* The Gram matrix of the stream's side, with gains: [width][width]. */
static int make_gram(const struct work *w, const struct hx_gauge_matrix *m, double *gram, struct hx_error *err)
{
    const struct hx_blas *blas = hx_blas(err);
    const size_t rows = m->w->rows, cols = m->w->cols;
    const int n = (int)w->g->width, other = (int)(m->writes ? cols : rows), lead = (int)cols;
    double *wide = malloc(rows * cols * sizeof(*wide));
    float *row = malloc(cols * sizeof(*row));
    int rc = !blas ? -ELIBACC : wide && row ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t r = 0; r < rows && !rc; r++) {
        hx_linear_row(m->w, r, row);
        for (size_t i = 0; i < cols; i++)
            wide[r * cols + i] = row[i] * exp(m->writes ? w->log_gain[r] : -w->log_gain[i]);
    }
    if (!rc)
        blas->dsyrk("U", m->writes ? "T" : "N", &n, &other, &one, wide, &lead, &zero, gram, &n);
    for (size_t i = 0; i < (size_t)n && !rc; i++)
        for (size_t c = 0; c < i; c++)
            gram[c * (size_t)n + i] = gram[i * (size_t)n + c];
    free(wide);
    free(row);
    return rc;
}

/* left[i]: what the matrix leaves of the stream's value i: sum over k > rank of S_k^2 v_k[i]^2. */
static int find_left(const struct work *w, const struct hx_gauge_matrix *m, double *left, struct hx_error *err)
{
    const size_t n = w->g->width;
    double *vectors = calloc(n * n, sizeof(*vectors)), *values = malloc(n * sizeof(*values));
    int rc = vectors && values ? make_gram(w, m, vectors, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        rc = hx_eigen_symmetric(vectors, n, values, err);
    for (size_t k = m->rank; k < n && !rc; k++)
        for (size_t i = 0; i < n && values[k] > 0; i++)
            left[i] += values[k] * vectors[k * n + i] * vectors[k * n + i];
    free(vectors);
    free(values);
    return rc;
}

static void take_some(void *arg, size_t part, size_t parts)
{
    struct work *w = arg;
    struct hx_error err = {""};
    size_t i;
    int rc = 0;

    (void)part;
    (void)parts;
    while (!rc && (i = atomic_fetch_add(&w->next, 1)) < w->g->n)
        rc = find_left(w, &w->g->at[i], w->left + i * w->g->width, &err);
    pthread_mutex_lock(&w->lock);
    if (rc && !w->rc) {
        w->rc = rc;
        *w->err = err;
    }
    pthread_mutex_unlock(&w->lock);
}

/* One value of the stream, over all matrices that read it, or that write it. */
static double sum_of(const struct work *w, size_t i, int writes)
{
    double sum = 0;

    for (size_t m = 0; m < w->g->n; m++)
        sum += w->g->at[m].writes == writes ? w->left[m * w->g->width + i] : 0;
    return sum;
}

int hx_gauge_tail(const struct hx_gauge *g, const double *log_gain, double *tail, double *reads, double *writes, struct hx_error *err)
{
    struct hx_error detail = {""};
    struct work w = {.g = g, .log_gain = log_gain, .left = calloc(g->n * g->width, sizeof(*w.left)),
                     .lock = PTHREAD_MUTEX_INITIALIZER, .err = &detail};

    if (!w.left)
        return hx_error_set(err, -ENOMEM, "out of memory");
    if (!hx_blas(&detail)) /* before threads need it */
        w.rc = -ELIBACC;
    else
        hx_pool_run(g->pool, hx_pool_threads(g->pool), take_some, &w);
    *tail = 0;
    for (size_t i = 0; i < g->width && !w.rc; i++) {
        reads[i] = sum_of(&w, i, 0);
        writes[i] = sum_of(&w, i, 1);
        *tail += reads[i] + writes[i];
    }
    free(w.left);
    return w.rc ? hx_error_set(err, w.rc, "%s", detail.text) : 0;
}

/* --- steps */

static void centre(double *x, size_t n)
{
    double mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        x[i] -= mean;
}

/* Where one side leaves nothing there is no balance to find. */
static void make_step(const double *from, const double *reads, const double *writes, size_t n, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] + (reads[i] > 0 && writes[i] > 0 ? step / 4 * log(reads[i] / writes[i]) : 0);
}

struct descent {
    double *now, *next, *reads, *writes; /* [width] */
};

static int descend(const struct hx_gauge *g, size_t steps, struct descent *d, struct hx_gauge_told *told, struct hx_error *err)
{
    double tail;
    int rc = hx_gauge_tail(g, d->now, &told->before, d->reads, d->writes, err);

    told->after = told->before;
    for (told->steps = 0; told->steps < steps && !rc; told->steps++) {
        make_step(d->now, d->reads, d->writes, g->width, d->next);
        rc = hx_gauge_tail(g, d->next, &tail, d->reads, d->writes, err);
        if (rc || tail >= told->after)
            break;
        told->after = tail;
        memcpy(d->now, d->next, g->width * sizeof(*d->now));
    }
    centre(d->now, g->width);
    return rc ? rc : hx_gauge_tail(g, d->now, &told->after, d->reads, d->writes, err);
}

int hx_gauge_find(const struct hx_gauge *g, size_t steps, double *log_gain, struct hx_gauge_told *told, struct hx_error *err)
{
    double *room = calloc(3 * g->width, sizeof(*room));
    struct descent d = {log_gain, room, room + g->width, room + 2 * g->width};
    int rc;

    if (!room)
        return hx_error_set(err, -ENOMEM, "out of memory");
    memset(log_gain, 0, g->width * sizeof(*log_gain));
    rc = descend(g, steps, &d, told, err);
    free(room);
    return rc;
}
