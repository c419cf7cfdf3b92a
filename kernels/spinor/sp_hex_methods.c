/* The methods of interface sp_hex that are one step each, and those for measuring.
 *
 * All refuse with AEE_EBADPARM: lengths that are not whole vectors or do not agree, lengths of vectors that are not offered.
 * Buffers may lie anywhere; vectors go through aligned ones of the method.  HVX versions: vht2 of all lengths but 4, 8 and 16,
 * bands both ways (HVX: silicon/band_quantize.h), prediction, residual planes both ways, argmax.  The Moebius order is
 * scalar (mobius.h).
 *
 * Reentrant; an HVX context is held while a method works, AEE_EFAILED when there is none. */
#include <string.h>

#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "band_dequantize.h"
#include "hexrig_slow_path.h"
#include "hx_compress.h"
#include "hx_f16.h"
#include "qurt_hvx.h"
#include "silicon/band_quantize.h"
#include "silicon/elementwise.h"
#include "silicon/mobius.h"
#include "silicon/vht2.h"
#include "skel/kernel.h"
#include "sp_hex_state.h"
#include "spinor_steps.h"
#include "vht2_pad.h"

enum { MAX_N = HX_BAND_MAX_N };

/* What the steps of one call work on: whole vectors of `in` bytes each that become `out` bytes. */
struct job {
    size_t in, out;
    int n;               /* floats of a vector */
    int dh;              /* compression: of a vector before it was padded */
    struct hx_bands bands;
    int n_bands;
    const uint16_t *order;
    const struct hx_spinor *k; /* prediction: NULL where the codec has the tables */
    const struct hx_codec *codec;
    size_t slot;
};

typedef int step_fn(const struct job *j, const uint8_t *from, uint8_t *to);

/* An aligned vector. */
union vector {
    HVX_Vector align;
    float f[MAX_N];
};

/* Runs a step over all vectors; lengths in bytes. */
static int run(const struct job *j, step_fn *step, const void *from, size_t from_bytes, void *to,
               size_t to_bytes)
{
    const size_t count = from_bytes / j->in;
    int rc = AEE_SUCCESS;

    if (from_bytes != count * j->in || to_bytes != count * j->out)
        return AEE_EBADPARM;
    if (count == 0)
        return AEE_SUCCESS;
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    for (size_t i = 0; i < count && rc == AEE_SUCCESS; i++)
        rc = step(j, (const uint8_t *)from + i * j->in, (uint8_t *)to + i * j->out);
    qurt_hvx_unlock();
    return rc;
}

static size_t floats(int n)
{
    return n > 0 ? (size_t)n * sizeof(float) : 0;
}

static size_t bytes_of(int n)
{
    return n > 0 ? (size_t)n : 0;
}

/* --- VHT2 */

static int is_power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* x has room for MAX_N. */
static int transform(float *x, int n)
{
    _Static_assert((int)MAX_N >= (int)HX_VHT2_PAD_MAX + (int)HX_VHT2_PAD_SLACK, "room");

    if (!is_power_of_two(n))
        return hx_vht2_pad_hvx(x, n);
    return n >= HX_SPINOR_LANES ? hx_vht2_hvx(x, n) : hx_vht2_scalar(x, n);
}

static int step_vht2(const struct job *j, const uint8_t *from, uint8_t *to)
{
    union vector x;

    memcpy(x.f, from, j->in);
    int rc = transform(x.f, j->n);
    memcpy(to, x.f, j->out);
    return rc;
}

static int is_vht2_length(int n)
{
    return n >= 2 && n <= MAX_N && (is_power_of_two(n) || hx_vht2_padded(n) == n);
}

int sp_hex_vht2_forward_f32(remote_handle64 h, int n, const float *x, int x_len, float *y,
                            int y_len)
{
    const struct job j = {.n = n, .in = floats(n), .out = floats(n)};

    (void)h;
    if (!is_vht2_length(n))
        return AEE_EBADPARM;
    return run(&j, step_vht2, x, floats(x_len), y, floats(y_len));
}

/* --- Moebius order */

static int step_scatter(const struct job *j, const uint8_t *from, uint8_t *to)
{
    union vector x, y;

    memcpy(x.f, from, j->in);
    hx_mobius_scatter(j->order, j->n, x.f, y.f);
    memcpy(to, y.f, j->out);
    return AEE_SUCCESS;
}

int sp_hex_mobius_order_f32(remote_handle64 h, int n, int kind, const float *x, int x_len, float *y,
                            int y_len, unsigned int *squarefree)
{
    uint16_t order[HX_MOBIUS_MAX];
    const struct job j = {.n = n, .in = floats(n), .out = floats(n), .order = order};

    (void)h;
    if (n < 1 || n > HX_MOBIUS_MAX || kind < 0 || kind >= HX_MOBIUS_ORDERS) {
        FARF(ERROR, "sp_hex: no Moebius order %d of %d coefficients: orders 0 and 1, 1 to %d", kind,
             n, HX_MOBIUS_MAX);
        return AEE_EBADPARM;
    }
    *squarefree = (unsigned)hx_mobius_order(n, (enum hx_mobius)kind, order);
    return run(&j, step_scatter, x, floats(x_len), y, floats(y_len));
}

int sp_hex_mobius_scatter_f32(remote_handle64 h, int n, const float *x, int x_len, float *y,
                              int y_len)
{
    unsigned int squarefree;

    return sp_hex_mobius_order_f32(h, n, HX_MOBIUS_SHIP, x, x_len, y, y_len, &squarefree);
}

/* --- bands */

/* NaN and infinity have no scale. */
static int all_finite(const float *x, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t u;

        memcpy(&u, &x[i], sizeof(u));
        if ((u & 0x7f800000) == 0x7f800000)
            return 0;
    }
    return 1;
}

static int quantize(const struct job *j, const union vector *x, uint8_t *to)
{
    return all_finite(x->f, j->n) ? hx_band_quantize_hvx(&j->bands, x->f, to) : AEE_EBADPARM;
}

static int step_quantize(const struct job *j, const uint8_t *from, uint8_t *to)
{
    union vector x;

    memcpy(x.f, from, j->in);
    return quantize(j, &x, to);
}

static int step_dequantize(const struct job *j, const uint8_t *from, uint8_t *to)
{
    union vector x;
    int rc = hx_band_dequantize_hvx(&j->bands, j->n_bands, from, x.f);

    if (rc == AEE_SUCCESS)
        memcpy(to, x.f, j->out);
    return rc;
}

/* Fills the bands of a job; its codes' bytes, or 0. */
static size_t set_bands(struct job *j, int n, const unsigned char *bits, int n_bits)
{
    j->n = n;
    j->bands = (struct hx_bands){.n = n, .bands = n_bits};
    if (n_bits < 1 || n_bits > HX_BANDS_MAX)
        return 0;
    memcpy(j->bands.bits, bits, (size_t)n_bits);
    return (size_t)hx_bands_bytes(&j->bands);
}

int sp_hex_band_quantize_f32(remote_handle64 h, int n, const unsigned char *bits, int n_bits,
                             const float *x, int x_len, unsigned char *codes, int codes_len)
{
    struct job j = {.in = floats(n)};

    (void)h;
    j.out = set_bands(&j, n, bits, n_bits);
    if (j.out == 0)
        return AEE_EBADPARM;
    return run(&j, step_quantize, x, floats(x_len), codes, bytes_of(codes_len));
}

int sp_hex_band_dequantize_f32(remote_handle64 h, int n, const unsigned char *bits, int n_bits,
                               int n_bands, const unsigned char *codes, int codes_len, float *x,
                               int x_len)
{
    struct job j = {.out = floats(n), .n_bands = n_bands};

    (void)h;
    j.in = set_bands(&j, n, bits, n_bits);
    if (j.in == 0)
        return AEE_EBADPARM;
    return run(&j, step_dequantize, codes, bytes_of(codes_len), x, floats(x_len));
}

/* --- compressed vectors: VHT2, Moebius order, bands */

static int step_compress(const struct job *j, const uint8_t *from, uint8_t *to)
{
    union vector x, y;

    memcpy(x.f, from, j->in);
    if (!all_finite(x.f, j->dh))
        return AEE_EBADPARM;
    if (j->n > j->dh)
        hx_vht2_pad_fill(x.f, j->dh, j->n);
    int rc = transform(x.f, j->n);
    if (rc)
        return rc;
    hx_mobius_scatter(j->order, j->n, x.f, y.f);
    return quantize(j, &y, to);
}

static int step_decompress(const struct job *j, const uint8_t *from, uint8_t *to)
{
    union vector x, y;
    int rc = hx_band_dequantize_hvx(&j->bands, j->n_bands, from, y.f);

    if (rc)
        return rc;
    hx_mobius_gather(j->order, j->n, y.f, x.f);
    rc = transform(x.f, j->n);
    memcpy(to, x.f, j->out);
    return rc;
}

/* Fills all but the sizes; a compressed vector's bytes, or 0.  The job refers to *c. */
static size_t set_compression(struct job *j, struct hx_compress *c, int dh, int is_v)
{
    if ((is_v != 0 && is_v != 1) || hx_compress_init(c, dh, is_v)) {
        FARF(ERROR, "sp_hex: compress: no vectors of head dimension %d, is_v %d: " HX_COMPRESS_LEGAL
             "; 0 or 1", dh, is_v);
        return 0;
    }
    j->n = c->n;
    j->dh = dh;
    j->order = c->order;
    j->bands = c->bands;
    return (size_t)c->bytes;
}

int sp_hex_compress_f32_full_batch(remote_handle64 h, int dh, int is_v, const float *x, int x_len,
                                   unsigned char *codes, int codes_len)
{
    struct job j = {.in = floats(dh)};
    struct hx_compress c;

    (void)h;
    j.out = set_compression(&j, &c, dh, is_v);
    return j.out ? run(&j, step_compress, x, floats(x_len), codes, bytes_of(codes_len)) : AEE_EBADPARM;
}

int sp_hex_compress_f32_batch(remote_handle64 h, int dh, int is_v, const float *coefficients,
                              int len, unsigned char *codes, int codes_len)
{
    struct job j = {.n = 0};
    struct hx_compress c;

    (void)h;
    j.out = set_compression(&j, &c, dh, is_v);
    j.in = floats(j.n);
    return j.out ? run(&j, step_quantize, coefficients, floats(len), codes, bytes_of(codes_len)) : AEE_EBADPARM;
}

int sp_hex_decompress_f32_batch(remote_handle64 h, int dh, int is_v, int n_bands,
                                const unsigned char *codes, int codes_len, float *x, int x_len)
{
    struct job j = {.out = floats(dh), .n_bands = n_bands};
    struct hx_compress c;

    (void)h;
    j.in = set_compression(&j, &c, dh, is_v);
    if (j.in == 0)
        return AEE_EBADPARM;
    return run(&j, step_decompress, codes, bytes_of(codes_len), x, floats(x_len));
}

int sp_hex_compress_kv_f32(remote_handle64 h, int dh, int v_as_k, const float *k, int k_len, const float *v,
                           int v_len, unsigned char *k_codes, int k_codes_len, unsigned char *v_codes,
                           int v_codes_len)
{
    int rc = sp_hex_compress_f32_full_batch(h, dh, 0, k, k_len, k_codes, k_codes_len);

    return rc ? rc : sp_hex_compress_f32_full_batch(h, dh, !v_as_k, v, v_len, v_codes, v_codes_len);
}

int sp_hex_decompress_kv_f32(remote_handle64 h, int dh, int v_as_k, const unsigned char *k_codes, int k_codes_len,
                             const unsigned char *v_codes, int v_codes_len, float *k, int k_len, float *v, int v_len)
{
    const int v_bands = v_as_k ? hx_bands_k(dh).bands : hx_bands_v(dh).bands;
    int rc = sp_hex_decompress_f32_batch(h, dh, 0, hx_bands_k(dh).bands, k_codes, k_codes_len, k, k_len);

    return rc ? rc : sp_hex_decompress_f32_batch(h, dh, !v_as_k, v_bands, v_codes, v_codes_len, v, v_len);
}

/* --- steps of the block */

static int step_predict(const struct job *j, const uint8_t *from, uint8_t *to)
{
    const size_t n_skel = j->in / sizeof(float);
    uint16_t skeleton[HX_BLOCK_MAX_SKEL];
    union vector x;
    int rc = AEE_SUCCESS;

    memcpy(x.f, from, j->in);
    for (size_t i = 0; i < n_skel; i++) {
        skeleton[i] = hx_f16_from_f32(x.f[i]);
        if ((skeleton[i] & 0x7c00) == 0x7c00)
            return AEE_EBADPARM;
    }
    if (j->k)
        rc = hx_spinor_predict_hvx(j->k, j->slot, skeleton, x.f);
    else
        hx_steps_predict(j->codec, j->slot, skeleton, x.f);
    memcpy(to, x.f, j->out);
    return rc;
}

/* With the tables of j->slot, which is one of them. */
static int predict(struct hx_sp_state *s, struct job *j, const float *skeleton, int skeleton_len,
                   float *prediction, int prediction_len)
{
    const enum hx_sp_use use = HX_SP_ENCODE;
    struct hx_sp_walk w;
    int rc = AEE_SUCCESS;

    j->codec = s->codec;
    if (s->hvx) {
        hx_sp_walk_begin(&w, s->hvx, 1, 1, &use, &j->slot);
        rc = hx_sp_walk_step(&w);
        j->k = w.at[0].k;
        j->slot = w.at[0].first;
    }
    if (rc == AEE_SUCCESS)
        rc = run(j, step_predict, skeleton, floats(skeleton_len), prediction,
                 floats(prediction_len));
    if (s->hvx)
        hx_sp_walk_end(&w);
    return rc;
}

int sp_hex_hier_predict_f32(remote_handle64 h, int slot, const float *skeleton, int skeleton_len,
                            float *prediction, int prediction_len)
{
    struct hx_sp_state *s = hx_sp_get(h);
    int rc = AEE_EBADSTATE;

    if (!s)
        return AEE_EINVHANDLE;
    pthread_rwlock_rdlock(&s->lock);
    if (s->shape) {
        struct job j = {.in = floats(s->shape->n_skel), .out = floats(s->shape->n_res),
                        .slot = (size_t)slot};

        rc = slot < 0 || (size_t)slot >= s->n_slots
                 ? AEE_EBADPARM
                 : predict(s, &j, skeleton, skeleton_len, prediction, prediction_len);
    }
    pthread_rwlock_unlock(&s->lock);
    hx_sp_put(s);
    return rc;
}

static int step_pack(const struct job *j, const uint8_t *from, uint8_t *to)
{
    const struct hx_block_shape *s = j->k->f.shape;
    uint8_t block[HX_BLOCK_MAX_SLOT] = {0};
    float amax = 0;
    union vector x;

    memset(&x, 0, sizeof(x));
    memcpy(x.f, from, j->in);
    if (!all_finite(x.f, s->n_res))
        return AEE_EBADPARM;
    for (size_t i = 0; i < s->n_res; i++) {
        const float a = x.f[i] < 0 ? -x.f[i] : x.f[i];

        amax = a > amax ? a : amax;
    }
    int rc = hx_spinor_pack_hvx(j->k, x.f, amax, block);
    memcpy(to, block + s->off_mag, j->out);
    return rc;
}

static int step_unpack(const struct job *j, const uint8_t *from, uint8_t *to)
{
    uint8_t block[HX_BLOCK_MAX_SLOT] = {0};
    union vector x;

    memcpy(block + j->k->f.shape->off_mag, from, j->in);
    int rc = hx_spinor_residual_hvx(j->k, block, x.f);
    if (rc == AEE_SUCCESS)
        memcpy(to, x.f, j->out);
    return rc;
}

/* Both directions; `*planes` and `*residual` become the bytes of one vector. */
static int open_planes(struct hx_spinor *k, int dh, size_t *planes, size_t *residual)
{
    struct hx_codec_format f;

    if (dh <= 0 || hx_codec_format(&f, (size_t)dh, HX_BASIS_VHT2, HX_CODE_SIGN))
        return AEE_EBADPARM;
    hx_spinor_lay_out(k, &f, 0);
    *planes = (size_t)(f.shape->payload - f.shape->off_mag);
    *residual = floats(f.shape->n_res);
    return AEE_SUCCESS;
}

int sp_hex_residual_quantize_spinor(remote_handle64 h, int dh, const float *residual,
                                    int residual_len, unsigned char *planes, int planes_len)
{
    struct hx_spinor k;
    struct job j = {.k = &k};
    int rc = open_planes(&k, dh, &j.out, &j.in);

    (void)h;
    return rc ? rc
              : run(&j, step_pack, residual, floats(residual_len), planes, bytes_of(planes_len));
}

int sp_hex_residual_unpack_f32(remote_handle64 h, int dh, const unsigned char *planes,
                               int planes_len, float *residual, int residual_len)
{
    struct hx_spinor k;
    struct job j = {.k = &k};
    int rc = open_planes(&k, dh, &j.in, &j.out);

    (void)h;
    return rc ? rc
              : run(&j, step_unpack, planes, bytes_of(planes_len), residual, floats(residual_len));
}

int sp_hex_logit_argmax_u16(remote_handle64 h, const unsigned short *logits, int n,
                            unsigned int *index)
{
    (void)h;
    if (n <= 0 || (uintptr_t)logits % sizeof(*logits))
        return AEE_EBADPARM;
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    if (!hx_is_aligned(logits))
        HX_SLOW_PATH(); /* by scalars up to the first whole vector */
    *index = (unsigned)hx_argmax_hvx(logits, n);
    qurt_hvx_unlock();
    return AEE_SUCCESS;
}

/* --- for measuring */

int sp_hex_vtcm_status(remote_handle64 h, unsigned int *total, unsigned int *largest_free,
                       unsigned int *of_tables)
{
    struct hx_sp_state *s = hx_sp_get(h);
    unsigned page = 0, pages = 0;

    if (!s)
        return AEE_EINVHANDLE;
    HAP_query_total_VTCM(&page, &pages);
    *total = page * pages;
    HAP_query_avail_VTCM(largest_free, &page, &pages);
    pthread_rwlock_rdlock(&s->lock);
    *of_tables = s->hvx ? (unsigned)hx_sp_tables_vtcm(s->hvx) : 0;
    pthread_rwlock_unlock(&s->lock);
    hx_sp_put(s);
    return AEE_SUCCESS;
}

int sp_hex_echo(remote_handle64 h, const unsigned char *data, int data_len, unsigned char *back,
                int back_len)
{
    (void)h;
    if (data_len != back_len)
        return AEE_EBADPARM;
    hx_echo(back, data, data_len);
    return AEE_SUCCESS;
}

int sp_hex_null(remote_handle64 h)
{
    (void)h;
    return AEE_SUCCESS;
}
