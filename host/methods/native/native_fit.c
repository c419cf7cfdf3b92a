/* Fits matrices in k dimensions, see native_fit.h. */
#include "native_fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "white.h"

static const double tiny = 1e-12; /* AdamW's epsilon, relative to the largest gradient */

const struct hx_native_how hx_native_usual = {
    .grow = 32, .patience = 20, .plateau = 1e-3, .cuts = 3, .steps_most = 4000, .retract = 5, .solve = 1,
    .rate = 0.3, .beta1 = 0.9, .beta2 = 0.99, .decay = 1e-4, .key = 1,
};

struct fit {
    struct hx_native *n, best, g, m, v; /* m, v: the gradients' mean and mean square */
    const struct hx_native_target *t;
    const struct hx_native_how *how;
    struct hx_native_work w;
    double rate, best_loss;
    size_t step; /* of this stage */
};

/* --- one step */

/* x [count], a step of length `rate` in each direction on average. */
static void adam(const struct fit *f, double *x, const double *g, double *m, double *v, size_t count, double rate, double decay)
{
    const struct hx_native_how *how = f->how;
    const double of_m = 1 - pow(how->beta1, (double)f->step), of_v = 1 - pow(how->beta2, (double)f->step);

    for (size_t i = 0; i < count; i++) {
        m[i] = how->beta1 * m[i] + (1 - how->beta1) * g[i];
        v[i] = how->beta2 * v[i] + (1 - how->beta2) * g[i] * g[i];
        x[i] -= rate * (m[i] / of_m / (sqrt(v[i] / of_v) + tiny) + decay * x[i]);
    }
}

/* The core's numbers are as large as the weights' norm makes them. */
static void take_step(struct fit *f)
{
    struct hx_native *n = f->n;
    const double k = (double)n->k, core = f->rate * sqrt(f->t->norm2) / k;

    f->step++;
    adam(f, n->out, f->g.out, f->m.out, f->v.out, n->k * n->rows, f->rate / sqrt((double)n->rows), 0);
    adam(f, n->in, f->g.in, f->m.in, f->v.in, n->k * n->cols, f->rate / sqrt((double)n->cols), 0);
    adam(f, n->core, f->g.core, f->m.core, f->v.core, n->k * n->k, core, f->how->decay);
}

static int retract(struct fit *f, struct hx_native_stage *s, struct hx_error *err)
{
    int rc = hx_native_retract(f->n, &f->w, err);

    if (!rc && f->how->solve)
        rc = hx_native_solve(f->n, f->t, &f->w, err);
    if (rc)
        return rc;
    s->retractions++;
    hx_native_tangent(f->n, &f->m, &f->w); /* what has been gathered has to be one of here */
    return 0;
}

/* --- a stage */

static void forget(struct hx_native *x, size_t k)
{
    x->k = k;
    memset(x->out, 0, k * x->rows * sizeof(*x->out));
    memset(x->core, 0, k * k * sizeof(*x->core));
    memset(x->in, 0, k * x->cols * sizeof(*x->in));
}

/* The loss of where it is, which is kept if it is the best; only of orthonormal bases. */
static int look(struct fit *f, double *loss, struct hx_error *err)
{
    *loss = hx_native_loss(f->n, f->t, &f->w, &f->g);
    if (!isfinite(*loss))
        return hx_error_set(err, -EDOM, "native: the loss is no number behind step %zu of k %zu", f->step, f->n->k);
    if (f->step % f->how->retract == 0 && *loss < f->best_loss) {
        f->best_loss = *loss;
        hx_native_copy(&f->best, f->n);
    }
    return 0;
}

/* From the best on, with a third of the step. */
static void cut(struct fit *f)
{
    hx_native_copy(f->n, &f->best);
    forget(&f->m, f->n->k);
    forget(&f->v, f->n->k);
    f->rate /= 3;
}

static int run_stage(struct fit *f, struct hx_native_stage *s, struct hx_error *err)
{
    const size_t window = (f->how->patience + f->how->retract - 1) / f->how->retract * f->how->retract;
    double loss, then;
    size_t cuts = 0;
    int rc = look(f, &loss, err);

    s->before = loss;
    then = f->best_loss;
    for (size_t i = 1; !rc && i <= f->how->steps_most; i++) {
        hx_native_tangent(f->n, &f->g, &f->w);
        take_step(f);
        s->steps = i;
        if (i % f->how->retract == 0)
            rc = retract(f, s, err);
        if (!rc)
            rc = look(f, &loss, err);
        if (rc || i % window)
            continue;
        if (f->best_loss > then * (1 - f->how->plateau)) {
            if (cuts++ == f->how->cuts)
                break;
            cut(f);
            f->step = 0;
            rc = look(f, &loss, err);
        }
        then = f->best_loss;
    }
    if (rc)
        return rc;
    hx_native_copy(f->n, &f->best);
    s->k = f->n->k;
    s->after = f->best_loss;
    s->skew = hx_native_skew(f->n, &f->w);
    return 0;
}

/* k grows; the best so far stays what it is, bit by bit. */
static int grow(struct fit *f, struct hx_error *err)
{
    const size_t left = f->how->k_most - f->n->k, more = left < f->how->grow ? left : f->how->grow;
    int rc = hx_native_grow(f->n, more, f->how->key, err);

    if (!rc && f->how->solve)
        rc = hx_native_solve(f->n, f->t, &f->w, err);
    return rc;
}

static int run_stages(struct fit *f, struct hx_native_course *c, struct hx_error *err)
{
    int rc = 0;

    for (c->n = 0; !rc;) {
        if (c->n == HX_NATIVE_STAGES)
            return hx_error_set(err, -EINVAL, "native: more than %d stages", HX_NATIVE_STAGES);
        c->stage[c->n] = (struct hx_native_stage){.k = f->n->k};
        forget(&f->m, f->n->k);
        forget(&f->v, f->n->k);
        f->step = 0;
        f->rate = f->how->rate;
        f->best_loss = INFINITY;
        rc = run_stage(f, &c->stage[c->n++], err);
        if (rc || !f->how->grow || f->n->k >= f->how->k_most)
            break;
        rc = grow(f, err);
    }
    return rc;
}

static int fit_plain(struct hx_native *n, const struct hx_native_target *t, const struct hx_native_how *how, struct hx_native_course *c,
                     struct hx_error *err)
{
    struct fit f = {.n = n, .t = t, .how = how};
    struct hx_native *const all[] = {&f.best, &f.g, &f.m, &f.v};
    int rc = hx_native_work_open(&f.w, n, err);

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !rc; i++)
        rc = hx_native_alloc(all[i], n->rows, n->cols, n->k, n->room, err);
    if (!rc)
        rc = run_stages(&f, c, err);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        hx_native_free(all[i]);
    hx_native_work_close(&f.w);
    return rc;
}

static int fit_weighted(struct hx_native *n, const struct hx_native_target *t, const struct hx_native_how *how, struct hx_native_course *c,
                        struct hx_error *err)
{
    struct hx_native_white white = {.w = NULL};
    struct hx_native_work w;
    int rc = hx_native_work_open(&w, n, err);

    if (!rc)
        rc = hx_native_white_open(&white, t, err);
    if (!rc)
        rc = hx_native_white_enter(&white, n, &w, err);
    if (!rc)
        rc = fit_plain(n, &white.plain, how, c, err);
    if (!rc)
        rc = hx_native_white_leave(&white, n, &w, err);
    hx_native_white_close(&white);
    hx_native_work_close(&w);
    return rc;
}

int hx_native_fit(struct hx_native *n, const struct hx_native_target *t, const struct hx_native_how *how, struct hx_native_course *c,
                  struct hx_error *err)
{
    return (t->m ? fit_weighted : fit_plain)(n, t, how, c, err);
}
