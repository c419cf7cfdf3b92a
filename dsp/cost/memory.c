/* Charges memory accesses by simulated caches. */
#include "cost.h"

#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/page_map.h"
#include "code.h"
#include "turns.h"
#include "vtime.h"

enum {
    VECTOR_BYTES = 128,
    VECTOR_PIECE = 16,  /* gcc may split a vector access into pieces of this size or more */
    L2_LINE_SHIFT = 7,
    L1_LINE_SHIFT = 5,
    RECENT = 4,  /* vectors whose pieces may come mixed */
};

static __thread struct {
    uint64_t began;        /* pcycle at which the call on this thread began */
    unsigned in_trip;       /* vector loads seen of the current trip */
    double slowest;         /* stall of the slowest of them */
    unsigned ddr_lines;     /* how many of them come from DDR */
    struct {
        uint64_t line;
        unsigned pieces; /* bit per VECTOR_PIECE of it that was seen */
    } recent[RECENT];    /* the last vectors that came in pieces */
    unsigned n_recent;
    struct hx_cache l1, l2;
    struct hx_page_map frames;
} thread;

static int caches_ready(void)
{
    if (!thread.l1.tag && hx_cache_init(&thread.l1, hx_cost_parameters()->l1_kib << 10, L1_LINE_SHIFT))
        return 0;
    return thread.l2.tag || hx_cache_init(&thread.l2, hx_cost_parameters()->l2_kib << 10, L2_LINE_SHIFT) == 0;
}

/* Latency of a load from DDR. */
static double ddr_pcycles(void)
{
    return hx_cost_parameters()->ddr_pcycles * hx_vt_clock_ratio();
}

/* Latency behind L1; a line that is not in L2 comes there from DDR. */
static double l2_latency(uint64_t at)
{
    if (hx_cache_touch(&thread.l2, at))
        return hx_cost_parameters()->l2_pcycles;
    hx_cost_ddr(1u << L2_LINE_SHIFT);
    return ddr_pcycles();
}

/* Latency of a vector access, from the start of the load. */
static double vector_latency(const void *p)
{
    if (hx_in_vtcm(p))
        return hx_cost_parameters()->vtcm_pcycles;
    const uint64_t at = hx_page_map_at(&thread.frames, (uintptr_t)p);

    hx_cache_drop(&thread.l1, at); /* HVX goes past L1 */
    return l2_latency(at);
}

/* A trip's loads are under way together: the thread waits for the slowest, or for DDR to bring all that it has to. */
static void end_trip(const struct hx_listing_time *t)
{
    double fetch = thread.ddr_lines * VECTOR_BYTES / hx_cost_parameters()->dma_bytes_per_pcycle * hx_vt_clock_ratio() - t->trip;

    hx_vt_spend(HX_VT_STALL, fetch > thread.slowest ? fetch : thread.slowest);
    thread.in_trip = 0;
    thread.slowest = 0;
    thread.ddr_lines = 0;
}

static void vector_load(const void *p)
{
    const struct hx_listing_time *t = hx_code_vector_load();
    double latency = vector_latency(p), stall;

    if (!t) {
        stall = latency - hx_cost_parameters()->vtcm_pcycles;
        hx_vt_spend(HX_VT_STALL, stall > 0 ? stall : 0);
        return;
    }
    stall = latency - t->load_to_use;
    if (stall > thread.slowest)
        thread.slowest = stall;
    thread.ddr_lines += latency > hx_cost_parameters()->l2_pcycles;
    if (++thread.in_trip == t->vector_loads)
        end_trip(t);
}

static void scalar_access(const void *p, int is_store)
{
    const uint64_t at = hx_page_map_at(&thread.frames, (uintptr_t)p);
    double latency;

    if (hx_cache_touch(&thread.l1, at))
        return;
    if (hx_in_vtcm(p))
        latency = hx_cost_parameters()->vtcm_pcycles;
    else
        latency = l2_latency(at);
    if (!is_store && latency > hx_cost_parameters()->load_pcycles)
        hx_vt_spend(HX_VT_STALL, latency - hx_cost_parameters()->load_pcycles);
}

/* 1 when this is a piece of a vector seen already: the host's compiler may interleave the pieces of several. */
static int is_rest_of_vector(uint64_t at, size_t bytes)
{
    const uint64_t line = at / VECTOR_BYTES;
    const unsigned piece = 1u << at % VECTOR_BYTES / VECTOR_PIECE;

    if (bytes >= VECTOR_BYTES)
        return 0;
    for (int i = 0; i < RECENT; i++)
        if (thread.recent[i].line == line && !(thread.recent[i].pieces & piece)) {
            thread.recent[i].pieces |= piece;
            return 1;
        }
    thread.recent[thread.n_recent].line = line;
    thread.recent[thread.n_recent].pieces = piece;
    thread.n_recent = (thread.n_recent + 1) % RECENT;
    return 0;
}

void hx_memory_loop(void)
{
    thread.in_trip = 0;
    thread.slowest = 0;
    thread.ddr_lines = 0;
}

void hx_cost_end(void)
{
    free(thread.l1.tag);
    free(thread.l2.tag);
    hx_page_map_free(&thread.frames);
    thread.l1.tag = thread.l2.tag = NULL;
}

void hx_cost_prepare(void)
{
    (void)caches_ready(); /* without memory, the first access fails just as this does */
}

void hx_cost_access(const void *p, size_t bytes, int is_store)
{
    hx_vt_share();
    if (!caches_ready())
        return;
    if (bytes < VECTOR_PIECE)
        scalar_access(p, is_store);
    else if (is_rest_of_vector((uintptr_t)p, bytes))
        return;
    else if (is_store)
        (void)vector_latency(p);
    else
        vector_load(p);
}

/* --- the thread ------------------------------------------------------------------------------------------------ */

static void empty_caches(void)
{
    memset(thread.recent, 0, sizeof(thread.recent));
    hx_page_map_clear(&thread.frames);
    if (thread.l1.tag)
        hx_cache_clear(&thread.l1);
    if (thread.l2.tag)
        hx_cache_clear(&thread.l2);
}

void hx_cost_ddr(uint64_t bytes)
{
    hx_turns_count_bytes(bytes);
}

void hx_cost_call_end(void)
{
    const uint64_t moved = hx_turns_count_bytes(0);
    const double rate = hx_cost_parameters()->dma_bytes_per_pcycle;

    if (rate > 0)
        hx_vt_reach(HX_VT_STALL, thread.began + (uint64_t)((double)moved / rate * hx_vt_clock_ratio()));
}

void hx_cost_begin(void)
{
    hx_code_begin();
    thread.began = hx_vt_now();
    empty_caches();
}
