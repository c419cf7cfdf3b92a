/* Factors of a basis out of weights, see factorize.h. */
#include "factorize.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/eigen.h"
#include "quant/quant.h"

/* Row-major [m][n] is column-major n x m: W is d x D for BLAS, C and what eigenvectors are of are symmetric. */
struct job {
    const struct hx_blas *blas;
    struct hx_lowrank_factors *f;
    struct hx_lowrank_basis *b;
    int D, d, k;
    int outputs;          /* 1: eigenvectors are of W .. W^T, [D]; 0: of W^T W, [d] */
    int n;                /* D or d */
    int whole;            /* 1: by the eigenvalues of the whole matrix */
    const double *moments;
    double *w;            /* [D][d] */
    double *row, *col;    /* [D], [d] that W's rows and columns have been multiplied by */
    double *vectors;      /* [k][n], and while they are looked for [n][n] */
    double *values;       /* [n] */
    double *down, *up;    /* [k][d], [D][k] */
    double *t;            /* [most vectors at once][the other side] of subspace iteration */
};

static const double one = 1, minus_one = -1, zero = 0, rounding = 1e-12;

/* --- W */

static int widen_part(const struct hx_lowrank_part *p, double *to, float *row, struct hx_error *err)
{
    for (size_t r = 0; r < p->w->rows; r++, to += p->w->cols) {
        hx_linear_row(p->w, r, row);
        for (size_t i = 0; i < p->w->cols; i++) {
            if (!isfinite(row[i]))
                return hx_error_set(err, -EDOM, "lowrank: %s of layer %zu: weight [%zu][%zu] is %s", hx_matrix_names[p->which],
                                    p->layer, r, i, isnan(row[i]) ? "no number" : "infinite");
            to[i] = row[i];
        }
    }
    return 0;
}

static int widen(struct job *j, struct hx_error *err)
{
    float *row = malloc((size_t)j->d * sizeof(*row));
    double *to = j->w;
    int rc = row ? 0 : hx_error_set(err, -ENOMEM, "lowrank: out of memory");

    for (size_t i = 0; i < j->b->n && !rc; i++) {
        const struct hx_lowrank_part *p = &j->f->parts[j->b->first + i];

        rc = widen_part(p, to, row, err);
        to += p->w->rows * (size_t)j->d;
    }
    free(row);
    return rc;
}

static double norm2(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

/* Multiplies the rows of [D][width], or takes that back. */
static void scale_rows(const struct job *j, double *x, size_t width, int undo)
{
    for (size_t r = 0; r < (size_t)j->D; r++, x += width)
        for (size_t i = 0; i < width; i++)
            x[i] *= undo ? 1 / j->row[r] : j->row[r];
}

/* Multiplies the columns of [rows][d], or takes that back. */
static void scale_cols(const struct job *j, double *x, size_t rows, int undo)
{
    for (size_t r = 0; r < rows; r++, x += j->d)
        for (size_t i = 0; i < (size_t)j->d; i++)
            x[i] *= undo ? 1 / j->col[i] : j->col[i];
}

static int reads_stream(enum hx_matrix which)
{
    return which != HX_WO && which != HX_DOWN;
}

static void equalise(struct job *j, const struct hx_lowrank_how *how)
{
    const struct hx_lowrank_part *parts = &j->f->parts[j->b->first];
    const int reads = reads_stream(parts->which);
    double *row = j->row;

    for (size_t i = 0; i < (size_t)j->d; i++)
        j->col[i] = how->gain && reads ? 1 / how->gain[i] : 1;
    scale_cols(j, j->w, (size_t)j->D, 0);
    for (size_t i = 0; i < j->b->n; i++) {
        const size_t rows = parts[i].w->rows;
        const double norm = how->by_slot ? sqrt(norm2(j->w + (row - j->row) * j->d, rows * (size_t)j->d)) : 1;

        for (size_t r = 0; r < rows; r++)
            *row++ = (norm > 0 ? 1 / norm : 1) * (how->gain && !reads ? how->gain[r] : 1);
    }
    scale_rows(j, j->w, (size_t)j->d, 0);
}

/* --- eigenvectors */

/* The upper triangle is enough. */
static int by_whole(struct job *j, struct hx_error *err)
{
    double *wc;

    if (!j->moments) {
        j->blas->dsyrk("U", j->outputs ? "T" : "N", &j->n, j->outputs ? &j->d : &j->D, &one, j->w, &j->d, &zero, j->vectors, &j->n);
    } else {
        wc = malloc((size_t)j->D * (size_t)j->d * sizeof(*wc));
        if (!wc)
            return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
        j->blas->dgemm("N", "N", &j->d, &j->D, &j->d, &one, j->moments, &j->d, j->w, &j->d, &zero, wc, &j->d);
        j->blas->dgemm("T", "N", &j->D, &j->D, &j->d, &one, j->w, &j->d, wc, &j->d, &zero, j->vectors, &j->D);
        free(wc);
    }
    for (size_t i = 0, n = (size_t)j->n; i < n; i++) /* the other triangle is not looked at, but has to be finite */
        for (size_t c = 0; c < i; c++)
            j->vectors[c * n + i] = j->vectors[i * n + c];
    return hx_eigen_symmetric(j->vectors, (size_t)j->n, j->values, err);
}

/* out = W^T W in, W W^T in or W C W^T in. */
static void product(void *arg, const double *in, double *out, size_t vectors)
{
    struct job *j = arg;
    const int m = (int)vectors;
    double *t2 = j->t + vectors * (size_t)j->d;

    if (!j->outputs) {
        j->blas->dgemm("T", "N", &j->D, &m, &j->d, &one, j->w, &j->d, in, &j->d, &zero, j->t, &j->D);
        j->blas->dgemm("N", "N", &j->d, &m, &j->D, &one, j->w, &j->d, j->t, &j->D, &zero, out, &j->d);
        return;
    }
    j->blas->dgemm("N", "N", &j->d, &m, &j->D, &one, j->w, &j->d, in, &j->D, &zero, j->t, &j->d);
    if (j->moments)
        j->blas->dgemm("N", "N", &j->d, &m, &j->d, &one, j->moments, &j->d, j->t, &j->d, &zero, t2, &j->d);
    j->blas->dgemm("T", "N", &j->D, &m, &j->d, &one, j->w, &j->d, j->moments ? t2 : j->t, &j->d, &zero, out, &j->D);
}

static int by_subspace(struct job *j, struct hx_error *err)
{
    const size_t most = (size_t)(j->n < j->k + 64 ? j->n : j->k + 64), other = (size_t)(j->outputs ? 2 * j->d : j->D);
    const struct hx_eigen_op op = {product, j, (size_t)j->n};
    int rc;

    j->t = malloc(most * other * sizeof(*j->t));
    rc = j->t ? hx_eigen_top(&op, (size_t)j->k, HX_LOWRANK_STEPS, j->vectors, j->values, err)
              : hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    free(j->t);
    return rc;
}

/* --- a sink */

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Takes away what lies in the directions before it, twice for rounding, and makes the rest 1 long. */
static void orthogonalise(double *x, const double *before, size_t n_before, size_t n)
{
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < n_before; i++) {
            const double c = dot(x, before + i * n, n);

            for (size_t e = 0; e < n; e++)
                x[e] -= c * before[i * n + e];
        }
    const double length = sqrt(norm2(x, n));

    for (size_t e = 0; e < n; e++)
        x[e] /= length;
}

/* As the columns have been multiplied, so has what comes in been divided. */
static void scaled_sink(const struct job *j, const double *sink, double *s)
{
    for (size_t i = 0; i < (size_t)j->n; i++)
        s[i] = sink[i] / j->col[i];
    orthogonalise(s, NULL, 0, (size_t)j->n);
}

static double lost(const struct job *j, const double *s)
{
    double held = 0;

    for (size_t i = 0; i < (size_t)j->k; i++)
        held += pow(dot(j->vectors + i * (size_t)j->n, s, (size_t)j->n), 2);
    return 1 - held > rounding ? 1 - held : 0;
}

static int put_sink(struct job *j, const double *sink, struct hx_error *err)
{
    const size_t n = (size_t)j->n, k = (size_t)j->k;
    double *s = malloc(n * sizeof(*s)), held = 0;

    if (!s)
        return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    scaled_sink(j, sink, s);
    j->b->sink.cosine = 0;
    for (size_t i = 0; i + 1 < k; i++) {
        const double c = dot(j->vectors + i * n, s, n);

        held += c * c;
        j->b->sink.cosine = fabs(c) > j->b->sink.cosine ? fabs(c) : j->b->sink.cosine;
    }
    j->b->sink.held = sqrt(held);
    j->b->sink.lost_without = lost(j, s);
    j->b->sink.first = j->b->sink.held < HX_LOWRANK_SINK;
    if (j->b->sink.first) {
        memmove(j->vectors + n, j->vectors, (k - 1) * n * sizeof(*s));
        memcpy(j->vectors, s, n * sizeof(*s));
        for (size_t i = 1; i < k; i++)
            orthogonalise(j->vectors + i * n, j->vectors, i, n);
    }
    j->b->sink.lost = lost(j, s);
    free(s);
    return 0;
}

/* --- factors */

static void project(struct job *j)
{
    if (!j->outputs) {
        scale_rows(j, j->w, (size_t)j->d, 1);
        memcpy(j->down, j->vectors, (size_t)j->k * (size_t)j->d * sizeof(*j->down));
        j->blas->dgemm("T", "N", &j->k, &j->D, &j->d, &one, j->vectors, &j->d, j->w, &j->d, &zero, j->up, &j->k);
    } else {
        j->blas->dgemm("N", "N", &j->d, &j->k, &j->D, &one, j->w, &j->d, j->vectors, &j->D, &zero, j->down, &j->d);
        for (int r = 0; r < j->D; r++)
            for (int i = 0; i < j->k; i++)
                j->up[(size_t)r * (size_t)j->k + (size_t)i] = j->vectors[(size_t)i * (size_t)j->D + (size_t)r];
        scale_rows(j, j->up, (size_t)j->k, 1);
        scale_rows(j, j->w, (size_t)j->d, 1);
    }
    scale_cols(j, j->down, (size_t)j->k, 1);
    scale_cols(j, j->w, (size_t)j->D, 1);
}

/* from: [rows][stride]. */
static int narrow(const struct hx_linear *to, const double *from, size_t stride, struct hx_error *err)
{
    const struct hx_quant_info *q = hx_quant_info(to->type);
    float *row = malloc(to->cols * sizeof(*row));
    uint8_t *bytes = (uint8_t *)to->w; /* the block is this method's own */

    if (!row)
        return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    for (size_t r = 0; r < to->rows; r++, from += stride, bytes += hx_quant_row_bytes(to->type, to->cols)) {
        for (size_t i = 0; i < to->cols; i++)
            row[i] = (float)from[i];
        q->narrow(bytes, row, to->cols);
    }
    free(row);
    return 0;
}

static int store(const struct job *j, struct hx_error *err)
{
    const struct hx_lowrank_basis *b = j->b;
    const double *up = j->up;
    int rc = 0;

    for (size_t s = 0; s < b->n_slices && !rc; s++)
        rc = narrow(&b->down[s], j->down + b->cut[s] * b->cols, b->cols, err);
    for (size_t i = 0; i < b->n && !rc; i++) {
        const struct hx_lowrank_part *p = &j->f->parts[b->first + i];

        for (size_t s = 0; s < b->n_slices && !rc; s++)
            rc = narrow(&p->up[s], up + b->cut[s], b->rank, err);
        up += p->w->rows * b->rank;
    }
    return rc;
}

/* --- figures */

/* The squares of the singular values of w [rows][cols], falling: values [min(rows, cols)]. */
static int squares(const struct hx_blas *blas, const double *w, int rows, int cols, double *values, struct hx_error *err)
{
    const int tall = rows >= cols, n = tall ? cols : rows;
    double *gram = calloc((size_t)n * (size_t)n, sizeof(*gram));
    int rc = gram ? 0 : hx_error_set(err, -ENOMEM, "lowrank: out of memory");

    if (!rc) {
        blas->dsyrk("U", tall ? "N" : "T", &n, tall ? &rows : &cols, &one, w, &cols, &zero, gram, &n);
        rc = hx_eigen_values(gram, (size_t)n, values, err);
    }
    for (int i = 0; i < n && !rc; i++)
        values[i] = values[i] > 0 ? values[i] : 0; /* rounding may make them less */
    free(gram);
    return rc;
}

/* The share of |W|^2 behind its first k singular values. */
static int eckart_young(const struct job *j, struct hx_lowrank_part *p, const double *w, struct hx_error *err)
{
    const int rows = (int)p->w->rows, n = rows < j->d ? rows : j->d;
    double *values = malloc((size_t)n * sizeof(*values)), all = 0, tail = 0;
    int rc = values ? squares(j->blas, w, rows, j->d, values, err) : hx_error_set(err, -ENOMEM, "lowrank: out of memory");

    for (int i = n - 1; i >= 0 && !rc; i--) {
        all += values[i];
        tail += i >= j->k ? values[i] : 0;
    }
    if (!rc)
        p->eckart_young = all > 0 ? tail / all : 0;
    free(values);
    return rc;
}

static int measure(struct job *j, struct hx_error *err)
{
    double norms[HX_PER_LAYER], *w = j->w;
    int rc = 0;

    for (size_t i = 0; i < j->b->n && !rc; i++) {
        struct hx_lowrank_part *p = &j->f->parts[j->b->first + i];
        const size_t n = p->w->rows * (size_t)j->d;

        norms[i] = norm2(w, n);
        if (j->d <= HX_LOWRANK_WHOLE || p->w->rows <= HX_LOWRANK_WHOLE)
            rc = eckart_young(j, p, w, err);
        w += n;
    }
    if (rc)
        return rc;
    j->blas->dgemm("N", "N", &j->d, &j->D, &j->k, &minus_one, j->down, &j->d, j->up, &j->k, &one, j->w, &j->d);
    w = j->w;
    for (size_t i = 0; i < j->b->n; i++) {
        struct hx_lowrank_part *p = &j->f->parts[j->b->first + i];
        const size_t n = p->w->rows * (size_t)j->d;

        p->rel_f2 = norms[i] > 0 ? norm2(w, n) / norms[i] : 0;
        w += n;
    }
    return 0;
}

static int make(struct job *j, const struct hx_lowrank_how *how, struct hx_error *err)
{
    const double *sink = how->sink ? how->sink[j->b - j->f->bases] : NULL;
    int rc = widen(j, err);

    if (rc)
        return rc;
    equalise(j, how);
    rc = j->whole ? by_whole(j, err) : by_subspace(j, err);
    j->b->sink.held = j->b->sink.cosine = -1;
    if (!rc && sink && !j->outputs)
        rc = put_sink(j, sink, err);
    if (rc)
        return rc;
    project(j);
    rc = store(j, err);
    return rc ? rc : measure(j, err);
}

static int open_job(struct job *j, struct hx_lowrank_factors *f, struct hx_lowrank_basis *b, size_t vectors, struct hx_error *err)
{
    *j = (struct job){.blas = hx_blas(err), .f = f, .b = b, .D = (int)b->rows, .d = (int)b->cols, .k = (int)b->rank};
    if (!j->blas)
        return -ELIBACC;
    j->w = malloc(b->rows * b->cols * sizeof(*j->w));
    j->row = malloc(b->rows * sizeof(*j->row));
    j->col = malloc(b->cols * sizeof(*j->col));
    j->vectors = malloc(vectors * sizeof(*j->vectors));
    j->down = malloc(b->rank * b->cols * sizeof(*j->down));
    j->up = malloc(b->rows * b->rank * sizeof(*j->up));
    return j->w && j->row && j->col && j->vectors && j->down && j->up ? 0 : hx_error_set(err, -ENOMEM, "lowrank: out of memory");
}

static void close_job(struct job *j)
{
    free(j->w);
    free(j->row);
    free(j->col);
    free(j->vectors);
    free(j->values);
    free(j->down);
    free(j->up);
}

int hx_lowrank_factorize(struct hx_lowrank_factors *f, struct hx_lowrank_basis *b, const struct hx_lowrank_how *how,
                         const double *moments, struct hx_error *err)
{
    const int outputs = moments || b->rows < b->cols;
    const size_t n = outputs ? b->rows : b->cols;
    const int whole = how->solver == HX_LOWRANK_EIGEN || (how->solver == HX_LOWRANK_AUTO && n <= HX_LOWRANK_WHOLE);
    struct job j;
    int rc = open_job(&j, f, b, (whole ? n : b->rank) * n, err);

    j.n = (int)n;
    j.outputs = outputs;
    j.whole = whole;
    j.moments = moments;
    j.values = malloc(n * sizeof(*j.values));
    if (!rc && !j.values)
        rc = hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    if (!rc)
        rc = make(&j, how, err);
    close_job(&j);
    return rc;
}

/* --- other directions */

int hx_lowrank_directions(const struct hx_lowrank_basis *b, const double *gain, double *out, struct hx_error *err)
{
    float *row = malloc(b->cols * sizeof(*row));

    if (!row)
        return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    for (size_t s = 0; s < b->n_slices; s++)
        for (size_t r = 0; r < b->down[s].rows; r++, out += b->cols) {
            hx_linear_row(&b->down[s], r, row);
            for (size_t i = 0; i < b->cols; i++)
                out[i] = row[i] / (gain ? gain[i] : 1);
        }
    free(row);
    return 0;
}

int hx_lowrank_turn(struct hx_lowrank_factors *f, struct hx_lowrank_basis *b, const double *gain, const double *directions,
                    struct hx_error *err)
{
    const struct hx_lowrank_how how = {.gain = gain};
    struct job j;
    int rc = open_job(&j, f, b, b->rank * b->cols, err);

    if (!rc)
        rc = widen(&j, err);
    if (!rc) {
        equalise(&j, &how);
        memcpy(j.vectors, directions, b->rank * b->cols * sizeof(*directions));
        project(&j);
        rc = store(&j, err);
    }
    close_job(&j);
    return rc;
}

int hx_lowrank_spectrum(const struct hx_lowrank_part *p, double *values, struct hx_error *err)
{
    const struct hx_blas *blas = hx_blas(err);
    double *w = malloc(p->w->rows * p->w->cols * sizeof(*w));
    float *row = malloc(p->w->cols * sizeof(*row));
    int rc = blas ? 0 : -ELIBACC;

    if (!rc && (!w || !row))
        rc = hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    if (!rc)
        rc = widen_part(p, w, row, err);
    if (!rc)
        rc = squares(blas, w, (int)p->w->rows, (int)p->w->cols, values, err);
    free(w);
    free(row);
    return rc;
}
