/* Attention over depth, see attnres.h. */
#include "attnres.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "queries.h"

const char *const hx_attnres_mode_names[] = {"blend", "damp", "damp-stream", NULL};
const char *const hx_attnres_summary_names[] = {"sums", "states", NULL};
const char *const hx_attnres_query_names[] = {"state", "zero", "file", NULL};

static const double damp_attn = 0.12, damp_ffn = 0.18; /* as published, at strength 1 and full depth */

enum { PARTS_OF_8 = 8, LEAST_BLOCK = 2 };

struct attnres {
    struct hx_tap tap;
    struct hx_attnres_cfg cfg;
    size_t n_layer, width, blocks;
    float *queries;    /* [blocks][width] of a file; NULL: none */
    /* of the batch that runs, for `capacity` rows */
    size_t capacity;
    float *before;     /* [rows][width] the stream where the block, or for damp the sub-layer, began */
    float *summaries;  /* [blocks + 1][capacity][width]; NULL: damp */
    double *a;         /* [blocks + 1] weights of a row */
    float *mix;        /* [width] */
    /* what was seen */
    size_t rows;
    double *squares;   /* [n_layer] of the stream, summed */
    double *rms;       /* [n_layer] made of these when asked for */
    double *newest;    /* [blocks] weights, summed; and means when asked for */
    double *moved;     /* [blocks] squares of |x' - x| / |x|, summed */
    double *newest_mean, *moved_rms;
};

static double square(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

static double dot(const float *x, const float *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)y[i];
    return sum;
}

/* --- memory of a batch */

static int grow(struct attnres *t, size_t rows, struct hx_error *err)
{
    const size_t sums = t->cfg.mode == HX_ATTNRES_BLEND ? t->blocks + 1 : 0, row = t->width * sizeof(float);
    size_t bytes;

    if (rows <= t->capacity)
        return 0;
    free(t->before);
    free(t->summaries);
    t->capacity = 0;
    t->summaries = NULL;
    t->before = __builtin_mul_overflow(rows, row, &bytes) ? NULL : malloc(bytes);
    if (t->before && sums)
        t->summaries = __builtin_mul_overflow(bytes, sums, &bytes) ? NULL : malloc(bytes);
    if (!t->before || (sums && !t->summaries))
        return hx_error_set(err, -ENOMEM, "attnres: no memory for the summaries of %zu tokens", rows);
    t->capacity = rows;
    return 0;
}

static float *summary(const struct attnres *t, size_t n, size_t row)
{
    return t->summaries + (n * t->capacity + row) * t->width;
}

/* --- blend */

/* a[0..n-1] of one row. */
static void weigh(const struct attnres *t, const float *q, size_t row, size_t n)
{
    const double length = q ? sqrt(square(q, t->width)) : 0;
    double top = -INFINITY, sum = 0;

    for (size_t i = 0; i < n; i++) {
        const float *b = summary(t, i, row);
        const double both = length * sqrt(square(b, t->width));

        t->a[i] = both > 0 ? t->cfg.tau * dot(q, b, t->width) / both : 0;
        top = fmax(top, t->a[i]);
    }
    for (size_t i = 0; i < n; i++)
        sum += t->a[i] = exp(t->a[i] - top);
    for (size_t i = 0; i < n; i++)
        t->a[i] /= sum;
}

static const float *query(const struct attnres *t, size_t block, const float *x)
{
    switch (t->cfg.query) {
    case HX_ATTNRES_STATE:
        return x;
    case HX_ATTNRES_FILE:
        return t->queries + block * t->width;
    default:
        return NULL;
    }
}

/* One row where a block ends. */
static void blend_row(struct attnres *t, size_t block, size_t row, float *x)
{
    const size_t n = block + 2;
    const double s = t->cfg.strength, was = square(x, t->width), factor = t->cfg.summary == HX_ATTNRES_SUMS ? (double)n : 1;
    double change = 0;

    weigh(t, query(t, block, x), row, n);
    for (size_t i = 0; i < t->width; i++) {
        double mix = 0;

        for (size_t k = 0; k < n; k++)
            mix += t->a[k] * (double)summary(t, k, row)[i];
        t->mix[i] = (float)(x[i] + s * (factor * mix - x[i]));
        change += ((double)t->mix[i] - x[i]) * ((double)t->mix[i] - x[i]);
    }
    memcpy(x, t->mix, t->width * sizeof(*x));
    t->newest[block] += t->a[n - 1];
    t->moved[block] += was > 0 ? change / was : 0;
}

/* The block's summary is what the stream has gained since it began, or the stream. */
static void end_block(struct attnres *t, size_t block, size_t n, float *rows)
{
    for (size_t row = 0; row < n; row++) {
        float *x = rows + row * t->width, *before = t->before + row * t->width, *b = summary(t, block + 1, row);

        for (size_t i = 0; i < t->width; i++)
            b[i] = t->cfg.summary == HX_ATTNRES_SUMS ? x[i] - before[i] : x[i];
        blend_row(t, block, row, x);
        memcpy(before, x, t->width * sizeof(*x));
    }
}

static int is_last_of_block(const struct attnres *t, size_t layer)
{
    return layer + 1 == t->n_layer || (layer + 1) % t->cfg.block == 0;
}

static void blend(struct attnres *t, const struct hx_tap_at *at, float *rows)
{
    const size_t bytes = at->n * t->width * sizeof(*rows);

    if (at->point == HX_TAP_EMBEDDING) {
        memcpy(t->before, rows, bytes);
        memcpy(summary(t, 0, 0), rows, bytes);
    } else if (is_last_of_block(t, at->layer)) {
        end_block(t, at->layer / t->cfg.block, at->n, rows);
    }
}

/* --- damp */

static void damp(struct attnres *t, const struct hx_tap_at *at, float *rows)
{
    const double depth = t->n_layer > 1 ? (double)at->layer / (double)(t->n_layer - 1) : 0;
    const double by = (at->point == HX_TAP_AFTER_ATTN ? damp_attn : damp_ffn) * t->cfg.strength * depth;
    const size_t n = at->n * t->width;

    if (at->point != HX_TAP_EMBEDDING)
        for (size_t i = 0; i < n; i++)
            rows[i] = (float)(rows[i] - by * (t->cfg.mode == HX_ATTNRES_DAMP ? (double)rows[i] - t->before[i] : t->before[i]));
    memcpy(t->before, rows, n * sizeof(*rows));
}

/* --- the tap */

static int at_point(struct hx_tap *tap, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct attnres *t = (struct attnres *)tap;
    int rc = t->cfg.strength > 0 ? grow(t, at->n, err) : 0;

    if (rc)
        return rc;
    if (t->cfg.strength > 0)
        (t->cfg.mode == HX_ATTNRES_BLEND ? blend : damp)(t, at, rows);
    if (at->point == HX_TAP_AFTER_FFN)
        t->squares[at->layer] += square(rows, at->n * t->width);
    if (at->point == HX_TAP_AFTER_FFN && at->layer + 1 == t->n_layer)
        t->rows += at->n;
    return 0;
}

static void release(struct hx_tap *tap)
{
    struct attnres *t = (struct attnres *)tap;

    free(t->queries);
    free(t->before);
    free(t->summaries);
    free(t->mix);
    free(t->squares);
    free(t);
}

static int close_attnres(struct hx_tap *tap, struct hx_error *err)
{
    (void)err;
    release(tap);
    return 0;
}

static const struct hx_tap_ops ops = {.name = "attnres", .at = at_point, .close = close_attnres, .abandon = release};

static uint32_t points_of(const struct hx_attnres_cfg *cfg)
{
    const uint32_t end = 1u << HX_TAP_AFTER_FFN, begin = 1u << HX_TAP_EMBEDDING;

    if (!(cfg->strength > 0))
        return end;
    return cfg->mode != HX_ATTNRES_BLEND ? end | begin | 1u << HX_TAP_AFTER_ATTN : end | begin;
}

static size_t block_of(size_t n_layer)
{
    const size_t each = (n_layer + PARTS_OF_8 - 1) / PARTS_OF_8, block = each > LEAST_BLOCK ? each : LEAST_BLOCK;

    return block < n_layer ? block : n_layer;
}

static int alloc(struct attnres *t, struct hx_error *err)
{
    const size_t doubles = 2 * t->n_layer + 4 * t->blocks + t->blocks + 1;

    t->squares = calloc(doubles, sizeof(double));
    t->mix = calloc(t->width, sizeof(float));
    if (!t->squares || !t->mix)
        return hx_error_set(err, -ENOMEM, "attnres: out of memory");
    t->rms = t->squares + t->n_layer;
    t->newest = t->rms + t->n_layer;
    t->moved = t->newest + t->blocks;
    t->newest_mean = t->moved + t->blocks;
    t->moved_rms = t->newest_mean + t->blocks;
    t->a = t->moved_rms + t->blocks;
    return 0;
}

int hx_attnres_open(struct hx_tap **out, const struct hx_attnres_cfg *cfg, const struct hx_model *m, struct hx_error *err)
{
    struct attnres *t;
    int rc;

    if (cfg->block > m->n_layer)
        return hx_error_set(err, -EINVAL, "attnres: blocks of %zu layers; the model has %zu", cfg->block, m->n_layer);
    t = calloc(1, sizeof(*t));
    if (!t)
        return hx_error_set(err, -ENOMEM, "attnres: out of memory");
    t->cfg = *cfg;
    t->cfg.file = NULL; /* the caller's */
    if (!cfg->block)
        t->cfg.block = block_of(m->n_layer);
    t->tap = (struct hx_tap){&ops, points_of(cfg)};
    t->n_layer = m->n_layer;
    t->width = m->width;
    t->blocks = (m->n_layer + t->cfg.block - 1) / t->cfg.block;
    rc = alloc(t, err);
    if (!rc && cfg->mode == HX_ATTNRES_BLEND && cfg->query == HX_ATTNRES_FILE)
        rc = hx_attnres_queries(&t->queries, cfg->file, m, t->cfg.block, err);
    if (rc) {
        release(&t->tap);
        return rc;
    }
    *out = &t->tap;
    return 0;
}

/* --- what it has seen */

static double slope(const double *rms, size_t n)
{
    double x = 0, y = 0, xx = 0, xy = 0;

    for (size_t i = 0; i < n; i++) {
        const double u = log((double)i + 1), v = log(rms[i]);

        x += u, y += v, xx += u * u, xy += u * v;
    }
    return n > 1 && isfinite(y) ? ((double)n * xy - x * y) / ((double)n * xx - x * x) : 0;
}

struct hx_attnres_seen hx_attnres_seen(const struct hx_tap *tap)
{
    const struct attnres *t = (const struct attnres *)tap;
    const double rows = t->rows ? (double)t->rows : 1;

    for (size_t i = 0; i < t->n_layer; i++)
        t->rms[i] = sqrt(t->squares[i] / (rows * (double)t->width));
    for (size_t i = 0; i < t->blocks; i++) {
        t->newest_mean[i] = t->newest[i] / rows;
        t->moved_rms[i] = sqrt(t->moved[i] / rows);
    }
    return (struct hx_attnres_seen){t->rows, t->n_layer, t->cfg.block, t->blocks, t->rms, slope(t->rms, t->n_layer),
                                    t->newest_mean, t->moved_rms};
}
