/* Attention of one head over f32 keys and values in qf32, see layer_attn.h. */
#include "layer_attn.h"

#include "layer_float.h"
#include "layer_attn_hvx.listing.h"

#define LEAST (-0x1p127f) /* a score that adds nothing */

/* --- K and V */

/* A key is a column of its tile, so its elements go one by one. */
static HX_KERNEL void layer_put(float *tile, HVX_Vector *v, const float *key, const HVX_Vector *value, int dh)
{
    HX_CODE(layer_put);
    HX_TRIPS(1, dh);
    for (int i = 0; i < dh; i++)
        tile[i * HX_LAYER_TILE] = key[i];
    HX_TRIPS(2, dh / HX_VECTOR_WORDS);
    for (int i = 0; i < dh / HX_VECTOR_WORDS; i++)
        v[i] = value[i];
}

void hx_layer_put_hvx(float *k, float *v, size_t pos, const float *key, const float *value, int dh)
{
    layer_put(k + pos / HX_LAYER_TILE * (size_t)dh * HX_LAYER_TILE + pos % HX_LAYER_TILE, (HVX_Vector *)(v + pos * (size_t)dh), key,
              (const HVX_Vector *)value, dh);
}

/* --- scores */

/* Two sums, so that one does not wait for itself. */
static HX_KERNEL void layer_scores(const float *q, const HVX_Vector *k, int dh, int tiles, float scale, HVX_Vector *s)
{
    const HVX_Vector by = qf32_of(splat(scale));

    HX_CODE(layer_scores);
    HX_TRIPS(1, tiles);
    for (int t = 0; t < tiles; t++, k += dh) {
        HVX_Vector even = Q6_V_vzero(), odd = even;

        HX_TRIPS(2, dh / 2);
        for (int d = 0; d < dh; d += 2) {
            even = add_product(even, splat(q[d]), k[d]);
            odd = add_product(odd, splat(q[d + 1]), k[d + 1]);
        }
        s[t] = to_sf(mul(normal(add(even, odd)), by));
    }
}

void hx_layer_scores_hvx(const float *q, const float *k, int dh, int tiles, float scale, float *s)
{
    layer_scores(q, (const HVX_Vector *)k, dh, tiles, scale, (HVX_Vector *)s);
}

/* --- softmax */

/* What is in front of the first and behind the last score becomes LEAST.  Returns the largest score in every lane. */
HX_INLINE HVX_Vector mask_ends(HVX_Vector *s, int first, int end, int vectors)
{
    const HVX_Vector least = splat(LEAST);
    const int last = vectors - 1;

    s[0] = Q6_V_vmux_QVV(Q6_Q_vsetq_R(first * 4), least, s[0]);
    s[last] = Q6_V_vmux_QVV(Q6_Q_vsetq2_R((end - last * HX_VECTOR_WORDS) * 4), s[last], least);
    return least;
}

static HX_KERNEL void layer_softmax(HVX_Vector *s, int first, int end, int vectors)
{
    HVX_Vector sum = Q6_V_vzero();

    HX_CODE(layer_softmax);
    HVX_Vector top = ordered(mask_ends(s, first, end, vectors));
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        top = Q6_Vw_vmax_VwVw(top, ordered(s[i]));
    top = ordered(max_lanes(top));

    HX_TRIPS(2, vectors);
    for (int i = 0; i < vectors; i++) {
        const HVX_Vector e = exp_lanes(to_sf(Q6_Vqf32_vsub_VsfVsf(s[i], top)));

        s[i] = e;
        sum = Q6_Vqf32_vadd_Vqf32Vsf(sum, e);
    }

    const HVX_Vector scale = splat(1 / float_of(hx_spill_lane0(to_sf(sum_lanes(sum)))));
    HX_TRIPS(3, vectors);
    for (int i = 0; i < vectors; i++)
        s[i] = times(s[i], scale);
    /* exp_lanes() has no 0 */
    s[0] = Q6_V_vmux_QVV(Q6_Q_vsetq_R(first * 4), Q6_V_vzero(), s[0]);
    s[vectors - 1] = Q6_V_vmux_QVV(Q6_Q_vsetq2_R((end - (vectors - 1) * HX_VECTOR_WORDS) * 4), s[vectors - 1], Q6_V_vzero());
}

void hx_layer_softmax_hvx(float *s, int first, int end)
{
    layer_softmax((HVX_Vector *)s, first, end, (int)hx_layer_tiles((size_t)end));
}

enum { MOST_POWERS = 31, MASK = HX_LAYER_EXP_ENTRIES - 1 };

/* (a * b) >> 31 */
HX_INLINE HVX_Vector mul_high(HVX_Vector a, HVX_Vector b)
{
    return Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_Vw_vmpye_VwVuh(a, b), a, b);
}

/* How far x is below the largest score, in units of 2^-20 of a power of 2. */
HX_INLINE HVX_Vector below_top(HVX_Vector top, HVX_Vector x)
{
    const HVX_Vector round = splat(ROUND), fraction = splat(0x1.8p3f); /* whose last bit is 2^-20 */
    /* patterns of floats that are not negative are ordered as integers */
    const HVX_Vector d = Q6_Vw_vmin_VwVw(to_sf(Q6_Vqf32_vsub_VsfVsf(top, x)), splat(MOST_POWERS / 1.44269504f));
    const HVX_Vector powers = times(d, splat(1.44269504f));
    const HVX_Vector n = to_sf(Q6_Vqf32_vadd_VsfVsf(powers, round));
    const HVX_Vector rest = to_sf(Q6_Vqf32_vsub_VsfVsf(powers, to_sf(Q6_Vqf32_vsub_VsfVsf(n, round))));
    const HVX_Vector low = Q6_Vw_vsub_VwVw(to_sf(Q6_Vqf32_vadd_VsfVsf(rest, fraction)), fraction);

    return Q6_Vw_vmax_VwVw(Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(Q6_Vw_vsub_VwVw(n, round), 2 * HX_LAYER_EXP_BITS), low), Q6_V_vzero());
}

/* Integers below 2^19 as floats, exactly.  A qf32 word [ s : 24 | e : 8 ] is (2s + 1) 2^(e - 150), so that with s = 16 v and e = 145 it is
 * v + 1/32, which leaves an IEEE float in one exact subtraction. */
HX_INLINE HVX_Vector float_of_int(HVX_Vector v)
{
    const HVX_Vector more = to_sf(Q6_Vw_vaslacc_VwVwR(Q6_V_vsplat_R(145), v, 12));

    return to_sf(Q6_Vqf32_vsub_VsfVsf(more, splat(0x1p-5f)));
}

static HX_KERNEL void layer_softmax_int(HVX_Vector *s, int first, int end, int vectors, const struct hx_layer_exp *tables,
                                        struct hx_layer_gathered *room)
{
    const HVX_Vector mask = Q6_V_vsplat_R(MASK * 4), half = Q6_V_vsplat_R(0xffff);
    const int bytes = (int)sizeof(tables->coarse) - 1;
    HVX_Vector high = Q6_V_vzero(), low = high;

    HX_CODE(layer_softmax_int);
    HVX_Vector top = ordered(mask_ends(s, first, end, vectors));
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        top = Q6_Vw_vmax_VwVw(top, ordered(s[i]));
    top = ordered(max_lanes(top));

    HX_TRIPS(2, vectors);
    for (int i = 0; i < vectors; i++) {
        const HVX_Vector t = below_top(top, s[i]);
        const HVX_Vector shift = Q6_Vw_vasr_VwR(t, 2 * HX_LAYER_EXP_BITS);

        Q6_vgather_ARMVw((HVX_Vector *)room->coarse, (int32_t)(uintptr_t)tables->coarse, bytes,
                         Q6_V_vand_VV(Q6_Vw_vasr_VwR(t, HX_LAYER_EXP_BITS - 2), mask));
        Q6_vgather_ARMVw((HVX_Vector *)room->fine, (int32_t)(uintptr_t)tables->fine, bytes, Q6_V_vand_VV(Q6_Vw_vasl_VwR(t, 2), mask));
        const HVX_Vector one = mul_high(*(HVX_Vector *)room->coarse, *(HVX_Vector *)room->fine);
        const HVX_Vector e = Q6_Vw_vlsr_VwVw(one, shift);

        s[i] = e;
        high = Q6_Vw_vadd_VwVw(high, Q6_Vuw_vlsr_VuwR(e, 16));
        low = Q6_Vw_vadd_VwVw(low, Q6_V_vand_VV(e, half));
    }

    const float sum = (float)(uint32_t)hx_spill_lane0(hx_sum_words(high)) * 0x1p16f + (float)(uint32_t)hx_spill_lane0(hx_sum_words(low));
    const HVX_Vector by = splat(1 / sum), up = qf32_of(splat(0x1p15f));
    HX_TRIPS(3, vectors);
    for (int i = 0; i < vectors; i++) {
        const HVX_Vector fore = float_of_int(Q6_Vuw_vlsr_VuwR(s[i], 15));
        const HVX_Vector hind = float_of_int(Q6_V_vand_VV(s[i], Q6_V_vsplat_R(0x7fff)));

        s[i] = times(to_sf(mul_add(qf32_of(fore), up, hind)), by);
    }
}

void hx_layer_softmax_int_hvx(float *s, int first, int end, const struct hx_layer_exp *tables, struct hx_layer_gathered *room)
{
    layer_softmax_int((HVX_Vector *)s, first, end, (int)hx_layer_tiles((size_t)end), tables, room);
}

/* --- times V */

/* Two vectors of every row at a time. */
static HX_KERNEL void layer_values(const float *w, const HVX_Vector *v, int n, int row, HVX_Vector *out)
{
    HX_CODE(layer_values);
    HX_TRIPS(1, row / 2);
    for (int j = 0; j < row; j += 2, v += 2) {
        HVX_Vector y0 = Q6_V_vzero(), y1 = y0;
        const HVX_Vector *at = v;

        HX_TRIPS(2, n);
        for (int i = 0; i < n; i++, at += row) {
            const HVX_Vector by = splat(w[i]);

            y0 = add_product(y0, by, at[0]);
            y1 = add_product(y1, by, at[1]);
        }
        out[j] = to_sf(y0);
        out[j + 1] = to_sf(y1);
    }
}

void hx_layer_values_hvx(const float *w, const float *v, int n, int dh, float *out)
{
    layer_values(w, (const HVX_Vector *)v, n, dh / HX_VECTOR_WORDS, (HVX_Vector *)out);
}
