/* Runs one call of interface ok_linear, see ok_linear_run.h.
 *
 * The groups of all matrices, one after the other, are divided among the contexts.  A tile is as many columns of a group
 * as fit into a slot; the next one, of the same group or the next, is fetched into the other slot meanwhile.
 * Sums of up to CHUNK vectors stay in VTCM until their group is done; more vectors take another round of all weights. */
#include "ok_linear_run.h"

#include "skel/parallel.h"
#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "hexrig_dma.h"
#include "hexrig_purpose.h"

enum { SLOT = 128 << 10, CHUNK = 64 };

/* VTCM of a context. */
struct room {
    uint8_t slot[2][SLOT];
    struct hx_ok_acc acc[CHUNK * HX_OKW_PLANES];
};

/* What goes through a whole call. */
struct run {
    const struct hx_okl_call *call;
    uint64_t fetch[HX_OKL_THREADS];
};

/* Where a context stands. */
struct walk {
    const struct hx_okl_call *call;
    struct room *room;
    size_t first, end;  /* its groups, counted through all matrices */
    size_t group;       /* end: there is no tile */
    size_t m, in_m;     /* the same: matrix, and group of it */
    size_t col, cols;   /* the tile's columns */
    size_t vector, n;   /* the round's vectors */
    int slot;
};

size_t hx_okl_vtcm_bytes(void)
{
    return HX_OKL_THREADS * sizeof(struct room);
}

static const struct hx_okl_matrix *matrix(const struct walk *w)
{
    return w->call->m[w->m];
}

/* Bytes of a column of a group. */
static size_t column(const struct hx_okl_matrix *m)
{
    return m->planes * HX_OKW_VECTOR;
}

/* The tile that begins at w->col. */
static void cut_tile(struct walk *w)
{
    const struct hx_okl_matrix *m = matrix(w);
    const size_t most = SLOT / column(m), left = m->cols - w->col;

    w->cols = left < most ? left : most;
}

/* The first group, for the vectors from `vector` on. */
static void begin_round(struct walk *w, size_t vector)
{
    const size_t left = w->call->n - vector;

    w->vector = vector;
    w->n = left < CHUNK ? left : CHUNK;
    w->group = w->first;
    w->col = 0;
    w->m = 0;
    w->in_m = w->first;
    while (w->in_m >= hx_okw_groups(matrix(w)->rows))
        w->in_m -= hx_okw_groups(w->call->m[w->m++]->rows);
    cut_tile(w);
}

static struct walk next_tile(const struct walk *now)
{
    struct walk w = *now;

    w.slot = !now->slot;
    w.col += w.cols;
    if (w.col == matrix(&w)->cols) {
        w.col = 0;
        w.group++;
        if (w.group == w.end) {
            if (w.vector + w.n < w.call->n)
                begin_round(&w, w.vector + w.n);
            return w;
        }
        if (++w.in_m == hx_okw_groups(matrix(&w)->rows)) {
            w.in_m = 0;
            w.m++;
        }
    }
    cut_tile(&w);
    return w;
}

/* --- DMA */

static uint32_t address(const void *p)
{
    return (uint32_t)(uintptr_t)p;
}

static void start_fetch(const struct walk *w, struct hx_dma_type0 *d)
{
    const struct hx_okl_matrix *m = matrix(w);

    *d = (struct hx_dma_type0){.length = (uint32_t)(w->cols * column(m)),
                               .src = address(m->w + (w->in_m * m->cols + w->col) * column(m)),
                               .dst = address(w->room->slot[w->slot])};
    Q6_dmstart_A(d);
}

static int finish_fetch(uint64_t *pcycles)
{
    const uint64_t started = HAP_perf_get_pcycles();
    const int status = Q6_R_dmwait();

    *pcycles += HAP_perf_get_pcycles() - started;
    if ((status & HX_DMA_STATUS_MASK) == HX_DMA_IDLE)
        return AEE_SUCCESS;
    FARF(ERROR, "ok_linear: DMA of weights failed, status 0x%08x", (unsigned)status);
    return AEE_EFAILED;
}

/* --- one tile */

static void clear(struct hx_ok_acc *acc, size_t n)
{
    __builtin_memset(acc, 0, n * sizeof(*acc));
}

/* The group is done. */
static void store(const struct walk *w)
{
    const struct hx_okl_matrix *m = matrix(w);
    const size_t row = w->in_m * HX_OKW_ROWS, left = m->rows - row;

    for (size_t i = 0; i < w->n * m->planes; i++)
        hx_ok_store_hvx(w->call->y[w->m] + (w->vector * m->planes + i) * m->rows + row,
                        &w->room->acc[i], left < HX_OKW_ROWS ? left : HX_OKW_ROWS);
}

static void compute(const struct walk *w)
{
    const struct hx_okl_matrix *m = matrix(w);

    if (w->col == 0)
        clear(w->room->acc, w->n * m->planes);
    hx_ok_sums_hvx(&(struct hx_ok_tile){
        .w = w->room->slot[w->slot],
        .cols = w->cols,
        .planes = m->planes,
        .x = w->call->x + w->vector * m->cols + w->col,
        .x_stride = m->cols,
        .n = w->n,
        .acc = w->room->acc,
    });
    if (w->col + w->cols == m->cols)
        store(w);
}

/* --- a context's share */

static int stream(struct walk *first, uint64_t *fetch)
{
    struct hx_dma_type0 d __attribute__((aligned(16)));
    struct walk now, next = *first;
    int rc;

    start_fetch(&next, &d);
    rc = finish_fetch(fetch);
    while (!rc && next.group < next.end) {
        now = next;
        next = next_tile(&now);
        const int more = next.group < next.end;

        if (more)
            start_fetch(&next, &d);
        compute(&now);
        if (more)
            rc = finish_fetch(fetch);
    }
    return rc;
}

static int share(void *arg, struct hx_part part)
{
    struct run *r = arg;
    size_t groups = 0;

    for (size_t m = 0; m < r->call->n_m; m++)
        groups += hx_okw_groups(r->call->m[m]->rows);
    const struct hx_share s = hx_share_of(groups, part);
    struct walk w = {.call = r->call, .room = (struct room *)r->call->vtcm + part.index,
                     .first = s.first, .end = s.first + s.n};

    if (s.n == 0)
        return AEE_SUCCESS;
    begin_round(&w, 0);
    return stream(&w, &r->fetch[part.index]);
}

/* Weights stream through VTCM, each time. */
HX_FOR_FIGURES static void tell_needed(const struct hx_okl_call *c)
{
    size_t bytes = 0;

    for (size_t m = 0; m < c->n_m; m++)
        bytes += hx_okw_bytes(c->m[m]->rows, c->m[m]->cols, c->m[m]->planes);
    hx_purpose_needed(0, bytes);
}

int hx_okl_run(const struct hx_okl_call *call, ok_linear_cycles *cycles)
{
    const uint64_t started = HAP_perf_get_pcycles();
    struct hx_parallel_time time = {0, 0};
    struct run r = {.call = call};
    const int rc = hx_parallel((unsigned)call->threads, share, &r, &time,
                               &hx_handover_pair);

    tell_needed(call);
    *cycles = (ok_linear_cycles){.handler = time.handler,
                                 .worker = time.worker,
                                 .fetch = r.fetch[0] + r.fetch[1],
                                 .total = HAP_perf_get_pcycles() - started};
    return rc;
}
