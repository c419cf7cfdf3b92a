/* Methods guard, guarded and guarded_argmax of interface hex_linear: a few directions are looked at in what a matrix multiplies, and taken
 * from it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "guard.h"
#include "hex_linear_state.h"
#include "hexrig_slow_path.h"
#include "qurt_hvx.h"

enum { LANES = 32 };

/* --- which directions */

static int set_guard(struct hx_linear_guard **to, size_t cols, float above, const float *q, size_t k)
{
    const int vectors = (int)((cols + LANES - 1) / LANES);
    const size_t row = (size_t)vectors * LANES, bytes = k * row * sizeof(float);
    struct hx_linear_guard *g = calloc(1, sizeof(*g));

    if (!g)
        return AEE_ENOMEMORY;
    *g = (struct hx_linear_guard){.q = bytes <= UINT32_MAX ? HAP_request_VTCM((unsigned)bytes, 0) : NULL, .k = k, .cols = cols,
                                  .vectors = vectors, .above = above};
    g->in_vtcm = g->q != NULL;
    if (!g->q) {
        FARF(HIGH, "hex_linear: vtcm: no room for %zu bytes of directions: they are in memory", bytes);
        g->q = aligned_alloc(HX_LINEAR_ALIGN, bytes);
    }
    if (!g->q) {
        free(g);
        return AEE_ENOMEMORY;
    }
    hx_purpose_set(g->q, bytes, HX_PURPOSE_WEIGHTS);
    memset(g->q, 0, bytes);
    for (size_t i = 0; i < k; i++)
        memcpy(g->q + i * row, q + i * cols, cols * sizeof(*q));
    *to = g;
    return AEE_SUCCESS;
}

static int all_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

int hex_linear_guard(remote_handle64 h, unsigned int cols, float above, const float *q, int qLen, unsigned int *in_vtcm)
{
    struct hx_linear_state *s = hx_linear_get(h);
    const size_t k = cols ? (size_t)qLen / cols : 0;
    int rc = AEE_SUCCESS;

    if (!s)
        return AEE_EINVHANDLE;
    hx_linear_guard_drop(&s->guard);
    if (qLen && (isnan(above) || !k || k > cols || k * cols != (size_t)qLen || !all_finite(q, (size_t)qLen))) {
        FARF(ERROR, "hex_linear: directions of %u floats in %d: that is none, or more than there can be", cols, qLen);
        rc = AEE_EBADPARM;
    }
    if (!rc && qLen)
        rc = set_guard(&s->guard, cols, above, q, k);
    *in_vtcm = s->guard && s->guard->in_vtcm ? (unsigned)(s->guard->k * (size_t)s->guard->vectors * HX_LINEAR_ALIGN) : 0;
    return hx_linear_put(s, rc);
}

/* --- a call */

/* One vector x [vectors * 32], which loses its share where it is told.  The caller holds an HVX context. */
static float guard_one(const struct hx_linear_guard *g, float *x, float *z)
{
    const float norm2 = hx_guard_product_hvx(x, x, g->vectors);
    double in = 0;
    float teh;

    for (size_t i = 0; i < g->k; i++) {
        z[i] = hx_guard_product_hvx(g->q + i * (size_t)g->vectors * LANES, x, g->vectors);
        in += (double)z[i] * z[i];
    }
    teh = norm2 > 0 ? (float)sqrt(in / (double)norm2) : 0;
    for (size_t i = 0; i < g->k && teh > g->above; i++)
        hx_guard_take_hvx(g->q + i * (size_t)g->vectors * LANES, z[i], x, g->vectors);
    return teh;
}

/* Copies of x, guarded; c->x becomes them, [n][cols].  Vectors that are not finite stay what they are, which the products find. */
static int guard_all(struct hx_linear_state *s, struct hx_linear_call *c, float *teh)
{
    const struct hx_linear_guard *g = s->guard;
    const size_t cols = g->cols, row = (size_t)g->vectors * LANES;
    int rc = hx_linear_grow(&s->between, hx_linear_piece(row * sizeof(float)) + hx_linear_piece(g->k * sizeof(float)) +
                                             c->n * cols * sizeof(float));
    float *one, *z, *all;

    if (rc)
        return rc;
    one = (float *)s->between.at;
    z = one + row;
    all = (float *)(s->between.at + hx_linear_piece(row * sizeof(float)) + hx_linear_piece(g->k * sizeof(float)));
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    memset(one, 0, row * sizeof(*one));
    for (size_t i = 0; i < c->n; i++) {
        memcpy(one, c->x + i * cols, cols * sizeof(*one));
        teh[i] = all_finite(one, cols) ? guard_one(g, one, z) : NAN;
        /* what was not told keeps every bit */
        memcpy(all + i * cols, teh[i] > g->above ? one : c->x + i * cols, cols * sizeof(*one));
    }
    qurt_hvx_unlock();
    c->x = all;
    return AEE_SUCCESS;
}

static int check(const struct hx_linear_state *s, struct hx_linear_call *c, unsigned which, size_t x_len, size_t teh_len)
{
    size_t rows;
    int rc = hx_linear_choose(s, c, &which, &rows);

    if (!rc)
        rc = hx_linear_check_call(c, x_len);
    if (!rc && (!s->guard || s->guard->cols != c->m[0]->cols)) {
        FARF(ERROR, "hex_linear: a guard of %zu columns, a matrix of %zu", s->guard ? s->guard->cols : 0, c->m[0]->cols);
        return AEE_EBADSTATE;
    }
    return rc ? rc : teh_len == c->n ? AEE_SUCCESS : AEE_EBADPARM;
}

int hex_linear_guarded(remote_handle64 h, const hex_linear_how *how, unsigned int which, unsigned int n, const float *x,
                       int xLen, float *y, int yLen, float *teh, int tehLen, hex_linear_cycles *pcycles)
{
    struct hx_linear_call c = {.how = how, .n_m = 1, .x = x, .n = n};
    struct hx_linear_state *s = hx_linear_get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    hx_linear_vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, y, (size_t)yLen * sizeof(*y));
    rc = check(s, &c, which, (size_t)xLen, (size_t)tehLen);
    if (!rc)
        rc = hx_linear_check_y(&c, c.m[0]->rows, (size_t)yLen);
    if (!rc && (uintptr_t)y % HX_LINEAR_ALIGN)
        HX_SLOW_PATH();
    if (!rc)
        rc = guard_all(s, &c, teh);
    if (!rc)
        rc = hx_linear_products(s, &c, y, pcycles);
    hx_linear_vectors_are(HX_PURPOSE_OTHER, x, xLen, y, (size_t)yLen * sizeof(*y));
    return hx_linear_put(s, rc);
}

int hex_linear_guarded_argmax(remote_handle64 h, const hex_linear_how *how, unsigned int which, unsigned int n,
                              const float *x, int xLen, unsigned int *ids, int idsLen, float *teh, int tehLen,
                              hex_linear_cycles *pcycles)
{
    struct hx_linear_call c = {.how = how, .n_m = 1, .x = x, .n = n};
    struct hx_linear_state *s = hx_linear_get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    hx_linear_vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, NULL, 0);
    rc = check(s, &c, which, (size_t)xLen, (size_t)tehLen);
    if (!rc && (size_t)idsLen != c.n)
        rc = AEE_EBADPARM;
    if (!rc)
        rc = guard_all(s, &c, teh);
    if (!rc)
        rc = hx_linear_argmax(s, &c, ids, pcycles);
    hx_linear_vectors_are(HX_PURPOSE_OTHER, x, xLen, NULL, 0);
    return hx_linear_put(s, rc);
}
