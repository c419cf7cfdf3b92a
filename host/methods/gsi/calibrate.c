/* Bases and images out of a text, see calibrate.h. */
#include "calibrate.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/eigen.h"
#include "base/watch.h"
#include "cascade.h"
#include "methods/moments/moments.h"
#include "text/text.h"

enum { BLOCK = 256 }; /* rows of a matrix that are widened at a time */

static const double one = 1, zero = 0;

/* --- weights */

/* Rows first..first+n-1 as doubles, to [n][cols]. */
static int widen(const struct hx_gsi_part *p, size_t layer, size_t first, size_t n, double *to, float *row, struct hx_error *err)
{
    for (size_t r = first; r < first + n; r++, to += p->w->cols) {
        hx_linear_row(p->w, r, row);
        for (size_t i = 0; i < p->w->cols; i++) {
            if (!isfinite(row[i]))
                return hx_error_set(err, -EDOM, "gsi: %s of layer %zu: weight [%zu][%zu] is %s", hx_matrix_names[p->which], layer, r, i,
                                    isnan(row[i]) ? "no number" : "infinite");
            to[i] = row[i];
        }
    }
    return 0;
}

/* Before a text is run with them, which would only say where the pass was when it met them. */
static int check_weights(const struct hx_gsi_classes *c, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < c->n_parts && !rc; i++) {
        const struct hx_gsi_part *p = &c->parts[i];
        double *to = malloc(p->w->cols * sizeof(*to));
        float *row = malloc(p->w->cols * sizeof(*row));

        rc = to && row ? 0 : hx_error_set(err, -ENOMEM, "gsi: out of memory");
        for (size_t r = 0; r < p->w->rows && !rc; r++)
            rc = widen(p, c->at[p->class].layer, r, 1, to, row, err);
        free(row);
        free(to);
    }
    return rc;
}

/* --- bases */

struct product {
    const struct hx_blas *blas;
    const double *c;
    int d;
};

static void multiply(void *arg, const double *in, double *out, size_t vectors)
{
    const struct product *p = arg;
    const int m = (int)vectors;

    p->blas->dgemm("N", "N", &p->d, &m, &p->d, &one, p->c, &p->d, in, &p->d, &zero, out, &p->d);
}

/* values: [d], falling, the squares of the singular values. */
static double effective_rank(const double *values, size_t d)
{
    double sum = 0, entropy = 0;

    for (size_t i = 0; i < d; i++)
        sum += values[i] > 0 ? sqrt(values[i]) : 0;
    for (size_t i = 0; i < d; i++) {
        const double p = values[i] > 0 && sum > 0 ? sqrt(values[i]) / sum : 0;

        entropy -= p > 0 ? p * log(p) : 0;
    }
    return exp(entropy);
}

/* Of a class with a basis already. */
static int find_rank(struct hx_gsi_class *c, double *moments, struct hx_error *err)
{
    double *values = malloc(c->cols * sizeof(*values));
    int rc = values ? 0 : hx_error_set(err, -ENOMEM, "gsi: out of memory");

    if (!rc && c->cols <= HX_GSI_WHOLE)
        rc = hx_eigen_values(moments, c->cols, values, err);
    if (!rc && c->cols <= HX_GSI_WHOLE)
        c->r_eff = effective_rank(values, c->cols);
    free(values);
    return rc;
}

/* The class's basis; moments [d][d] are lost. */
static int make_basis(struct hx_gsi_class *c, const struct hx_blas *blas, double *moments, struct hx_error *err)
{
    const size_t d = c->cols, k = c->made;
    struct product p = {blas, moments, (int)d};
    const struct hx_eigen_op op = {multiply, &p, d};
    double *values = malloc(d * sizeof(*values)), *top = d > HX_GSI_WHOLE ? malloc(k * d * sizeof(*top)) : NULL;
    const double *vectors = top ? top : moments;
    int rc = values && (d <= HX_GSI_WHOLE || top) ? 0 : hx_error_set(err, -ENOMEM, "gsi: out of memory");

    if (!rc)
        rc = top ? hx_eigen_top(&op, k, HX_GSI_STEPS, top, values, err) : hx_eigen_symmetric(moments, d, values, err);
    for (size_t i = 0; i < k * d && !rc; i++)
        c->basis.v[i] = (float)vectors[i];
    if (!rc) {
        c->basis.k = k;
        c->r_eff = top ? -1 : effective_rank(values, d);
    }
    free(top);
    free(values);
    return rc;
}

/* --- images */

/* What one matrix' image is made in. */
struct room {
    double *v, *w, *to; /* V [k][cols], rows of W [BLOCK][cols], W V for them [BLOCK][k] */
    float *row;         /* [cols] */
    float *columns;     /* [k][rows] */
};

static int make_image(const struct hx_gsi_class *c, struct hx_gsi_part *p, const struct hx_blas *blas, struct room *r, struct hx_error *err)
{
    const int d = (int)c->cols, k = (int)c->made;
    const size_t rows = p->w->rows;
    int rc = 0;

    for (size_t first = 0; first < rows && !rc; first += BLOCK) {
        const int n = (int)(rows - first < BLOCK ? rows - first : BLOCK);

        rc = widen(p, c->layer, first, (size_t)n, r->w, r->row, err);
        if (!rc)
            blas->dgemm("T", "N", &k, &n, &d, &one, r->v, &d, r->w, &d, &zero, r->to, &k);
        for (size_t i = 0; i < (size_t)n && !rc; i++)
            for (size_t j = 0; j < c->made; j++)
                r->columns[j * rows + first + i] = (float)r->to[i * c->made + j];
    }
    for (size_t j = 0; j < c->made && !rc; j++)
        hx_image_set(&p->image, j, r->columns + j * rows);
    return rc;
}

static int make_images(struct hx_gsi_classes *all, const struct hx_gsi_class *c, const struct hx_blas *blas, struct hx_error *err)
{
    const size_t d = c->cols, k = c->made;
    struct room r = {.v = malloc(k * d * sizeof(*r.v)), .w = malloc(BLOCK * d * sizeof(*r.w)), .to = malloc(BLOCK * k * sizeof(*r.to)),
                     .row = malloc(d * sizeof(*r.row)), .columns = malloc(k * c->rows * sizeof(*r.columns))};
    int rc = r.v && r.w && r.to && r.row && r.columns ? 0 : hx_error_set(err, -ENOMEM, "gsi: out of memory");

    for (size_t i = 0; i < k * d && !rc; i++)
        r.v[i] = c->basis.v[i];
    for (size_t i = 0; i < c->n && !rc; i++)
        rc = make_image(c, &all->parts[c->first + i], blas, &r, err);
    free(r.v);
    free(r.w);
    free(r.to);
    free(r.row);
    free(r.columns);
    return rc;
}

/* --- all classes, threads take them in turn */

struct making {
    struct hx_gsi_classes *c;
    const struct hx_moments *moments;
    const struct hx_blas *blas;
    const struct hx_watch *watch;
    _Atomic size_t next;
    pthread_mutex_t lock; /* protects what follows, and calls of watch */
    size_t done;
    int rc;
    struct hx_error *err;
};

static void make_some(void *arg, size_t part, size_t n_parts)
{
    struct making *g = arg;
    struct hx_error err = {""};
    size_t i;
    int rc = 0;

    (void)part;
    (void)n_parts;
    while (!rc && (i = atomic_fetch_add(&g->next, 1)) < g->c->n) {
        rc = g->c->at[i].basis.k ? find_rank(&g->c->at[i], g->moments->of[i], &err)
                                 : make_basis(&g->c->at[i], g->blas, g->moments->of[i], &err);
        if (!rc)
            rc = make_images(g->c, &g->c->at[i], g->blas, &err);
        pthread_mutex_lock(&g->lock);
        if (rc && !g->rc) {
            g->rc = rc;
            *g->err = err;
            atomic_store(&g->next, g->c->n); /* the others need not go on */
        }
        if (!rc)
            hx_watch_step(g->watch, "bases", ++g->done, g->c->n);
        pthread_mutex_unlock(&g->lock);
    }
}

static int make(struct hx_gsi_classes *c, const struct hx_open *o, const struct hx_moments *m, struct hx_error *err)
{
    struct hx_error detail = {""};
    struct making g = {.c = c, .moments = m, .blas = hx_blas(err), .watch = o->watch, .lock = PTHREAD_MUTEX_INITIALIZER, .err = &detail};
    const size_t threads = hx_pool_threads(o->pool);

    if (!g.blas)
        return -ELIBACC;
    hx_pool_run(o->pool, threads < c->n ? threads : c->n, make_some, &g);
    return g.rc ? hx_error_set(err, g.rc, "%s", detail.text) : 0;
}

/* --- the text */

/* rows [n]: with a cascade, room for the text's first vectors, input by input. */
static int make_rows(float **rows, const struct hx_gsi_classes *c, struct hx_error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        rows[i] = calloc(HX_GSI_CASCADE_VECTORS * c->at[i].cols, sizeof(**rows));
        if (!rows[i])
            return hx_error_set(err, -ENOMEM, "gsi: no memory for vectors of a text");
    }
    return 0;
}

static int take_moments(struct hx_moments *m, const struct hx_gsi_classes *c, const struct hx_open *o, const char *text, float *const *rows,
                        struct hx_error *err)
{
    struct hx_moments_input *in = calloc(c->n, sizeof(*in));
    uint32_t *ids = NULL;
    size_t n_ids = 0;
    int rc = in ? hx_text_encode(o->model->tok, text, &ids, &n_ids, err) : hx_error_set(err, -ENOMEM, "gsi: out of memory");

    for (size_t i = 0; in && i < c->n; i++)
        in[i] = (struct hx_moments_input){c->at[i].layer, c->at[i].input, c->at[i].cols, c->at[i].made, rows[i], HX_GSI_CASCADE_VECTORS};
    if (!rc)
        rc = hx_moments_take(m, in, c->n, "gsi", o, ids, n_ids, err);
    free(ids);
    free(in);
    return rc;
}

int hx_gsi_calibrate(struct hx_gsi_classes *c, const struct hx_open *o, const struct hx_gsi_source *from, size_t *vectors,
                     struct hx_error *err)
{
    struct hx_moments m = {0};
    float **rows = calloc(c->n, sizeof(*rows));
    int rc = rows ? check_weights(c, err) : hx_error_set(err, -ENOMEM, "gsi: out of memory");

    if (!rc && from->cascade)
        rc = make_rows(rows, c, err);
    if (!rc)
        rc = take_moments(&m, c, o, from->text, rows, err);
    if (!rc && from->cascade)
        rc = hx_gsi_cascade(c, rows, m.vectors < HX_GSI_CASCADE_VECTORS ? m.vectors : HX_GSI_CASCADE_VECTORS, from->eps, err);
    if (!rc)
        rc = make(c, o, &m, err);
    *vectors = m.vectors;
    hx_moments_free(&m);
    for (size_t i = 0; rows && i < c->n; i++)
        free(rows[i]);
    free(rows);
    return rc;
}
