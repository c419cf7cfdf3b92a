/* The steps of `hexrig dsp call`: each one's call on the DSP, and the same on the host. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_dsp.h"
#include "dsp/dsp_error.h"
#include "hx_compress.h"
#include "hx_rig.h"
#include "hx_vht2.h"
#include "sp_hex.h"

enum { LONGEST_POWER = 1024, LONGEST_PADDED = 770 };

/* Vectors of a case: what goes in, what comes back, and a second time. */
struct vectors {
    float *x, *y, *z;
    size_t n; /* floats of each */
};

static int failed(const char *method, int code, struct hx_error *err)
{
    return hx_dsp_error(err, HX_DSP_CALL, hx_rig_device(), code, "%s failed", method);
}

static int make(struct vectors *v, const struct hx_call_case *c, size_t length, struct hx_error *err)
{
    unsigned short state[3] = {0x330e, (unsigned short)c->seed, (unsigned short)(c->seed >> 16)};

    v->n = c->vectors * length;
    v->x = calloc(3 * v->n, sizeof(*v->x));
    if (!v->x)
        return hx_error_set(err, -ENOMEM, "no memory for %zu floats", 3 * v->n);
    v->y = v->x + v->n;
    v->z = v->y + v->n;
    for (size_t i = 0; i < v->n; i++)
        v->x[i] = (float)(2 * erand48(state) - 1);
    return 0;
}

static double farthest(const float *a, const float *b, size_t n)
{
    double worst = 0;

    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    return worst;
}

/* --- vht2 */

static int is_power_of_two(size_t n)
{
    return (n & (n - 1)) == 0;
}

static int check_vht2(const struct hx_call_case *c, struct hx_error *err)
{
    if (c->n >= 2 && (is_power_of_two(c->n) ? c->n <= LONGEST_POWER
                                            : c->n <= LONGEST_PADDED && hx_vht2_pad(c->n) == c->n))
        return 0;
    return hx_error_set(err, -EINVAL, "vht2: no transform of %zu floats; legal: powers of two up to %d, and products of different "
                        "primes among 2, 3, 5, 7, 11 up to %d", c->n, LONGEST_POWER, LONGEST_PADDED);
}

/* What the host makes of vector i of x. */
static double vht2_error(const struct vectors *v, size_t i, size_t n)
{
    double want[LONGEST_POWER], worst = 0;

    for (size_t k = 0; k < n; k++)
        want[k] = (double)v->x[i * n + k];
    if (is_power_of_two(n))
        hx_wht_f64(want, n);
    else
        hx_vht2_f64(want, n);
    for (size_t k = 0; k < n; k++)
        worst = fmax(worst, fabs((double)v->y[i * n + k] - want[k]));
    return worst;
}

static int run_vht2(const struct hx_call_case *c, remote_handle64 dsp, void (*counted)(void *arg), void *arg, json_t *out,
                    int *good, struct hx_error *err)
{
    /* kernels/spinor/vht2_pad.h and silicon/vht2.h promise as much, of values up to 1; there and back is twice that */
    const double tolerance = 0x1p-20 * sqrt((double)c->n) * (is_power_of_two(c->n) ? log2((double)c->n) : 1);
    struct vectors v;
    double host = 0, twice;
    int code, rc = make(&v, c, c->n, err);

    if (rc)
        return rc;
    code = sp_hex_vht2_forward_f32(dsp, (int)c->n, v.x, (int)v.n, v.y, (int)v.n);
    counted(arg);
    if (!code)
        code = sp_hex_vht2_forward_f32(dsp, (int)c->n, v.y, (int)v.n, v.z, (int)v.n);
    for (size_t i = 0; i < c->vectors; i++)
        host = fmax(host, vht2_error(&v, i, c->n));
    twice = farthest(v.x, v.z, v.n);
    *good = host <= tolerance && twice <= 2 * tolerance;
    free(v.x);
    if (code)
        return failed("vht2_forward_f32", code, err);
    return json_object_update_new(out, json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "n", (json_int_t)c->n, "vectors",
                                                 (json_int_t)c->vectors, "bytes_in", (json_int_t)(4 * v.n), "bytes_out",
                                                 (json_int_t)(4 * v.n), "twice_error", twice, "host_error", host,
                                                 "tolerance", tolerance))
               ? hx_error_set(err, -ENOMEM, "out of memory")
               : 0;
}

/* --- mobius */

static int check_mobius(const struct hx_call_case *c, struct hx_error *err)
{
    if (c->n <= HX_MOBIUS_MAX)
        return 0;
    return hx_error_set(err, -EINVAL, "mobius: no order of %zu coefficients; legal: 1 to %d", c->n, HX_MOBIUS_MAX);
}

/* The vector 0, 1, 2, ... comes back as the order itself. */
static int run_mobius(const struct hx_call_case *c, remote_handle64 dsp, void (*counted)(void *arg), void *arg, json_t *out,
                      int *good, struct hx_error *err)
{
    float x[HX_MOBIUS_MAX], y[HX_MOBIUS_MAX];
    uint16_t want[HX_MOBIUS_MAX];
    uint8_t seen[HX_MOBIUS_MAX] = {0};
    unsigned squarefree = 0;
    size_t distinct = 0;
    int code, equal = hx_mobius_order((int)c->n, (enum hx_mobius)c->order, want);

    for (size_t i = 0; i < c->n; i++)
        x[i] = (float)i;
    code = sp_hex_mobius_order_f32(dsp, (int)c->n, (int)c->order, x, (int)c->n, y, (int)c->n, &squarefree);
    counted(arg);
    if (code)
        return failed("mobius_order_f32", code, err);
    equal = equal == (int)squarefree;
    for (size_t i = 0; i < c->n; i++) {
        const size_t from = y[i] >= 0 && y[i] < (float)c->n ? (size_t)y[i] : 0;

        distinct += !seen[from];
        seen[from] = 1;
        equal &= y[i] == (float)want[i];
    }
    *good = equal && distinct == c->n;
    return json_object_update_new(out, json_pack("{s:I, s:s, s:I, s:I, s:b, s:b}", "n", (json_int_t)c->n, "order",
                                                 hx_mobius_names[c->order], "sqf", (json_int_t)squarefree, "nonsqf",
                                                 (json_int_t)(c->n - squarefree), "bijective", distinct == c->n,
                                                 "as_on_host", equal))
               ? hx_error_set(err, -ENOMEM, "out of memory")
               : 0;
}

/* --- compress */

static int check_compress(const struct hx_call_case *c, struct hx_error *err)
{
    struct hx_compress format;

    if (c->dh <= INT32_MAX && hx_compress_init(&format, (int)c->dh, c->is_v) == 0)
        return 0;
    return hx_error_set(err, -EINVAL, "compress: head dimension %zu has no pad; legal: " HX_COMPRESS_LEGAL, c->dh);
}

static double cosine(const float *a, const float *b, size_t n)
{
    double dot = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < n; i++) {
        dot += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return aa > 0 && bb > 0 ? dot / sqrt(aa * bb) : aa == bb;
}

/* Codes that the host makes otherwise: coefficients midway between two. */
static size_t other_bytes(const struct hx_compress *f, const struct vectors *v, const uint8_t *codes)
{
    const size_t dh = (size_t)f->dh, bytes = (size_t)f->bytes;
    uint8_t want[HX_BAND_MAX_N + 2 * HX_BANDS_MAX];
    size_t others = 0;

    for (size_t i = 0; i < v->n / dh; i++) {
        hx_compress_encode(f, v->x + i * dh, want);
        for (size_t k = 0; k < bytes; k++)
            others += want[k] != codes[i * bytes + k];
    }
    return others;
}

static int run_compress(const struct hx_call_case *c, remote_handle64 dsp, void (*counted)(void *arg), void *arg, json_t *out,
                        int *good, struct hx_error *err)
{
    struct hx_compress f;
    struct vectors v;
    uint8_t *codes;
    size_t bytes, others = 0;
    double error = 0, near = 0;
    int code, rc;

    hx_compress_init(&f, (int)c->dh, c->is_v);
    bytes = c->vectors * (size_t)f.bytes;
    codes = malloc(bytes);
    rc = codes ? make(&v, c, c->dh, err) : hx_error_set(err, -ENOMEM, "out of memory");
    if (rc) {
        free(codes);
        return rc;
    }
    code = sp_hex_compress_f32_full_batch(dsp, f.dh, c->is_v, v.x, (int)v.n, codes, (int)bytes);
    counted(arg);
    if (!code)
        code = sp_hex_decompress_f32_batch(dsp, f.dh, c->is_v, f.bands.bands, codes, (int)bytes, v.y, (int)v.n);
    if (!code) {
        others = other_bytes(&f, &v, codes);
        for (size_t i = 0; i < c->vectors; i++)
            hx_compress_decode(&f, f.bands.bands, codes + i * (size_t)f.bytes, v.z + i * c->dh);
        error = farthest(v.y, v.z, v.n);
        near = cosine(v.x, v.y, v.n);
    }
    free(codes);
    free(v.x);
    if (code)
        return failed("compress_f32_full_batch", code, err);
    *good = error <= 1e-4 && others * 100 <= bytes;
    return json_object_update_new(out, json_pack("{s:I, s:s, s:I, s:I, s:s, s:i, s:I, s:f, s:f}", "dh", (json_int_t)c->dh,
                                                 "part", c->is_v ? "v" : "k", "vectors", (json_int_t)c->vectors,
                                                 "coefficients", (json_int_t)f.n, "order", hx_mobius_names[f.kind], "bytes",
                                                 f.bytes, "bytes_other_than_host", (json_int_t)others, "decode_error",
                                                 error, "cosine", near))
               ? hx_error_set(err, -ENOMEM, "out of memory")
               : 0;
}

const struct hx_call_step hx_call_steps[] = {
    {"vht2", "the transform of coefficients, its own inverse", check_vht2, run_vht2},
    {"mobius", "the order of coefficients, squarefree ones first", check_mobius, run_mobius},
    {"compress", "vectors in bands of few bits, and back", check_compress, run_compress},
    {NULL, NULL, NULL, NULL},
};
