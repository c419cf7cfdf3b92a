/* Charges memory accesses: caches, and lines that come from DDR one after the other. */
#include "cost.h"

#include <string.h>

#include "base/export.h"
#include "base/low_memory.h"
#include "base/stacks.h"
#include "code.h"
#include "hexrig_scalar_mem.h"
#include "shared.h"
#include "traffic.h"
#include "turns.h"
#include "vtime.h"

enum {
    LINE = 128,      /* bytes of a vector and of a line of L2 */
    L1_LINE = 32,
    WIDE = 16,       /* gcc splits a vector access into pieces of this size or more */
    RECENT = 8,      /* lines whose pieces may come mixed */
    SCALARS = 4,     /* words that a compiler keeps in registers whatever the source says */
    AHEAD = 8,       /* lines that a thread may be ahead of its share of the way to L2: stores wait in a queue, others catch up */
    BURST = 4,       /* and ahead of what a single thread can have in the long run */
};

typedef unsigned __int128 bytes_of_line;

static __thread struct {
    struct {
        uint64_t line;
        bytes_of_line seen;
        int is_store;
    } recent[RECENT];
    unsigned n_recent;
    uint64_t l1_line;         /* of the last scalar access, + 1 */
    uint64_t vtcm[SCALARS];   /* of the last scalar accesses to VTCM */
    unsigned n_vtcm;
    uint64_t began;           /* step that the last access was in */
    uint64_t step;            /* the same of those that went further than L1 */
    double asks;              /* pcycle at which listed code asks for its next line */
    uint64_t call;            /* of a listed function, that `next_shared` is of */
    struct hx_path_user demand; /* its part of the way to L2 */
    double next_line, next_shared; /* when it could get its next line, had it asked for them evenly; as moment() counts */
} thread;

/* --- DDR ------------------------------------------------------------------------------------------------------- */

/* How much slower memory is at that moment, in pcycles of the thread's clock. */
static double slowness(const struct hx_shared_memory *m, double at)
{
    const double cold = hx_cost_parameters()->ddr_cold;

    return hx_vt_clock_ratio() * (at < m->cold && cold > 1 ? cold : 1);
}

/* Moves a line over DDR's bus from `at` on.  Returns for how many pcycles others are in the way. */
static double move_line(struct hx_shared_memory *m, double at, double slow)
{
    const struct hx_cost *c = hx_cost_parameters();
    const double bus = c->dma_bytes_per_pcycle > 0 ? LINE / c->dma_bytes_per_pcycle * slow : 0;

    return hx_path_take(&m->ddr, at, bus) - at - bus;
}

/* Lines that come `apart` in the long run, up to `burst` of them ahead of that: for how many pcycles it is too early for the next one. */
static double too_early(double *next, double at, double apart, unsigned burst)
{
    const double early = *next - at - burst * apart;

    *next = (*next > at ? *next : at) + apart;
    return early > 0 ? early : 0;
}

/* The same for the thread's share of the way to L2.  A listed function is charged for its outer loops before the inner ones run,
 * so there the share is kept from its begin on, not from line to line. */
static double wait_for_share(struct hx_shared_memory *m, double at, double slow)
{
    const unsigned most = hx_machine && hx_machine->hw_threads ? hx_machine->hw_threads : HX_TURNS_PLACES;
    const double apart = hx_path_pace(&m->demand, &thread.demand, at, hx_cost_parameters()->ddr_line_pcycles * slow, most);
    double early;

    if (!hx_code_step.listed)
        return too_early(&thread.next_shared, at, apart, AHEAD);
    if (thread.call != hx_code_step.call && thread.next_shared < hx_code_step.call_began - (double)m->began)
        thread.next_shared = hx_code_step.call_began - (double)m->began;
    thread.call = hx_code_step.call;
    early = thread.next_shared - at - AHEAD * apart;
    thread.next_shared += apart;
    return early > 0 ? early : 0;
}

/* Pcycles from `at` until a line that is not in L2 is there. */
static double fetch(struct hx_shared_memory *m, uint64_t line, double at)
{
    const struct hx_cost *c = hx_cost_parameters();
    const double slow = slowness(m, at), page = hx_cache_touch(&m->pages, line) ? 0 : c->ddr_page_pcycles;
    const double alone = too_early(&thread.next_line, at, c->ddr_thread_pcycles * slow, BURST), shared = wait_for_share(m, at, slow);
    const double early = alone > shared ? alone : shared;

    hx_traffic_count(HX_PLACE_DDR, line, LINE);
    return early + (c->ddr_pcycles + page) * slow + move_line(m, at + early, slow);
}

/* --- accesses -------------------------------------------------------------------------------------------------- */

/* When the thread asks for a line, in pcycles since the call began. */
static double moment(const struct hx_shared_memory *m)
{
    return thread.asks > (double)m->began ? thread.asks - (double)m->began : 0;
}

/* Has asked, and the line took so long.  In listed code the thread's next question follows from the lines that it asked for, because the
 * code is charged before it runs, and because the compiler may exchange loads that hit. */
static void asked(double took)
{
    thread.asks += took;
}

/* The memory of the thread's call, when no other thread of it can come before: the order of accesses decides what is found.  The clock is
 * asked, and moved, only while nothing is locked.  NULL: it works for no call. */
static struct hx_shared_memory *enter(void)
{
    struct hx_shared_memory *m;

    if (hx_vt_is_off_duty())
        return NULL;
    hx_vt_share();
    if (!hx_code_step.listed)
        thread.asks = (double)hx_vt_now();
    m = hx_shared_enter();
    if (m && thread.step != hx_code_step.number) {
        hx_cache_step(&m->l1);
        hx_cache_step(&m->l2);
        hx_cache_step(&m->pages);
        thread.step = hx_code_step.number;
    }
    return m;
}

/* What has to be done before the first access of a step. */
static void follow_code(void)
{
    if (thread.began == hx_code_step.number)
        return;
    thread.began = hx_code_step.number;
    thread.asks = hx_code_step.began;
    thread.l1_line = 0;
}

/* A line is written, `bytes` of it at a time.  The thread waits only when many already wait for their turn. */
static double store_line(struct hx_shared_memory *m, uint64_t line, unsigned bytes, double at)
{
    double late;

    if (hx_cache_touch(&m->l2, line)) {
        hx_traffic_count(HX_PLACE_L2, line, bytes);
        return 0;
    }
    hx_traffic_count(HX_PLACE_DDR, line, LINE);
    late = wait_for_share(m, at, slowness(m, at));
    late += move_line(m, at + late, slowness(m, at));
    asked(late);
    return late;
}

/* Fractions of 1/256, so that their sum does not depend on their order. */
static void stall(double pcycles)
{
    if (pcycles > 0)
        hx_vt_spend(HX_VT_STALL, (double)(uint64_t)(pcycles * 256 + 0.5) / 256);
}

/* What a skel has of static data is in the caches when a call begins: only buffers are flushed around calls, and how many lines the host's
 * linker spreads it over must not count. */
static void bring_static_data(struct hx_shared_memory *m, uint64_t at)
{
    if (!hx_in_image((const void *)at) || !hx_line_set_add(&m->image, at))
        return;
    hx_cache_touch(&m->l2, at);
    at -= at % LINE;
    for (uint64_t end = at + LINE; at < end; at += L1_LINE)
        hx_cache_touch(&m->l1, at);
}

/* When a line that is in L2 will have arrived there, if it was prefetched; 0: long ago. */
static double arrival(const struct hx_shared_memory *m, uint64_t line)
{
    const unsigned n = m->n_boxes < HX_BOXES ? m->n_boxes : HX_BOXES;

    for (unsigned i = 0; i < n; i++) {
        const struct hx_box *b = &m->box[i];
        const uint64_t at = line / LINE * LINE - b->from, row = b->stride ? at / b->stride : 0, in_row = (at - row * b->stride) / LINE;

        if (line >= b->from && row < b->height && in_row < b->width)
            return b->begins + (b->ends - b->begins) * (double)(row * b->width + in_row + 1) / (b->width * (double)b->height);
    }
    return 0;
}

/* What a load of a line in L2 waits, of which so many bytes go on to L1 or a vector. */
static double l2_wait(struct hx_shared_memory *m, uint64_t line, unsigned bytes, const struct hx_code_load *load)
{
    const double arrives = m->n_boxes ? arrival(m, line) : 0;
    double wait = load->l2_stall;

    hx_traffic_count(HX_PLACE_L2, line, bytes);
    if (arrives <= 0)
        return wait;
    if (arrives - moment(m) > wait)
        wait = arrives - moment(m);
    asked(wait + load->apart);
    return wait;
}

/* A vector, or a part of one, in one line. */
static void vector_line(uintptr_t line, int is_store)
{
    const struct hx_cost *c = hx_cost_parameters();
    struct hx_code_load load = {.hidden = c->vtcm_pcycles, .l2_stall = c->l2_vector_pcycles - c->vtcm_pcycles};
    struct hx_shared_memory *m;
    double wait = 0;

    if (!is_store)
        hx_code_vector_load(&load);
    if (thread.l1_line && (thread.l1_line - 1) / (LINE / L1_LINE) == line / LINE)
        thread.l1_line = 0;
    if (hx_in_vtcm((const void *)line)) {
        hx_traffic_count(HX_PLACE_VTCM, line, LINE);
        return;
    }
    if (hx_on_any_stack((const void *)line) || !(m = enter()))
        return;
    bring_static_data(m, line);
    hx_cache_drop(&m->l1, line); /* HVX goes past L1 */
    if (is_store)
        wait = store_line(m, line, LINE, moment(m));
    else if (hx_cache_touch(&m->l2, line))
        wait = l2_wait(m, line, LINE, &load);
    else
        asked((wait = fetch(m, line, moment(m)) - load.hidden) + load.apart);
    hx_shared_leave(m);
    stall(wait);
}

/* 1 when these bytes of a line belong to an access that is known already: it comes in pieces, and those of several may come mixed. */
static int is_rest_of_vector(uint64_t at, unsigned bytes, int is_store)
{
    const uint64_t line = at / LINE;
    const bytes_of_line piece = (~(bytes_of_line)0 >> (LINE - bytes)) << at % LINE;

    for (int i = 0; i < RECENT; i++)
        if (thread.recent[i].line == line && thread.recent[i].is_store == is_store && !(thread.recent[i].seen & piece)) {
            thread.recent[i].seen |= piece;
            return 1;
        }
    thread.recent[thread.n_recent].line = line;
    thread.recent[thread.n_recent].seen = piece;
    thread.recent[thread.n_recent].is_store = is_store;
    thread.n_recent = (thread.n_recent + 1) % RECENT;
    return 0;
}

static void vector_access(uintptr_t at, size_t bytes, int is_store)
{
    while (bytes > 0) {
        const unsigned here = bytes < LINE - at % LINE ? (unsigned)bytes : (unsigned)(LINE - at % LINE);

        if (!is_rest_of_vector(at, here, is_store))
            vector_line(at, is_store);
        at += here;
        bytes -= here;
    }
}

/* VTCM is not cached: each word costs, but not again while the compiler has it in a register. */
static void scalar_vtcm(uintptr_t at, size_t bytes, int is_store)
{
    for (int i = 0; i < SCALARS; i++)
        if (thread.vtcm[i] == at)
            return;
    thread.vtcm[thread.n_vtcm++ % SCALARS] = at;
    hx_traffic_count(HX_PLACE_VTCM, at, bytes);
    if (!is_store)
        stall(hx_cost_parameters()->vtcm_scalar_pcycles - hx_cost_parameters()->load_pcycles);
}

static void scalar_line(uintptr_t line, int is_store)
{
    const struct hx_cost *c = hx_cost_parameters();
    struct hx_shared_memory *m;
    double latency = 0;

    if (hx_on_any_stack((const void *)line) || !(m = enter()))
        return;
    bring_static_data(m, line);
    if (!hx_cache_touch(&m->l1, line)) {
        const double at = moment(m);

        if (is_store)
            latency = store_line(m, line, L1_LINE, at) + c->load_pcycles;
        else if (hx_cache_touch(&m->l2, line))
            latency = l2_wait(m, line, L1_LINE, &(struct hx_code_load){.l2_stall = c->l2_pcycles});
        else
            asked(latency = fetch(m, line, at));
    }
    hx_shared_leave(m);
    stall(latency - c->load_pcycles);
}

static void scalar_access(uintptr_t at, size_t bytes, int is_store)
{
    if (hx_in_vtcm((const void *)at)) {
        scalar_vtcm(at, bytes, is_store);
    } else if (thread.l1_line != at / L1_LINE + 1) {
        thread.l1_line = at / L1_LINE + 1;
        scalar_line(at, is_store);
    }
}

void hx_cost_access(const void *p, size_t bytes, int is_store)
{
    follow_code();
    if (bytes < WIDE)
        scalar_access((uintptr_t)p, bytes, is_store);
    else
        vector_access((uintptr_t)p, bytes, is_store);
}

/* 1: it has to come from DDR. */
static unsigned prefetch_line(struct hx_shared_memory *m, uint64_t line)
{
    const unsigned comes = !hx_cache_touch(&m->l2, line);

    if (comes)
        hx_traffic_count(HX_PLACE_DDR, line, LINE);
    return comes;
}

HX_EXPORT void hx_prefetch(uintptr_t address, uint32_t width, uint32_t height, uint32_t stride)
{
    const struct hx_cost *c = hx_cost_parameters();
    const uint64_t from = address / LINE * LINE;
    struct hx_box box = {.from = from, .width = (uint32_t)((address - from + width + LINE - 1) / LINE), .height = height, .stride = stride};
    struct hx_shared_memory *m;
    uint64_t came = 0;

    follow_code();
    m = width && height && !hx_in_vtcm((const void *)address) ? enter() : NULL;
    if (!m)
        return;
    for (uint32_t r = 0; r < height && came <= m->l2.lines; r++)
        for (uint32_t i = 0; i < box.width; i++)
            came += prefetch_line(m, from + (uint64_t)r * stride + (uint64_t)i * LINE);
    if (came) {
        const double at = moment(m), slow = slowness(m, at);

        box.begins = at + c->ddr_pcycles * slow;
        box.ends = hx_path_take(&m->ddr, box.begins, (double)came * LINE / c->dma_bytes_per_pcycle * slow);
        m->box[m->n_boxes++ % HX_BOXES] = box;
    }
    hx_shared_leave(m);
}

uint64_t hx_cost_dma(uint64_t began, uint64_t bytes)
{
    const struct hx_cost *c = hx_cost_parameters();
    struct hx_shared_memory *m = hx_shared_enter();
    double takes = (double)bytes / c->dma_bytes_per_pcycle;

    if (m) {
        const double at = began > m->began ? (double)(began - m->began) : 0;

        takes = hx_path_take(&m->ddr, at, takes) - at;
        hx_shared_leave(m);
    }
    return began + (uint64_t)(takes + 0.5);
}

/* --- the thread ------------------------------------------------------------------------------------------------ */

void hx_cost_end(void)
{
    if (!hx_vt_is_off_duty())
        hx_traffic_settle();
    hx_stacks_end();
}

void hx_cost_prepare(void)
{
    hx_stacks_begin();
}

void hx_cost_begin(uint64_t call)
{
    hx_stacks_begin();
    memset(&thread, 0, sizeof(thread));
    hx_shared_join(call);
}
