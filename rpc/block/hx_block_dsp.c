/* The spinor codec in the DSP's numbers, see hx_block_dsp.h.  It follows kernels/spinor/spinor_hvx.c and spinor_decode_hvx.c operation by
 * operation, as far as an order of operations can be seen in the bits: tests/kernels/check_spinor_hvx.c compares them. */
#include "hx_block_dsp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hx_block_rows.h"
#include "hx_f16.h"
#include "hx_qf32.h"

enum {
    LANES = HX_QF32_LANES,
    SKEL_VECTORS = HX_ROWS_SKEL / LANES,
    MAX_RES_VECTORS = (HX_BLOCK_MAX_RES + LANES - 1) / LANES,
    MAX_VECTORS = HX_BLOCK_MAX_DH / LANES,
    UNIT = 157, /* the exponent of a qf32 word at which an integer means itself */
};

/* Residual lanes: columns to encode and rows to decode, of a slot or of all. */
struct residual {
    hx_qf32 *column; /* [dh][res_vectors] f32 patterns */
    int16_t *row;    /* [n_res][dh] */
    float unit;      /* value of 1 in a row */
};

struct slot {
    struct residual *residual;
    hx_qf32 *column; /* of the skeleton: [dh][SKEL_VECTORS] */
    hx_qf32 *w;      /* predictor: [HX_BLOCK_SKEL][res_vectors]; NULL: nothing is predicted */
    hx_qf32 *mean;   /* [dh / LANES]; NULL: none */
    int16_t *row;    /* [HX_ROWS_SKEL][dh] in units of 2^-exponent */
    int exponent;
    uint16_t mean_half;
};

struct hx_block_dsp {
    struct hx_codec_format f;
    size_t n_slots, res_vectors, n_residuals;
    int room; /* hx_rows_residual_room() */
    struct residual *residual; /* one for all slots, or each its own */
    struct slot slot[];
};

/* --- tables */

static void *vectors(size_t n)
{
    const size_t bytes = n * sizeof(hx_qf32);
    void *p = aligned_alloc(sizeof(hx_qf32), bytes);

    return p ? memset(p, 0, bytes) : NULL;
}

struct rows {
    int16_t *row;
    size_t dh;
};

static void store_row(void *to, size_t lane, const int16_t *row)
{
    const struct rows *r = to;

    memcpy(r->row + lane * r->dh, row, r->dh * sizeof(*row));
}

static size_t rounded_up(size_t bytes)
{
    return (bytes + sizeof(hx_qf32) - 1) / sizeof(hx_qf32);
}

/* Where coefficients lie in the columns: at[] of the order of hx_codec_coefficients(). */
static void store_columns(const struct hx_rows *rows, const uint16_t *at, size_t n, hx_qf32 *column, size_t n_vectors)
{
    float c[HX_BLOCK_MAX_PAD];

    for (size_t i = 0; i < rows->f->shape->dh; i++) {
        float *to = (float *)(column + i * n_vectors);

        hx_rows_column(rows, i, c);
        for (size_t lane = 0; lane < n; lane++)
            memcpy(to + lane, &c[at[lane]], sizeof(*c));
    }
}

static int build_residual(const struct hx_block_dsp *d, struct residual *r, const struct hx_rows *rows)
{
    const struct hx_block_shape *s = d->f.shape;
    uint16_t at[HX_BLOCK_MAX_RES];
    struct rows to = {.dh = s->dh};

    r->column = vectors(s->dh * d->res_vectors);
    to.row = r->row = vectors(rounded_up((size_t)s->n_res * s->dh * sizeof(*r->row)));
    if (!r->column || !r->row)
        return -ENOMEM;
    hx_block_residual_rows(s, at);
    for (uint16_t i = 0; d->f.basis == HX_BASIS_KLT && i < s->n_res; i++)
        at[i] = HX_BLOCK_SKEL + i;
    store_columns(rows, at, s->n_res, r->column, d->res_vectors);
    r->unit = hx_rows_residual(rows, store_row, &to);
    return 0;
}

static int build_predictor(const struct hx_block_dsp *d, struct slot *s, const struct hx_rows *rows)
{
    float w[HX_BLOCK_MAX_RES];

    s->w = vectors(HX_BLOCK_SKEL * d->res_vectors);
    for (size_t j = 0; s->w && j < HX_BLOCK_SKEL; j++) {
        hx_rows_predictor(rows, j, w);
        memcpy(s->w + j * d->res_vectors, w, d->f.shape->n_res * sizeof(*w));
    }
    return s->w ? 0 : -ENOMEM;
}

static int build_mean(const struct hx_block_dsp *d, struct slot *s, const struct hx_rows *rows)
{
    float mean[HX_BLOCK_MAX_DH];

    s->mean = vectors(d->f.shape->dh / LANES);
    s->mean_half = rows->mean_half;
    hx_rows_mean(rows, mean);
    if (s->mean)
        memcpy(s->mean, mean, d->f.shape->dh * sizeof(*mean));
    return s->mean ? 0 : -ENOMEM;
}

static int build_slot(struct hx_block_dsp *d, size_t slot, const void *table)
{
    const int klt = d->f.basis == HX_BASIS_KLT;
    struct slot *s = &d->slot[slot];
    struct hx_rows rows;
    struct rows to = {.dh = d->f.shape->dh};
    uint16_t at[HX_BLOCK_SKEL];
    int rc;

    hx_rows_init(&rows, &d->f, table);
    s->residual = &d->residual[klt ? slot : 0];
    s->column = vectors(to.dh * SKEL_VECTORS);
    to.row = s->row = vectors(rounded_up(HX_ROWS_SKEL * to.dh * sizeof(*s->row)));
    if (!s->column || !s->row)
        return -ENOMEM;
    for (uint16_t j = 0; j < HX_BLOCK_SKEL; j++)
        at[j] = klt ? j : rows.skeleton[j];
    store_columns(&rows, at, HX_BLOCK_SKEL, s->column, SKEL_VECTORS);
    s->exponent = hx_rows_skeleton(&rows, store_row, &to);
    rc = klt ? build_mean(d, s, &rows) : build_predictor(d, s, &rows);
    return rc || (!klt && slot) ? rc : build_residual(d, s->residual, &rows);
}

int hx_block_dsp_has(const struct hx_codec_format *f)
{
    return hx_block_is_published(f->shape) && (f->code == HX_CODE_SIGN || f->basis == HX_BASIS_KLT);
}

struct hx_block_dsp *hx_block_dsp_open(const struct hx_codec_format *f, const void *tables, size_t n_slots)
{
    const size_t each = hx_block_table_bytes(f->shape, f->basis);
    struct hx_block_dsp *d = hx_block_dsp_has(f) && n_slots ? calloc(1, sizeof(*d) + n_slots * sizeof(d->slot[0])) : NULL;
    int rc = 0;

    if (!d)
        return NULL;
    d->f = *f;
    d->n_slots = n_slots;
    d->res_vectors = rounded_up(f->shape->n_res * sizeof(float));
    d->room = hx_rows_residual_room(f->shape);
    d->n_residuals = f->basis == HX_BASIS_KLT ? n_slots : 1;
    d->residual = calloc(d->n_residuals, sizeof(*d->residual));
    if (!d->residual)
        rc = -ENOMEM;
    for (size_t i = 0; !rc && i < n_slots; i++)
        rc = build_slot(d, i, (const uint8_t *)tables + i * each);
    if (!rc)
        return d;
    hx_block_dsp_close(d);
    return NULL;
}

void hx_block_dsp_close(struct hx_block_dsp *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_slots; i++) {
        free(d->slot[i].column);
        free(d->slot[i].w);
        free(d->slot[i].mean);
        free(d->slot[i].row);
    }
    for (size_t i = 0; d->residual && i < d->n_residuals; i++) {
        free(d->residual[i].column);
        free(d->residual[i].row);
    }
    free(d->residual);
    free(d);
}

/* --- encode */

static hx_qf32 splat_float(float f)
{
    int32_t w;

    memcpy(&w, &f, sizeof(w));
    return hx_qf32_splat(w);
}

/* sum[v] = sum over i of x[i] times column i, in the order of i.  Two sums at a time: one alone would wait for its own additions. */
static void multiply_columns(const float *x, size_t n_x, const hx_qf32 *column, size_t n, hx_qf32 *sum)
{
    for (size_t v = 0; v < n; v += 2) {
        const size_t next = v + 1 < n ? v + 1 : v;
        hx_qf32 by = splat_float(x[0]), a = hx_qf32_mul_floats(by, column[v]), b = hx_qf32_mul_floats(by, column[next]);

        for (size_t i = 1; i < n_x; i++) {
            by = splat_float(x[i]);
            a = hx_qf32_add(a, hx_qf32_mul_floats(by, column[i * n + v]));
            b = hx_qf32_add(b, hx_qf32_mul_floats(by, column[i * n + next]));
        }
        sum[v] = a;
        sum[next] = b;
    }
}

static void predict(const struct hx_block_dsp *d, const struct slot *s, const uint16_t *skeleton, hx_qf32 *prediction)
{
    float value[HX_BLOCK_SKEL];

    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        value[j] = hx_f32_from_f16(skeleton[j]);
    multiply_columns(value, HX_BLOCK_SKEL, s->w, d->res_vectors, prediction);
}

/* -EDOM: a value that a block cannot hold; NaN and infinity have the largest patterns. */
static int centre(const struct hx_block_dsp *d, const struct slot *s, const float *x, float *centred)
{
    for (size_t v = 0; v < d->f.shape->dh / (size_t)LANES; v++) {
        hx_qf32 w;

        memcpy(&w, x + v * LANES, sizeof(w));
        for (size_t i = 0; i < LANES; i++)
            if (!(__builtin_fabsf(x[v * LANES + i]) <= HX_CODEC_MAX_ABS))
                return -EDOM;
        if (s->mean)
            w = hx_qf32_to_float(hx_qf32_sub_floats(w, s->mean[v]));
        memcpy(centred + v * LANES, &w, sizeof(w));
    }
    return 0;
}

static int encode_skeleton(const struct hx_block_dsp *d, const struct slot *s, const float *x, uint16_t *skeleton)
{
    hx_qf32 sum[SKEL_VECTORS];
    float value[HX_ROWS_SKEL];

    multiply_columns(x, d->f.shape->dh, s->column, SKEL_VECTORS, sum);
    for (size_t v = 0; v < SKEL_VECTORS; v++)
        sum[v] = hx_qf32_to_float(sum[v]);
    memcpy(value, sum, sizeof(value));
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        skeleton[j] = hx_f16_from_f32(value[j]);
        if ((skeleton[j] & 0x7c00) == 0x7c00)
            return -EDOM;
    }
    return 0;
}

static void residuals(const struct hx_block_dsp *d, const struct slot *s, const float *x, const uint16_t *skeleton,
                      struct hx_codec_residual *out)
{
    const size_t n_res = d->f.shape->n_res;
    hx_qf32 sum[MAX_RES_VECTORS], prediction[MAX_RES_VECTORS];

    multiply_columns(x, d->f.shape->dh, s->residual->column, d->res_vectors, sum);
    if (s->w)
        predict(d, s, skeleton, prediction);
    for (size_t v = 0; v < d->res_vectors; v++)
        sum[v] = hx_qf32_to_float(s->w ? hx_qf32_sub(sum[v], prediction[v]) : sum[v]);
    memcpy(out->r, sum, n_res * sizeof(*out->r));
    memset(out->sheet, 0, n_res);
    out->amax = 0;
    for (size_t i = 0; i < n_res; i++)
        out->amax = __builtin_fmaxf(out->amax, __builtin_fabsf(out->r[i]));
}

int hx_block_dsp_encode(const struct hx_block_dsp *d, size_t slot, const float *x, void *block)
{
    const struct slot *s = &d->slot[slot];
    uint16_t skeleton[HX_BLOCK_SKEL];
    struct hx_codec_residual r;
    float centred[HX_BLOCK_MAX_DH];

    if (centre(d, s, x, centred) || encode_skeleton(d, s, centred, skeleton))
        return -EDOM;
    residuals(d, s, centred, skeleton, &r);
    memcpy(block, skeleton, sizeof(skeleton));
    hx_codec_pack(&d->f, &r, block);
    return 0;
}

/* --- decode */

/* sum[i] += by * row[i], modulo 2^32 */
static void add_row(hx_qf32 *sum, const int16_t *row, size_t dh, int32_t by)
{
    typedef int16_t halves __attribute__((vector_size(2 * LANES)));

    for (size_t v = 0; v < dh / LANES; v++) {
        halves h;

        memcpy(&h, row + v * LANES, sizeof(h));
        sum[v] += __builtin_convertvector(h, hx_qf32) * by;
    }
}

static unsigned half_exponent(uint16_t h)
{
    const unsigned e = h >> 10 & 31;

    return e ? e : 1; /* of subnormals */
}

/* A half as an integer of 15 bits below exponent `top`. */
static int32_t integer_of(uint16_t h, unsigned top)
{
    const unsigned below = top - half_exponent(h);
    const uint32_t m = (h & 0x3ffu) | (h & 0x7c00 ? 0x400u : 0), cut = m << 4 >> (below < 15 ? below : 15);
    const int32_t rounded = (int32_t)((cut + 1) >> 1);

    return h & 0x8000 ? -rounded : rounded;
}

/* Skeleton and mean times their rows; returns the exponent of the sums' unit as a qf32 word has it. */
static int add_skeleton(const struct hx_block_dsp *d, const struct slot *s, const void *block, hx_qf32 *sum)
{
    uint16_t half[HX_BLOCK_SKEL + 1];
    unsigned top = 1;

    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        half[j] = hx_block_skeleton(block, j);
    half[HX_BLOCK_SKEL] = s->mean_half;
    for (size_t j = 0; j <= HX_BLOCK_SKEL; j++)
        top = half_exponent(half[j]) > top ? half_exponent(half[j]) : top;
    for (size_t j = 0; j <= HX_BLOCK_SKEL; j++)
        add_row(sum, s->row + j * d->f.shape->dh, d->f.shape->dh, integer_of(half[j], top));
    return UNIT - 28 + (int)top - s->exponent;
}

/* Signed magnitudes times their rows, of which 1 means amax / 7 times the rows' unit. */
static void add_residual(const struct hx_block_dsp *d, const struct slot *s, const void *block, hx_qf32 *sum)
{
    const struct hx_block_shape *shape = d->f.shape;

    for (size_t i = 0; i < shape->n_res; i++) {
        const int m = (int)hx_block_magnitude(shape, block, i), phase = (int)hx_block_phase(shape, block, i);
        const int by = d->f.code == HX_CODE_SHEET ? 2 * m - 7 : phase ? -m : m;

        if (by)
            add_row(sum, s->residual->row + i * shape->dh, shape->dh, by);
    }
}

/* Integers as qf32 words of exponent e; the low 7 bits round.  0 becomes next to nothing. */
static hx_qf32 words(hx_qf32 sum, int e)
{
    return ((sum & ~0xff) | e) & (sum != 0);
}

/* The qf32 word nearest to a finite f >= 0. */
static int32_t word_of(float f)
{
    uint32_t u, e;

    memcpy(&u, &f, sizeof(u));
    e = u >> 23;
    return e ? (int32_t)(((u & 0x7fffff) | 0x800000) >> 1 << 8 | e) : 0;
}

int hx_block_dsp_decode(const struct hx_block_dsp *d, size_t slot, const void *block, float *x)
{
    const struct slot *s = &d->slot[slot];
    hx_qf32 skeleton[MAX_VECTORS] = {0}, residual[MAX_VECTORS] = {0};

    if (hx_block_fault(d->f.shape, block))
        return -EBADMSG;

    const int e = add_skeleton(d, s, block, skeleton);
    const hx_qf32 unit = hx_qf32_splat(word_of(hx_block_amax(d->f.shape, block) / 7 * s->residual->unit));

    add_residual(d, s, block, residual);
    for (size_t v = 0; v < d->f.shape->dh / (size_t)LANES; v++) {
        const hx_qf32 r = words(residual[v] << d->room, UNIT - d->room);
        const hx_qf32 out = hx_qf32_to_float(hx_qf32_add(words(skeleton[v], e), hx_qf32_mul(r, unit)));

        memcpy(x + v * LANES, &out, sizeof(out));
    }
    return 0;
}
