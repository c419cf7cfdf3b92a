/* Exact sums of a tile on HVX, see ok_sums.h. */
#include "ok_sums.h"

#include "skel/kernel.h"
#include "ok_sums_hvx.listing.h"

/* sum += w * x */
HX_INLINE HVX_VectorPair add_wide(HVX_VectorPair sum, HVX_Vector w, int x)
{
    const HVX_Vector v = Q6_V_vsplat_R(x);
    const HVX_VectorPair p = Q6_W_vmpyoacc_WVwVh(Q6_W_vmpye_VwVuh(w, v), w, v);
    HVX_VectorPred carry = Q6_Q_vsetq_R(0);
    const HVX_Vector low = Q6_Vw_vadd_VwVwQ_carry(Q6_V_lo_W(sum), Q6_V_lo_W(p), &carry);
    const HVX_Vector high = Q6_Vw_vadd_VwVwQ_carry(Q6_V_hi_W(sum), Q6_V_hi_W(p), &carry);

    return Q6_W_vcombine_VV(high, low);
}

HX_INLINE HVX_VectorPair load_sum(const HVX_Vector *acc)
{
    return Q6_W_vcombine_VV(acc[1], acc[0]);
}

HX_INLINE void store_sum(HVX_Vector *acc, HVX_VectorPair sum)
{
    acc[0] = Q6_V_lo_W(sum);
    acc[1] = Q6_V_hi_W(sum);
}

/* One plane: `step` vectors of weights from column to column. */
static HX_KERNEL void ok_sums_one(const HVX_Vector *w, int step, const int32_t *x, int cols,
                                  HVX_Vector *acc)
{
    HVX_VectorPair sum = load_sum(acc);

    HX_CODE(ok_sums_one);
    HX_TRIPS(1, cols);
    for (int j = 0; j < cols; j++, w += step)
        sum = add_wide(sum, *w, x[j]);
    store_sum(acc, sum);
}

/* Four vectors; acc_step vectors from one's sums to the next's. */
static HX_KERNEL void ok_sums_four(const HVX_Vector *w, int step, const int32_t *x, int x_stride,
                                   int cols, HVX_Vector *acc, int acc_step)
{
    const int32_t *x1 = x + x_stride, *x2 = x1 + x_stride, *x3 = x2 + x_stride;
    HVX_VectorPair s0 = load_sum(acc), s1 = load_sum(acc + acc_step);
    HVX_VectorPair s2 = load_sum(acc + 2 * acc_step), s3 = load_sum(acc + 3 * acc_step);

    HX_CODE(ok_sums_four);
    HX_TRIPS(1, cols);
    for (int j = 0; j < cols; j++, w += step) {
        const HVX_Vector v = *w;

        s0 = add_wide(s0, v, x[j]);
        s1 = add_wide(s1, v, x1[j]);
        s2 = add_wide(s2, v, x2[j]);
        s3 = add_wide(s3, v, x3[j]);
    }
    store_sum(acc, s0);
    store_sum(acc + acc_step, s1);
    store_sum(acc + 2 * acc_step, s2);
    store_sum(acc + 3 * acc_step, s3);
}

void hx_ok_sums_hvx(const struct hx_ok_tile *tile)
{
    enum { AT_ONCE = 4, PER_ACC = 2 };
    const int planes = (int)tile->planes, cols = (int)tile->cols;
    size_t now;

    for (size_t t = 0; t < tile->n; t += now) {
        const int32_t *x = tile->x + t * tile->x_stride;

        now = tile->n - t < AT_ONCE ? 1 : AT_ONCE;
        for (int p = 0; p < planes; p++) {
            const HVX_Vector *w = (const HVX_Vector *)tile->w + p;
            HVX_Vector *acc = (HVX_Vector *)(tile->acc + t * tile->planes + (size_t)p);

            if (now == 1)
                ok_sums_one(w, planes, x, cols, acc);
            else
                ok_sums_four(w, planes, x, (int)tile->x_stride, cols, acc, PER_ACC * planes);
        }
    }
}

void hx_ok_store_hvx(int64_t *y, const struct hx_ok_acc *acc, size_t rows)
{
    const HVX_Vector *v = (const HVX_Vector *)acc;
    const HVX_VectorPair both = Q6_W_vshuff_VVR(v[1], v[0], -4);
    union {
        HVX_Vector v[2];
        int64_t sum[HX_OKW_ROWS];
    } out = {{Q6_V_lo_W(both), Q6_V_hi_W(both)}};

    if (rows == HX_OKW_ROWS) {
        ((HVX_UVector *)y)[0] = out.v[0];
        ((HVX_UVector *)y)[1] = out.v[1];
    } else {
        __builtin_memcpy(y, out.sum, rows * sizeof(*y));
    }
}
