/* KV cache of blocks coded by the DSP, see kv_spinor.h. */
#include "kv_spinor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsp_why.h"
#include "hx_rig.h"
#include "rpcmem.h"
#include "sp_hex.h"

#define URI sp_hex_URI "&_dom=cdsp"

struct spinor;

/* One way of cutting the work into calls. */
struct density {
    const char *name;
    int one_by_one; /* 1: one token per run, so that prefill dispatches like generation */
    void *(*alloc)(size_t bytes); /* zeroed */
    void (*free)(void *p);
    int (*encode)(struct spinor *s, size_t layer, size_t pos, size_t n, struct hx_why *why);
    int (*decode)(struct spinor *s, size_t layer, size_t n, struct hx_why *why);
};

struct spinor {
    struct hx_kv kv;
    const struct density *density;
    remote_handle64 handle;
    int opened;
    char node[256];  /* the device, for messages */
    size_t n_slots;  /* of a layer: K heads, then V heads */
    uint8_t *blocks; /* [n_layer][n_ctx][n_slots][HX_BLOCK_SLOT] */
    float *x;        /* [n_ctx][n_slots][HX_BLOCK_DH]: what goes to be encoded, then what comes back decoded */
};

static uint8_t *block_at(const struct spinor *s, size_t layer, size_t pos)
{
    return s->blocks + (layer * s->kv.n_ctx + pos) * s->n_slots * HX_BLOCK_SLOT;
}

static int failed(const struct spinor *s, const char *method, size_t layer, size_t first,
                  size_t last, int code, struct hx_why *why)
{
    return hx_dsp_why(why, HX_DSP_CALL, s->node, code,
                      "kv spinor: %s failed at layer %zu, positions %zu..%zu", method, layer, first,
                      last);
}

static int encode_each(struct spinor *s, size_t layer, size_t pos, size_t n, struct hx_why *why)
{
    uint8_t *block = block_at(s, layer, pos);
    const float *x = s->x;

    for (size_t i = 0; i < n * s->n_slots; i++, block += HX_BLOCK_SLOT, x += HX_BLOCK_DH) {
        size_t slot = layer * s->n_slots + i % s->n_slots, at = pos + i / s->n_slots;
        int code = sp_hex_hier_encode_f32(s->handle, (int32_t)slot, x, HX_BLOCK_DH, block,
                                          HX_BLOCK_SLOT);
        if (code)
            return failed(s, "hier_encode_f32", layer, at, at, code, why);
    }
    return 0;
}

static int decode_each(struct spinor *s, size_t layer, size_t n, struct hx_why *why)
{
    const uint8_t *block = block_at(s, layer, 0);
    float *x = s->x;

    for (size_t i = 0; i < n * s->n_slots; i++, block += HX_BLOCK_SLOT, x += HX_BLOCK_DH) {
        size_t slot = layer * s->n_slots + i % s->n_slots, at = i / s->n_slots;
        int code = sp_hex_hier_decode_f32(s->handle, (int32_t)slot, block, HX_BLOCK_SLOT, x,
                                          HX_BLOCK_DH);
        if (code)
            return failed(s, "hier_decode_f32", layer, at, at, code, why);
    }
    return 0;
}

static int encode_batch(struct spinor *s, size_t layer, size_t pos, size_t n, struct hx_why *why)
{
    const size_t vectors = n * s->n_slots;
    int code = sp_hex_hier_encode_batch_f32(s->handle, (int32_t)(layer * s->n_slots),
                                            (int32_t)s->n_slots, (int32_t)n, s->x,
                                            (int)(vectors * HX_BLOCK_DH), block_at(s, layer, pos),
                                            (int)(vectors * HX_BLOCK_SLOT));

    return code ? failed(s, "hier_encode_batch_f32", layer, pos, pos + n - 1, code, why) : 0;
}

static int decode_batch(struct spinor *s, size_t layer, size_t n, struct hx_why *why)
{
    const size_t vectors = n * s->n_slots;
    int code;

    if (n == 0)
        return 0;
    code = sp_hex_hier_decode_batch_f32(s->handle, (int32_t)(layer * s->n_slots),
                                        (int32_t)s->n_slots, (int32_t)n, block_at(s, layer, 0),
                                        (int)(vectors * HX_BLOCK_SLOT), s->x,
                                        (int)(vectors * HX_BLOCK_DH));
    return code ? failed(s, "hier_decode_batch_f32", layer, 0, n - 1, code, why) : 0;
}

static void *heap_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

static void *shared_alloc(size_t bytes)
{
    return rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
}

static const struct density densities[] = {
    {"per-vector", 1, heap_alloc, free, encode_each, decode_each},
    {"batched", 0, shared_alloc, rpcmem_free, encode_batch, decode_batch},
};

const char *const hx_kv_spinor_densities[] = {"per-vector", "batched", NULL};

static int put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k, const float *v,
               struct hx_why *why)
{
    struct spinor *s = (struct spinor *)kv;
    const size_t row = kv->n_kv * HX_BLOCK_DH;

    for (size_t i = 0; i < n; i++) {
        memcpy(s->x + 2 * i * row, k + i * row, row * sizeof(*k));
        memcpy(s->x + (2 * i + 1) * row, v + i * row, row * sizeof(*v));
    }
    return s->density->encode(s, layer, pos, n, why);
}

static int past(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view,
                struct hx_why *why)
{
    struct spinor *s = (struct spinor *)kv;
    const size_t row = kv->n_kv * HX_BLOCK_DH;

    *view = (struct hx_kv_view){s->x, s->x + row, 2 * row};
    return s->density->decode(s, layer, n, why);
}

static void close_spinor(struct hx_kv *kv)
{
    struct spinor *s = (struct spinor *)kv;

    if (s->opened)
        sp_hex_close(s->handle);
    if (s->density) {
        s->density->free(s->blocks);
        s->density->free(s->x);
    }
    free(s);
}

static const struct hx_kv_ops ops = {"spinor", put, past, close_spinor};

/* Takes the tables to the DSP and compares the CRC-32 of what arrived. */
static int push_tables(struct spinor *s, const struct hx_cal *cal, struct hx_why *why)
{
    const size_t bytes = cal->n_slots * sizeof(*cal->tables);
    const uint32_t want = hx_crc32(0, cal->tables, bytes);
    uint32_t got = 0;
    int code = sp_hex_calibrate(s->handle, HX_BLOCK_DH, (int32_t)cal->basis,
                                (const uint8_t *)cal->tables, (int)bytes, &got);

    if (code)
        return hx_dsp_why(why, HX_DSP_CALL, s->node, code, "kv spinor: calibrate failed");
    if (got != want)
        return hx_why_set(why, -EIO, "kv spinor: calibration damaged on its way to the DSP: CRC-32 "
                          "0x%08x, 0x%08x was sent", got, want);
    return 0;
}

static int open_dsp(struct spinor *s, const struct hx_cal *cal, struct hx_why *why)
{
    struct remote_rpc_control_unsigned_module unsigned_pd = {CDSP_DOMAIN_ID, 1};
    char reason[sizeof(why->text)] = "";
    int code = hx_rig_connect(reason, sizeof(reason)); /* first, for its reason in words */

    if (code)
        return hx_why_set(why, code, "kv spinor: no rig: %s", *reason ? reason : strerror(-code));
    hx_dsp_node(s->node, sizeof(s->node));
    code = remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &unsigned_pd,
                                  sizeof(unsigned_pd));
    if (code)
        return hx_dsp_why(why, HX_DSP_OPEN, s->node, code,
                          "kv spinor: cannot ask for an unsigned PD");
    code = sp_hex_open(URI, &s->handle);
    if (code)
        return hx_dsp_why(why, HX_DSP_OPEN, s->node, code, "kv spinor: cannot open %s", URI);
    s->opened = 1;
    return push_tables(s, cal, why);
}

static int alloc_buffers(struct spinor *s, struct hx_why *why)
{
    const struct hx_kv *kv = &s->kv;
    size_t x_bytes, block_bytes;

    /* lengths of one call are int, and so are the bytes of one rpcmem buffer on a phone */
    if (__builtin_mul_overflow(kv->n_ctx * s->n_slots, HX_BLOCK_DH * sizeof(float), &x_bytes) ||
        x_bytes > INT32_MAX)
        return hx_why_set(why, -EINVAL, "kv spinor: a context of %zu positions needs %zu bytes per "
                          "layer, %d are the limit", kv->n_ctx, x_bytes, INT32_MAX);
    if (__builtin_mul_overflow(x_bytes / (HX_BLOCK_DH * sizeof(float)) * HX_BLOCK_SLOT,
                               kv->n_layer, &block_bytes))
        return hx_why_set(why, -EINVAL, "kv spinor: a context of %zu positions is too long",
                          kv->n_ctx);
    s->x = s->density->alloc(x_bytes);
    s->blocks = s->density->alloc(block_bytes);
    if (!s->x || !s->blocks)
        return hx_why_set(why, -ENOMEM, "kv spinor: no memory for %zu positions", kv->n_ctx);
    return 0;
}

static const struct density *find_density(const char *name)
{
    for (size_t i = 0; i < sizeof(densities) / sizeof(densities[0]); i++)
        if (strcmp(densities[i].name, name) == 0)
            return &densities[i];
    return NULL;
}

static int check(const struct hx_model *m, const struct hx_cal *cal, const struct density *d,
                 const char *density, struct hx_why *why)
{
    if (!d)
        return hx_why_set(why, -EINVAL, "unknown density '%s'; legal: per-vector, batched",
                          density);
    if (m->dh != HX_BLOCK_DH)
        return hx_why_set(why, -EINVAL, "kv spinor: the model's head dimension is %zu; blocks need "
                          "%d", m->dh, HX_BLOCK_DH);
    if (cal->fingerprint != m->fingerprint || cal->n_slots != m->n_layer * 2 * m->n_kv ||
        !cal->k_after_rope)
        return hx_why_set(why, -EINVAL, "kv spinor: the calibration is of another model");
    return 0;
}

int hx_kv_spinor_open(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal,
                      const char *density, size_t n_ctx, struct hx_why *why)
{
    const struct density *d = find_density(density);
    struct spinor *s;
    int rc = check(m, cal, d, density, why);

    if (rc)
        return rc;
    s = calloc(1, sizeof(*s));
    if (!s)
        return hx_why_set(why, -ENOMEM, "kv spinor: out of memory");
    s->kv = (struct hx_kv){&ops, m->n_layer, m->n_kv, m->dh, n_ctx, d->one_by_one ? 1 : n_ctx};
    s->density = d;
    s->n_slots = 2 * m->n_kv;
    rc = alloc_buffers(s, why);
    if (!rc)
        rc = open_dsp(s, cal, why);
    if (rc) {
        close_spinor(&s->kv);
        return rc;
    }
    *out = &s->kv;
    return 0;
}
