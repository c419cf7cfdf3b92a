/* Matrix and elementwise products modulo a 30-bit prime on HVX, see modmatmul.h. */
#include "modmatmul.h"

#include "skel/mod30.h"
#include "modmatmul_hvx.listing.h"

/* As published: one strip of 32 columns at a time, so w is read with a stride of a whole row. */
static HX_KERNEL void modmatmul(const struct hx_modmatmul *shape, const uint32_t *x,
                                const uint32_t *w, uint32_t *y, uint32_t mu)
{
    const int inner = shape->inner, outer = shape->outer, batch = shape->batch;
    const struct hx_mod30 m = hx_mod30_splat(shape->q, mu);

    HX_CODE(modmatmul);
    HX_TRIPS(1, batch);
    for (int b = 0; b < batch; b++) {
        HX_TRIPS(2, outer / HX_VECTOR_WORDS);
        for (int j = 0; j < outer; j += HX_VECTOR_WORDS) {
            HVX_Vector sum = Q6_V_vzero();

            HX_TRIPS(3, inner);
            for (int k = 0; k < inner; k++) {
                HVX_Vector xk = Q6_V_vsplat_R((int)x[b * inner + k]);
                HVX_Vector wk = *(const HVX_Vector *)&w[k * outer + j];

                sum = hx_mod30_add(sum, hx_mod30_mul(wk, xk, &m), &m);
            }
            *(HVX_Vector *)&y[b * outer + j] = sum;
        }
    }
}

int hx_modmatmul_hvx(const struct hx_modmatmul *shape, const uint32_t *x, const uint32_t *w,
                     uint32_t *y)
{
    if (shape->outer % HX_VECTOR_WORDS || !hx_is_aligned(w) || !hx_is_aligned(y))
        return AEE_EBADPARM;
    modmatmul(shape, x, w, y, hx_mod30_mu(shape->q));
    return AEE_SUCCESS;
}

static HX_KERNEL void barrett(const HVX_Vector *a, const HVX_Vector *b, HVX_Vector *r, int vectors,
                              uint32_t q, uint32_t mu)
{
    const struct hx_mod30 m = hx_mod30_splat(q, mu);

    HX_CODE(barrett);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        r[i] = hx_mod30_mul(a[i], b[i], &m);
}

int hx_barrett_hvx(const uint32_t *a, const uint32_t *b, uint32_t *r, int n, uint32_t q)
{
    if (n % HX_VECTOR_WORDS || !hx_is_aligned(a) || !hx_is_aligned(b) || !hx_is_aligned(r))
        return AEE_EBADPARM;
    barrett((const HVX_Vector *)a, (const HVX_Vector *)b, (HVX_Vector *)r, n / HX_VECTOR_WORDS, q,
            hx_mod30_mu(q));
    return AEE_SUCCESS;
}
