/* Attention over projections in qf32, see proj_attn.h. */
#include "proj_attn.h"

#include "layer/layer_float.h"
#include "proj_attn_hvx.listing.h"

enum { HALVES = 64 };

/* Numbers of f16 as floats: of the halfwords with even and with odd numbers. */
struct wide {
    HVX_Vector even, odd;
};

HX_INLINE struct wide widen(HVX_Vector halves)
{
    const HVX_VectorPair both = Q6_Wqf32_vmpy_VhfVhf(halves, Q6_Vh_vsplat_R(0x3c00)); /* times 1 */

    return (struct wide){to_sf(Q6_V_lo_W(both)), to_sf(Q6_V_hi_W(both))};
}

/* --- of either form */

/* Two sums, so that one does not wait for itself. */
static HX_KERNEL void proj_sum(const float *w, const HVX_Vector *rows, int n, int vectors, HVX_Vector *out)
{
    HX_CODE(proj_sum);
    HX_TRIPS(1, vectors);
    for (int j = 0; j < vectors; j++) {
        HVX_Vector even = Q6_V_vzero(), odd = even;
        const HVX_Vector *at = rows + j;

        HX_TRIPS(2, n / 2);
        for (int i = 0; i < n; i += 2, at += 2 * vectors) {
            even = add_product(even, splat(w[i]), at[0]);
            odd = add_product(odd, splat(w[i + 1]), at[vectors]);
        }
        out[j] = to_sf(add(even, odd));
    }
}

void hx_proj_sum_hvx(const float *w, const float *rows, int n, int vectors, float *out)
{
    proj_sum(w, (const HVX_Vector *)rows, n, vectors, (HVX_Vector *)out);
}

static HX_KERNEL float proj_dot(const HVX_Vector *x, const HVX_Vector *y, int vectors)
{
    HVX_Vector sum = Q6_V_vzero();

    HX_CODE(proj_dot);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        sum = add_product(sum, x[i], y[i]);
    return float_of(hx_spill_lane0(to_sf(sum_lanes(sum))));
}

float hx_proj_dot_hvx(const float *x, const float *y, int vectors)
{
    return proj_dot((const HVX_Vector *)x, (const HVX_Vector *)y, vectors);
}

static HX_KERNEL void proj_mix(HVX_Vector *y, float w, const HVX_Vector *x, int vectors)
{
    const HVX_Vector by = splat(w);

    HX_CODE(proj_mix);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        y[i] = to_sf(add_product(qf32_of(y[i]), by, x[i]));
}

void hx_proj_mix_hvx(float *y, float w, const float *x, int vectors)
{
    proj_mix((HVX_Vector *)y, w, (const HVX_Vector *)x, vectors);
}

/* --- f32 */

/* A key is a column of its tile, so its coefficients go one by one. */
static HX_KERNEL void proj_put_f32(float *k, float *v, const float *z_k, const float *z_v, int rank)
{
    HX_CODE(proj_put_f32);
    HX_TRIPS(1, rank);
    for (int i = 0; i < rank; i++) {
        k[i * HX_VECTOR_WORDS] = z_k[i];
        v[i] = z_v[i];
    }
}

static void put_f32(void *k, void *v, size_t pos, const float *z_k, const float *z_v, int rank)
{
    float *tile = (float *)((char *)k + pos / HX_VECTOR_WORDS * hx_kv_proj_tile_bytes((size_t)rank));

    proj_put_f32(tile + pos % HX_VECTOR_WORDS, (float *)v + pos * (size_t)rank, z_k, z_v, rank);
}

static HX_KERNEL void proj_scores_f32(const float *q, const HVX_Vector *k, int even_rank, int tiles, float scale, HVX_Vector *s)
{
    const HVX_Vector by = qf32_of(splat(scale));

    HX_CODE(proj_scores_f32);
    HX_TRIPS(1, tiles);
    for (int t = 0; t < tiles; t++, k += even_rank) {
        HVX_Vector even = Q6_V_vzero(), odd = even;

        HX_TRIPS(2, even_rank / 2);
        for (int d = 0; d < even_rank; d += 2) {
            even = add_product(even, splat(q[d]), k[d]);
            odd = add_product(odd, splat(q[d + 1]), k[d + 1]);
        }
        s[t] = to_sf(mul(normal(add(even, odd)), by));
    }
}

static void scores_f32(const float *q, const void *k, int rank, int tiles, float scale, float *s)
{
    proj_scores_f32(q, (const HVX_Vector *)k, (rank + 1) / 2 * 2, tiles, scale, (HVX_Vector *)s);
}

static HX_KERNEL void proj_values_f32(const float *w, const float *v, int n, int rank, int vectors, HVX_Vector *out)
{
    HX_CODE(proj_values_f32);
    HX_TRIPS(1, vectors);
    for (int j = 0; j < vectors; j++, v += HX_VECTOR_WORDS) {
        HVX_Vector even = Q6_V_vzero(), odd = even;
        const float *at = v;

        HX_TRIPS(2, n / 2);
        for (int i = 0; i < n; i += 2, at += 2 * rank) {
            even = add_product(even, splat(w[i]), *(const HVX_UVector *)at);
            odd = add_product(odd, splat(w[i + 1]), *(const HVX_UVector *)(at + rank));
        }
        out[j] = to_sf(add(even, odd));
    }
}

static void values_f32(const float *w, const void *v, int n, int rank, float *out)
{
    proj_values_f32(w, v, n, rank, (rank + HX_VECTOR_WORDS - 1) / HX_VECTOR_WORDS, (HVX_Vector *)out);
}

const struct hx_proj_form hx_proj_f32_hvx = {put_f32, scores_f32, values_f32};

/* --- f16 */

/* Two vectors of floats as one of halfwords, in their order. */
HX_INLINE HVX_Vector narrow(const HVX_Vector *z)
{
    const HVX_VectorPair by_turns = Q6_W_vdeal_VVR(z[1], z[0], -4);

    return Q6_Vhf_equals_Wqf32(Q6_W_vcombine_VV(qf32_of(Q6_V_hi_W(by_turns)), qf32_of(Q6_V_lo_W(by_turns))));
}

/* 64 coefficients at most. */
static HX_KERNEL void proj_put_f16(uint16_t *k, uint16_t *v, const HVX_Vector *z_k, const HVX_Vector *z_v, int n)
{
    union {
        HVX_Vector v;
        uint16_t h[HALVES];
    } key, value;

    HX_CODE(proj_put_f16);
    key.v = narrow(z_k);
    value.v = narrow(z_v);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        k[i * HALVES] = key.h[i];
        v[i] = value.h[i];
    }
}

static void put_f16(void *k, void *v, size_t pos, const float *z_k, const float *z_v, int rank)
{
    uint16_t *tile = (uint16_t *)((char *)k + pos / HALVES * hx_kv_proj_tile_bytes((size_t)rank)) + pos % 32 * 2 + pos % HALVES / 32;
    uint16_t *row = (uint16_t *)v + pos * (size_t)rank;

    for (int i = 0; i < rank; i += HALVES)
        proj_put_f16(tile + i * HALVES, row + i, (const HVX_Vector *)(z_k + i), (const HVX_Vector *)(z_v + i),
                     rank - i < HALVES ? rank - i : HALVES);
}

static HX_KERNEL void proj_scores_f16(const float *q, const HVX_Vector *k, int rank, int even_rank, int tiles, float scale, HVX_Vector *s)
{
    const HVX_Vector by = qf32_of(splat(scale));

    HX_CODE(proj_scores_f16);
    HX_TRIPS(1, tiles);
    for (int t = 0; t < tiles; t++, k += even_rank) {
        HVX_Vector first = Q6_V_vzero(), second = first;

        HX_TRIPS(2, rank);
        for (int d = 0; d < rank; d++) {
            const struct wide key = widen(k[d]);
            const HVX_Vector x = splat(q[d]);

            first = add_product(first, x, key.even);
            second = add_product(second, x, key.odd);
        }
        s[2 * t] = to_sf(mul(normal(first), by));
        s[2 * t + 1] = to_sf(mul(normal(second), by));
    }
}

static void scores_f16(const float *q, const void *k, int rank, int tiles, float scale, float *s)
{
    proj_scores_f16(q, (const HVX_Vector *)k, rank, (rank + 1) / 2 * 2, tiles, scale, (HVX_Vector *)s);
}

static HX_KERNEL void proj_values_f16(const float *w, const uint16_t *v, int n, int rank, int pairs, HVX_Vector *out)
{
    HX_CODE(proj_values_f16);
    HX_TRIPS(1, pairs);
    for (int j = 0; j < pairs; j++, v += HALVES) {
        HVX_Vector even = Q6_V_vzero(), odd = even;
        const uint16_t *at = v;

        HX_TRIPS(2, n);
        for (int i = 0; i < n; i++, at += rank) {
            const struct wide value = widen(*(const HVX_UVector *)at);
            const HVX_Vector by = splat(w[i]);

            even = add_product(even, by, value.even);
            odd = add_product(odd, by, value.odd);
        }

        const HVX_VectorPair both = Q6_W_vshuff_VVR(to_sf(odd), to_sf(even), -4);
        out[2 * j] = Q6_V_lo_W(both);
        out[2 * j + 1] = Q6_V_hi_W(both);
    }
}

static void values_f16(const float *w, const void *v, int n, int rank, float *out)
{
    proj_values_f16(w, v, n, rank, (rank + HALVES - 1) / HALVES, (HVX_Vector *)out);
}

const struct hx_proj_form hx_proj_f16_hvx = {put_f16, scores_f16, values_f16};
