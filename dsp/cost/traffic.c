/* Bytes by place and purpose: counted by each thread, added up by call. */
#include "traffic.h"

#include <string.h>

#include "base/export.h"
#include "hexrig_hvx_count.h"
#include "hexrig_purpose.h"
#include "purpose.h"
#include "shared.h"

enum { KNOWN = 4 }; /* stretches that a loop goes through at a time */

static __thread struct {
    struct hx_traffic own;
    int any; /* in `own` */
    uint64_t hvx_ops; /* of the thread's count, that are in its call's sums */
    struct hx_stretch_of_purpose known[KNOWN];
    unsigned changes; /* of purposes, when those were found */
    unsigned next;
} thread;

void hx_traffic_begin(void)
{
    memset(&thread, 0, sizeof(thread));
}

static enum hx_purpose purpose_of(uint64_t at)
{
    const unsigned changes = hx_purpose_changes();
    struct hx_stretch_of_purpose *s;

    if (changes != thread.changes)
        memset(thread.known, 0, sizeof(thread.known));
    thread.changes = changes;
    for (int i = 0; i < KNOWN; i++)
        if (at - thread.known[i].from < thread.known[i].to - thread.known[i].from)
            return thread.known[i].purpose;
    s = &thread.known[thread.next++ % KNOWN];
    *s = hx_purpose_of(at);
    return s->purpose;
}

static void count(enum hx_traffic_place place, enum hx_purpose purpose, uint64_t bytes)
{
    thread.own.bytes[purpose][place] += bytes;
    thread.any = 1;
}

void hx_traffic_count(enum hx_traffic_place place, uint64_t at, uint64_t bytes)
{
    count(place, purpose_of(at), bytes);
}

void hx_traffic_dma(uint64_t from, uint64_t to, uint64_t bytes)
{
    const enum hx_purpose purpose = purpose_of(from);

    count(HX_PLACE_DMA, purpose == HX_PURPOSE_OTHER ? purpose_of(to) : purpose, bytes);
}

HX_EXPORT void hx_purpose_needed(size_t hit_bytes, size_t miss_bytes)
{
    thread.own.hit_bytes += hit_bytes;
    thread.own.miss_bytes += miss_bytes;
    thread.any = 1;
}

static void add(struct hx_traffic *to, const struct hx_traffic *from)
{
    for (int i = 0; i < HX_PURPOSES; i++)
        for (int k = 0; k < HX_PLACES; k++)
            to->bytes[i][k] += from->bytes[i][k];
    to->hit_bytes += from->hit_bytes;
    to->miss_bytes += from->miss_bytes;
}

void hx_traffic_settle(void)
{
    const uint64_t ops = hx_hvx_ops(&hx_hvx_counts);
    struct hx_shared_memory *m = thread.any || ops != thread.hvx_ops ? hx_shared_enter() : NULL;

    if (!m)
        return;
    add(&m->traffic, &thread.own);
    m->hvx_ops += ops > thread.hvx_ops ? ops - thread.hvx_ops : 0;
    hx_shared_leave(m);
    thread.own = (struct hx_traffic){.hit_bytes = 0};
    thread.any = 0;
    thread.hvx_ops = ops;
}

struct hx_traffic hx_traffic_spent(void)
{
    struct hx_traffic sums = {.hit_bytes = 0};
    struct hx_shared_memory *m;

    hx_traffic_settle();
    m = hx_shared_enter();
    if (m) {
        sums = m->traffic;
        hx_shared_leave(m);
    }
    return sums;
}

uint64_t hx_traffic_hvx_ops(void)
{
    struct hx_shared_memory *m;
    uint64_t ops = 0;

    hx_traffic_settle();
    m = hx_shared_enter();
    if (m) {
        ops = m->hvx_ops;
        hx_shared_leave(m);
    }
    return ops;
}
