/* Matrices that are products of three, method `sandwich` of interface hex_linear: downs of one input, then core and up of each. */
#include <math.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "hex_linear_state.h"
#include "hex_linear_stay.h"
#include "hexrig_slow_path.h"
#include "hexrig_uncosted.h"
#include "qurt_hvx.h"
#include "skel/parallel.h"

HX_UNCOSTED("the loops over weights and the quantiser are listed; dividing work and fetching tiles is not");

/* WORTH: bytes of a matrix times vectors.  With fewer, unless they come from DDR, handing half of them to the second
 * context takes longer than working on them. */
enum { MOST = HX_LINEAR_FUSED / 2, DOWN = 0, CORE, UP, THREE, WORTH = 20 << 10 };

/* What sandwich() got. */
struct sandwich {
    const hex_linear_how *how;
    const unsigned *which; /* [n_m][THREE] */
    size_t n_m, n;
    float *t[MOST], *s[MOST]; /* [n][k]: of each down, of each core */
    size_t rows;              /* of all ups */
};

static unsigned matrix_of(const struct sandwich *p, size_t m, size_t which)
{
    return p->which[m * THREE + which];
}

/* One matrix times what another one made. */
static int check_next(const struct hx_linear_state *s, unsigned before, unsigned next)
{
    if (next < s->n_m && s->m[next].type != HX_WEIGHTS_BASIS && s->m[next].cols == s->m[before].rows)
        return AEE_SUCCESS;
    FARF(ERROR, "hex_linear: matrix %u behind matrix %u: there is no such matrix, or it does not fit", next, before);
    return AEE_EBADPARM;
}

/* The downs are there. */
static int check_behind(const struct hx_linear_state *s, struct sandwich *p)
{
    int rc = AEE_SUCCESS;

    for (size_t m = 0; m < p->n_m && !rc; m++) {
        rc = check_next(s, matrix_of(p, m, DOWN), matrix_of(p, m, CORE));
        if (!rc)
            rc = check_next(s, matrix_of(p, m, CORE), matrix_of(p, m, UP));
        p->rows += rc ? 0 : s->m[matrix_of(p, m, UP)].rows;
    }
    return rc;
}

/* Room for all t and s, one after the other, each at a multiple of 128. */
static int place_between(struct hx_linear_state *s, struct sandwich *p)
{
    size_t bytes = 0;
    int rc;

    for (size_t m = 0; m < p->n_m; m++)
        for (size_t i = DOWN; i < UP; i++)
            bytes += hx_linear_piece(p->n * s->m[matrix_of(p, m, i)].rows * sizeof(float));
    rc = hx_linear_grow(&s->between, bytes);
    bytes = 0;
    for (size_t m = 0; m < p->n_m && !rc; m++) {
        p->t[m] = (float *)(s->between.at + bytes);
        bytes += hx_linear_piece(p->n * s->m[matrix_of(p, m, DOWN)].rows * sizeof(float));
        p->s[m] = (float *)(s->between.at + bytes);
        bytes += hx_linear_piece(p->n * s->m[matrix_of(p, m, CORE)].rows * sizeof(float));
    }
    return rc;
}

/* How to run products with one matrix, or with several of which the largest is m; results do not depend on it. */
static hex_linear_how how_for(const struct sandwich *p, const struct hx_linear_matrix *m)
{
    hex_linear_how how = *p->how;

    if (how.placement != HEX_LINEAR_DDR && p->n * hx_weights_bytes(m->type, m->rows, m->cols) < WORTH)
        how.threads = 1;
    return how;
}

static const struct hx_linear_matrix *largest(const struct hx_linear_call *c)
{
    const struct hx_linear_matrix *m = c->m[0];

    for (size_t i = 1; i < c->n_m; i++)
        m = c->m[i]->rows > m->rows ? c->m[i] : m;
    return m;
}

/* All at once, as their input is quantised once. */
static int run_downs(struct hx_linear_state *s, const struct sandwich *p, struct hx_linear_call *c, hex_linear_cycles *cycles)
{
    const hex_linear_how how = how_for(p, largest(c));
    float *unused;
    int rc = hx_linear_scratch(s, c, 0, &unused);

    c->how = &how;
    for (size_t m = 0; m < c->n_m; m++) {
        c->y[m] = p->t[m];
        c->y_stride[m] = c->m[m]->rows;
    }
    if (!rc)
        rc = hx_linear_run_held(c, cycles, NULL, NULL);
    if (!rc)
        hx_linear_spoil(c);
    c->how = p->how;
    return rc;
}

/* One matrix times x. */
static int run_next(struct hx_linear_state *s, const struct sandwich *p, unsigned which, const float *x, float *y,
                    hex_linear_cycles *cycles)
{
    const hex_linear_how how = how_for(p, &s->m[which]);
    struct hx_linear_call c = {.how = &how, .n_m = 1, .x = x, .n = p->n};
    hex_linear_cycles more = {0, 0, 0, 0};
    size_t unused;
    int rc = hx_linear_choose(s, &c, &which, &unused);

    if (!rc)
        rc = hx_linear_products(s, &c, y, &more);
    hx_linear_add_cycles(cycles, &more);
    return rc;
}

static int run_in_turn(struct hx_linear_state *s, const struct sandwich *p, float *y, hex_linear_cycles *cycles)
{
    int rc = AEE_SUCCESS;

    for (size_t m = 0; m < p->n_m && !rc; m++) {
        rc = run_next(s, p, matrix_of(p, m, CORE), p->t[m], p->s[m], cycles);
        if (!rc)
            rc = run_next(s, p, matrix_of(p, m, UP), p->s[m], y, cycles);
        y += p->n * s->m[matrix_of(p, m, UP)].rows;
    }
    return rc;
}

/* --- core and up of some on each context: one hand-over for all of them, where everything is in VTCM */

enum { CONTEXTS = 2, UNEVEN = 64 << 10 }; /* UNEVEN: bytes that one context may have more, for a hand-over that is not made */

struct sides {
    const struct hx_linear_state *s;
    const struct sandwich *p;
    float *y[MOST];
    unsigned of[MOST];                         /* which context does it */
    size_t bytes[CONTEXTS];
    struct hx_linear_block *blocks[CONTEXTS];  /* [most blocks] of one vector */
};

/* Where all of a matrix is in VTCM; NULL: it is not. */
static const uint8_t *there(const struct hx_linear_state *s, unsigned m)
{
    const struct hx_linear_stay *stay = s->stays ? &s->stays->of[m] : NULL;

    return stay && stay->there && stay->groups == hx_weights_groups(s->m[m].rows) ? stay->at : NULL;
}

static size_t bytes_of(const struct hx_linear_state *s, unsigned m)
{
    return hx_weights_bytes(s->m[m].type, s->m[m].rows, s->m[m].cols);
}

/* Each goes to the context that has less so far.  0: not all is there, or one context would have far more than the other. */
static int divide(struct sides *d)
{
    const struct sandwich *p = d->p;
    size_t less, more;

    if (p->how->placement < HEX_LINEAR_RESIDENT || p->how->threads < CONTEXTS || p->n_m < CONTEXTS)
        return 0;
    for (size_t m = 0; m < p->n_m; m++) {
        const unsigned core = matrix_of(p, m, CORE), up = matrix_of(p, m, UP), to = d->bytes[1] < d->bytes[0];

        if (!there(d->s, core) || !there(d->s, up))
            return 0;
        d->of[m] = to;
        d->bytes[to] += bytes_of(d->s, core) + bytes_of(d->s, up);
    }
    less = d->bytes[0] < d->bytes[1] ? d->bytes[0] : d->bytes[1];
    more = d->bytes[0] + d->bytes[1] - less;
    return (more - less) * p->n <= UNEVEN;
}

/* One vector times one matrix. */
static void product(const struct sides *d, unsigned which, const float *x, float *y, struct hx_linear_block *blocks)
{
    const struct hx_linear_matrix *m = &d->s->m[which];
    const int bad = hx_linear_quantize_dsp(m->type, x, m->cols, blocks);

    hx_linear_rows_hvx(&(struct hx_linear_job){
        .type = m->type,
        .blocks = hx_weights_blocks(m->cols),
        .w = there(d->s, which),
        .rows = m->rows,
        .x = blocks,
        .n = 1,
        .y = y,
        .y_stride = m->rows,
    });
    for (size_t r = 0; bad && r < m->rows; r++)
        y[r] = NAN;
}

static int some_matrices(void *arg, struct hx_part part)
{
    const struct sides *d = arg;
    const struct sandwich *p = d->p;

    for (size_t m = 0; m < p->n_m; m++) {
        const unsigned core = matrix_of(p, m, CORE), up = matrix_of(p, m, UP);
        const size_t k = d->s->m[core].cols, inner = d->s->m[up].cols, rows = d->s->m[up].rows;

        for (size_t i = 0; i < p->n && d->of[m] == part.index; i++) {
            product(d, core, p->t[m] + i * k, p->s[m] + i * inner, d->blocks[part.index]);
            product(d, up, p->s[m] + i * inner, d->y[m] + i * rows, d->blocks[part.index]);
        }
    }
    return AEE_SUCCESS;
}

/* For each context. */
static int place_blocks(struct hx_linear_state *s, struct sides *d)
{
    size_t most = 0, bytes;
    int rc;

    for (size_t m = 0; m < d->p->n_m; m++)
        for (size_t i = CORE; i <= UP; i++) {
            const size_t blocks = hx_weights_blocks(s->m[matrix_of(d->p, m, i)].cols);

            most = blocks > most ? blocks : most;
        }
    bytes = hx_linear_piece(most * sizeof(struct hx_linear_block));
    rc = hx_linear_grow(&s->scratch, CONTEXTS * bytes);
    for (size_t c = 0; c < CONTEXTS; c++)
        d->blocks[c] = (struct hx_linear_block *)(s->scratch.at + c * bytes);
    return rc;
}

static int run_sides(struct hx_linear_state *s, struct sides *d, float *y, hex_linear_cycles *cycles)
{
    const uint64_t started = HAP_perf_get_pcycles();
    struct hx_parallel_time time = {0, 0};
    int rc = place_blocks(s, d);

    for (size_t m = 0; m < d->p->n_m; m++) {
        d->y[m] = y;
        y += d->p->n * s->m[matrix_of(d->p, m, UP)].rows;
    }
    if (!rc && qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        rc = AEE_EFAILED;
    if (rc)
        return rc;
    hx_purpose_needed(d->bytes[0] + d->bytes[1], 0);
    rc = hx_parallel(CONTEXTS, some_matrices, d, &time, &hx_handover_pair);
    qurt_hvx_unlock();
    hx_linear_add_cycles(cycles, &(hex_linear_cycles){time.handler, time.worker, 0, HAP_perf_get_pcycles() - started});
    return rc;
}

static int run_behind(struct hx_linear_state *s, const struct sandwich *p, float *y, hex_linear_cycles *cycles)
{
    struct sides d = {.s = s, .p = p};

    return divide(&d) ? run_sides(s, &d, y, cycles) : run_in_turn(s, p, y, cycles);
}

static int sandwich(struct hx_linear_state *s, struct sandwich *p, const float *x, size_t x_len, float *y, size_t y_len,
                    hex_linear_cycles *cycles)
{
    struct hx_linear_call c = {.how = p->how, .n_m = p->n_m, .x = x, .n = p->n};
    unsigned downs[MOST];
    size_t unused;
    int rc;

    for (size_t m = 0; m < p->n_m; m++)
        downs[m] = matrix_of(p, m, DOWN);
    rc = hx_linear_choose(s, &c, downs, &unused);
    if (!rc)
        rc = hx_linear_check_call(&c, x_len);
    if (!rc)
        rc = check_behind(s, p);
    if (!rc)
        rc = hx_linear_check_y(&c, p->rows, y_len);
    if (!rc && (uintptr_t)y % HX_LINEAR_ALIGN)
        HX_SLOW_PATH();
    if (!rc)
        rc = place_between(s, p);
    if (!rc)
        rc = run_downs(s, p, &c, cycles);
    return rc ? rc : run_behind(s, p, y, cycles);
}

int hex_linear_sandwich(remote_handle64 h, const hex_linear_how *how, const unsigned int *which, int whichLen, unsigned int n,
                        const float *x, int xLen, float *y, int yLen, hex_linear_cycles *pcycles)
{
    struct sandwich p = {.how = how, .which = which, .n_m = (size_t)whichLen / THREE, .n = n};
    struct hx_linear_state *s;
    int rc;

    if (whichLen < THREE || whichLen % THREE || whichLen > MOST * THREE) {
        FARF(ERROR, "hex_linear: %d matrices in a call, three of each; 1 to %d of them are legal", whichLen, MOST);
        return AEE_EBADPARM;
    }
    s = hx_linear_get(h);
    if (!s)
        return AEE_EINVHANDLE;
    hx_linear_vectors_are(HX_PURPOSE_ACTIVATIONS, x, xLen, y, (size_t)yLen * sizeof(*y));
    rc = sandwich(s, &p, x, (size_t)xLen, y, (size_t)yLen, pcycles);
    hx_linear_vectors_are(HX_PURPOSE_OTHER, x, xLen, y, (size_t)yLen * sizeof(*y));
    return hx_linear_put(s, rc);
}
