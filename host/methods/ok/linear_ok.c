/* The linear method `ok`, see linear_ok.h. */
#include "linear_ok.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linear_ok_dsp.h"

enum { DEFAULT_P = 41, DEFAULT_K = 8, DEFAULT_Q = 9, MOST_DEFAULT_X = 16 };

enum { TILE = HX_OK_BATCH }; /* rows that are un-shimmed together */

const char *const hx_ok_modes[] = {"native", "B", "E", NULL};

struct ok_linear {
    struct hx_linear_method method; /* first */
    struct hx_ok_cfg cfg;           /* without zeros */
    const struct hx_ok_kernel *kernel;
    struct hx_pool *pool;
    struct hx_linear **matrix;   /* [n]: of the model */
    struct hx_ok_planes *planes; /* [n] */
    uint8_t *on_dsp;             /* [n] */
    int any_on_dsp;
    size_t n, split, kept;
    double error, norm;          /* squares, of all weights */
    uint64_t plain_top, top;     /* largest coordinates of all weights, before the shim and with it */
    int32_t *x;                  /* [vectors][stride] integers of one apply(); grows */
    double *x_scale;             /* [vectors] */
    size_t x_room, scale_room;   /* elements */
    struct hx_ok_dsp *dsp;       /* NULL: nothing is there */
    struct hx_ok_count count;    /* written by apply() after its parts have ended */
};

/* --- one apply(): quantise, then rows in parts */

struct job {
    struct ok_linear *l;
    const struct hx_linear *const *w;
    float *const *y;
    size_t n_m, rows; /* of all matrices */
    const float *in;
    size_t n, cols, stride;
    const int64_t *sums; /* from the DSP, matrix after matrix; NULL: made here */
    _Atomic uint64_t divisions, remainders, bad; /* bad: 1 + (matrix << 32 | tile) of a remainder */
};

static void quantize_part(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    struct ok_linear *l = j->l;

    for (size_t t = j->n * part / n_parts; t < j->n * (part + 1) / n_parts; t++) {
        int32_t *x = l->x + t * j->stride;

        memset(x + j->cols, 0, (j->stride - j->cols) * sizeof(*x));
        l->x_scale[t] = hx_ok_quantize(x, j->in + t * j->cols, j->cols, l->cfg.x_bits);
        if (isnan(l->x_scale[t])) /* the products become NaN by the scale */
            memset(x, 0, j->cols * sizeof(*x));
    }
}

struct rows {
    size_t m, first, n; /* of matrix m */
    const int64_t *sums;
};

/* Some of the vectors, with those columns that share a scale. */
struct share {
    size_t t, now; /* vectors */
    size_t block;
};

/* Sums of one row's block: s[vector][plane]. */
static void row_sums(const struct job *j, const struct hx_ok_planes *p, const int64_t *from, size_t row, const struct share *part,
                     int64_t s[HX_OK_AT_ONCE][HX_OK_MAX_PLANES])
{
    const size_t t = part->t, now = part->now, at = part->block * p->block;
    const size_t cols = p->stride - at < p->block ? p->stride - at : p->block;
    const int32_t *w = p->w + row * p->n * p->stride + at, *x = j->l->x + t * j->stride + at;
    int64_t got[HX_OK_AT_ONCE];

    for (size_t k = 0; k < p->n; k++, w += p->stride) {
        if (from)
            for (size_t i = 0; i < now; i++)
                got[i] = from[((t + i) * p->n + k) * p->rows + row];
        else
            (now == 1 ? j->l->kernel->dot1 : j->l->kernel->dot4)(got, w, x, j->stride, cols);
        for (size_t i = 0; i < now; i++)
            s[i][k] = got[i];
    }
}

/* Products of TILE rows or fewer with up to HX_OK_AT_ONCE vectors, [row][vector]. */
struct tile {
    int64_t a[TILE * HX_OK_AT_ONCE] __attribute__((aligned(64)));
    int64_t b[TILE * HX_OK_AT_ONCE] __attribute__((aligned(64)));
};

static void tile_products(const struct job *j, const struct rows *r, const struct hx_ok_planes *p,
                          const struct share *part, struct tile *out)
{
    int64_t s[HX_OK_AT_ONCE][HX_OK_MAX_PLANES];
    const size_t now = part->now;

    memset(out, 0, sizeof(*out)); /* what is missing is divisible */
    for (size_t k = 0; k < r->n; k++) {
        row_sums(j, p, r->sums, r->first + k, part, s);
        for (size_t i = 0; i < now; i++) {
            const struct hx_ok y = hx_ok_planes_sum(p, s[i]);

            out->a[k * now + i] = y.a;
            out->b[k * now + i] = y.b;
        }
    }
}

/* A tile's products times their scales, added to y [row][vector]. */
static void add_block(struct job *j, const struct rows *r, const struct hx_ok_planes *p, const struct share *part, double *y,
                      struct hx_ok_count *count)
{
    const size_t now = part->now;
    struct tile z;

    tile_products(j, r, p, part, &z);
    if (hx_ok_unshim_many(&p->shim, z.a, z.b, TILE * now, count))
        j->bad = 1 + ((uint64_t)r->m << 32 | r->first);
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = 0; i < now; i++)
            y[k * now + i] += (double)z.a[k * now + i] *
                              (p->scale[(r->first + k) * p->blocks + part->block] * j->l->x_scale[part->t + i]);
}

/* Vectors outside, rows inside: a tile's weights and four vectors stay in the cache. */
static void run_rows(struct job *j, const struct rows *r, struct hx_ok_count *count)
{
    const struct hx_ok_planes *p = &j->l->planes[j->w[r->m]->index];
    struct share part = {0, 0, 0};

    for (; part.t < j->n; part.t += part.now) {
        double y[TILE * HX_OK_AT_ONCE] = {0};

        part.now = j->n - part.t < HX_OK_AT_ONCE ? 1 : HX_OK_AT_ONCE;
        for (part.block = 0; part.block < p->blocks; part.block++)
            add_block(j, r, p, &part, y, count);
        for (size_t i = 0; i < part.now; i++)
            for (size_t k = 0; k < r->n; k++)
                j->y[r->m][(part.t + i) * p->rows + r->first + k] = (float)y[k * part.now + i];
    }
}

/* The part's share of all rows, stacked matrix on matrix. */
static void rows_part(void *arg, size_t part, size_t n_parts)
{
    struct job *j = arg;
    const size_t lo = j->rows * part / n_parts, hi = j->rows * (part + 1) / n_parts;
    struct hx_ok_count count = {0, 0};
    const int64_t *sums = j->sums;
    size_t at = 0; /* the matrix's first row in the stack */

    for (size_t m = 0; m < j->n_m; m++) {
        const struct hx_ok_planes *p = &j->l->planes[j->w[m]->index];
        const size_t end = at + p->rows < hi ? at + p->rows : hi;

        for (size_t r = at > lo ? at : lo; r < end; r += TILE)
            run_rows(j, &(struct rows){m, r - at, end - r < TILE ? end - r : TILE, sums}, &count);
        at += p->rows;
        sums += sums ? j->n * p->n * p->rows : 0;
    }
    j->divisions += count.divisions;
    j->remainders += count.remainders;
}

/* Room for n vectors. */
static int grow(struct ok_linear *l, size_t n, size_t stride)
{
    if (n * stride > l->x_room) {
        free(l->x);
        l->x_room = 0;
        l->x = malloc(n * stride * sizeof(*l->x));
        l->x_room = l->x ? n * stride : 0;
    }
    if (n > l->scale_room) {
        free(l->x_scale);
        l->scale_room = 0;
        l->x_scale = malloc(n * sizeof(*l->x_scale));
        l->scale_room = l->x_scale ? n : 0;
    }
    return l->x && l->x_scale ? 0 : -ENOMEM;
}

static size_t parts(const struct ok_linear *l, size_t units)
{
    const size_t threads = hx_pool_threads(l->pool);

    return units < threads ? units : threads;
}

static int finish(struct job *j, struct hx_error *err)
{
    struct ok_linear *l = j->l;

    l->count.divisions += j->divisions;
    l->count.remainders += j->remainders;
    if (!j->bad)
        return 0;
    const uint64_t bad = j->bad - 1;
    const struct hx_linear *w = j->w[bad >> 32];
    const struct hx_ok_shim *s = &l->planes[w->index].shim;

    return hx_error_set(err, -EDOM, "linear ok: matrix %u, rows from %u: a product is not divisible by "
                      "pi_%u^%u: weights or sums are damaged", w->index, (uint32_t)bad,
                      s->prime.p, s->k);
}

/* Matrices that are all here, or all on the DSP. */
static int apply_alike(struct job *j, struct hx_error *err)
{
    struct ok_linear *l = j->l;
    int rc = 0;

    j->rows = 0;
    j->bad = j->divisions = j->remainders = 0;
    for (size_t m = 0; m < j->n_m; m++)
        j->rows += j->w[m]->rows;
    j->sums = NULL;
    if (l->on_dsp[j->w[0]->index])
        rc = hx_ok_dsp_sums(l->dsp, j->w, j->n_m, l->x, j->stride, j->n, &j->sums, err);
    if (rc)
        return rc;
    hx_pool_run(l->pool, parts(l, j->rows), rows_part, j);
    return finish(j, err);
}

static int same_place(const struct hx_linear *a, const struct hx_linear *b)
{
    const struct ok_linear *l = a->state;

    return l->on_dsp[a->index] == l->on_dsp[b->index];
}

static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                 size_t n, float *scratch, struct hx_error *err)
{
    struct ok_linear *l = w[0]->state;
    struct job j = {.l = l, .in = x, .n = n, .cols = w[0]->cols,
                    .stride = hx_ok_stride(w[0]->cols)};
    struct hx_linear_group g;
    uint32_t taken = 0;
    int rc = 0;

    (void)scratch;
    if (grow(l, n, j.stride))
        return hx_error_set(err, -ENOMEM, "linear ok: no memory for %zu vectors of %zu integers", n,
                            j.stride);
    hx_pool_run(l->pool, parts(l, n), quantize_part, &j);
    while (!rc && hx_linear_group(&g, w, y, n_m, &taken, same_place)) {
        j.w = g.w;
        j.y = g.y;
        j.n_m = g.n;
        rc = apply_alike(&j, err);
    }
    return rc;
}

static const struct hx_linear_ops ops = {"ok", apply, NULL, 0, NULL};

/* --- open */

static int fill_cfg(struct hx_ok_cfg *c, const struct hx_model *m, struct hx_error *err)
{
    c->p = c->p ? c->p : DEFAULT_P;
    c->k = c->k ? c->k : DEFAULT_K;
    c->q_max = c->q_max ? c->q_max : DEFAULT_Q;
    if (c->mode >= HX_OK_MODES || c->q_max > HX_OK_MAX_Q || c->x_bits > HX_OK_MAX_X_BITS)
        return hx_error_set(err, -EINVAL, "linear ok: mode %u, q_max %u, x_bits %u; at most %u, %d and %d "
                          "are legal", c->mode, c->q_max, c->x_bits, HX_OK_MODES - 1, HX_OK_MAX_Q,
                          HX_OK_MAX_X_BITS);
    c->x_bits = c->x_bits ? c->x_bits : hx_ok_default_x_bits(m, c->q_max);
    return 0;
}

unsigned hx_ok_default_x_bits(const struct hx_model *m, unsigned q_max)
{
    const size_t most = hx_model_most_cols(m);
    struct hx_ok_shim s;

    hx_ok_shim_init(&s, DEFAULT_P, DEFAULT_K, NULL);
    const int bits = hx_ok_x_bits(&s, q_max, most);

    return bits > MOST_DEFAULT_X ? MOST_DEFAULT_X : bits < 1 ? 1 : (unsigned)bits;
}

/* The shim of matrix i: E takes turns. */
static int shim_of(const struct hx_ok_cfg *c, size_t i, struct hx_ok_shim *s, struct hx_error *err)
{
    if (c->mode == HX_OK_NATIVE)
        return hx_ok_shim_init(s, 0, 0, err);
    if (c->mode == HX_OK_E && i % 2 == 0)
        return hx_ok_shim_init(s, 2, 2, err);
    return hx_ok_shim_init(s, c->p, c->k, err);
}

/* What became of a matrix's encoding. */
struct encoding {
    int rc;
    struct hx_error err;
    double error, norm; /* |decoded - W|^2 and |W|^2 */
    uint64_t plain_top, top;
};

static int add_error(struct encoding *out, const struct hx_ok_tensor *t, const struct hx_linear *w)
{
    float *row = malloc(t->cols * sizeof(*row));

    for (size_t r = 0; row && r < t->rows; r++) {
        hx_linear_row(w, r, row);
        for (size_t j = 0; j < t->cols; j++) {
            const double d = (double)t->data[r * t->cols + j].a * t->scale[r * t->blocks + j / t->block] - (double)row[j];

            out->error += d * d;
            out->norm += (double)row[j] * (double)row[j];
        }
    }
    free(row);
    return row ? 0 : hx_error_set(&out->err, -ENOMEM, "out of memory");
}

static int encode(struct ok_linear *l, size_t i, struct encoding *out)
{
    const struct hx_linear *w = l->matrix[i];
    struct hx_ok_tensor *t = NULL;
    struct hx_ok_shim shim;
    int rc = shim_of(&l->cfg, i, &shim, &out->err);

    if (!rc)
        rc = (l->cfg.by_block ? hx_ok_tensor_of_blocks : hx_ok_tensor_of_linear)(&t, w, l->cfg.q_max, &out->err);
    if (!rc)
        rc = hx_ok_headroom(&shim, t->q_max, l->cfg.x_bits, t->block < w->cols ? t->block : w->cols, &out->err);
    if (!rc)
        rc = add_error(out, t, w);
    if (!rc)
        out->plain_top = hx_ok_tensor_top(t);
    if (!rc)
        rc = hx_ok_tensor_shim(t, &shim, &out->err);
    if (!rc) {
        out->top = hx_ok_tensor_top(t);
        rc = hx_ok_planes_of_tensor(&l->planes[i], t, &out->err);
    }
    hx_ok_tensor_free(t);
    return rc;
}

struct encode_job {
    struct ok_linear *l;
    struct encoding *out; /* [n] */
};

static void encode_part(void *arg, size_t part, size_t n_parts)
{
    const struct encode_job *j = arg;

    (void)n_parts; /* one for each matrix */
    j->out[part].rc = encode(j->l, part, &j->out[part]);
}

static int encode_all(struct ok_linear *l, struct hx_error *err)
{
    struct encode_job j = {l, calloc(l->n, sizeof(*j.out))};
    int rc = 0;

    if (!j.out)
        return hx_error_set(err, -ENOMEM, "linear ok: out of memory");
    hx_pool_run(l->pool, l->n, encode_part, &j);
    for (size_t i = 0; i < l->n && !rc; i++) {
        rc = j.out[i].rc;
        if (rc)
            hx_error_set(err, rc, "linear ok: matrix %zu, %zu x %zu: %s", i, l->matrix[i]->rows,
                         l->matrix[i]->cols, j.out[i].err.text);
        l->error += j.out[i].error;
        l->norm += j.out[i].norm;
        l->split += l->planes[i].per_coord > 1;
        l->kept += l->cfg.by_block && hx_ok_keeps(l->matrix[i]->type);
        l->plain_top = j.out[i].plain_top > l->plain_top ? j.out[i].plain_top : l->plain_top;
        l->top = j.out[i].top > l->top ? j.out[i].top : l->top;
    }
    free(j.out);
    return rc;
}

/* All of the set but the output matrix, which is no element of the ring and stays the reference's. */
static void collect(struct ok_linear *l, const struct hx_linear_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i].which != HX_OUT) {
            l->any_on_dsp |= set->at[i].on_dsp;
            l->on_dsp[l->n] = (uint8_t)set->at[i].on_dsp;
            l->matrix[l->n++] = set->at[i].w;
        }
}

/* All are encoded before the first is changed: a failed open leaves the model as it was. */
static int take_over(struct ok_linear *l, struct hx_error *err)
{
    int rc = encode_all(l, err);

    if (!rc && l->any_on_dsp)
        rc = hx_ok_dsp_open(&l->dsp, l->planes, l->on_dsp, l->n, l->cfg.packets, err);
    for (size_t i = 0; i < l->n && !rc; i++) {
        l->matrix[i]->ops = &ops;
        l->matrix[i]->state = l;
        l->matrix[i]->index = (uint32_t)i;
    }
    return rc;
}

static void close_ok(struct hx_linear_method *method)
{
    struct ok_linear *l = (struct ok_linear *)method;

    hx_ok_dsp_close(l->dsp);
    for (size_t i = 0; l->planes && i < l->n; i++)
        hx_ok_planes_free(&l->planes[i]);
    free(l->planes);
    free(l->matrix);
    free(l->on_dsp);
    free(l->x);
    free(l->x_scale);
    free(l);
}

int hx_linear_ok_open(struct hx_linear_method **out, const struct hx_model *m, const struct hx_linear_set *set,
                      const struct hx_ok_cfg *cfg, struct hx_pool *pool, struct hx_error *err)
{
    struct ok_linear *l = calloc(1, sizeof(*l));
    int rc;

    if (!l)
        return hx_error_set(err, -ENOMEM, "linear ok: out of memory");
    l->method.close = close_ok;
    l->cfg = *cfg;
    l->pool = pool;
    l->matrix = calloc(set->n, sizeof(struct hx_linear *));
    l->planes = calloc(set->n, sizeof(*l->planes));
    l->on_dsp = calloc(set->n, sizeof(*l->on_dsp));
    rc = l->matrix && l->planes && l->on_dsp
             ? fill_cfg(&l->cfg, m, err)
             : hx_error_set(err, -ENOMEM, "linear ok: out of memory");
    if (!rc)
        rc = hx_ok_kernel(&l->kernel, cfg->kernel, err);
    if (!rc) {
        collect(l, set);
        rc = take_over(l, err);
    }
    if (rc)
        close_ok(&l->method);
    else
        *out = &l->method;
    return rc;
}

void hx_linear_ok_report(const struct hx_linear_method *method, struct hx_ok_report *out)
{
    const struct ok_linear *l = (const struct ok_linear *)method;
    const int shim = l->cfg.mode != HX_OK_NATIVE;

    *out = (struct hx_ok_report){.mode = l->cfg.mode, .p = shim ? l->cfg.p : 0,
                                 .k = shim ? l->cfg.k : 0, .q_max = l->cfg.q_max,
                                 .x_bits = l->cfg.x_bits, .matrices = l->n, .split = l->split,
                                 .kernel = l->any_on_dsp ? "hvx" : l->kernel->name,
                                 .rel_l2 = l->norm > 0 ? sqrt(l->error / l->norm) : 0,
                                 .by_block = l->cfg.by_block, .kept = l->kept,
                                 .amax_ratio = l->plain_top ? (double)l->top / (double)l->plain_top : 0,
                                 .lane_ratio = (double)l->top / INT32_MAX,
                                 .count = l->count};
    for (size_t i = 0; i < l->n; i++)
        out->bytes += hx_ok_planes_bytes(&l->planes[i]);
}

const struct hx_ok_planes *hx_linear_ok_planes(const struct hx_linear_method *method, size_t i)
{
    return &((const struct ok_linear *)method)->planes[i];
}
