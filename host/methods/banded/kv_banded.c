/* The cache of compressed vectors: K and V are two parts that are coded alike.  See kv_banded.h. */
#include "kv_banded.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "dsp/packets.h"
#include "dsp/skel.h"
#include "rpcmem.h"
#include "sp_hex.h"

const char *const hx_banded_v_names[] = {"3", "5543", "f32", NULL};

/* K or V. */
struct part {
    const char *name;
    struct hx_compress format; /* bytes 0: rows in f32, in x */
    int is_v;                  /* which bands, for the DSP */
    uint8_t *codes;            /* [layer][position][KV head] of format.bytes */
    float *x;                  /* of one layer, [position][KV head][dh]; f32: of all layers */
    size_t code_bytes, x_bytes; /* of these two */
    size_t vectors;            /* that were coded so far */
    double cosine, cosine_min; /* of these: the sum, the smallest */
};

struct kv_banded {
    struct hx_kv kv;
    size_t row; /* floats of a position: n_kv * dh */
    int on_dsp;
    struct hx_skel dsp;
    struct part part[2]; /* K, V */
};

/* A layer's share of what was put or is asked for. */
struct span {
    size_t layer, pos, n;
};

static size_t at(const struct kv_banded *c, size_t layer, size_t pos)
{
    return layer * c->kv.n_ctx + pos;
}

static uint8_t *codes_of(const struct kv_banded *c, const struct part *p, size_t layer, size_t pos)
{
    return p->codes + at(c, layer, pos) * c->kv.n_kv * (size_t)p->format.bytes;
}

static int failed(const struct kv_banded *c, const char *method, const struct span *s, int code, struct hx_error *err)
{
    return hx_dsp_error(err, HX_DSP_CALL, c->dsp.node, code, "kv banded: %s failed at layer %zu, positions %zu..%zu", method,
                        s->layer, s->pos, s->pos + s->n - 1);
}

/* V's share of a call is empty where it is not coded. */
static int floats_of(const struct kv_banded *c, const struct part *p, size_t n)
{
    return p->format.bytes ? (int)(n * c->row) : 0;
}

static int bytes_of(const struct kv_banded *c, const struct part *p, size_t n)
{
    return (int)(n * c->kv.n_kv) * p->format.bytes;
}

static int v_as_k(const struct kv_banded *c)
{
    return !c->part[1].is_v;
}

/* --- put */

/* What became of a vector is looked at here, whoever coded it. */
static void compare(struct part *p, const float *x, const float *back)
{
    double dot = 0, xx = 0, bb = 0, cosine;

    for (int i = 0; i < p->format.dh; i++) {
        dot += (double)x[i] * (double)back[i];
        xx += (double)x[i] * (double)x[i];
        bb += (double)back[i] * (double)back[i];
    }
    cosine = xx > 0 && bb > 0 ? dot / sqrt(xx * bb) : xx == bb;
    p->cosine_min = p->vectors ? fmin(p->cosine_min, cosine) : cosine;
    p->cosine += cosine;
    p->vectors++;
}

static int code_here(struct kv_banded *c, struct part *p, const struct span *s, const float *x, struct hx_error *err)
{
    uint8_t *codes = codes_of(c, p, s->layer, s->pos);

    for (size_t i = 0; i < s->n * c->kv.n_kv; i++)
        if (hx_compress_encode(&p->format, x + i * c->kv.dh, codes + i * (size_t)p->format.bytes))
            return hx_error_set(err, -EINVAL, "kv banded: a value of %s at layer %zu, position %zu is not finite", p->name,
                                s->layer, s->pos + i / c->kv.n_kv);
    return 0;
}

/* Both parts in one call. */
static int code_there(struct kv_banded *c, const struct span *s, const float *k, const float *v, struct hx_error *err)
{
    const struct part *of_k = &c->part[0], *of_v = &c->part[1];
    const int k_floats = floats_of(c, of_k, s->n), v_floats = floats_of(c, of_v, s->n);
    int code;

    memcpy(of_k->x, k, (size_t)k_floats * sizeof(*k));
    memcpy(of_v->x, v, (size_t)v_floats * sizeof(*v));
    code = sp_hex_compress_kv_f32(c->dsp.handle, of_k->format.dh, v_as_k(c), of_k->x, k_floats, of_v->x, v_floats,
                                  codes_of(c, of_k, s->layer, s->pos), bytes_of(c, of_k, s->n),
                                  codes_of(c, of_v, s->layer, s->pos), bytes_of(c, of_v, s->n));
    return code ? failed(c, "compress_kv_f32", s, code, err) : 0;
}

static void compare_all(struct kv_banded *c, struct part *p, const struct span *s, const float *x)
{
    const uint8_t *codes = codes_of(c, p, s->layer, s->pos);
    float back[HX_BAND_MAX_N];

    for (size_t i = 0; i < s->n * c->kv.n_kv; i++) {
        hx_compress_decode(&p->format, p->format.bands.bands, codes + i * (size_t)p->format.bytes, back);
        compare(p, x + i * c->kv.dh, back);
    }
}

static int put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k, const float *v,
               struct hx_error *err)
{
    struct kv_banded *c = (struct kv_banded *)kv;
    const struct span s = {layer, pos, n};
    const float *const x[] = {k, v};
    int rc = c->on_dsp ? code_there(c, &s, k, v, err) : 0;

    for (int i = 0; !rc && i < 2; i++) {
        struct part *p = &c->part[i];

        if (!p->format.bytes) {
            memcpy(p->x + at(c, layer, pos) * c->row, x[i], n * c->row * sizeof(*x[i]));
            continue;
        }
        rc = c->on_dsp ? 0 : code_here(c, p, &s, x[i], err);
        if (!rc)
            compare_all(c, p, &s, x[i]);
    }
    return rc;
}

/* --- rows */

static void decode_here(struct kv_banded *c, struct part *p, const struct span *s)
{
    const uint8_t *codes = codes_of(c, p, s->layer, 0);

    for (size_t i = 0; i < s->n * c->kv.n_kv; i++)
        hx_compress_decode(&p->format, p->format.bands.bands, codes + i * (size_t)p->format.bytes, p->x + i * c->kv.dh);
}

static int decode_there(struct kv_banded *c, const struct span *s, struct hx_error *err)
{
    const struct part *k = &c->part[0], *v = &c->part[1];
    int code = sp_hex_decompress_kv_f32(c->dsp.handle, k->format.dh, v_as_k(c), codes_of(c, k, s->layer, 0),
                                        bytes_of(c, k, s->n), codes_of(c, v, s->layer, 0), bytes_of(c, v, s->n), k->x,
                                        floats_of(c, k, s->n), v->x, floats_of(c, v, s->n));

    return code ? failed(c, "decompress_kv_f32", s, code, err) : 0;
}

static int rows(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view, struct hx_error *err)
{
    struct kv_banded *c = (struct kv_banded *)kv;
    const struct span s = {layer, 0, n};
    const float *x[2];
    int rc = c->on_dsp && n ? decode_there(c, &s, err) : 0;

    for (int i = 0; i < 2; i++) {
        struct part *p = &c->part[i];

        x[i] = p->format.bytes ? p->x : p->x + at(c, layer, 0) * c->row;
        if (p->format.bytes && !c->on_dsp)
            decode_here(c, p, &s);
    }
    *view = (struct hx_kv_view){x[0], x[1], c->row};
    return rc;
}

/* --- keep */

/* Entries index[i] of n, each `bytes` long, to their places. */
static void gather(char *entries, const size_t *index, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i++) /* ascending: nothing is overwritten before it was moved */
        memmove(entries + i * bytes, entries + index[i] * bytes, bytes);
}

static int keep(struct hx_kv *kv, size_t pos, const size_t *index, size_t n, struct hx_error *err)
{
    struct kv_banded *c = (struct kv_banded *)kv;

    (void)err; /* memory cannot fail */
    for (size_t i = 0; i < 2 * kv->n_layer; i++) {
        const struct part *p = &c->part[i % 2];

        if (p->format.bytes)
            gather((char *)codes_of(c, p, i / 2, pos), index, n, kv->n_kv * (size_t)p->format.bytes);
        else
            gather((char *)(p->x + at(c, i / 2, pos) * c->row), index, n, c->row * sizeof(*p->x));
    }
    return 0;
}

/* --- opening and closing */

/* What calls share lies in rpcmem. */
static void *alloc(const struct kv_banded *c, size_t bytes)
{
    return c->on_dsp ? rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes) : calloc(1, bytes);
}

static void release(const struct kv_banded *c, void *p)
{
    if (c->on_dsp)
        rpcmem_free(p);
    else
        free(p);
}

static void close_banded(struct hx_kv *kv)
{
    struct kv_banded *c = (struct kv_banded *)kv;

    hx_skel_close(&c->dsp);
    for (int i = 0; i < 2; i++) {
        release(c, c->part[i].codes);
        release(c, c->part[i].x);
    }
    free(c);
}

/* Lengths of one call are int, and so are the bytes of one rpcmem buffer on a phone. */
static int open_part(struct kv_banded *c, struct part *p, struct hx_error *err)
{
    const size_t layers = p->format.bytes ? 1 : c->kv.n_layer; /* in x */
    size_t x, codes;

    if (__builtin_mul_overflow(c->kv.n_ctx * c->row * sizeof(float), layers, &x) ||
        __builtin_mul_overflow(c->kv.n_ctx * c->kv.n_kv * c->kv.n_layer, (size_t)p->format.bytes, &codes) ||
        (c->on_dsp && p->format.bytes && (x > INT32_MAX || codes > INT32_MAX)))
        return hx_error_set(err, -EINVAL, "kv banded: a context of %zu positions is too long", c->kv.n_ctx);
    p->x = alloc(c, x);
    p->x_bytes = x;
    p->codes = codes ? alloc(c, codes) : NULL;
    p->code_bytes = codes;
    if (!p->x || (codes && !p->codes))
        return hx_error_set(err, -ENOMEM, "kv banded: no memory for %zu positions", c->kv.n_ctx);
    return 0;
}

/* What is not coded never goes to the DSP. */
static int send_packets(struct kv_banded *c, struct hx_error *err)
{
    static const char who[] = "kv banded";
    int rc = hx_packets_open(&c->dsp, who, sp_hex_packets_attach, sp_hex_packets_detach, err);

    for (int i = 0; !rc && i < 2 && c->part[i].codes; i++) {
        rc = hx_packets_share(&c->dsp, who, c->part[i].x, c->part[i].x_bytes, err);
        rc = rc ? rc : hx_packets_share(&c->dsp, who, c->part[i].codes, c->part[i].code_bytes, err);
    }
    return rc;
}

static int set_formats(struct kv_banded *c, enum hx_banded_v v, struct hx_error *err)
{
    struct part *k = &c->part[0], *of_v = &c->part[1];

    k->name = "K";
    of_v->name = "V";
    of_v->is_v = v == HX_BANDED_V_3;
    if (hx_compress_init(&k->format, (int)c->kv.dh, 0))
        return hx_error_set(err, -EINVAL, "kv banded: head dimension %zu: vectors of " HX_COMPRESS_LEGAL
                            " floats can be compressed", c->kv.dh);
    return v == HX_BANDED_V_F32 ? 0 : hx_compress_init(&of_v->format, (int)c->kv.dh, of_v->is_v);
}

static const struct hx_kv_ops ops = {.name = "banded", .put = put, .rows = rows, .keep = keep, .close = close_banded};

int hx_kv_banded_open(struct hx_kv **out, const struct hx_model *m, enum hx_banded_v v, enum hx_banded_by by, size_t n_ctx,
                      struct hx_error *err)
{
    struct kv_banded *c = calloc(1, sizeof(*c));
    int rc;

    if (!c)
        return hx_error_set(err, -ENOMEM, "kv banded: out of memory");
    c->kv = (struct hx_kv){&ops, m->n_layer, m->n_kv, m->dh, n_ctx, n_ctx, 0};
    c->row = m->n_kv * m->dh;
    c->on_dsp = by != HX_BANDED_CPU;
    rc = set_formats(c, v, err);
    if (!rc && c->on_dsp)
        rc = hx_skel_open(&c->dsp, "kv banded", sp_hex_URI, err);
    for (int i = 0; !rc && i < 2; i++)
        rc = open_part(c, &c->part[i], err);
    if (!rc && by == HX_BANDED_DSP_PACKETS)
        rc = send_packets(c, err);
    if (rc) {
        close_banded(&c->kv);
        return rc;
    }
    *out = &c->kv;
    return 0;
}

struct hx_banded_state hx_kv_banded_state(const struct hx_kv *kv, int is_v)
{
    const struct part *p = &((const struct kv_banded *)kv)->part[is_v];

    return (struct hx_banded_state){p->format.bytes ? &p->format : NULL, p->vectors,
                                    p->vectors ? p->cosine / (double)p->vectors : 0, p->cosine_min};
}
