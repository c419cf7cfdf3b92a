/* The reference codec, see hx_block_codec.h.  A basis is two linear maps (vector -> coefficients and back); what lies
 * between them, prediction, residual code and packing, is the same for all. */
#include "hx_block_codec.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "hx_f16.h"
#include "hx_vht2.h"

enum { MAX_COEFFICIENTS = HX_BLOCK_MAX_PAD, ALIGN = 16 };

/* Smallest normal half: no residual overflows f32 because of its scale. */
#define MIN_SCALE 0x1p-14f

/* One slot's tables.  Offsets count floats from the codec's `values`. */
struct slot {
    uint16_t skeleton[HX_BLOCK_MAX_SKEL]; /* where skeleton and predicted rows lie among the coefficients */
    uint16_t rows[HX_BLOCK_MAX_PAD];   /* the residual lanes first */
    uint16_t n_rows;
    size_t values;
};

struct hx_codec {
    struct hx_codec_format f;
    size_t n_slots, values_at; /* bytes from the codec to its floats */
    struct slot slot[];
};

struct basis {
    /* the table, 2-byte aligned */
    int (*check)(const struct hx_codec_format *f, const uint16_t *table);
    int indices; /* the table begins with u16 that are no fp16: the skeleton and two more */
    void (*rows)(const struct hx_codec_format *f, const uint16_t *table, struct slot *s);
    void (*analyse)(const struct hx_codec *c, const struct slot *s, const float *x, double *coef);
    void (*synthesise)(const struct hx_codec *c, const struct slot *s, double *coef, float *x);
};

static const float *values_of(const struct hx_codec *c, const struct slot *s)
{
    return (const float *)((const char *)c + c->values_at) + s->values;
}

static int all_finite(const uint16_t *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((h[i] & 0x7c00) == 0x7c00)
            return 0;
    return 1;
}

/* --- bases vht2 and vht2w.  Floats: w[n_rows][n_skel] */

static int check_vht2(const struct hx_codec_format *f, const uint16_t *t)
{
    const size_t values = hx_block_table_bytes(f->shape, f->basis) / sizeof(*t);
    const size_t n_skel = f->shape->n_skel, head = n_skel + 2;

    for (size_t j = 0; j < n_skel; j++)
        if (t[j] >= f->shape->pad || !hx_squarefree_index(t[j]) || (j && t[j] <= t[j - 1]))
            return -EINVAL;
    if (t[n_skel] || t[n_skel + 1])
        return -EINVAL;
    return all_finite(t + head, values - head) ? 0 : -EINVAL;
}

static void rows_vht2(const struct hx_codec_format *f, const uint16_t *t, struct slot *s)
{
    memcpy(s->skeleton, t, f->shape->n_skel * sizeof(*t));
    s->n_rows = (uint16_t)hx_block_predicted(f->shape, f->basis, s->skeleton, s->rows);
}

static void analyse_vht2(const struct hx_codec *c, const struct slot *s, const float *x,
                         double *coef)
{
    const struct hx_block_shape *shape = c->f.shape;
    double sum = 0;

    (void)s;
    for (size_t i = 0; i < shape->dh; i++) {
        coef[i] = (double)x[i];
        sum += (double)x[i];
    }
    for (size_t i = shape->dh; i < shape->pad; i++)
        coef[i] = sum / shape->dh;
    hx_vht2_f64(coef, shape->pad); /* every shape's length is legal */
}

static void synthesise_vht2(const struct hx_codec *c, const struct slot *s, double *coef, float *x)
{
    (void)s;
    hx_vht2_f64(coef, c->f.shape->pad);
    for (size_t i = 0; i < c->f.shape->dh; i++)
        x[i] = (float)coef[i];
}

/* --- basis klt.  Floats: mean[dh], scale[n_res], basis[n_skel + n_res][dh] */

static int check_klt(const struct hx_codec_format *f, const uint16_t *t)
{
    const struct hx_block_shape *s = f->shape;

    if (!all_finite(t, hx_block_table_bytes(s, f->basis) / sizeof(*t)))
        return -EINVAL;
    for (size_t i = 0; i < s->n_res; i++)
        if (hx_f32_from_f16(t[s->dh + i]) < MIN_SCALE)
            return -EINVAL;
    return 0;
}

static void rows_klt(const struct hx_codec_format *f, const uint16_t *t, struct slot *s)
{
    (void)t;
    for (size_t j = 0; j < f->shape->n_skel; j++)
        s->skeleton[j] = (uint16_t)j;
    for (size_t i = 0; i < f->shape->n_res; i++)
        s->rows[i] = (uint16_t)(f->shape->n_skel + i);
    s->n_rows = 0; /* nothing is predicted */
}

static void analyse_klt(const struct hx_codec *c, const struct slot *s, const float *x,
                        double *coef)
{
    const size_t dh = c->f.shape->dh, n_skel = c->f.shape->n_skel, n_res = c->f.shape->n_res;
    const float *mean = values_of(c, s), *scale = mean + dh, *row = scale + n_res;
    double centred[HX_BLOCK_MAX_DH];

    for (size_t i = 0; i < dh; i++)
        centred[i] = (double)x[i] - (double)mean[i];
    for (size_t j = 0; j < n_skel + n_res; j++, row += dh) {
        double sum = 0;

        for (size_t i = 0; i < dh; i++)
            sum += (double)row[i] * centred[i];
        coef[j] = j < n_skel ? sum : sum / (double)scale[j - n_skel];
    }
}

static void synthesise_klt(const struct hx_codec *c, const struct slot *s, double *coef, float *x)
{
    const size_t dh = c->f.shape->dh, n_skel = c->f.shape->n_skel, n_res = c->f.shape->n_res;
    const float *mean = values_of(c, s), *scale = mean + dh, *row = scale + n_res;
    double sum[HX_BLOCK_MAX_DH];

    for (size_t i = 0; i < dh; i++)
        sum[i] = (double)mean[i];
    for (size_t j = 0; j < n_skel + n_res; j++, row += dh) {
        double z = j < n_skel ? coef[j] : coef[j] * (double)scale[j - n_skel];

        for (size_t i = 0; i < dh; i++)
            sum[i] += z * (double)row[i];
    }
    for (size_t i = 0; i < dh; i++)
        x[i] = (float)sum[i];
}

static const struct basis bases[HX_BASES] = {
    [HX_BASIS_VHT2] = {check_vht2, 1, rows_vht2, analyse_vht2, synthesise_vht2},
    [HX_BASIS_VHT2W] = {check_vht2, 1, rows_vht2, analyse_vht2, synthesise_vht2},
    [HX_BASIS_KLT] = {check_klt, 0, rows_klt, analyse_klt, synthesise_klt},
};

/* --- construction */

int hx_codec_format(struct hx_codec_format *out, size_t dh, uint32_t basis, uint32_t code)
{
    return hx_codec_format_lanes(out, dh, 0, 0, basis, code);
}

int hx_codec_format_lanes(struct hx_codec_format *out, size_t dh, size_t n_skel, size_t n_res, uint32_t basis,
                          uint32_t code)
{
    const struct hx_block_shape *s = hx_block_shape_of(dh, n_skel, n_res);

    if (!s || basis >= HX_BASES || code >= HX_CODES)
        return -EINVAL;
    *out = (struct hx_codec_format){s, basis, code};
    return 0;
}

static size_t table_values(const struct hx_codec_format *f)
{
    return hx_block_table_bytes(f->shape, f->basis) / sizeof(uint16_t);
}

/* The u16 of a table, aligned.  Tables come from files and clients at any address. */
static void load(uint16_t *to, const void *table, size_t first, size_t n)
{
    memcpy(to, (const uint8_t *)table + first * sizeof(*to), n * sizeof(*to));
}

int hx_codec_check_table(const struct hx_codec_format *f, const void *table)
{
    const uint16_t *t = table;

    if ((uintptr_t)table % sizeof(*t))
        return -EINVAL;
    return bases[f->basis].check(f, t);
}

static size_t index_values(const struct hx_codec_format *f)
{
    return bases[f->basis].indices ? f->shape->n_skel + 2u : 0;
}

static size_t float_count(const struct hx_codec_format *f)
{
    return table_values(f) - index_values(f);
}

static size_t header_bytes(size_t n_slots)
{
    size_t bytes = sizeof(struct hx_codec) + n_slots * sizeof(struct slot);

    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

size_t hx_codec_bytes(const struct hx_codec_format *f, size_t n_slots)
{
    const size_t each = sizeof(struct slot) + float_count(f) * sizeof(float);

    if (n_slots == 0 || n_slots > (UINT32_MAX - sizeof(struct hx_codec) - ALIGN) / each)
        return 0;
    return header_bytes(n_slots) + n_slots * float_count(f) * sizeof(float);
}

struct hx_codec *hx_codec_init(void *memory, const struct hx_codec_format *f, const void *tables,
                               size_t n_slots)
{
    const struct basis *b = &bases[f->basis];
    const size_t bytes = hx_block_table_bytes(f->shape, f->basis), n = float_count(f);
    struct hx_codec *c = memory;

    *c = (struct hx_codec){*f, n_slots, header_bytes(n_slots)};
    for (size_t i = 0; i < n_slots; i++) {
        const uint8_t *table = (const uint8_t *)tables + i * bytes;
        struct slot *s = &c->slot[i];
        float *to = (float *)((char *)c + c->values_at) + i * n;
        uint16_t index[HX_BLOCK_MAX_SKEL + 2] = {0}, h;

        load(index, table, 0, index_values(f));
        s->values = i * n;
        b->rows(f, index, s);
        for (size_t v = 0; v < n; v++) {
            load(&h, table, index_values(f) + v, 1);
            to[v] = hx_f32_from_f16(h);
        }
    }
    return c;
}

const struct hx_codec_format *hx_codec_format_of(const struct hx_codec *c)
{
    return &c->f;
}

size_t hx_codec_slots(const struct hx_codec *c)
{
    return c->n_slots;
}

size_t hx_codec_n_coefficients(const struct hx_codec_format *f)
{
    return f->basis == HX_BASIS_KLT ? (size_t)f->shape->n_skel + f->shape->n_res : f->shape->pad;
}

const uint16_t *hx_codec_skeleton_at(const struct hx_codec *c, size_t slot)
{
    return c->slot[slot].skeleton;
}

const uint16_t *hx_codec_lanes_at(const struct hx_codec *c, size_t slot)
{
    return c->slot[slot].rows;
}

const float *hx_codec_values(const struct hx_codec *c, size_t slot)
{
    return values_of(c, &c->slot[slot]);
}

/* --- encode */

void hx_codec_coefficients(const struct hx_codec *c, size_t slot, const float *x, double *coef)
{
    bases[c->f.basis].analyse(c, &c->slot[slot], x, coef);
}

/* pred[r] = sum over j of w[r][j] * skeleton[j], for all rows; zeros where the basis predicts nothing. */
static void predict(const struct hx_codec *c, const struct slot *s, const uint16_t *skeleton,
                    double *pred)
{
    const float *w = values_of(c, s);
    const size_t n_skel = c->f.shape->n_skel;
    double skel[HX_BLOCK_MAX_SKEL];

    for (size_t j = 0; j < n_skel; j++)
        skel[j] = (double)hx_f32_from_f16(skeleton[j]);
    memset(pred, 0, c->f.shape->n_res * sizeof(*pred));
    for (size_t r = 0; r < s->n_rows; r++, w += n_skel) {
        pred[r] = 0;
        for (size_t j = 0; j < n_skel; j++)
            pred[r] += (double)w[j] * skel[j];
    }
}

void hx_codec_residual(const struct hx_codec *c, size_t slot, const double *coef,
                       const uint16_t *skeleton, struct hx_codec_residual *out)
{
    const struct slot *s = &c->slot[slot];
    double pred[MAX_COEFFICIENTS];

    predict(c, s, skeleton, pred);
    out->amax = 0;
    for (size_t i = 0; i < c->f.shape->n_res; i++) {
        const double target = coef[s->rows[i]];
        const float plus = (float)(target - pred[i]), minus = (float)(target + pred[i]);

        out->sheet[i] = c->f.code == HX_CODE_SHEET && fabsf(minus) < fabsf(plus);
        out->r[i] = out->sheet[i] ? minus : plus;
        out->amax = fmaxf(out->amax, fabsf(out->r[i]));
    }
}

/* Both counts compare products of a 24-bit significand and a small integer, which are exact in fp64. */
static unsigned magnitude(uint32_t code, float r, float amax)
{
    unsigned m = 0;

    if (amax > 0)
        for (int k = 0; k < 7; k++)
            m += code == HX_CODE_SHEET ? 7.0 * (double)r >= (2 * k - 6) * (double)amax
                                       : 14.0 * (double)fabsf(r) >= (2 * k + 1) * (double)amax;
    return m;
}

void hx_codec_pack(const struct hx_codec_format *f, const struct hx_codec_residual *r, void *block)
{
    uint8_t mag[HX_BLOCK_MAX_RES], phase[HX_BLOCK_MAX_RES];

    for (size_t i = 0; i < f->shape->n_res; i++) {
        mag[i] = (uint8_t)magnitude(f->code, r->r[i], r->amax);
        phase[i] = f->code == HX_CODE_SHEET ? r->sheet[i] : mag[i] && r->r[i] < 0;
    }
    hx_block_set_planes(f->shape, block, mag, phase);
    memcpy((uint8_t *)block + f->shape->off_amax, &r->amax, sizeof(r->amax));
    hx_block_seal(f->shape, block);
}

static int encodable(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(x[i]) <= HX_CODEC_MAX_ABS)) /* NaN fails too */
            return 0;
    return 1;
}

int hx_codec_encode(const struct hx_codec *c, size_t slot, const float *x, void *block)
{
    const uint16_t *at = c->slot[slot].skeleton;
    const size_t n_skel = c->f.shape->n_skel;
    uint16_t skeleton[HX_BLOCK_MAX_SKEL];
    struct hx_codec_residual r = {.amax = 0};
    double coef[MAX_COEFFICIENTS];

    if (!encodable(x, c->f.shape->dh))
        return -EDOM;
    hx_codec_coefficients(c, slot, x, coef);
    for (size_t j = 0; j < n_skel; j++)
        skeleton[j] = hx_f16_from_f32((float)coef[at[j]]);
    if (!all_finite(skeleton, n_skel))
        return -EDOM;
    hx_codec_residual(c, slot, coef, skeleton, &r);
    if (!isfinite(r.amax))
        return -EDOM;
    memcpy(block, skeleton, n_skel * sizeof(*skeleton));
    hx_codec_pack(&c->f, &r, block);
    return 0;
}

/* --- decode */

void hx_codec_levels(uint32_t code, float amax, float level[8])
{
    for (int m = 0; m < 8; m++)
        level[m] = (float)((code == HX_CODE_SHEET ? 2 * m - 7 : m) * (double)amax / 7);
}

/* Prediction and decoded residual of lane i. */
static double lane(const struct hx_codec *c, const void *block, size_t i, double pred,
                   const float level[8])
{
    const double r = (double)level[hx_block_magnitude(c->f.shape, block, i)];
    const int phase = (int)hx_block_phase(c->f.shape, block, i);

    if (c->f.code == HX_CODE_SHEET)
        return (phase ? -pred : pred) + r;
    return pred + (phase ? -r : r);
}

static int decode(const struct hx_codec *c, size_t slot, const void *block, float *x)
{
    const struct slot *s = &c->slot[slot];
    const size_t n_skel = c->f.shape->n_skel;
    double coef[MAX_COEFFICIENTS] = {0}, pred[MAX_COEFFICIENTS];
    uint16_t skeleton[HX_BLOCK_MAX_SKEL];
    float level[8];

    memcpy(skeleton, block, n_skel * sizeof(*skeleton));
    hx_codec_levels(c->f.code, hx_block_amax(c->f.shape, block), level);
    predict(c, s, skeleton, pred);
    for (size_t i = 0; i < c->f.shape->n_res; i++)
        coef[s->rows[i]] = lane(c, block, i, pred[i], level);
    for (size_t r = c->f.shape->n_res; r < s->n_rows; r++)
        coef[s->rows[r]] = pred[r];
    for (size_t j = 0; j < n_skel; j++)
        coef[s->skeleton[j]] = (double)hx_f32_from_f16(skeleton[j]);
    bases[c->f.basis].synthesise(c, s, coef, x);
    return 0;
}

int hx_codec_decode(const struct hx_codec *c, size_t slot, const void *block, float *x)
{
    return hx_block_fault(c->f.shape, block) ? -EBADMSG : decode(c, slot, block, x);
}

int hx_codec_decode_payload(const struct hx_codec *c, size_t slot, const void *payload, float *x)
{
    return hx_block_payload_fault(c->f.shape, payload) ? -EBADMSG : decode(c, slot, payload, x);
}
