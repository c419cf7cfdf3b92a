/* A layer's row operations as scalar loops, and the elementary functions that they call, see layer.h. */
/* listing: exp_f tanh_f pow_f sin_f cos_f */
/* listing: rmsnorm rope scores softmax weighted gelu silu add */
#include "layer.h"

#include <stdint.h>

#include "skel/kernel.h"
#include "layer_scalar.listing.h"

#define LOG2_E 1.44269504f
#define LN2_HIGH 0.693359375f /* 10 bits: products with small integers are exact */
#define LN2_LOW (-2.12194440e-4f)

union float_bits {
    float f;
    uint32_t u;
    int32_t i;
};

union double_bits {
    double f;
    uint64_t u;
};

/* --- elementary functions: no branches, because a listing is charged with all of its blocks */

HX_INLINE float power_of_two(int n)
{
    const union float_bits v = {.u = (uint32_t)(n + 127) << 23};

    return v.f;
}

/* exp(x) - 1 = *one * (1 + p) - 1, *one a power of two; returns p. */
HX_INLINE float expm1_parts(float x, float *one)
{
    const int n = (int)(x * LOG2_E + (x < 0 ? -0.5f : 0.5f));
    const float r = x - (float)n * LN2_HIGH - (float)n * LN2_LOW;
    float p = 1.0f / 5040;

    *one = power_of_two(n);
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    return r + p * r * r;
}

static HX_KERNEL float exp_f(float x)
{
    float one;

    HX_CODE(exp_f);
    x = x < 88 ? x : 88;
    const float p = expm1_parts(x > -87 ? x : -87, &one);
    return one + one * p;
}

static HX_KERNEL float tanh_f(float x)
{
    enum { ALMOST_ONE = 10 };
    float a = __builtin_fabsf(x), one;

    HX_CODE(tanh_f);
    a = a < ALMOST_ONE ? a : ALMOST_ONE;
    const float p = expm1_parts(-2 * a, &one), e = one * p + (one - 1);
    const float t = -e / (e + 2);
    return x < 0 ? -t : t;
}

/* Of 1/16 of the mantissas each, in steps from 0x3f330000: nearly 1/c, and log2 c. */
static const struct {
    double inverse, log2;
} sixteenths[16] = {
    {1.39892578125, -0.4843194236442672},    {1.34033203125, -0.422590433892561},
    {1.286376953125, -0.3633134643734775},   {1.23681640625, -0.306631361712501},
    {1.190673828125, -0.25177825703586765},  {1.14794921875, -0.19905882365302136},
    {1.108154296875, -0.14815877293789334},  {1.071044921875, -0.09901899101923065},
    {1.036376953125, -0.05154883844040085},  {1.0, 0.0},
    {0.9482421875, 0.07667251458080775},     {0.89501953125, 0.16000892946011427},
    {0.84765625, 0.2384487675555207},        {0.804931640625, 0.3130618283296127},
    {0.766357421875, 0.38391068641788484},   {0.7314453125, 0.45117809154124894},
};

#define LN2 0.69314718055994531
#define ROUND 0x1.8p52 /* added and taken off again, it leaves the nearest integer */

/* In double, so that y * log2 x keeps its bits. */
static HX_KERNEL float pow_f(float x, float y)
{
    HX_CODE(pow_f);
    const union float_bits v = {.f = x};
    const uint32_t part = v.u - 0x3f330000;
    const int i = part >> 19 & 15;
    const union float_bits mantissa = {.u = v.u - (part & 0xff800000)};
    const double r = (double)mantissa.f * sixteenths[i].inverse - 1;
    double p = 1.0 / 5;

    p = p * r - 1.0 / 4;
    p = p * r + 1.0 / 3;
    p = p * r - 1.0 / 2;
    p = (p * r + 1) * r;
    const double z = y * (p * (1 / LN2) + sixteenths[i].log2 + (double)((int32_t)part >> 23));

    const union double_bits n = {.f = z + ROUND};
    const double s = (z - (n.f - ROUND)) * LN2;
    double e = 1.0 / 5040;
    e = e * s + 1.0 / 720;
    e = e * s + 1.0 / 120;
    e = e * s + 1.0 / 24;
    e = e * s + 1.0 / 6;
    e = e * s + 1.0 / 2;
    e = (e * s + 1) * s + 1;
    return (float)e * power_of_two((int)(int32_t)(uint32_t)n.u);
}

/* Of the sine of y: y + y * z * (...), of the cosine: 1 + z * (...); z = y^2. */
static const double turn_terms[2][4] = {
    {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880},
    {-1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320},
};

/* sin(x + quarter * pi/2) */
HX_INLINE float turned(float x, unsigned quarter)
{
    const union double_bits n = {.f = (double)x * 0.63661977236758134 + ROUND};
    const double y = x - (n.f - ROUND) * 1.5707963267948966, z = y * y;
    const unsigned q = (unsigned)n.u + quarter;
    const double *term = turn_terms[q & 1];
    const double p = ((term[3] * z + term[2]) * z + term[1]) * z + term[0];
    const double first = q & 1 ? 1 : y, r = first + first * z * p;

    return (float)(q & 2 ? -r : r);
}

static HX_KERNEL float sin_f(float x)
{
    HX_CODE(sin_f);
    return turned(x, 0);
}

static HX_KERNEL float cos_f(float x)
{
    HX_CODE(cos_f);
    return turned(x, 1);
}

float hx_scalar_exp(float x)
{
    return exp_f(x);
}

float hx_scalar_tanh(float x)
{
    return tanh_f(x);
}

float hx_scalar_pow(float x, float y)
{
    return pow_f(x, y);
}

float hx_scalar_sin(float x)
{
    return sin_f(x);
}

float hx_scalar_cos(float x)
{
    return cos_f(x);
}

/* --- rows */

/* v > 0 and normal; Newton from a guess that is right to 4 bits. */
HX_INLINE float one_by_root(float v)
{
    const union float_bits bits = {.f = v}, guess = {.u = 0x5f3759df - (bits.u >> 1)};
    float r = guess.f;

    r = r * (1.5f - 0.5f * v * r * r);
    r = r * (1.5f - 0.5f * v * r * r);
    return r * (1.5f - 0.5f * v * r * r);
}

static HX_KERNEL void rmsnorm(const float *x, const float *w, int n, float *y)
{
    double sum = 0;

    HX_CODE(rmsnorm);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];

    const float scale = one_by_root((float)sum / (float)n + HX_NORM_EPS);
    HX_TRIPS(2, n);
    for (int i = 0; i < n; i++)
        y[i] = x[i] * scale * w[i];
}

int hx_rmsnorm_scalar(const float *x, const float *w, int n, int row, float *y)
{
    (void)row;
    rmsnorm(x, w, n, y);
    return AEE_SUCCESS;
}

static HX_KERNEL void rope(const float *x, int n, float row, float *y)
{
    const int half = n / 2;

    HX_CODE(rope);
    HX_TRIPS(1, half);
    for (int i = 0; i < half; i++) {
        const float angle = row * pow_f(HX_ROPE_BASE, -2.0f * (float)i / (float)n);
        const float c = cos_f(angle), s = sin_f(angle), a = x[i], b = x[i + half];

        y[i] = a * c - b * s;
        y[i + half] = b * c + a * s;
    }
}

int hx_rope_scalar(const float *x, const float *unused, int n, int row, float *y)
{
    (void)unused;
    rope(x, n, (float)row, y);
    return AEE_SUCCESS;
}

static HX_KERNEL void softmax(const float *x, int n, float *y)
{
    float top = x[0], sum = 0;

    HX_CODE(softmax);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        top = x[i] > top ? x[i] : top;
    HX_TRIPS(2, n);
    for (int i = 0; i < n; i++) {
        y[i] = exp_f(x[i] - top);
        sum += y[i];
    }

    const float scale = 1 / sum;
    HX_TRIPS(3, n);
    for (int i = 0; i < n; i++)
        y[i] *= scale;
}

int hx_softmax_scalar(const float *x, const float *unused, int n, int row, float *y)
{
    (void)unused, (void)row;
    softmax(x, n, y);
    return AEE_SUCCESS;
}

static HX_KERNEL void scores(const float *q, const float *k, int stride, int n, int dh, float scale, float *out)
{
    HX_CODE(scores);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++, k += stride) {
        float sum = 0;

        HX_TRIPS(2, dh);
        for (int d = 0; d < dh; d++)
            sum += q[d] * k[d];
        out[i] = sum * scale;
    }
}

void hx_scores_scalar(const float *q, const float *k, int stride, int n, int dh, float scale, float *out)
{
    scores(q, k, stride, n, dh, scale, out);
}

static HX_KERNEL void weighted(const float *weight, const float *v, int stride, int n, int dh, float *y)
{
    HX_CODE(weighted);
    HX_TRIPS(1, dh);
    for (int d = 0; d < dh; d++)
        y[d] = 0;
    HX_TRIPS(2, n);
    for (int i = 0; i < n; i++, v += stride) {
        const float by = weight[i];

        HX_TRIPS(3, dh);
        for (int d = 0; d < dh; d++)
            y[d] += by * v[d];
    }
}

void hx_weighted_scalar(const float *weight, const float *v, int stride, int n, int dh, float *y)
{
    weighted(weight, v, stride, n, dh, y);
}

static HX_KERNEL void gelu(const float *x, const float *up, int n, float *y)
{
    HX_CODE(gelu);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        const float v = x[i];

        y[i] = 0.5f * v * (1 + tanh_f(0.797884561f * (v + 0.044715f * v * v * v))) * up[i];
    }
}

int hx_gelu_scalar(const float *x, const float *up, int n, int row, float *y)
{
    (void)row;
    gelu(x, up, n, y);
    return AEE_SUCCESS;
}

static HX_KERNEL void silu(const float *x, const float *up, int n, float *y)
{
    HX_CODE(silu);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        y[i] = x[i] / (1 + exp_f(-x[i])) * up[i];
}

int hx_silu_scalar(const float *x, const float *up, int n, int row, float *y)
{
    (void)row;
    silu(x, up, n, y);
    return AEE_SUCCESS;
}

static HX_KERNEL void add(const float *x, const float *other, int n, float *y)
{
    HX_CODE(add);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        y[i] = x[i] + other[i];
}

int hx_add_scalar(const float *x, const float *other, int n, int row, float *y)
{
    (void)row;
    add(x, other, n, y);
    return AEE_SUCCESS;
}
