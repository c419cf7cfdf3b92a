/* int8 linear layers on vrmpy, see vrmpy_linear.h. */
#include "vrmpy_linear.h"

#include "skel/kernel.h"
#include "vrmpy_linear_hvx.listing.h"

/* --- activations, on the scalar unit */

HX_INLINE uint32_t bits_of(float f)
{
    union {
        float f;
        uint32_t u;
    } v = {.f = f};

    return v.u;
}

HX_INLINE float float_of(uint32_t u)
{
    union {
        uint32_t u;
        float f;
    } v = {.u = u};

    return v.f;
}

/* `blocks` blocks with one scale; n floats exist.  Returns the bits of the largest |x|. */
static HX_KERNEL uint32_t linear_quantize(const float *x, int n, int blocks,
                                          struct hx_linear_block *out)
{
    uint32_t top = 0;
    int sum = 0;

    HX_CODE(linear_quantize);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        const uint32_t a = bits_of(x[i]) & 0x7fffffff;

        top = a > top ? a : top;
    }
    const int usable = top > bits_of(HX_LINEAR_TINY) && top < 0x7f800000;
    const float up = usable ? 127.0f / float_of(top) : 0;
    const float scale = usable ? float_of(top) / 127.0f : 0;
    const int limit = usable ? n : 0; /* what is not finite is not read again */

    HX_TRIPS(2, blocks);
    for (int b = 0; b < blocks; b++) {
        HX_TRIPS(3, HX_WEIGHTS_BLOCK);
        for (int i = 0; i < HX_WEIGHTS_BLOCK; i++) {
            const int at = b * HX_WEIGHTS_BLOCK + i;
            const float v = at < limit ? x[at] * up : 0;
            int code = (int)(v + (v >= 0 ? 0.5f : -0.5f));

            if (code > 127)
                code = 127;
            if (code < -127)
                code = -127;
            ((int8_t *)out[b].code)[i] = (int8_t)code;
            sum += code;
        }
        out[b].start = 0;
        out[b].scale = scale;
    }
    out[0].start = -HX_WEIGHTS_ZERO * sum;
    return top;
}

/* The same as highs and lows. */
static HX_KERNEL uint32_t linear_quantize_wide(const float *x, int n, int blocks, struct hx_linear_block *out)
{
    uint32_t top = 0;
    int highs = 0, lows = 0;

    HX_CODE(linear_quantize_wide);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        const uint32_t a = bits_of(x[i]) & 0x7fffffff;

        top = a > top ? a : top;
    }
    const int usable = top > bits_of(HX_LINEAR_TINY) && top < 0x7f800000;
    const float up = usable ? HX_LINEAR_WIDE / float_of(top) : 0;
    const float scale = usable ? float_of(top) / HX_LINEAR_WIDE : 0;
    const int limit = usable ? n : 0;

    HX_TRIPS(2, blocks);
    for (int b = 0; b < blocks; b++, out += 2) {
        HX_TRIPS(3, HX_WEIGHTS_BLOCK);
        for (int i = 0; i < HX_WEIGHTS_BLOCK; i++) {
            const int at = b * HX_WEIGHTS_BLOCK + i;
            const float v = at < limit ? x[at] * up : 0;
            int code = (int)(v + (v >= 0 ? 0.5f : -0.5f));

            if (code > (int)HX_LINEAR_WIDE)
                code = (int)HX_LINEAR_WIDE;
            if (code < -(int)HX_LINEAR_WIDE)
                code = -(int)HX_LINEAR_WIDE;
            const int high = (code + 128) >> 8, low = code - high * 256;

            ((int8_t *)out[0].code)[i] = (int8_t)high;
            ((int8_t *)out[1].code)[i] = (int8_t)low;
            highs += high;
            lows += low;
        }
        out[0].start = out[1].start = 0;
        out[0].scale = out[1].scale = scale;
    }
    out[-2 * blocks].start = -HX_WEIGHTS_ZERO * highs;
    out[-2 * blocks + 1].start = -HX_WEIGHTS_ZERO * lows;
    return top;
}

int hx_linear_quantize_wide_dsp(enum hx_weights_type type, const float *x, size_t cols, struct hx_linear_block *out)
{
    const size_t blocks = hx_weights_blocks(cols);
    uint32_t top = 0;

    if (type == HX_WEIGHTS_ROW8)
        return linear_quantize_wide(x, (int)cols, (int)blocks, out) >= 0x7f800000;
    for (size_t b = 0; b < blocks; b++) {
        const size_t at = b * HX_WEIGHTS_BLOCK, left = cols - at;
        const uint32_t now = linear_quantize_wide(x + at, left < HX_WEIGHTS_BLOCK ? (int)left : HX_WEIGHTS_BLOCK, 1, &out[2 * b]);

        top = now > top ? now : top;
    }
    return top >= 0x7f800000;
}

int hx_linear_quantize_dsp(enum hx_weights_type type, const float *x, size_t cols,
                           struct hx_linear_block *out)
{
    const size_t blocks = hx_weights_blocks(cols);
    uint32_t top = 0;

    if (type == HX_WEIGHTS_ROW8)
        return linear_quantize(x, (int)cols, (int)blocks, out) >= 0x7f800000;
    for (size_t b = 0; b < blocks; b++) {
        const size_t at = b * HX_WEIGHTS_BLOCK, left = cols - at;
        const uint32_t now = linear_quantize(
            x + at, left < HX_WEIGHTS_BLOCK ? (int)left : HX_WEIGHTS_BLOCK, 1, &out[b]);

        top = now > top ? now : top;
    }
    return top >= 0x7f800000;
}

/* --- rows: lane = row */

/* A qf32 word [ s : 24 | e : 8 ] is (2s + 1) 2^(e - 150): an integer below 2^19 as s = 16 * it, e = 145 is it + 1/32. */
enum { EXPONENT = 145, SHIFT = 12, LOW_BITS = 12, HIGH_SHIFT = 8 };

HX_INLINE HVX_Vector qf32_of_int(HVX_Vector w, int exponent)
{
    return Q6_Vw_vaslacc_VwVwR(Q6_V_vsplat_R(exponent), w, SHIFT);
}

/* Eight vectors of weights, read once for all vectors of activations. */
struct codes {
    HVX_Vector w[HX_WEIGHTS_CODE_VECTORS];
};

HX_INLINE struct codes load_codes(const HVX_Vector *w)
{
    return (struct codes){{w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]}};
}

HX_INLINE HVX_Vector dot_block(HVX_Vector sum, const struct codes *c,
                               const struct hx_linear_block *x)
{
    sum = Q6_Vw_vrmpyacc_VwVubRb(sum, c->w[0], x->code[0]);
    sum = Q6_Vw_vrmpyacc_VwVubRb(sum, c->w[1], x->code[1]);
    sum = Q6_Vw_vrmpyacc_VwVubRb(sum, c->w[2], x->code[2]);
    sum = Q6_Vw_vrmpyacc_VwVubRb(sum, c->w[3], x->code[3]);
    sum = Q6_Vw_vrmpyacc_VwVubRb(sum, c->w[4], x->code[4]);
    sum = Q6_Vw_vrmpyacc_VwVubRb(sum, c->w[5], x->code[5]);
    sum = Q6_Vw_vrmpyacc_VwVubRb(sum, c->w[6], x->code[6]);
    return Q6_Vw_vrmpyacc_VwVubRb(sum, c->w[7], x->code[7]);
}

/* w_scale * scale, as qf32. */
HX_INLINE HVX_Vector scale_of(HVX_Vector w_scale, const struct hx_linear_block *x)
{
    return Q6_Vqf32_vmpy_VsfVsf(w_scale, Q6_V_vsplat_R((int)bits_of(x->scale)));
}

HX_INLINE HVX_Vector add_q8_block(HVX_Vector y, const struct codes *c, HVX_Vector w_scale,
                                  const struct hx_linear_block *x)
{
    const HVX_Vector sum = dot_block(Q6_V_vsplat_R(x->start), c, x);
    const HVX_Vector term =
        Q6_Vqf32_vmpy_Vqf32Vqf32(qf32_of_int(sum, EXPONENT), scale_of(w_scale, x));

    return Q6_Vqf32_vadd_Vqf32Vqf32(y, term);
}

/* Below 2^29: split, because 24 bits of significand are too few.  The high part's 1/32 is 128 of the low one's units. */
HX_INLINE HVX_Vector qf32_of_wide_int(HVX_Vector sum)
{
    const HVX_Vector rest = Q6_V_vand_VV(sum, Q6_V_vsplat_R((1 << LOW_BITS) - 1));
    const HVX_Vector low = Q6_Vw_vsub_VwVw(rest, Q6_V_vsplat_R((1 << LOW_BITS) / 32));
    const HVX_Vector high = Q6_Vw_vasr_VwR(sum, LOW_BITS);

    return Q6_Vqf32_vadd_Vqf32Vqf32(qf32_of_int(high, EXPONENT + LOW_BITS), qf32_of_int(low, EXPONENT));
}

HX_INLINE HVX_Vector finish_row8(HVX_Vector sum, HVX_Vector w_scale,
                                 const struct hx_linear_block *x)
{
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vmpy_Vqf32Vqf32(qf32_of_wide_int(sum), scale_of(w_scale, x)));
}

/* Wide ones: x[0] are highs, x[1] lows. */
HX_INLINE HVX_Vector add_q8_block_wide(HVX_Vector y, const struct codes *c, HVX_Vector w_scale, const struct hx_linear_block *x)
{
    const HVX_Vector high = dot_block(Q6_V_vsplat_R(x[0].start), c, &x[0]), low = dot_block(Q6_V_vsplat_R(x[1].start), c, &x[1]);
    const HVX_Vector sum = Q6_Vw_vaslacc_VwVwR(low, high, HIGH_SHIFT);

    return Q6_Vqf32_vadd_Vqf32Vqf32(y, Q6_Vqf32_vmpy_Vqf32Vqf32(qf32_of_wide_int(sum), scale_of(w_scale, x)));
}

HX_INLINE HVX_Vector finish_row8_wide(HVX_Vector high, HVX_Vector low, HVX_Vector w_scale, const struct hx_linear_block *x)
{
    const HVX_Vector up = Q6_Vqf32_vadd_VsfVsf(Q6_V_vsplat_R((int)bits_of(1 << HIGH_SHIFT)), Q6_V_vzero());
    const HVX_Vector both = Q6_Vqf32_vadd_Vqf32Vqf32(Q6_Vqf32_vmpy_Vqf32Vqf32(qf32_of_wide_int(high), up), qf32_of_wide_int(low));

    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vmpy_Vqf32Vqf32(both, scale_of(w_scale, x)));
}

/* y[0..n-1]: one vector of results per vector of activations. */
static HX_KERNEL void linear_q8_one(const HVX_Vector *w, const struct hx_linear_block *x,
                                    int blocks, HVX_Vector *y)
{
    HVX_Vector y0 = Q6_V_vzero();

    HX_CODE(linear_q8_one);
    HX_TRIPS(1, blocks);
    for (int b = 0; b < blocks; b++, x++, w += HX_WEIGHTS_CODE_VECTORS + 1) {
        const struct codes c = load_codes(w);

        y0 = add_q8_block(y0, &c, w[HX_WEIGHTS_CODE_VECTORS], x);
    }
    y[0] = Q6_Vsf_equals_Vqf32(y0);
}

static HX_KERNEL void linear_q8_four(const HVX_Vector *w, const struct hx_linear_block *x,
                                     int blocks, HVX_Vector *y)
{
    HVX_Vector y0 = Q6_V_vzero(), y1 = y0, y2 = y0, y3 = y0;

    HX_CODE(linear_q8_four);
    HX_TRIPS(1, blocks);
    for (int b = 0; b < blocks; b++, x++, w += HX_WEIGHTS_CODE_VECTORS + 1) {
        const struct codes c = load_codes(w);
        const HVX_Vector scale = w[HX_WEIGHTS_CODE_VECTORS];

        y0 = add_q8_block(y0, &c, scale, x);
        y1 = add_q8_block(y1, &c, scale, x + blocks);
        y2 = add_q8_block(y2, &c, scale, x + 2 * blocks);
        y3 = add_q8_block(y3, &c, scale, x + 3 * blocks);
    }
    y[0] = Q6_Vsf_equals_Vqf32(y0);
    y[1] = Q6_Vsf_equals_Vqf32(y1);
    y[2] = Q6_Vsf_equals_Vqf32(y2);
    y[3] = Q6_Vsf_equals_Vqf32(y3);
}

static HX_KERNEL void linear_row8_one(const HVX_Vector *w, const struct hx_linear_block *x,
                                      int blocks, HVX_Vector *y)
{
    const struct hx_linear_block *at = x;
    HVX_Vector sum = Q6_V_vsplat_R(x->start);

    HX_CODE(linear_row8_one);
    HX_TRIPS(1, blocks);
    for (int b = 0; b < blocks; b++, at++, w += HX_WEIGHTS_CODE_VECTORS) {
        const struct codes c = load_codes(w);

        sum = dot_block(sum, &c, at);
    }
    y[0] = finish_row8(sum, *w, x);
}

static HX_KERNEL void linear_row8_four(const HVX_Vector *w, const struct hx_linear_block *x,
                                       int blocks, HVX_Vector *y)
{
    const struct hx_linear_block *at = x;
    HVX_Vector s0 = Q6_V_vsplat_R(x->start), s1 = Q6_V_vsplat_R(x[blocks].start);
    HVX_Vector s2 = Q6_V_vsplat_R(x[2 * blocks].start), s3 = Q6_V_vsplat_R(x[3 * blocks].start);

    HX_CODE(linear_row8_four);
    HX_TRIPS(1, blocks);
    for (int b = 0; b < blocks; b++, at++, w += HX_WEIGHTS_CODE_VECTORS) {
        const struct codes c = load_codes(w);

        s0 = dot_block(s0, &c, at);
        s1 = dot_block(s1, &c, at + blocks);
        s2 = dot_block(s2, &c, at + 2 * blocks);
        s3 = dot_block(s3, &c, at + 3 * blocks);
    }
    y[0] = finish_row8(s0, *w, x);
    y[1] = finish_row8(s1, *w, x + blocks);
    y[2] = finish_row8(s2, *w, x + 2 * blocks);
    y[3] = finish_row8(s3, *w, x + 3 * blocks);
}

/* --- rows for wide activations */

static HX_KERNEL void linear_q8_wide_one(const HVX_Vector *w, const struct hx_linear_block *x, int blocks, HVX_Vector *y)
{
    HVX_Vector y0 = Q6_V_vzero();

    HX_CODE(linear_q8_wide_one);
    HX_TRIPS(1, blocks);
    for (int b = 0; b < blocks; b++, x += 2, w += HX_WEIGHTS_CODE_VECTORS + 1) {
        const struct codes c = load_codes(w);

        y0 = add_q8_block_wide(y0, &c, w[HX_WEIGHTS_CODE_VECTORS], x);
    }
    y[0] = Q6_Vsf_equals_Vqf32(y0);
}

static HX_KERNEL void linear_q8_wide_four(const HVX_Vector *w, const struct hx_linear_block *x, int blocks, HVX_Vector *y)
{
    HVX_Vector y0 = Q6_V_vzero(), y1 = y0, y2 = y0, y3 = y0;

    HX_CODE(linear_q8_wide_four);
    HX_TRIPS(1, blocks);
    for (int b = 0; b < blocks; b++, x += 2, w += HX_WEIGHTS_CODE_VECTORS + 1) {
        const struct codes c = load_codes(w);
        const HVX_Vector scale = w[HX_WEIGHTS_CODE_VECTORS];

        y0 = add_q8_block_wide(y0, &c, scale, x);
        y1 = add_q8_block_wide(y1, &c, scale, x + 2 * blocks);
        y2 = add_q8_block_wide(y2, &c, scale, x + 4 * blocks);
        y3 = add_q8_block_wide(y3, &c, scale, x + 6 * blocks);
    }
    y[0] = Q6_Vsf_equals_Vqf32(y0);
    y[1] = Q6_Vsf_equals_Vqf32(y1);
    y[2] = Q6_Vsf_equals_Vqf32(y2);
    y[3] = Q6_Vsf_equals_Vqf32(y3);
}

static HX_KERNEL void linear_row8_wide_one(const HVX_Vector *w, const struct hx_linear_block *x, int blocks, HVX_Vector *y)
{
    const struct hx_linear_block *at = x;
    HVX_Vector high = Q6_V_vsplat_R(x[0].start), low = Q6_V_vsplat_R(x[1].start);

    HX_CODE(linear_row8_wide_one);
    HX_TRIPS(1, blocks);
    for (int b = 0; b < blocks; b++, at += 2, w += HX_WEIGHTS_CODE_VECTORS) {
        const struct codes c = load_codes(w);

        high = dot_block(high, &c, at);
        low = dot_block(low, &c, at + 1);
    }
    y[0] = finish_row8_wide(high, low, *w, x);
}

static HX_KERNEL void linear_row8_wide_four(const HVX_Vector *w, const struct hx_linear_block *x, int blocks, HVX_Vector *y)
{
    const struct hx_linear_block *x0 = x, *x1 = x + 2 * blocks, *x2 = x + 4 * blocks, *x3 = x + 6 * blocks;
    HVX_Vector h0 = Q6_V_vsplat_R(x0[0].start), h1 = Q6_V_vsplat_R(x1[0].start), h2 = Q6_V_vsplat_R(x2[0].start);
    HVX_Vector h3 = Q6_V_vsplat_R(x3[0].start), l0 = Q6_V_vsplat_R(x0[1].start), l1 = Q6_V_vsplat_R(x1[1].start);
    HVX_Vector l2 = Q6_V_vsplat_R(x2[1].start), l3 = Q6_V_vsplat_R(x3[1].start);

    HX_CODE(linear_row8_wide_four);
    HX_TRIPS(1, blocks);
    for (int b = 0; b < 2 * blocks; b += 2, w += HX_WEIGHTS_CODE_VECTORS) {
        const struct codes c = load_codes(w);

        h0 = dot_block(h0, &c, x0 + b);
        l0 = dot_block(l0, &c, x0 + b + 1);
        h1 = dot_block(h1, &c, x1 + b);
        l1 = dot_block(l1, &c, x1 + b + 1);
        h2 = dot_block(h2, &c, x2 + b);
        l2 = dot_block(l2, &c, x2 + b + 1);
        h3 = dot_block(h3, &c, x3 + b);
        l3 = dot_block(l3, &c, x3 + b + 1);
    }
    y[0] = finish_row8_wide(h0, l0, *w, x0);
    y[1] = finish_row8_wide(h1, l1, *w, x1);
    y[2] = finish_row8_wide(h2, l2, *w, x2);
    y[3] = finish_row8_wide(h3, l3, *w, x3);
}

enum { AT_ONCE = 4 };

typedef void group_kernel(const HVX_Vector *w, const struct hx_linear_block *x, int blocks,
                          HVX_Vector *y);

static const struct {
    group_kernel *one, *four;
} kernels[HX_WEIGHTS_TYPES][2] = { /* [1]: wide */
    [HX_WEIGHTS_Q8_0] = {{linear_q8_one, linear_q8_four}, {linear_q8_wide_one, linear_q8_wide_four}},
    [HX_WEIGHTS_ROW8] = {{linear_row8_one, linear_row8_four}, {linear_row8_wide_one, linear_row8_wide_four}},
};

/* The first `rows` lanes of a vector. */
HX_INLINE void store_rows(float *y, const HVX_Vector *v, size_t rows)
{
    if (rows == HX_WEIGHTS_ROWS)
        *(HVX_UVector *)y = *v;
    else
        __builtin_memcpy(y, v, rows * sizeof(*y));
}

static void group(const struct hx_linear_job *job, const HVX_Vector *w, float *y, size_t rows)
{
    const struct hx_linear_block *x = job->x;
    HVX_Vector out[AT_ONCE];
    size_t now;

    for (size_t t = 0; t < job->n; t += now, x += now * hx_linear_quantized(job->blocks, job->wide)) {
        now = job->n - t < AT_ONCE ? 1 : AT_ONCE;
        (now == 1 ? kernels[job->type][job->wide].one : kernels[job->type][job->wide].four)(w, x, (int)job->blocks, out);
        for (size_t i = 0; i < now; i++)
            store_rows(y + (t + i) * job->y_stride, &out[i], rows);
    }
}

void hx_linear_rows_hvx(const struct hx_linear_job *job)
{
    const size_t bytes = hx_weights_group_bytes(job->type, job->blocks * HX_WEIGHTS_BLOCK);

    for (size_t r = 0; r < job->rows; r += HX_WEIGHTS_ROWS) {
        const size_t left = job->rows - r;

        group(job, (const HVX_Vector *)(job->w + r / HX_WEIGHTS_ROWS * bytes), job->y + r,
              left < HX_WEIGHTS_ROWS ? left : HX_WEIGHTS_ROWS);
    }
}

/* --- argmax */

/* Floats as integers of the same order; -0 as +0. */
HX_INLINE HVX_Vector ordered(HVX_Vector v)
{
    const HVX_Vector flip = Q6_Vuw_vlsr_VuwR(Q6_Vw_vasr_VwR(v, 31), 1);
    const HVX_VectorPred minus_zero = Q6_Q_vcmp_eq_VwVw(v, Q6_V_vsplat_R((int)0x80000000u));

    return Q6_V_vmux_QVV(minus_zero, Q6_V_vzero(), Q6_V_vxor_VV(v, flip));
}

/* Lane by lane: its first largest and in which vector, its smallest. */
struct extremes {
    union {
        HVX_Vector v;
        int32_t w[HX_VECTOR_WORDS];
    } top, at, low;
};

static HX_KERNEL void linear_argmax(const HVX_Vector *y, int vectors, struct extremes *e)
{
    HVX_Vector top = ordered(y[0]), low = top, at = Q6_V_vzero();

    HX_CODE(linear_argmax);
    HX_TRIPS(1, vectors - 1);
    for (int i = 1; i < vectors; i++) {
        const HVX_Vector v = ordered(y[i]);
        const HVX_VectorPred more = Q6_Q_vcmp_gt_VwVw(v, top);

        top = Q6_Vw_vmax_VwVw(top, v);
        low = Q6_Vw_vmin_VwVw(low, v);
        at = Q6_V_vmux_QVV(more, Q6_V_vsplat_R(i), at);
    }
    e->top.v = top;
    e->at.v = at;
    e->low.v = low;
}

static int32_t ordered_float(float f)
{
    const int32_t u = (int32_t)bits_of(f);

    return u == INT32_MIN ? 0 : u ^ (int32_t)((uint32_t)(u >> 31) >> 1);
}

long hx_linear_argmax_hvx(const float *y, size_t n)
{
    enum { INFINITE = 0x7f800000 };
    const size_t vectors = n / HX_VECTOR_WORDS;
    int32_t top = INT32_MIN, low = INT32_MAX;
    long best = -1;

    if (vectors) {
        struct extremes e;

        linear_argmax((const HVX_Vector *)y, (int)vectors, &e);
        for (int l = 0; l < HX_VECTOR_WORDS; l++) {
            const long at = (long)e.at.w[l] * HX_VECTOR_WORDS + l;

            if (e.top.w[l] > top || (e.top.w[l] == top && at < best)) {
                top = e.top.w[l];
                best = at;
            }
            low = e.low.w[l] < low ? e.low.w[l] : low;
        }
    }
    for (size_t i = vectors * HX_VECTOR_WORDS; i < n; i++) {
        const int32_t v = ordered_float(y[i]);

        if (v > top) {
            top = v;
            best = (long)i;
        }
        low = v < low ? v : low;
    }
    return top >= INFINITE || low <= ~INFINITE ? -1 : best;
}
