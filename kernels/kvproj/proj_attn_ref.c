/* Attention over projections in double, see proj_attn.h. */
#include "proj_attn.h"

#include <string.h>

#include "hx_f16.h"

void hx_proj_sum_ref(const float *w, const float *rows, int n, int vectors, float *out)
{
    const int row = vectors * HX_KV_PROJ_WORDS;

    for (int d = 0; d < row; d++) {
        double sum = 0;

        for (int i = 0; i < n; i++)
            sum += (double)w[i] * rows[i * row + d];
        out[d] = (float)sum;
    }
}

float hx_proj_dot_ref(const float *x, const float *y, int vectors)
{
    double sum = 0;

    for (int i = 0; i < vectors * HX_KV_PROJ_WORDS; i++)
        sum += (double)x[i] * y[i];
    return (float)sum;
}

void hx_proj_mix_ref(float *y, float w, const float *x, int vectors)
{
    for (int i = 0; i < vectors * HX_KV_PROJ_WORDS; i++)
        y[i] = (float)(y[i] + (double)w * x[i]);
}

/* --- f32 */

static void put_f32(void *k, void *v, size_t pos, const float *z_k, const float *z_v, int rank)
{
    float *tile = (float *)((char *)k + pos / 32 * hx_kv_proj_tile_bytes((size_t)rank));

    for (int i = 0; i < rank; i++)
        tile[i * 32 + (int)(pos % 32)] = z_k[i];
    memcpy((float *)v + pos * (size_t)rank, z_v, (size_t)rank * sizeof(*z_v));
}

static void scores_f32(const float *q, const void *k, int rank, int tiles, float scale, float *s)
{
    for (int t = 0; t < tiles; t++)
        for (int i = 0; i < 32; i++) {
            const float *tile = (const float *)((const char *)k + (size_t)t * hx_kv_proj_tile_bytes((size_t)rank));
            double sum = 0;

            for (int d = 0; d < rank; d++)
                sum += (double)q[d] * tile[d * 32 + i];
            s[t * 32 + i] = (float)(sum * scale);
        }
}

static void values_f32(const float *w, const void *v, int n, int rank, float *out)
{
    for (int d = 0; d < rank; d++) {
        double sum = 0;

        for (int i = 0; i < n; i++)
            sum += (double)w[i] * ((const float *)v)[(size_t)i * (size_t)rank + (size_t)d];
        out[d] = (float)sum;
    }
}

const struct hx_proj_form hx_proj_f32_ref = {put_f32, scores_f32, values_f32};

/* --- f16 */

/* Where a position is in its tile: i and 32 + i beside each other. */
static int lane(size_t pos)
{
    return (int)(pos % 32 * 2 + pos % 64 / 32);
}

static void put_f16(void *k, void *v, size_t pos, const float *z_k, const float *z_v, int rank)
{
    uint16_t *tile = (uint16_t *)((char *)k + pos / 64 * hx_kv_proj_tile_bytes((size_t)rank));

    for (int i = 0; i < rank; i++) {
        tile[i * 64 + lane(pos)] = hx_f16_from_f32(z_k[i]);
        ((uint16_t *)v)[pos * (size_t)rank + (size_t)i] = hx_f16_from_f32(z_v[i]);
    }
}

static void scores_f16(const float *q, const void *k, int rank, int tiles, float scale, float *s)
{
    for (int t = 0; t < tiles; t++)
        for (int i = 0; i < 64; i++) {
            const uint16_t *tile = (const uint16_t *)((const char *)k + (size_t)t * hx_kv_proj_tile_bytes((size_t)rank));
            double sum = 0;

            for (int d = 0; d < rank; d++)
                sum += (double)q[d] * (double)hx_f32_from_f16(tile[d * 64 + lane((size_t)i)]);
            s[t * 64 + i] = (float)(sum * scale);
        }
}

static void values_f16(const float *w, const void *v, int n, int rank, float *out)
{
    for (int d = 0; d < rank; d++) {
        double sum = 0;

        for (int i = 0; i < n; i++)
            sum += (double)w[i] * (double)hx_f32_from_f16(((const uint16_t *)v)[(size_t)i * (size_t)rank + (size_t)d]);
        out[d] = (float)sum;
    }
}

const struct hx_proj_form hx_proj_f16_ref = {put_f16, scores_f16, values_f16};
