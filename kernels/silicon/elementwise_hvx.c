/* axpby, echo, copy and argmax on HVX, see elementwise.h. */
#include "elementwise.h"

#include "skel/kernel.h"
#include "elementwise_hvx.listing.h"

/* The word additions cannot overflow: alpha * x is at most 2^30, beta less. */
static HX_KERNEL void axpby(HVX_Vector *y, const HVX_Vector *x, int vectors, int alpha, int beta)
{
    const HVX_Vector vbeta = Q6_V_vsplat_R(beta);

    HX_CODE(axpby);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++) {
        HVX_VectorPair p = Q6_Ww_vmpy_VhRh(x[i], alpha);
        HVX_Vector even = Q6_Vw_vasr_VwR(Q6_Vw_vadd_VwVw(Q6_V_lo_W(p), vbeta), 15);
        HVX_Vector odd = Q6_Vw_vasr_VwR(Q6_Vw_vadd_VwVw(Q6_V_hi_W(p), vbeta), 15);

        y[i] = Q6_Vh_vsat_VwVw(odd, even);
    }
}

int hx_axpby_hvx(int16_t *y, const int16_t *x, int n, int16_t alpha, int32_t beta)
{
    enum { LANES = HX_VECTOR_BYTES / 2, LIMIT = 1 << 30 };
    const uint32_t both = (uint16_t)alpha * 0x10001u;

    if (n % LANES || !hx_is_aligned(x) || !hx_is_aligned(y) || beta >= LIMIT || beta < -LIMIT)
        return AEE_EBADPARM;
    axpby((HVX_Vector *)y, (const HVX_Vector *)x, n / LANES, (int)both, beta);
    return AEE_SUCCESS;
}

static HX_KERNEL void echo(uint8_t *out, const uint8_t *in, int n)
{
    HX_CODE(echo);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        out[i] = in[i];
}

void hx_echo(uint8_t *out, const uint8_t *in, int n)
{
    echo(out, in, n);
}

static HX_KERNEL void copy(uint8_t *to, const uint8_t *from, int bytes)
{
    const int vectors = bytes / HX_VECTOR_BYTES;

    HX_CODE(copy);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        ((HVX_Vector *)to)[i] = ((const HVX_Vector *)from)[i];
    HX_TRIPS(2, bytes % HX_VECTOR_BYTES);
    for (int i = vectors * HX_VECTOR_BYTES; i < bytes; i++)
        to[i] = from[i];
}

void hx_copy_hvx(void *to, const void *from, int bytes)
{
    copy(to, from, bytes);
}

static HX_KERNEL void copy_unaligned(uint8_t *to, const uint8_t *from, size_t bytes)
{
    const size_t vectors = bytes / HX_VECTOR_BYTES;

    HX_CODE(copy_unaligned);
    HX_TRIPS(1, vectors);
    for (size_t i = 0; i < vectors; i++)
        ((HVX_UVector *)to)[i] = ((const HVX_UVector *)from)[i];
    HX_TRIPS(2, bytes % HX_VECTOR_BYTES);
    for (size_t i = vectors * HX_VECTOR_BYTES; i < bytes; i++)
        to[i] = from[i];
}

void hx_copy_unaligned_hvx(void *to, const void *from, size_t bytes)
{
    copy_unaligned(to, from, bytes);
}

/* Largest halfword, in every lane. */
HX_INLINE HVX_Vector max_halves(HVX_Vector v)
{
    v = Q6_Vuh_vmax_VuhVuh(v, Q6_V_vror_VR(v, 64));
    v = Q6_Vuh_vmax_VuhVuh(v, Q6_V_vror_VR(v, 32));
    v = Q6_Vuh_vmax_VuhVuh(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vuh_vmax_VuhVuh(v, Q6_V_vror_VR(v, 8));
    v = Q6_Vuh_vmax_VuhVuh(v, Q6_V_vror_VR(v, 4));
    return Q6_Vuh_vmax_VuhVuh(v, Q6_V_vror_VR(v, 2));
}

/* x[0..head-1] and what follows the vectors by scalars; then the first index that holds the maximum. */
static HX_KERNEL int argmax(const uint16_t *x, int n, int head)
{
    enum { LANES = HX_VECTOR_BYTES / 2 };
    const int vectors = (n - head) / LANES, tail = head + vectors * LANES;
    const HVX_Vector *v = (const HVX_Vector *)(x + head);
    HVX_Vector top = Q6_V_vzero();
    int best = 0, i;

    HX_CODE(argmax);
    HX_TRIPS(1, head);
    for (i = 0; i < head; i++)
        best = x[i] > best ? x[i] : best;
    HX_TRIPS(2, vectors);
    for (i = 0; i < vectors; i++)
        top = Q6_Vuh_vmax_VuhVuh(top, v[i]);

    int of_vectors = hx_spill_lane0(max_halves(top)) & 0xffff;
    best = of_vectors > best ? of_vectors : best;
    HX_TRIPS(3, n - tail);
    for (i = tail; i < n; i++)
        best = x[i] > best ? x[i] : best;
    for (i = 0; x[i] != best; i++)
        ;
    HX_TRIPS(4, i);
    return i;
}

int hx_argmax_hvx(const uint16_t *x, int n)
{
    const int to_aligned = (int)(-(uintptr_t)x % HX_VECTOR_BYTES / 2);

    return argmax(x, n, to_aligned < n ? to_aligned : n);
}
