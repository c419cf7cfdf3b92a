/* The DSP's side of a trace: what it wrote is copied, checked, sorted and written as slices. */
#include "trace_dsp.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PCYCLES "\"pcycles\": %llu"
#define STALL ", \"stall_pcycles\": %u"

/* What is written of each kind. */
static const struct kind {
    enum hx_track_kind track;
    const char *name; /* of the slice, where it has no other */
    const char *args; /* format: pcycles, detail, count */
} kinds[HX_TRACE_KINDS] = {
    [HX_TRACE_THREAD] = {HX_TRACK_THREAD, NULL, PCYCLES STALL},
    [HX_TRACE_RUN] = {HX_TRACK_THREAD, "run", PCYCLES STALL},
    [HX_TRACE_CODE] = {HX_TRACK_THREAD, "function", PCYCLES STALL ", \"calls\": %u"},
    [HX_TRACE_WAIT_SYNC] = {HX_TRACK_THREAD, "wait for a thread", PCYCLES},
    [HX_TRACE_WAIT_DMA] = {HX_TRACK_THREAD, "wait for DMA", PCYCLES},
    [HX_TRACE_WAIT_SLEEP] = {HX_TRACK_THREAD, "sleep", PCYCLES},
    [HX_TRACE_WAIT_HVX] = {HX_TRACK_THREAD, "wait for an HVX context", PCYCLES},
    [HX_TRACE_WAIT_VTCM] = {HX_TRACK_THREAD, "wait for VTCM", PCYCLES},
    [HX_TRACE_DMA] = {HX_TRACK_DMA, "transfer", PCYCLES ", \"bytes\": %u"},
    [HX_TRACE_HVX] = {HX_TRACK_HVX, "held", PCYCLES ", \"thread\": %u"},
};

/* Our own copy of a block. */
struct events {
    const struct hx_trace_call *call;
    char name[HX_TRACE_NAMES][HX_TRACE_NAME_BYTES];
    uint32_t n_names;
    uint32_t n, missing;
    struct event {
        struct hx_trace_event e;
        uint32_t order;
    } *at;
};

/* --- copying and checking --------------------------------------------------------------------- */

enum { LANES_MAX = 1024 }; /* each may cost a track */

/* Whether the event is possible; cuts it to the length of the call. */
static bool check(struct hx_trace_event *e, uint64_t limit)
{
    if (e->kind >= HX_TRACE_KINDS || e->lane >= LANES_MAX || e->start > e->end)
        return false;
    if (e->start > limit)
        e->start = limit; /* its length is 0 then, and it is left out */
    if (e->end > limit)
        e->end = limit;
    return true;
}

static int copy(struct events *s, const struct hx_trace *block, uint32_t capacity)
{
    /* read once: the DSP could change them between a check and a use */
    uint32_t n = atomic_load_explicit(&block->n, memory_order_relaxed);
    uint32_t dropped = atomic_load_explicit(&block->dropped, memory_order_relaxed);

    if (n > capacity)
        n = capacity;
    s->at = malloc((n + 1) * sizeof(s->at[0]));
    if (!s->at)
        return -ENOMEM;
    memcpy(s->name, block->name, sizeof(s->name));
    for (uint32_t i = 0; i < HX_TRACE_NAMES; i++)
        s->name[i][HX_TRACE_NAME_BYTES - 1] = '\0';
    s->n_names = atomic_load_explicit(&block->n_names, memory_order_relaxed);
    if (s->n_names > HX_TRACE_NAMES)
        s->n_names = HX_TRACE_NAMES;
    s->missing = dropped;
    for (uint32_t i = 0; i < n; i++) {
        struct event *e = &s->at[s->n];

        memcpy(&e->e, &block->event[i], sizeof(e->e));
        e->order = i;
        if (!check(&e->e, s->call->pcycles))
            s->missing++;
        else
            s->n += e->e.start < e->e.end;
    }
    return 0;
}

/* --- order: by track, then what is around before what is inside ------------------------------- */

static int by_track(const void *pa, const void *pb)
{
    const struct event *a = pa, *b = pb;
    const uint64_t of_a[] = {kinds[a->e.kind].track, a->e.lane, a->e.start, ~a->e.end, a->order};
    const uint64_t of_b[] = {kinds[b->e.kind].track, b->e.lane, b->e.start, ~b->e.end, b->order};

    for (size_t i = 0; i < sizeof(of_a) / sizeof(of_a[0]); i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

static bool same_track(const struct event *a, const struct event *b)
{
    return kinds[a->e.kind].track == kinds[b->e.kind].track && a->e.lane == b->e.lane;
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *name_of(const struct events *s, const struct hx_trace_event *e)
{
    if (e->name >= 1 && e->name <= s->n_names)
        return s->name[e->name - 1];
    return e->kind == HX_TRACE_THREAD ? s->call->name : kinds[e->kind].name;
}

static void track_name(const struct hx_trace_event *e, char *text, size_t bytes)
{
    static const char *const format[] = {
        [HX_TRACK_THREAD] = "DSP thread %u",
        [HX_TRACK_DMA] = "DMA of DSP thread %u",
        [HX_TRACK_HVX] = "HVX context %u",
    };

    snprintf(text, bytes, format[kinds[e->kind].track], e->lane);
}

/* --- writing ---------------------------------------------------------------------------------- */

static uint64_t ns_at(const struct hx_trace_call *c, uint64_t pcycles)
{
    double ns = (double)pcycles * 1e6 / c->clock_khz;

    return c->start_ns + (uint64_t)(ns + 0.5); /* as `cost` rounds */
}

static void write_slice(struct hx_trace_file *f, const struct events *s, unsigned track,
                        const struct hx_trace_event *e, uint64_t end)
{
    unsigned long long pcycles = end - e->start;
    char args[128];

    snprintf(args, sizeof(args), kinds[e->kind].args, pcycles, e->detail, e->count);
    hx_trace_file_slice(f, track, name_of(s, e), ns_at(s->call, e->start), ns_at(s->call, end),
                        args);
}

enum { NEST_MAX = 64 };

/* The events at[0..n) of one track.  Each is made to lie inside or behind the one before: what sticks out is cut,
 * what is nested too deep is left out. */
static uint32_t write_track(struct hx_trace_file *f, const struct events *s,
                            const struct event *at, uint32_t n)
{
    uint64_t around[NEST_MAX], last = 0;
    uint32_t missing = 0;
    unsigned depth = 0, track;
    char name[64];

    for (uint32_t i = 0; i < n; i++)
        last = at[i].e.end > last ? at[i].e.end : last;
    track_name(&at[0].e, name, sizeof(name));
    track = hx_trace_file_track(f, s->call->session, kinds[at[0].e.kind].track, at[0].e.lane, name,
                                ns_at(s->call, at[0].e.start), ns_at(s->call, last));
    for (uint32_t i = 0; i < n; i++) {
        uint64_t end = at[i].e.end;

        while (depth && around[depth - 1] <= at[i].e.start)
            depth--;
        if (depth && end > around[depth - 1])
            end = around[depth - 1];
        if (depth == NEST_MAX || !track) {
            missing++;
            continue;
        }
        around[depth++] = end;
        write_slice(f, s, track, &at[i].e, end);
    }
    return missing;
}

int64_t hx_trace_dsp_write(struct hx_trace_file *f, const struct hx_trace_call *call,
                           const struct hx_trace *block, uint32_t capacity)
{
    struct events s = {.call = call};
    int rc = copy(&s, block, capacity);

    if (rc)
        return rc;
    qsort(s.at, s.n, sizeof(s.at[0]), by_track);
    for (uint32_t i = 0, n; i < s.n; i += n) {
        for (n = 1; i + n < s.n && same_track(&s.at[i], &s.at[i + n]); n++)
            ;
        s.missing += write_track(f, &s, &s.at[i], n);
    }
    free(s.at);
    return s.missing;
}
