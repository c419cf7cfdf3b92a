/* f32 to Q4_K and Q6_K by ggml's reference rules.
 *
 * Each group of weights gets the scale (and minimum) that a short search finds best under weighted least squares; the
 * groups' scales are then quantised by the block's own scale, and the codes are chosen anew for what that left.
 * Every sum runs in index order in f32, so that the bytes are ggml's. */
#include <math.h>
#include <string.h>

#include "codecs.h"
#include "hx_f16.h"

enum {
    WEIGHTS = HX_QK_WEIGHTS,
    GROUP4 = 32,
    GROUPS4 = WEIGHTS / GROUP4,
    TOP4 = 15, /* codes of Q4_K: 0..15 */
    TRIES4 = 21,
    GROUP6 = 16,
    GROUPS6 = WEIGHTS / GROUP6,
    HALF6 = 32, /* codes of Q6_K: -32..31, stored + 32 */
    TRIES6 = 9, /* to each side */
};

#define ALL_BUT_ZERO 1e-15f /* a Q6_K group or block below this is stored as zeros */

/* Nearest integer, ties to even: adding 1.5 * 2^23 leaves it in the mantissa.  Right for |v| < 2^22; other values, NaN
 * too, give some integer, which the caller clamps. */
static int nearest(float v)
{
    uint32_t bits;

    v += 0x1.8p23f;
    memcpy(&bits, &v, sizeof(bits));
    return (int)(bits & 0x7fffff) - 0x400000;
}

static int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

/* --- Q4_K */

/* w ~ scale * code + low, low <= 0 */
struct line {
    float scale, low;
};

/* A group and how much each of its weights matters. */
struct group4 {
    const float *x;
    float importance[GROUP4];
    float sum, sum_x; /* of the importances; of importance * x */
    float min, max;   /* what codes 0 and 15 stand for at first: of x; min is at most 0 */
};

static void weigh(struct group4 *g, const float *x)
{
    float squares = 0;

    *g = (struct group4){.x = x, .min = x[0], .max = x[0]};
    for (size_t i = 0; i < GROUP4; i++)
        squares += x[i] * x[i];
    const float rms = sqrtf(squares / GROUP4);

    for (size_t i = 0; i < GROUP4; i++) {
        const float w = g->importance[i] = rms + fabsf(x[i]);

        g->sum += w;
        g->sum_x += w * x[i];
        if (x[i] < g->min)
            g->min = x[i];
        if (x[i] > g->max)
            g->max = x[i];
    }
    if (g->min > 0)
        g->min = 0;
}

static void choose4(const struct group4 *g, float inverse, uint8_t *codes)
{
    for (size_t i = 0; i < GROUP4; i++)
        codes[i] = (uint8_t)clamp(nearest(inverse * (g->x[i] - g->min)), 0, TOP4);
}

static float error4(const struct group4 *g, struct line l, const uint8_t *codes)
{
    float sum = 0;

    for (size_t i = 0; i < GROUP4; i++) {
        const float e = l.scale * (float)codes[i] + l.low - g->x[i];

        sum += g->importance[i] * (e * e);
    }
    return sum;
}

/* The best line for these codes.  Returns 0 when there is none: all codes are equal. */
static int fit4(const struct group4 *g, const uint8_t *codes, struct line *l)
{
    float sum_l = 0, sum_l2 = 0, sum_xl = 0;

    for (size_t i = 0; i < GROUP4; i++) {
        const float w = g->importance[i], code = (float)codes[i];

        sum_l += w * code;
        sum_l2 += w * code * code;
        sum_xl += w * code * g->x[i];
    }
    const float det = g->sum * sum_l2 - sum_l * sum_l;

    if (!(det > 0))
        return 0;
    l->scale = (g->sum * sum_xl - g->sum_x * sum_l) / det;
    l->low = (sum_l2 * g->sum_x - sum_l * sum_xl) / det;
    if (l->low > 0) {
        l->low = 0;
        l->scale = sum_xl / sum_l2;
    }
    return 1;
}

/* Tries 21 spacings of the codes, from 1 code wider than the range to 1 narrower.  The range begins at the best low end
 * so far. */
static struct line search4(const float *x, uint8_t *codes)
{
    struct group4 g;
    struct line best, l;
    uint8_t tried[GROUP4];
    float least, inverse;

    weigh(&g, x);
    if (g.max == g.min) {
        memset(codes, 0, GROUP4);
        return (struct line){0, g.min};
    }
    inverse = TOP4 / (g.max - g.min);
    best = (struct line){1 / inverse, g.min};
    choose4(&g, inverse, codes);
    least = error4(&g, best, codes);
    for (int t = 0; t < TRIES4; t++) {
        choose4(&g, (-1.0f + 0.1f * (float)t + TOP4) / (g.max - g.min), tried);
        if (!fit4(&g, tried, &l))
            continue;
        const float error = error4(&g, l, tried);

        if (error < least) {
            least = error;
            best = l;
            g.min = l.low;
            memcpy(codes, tried, GROUP4);
        }
    }
    return best;
}

/* The inverse of hx_quant_scale_min(). */
static void put_scale_min(uint8_t scales[12], unsigned g, uint8_t scale, uint8_t min)
{
    if (g < 4) {
        scales[g] = scale;
        scales[g + 4] = min;
    } else {
        scales[g + 4] = (uint8_t)((scale & 15) | min << 4);
        scales[g - 4] |= (uint8_t)(scale >> 4 << 6);
        scales[g] |= (uint8_t)(min >> 4 << 6);
    }
}

static void put_scales4(struct hx_q4_k *b, const struct line *lines)
{
    float top_scale = 0, top_min = 0;

    /* comparisons: which zero fmaxf(0, -0) returns is the compiler's choice, and ggml stores +0 */
    for (size_t g = 0; g < GROUPS4; g++) {
        if (lines[g].scale > top_scale)
            top_scale = lines[g].scale;
        if (-lines[g].low > top_min)
            top_min = -lines[g].low;
    }
    const float per_scale = top_scale > 0 ? 63 / top_scale : 0;
    const float per_min = top_min > 0 ? 63 / top_min : 0;

    for (unsigned g = 0; g < GROUPS4; g++) {
        /* as bytes first: a fit may have a scale below 0, which ggml then takes for a large one */
        const uint8_t s = (uint8_t)nearest(per_scale * lines[g].scale);
        const uint8_t m = (uint8_t)nearest(per_min * -lines[g].low);

        put_scale_min(b->scales, g, s < 63 ? s : 63, m < 63 ? m : 63);
    }
    b->d = hx_f16_from_f32(top_scale / 63);
    b->dmin = hx_f16_from_f32(top_min / 63);
}

/* The codes for the scales that were stored; a group whose scale became 0 keeps those of the search. */
static void choose_again4(const struct hx_q4_k *b, const float *x, uint8_t *codes)
{
    const float d = hx_f32_from_f16(b->d), dmin = hx_f32_from_f16(b->dmin);

    for (unsigned g = 0; g < GROUPS4; g++, x += GROUP4, codes += GROUP4) {
        uint8_t s, m;

        hx_quant_scale_min(b->scales, g, &s, &m);
        const float ds = d * (float)s, dm = dmin * (float)m;

        for (size_t i = 0; ds != 0 && i < GROUP4; i++)
            codes[i] = (uint8_t)clamp(nearest((x[i] + dm) / ds), 0, TOP4);
    }
}

void hx_narrow_q4_k(void *blocks, const float *x, size_t n)
{
    struct hx_q4_k *b = blocks;

    for (; n; n -= WEIGHTS, b++, x += WEIGHTS) {
        struct line lines[GROUPS4];
        uint8_t codes[WEIGHTS];

        for (size_t g = 0; g < GROUPS4; g++)
            lines[g] = search4(x + g * GROUP4, codes + g * GROUP4);
        put_scales4(b, lines);
        choose_again4(b, x, codes);
        for (size_t i = 0; i < sizeof(b->qs); i++) {
            const size_t low = i / 32 * 64 + i % 32;

            b->qs[i] = (uint8_t)(codes[low] | codes[low + 32] << 4);
        }
    }
}

/* --- Q6_K */

/* One choice of codes for x ~ scale * code, each weight mattering by its square. */
struct fit6 {
    float sum_xl, sum_l2;
};

static struct fit6 try6(const float *x, float inverse, int8_t *codes)
{
    struct fit6 f = {0, 0};

    for (size_t i = 0; i < GROUP6; i++) {
        const float w = x[i] * x[i];
        const int code = clamp(nearest(inverse * x[i]), -HALF6, HALF6 - 1);

        codes[i] = (int8_t)code;
        f.sum_xl += w * x[i] * (float)code;
        f.sum_l2 += w * (float)code * (float)code;
    }
    return f;
}

static float peak16(const float *x, size_t n)
{
    float peak = 0;

    for (size_t i = 0; i < n; i++)
        if (fabsf(x[i]) > fabsf(peak))
            peak = x[i];
    return peak;
}

/* The scale has the sign that gives the largest weight the code -32. */
static float search6(const float *x, int8_t *codes)
{
    const float peak = peak16(x, GROUP6);
    int8_t tried[GROUP6];
    float scale, best;

    if (fabsf(peak) < ALL_BUT_ZERO) {
        memset(codes, -HALF6, GROUP6);
        return 0;
    }
    const struct fit6 first = try6(x, -HALF6 / peak, codes);

    scale = first.sum_l2 != 0 ? first.sum_xl / first.sum_l2 : 0;
    best = scale * first.sum_xl;
    for (int t = -TRIES6; t <= TRIES6; t++) {
        if (t == 0)
            continue;
        const struct fit6 f = try6(x, -(HALF6 + 0.1f * (float)t) / peak, tried);

        if (f.sum_l2 > 0 && f.sum_xl * f.sum_xl > best * f.sum_l2) {
            memcpy(codes, tried, GROUP6);
            scale = f.sum_xl / f.sum_l2;
            best = scale * f.sum_xl;
        }
    }
    return scale;
}

static void choose_again6(const struct hx_q6_k *b, const float *x, int8_t *codes)
{
    const float d = hx_f32_from_f16(b->d);

    for (size_t i = 0; i < WEIGHTS; i++) {
        const float ds = d * (float)b->scales[i / GROUP6];

        if (ds != 0)
            codes[i] = (int8_t)clamp(nearest(x[i] / ds), -HALF6, HALF6 - 1);
    }
}

static void pack6(struct hx_q6_k *b, const int8_t *codes)
{
    memset(b->ql, 0, sizeof(b->ql));
    memset(b->qh, 0, sizeof(b->qh));
    for (size_t i = 0; i < WEIGHTS; i++) {
        const size_t half = i / 128, j = i % 128 / 32, l = i % 32;
        const unsigned code = (unsigned)(codes[i] + HALF6);

        b->ql[64 * half + 32 * (j % 2) + l] |= (uint8_t)((code & 15) << j / 2 * 4);
        b->qh[32 * half + l] |= (uint8_t)(code >> 4 << 2 * j);
    }
}

void hx_narrow_q6_k(void *blocks, const float *x, size_t n)
{
    struct hx_q6_k *b = blocks;

    for (; n; n -= WEIGHTS, b++, x += WEIGHTS) {
        float scales[GROUPS6];
        int8_t codes[WEIGHTS];

        for (size_t g = 0; g < GROUPS6; g++)
            scales[g] = search6(x + g * GROUP6, codes + g * GROUP6);
        const float peak = peak16(scales, GROUPS6);

        if (fabsf(peak) < ALL_BUT_ZERO) {
            memset(b, 0, sizeof(*b));
            continue;
        }
        const float inverse = -128 / peak;

        b->d = hx_f16_from_f32(1 / inverse);
        for (size_t g = 0; g < GROUPS6; g++)
            b->scales[g] = (int8_t)clamp(nearest(inverse * scales[g]), -128, 127);
        choose_again6(b, x, codes);
        pack6(b, codes);
    }
}
