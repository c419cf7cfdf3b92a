/* Charges code that has a listing by its packets. */
#include "code.h"

#include <stdint.h>

#include "base/export.h"
#include "code_check.h"
#include "pending.h"
#include "vtime.h"

enum { TIMES = 128 }; /* listings kept per thread; a power of two */

static __thread struct {
    const struct hx_code *code;
    enum hx_code_build build;
    unsigned level;
    struct hx_code_told told; /* by the call of `code` */
    uint64_t loads_left; /* vector loads until the loop is over */
    struct level_time {
        const struct hx_code_level *level;
        struct hx_listing_time time;
        double l2_stall; /* of a vector load */
    } times[TIMES];
} thread;

__thread struct hx_code_step hx_code_step;

static void step(int listed)
{
    hx_code_step.number++;
    hx_code_step.began = (double)hx_vt_now();
    hx_code_step.listed = listed;
}

/* Vector loads of a trip that the source makes; a debug table also has the compiler's spills, which the host's code never
 * makes. */
static unsigned source_loads(const struct hx_code *code, unsigned level)
{
    const struct hx_code_level *l = &code->build[HX_BUILD_RELEASE][level];
    unsigned n = 0;

    for (unsigned i = 0; i < l->packets; i++)
        n += l->packet[i].vector_loads;
    return n;
}

/* What one vector load adds to a trip when all of them come from L2. */
static double l2_stall(const struct hx_code_level *l, int is_loop, const struct hx_listing_time *from_vtcm)
{
    struct hx_cost slower = *hx_cost_parameters();

    slower.vtcm_pcycles = slower.l2_vector_pcycles;
    return from_vtcm->vector_loads ? (hx_listing_time(l, is_loop, &slower).trip - from_vtcm->trip) / from_vtcm->vector_loads : 0;
}

static const struct level_time *time_of(const struct hx_code *code, unsigned level)
{
    const struct hx_code_level *l = &code->build[thread.build][level];
    struct level_time *t = &thread.times[(uintptr_t)l / sizeof(*l) & (TIMES - 1)];

    if (t->level != l) {
        t->level = l;
        t->time = hx_listing_time(l, level > 0, hx_cost_parameters());
        t->l2_stall = l2_stall(l, level > 0, &t->time);
        t->time.vector_loads = source_loads(code, level);
    }
    return t;
}

HX_EXPORT struct hx_code_scope hx_code_enter(const struct hx_code *code)
{
    struct hx_code_scope outer = {thread.code, thread.level, {thread.told.told, thread.told.ran}};

    hx_vt_spend(HX_VT_CODE, hx_cost_pending());
    hx_vt_scope(code->name);
    hx_cost_paid(1);
    step(1);
    if (!thread.code) {
        hx_code_step.call++;
        hx_code_step.call_began = hx_code_step.began;
    }
    thread.code = code;
    thread.level = 0;
    thread.told = (struct hx_code_told){0};
    thread.loads_left = 0;
    hx_vt_spend(HX_VT_CODE, time_of(code, 0)->time.trip);
    return outer;
}

HX_EXPORT void hx_code_leave(struct hx_code_scope *scope)
{
    hx_vt_scope(NULL);
    if (thread.code)
        hx_code_check_call(&thread.told, thread.code);
    thread.code = scope->outer;
    thread.level = scope->outer_level;
    thread.told = (struct hx_code_told){scope->outer_told[0], scope->outer_told[1]};
    thread.loads_left = 0;
    step(thread.code != NULL);
    hx_cost_paid(thread.code != NULL); /* the listing has paid for what was counted inside */
}

HX_EXPORT void hx_code_trips(unsigned level, uint64_t trips)
{
    const struct level_time *t;
    unsigned peeled;

    if (!thread.code || !hx_code_check_trips(&thread.told, thread.code, level, trips))
        return;
    t = time_of(thread.code, level);
    peeled = thread.code->build[thread.build][level].peeled;
    step(1);
    thread.level = level;
    thread.loads_left = trips * t->time.vector_loads;
    if (trips > peeled)
        hx_vt_spend(HX_VT_CODE, (double)(trips - peeled) * t->time.trip);
}

HX_EXPORT void hx_code_set_build(enum hx_code_build build)
{
    if (build < HX_CODE_BUILDS)
        thread.build = build;
}

void hx_code_vector_load(struct hx_code_load *load)
{
    const struct level_time *t;

    if (!thread.loads_left)
        return;
    t = time_of(thread.code, thread.level);
    thread.loads_left--;
    *load = (struct hx_code_load){
        .hidden = t->time.load_to_use,
        .l2_stall = t->l2_stall,
        .apart = t->time.trip / t->time.vector_loads,
    };
}

void hx_code_begin(void)
{
    thread.code = NULL;
    thread.level = 0;
    thread.build = HX_BUILD_RELEASE;
    thread.loads_left = 0;
    hx_cost_paid(0);
    step(0); /* behind that: it asks for the time */
}
