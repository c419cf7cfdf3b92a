/* Implements interface hex_linear on the DSP: handles, their weights, and checks of what a call asks for.
 *
 * Reentrant: calls on one handle take turns, calls on several share the HVX contexts. */
#include <math.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "hex_linear_run.h"
#include "hex_linear_stay.h"
#include "hexrig_purpose.h"
#include "hexrig_slow_path.h"
#include "hexrig_uncosted.h"
#include "qurt_hvx.h"
#include "qurt_mutex.h"
#include "skel/handles.h"
#include "skel/packets.h"
#include "skel/parallel.h"
#include "skel/weights.h"

HX_UNCOSTED("the loops over weights and the quantiser are listed; dividing work and fetching tiles is not");

enum { ALIGN = 128, THREADS = 2, NOT_FINITE = -1 };

struct state {
    struct hx_handle handle;
    qurt_mutex_t lock;    /* held for the length of a call; protects what follows */
    struct hx_weights_map map;
    struct hx_linear_matrix *m; /* [n_m] */
    size_t n_m;
    struct buffer {
        uint8_t *at;
        size_t bytes;
    } scratch, between; /* grow as calls need it; between: what project() makes of x and does not hand back */
    struct hx_linear_vtcm vtcm;
    struct hx_linear_stays *stays;
};

/* --- memory of calls */

/* Pieces of a buffer begin at multiples of 128. */
static size_t piece(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static void drop_buffer(struct buffer *b)
{
    hx_purpose_set(b->at, b->bytes, HX_PURPOSE_OTHER);
    free(b->at);
    *b = (struct buffer){NULL, 0};
}

static int grow(struct buffer *b, size_t bytes)
{
    if (bytes <= b->bytes)
        return AEE_SUCCESS;
    drop_buffer(b);
    b->at = aligned_alloc(ALIGN, piece(bytes));
    if (!b->at) {
        FARF(ERROR, "hex_linear: heap: need %zu bytes for a call", bytes);
        return AEE_ENOMEMORY;
    }
    b->bytes = bytes;
    hx_purpose_set(b->at, bytes, HX_PURPOSE_ACTIVATIONS);
    return AEE_SUCCESS;
}

/* --- handles and what is loaded */

static void unload(struct state *s)
{
    hx_weights_unmap(&s->map);
    free(s->m);
    s->m = NULL;
    s->n_m = 0;
    hx_linear_stays_drop(&s->stays);
    hx_linear_vtcm_release(&s->vtcm);
}

static void drop(struct hx_handle *h)
{
    struct state *s = (struct state *)h;

    unload(s);
    drop_buffer(&s->scratch);
    drop_buffer(&s->between);
    qurt_mutex_destroy(&s->lock);
    free(s);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pair);
}

static struct hx_handles handles = HX_HANDLES("hex_linear", drop, idle);

static struct hx_packet_queues queues = HX_PACKET_QUEUES("hex_linear", hex_linear_skel_handle_invoke);

int hex_linear_open(const char *uri, remote_handle64 *h)
{
    struct state *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return AEE_ENOMEMORY;
    s->map.fd = -1;
    qurt_mutex_init(&s->lock);
    rc = hx_handle_open(&handles, &s->handle, uri, h);
    if (rc)
        drop(&s->handle);
    return rc;
}

int hex_linear_close(remote_handle64 h)
{
    hx_packets_drop(&queues, h);
    return hx_handle_close(&handles, h);
}

int hex_linear_packets_attach(remote_handle64 h, uint64_t id)
{
    return hx_packets_attach(&queues, h, id);
}

int hex_linear_packets_detach(remote_handle64 h, uint64_t id)
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
static int load(struct state *s, int fd, size_t bytes, const hex_linear_matrix *list, size_t n)
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
        unload(s);
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
    struct state *s = get(h);

    if (!s)
        return AEE_EINVHANDLE;
    unload(s);
    return put(s, matricesLen ? load(s, fd, bytes, matrices, (size_t)matricesLen) : AEE_SUCCESS);
}

/* --- calls */

/* A call's vectors: said at its begin, and taken back at its end, as the memory is the client's. */
HX_FOR_FIGURES static void vectors_are(enum hx_purpose purpose, const float *x, int x_len, const void *y, size_t y_bytes)
{
    hx_purpose_set(x, (size_t)x_len * sizeof(*x), purpose);
    hx_purpose_set(y, y_bytes, purpose);
}

/* Fills c->m from `which`; *rows: the sum of their rows. */
static int choose(const struct state *s, struct hx_linear_call *c, const unsigned *which,
                  size_t *rows)
{
    *rows = 0;
    if (s->n_m == 0) {
        FARF(ERROR, "hex_linear: no weights are loaded");
        return AEE_EBADSTATE;
    }
    for (size_t i = 0; i < c->n_m; i++) {
        if (which[i] >= s->n_m) {
            FARF(ERROR, "hex_linear: matrix %u; %zu are loaded", which[i], s->n_m);
            return AEE_EBADPARM;
        }
        c->m[i] = &s->m[which[i]];
        *rows += c->m[i]->rows;
        if (c->m[i]->type != c->m[0]->type || c->m[i]->cols != c->m[0]->cols) {
            FARF(ERROR, "hex_linear: matrices %u and %u differ in type or columns", which[0],
                 which[i]);
            return AEE_EBADPARM;
        }
    }
    return AEE_SUCCESS;
}

static int check_call(const struct hx_linear_call *c, size_t x_len)
{
    const hex_linear_how *how = c->how;

    if (how->placement < HEX_LINEAR_DDR || how->placement > HEX_LINEAR_AUTO || how->threads < 1 ||
        how->threads > THREADS) {
        FARF(ERROR, "hex_linear: placement %d, %d threads: no such way to run", how->placement,
             how->threads);
        return AEE_EBADPARM;
    }
    if (c->n < 1 || c->n > INT32_MAX || (uint64_t)c->n * c->m[0]->cols != x_len) {
        FARF(ERROR, "hex_linear: %zu vectors of %zu floats; x has %zu", c->n, c->m[0]->cols, x_len);
        return AEE_EBADPARM;
    }
    return AEE_SUCCESS;
}

/* Scratch for activations and `more` bytes behind them, at *rest. */
static int alloc_scratch(struct state *s, struct hx_linear_call *c, size_t more, float **rest)
{
    const size_t blocks = piece(c->n * hx_weights_blocks(c->m[0]->cols) * sizeof(*c->blocks));
    const size_t bad = piece(c->n);
    int rc = grow(&s->scratch, blocks + bad + more);

    if (rc)
        return rc;
    c->blocks = (struct hx_linear_block *)s->scratch.at;
    c->bad = s->scratch.at + blocks;
    c->vtcm = &s->vtcm;
    c->all = s->m;
    c->n_all = s->n_m;
    c->stays = &s->stays;
    *rest = (float *)(s->scratch.at + blocks + bad);
    return AEE_SUCCESS;
}

/* Computes the products and hands them to `then`, if there is one. */
static int run(const struct hx_linear_call *c, hex_linear_cycles *cycles,
               void (*then)(const struct hx_linear_call *c, unsigned *ids), unsigned *ids)
{
    int rc;

    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    rc = hx_linear_call_run(c, cycles);
    if (!rc && then)
        then(c, ids);
    qurt_hvx_unlock();
    return rc;
}

/* Vectors with an infinity or NaN give NaN; qf32 cannot hold one, so it is written here. */
static void spoil(const struct hx_linear_call *c)
{
    for (size_t t = 0; t < c->n; t++)
        for (size_t m = 0; c->bad[t] && m < c->n_m; m++)
            for (size_t r = 0; r < c->m[m]->rows; r++)
                c->y[m][t * c->y_stride[m] + r] = NAN;
}

/* The products of a call that has been checked, one after the other from y on. */
static int products(struct state *s, struct hx_linear_call *c, float *y, hex_linear_cycles *cycles)
{
    float *unused;
    int rc = alloc_scratch(s, c, 0, &unused);

    if (rc)
        return rc;
    for (size_t m = 0; m < c->n_m; m++) {
        c->y[m] = y;
        c->y_stride[m] = c->m[m]->rows;
        y += c->n * c->m[m]->rows;
    }
    rc = run(c, cycles, NULL, NULL);
    if (!rc)
        spoil(c);
    return rc;
}

static int check_y(const struct hx_linear_call *c, size_t rows, size_t y_len)
{
    if ((uint64_t)c->n * rows == y_len)
        return AEE_SUCCESS;
    FARF(ERROR, "hex_linear: %zu vectors of %zu rows; y has %zu floats", c->n, rows, y_len);
    return AEE_EBADPARM;
}

static int apply(struct state *s, struct hx_linear_call *c, const unsigned *which, size_t x_len,
                 float *y, size_t y_len, hex_linear_cycles *cycles)
{
    size_t rows;
    int rc = choose(s, c, which, &rows);

    if (!rc)
        rc = check_call(c, x_len);
    if (!rc)
        rc = check_y(c, rows, y_len);
    if (!rc && (uintptr_t)y % ALIGN) /* x is read by scalar code */
        HX_SLOW_PATH();
    return rc ? rc : products(s, c, y, cycles);
}

int hex_linear_apply(remote_handle64 h, const hex_linear_how *how, const unsigned int *which,
                     int whichLen, unsigned int n, const float *x, int xLen, float *y, int yLen,
                     hex_linear_cycles *pcycles)
{
    struct hx_linear_call c = {.how = how, .n_m = (size_t)whichLen, .x = x, .n = n};
    struct state *s;
    int rc;

    if (whichLen < 1 || whichLen > HX_LINEAR_FUSED) {
        FARF(ERROR, "hex_linear: %d matrices in a call; 1 to %d are legal", whichLen,
             HX_LINEAR_FUSED);
        return AEE_EBADPARM;
    }
    s = get(h);
    if (!s)
        return AEE_EINVHANDLE;
    vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, y, (size_t)yLen * sizeof(*y));
    rc = apply(s, &c, which, (size_t)xLen, y, (size_t)yLen, pcycles);
    vectors_are(HX_PURPOSE_OTHER, x, xLen, y, (size_t)yLen * sizeof(*y));
    return put(s, rc);
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
static int check_ups(const struct state *s, struct projection *p)
{
    for (size_t i = 0; i < p->n_ups; i++) {
        const unsigned up = p->ups[i], of = p->of[i];

        if (up >= s->n_m || of >= p->n_downs || s->m[up].cols != s->m[p->downs[of]].rows || (i && of < p->of[i - 1])) {
            FARF(ERROR, "hex_linear: matrix %u behind down %u of %zu: there is no such matrix, it does not fit, or it is out of order",
                 up, of, p->n_downs);
            return AEE_EBADPARM;
        }
        p->rows += s->m[up].rows;
    }
    return AEE_SUCCESS;
}

/* Room for all t, one after the other, each at a multiple of 128. */
static int place_between(struct state *s, struct projection *p, const struct hx_linear_call *c)
{
    size_t bytes = 0;
    int rc;

    for (size_t d = 0; d < c->n_m; d++)
        bytes += piece(c->n * c->m[d]->rows * sizeof(float));
    rc = grow(&s->between, bytes);
    bytes = 0;
    for (size_t d = 0; d < c->n_m && !rc; d++) {
        p->t[d] = (float *)(s->between.at + bytes);
        bytes += piece(c->n * c->m[d]->rows * sizeof(float));
    }
    return rc;
}

static void add_cycles(hex_linear_cycles *to, const hex_linear_cycles *c)
{
    to->handler += c->handler;
    to->worker += c->worker;
    to->fetch += c->fetch;
    to->total += c->total;
}

/* t of all downs, which lie apart here. */
static int run_downs(struct state *s, const struct projection *p, struct hx_linear_call *c, hex_linear_cycles *cycles)
{
    float *unused;
    int rc = alloc_scratch(s, c, 0, &unused);

    for (size_t d = 0; d < c->n_m; d++) {
        c->y[d] = p->t[d];
        c->y_stride[d] = c->m[d]->rows;
    }
    if (!rc)
        rc = run(c, cycles, NULL, NULL);
    if (!rc)
        spoil(c);
    return rc;
}

/* The ups of each down, in their order. */
static int run_ups(struct state *s, const struct projection *p, float *y, hex_linear_cycles *cycles)
{
    int rc = AEE_SUCCESS;

    for (size_t first = 0, end; first < p->n_ups && !rc; first = end) {
        struct hx_linear_call c = {.how = p->how, .x = p->t[p->of[first]], .n = p->n};
        hex_linear_cycles more = {0, 0, 0, 0};
        size_t rows;

        for (end = first; end < p->n_ups && p->of[end] == p->of[first]; end++)
            c.n_m++;
        rc = choose(s, &c, p->ups + first, &rows);
        if (!rc)
            rc = products(s, &c, y, &more);
        if (rc)
            return rc;
        y += c.n * rows;
        add_cycles(cycles, &more);
    }
    return rc;
}

static int project(struct state *s, struct projection *p, const float *x, size_t x_len, float *y, size_t y_len,
                   hex_linear_cycles *cycles)
{
    struct hx_linear_call c = {.how = p->how, .n_m = p->n_downs, .x = x, .n = p->n};
    size_t unused;
    int rc = choose(s, &c, p->downs, &unused);

    if (!rc)
        rc = check_call(&c, x_len);
    if (!rc)
        rc = check_ups(s, p);
    if (!rc)
        rc = check_y(&c, p->rows, y_len);
    if (!rc && (uintptr_t)y % ALIGN)
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
    struct state *s;
    int rc;

    if (downsLen < 1 || downsLen > HX_LINEAR_FUSED || upsLen < 1 || upsLen > HX_LINEAR_FUSED || ofLen != upsLen) {
        FARF(ERROR, "hex_linear: %d and %d matrices in a call, %d of them placed; 1 to %d are legal", downsLen, upsLen, ofLen,
             HX_LINEAR_FUSED);
        return AEE_EBADPARM;
    }
    s = get(h);
    if (!s)
        return AEE_EINVHANDLE;
    vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, y, (size_t)yLen * sizeof(*y));
    rc = project(s, &p, x, (size_t)xLen, y, (size_t)yLen, pcycles);
    vectors_are(HX_PURPOSE_OTHER, x, xLen, y, (size_t)yLen * sizeof(*y));
    return put(s, rc);
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

static int argmax(struct state *s, struct hx_linear_call *c, unsigned which, size_t x_len,
                  unsigned *ids, size_t ids_len, hex_linear_cycles *cycles)
{
    size_t rows;
    int rc = choose(s, c, &which, &rows);

    if (!rc)
        rc = check_call(c, x_len);
    if (!rc && ids_len != c->n)
        rc = AEE_EBADPARM;
    if (rc)
        return rc;
    c->y_stride[0] = hx_weights_groups(rows) * HX_WEIGHTS_ROWS;
    rc = alloc_scratch(s, c, c->n * c->y_stride[0] * sizeof(float), &c->y[0]);
    return rc ? rc : run(c, cycles, pick, ids);
}

int hex_linear_argmax(remote_handle64 h, const hex_linear_how *how, unsigned int which,
                      unsigned int n, const float *x, int xLen, unsigned int *ids, int idsLen,
                      hex_linear_cycles *pcycles)
{
    struct hx_linear_call c = {.how = how, .n_m = 1, .x = x, .n = n};
    struct state *s = get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, NULL, 0);
    rc = argmax(s, &c, which, (size_t)xLen, ids, (size_t)idsLen, pcycles);
    vectors_are(HX_PURPOSE_OTHER, x, xLen, NULL, 0);
    return put(s, rc);
}

static int tell(const struct state *s, hex_linear_residence *to, size_t n, uint64_t *slots)
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
    struct state *s = get(h);

    return s ? put(s, tell(s, matrices, (size_t)matricesLen, slots)) : AEE_EINVHANDLE;
}
