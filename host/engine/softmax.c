/* See softmax.h. */
#include "softmax.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

void hx_softmax_f32(float *s, size_t n)
{
    float max = s[0], sum = 0;

    for (size_t i = 1; i < n; i++)
        max = s[i] > max ? s[i] : max;
    for (size_t i = 0; i < n; i++) {
        s[i] = expf(s[i] - max);
        sum += s[i];
    }
    for (size_t i = 0; i < n; i++)
        s[i] /= sum;
}

/* --- integers */

enum { TABLE_BITS = 10, UNIT_BITS = 2 * TABLE_BITS, E_BITS = 44, ENTRY_BITS = 31 };

/* 2^(-i / 2^10) and 2^(-i / 2^20), in units of 2^-31: up to 2^31 itself. */
static uint32_t coarse[1 << TABLE_BITS], fine[1 << TABLE_BITS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (int i = 0; i < 1 << TABLE_BITS; i++) {
        coarse[i] = (uint32_t)lround(ldexp(exp2(-ldexp(i, -TABLE_BITS)), ENTRY_BITS));
        fine[i] = (uint32_t)lround(ldexp(exp2(-ldexp(i, -UNIT_BITS)), ENTRY_BITS));
    }
}

/* 2^(-t / 2^20) in units of 2^-44. */
static uint64_t power_of_half(uint64_t t)
{
    const uint64_t mask = (1 << TABLE_BITS) - 1, shift = t >> UNIT_BITS;
    const uint64_t e = (uint64_t)coarse[t >> TABLE_BITS & mask] * fine[t & mask];

    return shift > E_BITS ? 0 : e >> (2 * ENTRY_BITS - E_BITS) >> shift;
}

/* Scores are finite: 2^9 powers of 2 below the largest is nothing in any case. */
static uint64_t below_max(float max, float s)
{
    const double powers = ((double)max - s) * 1.4426950408889634; /* log2(e) */

    return (uint64_t)(ldexp(powers < 512 ? powers : 512, UNIT_BITS) + 0.5);
}

/* p and q: [n], positive sums; q of 0 counts as `least` */
static double divergence(const float *p, const float *q, size_t n, double least)
{
    double p_sum = 0, q_sum = 0, kl = 0;

    for (size_t i = 0; i < n; i++) {
        p_sum += p[i];
        q_sum += q[i];
    }
    for (size_t i = 0; i < n; i++)
        if (p[i] > 0)
            kl += p[i] / p_sum * log(p[i] / p_sum / ((q[i] > 0 ? q[i] : least) / q_sum));
    return kl;
}

double hx_softmax_int(float *s, float *work, size_t n)
{
    uint64_t sum = 0;
    float max = s[0];

    pthread_once(&once, make_tables);
    memcpy(work, s, n * sizeof(*s));
    hx_softmax_f32(work, n);
    for (size_t i = 1; i < n; i++)
        max = s[i] > max ? s[i] : max;
    for (size_t i = 0; i < n; i++)
        sum += power_of_half(below_max(max, s[i]));
    for (size_t i = 0; i < n; i++)
        s[i] = (float)((double)power_of_half(below_max(max, s[i])) / (double)sum);
    return divergence(work, s, n, 0.5 / (double)sum);
}

void hx_softmax_count(struct hx_softmax_seen *seen, double kl)
{
    seen->rows++;
    seen->measured++;
    seen->kl_sum += kl;
    seen->kl_max = kl > seen->kl_max ? kl : seen->kl_max;
}

/* --- times V */

static void add_scaled(float *out, const float *v, float w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] += w * v[i];
}

double hx_attn_softmax_v(const struct hx_attn_in *in, const struct hx_kv_view *past, size_t token,
                   size_t head, float *scores, float *work, float *out)
{
    const size_t dh = in->kv->dh, off = head / (in->n_head / in->kv->n_kv) * dh;
    const size_t pos = in->pos + token, first = hx_attn_first(in, pos), n = pos - first;
    double kl = 0;

    if (work)
        kl = hx_softmax_int(scores, work, n + 1);
    else
        hx_softmax_f32(scores, n + 1);
    memset(out, 0, dh * sizeof(*out));
    for (size_t p = 0; p < n; p++)
        add_scaled(out, past->v + (first + p) * past->stride + off, scores[p], dh);
    add_scaled(out, in->v + token * in->kv->n_kv * dh + off, scores[n], dh);
    return kl;
}
