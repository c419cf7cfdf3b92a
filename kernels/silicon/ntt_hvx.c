/* The stages of skel/ntt.h on HVX. */
#include "skel/ntt.h"

#include "skel/mod30.h"
#include "ntt_hvx.listing.h"

/* All butterflies of distance half >= 32.  The twiddles lie at any word, hence the unaligned load. */
static HX_KERNEL void ntt_stage(uint32_t *v, const uint32_t *twiddle, int n, int half, uint32_t q,
                                uint32_t mu)
{
    const struct hx_mod30 m = hx_mod30_splat(q, mu);

    HX_CODE(ntt_stage);
    HX_TRIPS(1, n / (2 * half));
    for (int i = 0; i < n; i += 2 * half) {
        HX_TRIPS(2, half / HX_VECTOR_WORDS);
        for (int j = 0; j < half; j += HX_VECTOR_WORDS) {
            HVX_Vector *lower = (HVX_Vector *)&v[i + j], *upper = (HVX_Vector *)&v[i + j + half];
            HVX_Vector u = *lower;
            HVX_Vector t = hx_mod30_mul(*upper, *(const HVX_UVector *)&twiddle[j], &m);

            *lower = hx_mod30_add(u, t, &m);
            *upper = hx_mod30_sub(u, t, &m);
        }
    }
}

int hx_ntt_hvx(const struct hx_ntt_direction *d, uint32_t *v)
{
    const uint32_t mu = hx_mod30_mu(d->q);

    if (!hx_is_aligned(v))
        return AEE_EBADPARM;
    hx_ntt_begin(d, v, HX_VECTOR_WORDS);
    for (int half = HX_VECTOR_WORDS; half < d->n; half *= 2)
        ntt_stage(v, d->stage + half - 1, d->n, half, d->q, mu);
    hx_ntt_end(d, v);
    return AEE_SUCCESS;
}
