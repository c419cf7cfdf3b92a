/* Attention over keys in tiles, in double, and the tables of the softmax by integers; see layer_attn.h. */
#include "layer_attn.h"

#include <math.h>
#include <string.h>

void hx_layer_exp_init(struct hx_layer_exp *e)
{
    for (int i = 0; i < HX_LAYER_EXP_ENTRIES; i++) {
        e->coarse[i] = (int32_t)lround(ldexp(exp2(-ldexp(i, -HX_LAYER_EXP_BITS)), 30));
        e->fine[i] = (int32_t)lround(ldexp(exp2(-ldexp(i, -2 * HX_LAYER_EXP_BITS)), 30));
    }
}

void hx_layer_put_ref(float *k, float *v, size_t pos, const float *key, const float *value, int dh)
{
    float *to = k + pos / HX_LAYER_TILE * (size_t)dh * HX_LAYER_TILE + pos % HX_LAYER_TILE;

    for (int i = 0; i < dh; i++)
        to[i * HX_LAYER_TILE] = key[i];
    memcpy(v + pos * (size_t)dh, value, (size_t)dh * sizeof(*value));
}

void hx_layer_scores_ref(const float *q, const float *k, int dh, int tiles, float scale, float *s)
{
    for (int t = 0; t < tiles; t++)
        for (int i = 0; i < HX_LAYER_TILE; i++) {
            double sum = 0;

            for (int d = 0; d < dh; d++)
                sum += (double)q[d] * k[(t * dh + d) * HX_LAYER_TILE + i];
            s[t * HX_LAYER_TILE + i] = (float)(sum * scale);
        }
}

void hx_layer_softmax_ref(float *s, int first, int end)
{
    const int whole = (int)hx_layer_tiles((size_t)end) * HX_LAYER_TILE;
    double sum = 0, max = s[first];

    for (int i = first; i < end; i++)
        max = s[i] > max ? s[i] : max;
    for (int i = first; i < end; i++)
        sum += exp(s[i] - max);
    for (int i = 0; i < whole; i++)
        s[i] = i < first || i >= end ? 0 : (float)(exp(s[i] - max) / sum);
}

void hx_layer_values_ref(const float *w, const float *v, int n, int dh, float *out)
{
    for (int d = 0; d < dh; d++) {
        double sum = 0;

        for (int i = 0; i < n; i++)
            sum += (double)w[i] * v[(size_t)i * (size_t)dh + (size_t)d];
        out[d] = (float)sum;
    }
}
