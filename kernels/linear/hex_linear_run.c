/* Runs one call of interface hex_linear, see hex_linear_run.h.
 *
 * A tile is some groups of one matrix.  In DDR a matrix is one tile.  In VTCM it is, too, and all are fetched before the
 * first is worked on.  Streamed, a tile is what fits into a slot of 1 MiB, and the next one, of the same matrix or the
 * next, is fetched into the other slot meanwhile, as the published kernels do.  What stays in VTCM of a matrix is a tile, and is worked
 * on while the first one of the rest is fetched. */
#include "hex_linear_run.h"

#include <string.h>

#include "hex_linear_stay.h"
#include "skel/parallel.h"
#include "subspace_gate.h"
#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "HAP_vtcm_mgr.h"
#include "hexrig_dma.h"
#include "hexrig_purpose.h"

struct tile {
    size_t m;             /* matrix; n_m: there is no tile */
    size_t first, groups; /* of it */
    const uint8_t *at;    /* where its weights are */
};

/* What goes through a whole call. */
struct run {
    const struct hx_linear_call *call;
    struct hx_parallel_time time;
    uint64_t fetch;
    uint8_t *vtcm;
    size_t slot; /* bytes of each of the two in VTCM */
};

/* --- activations */

static int quantize_share(void *arg, struct hx_part part)
{
    const struct hx_linear_call *c = arg;
    const struct hx_share s = hx_share_of(c->n, part);
    const size_t cols = c->m[0]->cols, blocks = hx_linear_quantized(hx_weights_blocks(cols), c->wide);

    for (size_t t = s.first; t < s.first + s.n; t++)
        c->bad[t] = (uint8_t)(c->wide ? hx_linear_quantize_wide_dsp : hx_linear_quantize_dsp)(c->m[0]->type, c->x + t * cols, cols,
                                                                                              c->blocks + t * blocks);
    return AEE_SUCCESS;
}

/* Copies of vectors, filled up with 0. */
static int spread_share(void *arg, struct hx_part part)
{
    const struct hx_linear_call *c = arg;
    const struct hx_linear_gate *g = c->gate;
    const struct hx_share s = hx_share_of(g->is_spread ? 0 : c->n, part);
    const size_t cols = c->m[0]->cols, wide = (size_t)g->pairs * HX_WEIGHTS_HALVES;

    for (size_t t = s.first; t < s.first + s.n; t++) {
        memcpy(g->x + t * wide, c->x + t * cols, cols * sizeof(*g->x));
        memset(g->x + t * wide + cols, 0, (wide - cols) * sizeof(*g->x));
        g->norm2[t] = hx_gate_spread_hvx(g->x + t * wide, g->pairs, &g->top[t]);
    }
    return AEE_SUCCESS;
}

/* A hand-over to the second context costs more than one vector's share of the work. */
static int prepare(struct run *r)
{
    const struct hx_linear_call *c = r->call;

    return hx_parallel(c->n > 1 ? (unsigned)c->how->threads : 1, c->gate ? spread_share : quantize_share, (void *)c,
                       &r->time, &hx_handover_pair);
}

/* --- one tile */

static size_t group_bytes(const struct hx_linear_matrix *m)
{
    return hx_weights_group_bytes(m->type, m->cols);
}

struct work {
    const struct hx_linear_call *call;
    const struct tile *tile;
};

static int tile_share(void *arg, struct hx_part part)
{
    const struct work *w = arg;
    const struct tile *t = w->tile;
    const struct hx_linear_call *c = w->call;
    const struct hx_linear_matrix *m = c->m[t->m];
    const struct hx_share s = hx_share_of(t->groups, part);
    const size_t row = (t->first + s.first) * HX_WEIGHTS_ROWS;
    const size_t most = s.n * HX_WEIGHTS_ROWS, left = m->rows - row;

    if (s.n > 0)
        hx_linear_rows_hvx(&(struct hx_linear_job){
            .type = m->type,
            .blocks = hx_weights_blocks(m->cols),
            .w = t->at + s.first * group_bytes(m),
            .rows = left < most ? left : most,
            .x = c->blocks,
            .n = c->n,
            .wide = c->wide,
            .y = c->y[t->m] + row,
            .y_stride = c->y_stride[t->m],
        });
    return AEE_SUCCESS;
}

enum { EIGHT = 8 };

/* Those of eight directions from number `first` on that have odd or even numbers, as far as they are there. */
static void some_directions(const struct work *w, size_t first, const uint16_t *v, size_t odd)
{
    const struct hx_linear_gate *g = w->call->gate;
    const size_t halves = (size_t)g->pairs * HX_WEIGHTS_HALVES, there = g->k - first;

    for (size_t i = 0; i < w->call->n; i++) {
        const float *x = g->x + i * halves;
        float *within = g->within[odd] + i * halves, *z = g->z + i * g->z_stride + first;

        if (there >= EIGHT)
            hx_gate_four_hvx(v + odd * halves, 2, x, g->pairs, within, z + odd, 2);
        for (size_t d = odd; there < EIGHT && d < there; d += 2)
            z[d] = hx_gate_direction_hvx(v + d * halves, x, g->pairs, within);
    }
}

/* Directions with even and with odd numbers have sums of their own, so that two contexts may add to them, and one does it in the same
 * order. */
static int gate_share(void *arg, struct hx_part part)
{
    const struct work *w = arg;
    const struct tile *t = w->tile;
    const struct hx_linear_gate *g = w->call->gate;
    const size_t first = t->first * HX_WEIGHTS_ROWS, end = first + t->groups * HX_WEIGHTS_ROWS;

    for (size_t at = first; at < end && at < g->k; at += EIGHT)
        for (size_t odd = 0; odd < 2; odd++)
            if (odd % part.count == part.index)
                some_directions(w, at, (const uint16_t *)t->at + (at - first) * (size_t)g->pairs * HX_WEIGHTS_HALVES, odd);
    return AEE_SUCCESS;
}

static int compute(struct run *r, const struct tile *t)
{
    struct work w = {r->call, t};

    return hx_parallel((unsigned)r->call->how->threads, r->call->gate ? gate_share : tile_share, &w, &r->time,
                       &hx_handover_pair);
}

/* --- DMA */

static uint32_t address(const void *p)
{
    return (uint32_t)(uintptr_t)p;
}

static void start_fetch(const struct hx_linear_call *c, const struct tile *t,
                        struct hx_dma_type0 *d)
{
    const size_t group = group_bytes(c->m[t->m]);

    *d = (struct hx_dma_type0){.length = (uint32_t)(t->groups * group),
                               .src = address(c->m[t->m]->w + t->first * group),
                               .dst = address(t->at)};
    Q6_dmstart_A(d);
}

static int finish_fetch(struct run *r)
{
    const uint64_t started = HAP_perf_get_pcycles();
    const int status = Q6_R_dmwait();

    r->fetch += HAP_perf_get_pcycles() - started;
    if ((status & HX_DMA_STATUS_MASK) == HX_DMA_IDLE)
        return AEE_SUCCESS;
    FARF(ERROR, "hex_linear: DMA of weights failed, status 0x%08x", (unsigned)status);
    return AEE_EFAILED;
}

static int request_vtcm(struct run *r, size_t bytes)
{
    struct hx_linear_vtcm *v = r->call->vtcm;
    unsigned block = 0, page = 0, pages = 0;

    if (v->bytes < bytes) {
        hx_linear_vtcm_release(v);
        v->at = bytes <= UINT32_MAX ? HAP_request_VTCM((unsigned)bytes, 0) : NULL;
        v->bytes = v->at ? bytes : 0;
        hx_purpose_set(v->at, v->bytes, HX_PURPOSE_WEIGHTS);
    }
    r->vtcm = v->at;
    if (r->vtcm)
        return AEE_SUCCESS;
    HAP_query_avail_VTCM(&block, &page, &pages);
    FARF(ERROR, "hex_linear: vtcm: need %zu bytes for weights, %u free", bytes, block);
    return AEE_ENOMEMORY;
}

/* --- the places */

static struct tile whole(const struct hx_linear_call *c, size_t m, const uint8_t *at)
{
    return (struct tile){m, 0, hx_weights_groups(c->m[m]->rows), at};
}

static int run_ddr(struct run *r)
{
    const struct hx_linear_call *c = r->call;
    int rc = prepare(r);

    for (size_t m = 0; m < c->n_m && !rc; m++) {
        const struct tile t = whole(c, m, c->m[m]->w);

        rc = compute(r, &t);
    }
    return rc;
}

/* A descriptor's length has 24 bits. */
static int fetch_whole(struct run *r, const struct tile *t)
{
    const size_t group = group_bytes(r->call->m[t->m]);
    const size_t most = ((1u << 24) - 1) / group;
    struct hx_dma_type0 d __attribute__((aligned(16)));
    int rc = AEE_SUCCESS;

    for (size_t done = 0; done < t->groups && !rc; done += most) {
        const size_t left = t->groups - done;
        const struct tile piece = {t->m, done, left < most ? left : most, t->at + done * group};

        start_fetch(r->call, &piece, &d);
        rc = finish_fetch(r);
    }
    return rc;
}

static int run_vtcm(struct run *r)
{
    const struct hx_linear_call *c = r->call;
    struct tile tiles[HX_LINEAR_FUSED];
    size_t bytes = 0;
    int rc;

    for (size_t m = 0; m < c->n_m; m++)
        bytes += hx_weights_bytes(c->m[m]->type, c->m[m]->rows, c->m[m]->cols);
    rc = request_vtcm(r, bytes);
    if (!rc)
        rc = prepare(r);
    bytes = 0;
    for (size_t m = 0; m < c->n_m && !rc; m++) {
        tiles[m] = whole(c, m, r->vtcm + bytes);
        bytes += tiles[m].groups * group_bytes(c->m[m]);
        rc = fetch_whole(r, &tiles[m]);
    }
    for (size_t m = 0; m < c->n_m && !rc; m++)
        rc = compute(r, &tiles[m]);
    return rc;
}

/* The tile after t, in the other slot. */
static struct tile next_tile(const struct run *r, const struct tile *t)
{
    const struct hx_linear_call *c = r->call;
    const uint8_t *other = t->at == r->vtcm ? r->vtcm + r->slot : r->vtcm;
    const size_t done = t->first + t->groups, all = hx_weights_groups(c->m[t->m]->rows);
    struct tile next = {t->m, done, all - done, other};

    if (done == all) {
        next.m++;
        if (next.m == c->n_m)
            return next;
        next.first = 0;
        next.groups = hx_weights_groups(c->m[next.m]->rows);
    }
    const size_t most = hx_linear_tile_groups(c->m[next.m], HX_WEIGHTS_SLOT);

    next.groups = next.groups < most ? next.groups : most;
    return next;
}

static int stream(struct run *r)
{
    const struct hx_linear_call *c = r->call;
    const struct tile none = {0, 0, 0, r->vtcm + r->slot};
    struct hx_dma_type0 d __attribute__((aligned(16)));
    struct tile now, next = next_tile(r, &none);

    start_fetch(c, &next, &d); /* goes on while activations are quantised */
    int rc = prepare(r);
    int arrived = finish_fetch(r); /* also before an error's return: d is on this stack */

    rc = rc ? rc : arrived;
    while (!rc && next.m < c->n_m) {
        now = next;
        next = next_tile(r, &now);
        const int more = next.m < c->n_m;

        if (more)
            start_fetch(c, &next, &d);
        rc = compute(r, &now);
        arrived = more ? finish_fetch(r) : AEE_SUCCESS;
        rc = rc ? rc : arrived;
    }
    return rc;
}

/* Slots are no larger than the largest tile: VTCM is small, and other sessions want some. */
static int run_dma(struct run *r)
{
    const struct hx_linear_call *c = r->call;

    for (size_t m = 0; m < c->n_m; m++) {
        const size_t bytes = hx_linear_tile_groups(c->m[m], HX_WEIGHTS_SLOT) * group_bytes(c->m[m]);

        r->slot = bytes > r->slot ? bytes : r->slot;
    }
    int rc = request_vtcm(r, 2 * r->slot);

    return rc ? rc : stream(r);
}

/* --- what stays, and the rest streamed */

static struct hx_linear_stay *stay_of(const struct run *r, size_t m)
{
    return &(*r->call->stays)->of[r->call->m[m] - r->call->all];
}

/* The first tile that streams from a group of a matrix on. */
static struct tile streamed(const struct run *r, size_t m, size_t first, const uint8_t *slot)
{
    const struct hx_linear_call *c = r->call;
    struct tile t = {m, first, 0, slot};

    while (t.m < c->n_m && t.first == hx_weights_groups(c->m[t.m]->rows))
        t.first = ++t.m < c->n_m ? stay_of(r, t.m)->groups : 0;
    if (t.m < c->n_m) {
        const size_t most = hx_linear_tile_groups(c->m[t.m], r->slot), left = hx_weights_groups(c->m[t.m]->rows) - t.first;

        t.groups = left < most ? left : most;
    }
    return t;
}

static struct tile staying(const struct run *r, size_t m)
{
    const struct hx_linear_stay *s = stay_of(r, m);

    return (struct tile){m, 0, s->groups, s->at};
}

/* What is to stay and is used for the first time. */
static int bring(struct run *r)
{
    int rc = AEE_SUCCESS;

    for (size_t m = 0; m < r->call->n_m && !rc; m++) {
        const struct tile t = staying(r, m);

        if (!stay_of(r, m)->there && t.groups)
            rc = fetch_whole(r, &t);
        stay_of(r, m)->there = !rc;
    }
    return rc;
}

static int run_staying(struct run *r)
{
    const struct hx_linear_call *c = r->call;
    struct tile now, next = streamed(r, 0, stay_of(r, 0)->groups, r->vtcm);
    struct hx_dma_type0 d __attribute__((aligned(16)));
    int rc = bring(r), arrived = rc, more = next.m < c->n_m && !rc;

    if (more)
        start_fetch(c, &next, &d);
    rc = rc ? rc : prepare(r);
    for (size_t m = 0; m < c->n_m && !rc; m++) {
        now = staying(r, m);
        rc = now.groups ? compute(r, &now) : AEE_SUCCESS;
    }
    while (more) {
        arrived = finish_fetch(r); /* also after an error: d is on this stack */
        rc = rc ? rc : arrived;
        now = next;
        next = streamed(r, now.m, now.first + now.groups, now.at == r->vtcm ? r->vtcm + r->slot : r->vtcm);
        more = next.m < c->n_m && !rc;
        if (more)
            start_fetch(c, &next, &d);
        rc = rc ? rc : compute(r, &now);
    }
    return rc;
}

static int run_resident(struct run *r)
{
    const struct hx_linear_call *c = r->call;
    const int may_do_without = c->how->placement == HEX_LINEAR_AUTO;
    int rc = *c->stays && (may_do_without || !(*c->stays)->nothing)
                 ? AEE_SUCCESS
                 : hx_linear_stays_plan(c->stays, c->all, c->n_all, c->vtcm, may_do_without);

    if (rc || (*c->stays)->nothing)
        return rc ? rc : run_ddr(r);
    r->vtcm = c->vtcm->at;
    r->slot = (*c->stays)->slot;
    return run_staying(r);
}

static int (*const placed[])(struct run *r) = {
    [HEX_LINEAR_DDR] = run_ddr,
    [HEX_LINEAR_VTCM] = run_vtcm,
    [HEX_LINEAR_DMA] = run_dma,
    [HEX_LINEAR_RESIDENT] = run_resident,
    [HEX_LINEAR_AUTO] = run_resident,
};

/* 1: what stays is in VTCM already. */
HX_FOR_FIGURES static int is_there(const struct hx_linear_call *c, const struct hx_linear_matrix *m)
{
    return *c->stays && (*c->stays)->of[m - c->all].there;
}

/* Before the call, which fetches what is to stay. */
HX_FOR_FIGURES static void tell_needed(const struct hx_linear_call *c)
{
    size_t all = 0, hit = 0;

    for (size_t i = 0; i < c->n_m; i++) {
        const struct hx_linear_matrix *m = c->m[i];

        all += hx_weights_bytes(m->type, m->rows, m->cols);
        if (is_there(c, m))
            hit += (*c->stays)->of[m - c->all].groups * group_bytes(m);
    }
    hx_purpose_needed(hit, all - hit);
}

int hx_linear_call_run(const struct hx_linear_call *call, hex_linear_cycles *cycles)
{
    const uint64_t started = HAP_perf_get_pcycles();
    struct run r = {.call = call};
    int rc;

    if (*call->stays && call->how->placement < HEX_LINEAR_RESIDENT)
        hx_linear_stays_drop(call->stays); /* the others use the same VTCM */
    tell_needed(call);
    rc = placed[call->how->placement](&r);
    *cycles = (hex_linear_cycles){.handler = r.time.handler,
                                  .worker = r.time.worker,
                                  .fetch = r.fetch,
                                  .total = HAP_perf_get_pcycles() - started};
    return rc;
}
