/* What the versions of the spinor codec share, and the tables of the HVX version: the encoder's columns and the decoder's
 * rows.  spinor_layout.c says where they lie.  See spinor.h. */
#include "spinor.h"

#include <math.h>
#include <string.h>

#include "hx_f16.h"
#include "hx_vht2.h"

int hx_spinor_check_table(const struct hx_block_table *t)
{
    struct hx_codec_format f;

    hx_codec_format(&f, HX_BLOCK_DH, HX_BASIS_VHT2, HX_CODE_SIGN);
    return hx_codec_check_table(&f, t) ? AEE_EBADPARM : AEE_SUCCESS;
}

int hx_spinor_check_block(const struct hx_block *b)
{
    return hx_block_fault(hx_block_shape(HX_BLOCK_DH), b) ? AEE_EBADITEM : AEE_SUCCESS;
}

/* --- where things are */

static void *at(struct hx_spinor *k, size_t offset)
{
    return (char *)k + offset;
}

/* --- the decoder's rows */

/* Where row `lane` of a quad has its byte: skeleton words are made of two halves each, so their middle bytes change places. */
static size_t byte_of(size_t lane, int skeleton)
{
    static const uint8_t order[] = {0, 2, 1, 3};

    return skeleton ? order[lane % 4] : lane % 4;
}

/* Where rows come from: one table, and for the bases on VHT2 what its skeleton is and predicts. */
struct source {
    const struct hx_spinor *k;
    const uint8_t *table;
    const uint16_t *skeleton, *predicted;
    size_t n_predicted;
    int mean_exp; /* klt: the mean's row is the mean times 2^-mean_exp */
};

/* Fills row [dh] of a lane. */
typedef void row_fn(const struct source *s, size_t lane, double *row);

/* Row `lane`, in units of 1/scale, to its quads; |row| * scale <= 32767. */
static void store_row(const struct hx_spinor *k, struct hx_spinor_rows *to, size_t quads,
                      int skeleton, size_t lane, const double *row, double scale)
{
    for (size_t i = 0; i < k->f.shape->dh; i++) {
        const uint32_t u = (uint32_t)((int32_t)round(row[i] * scale) + 0x8000);
        struct hx_spinor_rows *r = &to[i / HX_SPINOR_LANES * quads + lane / 4];
        const size_t byte = i % HX_SPINOR_LANES * 4 + byte_of(lane, skeleton);

        ((uint8_t *)&r->hi)[byte] = (uint8_t)(u >> 8);
        ((uint8_t *)&r->lo)[byte] = (uint8_t)u;
    }
}

static double largest(const double *v, size_t n)
{
    double m = 0;

    for (size_t i = 0; i < n; i++)
        m = fmax(m, fabs(v[i]));
    return m;
}

/* The skeleton's rows: a power of two such that each fits int16 and that 15 products with values below 2^14 fit int32. */
static void store_skeleton(const struct source *from, row_fn *get, struct hx_spinor_slot *s)
{
    enum { LIMIT = 60, ROOM = (1 << 17) - HX_SPINOR_SKEL_LANES };
    const size_t dh = from->k->f.shape->dh;
    double row[HX_BLOCK_MAX_PAD], column[HX_BLOCK_MAX_DH] = {0}, top = 0, sum;
    int e = LIMIT;

    for (size_t j = 0; j < HX_SPINOR_SKEL_LANES; j++) {
        get(from, j, row);
        top = fmax(top, largest(row, dh));
        for (size_t i = 0; i < dh; i++)
            column[i] += fabs(row[i]);
    }
    sum = largest(column, dh);
    while (e > -LIMIT && (ldexp(top, e) > INT16_MAX || ldexp(sum, e) > ROOM))
        e--;
    s->skel_exp = (int16_t)e;
    for (size_t j = 0; j < HX_SPINOR_SKEL_LANES; j++) {
        get(from, j, row);
        store_row(from->k, (void *)((char *)s + from->k->skel_rows_in), HX_SPINOR_SKEL_QUADS, 1, j,
                  row, ldexp(1, e));
    }
}

/* The residual rows; returns what 1 in them means. */
static float store_residual(const struct source *from, row_fn *get, struct hx_spinor_rows *to)
{
    const size_t dh = from->k->f.shape->dh, n_res = from->k->f.shape->n_res;
    double row[HX_BLOCK_MAX_PAD], top = 0;

    for (size_t r = 0; r < n_res; r++) {
        get(from, r, row);
        top = fmax(top, largest(row, dh));
    }
    for (size_t r = 0; r < 4u * from->k->quads; r++) {
        memset(row, 0, sizeof(row));
        if (r < n_res)
            get(from, r, row);
        store_row(from->k, to, from->k->quads, 0, r, row, top > 0 ? INT16_MAX / top : 0);
    }
    return (float)(top / INT16_MAX);
}

/* --- basis klt */

static double half_at(const uint8_t *table, size_t i)
{
    uint16_t h;

    memcpy(&h, table + 2 * i, sizeof(h));
    return (double)hx_f32_from_f16(h);
}

static double klt_basis(const struct source *s, size_t j, size_t i)
{
    const struct hx_block_shape *shape = s->k->f.shape;

    return half_at(s->table, (size_t)shape->dh + shape->n_res + j * shape->dh + i);
}

static double klt_scale(const struct source *s, size_t r)
{
    return half_at(s->table, (size_t)s->k->f.shape->dh + r);
}

static void klt_skeleton_row(const struct source *s, size_t lane, double *row)
{
    for (size_t i = 0; i < s->k->f.shape->dh; i++)
        row[i] = lane < HX_BLOCK_SKEL ? klt_basis(s, lane, i)
                 : lane == HX_BLOCK_SKEL ? ldexp(half_at(s->table, i), -s->mean_exp) : 0;
}

static void klt_residual_row(const struct source *s, size_t lane, double *row)
{
    for (size_t i = 0; i < s->k->f.shape->dh; i++)
        row[i] = klt_basis(s, HX_BLOCK_SKEL + lane, i) * klt_scale(s, lane);
}

/* The mean is a power of two, which lane 14 holds, times a row whose largest entry is between 1/4 and 1/2. */
static void split_mean(struct source *from, struct hx_spinor_slot *s)
{
    enum { MIN = -14, MAX = 15, BIAS = 15 };
    double top = 0;
    int e;

    for (size_t i = 0; i < from->k->f.shape->dh; i++)
        top = fmax(top, fabs(half_at(from->table, i)));
    if (top == 0)
        return;
    frexp(top, &e);
    from->mean_exp = e + 1 < MIN ? MIN : e + 1 > MAX ? MAX : e + 1;
    s->mean_half = (uint16_t)((from->mean_exp + BIAS) << 10);
}

static void build_klt_slot(struct hx_spinor *k, struct hx_spinor_slot *s, const uint8_t *table)
{
    const size_t dh = k->f.shape->dh, skel = k->res_vectors * (size_t)HX_SPINOR_LANES;
    struct source from = {.k = k, .table = table};
    float *mean = (void *)((char *)s + k->mean_in);
    float (*column)[HX_SPINOR_LANES] = (void *)((char *)s + k->columns_in);

    for (size_t i = 0; i < dh; i++) {
        float *c = column[i * k->coef_vectors];

        mean[i] = (float)half_at(table, i);
        memset(c, 0, k->coef_vectors * sizeof(HVX_Vector));
        for (size_t r = 0; r < k->f.shape->n_res; r++)
            c[r] = (float)(klt_basis(&from, HX_BLOCK_SKEL + r, i) / klt_scale(&from, r));
        for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
            c[skel + j] = (float)klt_basis(&from, j, i);
    }
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        s->skel_lane[j] = (uint16_t)(skel + j);
    split_mean(&from, s);
    store_skeleton(&from, klt_skeleton_row, s);
    s->res_unit = store_residual(&from, klt_residual_row, (void *)((char *)s + k->res_rows_in));
}

/* --- bases vht2 and vht2w */

/* A skeleton coefficient and all that is predicted from it.  row: room for pad. */
static void vht2_skeleton_row(const struct source *s, size_t lane, double *row)
{
    const size_t head = HX_BLOCK_SKEL + 2;

    memset(row, 0, s->k->f.shape->pad * sizeof(*row));
    if (lane >= HX_BLOCK_SKEL)
        return;
    row[s->skeleton[lane]] = 1;
    for (size_t r = 0; r < s->n_predicted; r++)
        row[s->predicted[r]] = half_at(s->table, head + r * HX_BLOCK_SKEL + lane);
    hx_vht2_f64(row, s->k->f.shape->pad);
}

static void vht2_residual_row(const struct source *s, size_t lane, double *row)
{
    memset(row, 0, s->k->f.shape->pad * sizeof(*row));
    row[s->predicted[lane]] = 1;
    hx_vht2_f64(row, s->k->f.shape->pad);
}

/* lane_of[index]: where a coefficient lies: residual rows first, then from a new vector on the squarefree ones. */
static void lane_order(const struct hx_spinor *k, uint16_t lane_of[HX_BLOCK_MAX_PAD])
{
    uint16_t n = 0, other = (uint16_t)(k->res_vectors * HX_SPINOR_LANES);

    for (size_t i = 0; i < k->f.shape->pad; i++)
        lane_of[i] = hx_squarefree_index(i) ? other++ : n++;
}

/* The padding is linear in x (each pad value is the mean), so it is folded into the map: column i is the transform of the
 * padded unit vector e_i.  VHT2 is its own inverse, so a residual's row is the transform of its unit vector. */
static float build_vht2_common(struct hx_spinor *k, const uint16_t *lane_of)
{
    const size_t dh = k->f.shape->dh, pad = k->f.shape->pad;
    float (*column)[HX_SPINOR_LANES] = at(k, k->columns_at);
    uint16_t rows[HX_BLOCK_MAX_PAD];
    const struct source from = {.k = k, .predicted = rows};
    double c[HX_BLOCK_MAX_PAD];

    for (size_t i = 0; i < dh; i++) {
        float *to = column[i * k->coef_vectors];

        memset(to, 0, k->coef_vectors * sizeof(HVX_Vector));
        for (size_t p = 0; p < pad; p++)
            c[p] = p == i ? 1 : p < dh ? 0 : 1.0 / (double)dh;
        hx_vht2_f64(c, pad);
        for (size_t p = 0; p < pad; p++)
            to[lane_of[p]] = (float)c[p];
    }
    hx_block_residual_rows(k->f.shape, rows);
    return store_residual(&from, vht2_residual_row, at(k, k->res_rows_at));
}

static void build_vht2_slot(struct hx_spinor *k, struct hx_spinor_slot *s, const uint8_t *table,
                            const uint16_t *lane_of)
{
    float (*w)[HX_SPINOR_LANES] = (void *)((char *)s + k->w_in);
    uint16_t skeleton[HX_BLOCK_SKEL], predicted[HX_BLOCK_MAX_PAD];
    struct source from = {.k = k, .table = table, .skeleton = skeleton, .predicted = predicted};

    memcpy(skeleton, table, sizeof(skeleton));
    from.n_predicted = hx_block_predicted(k->f.shape, k->f.basis, skeleton, predicted);
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        float *to = w[j * k->res_vectors];

        memset(to, 0, k->res_vectors * sizeof(HVX_Vector));
        for (size_t r = 0; r < k->f.shape->n_res; r++)
            to[r] = (float)half_at(table, HX_BLOCK_SKEL + 2 + r * HX_BLOCK_SKEL + j);
        s->skel_lane[j] = lane_of[skeleton[j]];
    }
    store_skeleton(&from, vht2_skeleton_row, s);
}

/* --- all together */

int hx_spinor_init(struct hx_spinor *k, size_t bytes, const struct hx_codec_format *f,
                   const void *tables, size_t n_slots)
{
    const size_t each = hx_block_table_bytes(f->shape, f->basis), need = hx_spinor_bytes(f, n_slots);
    uint16_t lane_of[HX_BLOCK_MAX_PAD];
    float unit = 0;

    if ((uintptr_t)k % sizeof(HVX_Vector) || n_slots == 0)
        return AEE_EBADPARM;
    if (need == 0 || bytes < need)
        return AEE_ENOMEMORY;
    for (size_t i = 0; i < n_slots; i++)
        if (hx_codec_check_table(f, (const uint8_t *)tables + i * each))
            return AEE_EBADPARM;

    hx_spinor_lay_out(k, f, n_slots);
    if (f->basis != HX_BASIS_KLT) {
        lane_order(k, lane_of);
        unit = build_vht2_common(k, lane_of);
    }
    for (size_t i = 0; i < n_slots; i++) {
        struct hx_spinor_slot *s = at(k, k->slot_at + i * k->slot_bytes);

        memset(s, 0, sizeof(*s));
        if (f->basis == HX_BASIS_KLT) {
            build_klt_slot(k, s, (const uint8_t *)tables + i * each);
        } else {
            s->res_unit = unit;
            build_vht2_slot(k, s, (const uint8_t *)tables + i * each, lane_of);
        }
    }
    return AEE_SUCCESS;
}
