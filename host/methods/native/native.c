/* Matrices that live in k dimensions, see native.h. */
#include "native.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"
#include "product.h"

enum { STEPS = 3 }; /* of subspace iteration */

/* --- memory */

static double *doubles(size_t a, size_t b)
{
    return calloc(a * b + 1, sizeof(double));
}

int hx_native_alloc(struct hx_native *n, size_t rows, size_t cols, size_t k, size_t room, struct hx_error *err)
{
    *n = (struct hx_native){.rows = rows, .cols = cols, .k = k, .room = room, .out = doubles(room, rows), .core = doubles(room, room),
                            .in = doubles(room, cols)};
    return n->out && n->core && n->in ? 0 : hx_error_set(err, -ENOMEM, "native: out of memory");
}

void hx_native_free(struct hx_native *n)
{
    free(n->out);
    free(n->core);
    free(n->in);
    *n = (struct hx_native){.k = 0};
}

void hx_native_copy(struct hx_native *to, const struct hx_native *from)
{
    to->k = from->k;
    memcpy(to->out, from->out, from->k * from->rows * sizeof(*to->out));
    memcpy(to->core, from->core, from->k * from->k * sizeof(*to->core));
    memcpy(to->in, from->in, from->k * from->cols * sizeof(*to->in));
}

int hx_native_work_open(struct hx_native_work *w, const struct hx_native *n, struct hx_error *err)
{
    const size_t k = n->room;

    *w = (struct hx_native_work){
        .p = doubles(k, n->rows), .cp = doubles(k, n->rows), .ut = doubles(k, n->cols), .vm = doubles(k, n->cols), .s = doubles(k, k),
        .go = doubles(k, k), .gi = doubles(k, k), .kk = doubles(k, k), .kk2 = doubles(k, k), .tau = doubles(k, 1),
    };
    return w->p && w->cp && w->ut && w->vm && w->s && w->go && w->gi && w->kk && w->kk2 && w->tau
               ? 0
               : hx_error_set(err, -ENOMEM, "native: out of memory");
}

void hx_native_work_close(struct hx_native_work *w)
{
    double *const all[] = {w->p, w->cp, w->ut, w->vm, w->s, w->go, w->gi, w->kk, w->kk2, w->tau};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
    *w = (struct hx_native_work){NULL};
}

/* --- numbers of parameters */

uint64_t hx_native_params(size_t rows, size_t cols, size_t k)
{
    return (uint64_t)k * k + (uint64_t)k * (rows + cols);
}

uint64_t hx_native_params_square(size_t d, size_t k)
{
    return (uint64_t)k * k + (uint64_t)k * d;
}

double hx_native_k_star(double l2_mb)
{
    return 42.7 * l2_mb;
}

size_t hx_native_k_fit(size_t count, size_t sum, double numbers)
{
    const double n = (double)count, half = (double)sum / (2 * n);
    size_t k = (size_t)(sqrt(half * half + numbers / n) - half); /* rounding may be off by one */

    while ((double)(k + 1) * (n * (double)(k + 1) + (double)sum) <= numbers)
        k++;
    while (k && (double)k * (n * (double)k + (double)sum) > numbers)
        k--;
    return k;
}

/* --- what is fitted to */

int hx_native_target_open(struct hx_native_target *t, size_t rows, size_t cols, const double *w, const double *m, struct hx_error *err)
{
    *t = (struct hx_native_target){.rows = rows, .cols = cols, .w = w, .m = m};
    if (!hx_blas(err))
        return -ELIBACC;
    if (m) {
        t->wm = doubles(rows, cols);
        if (!t->wm)
            return hx_error_set(err, -ENOMEM, "native: out of memory");
        hx_product("NN", rows, cols, cols, w, m, t->wm);
    }
    t->norm2 = hx_product_inner(m ? t->wm : w, w, rows * cols);
    if (t->norm2 > 0 && isfinite(t->norm2))
        return 0;
    return hx_error_set(err, -EDOM, "native: a matrix of %zu x %zu is 0, or not finite: there is nothing to fit", rows, cols);
}

void hx_native_target_close(struct hx_native_target *t)
{
    free(t->wm);
    *t = (struct hx_native_target){.rows = 0};
}

static const double *weighted(const struct hx_native_target *t)
{
    return t->m ? t->wm : t->w;
}

/* 1: eigenvectors are looked for among outputs, of W M W^T; 0: among inputs, of W^T W, which is smaller. */
static int of_outputs(const struct hx_native_target *t)
{
    return t->m || t->rows <= t->cols;
}

static size_t side(const struct hx_native_target *t)
{
    return of_outputs(t) ? t->rows : t->cols;
}

static void gram(const struct hx_native_target *t, double *to)
{
    const size_t n = side(t);

    if (of_outputs(t))
        hx_product("NT", n, n, t->cols, weighted(t), t->w, to);
    else
        hx_product("TN", n, n, t->rows, t->w, t->w, to);
    for (size_t i = 0; i < n; i++) /* rounding: it is symmetric */
        for (size_t c = 0; c < i; c++)
            to[i * n + c] = to[c * n + i] = (to[i * n + c] + to[c * n + i]) / 2;
}

int hx_native_bounds(const struct hx_native_target *t, double *bounds, struct hx_error *err)
{
    const size_t n = side(t), count = t->rows < t->cols ? t->rows : t->cols;
    double *a, *values, tail = 0;
    int rc = 0;

    if (n > HX_NATIVE_WHOLE)
        return hx_error_set(err, -EDOM, "native: %zu eigenvalues; %d are taken at most", n, HX_NATIVE_WHOLE);
    a = doubles(n, n);
    values = doubles(n, 1);
    if (!a || !values)
        rc = hx_error_set(err, -ENOMEM, "native: out of memory");
    if (!rc) {
        gram(t, a);
        rc = hx_eigen_values(a, n, values, err);
    }
    for (size_t i = n; i-- > 0 && !rc;) {
        if (i < count)
            bounds[i] = tail / t->norm2;
        tail += values[i] > 0 ? values[i] : 0;
    }
    free(a);
    free(values);
    return rc;
}

/* --- the best of a k */

struct operator {
    const struct hx_native_target *t;
    double *between; /* [vectors][the other side] */
};

/* out = W M W^T in, or W^T W in: vectors are rows. */
static void operate(void *arg, const double *in, double *out, size_t m)
{
    const struct operator *o = arg;
    const struct hx_native_target *t = o->t;

    if (of_outputs(t)) {
        hx_product("NN", m, t->cols, t->rows, in, t->w, o->between);
        hx_product("NT", m, t->rows, t->cols, o->between, weighted(t), out);
        return;
    }
    hx_product("NT", m, t->rows, t->cols, in, t->w, o->between);
    hx_product("NN", m, t->cols, t->rows, o->between, t->w, out);
}

static int top_by_subspace(const struct hx_native_target *t, size_t k, double *to, struct hx_error *err)
{
    const size_t n = side(t), most = k + 64 < n ? k + 64 : n;
    struct operator o = {t, doubles(most, of_outputs(t) ? t->cols : t->rows)};
    const struct hx_eigen_op op = {operate, &o, n};
    double *values = doubles(n, 1);
    int rc = o.between && values ? hx_eigen_top(&op, k, STEPS, to, values, err) : hx_error_set(err, -ENOMEM, "native: out of memory");

    free(o.between);
    free(values);
    return rc;
}

static int top_of_all(const struct hx_native_target *t, size_t k, double *to, double *bound, struct hx_error *err)
{
    const size_t n = side(t);
    double *a = doubles(n, n), *values = doubles(n, 1);
    int rc = a && values ? 0 : hx_error_set(err, -ENOMEM, "native: out of memory");

    if (!rc) {
        gram(t, a);
        rc = hx_eigen_symmetric(a, n, values, err);
    }
    if (!rc) {
        double tail = 0;

        memcpy(to, a, k * n * sizeof(*to));
        for (size_t i = n; i-- > k;)
            tail += values[i] > 0 ? values[i] : 0;
        *bound = tail / t->norm2;
    }
    free(a);
    free(values);
    return rc;
}

/* With U the first eigenvectors W_n = U^T (U W), and QR brings the second factor into its form. */
int hx_native_optimum(struct hx_native *n, const struct hx_native_target *t, double *bound, struct hx_error *err)
{
    double *const found = of_outputs(t) ? n->out : n->in;
    struct hx_native_work w;
    int rc = hx_native_work_open(&w, n, err);

    *bound = -1;
    if (!rc)
        rc = side(t) <= HX_NATIVE_WHOLE ? top_of_all(t, n->k, found, bound, err) : top_by_subspace(t, n->k, found, err);
    if (!rc) {
        if (of_outputs(t))
            hx_product("NN", n->k, n->cols, n->rows, n->out, t->w, n->in);
        else
            hx_product("NT", n->k, n->rows, n->cols, n->in, t->w, n->out);
        memset(n->core, 0, n->k * n->k * sizeof(*n->core));
        for (size_t i = 0; i < n->k; i++)
            n->core[i * n->k + i] = 1;
        rc = hx_native_retract(n, &w, err);
    }
    hx_native_work_close(&w);
    return rc;
}

/* --- loss and gradients */

/* x = 2 / |W|^2 (x - y) */
static void residue(double *x, const double *y, size_t n, double norm2)
{
    for (size_t i = 0; i < n; i++)
        x[i] = 2 * (x[i] - y[i]) / norm2;
}

/* With P = W M B_in, S = B_out^T P, Go = B_out^T B_out, Gi = B_in^T M B_in:
 *   loss |W|^2 = <Go C Gi, C> - 2 <S, C> + |W|^2
 *   by C:      2 (Go C Gi - S)
 *   by B_out:  2 (B_out C Gi C^T - P C^T)
 *   by B_in:   2 (M B_in C^T Go C - M W^T B_out C) */
double hx_native_loss(const struct hx_native *n, const struct hx_native_target *t, struct hx_native_work *w, struct hx_native *g)
{
    const size_t k = n->k, rows = n->rows, cols = n->cols;
    const double *vm = n->in;
    double inner;

    if (t->m) {
        hx_product("NN", k, cols, cols, n->in, t->m, w->vm);
        vm = w->vm;
    }
    hx_product("NN", k, cols, rows, n->out, weighted(t), w->ut);
    hx_product("NT", k, k, cols, w->ut, n->in, w->s);
    hx_product("NT", k, k, rows, n->out, n->out, w->go);
    hx_product("NT", k, k, cols, vm, n->in, w->gi);
    hx_product("NN", k, k, k, w->go, n->core, w->kk);
    hx_product("NN", k, k, k, w->kk, w->gi, w->kk2); /* Go C Gi */
    inner = hx_product_inner(w->kk2, n->core, k * k) - 2 * hx_product_inner(w->s, n->core, k * k);
    if (!g)
        return (inner + t->norm2) / t->norm2;
    g->k = k;
    memcpy(g->core, w->kk2, k * k * sizeof(*g->core));
    residue(g->core, w->s, k * k, t->norm2);

    hx_product("TN", k, k, k, n->core, w->kk, w->kk2); /* C^T Go C */
    hx_product("NN", k, cols, k, w->kk2, vm, g->in);
    hx_product("TN", k, cols, k, n->core, w->ut, w->vm); /* vm is not needed any more */
    residue(g->in, w->vm, k * cols, t->norm2);

    hx_product("NN", k, k, k, n->core, w->gi, w->kk);
    hx_product("NT", k, k, k, w->kk, n->core, w->kk2); /* C Gi C^T */
    hx_product("NT", k, rows, cols, n->in, weighted(t), w->p);
    hx_product("NN", k, rows, k, w->kk2, n->out, g->out);
    hx_product("NN", k, rows, k, n->core, w->p, w->cp);
    residue(g->out, w->cp, k * rows, t->norm2);
    return (inner + t->norm2) / t->norm2;
}

/* --- steps */

/* b [k][d], as LAPACK's d x k, becomes Q; r [k][k] R, row by row. */
static int qr(double *b, size_t k, size_t d, double *r, double *tau, struct hx_error *err)
{
    const struct hx_blas *blas = hx_blas(err);
    const int m = (int)d, n = (int)k;

    if (!blas)
        return -ELIBACC;
    if (blas->dgeqrf(HX_BLAS_COLUMNS, m, n, b, m, tau))
        return hx_error_set(err, -EDOM, "native: no QR of a basis of %zu x %zu", d, k);
    for (size_t i = 0; i < k; i++)
        for (size_t c = 0; c < k; c++)
            r[i * k + c] = c < i ? 0 : b[c * d + i];
    if (blas->dorgqr(HX_BLAS_COLUMNS, m, n, n, b, m, tau))
        return hx_error_set(err, -EDOM, "native: no QR of a basis of %zu x %zu", d, k);
    for (size_t i = 0; i < k; i++) {
        if (r[i * k + i] >= 0)
            continue;
        for (size_t c = i; c < k; c++)
            r[i * k + c] = -r[i * k + c];
        for (size_t x = 0; x < d; x++)
            b[i * d + x] = -b[i * d + x];
    }
    return 0;
}

int hx_native_retract(struct hx_native *n, struct hx_native_work *w, struct hx_error *err)
{
    const size_t k = n->k;
    int rc = qr(n->out, k, n->rows, w->go, w->tau, err);

    if (!rc)
        rc = qr(n->in, k, n->cols, w->gi, w->tau, err);
    if (rc)
        return rc;
    hx_product("NN", k, k, k, w->go, n->core, w->kk);
    hx_product("NT", k, k, k, w->kk, w->gi, n->core);
    return 0;
}

/* x [k][k] = x a^-1, a symmetric and positive; what of it is rounding counts as infinite. */
static int divide(double *x, double *a, size_t k, struct hx_native_work *w, struct hx_error *err)
{
    int rc = hx_eigen_symmetric(a, k, w->tau, err); /* a's rows: eigenvectors */

    if (rc)
        return rc;
    hx_product("NT", k, k, k, x, a, w->kk);
    for (size_t i = 0; i < k * k; i++)
        w->kk[i] = w->tau[i % k] > 1e-12 * w->tau[0] ? w->kk[i] / w->tau[i % k] : 0;
    hx_product("NN", k, k, k, w->kk, a, x);
    return 0;
}

int hx_native_solve(struct hx_native *n, const struct hx_native_target *t, struct hx_native_work *w, struct hx_error *err)
{
    const size_t k = n->k;

    hx_product("NN", k, n->cols, n->rows, n->out, weighted(t), w->ut);
    hx_product("NT", k, k, n->cols, w->ut, n->in, n->core);
    if (!t->m)
        return 0;
    hx_product("NN", k, n->cols, n->cols, n->in, t->m, w->vm);
    hx_product("NT", k, k, n->cols, w->vm, n->in, w->gi);
    for (size_t i = 0; i < k; i++) /* rounding: it is symmetric */
        for (size_t c = 0; c < i; c++)
            w->gi[i * k + c] = w->gi[c * k + i];
    return divide(n->core, w->gi, k, w, err);
}

/* g [k][d] -= sym(g b^T) b, as both lie as rows. */
static void tangent_of(double *g, const double *b, size_t k, size_t d, struct hx_native_work *w, double *room)
{
    hx_product("NT", k, k, d, g, b, w->kk);
    for (size_t i = 0; i < k; i++)
        for (size_t c = 0; c < k; c++)
            w->kk2[i * k + c] = (w->kk[i * k + c] + w->kk[c * k + i]) / 2;
    hx_product("NN", k, d, k, w->kk2, b, room);
    for (size_t i = 0; i < k * d; i++)
        g[i] -= room[i];
}

void hx_native_tangent(const struct hx_native *n, struct hx_native *g, struct hx_native_work *w)
{
    tangent_of(g->out, n->out, n->k, n->rows, w, w->p);
    tangent_of(g->in, n->in, n->k, n->cols, w, w->vm);
}

static double skew_of(const double *b, size_t k, size_t d, struct hx_native_work *w)
{
    double most = 0;

    hx_product("NT", k, k, d, b, b, w->kk);
    for (size_t i = 0; i < k * k; i++)
        most = fmax(most, fabs(w->kk[i] - (i % (k + 1) == 0)));
    return most;
}

double hx_native_skew(const struct hx_native *n, struct hx_native_work *w)
{
    return fmax(skew_of(n->out, n->k, n->rows, w), skew_of(n->in, n->k, n->cols, w));
}

/* --- growth */

/* Row k of b [..][d]: numbers by key, orthogonal to the rows before; twice, as once leaves rounding.
 * Source: Daniel, Gragg, Kaufman, Stewart 1976. */
static void new_row(double *b, size_t k, size_t d, uint64_t key)
{
    double *row = b + k * d, length;

    for (size_t i = 0; i < d; i++)
        row[i] = hx_product_normal(key, k * d + i);
    for (int twice = 0; twice < 2; twice++)
        for (size_t r = 0; r < k; r++) {
            const double along = hx_product_inner(row, b + r * d, d);

            for (size_t i = 0; i < d; i++)
                row[i] -= along * b[r * d + i];
        }
    length = sqrt(hx_product_inner(row, row, d));
    for (size_t i = 0; i < d; i++)
        row[i] /= length;
}

int hx_native_grow(struct hx_native *n, size_t more, uint64_t key, struct hx_error *err)
{
    const size_t old = n->k, k = old + more;

    if (k > n->room)
        return hx_error_set(err, -EINVAL, "native: k %zu; there is room for %zu", k, n->room);
    for (size_t i = old; i < k; i++) {
        new_row(n->out, i, n->rows, key);
        new_row(n->in, i, n->cols, key + 1);
    }
    for (size_t r = k; r-- > 0;)
        for (size_t c = k; c-- > 0;)
            n->core[r * k + c] = r < old && c < old ? n->core[r * old + c] : 0;
    n->k = k;
    return 0;
}

int hx_native_start(struct hx_native *n, uint64_t key, struct hx_error *err)
{
    const size_t k = n->k;

    n->k = 0;
    return hx_native_grow(n, k, key, err);
}
