/* Implements interface hex_linear on the DSP: what is loaded, products, the largest of them, matrices of low rank.
 *
 * Reentrant: calls on one handle take turns, calls on several share the HVX contexts. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "hex_linear_state.h"
#include "hex_linear_stay.h"
#include "hexrig_slow_path.h"
#include "hexrig_uncosted.h"
#include "skel/packets.h"

HX_UNCOSTED("the loops over weights and the quantiser are listed; dividing work and fetching tiles is not");

enum { NOT_FINITE = -1 };

static struct hx_packet_queues queues = HX_PACKET_QUEUES("hex_linear", hex_linear_skel_handle_invoke);

int hex_linear_open(const char *uri, remote_handle64 *h)
{
    return hx_linear_state_open(uri, h);
}

int hex_linear_close(remote_handle64 h)
{
    hx_packets_drop(&queues, h);
    return hx_linear_state_close(h);
}

int hex_linear_packets_attach(remote_handle64 h, uint64_t id)
{
    return hx_packets_attach(&queues, h, id);
}

int hex_linear_packets_detach(remote_handle64 h, uint64_t id)
{
    return hx_packets_detach(&queues, h, id);
}

/* --- load */

static int check_matrix(const hex_linear_matrix *m, size_t index, size_t bytes)
{
    const size_t need = hx_weights_bytes(m->type, m->rows, m->cols);

    if (hx_weights_fit(need, m->offset, bytes))
        return AEE_SUCCESS;
    FARF(ERROR, "hex_linear: matrix %zu: type %u, %u x %u at offset %u of %zu bytes: there is no such "
         "matrix", index, m->type, m->rows, m->cols, m->offset, bytes);
    return AEE_EBADPARM;
}

/* s->lock is held; nothing is loaded. */
static int load(struct hx_linear_state *s, int fd, size_t bytes, const hex_linear_matrix *list, size_t n)
{
    const uint8_t *base = NULL;
    int rc = AEE_SUCCESS;

    for (size_t i = 0; i < n && !rc; i++)
        rc = check_matrix(&list[i], i, bytes);
    if (!rc)
        rc = hx_weights_map(&s->map, "hex_linear", fd, bytes, &base);
    if (rc)
        return rc;
    s->m = calloc(n, sizeof(*s->m));
    if (!s->m) {
        hx_linear_unload(s);
        return AEE_ENOMEMORY;
    }
    s->n_m = n;
    for (size_t i = 0; i < n; i++)
        s->m[i] = (struct hx_linear_matrix){(enum hx_weights_type)list[i].type, list[i].rows,
                                            list[i].cols, base + list[i].offset};
    return AEE_SUCCESS;
}

int hex_linear_load(remote_handle64 h, int fd, unsigned int bytes,
                    const hex_linear_matrix *matrices, int matricesLen)
{
    struct hx_linear_state *s = hx_linear_get(h);

    if (!s)
        return AEE_EINVHANDLE;
    hx_linear_unload(s);
    return hx_linear_put(s, matricesLen ? load(s, fd, bytes, matrices, (size_t)matricesLen) : AEE_SUCCESS);
}

/* --- calls */

static int apply(struct hx_linear_state *s, struct hx_linear_call *c, const unsigned *which, size_t x_len,
                 float *y, size_t y_len, hex_linear_cycles *cycles)
{
    size_t rows;
    int rc = hx_linear_choose(s, c, which, &rows);

    if (!rc)
        rc = hx_linear_check_call(c, x_len);
    if (!rc)
        rc = hx_linear_check_y(c, rows, y_len);
    if (!rc && (uintptr_t)y % HX_LINEAR_ALIGN) /* x is read by scalar code */
        HX_SLOW_PATH();
    return rc ? rc : hx_linear_products(s, c, y, cycles);
}

int hex_linear_apply(remote_handle64 h, const hex_linear_how *how, const unsigned int *which,
                     int whichLen, unsigned int n, const float *x, int xLen, float *y, int yLen,
                     hex_linear_cycles *pcycles)
{
    struct hx_linear_call c = {.how = how, .n_m = (size_t)whichLen, .x = x, .n = n};
    struct hx_linear_state *s;
    int rc;

    if (whichLen < 1 || whichLen > HX_LINEAR_FUSED) {
        FARF(ERROR, "hex_linear: %d matrices in a call; 1 to %d are legal", whichLen,
             HX_LINEAR_FUSED);
        return AEE_EBADPARM;
    }
    s = hx_linear_get(h);
    if (!s)
        return AEE_EINVHANDLE;
    hx_linear_vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, y, (size_t)yLen * sizeof(*y));
    rc = apply(s, &c, which, (size_t)xLen, y, (size_t)yLen, pcycles);
    hx_linear_vectors_are(HX_PURPOSE_OTHER, x, xLen, y, (size_t)yLen * sizeof(*y));
    return hx_linear_put(s, rc);
}

/* --- matrices of low rank */

/* What project() got. */
struct projection {
    const hex_linear_how *how;
    const unsigned *downs, *ups, *of;
    size_t n_downs, n_ups, n;
    float *t[HX_LINEAR_FUSED]; /* [n][rows] of each down */
    size_t rows;               /* of all ups */
};

/* Each of the ups is there and fits its down. */
static int check_ups(const struct hx_linear_state *s, struct projection *p)
{
    for (size_t i = 0; i < p->n_ups; i++) {
        const unsigned up = p->ups[i], of = p->of[i];

        if (up >= s->n_m || of >= p->n_downs || s->m[up].type == HX_WEIGHTS_BASIS || s->m[up].cols != s->m[p->downs[of]].rows ||
            (i && of < p->of[i - 1])) {
            FARF(ERROR, "hex_linear: matrix %u behind down %u of %zu: there is no such matrix, it does not fit, or it is out of order",
                 up, of, p->n_downs);
            return AEE_EBADPARM;
        }
        p->rows += s->m[up].rows;
    }
    return AEE_SUCCESS;
}

/* Room for all t, one after the other, each at a multiple of 128. */
static int place_between(struct hx_linear_state *s, struct projection *p, const struct hx_linear_call *c)
{
    size_t bytes = 0;
    int rc;

    for (size_t d = 0; d < c->n_m; d++)
        bytes += hx_linear_piece(c->n * c->m[d]->rows * sizeof(float));
    rc = hx_linear_grow(&s->between, bytes);
    bytes = 0;
    for (size_t d = 0; d < c->n_m && !rc; d++) {
        p->t[d] = (float *)(s->between.at + bytes);
        bytes += hx_linear_piece(c->n * c->m[d]->rows * sizeof(float));
    }
    return rc;
}

/* t of all downs, which lie apart here. */
static int run_downs(struct hx_linear_state *s, const struct projection *p, struct hx_linear_call *c, hex_linear_cycles *cycles)
{
    float *unused;
    int rc = hx_linear_scratch(s, c, 0, &unused);

    for (size_t d = 0; d < c->n_m; d++) {
        c->y[d] = p->t[d];
        c->y_stride[d] = c->m[d]->rows;
    }
    if (!rc)
        rc = hx_linear_run_held(c, cycles, NULL, NULL);
    if (!rc)
        hx_linear_spoil(c);
    return rc;
}

/* The ups of each down, in their order. */
static int run_ups(struct hx_linear_state *s, const struct projection *p, float *y, hex_linear_cycles *cycles)
{
    int rc = AEE_SUCCESS;

    for (size_t first = 0, end; first < p->n_ups && !rc; first = end) {
        struct hx_linear_call c = {.how = p->how, .x = p->t[p->of[first]], .n = p->n};
        hex_linear_cycles more = {0, 0, 0, 0};
        size_t rows;

        for (end = first; end < p->n_ups && p->of[end] == p->of[first]; end++)
            c.n_m++;
        rc = hx_linear_choose(s, &c, p->ups + first, &rows);
        if (!rc)
            rc = hx_linear_products(s, &c, y, &more);
        if (rc)
            return rc;
        y += c.n * rows;
        hx_linear_add_cycles(cycles, &more);
    }
    return rc;
}

static int project(struct hx_linear_state *s, struct projection *p, const float *x, size_t x_len, float *y, size_t y_len,
                   hex_linear_cycles *cycles)
{
    struct hx_linear_call c = {.how = p->how, .n_m = p->n_downs, .x = x, .n = p->n};
    size_t unused;
    int rc = hx_linear_choose(s, &c, p->downs, &unused);

    if (!rc)
        rc = hx_linear_check_call(&c, x_len);
    if (!rc)
        rc = check_ups(s, p);
    if (!rc)
        rc = hx_linear_check_y(&c, p->rows, y_len);
    if (!rc && (uintptr_t)y % HX_LINEAR_ALIGN)
        HX_SLOW_PATH();
    if (!rc)
        rc = place_between(s, p, &c);
    if (!rc)
        rc = run_downs(s, p, &c, cycles);
    return rc ? rc : run_ups(s, p, y, cycles);
}

int hex_linear_project(remote_handle64 h, const hex_linear_how *how, const unsigned int *downs, int downsLen, const unsigned int *ups,
                       int upsLen, const unsigned int *of, int ofLen, unsigned int n, const float *x, int xLen, float *y, int yLen,
                       hex_linear_cycles *pcycles)
{
    struct projection p = {.how = how, .downs = downs, .ups = ups, .of = of, .n_downs = (size_t)downsLen, .n_ups = (size_t)upsLen, .n = n};
    struct hx_linear_state *s;
    int rc;

    if (downsLen < 1 || downsLen > HX_LINEAR_FUSED || upsLen < 1 || upsLen > HX_LINEAR_FUSED || ofLen != upsLen) {
        FARF(ERROR, "hex_linear: %d and %d matrices in a call, %d of them placed; 1 to %d are legal", downsLen, upsLen, ofLen,
             HX_LINEAR_FUSED);
        return AEE_EBADPARM;
    }
    s = hx_linear_get(h);
    if (!s)
        return AEE_EINVHANDLE;
    hx_linear_vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, y, (size_t)yLen * sizeof(*y));
    rc = project(s, &p, x, (size_t)xLen, y, (size_t)yLen, pcycles);
    hx_linear_vectors_are(HX_PURPOSE_OTHER, x, xLen, y, (size_t)yLen * sizeof(*y));
    return hx_linear_put(s, rc);
}

/* --- the largest of a matrix's products */

/* Of c->n rows of y; the caller holds an HVX context. */
static void pick(const struct hx_linear_call *c, unsigned *ids)
{
    for (size_t t = 0; t < c->n; t++)
        ids[t] = (unsigned)(c->bad[t] ? NOT_FINITE
                                      : hx_linear_argmax_hvx(c->y[0] + t * c->y_stride[0],
                                                             c->m[0]->rows));
}

int hx_linear_argmax(struct hx_linear_state *s, struct hx_linear_call *c, unsigned *ids, hex_linear_cycles *cycles)
{
    int rc;

    c->y_stride[0] = hx_weights_groups(c->m[0]->rows) * HX_WEIGHTS_ROWS;
    rc = hx_linear_scratch(s, c, c->n * c->y_stride[0] * sizeof(float), &c->y[0]);
    return rc ? rc : hx_linear_run_held(c, cycles, pick, ids);
}

static int argmax(struct hx_linear_state *s, struct hx_linear_call *c, unsigned which, size_t x_len,
                  unsigned *ids, size_t ids_len, hex_linear_cycles *cycles)
{
    size_t rows;
    int rc = hx_linear_choose(s, c, &which, &rows);

    if (!rc)
        rc = hx_linear_check_call(c, x_len);
    if (!rc && ids_len != c->n)
        rc = AEE_EBADPARM;
    return rc ? rc : hx_linear_argmax(s, c, ids, cycles);
}

int hex_linear_argmax(remote_handle64 h, const hex_linear_how *how, unsigned int which,
                      unsigned int n, const float *x, int xLen, unsigned int *ids, int idsLen,
                      hex_linear_cycles *pcycles)
{
    struct hx_linear_call c = {.how = how, .n_m = 1, .x = x, .n = n};
    struct hx_linear_state *s = hx_linear_get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    hx_linear_vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, NULL, 0);
    rc = argmax(s, &c, which, (size_t)xLen, ids, (size_t)idsLen, pcycles);
    hx_linear_vectors_are(HX_PURPOSE_OTHER, x, xLen, NULL, 0);
    return hx_linear_put(s, rc);
}

static int tell(const struct hx_linear_state *s, hex_linear_residence *to, size_t n, uint64_t *slots)
{
    if (!s->stays)
        return AEE_EBADSTATE;
    if (n != s->n_m)
        return AEE_EBADPARM;
    *slots = 2 * s->stays->slot;
    for (size_t i = 0; i < n; i++) {
        const struct hx_linear_matrix *m = &s->m[i];

        to[i] = (hex_linear_residence){.bytes = hx_weights_bytes(m->type, m->rows, m->cols),
                                       .stays = s->stays->of[i].groups * hx_weights_group_bytes(m->type, m->cols)};
    }
    return AEE_SUCCESS;
}

int hex_linear_where(remote_handle64 h, hex_linear_residence *matrices, int matricesLen, uint64_t *slots)
{
    struct hx_linear_state *s = hx_linear_get(h);

    return s ? hx_linear_put(s, tell(s, matrices, (size_t)matricesLen, slots)) : AEE_EINVHANDLE;
}
