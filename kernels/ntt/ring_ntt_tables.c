/* Tables of ring_ntt.h, from the powers of psi that kernels/skel/ntt.h makes. */
#include "ring_ntt.h"

#include "skel/mod30.h"

static uint32_t shoup(uint32_t w, uint32_t q)
{
    return (uint32_t)(((uint64_t)w << 31) / q);
}

static int reversed(int i, int n)
{
    int r = 0;

    for (int bit = 1; bit < n; bit <<= 1, i >>= 1)
        r = r << 1 | (i & 1);
    return r;
}

static void spread(struct hx_ring_weights *t, int n)
{
    uint32_t *out = t->lanes;

    for (int pair = 0; pair < n / (2 * HX_VECTOR_WORDS); pair++)
        for (int d = HX_VECTOR_WORDS / 2; d; d /= 2, out += 2 * HX_VECTOR_WORDS)
            for (int i = 0; i < HX_VECTOR_WORDS; i++) {
                const int from = n / (2 * d) + pair * (HX_VECTOR_WORDS / d) + i / d;

                out[i] = t->w[from];
                out[HX_VECTOR_WORDS + i] = t->ws[from];
            }
}

int hx_ring_make(struct hx_ring *r, int n, int prime)
{
    const uint32_t q = prime == 0 ? HX_NTT_Q1 : prime == 1 ? HX_NTT_Q2 : 0;
    uint32_t block[5 * HX_NTT_MAX];
    struct hx_ntt powers;
    int rc = hx_ntt_make(&powers, block, n, q, HX_NTT_FORWARD);

    if (rc)
        return rc;
    r->n = n;
    r->q = q;
    r->mu = hx_mod30_mu(q);
    r->two_32 = (uint32_t)((1ull << 32) % q);
    r->n_inv = q - (q - 1) / (uint32_t)n; /* n divides q - 1 */
    r->n_inv_s = shoup(r->n_inv, q);
    for (int i = 0; i < n; i++) {
        const int at = reversed(i, n);

        r->forward.w[at] = powers.psi[i];
        r->inverse.w[at] = i ? q - powers.psi[n - i] : 1; /* psi^n = -1 */
        r->forward.ws[at] = shoup(r->forward.w[at], q);
        r->inverse.ws[at] = shoup(r->inverse.w[at], q);
    }
    spread(&r->forward, n);
    spread(&r->inverse, n);
    return AEE_SUCCESS;
}
