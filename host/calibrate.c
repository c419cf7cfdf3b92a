/* Calibration of the block's tables, see calibrate.h.  The text is run twice: once to choose the skeletons, once to fit
 * the predictors, so that memory does not grow with the text. */
#include "calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forward.h"
#include "hx_f16.h"
#include "hx_vht2.h"
#include "text.h"

/* What is summed per slot. */
struct sums {
    double sum[HX_BLOCK_PAD], square[HX_BLOCK_PAD];       /* first pass, per coefficient */
    double sts[HX_BLOCK_SKEL][HX_BLOCK_SKEL];             /* second pass: S^T S, lower triangle */
    double stt[HX_BLOCK_SKEL][HX_BLOCK_RES];              /* second pass: S^T T */
};

enum { ROW = 160 }; /* coefficients, padded with zeros to whole vectors so that loops over them vectorise */

struct job {
    const struct hx_model *m;
    struct hx_kv *kv;
    struct hx_forward *f;
    const uint32_t *ids;
    size_t n_windows, ctx;
    struct sums *sums; /* [n_slots] */
    struct hx_cal *cal;
    uint8_t residual[HX_BLOCK_RES]; /* indices of the residual lanes */
    double (*analysis)[ROW];        /* [HX_BLOCK_DH] */
};

typedef void slot_fn(struct job *j, size_t slot, const double *coef);

/* The transform with its padding as a matrix: row i is what input i adds to each coefficient.  It is linear, and a
 * matrix runs several times faster than the staged formula, which it is made from. */
static void build_analysis(struct job *j)
{
    for (size_t i = 0; i < HX_BLOCK_DH; i++) {
        double *row = j->analysis[i];

        for (size_t c = 0; c < HX_BLOCK_PAD; c++)
            row[c] = c < HX_BLOCK_DH ? (double)(c == i) : 1.0 / HX_BLOCK_DH;
        hx_vht2_f64(row, HX_BLOCK_PAD); /* 154 is a legal length */
    }
}

static void coefficients(const struct job *j, double *restrict coef, const float *x)
{
    memset(coef, 0, ROW * sizeof(*coef));
    for (size_t i = 0; i < HX_BLOCK_DH; i++) {
        const double *row = j->analysis[i], v = (double)x[i];

        for (size_t c = 0; c < ROW; c++)
            coef[c] += v * row[c];
    }
}

/* Hands all K and V of one layer of the window that was just run to fn. */
static int visit_layer(struct job *j, size_t layer, slot_fn *fn, struct hx_why *why)
{
    const size_t n_kv = j->m->n_kv;
    struct hx_kv_view view;
    double coef[ROW];
    int rc = j->kv->ops->past(j->kv, layer, j->ctx, &view, why);

    if (rc)
        return rc;
    for (size_t p = 0; p < j->ctx; p++)
        for (size_t s = 0; s < 2 * n_kv; s++) {
            const float *rows = s < n_kv ? view.k : view.v;

            coefficients(j, coef, rows + p * view.stride + s % n_kv * HX_BLOCK_DH);
            fn(j, layer * 2 * n_kv + s, coef);
        }
    return 0;
}

static int visit_all(struct job *j, slot_fn *fn, struct hx_why *why)
{
    int rc = 0;

    for (size_t w = 0; !rc && w < j->n_windows; w++) {
        rc = hx_forward_run(j->f, j->ids + w * j->ctx, j->ctx, 0, why);
        for (size_t layer = 0; !rc && layer < j->m->n_layer; layer++)
            rc = visit_layer(j, layer, fn, why);
    }
    return rc;
}

static void add_variance(struct job *j, size_t slot, const double *coef)
{
    struct sums *s = &j->sums[slot];

    for (size_t i = 0; i < HX_BLOCK_PAD; i++) {
        s->sum[i] += coef[i];
        s->square[i] += coef[i] * coef[i];
    }
}

static void add_products(struct job *j, size_t slot, const double *coef)
{
    struct sums *s = &j->sums[slot];
    const uint8_t *skeleton = j->cal->tables[slot].skeleton;

    double skel[HX_BLOCK_SKEL];

    for (size_t a = 0; a < HX_BLOCK_SKEL; a++) /* as a block will hold it */
        skel[a] = (double)hx_f32_from_f16(hx_f16_from_f32((float)coef[skeleton[a]]));
    for (size_t a = 0; a < HX_BLOCK_SKEL; a++) {
        for (size_t b = 0; b <= a; b++)
            s->sts[a][b] += skel[a] * skel[b];
        for (size_t r = 0; r < HX_BLOCK_RES; r++)
            s->stt[a][r] += skel[a] * coef[j->residual[r]];
    }
}

/* The 14 squarefree indices of largest variance, ascending. */
static void choose_skeleton(const struct sums *s, double n, uint8_t *skeleton)
{
    double variance[HX_BLOCK_PAD];
    uint8_t chosen[HX_BLOCK_PAD] = {0};
    size_t out = 0;

    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        variance[i] = s->square[i] / n - s->sum[i] / n * (s->sum[i] / n);
    for (size_t picked = 0; picked < HX_BLOCK_SKEL; picked++) {
        size_t best = HX_BLOCK_PAD;

        for (size_t i = 0; i < HX_BLOCK_PAD; i++)
            if (hx_squarefree_index(i) && !chosen[i] &&
                (best == HX_BLOCK_PAD || variance[i] > variance[best]))
                best = i;
        chosen[best] = 1;
    }
    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        if (chosen[i])
            skeleton[out++] = (uint8_t)i;
}

/* a = L L^T, L in place of the lower triangle.  -EDOM: a is not positive definite.  Written out, because a library of
 * linear algebra may round differently on every machine, and the tables shall not. */
static int cholesky(double a[HX_BLOCK_SKEL][HX_BLOCK_SKEL])
{
    for (size_t i = 0; i < HX_BLOCK_SKEL; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i][j];

            for (size_t k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            if (i == j && !(sum > 0 && isfinite(sum)))
                return -EDOM;
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    return 0;
}

/* x = (L L^T)^-1 x, all columns of x at once. */
static void solve(double l[HX_BLOCK_SKEL][HX_BLOCK_SKEL], double x[HX_BLOCK_SKEL][HX_BLOCK_RES])
{
    for (size_t i = 0; i < HX_BLOCK_SKEL; i++)
        for (size_t r = 0; r < HX_BLOCK_RES; r++) {
            for (size_t k = 0; k < i; k++)
                x[i][r] -= l[i][k] * x[k][r];
            x[i][r] /= l[i][i];
        }
    for (size_t i = HX_BLOCK_SKEL; i-- > 0;)
        for (size_t r = 0; r < HX_BLOCK_RES; r++) {
            for (size_t k = i + 1; k < HX_BLOCK_SKEL; k++)
                x[i][r] -= l[k][i] * x[k][r];
            x[i][r] /= l[i][i];
        }
}

/* Solves (S^T S + 1e-4 n I) X = S^T T in place and stores W = X^T as fp16. */
static int fit(struct sums *s, double n, struct hx_block_table *t)
{
    for (size_t a = 0; a < HX_BLOCK_SKEL; a++)
        s->sts[a][a] += 1e-4 * n;
    if (cholesky(s->sts))
        return -EDOM;
    solve(s->sts, s->stt);
    for (size_t r = 0; r < HX_BLOCK_RES; r++)
        for (size_t a = 0; a < HX_BLOCK_SKEL; a++)
            t->w[r][a] = hx_f16_from_f32((float)s->stt[a][r]);
    return 0;
}

static int run_job(struct job *j, struct hx_why *why)
{
    const double n = (double)(j->n_windows * j->ctx);
    size_t lanes = 0;
    int rc;

    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        if (!hx_squarefree_index(i))
            j->residual[lanes++] = (uint8_t)i;
    build_analysis(j);
    rc = visit_all(j, add_variance, why);
    for (uint32_t i = 0; !rc && i < j->cal->n_slots; i++)
        choose_skeleton(&j->sums[i], n, j->cal->tables[i].skeleton);
    if (!rc)
        rc = visit_all(j, add_products, why);
    for (uint32_t i = 0; !rc && i < j->cal->n_slots; i++)
        if (fit(&j->sums[i], n, &j->cal->tables[i]))
            rc = hx_why_set(why, -EDOM, "calibration: slot %u cannot be fitted", i);
    return rc;
}

static int open_job(struct job *j, struct hx_why *why)
{
    const struct hx_model *m = j->m;
    int rc;

    j->cal = hx_cal_alloc((uint32_t)(m->n_layer * 2 * m->n_kv));
    if (j->cal)
        j->sums = calloc(j->cal->n_slots, sizeof(*j->sums));
    j->analysis = calloc(HX_BLOCK_DH, sizeof(*j->analysis));
    if (!j->sums || !j->analysis)
        return hx_why_set(why, -ENOMEM, "calibration: out of memory");
    j->cal->basis = HX_BASIS_VHT2;
    j->cal->k_after_rope = 1;
    j->cal->fingerprint = m->fingerprint;
    rc = hx_kv_f32_open(&j->kv, m->n_layer, m->n_kv, m->dh, j->ctx, why);
    return rc ? rc : hx_forward_open(&j->f, m, j->kv, j->ctx, why);
}

int hx_calibrate(struct hx_cal **out, const struct hx_model *m, const uint32_t *ids, size_t n_ids,
                 struct hx_why *why)
{
    struct job j = {.m = m, .ids = ids, .ctx = n_ids < HX_CAL_CTX ? n_ids : HX_CAL_CTX};
    int rc;

    if (m->dh != HX_BLOCK_DH)
        return hx_why_set(why, -EINVAL, "calibration: the model's head dimension is %zu; blocks "
                          "need %d", m->dh, HX_BLOCK_DH);
    if (n_ids < HX_CAL_MIN_VECTORS)
        return hx_why_set(why, -EINVAL, "calibration: the text has %zu tokens; at least %d are "
                          "needed", n_ids, HX_CAL_MIN_VECTORS);
    j.n_windows = n_ids / j.ctx < HX_CAL_WINDOWS ? n_ids / j.ctx : HX_CAL_WINDOWS;
    rc = open_job(&j, why);
    if (!rc)
        rc = run_job(&j, why);
    hx_forward_close(j.f);
    hx_kv_close(j.kv);
    free(j.sums);
    free(j.analysis);
    if (rc)
        hx_cal_free(j.cal);
    else
        *out = j.cal;
    return rc;
}

int hx_calibrate_text(struct hx_cal **out, const struct hx_model *m, const char *path,
                      struct hx_why *why)
{
    uint32_t *ids;
    size_t n;
    int rc = hx_text_encode(m->tok, path, &ids, &n, why);

    if (rc)
        return rc;
    rc = hx_calibrate(out, m, ids, n, why);
    free(ids);
    return rc;
}
