/* The gate's steps in qf32, see subspace_gate.h. */
#include "subspace_gate.h"

#include "skel/kernel.h"
#include "subspace_gate_hvx.listing.h"

enum { F16_ONE = 0x3c00, WORD = 4 };

union bits {
    float f;
    int32_t i;
};

HX_INLINE HVX_Vector splat(float f)
{
    const union bits v = {.f = f};

    return Q6_V_vsplat_R(v.i);
}

HX_INLINE float lane0(HVX_Vector v)
{
    const union bits b = {.i = hx_spill_lane0(v)};

    return b.f;
}

HX_INLINE HVX_Vector sum_lanes(HVX_Vector v)
{
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 64));
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 32));
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 8));
    return Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 4));
}

HX_INLINE HVX_Vector max_lanes(HVX_Vector v)
{
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 64));
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 32));
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 8));
    return Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 4));
}

/* sum + a * b, sum qf32. */
HX_INLINE HVX_Vector add_product(HVX_Vector sum, HVX_Vector a, HVX_Vector b)
{
    return Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_Vqf32_vmpy_VsfVsf(a, b));
}

/* Sum of the lanes of two qf32 vectors, as a float. */
HX_INLINE float sum_of(HVX_Vector even, HVX_Vector odd)
{
    return lane0(Q6_Vsf_equals_Vqf32(sum_lanes(Q6_Vqf32_vadd_Vqf32Vqf32(even, odd))));
}

/* Halves as floats: of those with even and with odd numbers. */
struct floats {
    HVX_Vector even, odd;
};

HX_INLINE struct floats widen(HVX_Vector halves)
{
    const HVX_VectorPair both = Q6_Wqf32_vmpy_VhfVhf(halves, Q6_Vh_vsplat_R(F16_ONE));

    return (struct floats){Q6_Vsf_equals_Vqf32(Q6_V_lo_W(both)), Q6_Vsf_equals_Vqf32(Q6_V_hi_W(both))};
}

static HX_KERNEL float gate_spread(HVX_Vector *x, int pairs, float *top)
{
    const HVX_Vector size = Q6_V_vsplat_R(INT32_MAX);
    HVX_Vector even = Q6_V_vzero(), odd = even, most = even;

    HX_CODE(gate_spread);
    HX_TRIPS(1, pairs);
    for (int i = 0; i < pairs; i++, x += 2) {
        const HVX_VectorPair by_turns = Q6_W_vdeal_VVR(x[1], x[0], -WORD);
        const HVX_Vector a = Q6_V_lo_W(by_turns), b = Q6_V_hi_W(by_turns);

        most = Q6_Vw_vmax_VwVw(most, Q6_Vw_vmax_VwVw(Q6_V_vand_VV(a, size), Q6_V_vand_VV(b, size)));
        even = add_product(even, a, a);
        odd = add_product(odd, b, b);
        x[0] = a;
        x[1] = b;
    }
    *top = lane0(max_lanes(most));
    return sum_of(even, odd);
}

float hx_gate_spread_hvx(float *x, int pairs, float *top)
{
    return gate_spread((HVX_Vector *)x, pairs, top);
}

static HX_KERNEL float gate_direction(const HVX_Vector *v, const HVX_Vector *x, int pairs, HVX_Vector *within)
{
    HVX_Vector even = Q6_V_vzero(), odd = even;

    HX_CODE(gate_direction);
    HX_TRIPS(1, pairs);
    for (int i = 0; i < pairs; i++) {
        const struct floats f = widen(v[i]);

        even = add_product(even, f.even, x[2 * i]);
        odd = add_product(odd, f.odd, x[2 * i + 1]);
    }

    const HVX_Vector z = Q6_Vsf_equals_Vqf32(sum_lanes(Q6_Vqf32_vadd_Vqf32Vqf32(even, odd)));
    HX_TRIPS(2, pairs);
    for (int i = 0; i < pairs; i++) {
        const struct floats f = widen(v[i]);

        within[2 * i] = add_product(within[2 * i], z, f.even);
        within[2 * i + 1] = add_product(within[2 * i + 1], z, f.odd);
    }
    return lane0(z);
}

float hx_gate_direction_hvx(const uint16_t *v, const float *x, int pairs, float *within)
{
    return gate_direction((const HVX_Vector *)v, (const HVX_Vector *)x, pairs, (HVX_Vector *)within);
}

/* Four directions, `step` vectors apart, with the bits of one by one: x is read once, and none waits for itself. */
static HX_KERNEL void gate_four(const HVX_Vector *v, int step, const HVX_Vector *x, int pairs, HVX_Vector *within, HVX_Vector *z)
{
    const HVX_Vector *v1 = v + step, *v2 = v1 + step, *v3 = v2 + step;
    HVX_Vector e0 = Q6_V_vzero(), o0 = e0, e1 = e0, o1 = e0, e2 = e0, o2 = e0, e3 = e0, o3 = e0;

    HX_CODE(gate_four);
    HX_TRIPS(1, pairs);
    for (int i = 0; i < pairs; i++) {
        const struct floats a = widen(v[i]), b = widen(v1[i]), c = widen(v2[i]), d = widen(v3[i]);
        const HVX_Vector even = x[2 * i], odd = x[2 * i + 1];

        e0 = add_product(e0, a.even, even);
        o0 = add_product(o0, a.odd, odd);
        e1 = add_product(e1, b.even, even);
        o1 = add_product(o1, b.odd, odd);
        e2 = add_product(e2, c.even, even);
        o2 = add_product(o2, c.odd, odd);
        e3 = add_product(e3, d.even, even);
        o3 = add_product(o3, d.odd, odd);
    }

    const HVX_Vector z0 = Q6_Vsf_equals_Vqf32(sum_lanes(Q6_Vqf32_vadd_Vqf32Vqf32(e0, o0)));
    const HVX_Vector z1 = Q6_Vsf_equals_Vqf32(sum_lanes(Q6_Vqf32_vadd_Vqf32Vqf32(e1, o1)));
    const HVX_Vector z2 = Q6_Vsf_equals_Vqf32(sum_lanes(Q6_Vqf32_vadd_Vqf32Vqf32(e2, o2)));
    const HVX_Vector z3 = Q6_Vsf_equals_Vqf32(sum_lanes(Q6_Vqf32_vadd_Vqf32Vqf32(e3, o3)));
    HX_TRIPS(2, pairs);
    for (int i = 0; i < pairs; i++) {
        const struct floats a = widen(v[i]), b = widen(v1[i]), c = widen(v2[i]), d = widen(v3[i]);
        HVX_Vector even = within[2 * i], odd = within[2 * i + 1];

        even = add_product(even, z0, a.even);
        odd = add_product(odd, z0, a.odd);
        even = add_product(even, z1, b.even);
        odd = add_product(odd, z1, b.odd);
        even = add_product(even, z2, c.even);
        odd = add_product(odd, z2, c.odd);
        within[2 * i] = add_product(even, z3, d.even);
        within[2 * i + 1] = add_product(odd, z3, d.odd);
    }
    z[0] = z0;
    z[1] = z1;
    z[2] = z2;
    z[3] = z3;
}

void hx_gate_four_hvx(const uint16_t *v, int apart, const float *x, int pairs, float *within, float *z, int z_apart)
{
    union {
        HVX_Vector v;
        float f[HX_VECTOR_WORDS];
    } each[4];

    gate_four((const HVX_Vector *)v, apart * pairs, (const HVX_Vector *)x, pairs, (HVX_Vector *)within, &each[0].v);
    for (int i = 0; i < 4; i++)
        z[i * z_apart] = each[i].f[0];
}

/* x - even - odd, the sums qf32. */
HX_INLINE HVX_Vector take_away(HVX_Vector x, HVX_Vector even, HVX_Vector odd)
{
    const HVX_Vector within = Q6_Vqf32_vadd_Vqf32Vqf32(even, odd);

    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vsub_Vqf32Vqf32(Q6_Vqf32_vadd_VsfVsf(x, Q6_V_vzero()), within));
}

static HX_KERNEL float gate_rest(const HVX_Vector *x, const HVX_Vector *even, const HVX_Vector *odd, int pairs, HVX_Vector *rest)
{
    HVX_Vector first = Q6_V_vzero(), second = first;

    HX_CODE(gate_rest);
    HX_TRIPS(1, pairs);
    for (int i = 0; i < pairs; i++, x += 2, even += 2, odd += 2, rest += 2) {
        const HVX_Vector a = take_away(x[0], even[0], odd[0]), b = take_away(x[1], even[1], odd[1]);

        first = add_product(first, a, a);
        second = add_product(second, b, b);
        rest[0] = a;
        rest[1] = b;
    }
    return sum_of(first, second);
}

float hx_gate_rest_hvx(const float *x, const float *even, const float *odd, int pairs, float *rest)
{
    return gate_rest((const HVX_Vector *)x, (const HVX_Vector *)even, (const HVX_Vector *)odd, pairs, (HVX_Vector *)rest);
}

static HX_KERNEL void gate_narrow(const HVX_Vector *r, float by, int pairs, HVX_Vector *v)
{
    const HVX_Vector scale = splat(by);

    HX_CODE(gate_narrow);
    HX_TRIPS(1, pairs);
    for (int i = 0; i < pairs; i++, r += 2)
        v[i] = Q6_Vhf_equals_Wqf32(Q6_W_vcombine_VV(Q6_Vqf32_vmpy_VsfVsf(r[1], scale), Q6_Vqf32_vmpy_VsfVsf(r[0], scale)));
}

void hx_gate_narrow_hvx(const float *r, float by, int pairs, uint16_t *v)
{
    gate_narrow((const HVX_Vector *)r, by, pairs, (HVX_Vector *)v);
}

static HX_KERNEL void gate_widen(const HVX_Vector *v, int pairs, HVX_Vector *x)
{
    HX_CODE(gate_widen);
    HX_TRIPS(1, pairs);
    for (int i = 0; i < pairs; i++, x += 2) {
        const struct floats f = widen(v[i]);
        const HVX_VectorPair both = Q6_W_vshuff_VVR(f.odd, f.even, -WORD);

        x[0] = Q6_V_lo_W(both);
        x[1] = Q6_V_hi_W(both);
    }
}

void hx_gate_widen_hvx(const uint16_t *v, int pairs, float *x)
{
    gate_widen((const HVX_Vector *)v, pairs, (HVX_Vector *)x);
}
