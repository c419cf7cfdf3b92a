/* What the versions of the spinor codec share, and the tables of the HVX version: the columns and rows of rpc/block/hx_block_rows.h
 * where spinor_layout.c says that they lie.  See spinor.h. */
#include "spinor.h"

#include <string.h>

#include "hx_block_rows.h"
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

/* Rows of one kind. */
struct quads {
    const struct hx_spinor *k;
    struct hx_spinor_rows *to;
    size_t n;
    int skeleton;
};

static void store_row(void *quads, size_t lane, const int16_t *row)
{
    const struct quads *q = quads;

    for (size_t i = 0; i < q->k->f.shape->dh; i++) {
        const uint32_t u = (uint32_t)(row[i] + 0x8000);
        struct hx_spinor_rows *r = &q->to[i / HX_SPINOR_LANES * q->n + lane / 4];
        const size_t byte = i % HX_SPINOR_LANES * 4 + byte_of(lane, q->skeleton);

        ((uint8_t *)&r->hi)[byte] = (uint8_t)(u >> 8);
        ((uint8_t *)&r->lo)[byte] = (uint8_t)u;
    }
}

static void store_skeleton(const struct hx_spinor *k, const struct hx_rows *rows, struct hx_spinor_slot *s)
{
    struct quads q = {k, (void *)((char *)s + k->skel_rows_in), HX_SPINOR_SKEL_QUADS, 1};

    _Static_assert((int)HX_ROWS_SKEL == (int)HX_SPINOR_SKEL_LANES, "rows");
    s->skel_exp = (int16_t)hx_rows_skeleton(rows, store_row, &q);
}

/* Lanes of the last quad that are none have rows of zeros.  Returns what 1 in the rows means. */
static float store_residual(const struct hx_spinor *k, const struct hx_rows *rows, struct hx_spinor_rows *to)
{
    static const int16_t zeros[HX_BLOCK_MAX_DH];
    struct quads q = {k, to, k->quads, 0};

    for (size_t lane = k->f.shape->n_res; lane < 4u * k->quads; lane++)
        store_row(&q, lane, zeros);
    return hx_rows_residual(rows, store_row, &q);
}

/* --- the encoder's columns: coefficient p lies at lane_of[p] */

static void store_columns(const struct hx_spinor *k, const struct hx_rows *rows, const uint16_t *lane_of,
                          float (*column)[HX_SPINOR_LANES])
{
    float c[HX_BLOCK_MAX_PAD];

    for (size_t i = 0; i < k->f.shape->dh; i++) {
        float *to = column[i * k->coef_vectors];

        memset(to, 0, k->coef_vectors * sizeof(HVX_Vector));
        hx_rows_column(rows, i, c);
        for (size_t p = 0; p < hx_codec_n_coefficients(&k->f); p++)
            to[lane_of[p]] = c[p];
    }
}

/* Residual lanes first, then from a new vector on the squarefree ones, or the skeleton of klt. */
static void lane_order(const struct hx_spinor *k, uint16_t lane_of[HX_BLOCK_MAX_PAD])
{
    const int klt = k->f.basis == HX_BASIS_KLT;
    uint16_t n = 0, other = (uint16_t)(k->res_vectors * HX_SPINOR_LANES);

    for (size_t i = 0; i < hx_codec_n_coefficients(&k->f); i++)
        lane_of[i] = (klt ? i < HX_BLOCK_SKEL : hx_squarefree_index(i)) ? other++ : n++;
}

/* --- all together */

static void build_klt_slot(struct hx_spinor *k, struct hx_spinor_slot *s, const struct hx_rows *rows, const uint16_t *lane_of)
{
    hx_rows_mean(rows, (void *)((char *)s + k->mean_in));
    store_columns(k, rows, lane_of, (void *)((char *)s + k->columns_in));
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        s->skel_lane[j] = lane_of[j];
    s->mean_half = rows->mean_half;
    s->res_unit = store_residual(k, rows, (void *)((char *)s + k->res_rows_in));
}

static float build_vht2_common(struct hx_spinor *k, const uint16_t *lane_of)
{
    struct hx_rows rows;

    hx_rows_init(&rows, &k->f, NULL);
    store_columns(k, &rows, lane_of, at(k, k->columns_at));
    return store_residual(k, &rows, at(k, k->res_rows_at));
}

static void build_vht2_slot(struct hx_spinor *k, struct hx_spinor_slot *s, const struct hx_rows *rows, const uint16_t *lane_of)
{
    float (*w)[HX_SPINOR_LANES] = (void *)((char *)s + k->w_in);

    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        memset(w[j * k->res_vectors], 0, k->res_vectors * sizeof(HVX_Vector));
        hx_rows_predictor(rows, j, w[j * k->res_vectors]);
        s->skel_lane[j] = lane_of[rows->skeleton[j]];
    }
}

static void build_slot(struct hx_spinor *k, struct hx_spinor_slot *s, const void *table, const uint16_t *lane_of, float unit)
{
    struct hx_rows rows;

    hx_rows_init(&rows, &k->f, table);
    memset(s, 0, sizeof(*s));
    s->res_unit = unit;
    if (k->f.basis == HX_BASIS_KLT)
        build_klt_slot(k, s, &rows, lane_of);
    else
        build_vht2_slot(k, s, &rows, lane_of);
    store_skeleton(k, &rows, s);
}

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
    lane_order(k, lane_of);
    if (f->basis != HX_BASIS_KLT)
        unit = build_vht2_common(k, lane_of);
    for (size_t i = 0; i < n_slots; i++)
        build_slot(k, at(k, k->slot_at + i * k->slot_bytes), (const uint8_t *)tables + i * each, lane_of, unit);
    return AEE_SUCCESS;
}
