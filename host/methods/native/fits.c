/* A model's matrices in k dimensions, see fits.h. */
#include "fits.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/blas.h"
#include "base/watch.h"

static const enum hx_tap_point input_of[HX_PER_LAYER] = {
    HX_TAP_IN_QKV, HX_TAP_IN_QKV, HX_TAP_IN_QKV, HX_TAP_IN_O, HX_TAP_IN_FFN, HX_TAP_IN_FFN, HX_TAP_IN_DOWN,
};

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

int hx_native_fits_take(struct hx_native_fits *f, const struct hx_linear_set *set, uint32_t matrices, size_t k, size_t room,
                        struct hx_error *err)
{
    f->at = calloc(set->n + 1, sizeof(*f->at));
    if (!f->at)
        return hx_error_set(err, -ENOMEM, "native: out of memory");
    for (size_t i = 0; i < set->n; i++) {
        const struct hx_linear *w = set->at[i].w;
        const size_t most = min(w->rows, w->cols);

        if (set->at[i].which == HX_OUT || !(matrices & 1u << set->at[i].which))
            continue;
        f->at[f->n++] = (struct hx_native_part){.w = w, .layer = set->at[i].layer, .which = set->at[i].which, .bound = -1,
                                                .n = {w->rows, w->cols, min(k, most), min(k > room ? k : room, most), NULL, NULL, NULL}};
    }
    return f->n ? 0 : hx_error_set(err, -EINVAL, "native: none of its matrices can be had in k dimensions");
}

int hx_native_fits_weigh(struct hx_native_fits *f, const struct hx_open *o, const uint32_t *ids, size_t n_ids, struct hx_error *err)
{
    struct hx_moments_input *in = calloc(f->n + 1, sizeof(*in));
    int rc = in ? 0 : hx_error_set(err, -ENOMEM, "native: out of memory");

    for (size_t i = 0; in && i < f->n; i++)
        in[i] = (struct hx_moments_input){.layer = f->at[i].layer, .point = input_of[f->at[i].which], .cols = f->at[i].n.cols,
                                          .rank = f->at[i].n.room};
    if (!rc)
        rc = hx_moments_take(&f->moments, in, f->n, "native", o, ids, n_ids, err);
    f->of_text = !rc;
    free(in);
    return rc;
}

struct hx_native_part *hx_native_fits_find(const struct hx_native_fits *f, size_t layer, enum hx_matrix which)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i].layer == layer && f->at[i].which == which)
            return &f->at[i];
    return NULL;
}

void hx_native_fits_free(struct hx_native_fits *f)
{
    for (size_t i = 0; i < f->n; i++)
        hx_native_free(&f->at[i].n);
    free(f->at);
    hx_moments_free(&f->moments);
    *f = (struct hx_native_fits){.n = 0};
}

/* --- fits */

/* Threads take parts in turn. */
struct each {
    struct hx_native_fits *f;
    hx_native_fits_fn *fn;
    void *arg;
    const struct hx_watch *watch;
    const char *what;
    _Atomic size_t next;
    pthread_mutex_t lock; /* protects what follows, and calls of watch */
    size_t done;
    int rc;
    struct hx_error *err;
};

static double *widen(const struct hx_linear *w)
{
    double *to = malloc(w->rows * w->cols * sizeof(*to));
    float *row = malloc(w->cols * sizeof(*row));

    for (size_t r = 0; to && row && r < w->rows; r++) {
        hx_linear_row(w, r, row);
        for (size_t i = 0; i < w->cols; i++)
            to[r * w->cols + i] = row[i];
    }
    if (!row) {
        free(to);
        to = NULL;
    }
    free(row);
    return to;
}

/* Losses with and without the text. */
static int measure(struct hx_native_part *p, const struct hx_native_target *t, struct hx_error *err)
{
    struct hx_native_target plain;
    struct hx_native_work work;
    int rc = hx_native_work_open(&work, &p->n, err);

    if (!rc)
        p->loss = p->plain = hx_native_loss(&p->n, t, &work, NULL);
    if (!rc && t->m) {
        rc = hx_native_target_open(&plain, t->rows, t->cols, t->w, NULL, err);
        if (!rc)
            p->plain = hx_native_loss(&p->n, &plain, &work, NULL);
        hx_native_target_close(&plain);
    }
    hx_native_work_close(&work);
    return rc;
}

static int one(struct each *e, size_t i, struct hx_error *err)
{
    struct hx_native_part *p = &e->f->at[i];
    const double *moments = e->f->moments.of ? e->f->moments.of[i] : NULL;
    struct hx_native_target t = {.rows = 0};
    struct hx_error detail = {""};
    double *w = widen(p->w);
    int rc = w ? 0 : hx_error_set(&detail, -ENOMEM, "out of memory");

    if (!rc && !p->n.out)
        rc = hx_native_alloc(&p->n, p->n.rows, p->n.cols, p->n.k, p->n.room, &detail);
    if (!rc)
        rc = hx_native_target_open(&t, p->n.rows, p->n.cols, w, moments, &detail);
    if (!rc)
        rc = e->fn(e->arg, p, &t, &detail);
    if (!rc)
        rc = measure(p, &t, &detail);
    if (rc)
        hx_error_set(err, rc, "%s of layer %zu: %s", hx_matrix_names[p->which], p->layer, detail.text);
    hx_native_target_close(&t);
    free(w);
    return rc;
}

static void some(void *arg, size_t part, size_t n_parts)
{
    struct each *e = arg;
    struct hx_error err = {""};
    size_t i;
    int rc = 0;

    (void)part;
    (void)n_parts;
    while (!rc && (i = atomic_fetch_add(&e->next, 1)) < e->f->n) {
        rc = one(e, i, &err);
        pthread_mutex_lock(&e->lock);
        if (rc && !e->rc) {
            e->rc = rc;
            *e->err = err;
            atomic_store(&e->next, e->f->n); /* the others need not go on */
        }
        if (!rc)
            hx_watch_step(e->watch, e->what, ++e->done, e->f->n);
        pthread_mutex_unlock(&e->lock);
    }
}

int hx_native_fits_each(struct hx_native_fits *f, struct hx_pool *pool, const struct hx_watch *watch, const char *what,
                        hx_native_fits_fn *fn, void *arg, struct hx_error *err)
{
    struct hx_error detail = {""};
    struct each e = {.f = f, .fn = fn, .arg = arg, .watch = watch, .what = what, .lock = PTHREAD_MUTEX_INITIALIZER, .err = &detail};

    if (!hx_blas(err)) /* before threads need it */
        return -ELIBACC;
    hx_pool_run(pool, min(hx_pool_threads(pool), f->n), some, &e);
    return e.rc ? hx_error_set(err, e.rc, "%s", detail.text) : 0;
}

int hx_native_fits_best(void *arg, struct hx_native_part *p, const struct hx_native_target *t, struct hx_error *err)
{
    (void)arg;
    return hx_native_optimum(&p->n, t, &p->bound, err);
}
