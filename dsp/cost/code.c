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
    struct {
        const struct hx_code_level *level;
        struct hx_listing_time time;
    } times[TIMES];
} thread;

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

static const struct hx_listing_time *time_of(const struct hx_code *code, unsigned level)
{
    const struct hx_code_level *l = &code->build[thread.build][level];
    unsigned i = (unsigned)((uintptr_t)l / sizeof(*l)) & (TIMES - 1);

    if (thread.times[i].level != l) {
        thread.times[i].level = l;
        thread.times[i].time = hx_listing_time(l, level > 0, hx_cost_parameters());
        thread.times[i].time.vector_loads = source_loads(code, level);
    }
    return &thread.times[i].time;
}

HX_EXPORT struct hx_code_scope hx_code_enter(const struct hx_code *code)
{
    struct hx_code_scope outer = {thread.code, thread.level, {thread.told.told, thread.told.ran}};

    hx_vt_spend(HX_VT_CODE, hx_cost_pending());
    hx_vt_scope(code->name);
    hx_cost_paid(1);
    thread.code = code;
    thread.level = 0;
    thread.told = (struct hx_code_told){0};
    thread.loads_left = 0;
    hx_vt_spend(HX_VT_CODE, time_of(code, 0)->trip);
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
    hx_cost_paid(thread.code != NULL); /* the listing has paid for what was counted inside */
}

HX_EXPORT void hx_code_trips(unsigned level, uint64_t trips)
{
    const struct hx_listing_time *t;
    unsigned peeled;

    if (!thread.code || !hx_code_check_trips(&thread.told, thread.code, level, trips))
        return;
    t = time_of(thread.code, level);
    peeled = thread.code->build[thread.build][level].peeled;
    thread.level = level;
    thread.loads_left = trips * t->vector_loads;
    hx_memory_loop();
    if (trips > peeled)
        hx_vt_spend(HX_VT_CODE, (double)(trips - peeled) * t->trip);
}

HX_EXPORT void hx_code_set_build(enum hx_code_build build)
{
    if (build < HX_CODE_BUILDS)
        thread.build = build;
}

const struct hx_listing_time *hx_code_vector_load(void)
{
    if (!thread.loads_left)
        return NULL;
    thread.loads_left--;
    return time_of(thread.code, thread.level);
}

void hx_code_begin(void)
{
    thread.code = NULL;
    thread.level = 0;
    thread.build = HX_BUILD_RELEASE;
    thread.loads_left = 0;
    hx_cost_paid(0);
}
