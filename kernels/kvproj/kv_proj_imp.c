/* Implements interface kv_proj on the DSP: handles, what they have loaded, and checks of what a call asks for.
 *
 * Reentrant: calls on one handle take turns, calls on several share the HVX contexts. */
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "hexrig_purpose.h"
#include "hexrig_uncosted.h"
#include "kv_proj_run.h"
#include "qurt_hvx.h"
#include "qurt_mutex.h"
#include "skel/handles.h"
#include "skel/kernel.h"
#include "skel/packets.h"
#include "skel/parallel.h"
#include "skel/weights.h"

HX_UNCOSTED("the loops over bases, coefficients and scores are listed; dividing work and zeros behind vectors are not");

enum { ALIGN = 128, MOST_IN_VTCM = 2 << 20 };

struct state {
    struct hx_handle handle;
    qurt_mutex_t lock; /* held for the length of a call; protects what follows */
    struct hx_weights_map bases, cache;
    struct hx_proj_model model;
    uint8_t *vtcm;       /* a copy of the bases; NULL: they are read where they lie */
    size_t bases_bytes;
    const uint8_t *mapped; /* the client's bases and past, as far as they are said to be for something */
    size_t mapped_bytes, past_bytes;
    uint8_t *scratch;
    size_t scratch_bytes;
};

/* --- handles */

static void let_cache_go(struct state *s)
{
    if (s->model.past)
        hx_purpose_set(s->model.past, s->past_bytes, HX_PURPOSE_OTHER);
    s->model.past = NULL;
    hx_weights_unmap(&s->cache);
}

static void unload(struct state *s)
{
    let_cache_go(s);
    if (s->vtcm) {
        hx_purpose_set(s->vtcm, s->bases_bytes, HX_PURPOSE_OTHER);
        HAP_release_VTCM(s->vtcm);
    }
    if (s->mapped)
        hx_purpose_set(s->mapped, s->mapped_bytes, HX_PURPOSE_OTHER);
    if (s->scratch)
        hx_purpose_set(s->scratch, s->scratch_bytes, HX_PURPOSE_OTHER);
    hx_weights_unmap(&s->bases);
    free(s->scratch);
    s->scratch = s->vtcm = NULL;
    s->mapped = NULL;
    s->model = (struct hx_proj_model){.form = NULL};
}

static void drop(struct hx_handle *h)
{
    struct state *s = (struct state *)h;

    unload(s);
    qurt_mutex_destroy(&s->lock);
    free(s);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pair);
}

static struct hx_handles handles = HX_HANDLES("kv_proj", drop, idle);
static struct hx_packet_queues queues = HX_PACKET_QUEUES("kv_proj", kv_proj_skel_handle_invoke);

int kv_proj_open(const char *uri, remote_handle64 *h)
{
    struct state *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return AEE_ENOMEMORY;
    s->bases.fd = s->cache.fd = -1;
    qurt_mutex_init(&s->lock);
    rc = hx_handle_open(&handles, &s->handle, uri, h);
    if (rc)
        drop(&s->handle);
    return rc;
}

int kv_proj_close(remote_handle64 h)
{
    hx_packets_drop(&queues, h);
    return hx_handle_close(&handles, h);
}

int kv_proj_packets_attach(remote_handle64 h, uint64_t id)
{
    return hx_packets_attach(&queues, h, id);
}

int kv_proj_packets_detach(remote_handle64 h, uint64_t id)
{
    return hx_packets_detach(&queues, h, id);
}

/* The state behind a handle, locked, or NULL; give it back with put(). */
static struct state *get(remote_handle64 h)
{
    struct state *s = (struct state *)hx_handle_get(&handles, h);

    if (s)
        qurt_mutex_lock(&s->lock);
    return s;
}

static int put(struct state *s, int rc)
{
    qurt_mutex_unlock(&s->lock);
    hx_handle_put(&handles, &s->handle);
    return rc;
}

static int refuse(const char *what, size_t value)
{
    FARF(ERROR, "kv_proj: %s %zu: there is no such thing, or it does not fit", what, value);
    return AEE_EBADPARM;
}

/* --- what is handed over once */

static int check_shape(const kv_proj_shape *s)
{
    enum { MOST = 1 << 20, MOST_WIDE = 1 << 12 };

    if (s->layers < 1 || s->layers > MOST_WIDE || s->kv_heads < 1 || s->kv_heads > MOST_WIDE)
        return refuse("layers or KV heads; layers", s->layers);
    if (s->positions < 1 || s->positions > MOST)
        return refuse("positions", s->positions);
    if (s->dh < HX_KV_PROJ_WORDS || s->dh > MOST_WIDE || s->dh % HX_KV_PROJ_WORDS)
        return refuse("head dimension, not a multiple of 32,", s->dh);
    if (s->rank < 1 || s->rank > s->dh)
        return refuse("rank", s->rank);
    return s->z_bytes == 2 || s->z_bytes == 4 ? AEE_SUCCESS : refuse("bytes of a coefficient", s->z_bytes);
}

static size_t bases_bytes(const kv_proj_shape *s)
{
    return (size_t)s->layers * s->kv_heads * hx_kv_proj_basis_floats(s->dh, s->rank) * sizeof(float);
}

static uint64_t past_bytes(const kv_proj_shape *s)
{
    return (uint64_t)s->layers * s->kv_heads * hx_kv_proj_head_bytes(s->positions, s->rank, s->z_bytes);
}

/* Every call reads a layer's bases, for each of its queries. */
static const float *place_bases(struct state *s, const uint8_t *base)
{
    if (s->bases_bytes <= MOST_IN_VTCM)
        s->vtcm = HAP_request_VTCM((unsigned)s->bases_bytes, 0);
    if (!s->vtcm) {
        FARF(HIGH, "kv_proj: vtcm: no %zu bytes for bases, which are read where they lie", s->bases_bytes);
        s->mapped = base;
        s->mapped_bytes = s->bases_bytes;
        hx_purpose_set(base, s->bases_bytes, HX_PURPOSE_TABLES);
        return (const float *)base;
    }
    memcpy(s->vtcm, base, s->bases_bytes);
    hx_purpose_set(s->vtcm, s->bases_bytes, HX_PURPOSE_TABLES);
    return (const float *)s->vtcm;
}

static int load(struct state *s, int fd, size_t bytes, const kv_proj_shape *form)
{
    const uint8_t *base = NULL;
    int rc = check_shape(form);

    if (rc)
        return rc;
    s->bases_bytes = bases_bytes(form);
    if (s->bases_bytes > bytes)
        return refuse("bases in bytes", bytes);
    s->scratch_bytes = hx_proj_scratch_bytes(form);
    s->scratch = aligned_alloc(ALIGN, s->scratch_bytes);
    if (!s->scratch) {
        FARF(ERROR, "kv_proj: heap: need %zu bytes for a call", s->scratch_bytes);
        return AEE_ENOMEMORY;
    }
    memset(s->scratch, 0, s->scratch_bytes);
    rc = hx_weights_map(&s->bases, "kv_proj", fd, bytes, &base);
    if (rc)
        return rc;
    hx_purpose_set(s->scratch, s->scratch_bytes, HX_PURPOSE_ACTIVATIONS);
    s->model = (struct hx_proj_model){*form, form->z_bytes == 2 ? &hx_proj_f16_hvx : &hx_proj_f32_hvx, place_bases(s, base), NULL};
    return AEE_SUCCESS;
}

int kv_proj_load(remote_handle64 h, int fd, unsigned int bytes, const kv_proj_shape *form, unsigned int *in_vtcm)
{
    struct state *s = get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    unload(s);
    rc = load(s, fd, bytes, form);
    if (rc)
        unload(s);
    *in_vtcm = s->vtcm ? (unsigned)s->bases_bytes : 0;
    return put(s, rc);
}

static int take_cache(struct state *s, int fd, size_t bytes)
{
    const uint8_t *base = NULL;
    int rc;

    if (!s->model.form)
        return AEE_EBADSTATE;
    let_cache_go(s);
    if (past_bytes(&s->model.shape) > bytes)
        return refuse("cache in bytes", bytes);
    rc = hx_weights_map(&s->cache, "kv_proj", fd, bytes, &base);
    if (rc)
        return rc;
    s->past_bytes = bytes;
    hx_purpose_set(base, bytes, HX_PURPOSE_KV);
    s->model.past = (uint8_t *)base;
    return AEE_SUCCESS;
}

int kv_proj_cache(remote_handle64 h, int fd, unsigned int bytes)
{
    struct state *s = get(h);

    return s ? put(s, take_cache(s, fd, bytes)) : AEE_EINVHANDLE;
}

/* --- attend */

struct lengths {
    size_t q, k, v, y;
};

static int check_call(struct hx_proj_call *c, const struct lengths *l)
{
    const kv_proj_shape *s = &c->model->shape;
    const uint64_t own = (uint64_t)c->n * s->kv_heads * s->dh;

    if (c->threads < 1 || c->threads > HX_PROJ_THREADS)
        return refuse("threads", c->threads);
    if (c->layer >= s->layers || c->n < 1 || c->first >= s->positions || c->n > s->positions - c->first)
        return refuse("layer or positions; layer", c->layer);
    if (l->k != own || l->v != own || l->q < 1 || l->q % own || l->y != l->q)
        return refuse("vectors of the wrong length; floats of queries", l->q);
    if (!hx_is_aligned(c->q) || !hx_is_aligned(c->k) || !hx_is_aligned(c->v) || !hx_is_aligned(c->y))
        return refuse("vectors that are not aligned; floats of queries", l->q);
    c->heads = l->q / own * s->kv_heads;
    return AEE_SUCCESS;
}

static int attend(struct state *s, struct hx_proj_call *c, const struct lengths *l, kv_proj_cycles *cycles)
{
    int rc;

    if (!s->model.form || !s->model.past) {
        FARF(ERROR, "kv_proj: no bases are loaded, or there is no cache");
        return AEE_EBADSTATE;
    }
    c->model = &s->model;
    c->scratch = s->scratch;
    rc = check_call(c, l);
    if (!rc && qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        rc = AEE_EFAILED;
    if (rc)
        return rc;
    rc = hx_proj_call_run(c, cycles);
    qurt_hvx_unlock();
    return rc;
}

HX_FOR_FIGURES static void vectors_are(enum hx_purpose purpose, const struct hx_proj_call *c, const struct lengths *l)
{
    hx_purpose_set(c->q, l->q * sizeof(float), purpose);
    hx_purpose_set(c->k, l->k * sizeof(float), purpose);
    hx_purpose_set(c->v, l->v * sizeof(float), purpose);
    hx_purpose_set(c->y, l->y * sizeof(float), purpose);
}

int kv_proj_attend(remote_handle64 h, int threads, unsigned int layer, unsigned int first, unsigned int n, float scale, const float *q,
                   int qLen, const float *k, int kLen, const float *v, int vLen, float *y, int yLen, kv_proj_cycles *pcycles)
{
    struct hx_proj_call c = {.threads = (unsigned)threads, .layer = layer, .first = first, .n = n, .scale = scale,
                             .q = q, .k = k, .v = v, .y = y};
    const struct lengths l = {(size_t)qLen, (size_t)kLen, (size_t)vLen, (size_t)yLen};
    struct state *s = get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    vectors_are(HX_PURPOSE_ACTIVATIONS, &c, &l);
    rc = attend(s, &c, &l, pcycles);
    vectors_are(HX_PURPOSE_OTHER, &c, &l);
    return put(s, rc);
}
