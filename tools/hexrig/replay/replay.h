/* Recorded calls priced again: through another profile, several calls made into one, or as packets of a dspqueue.
 *
 * What was executed, copied and waited for stays as recorded; what a call costs beside that comes from the formulas of the filter `cost`
 * (hx_overhead.h), on virtual clocks of the recording's threads.  Between a thread's calls its own work stays as long as it was. */
#ifndef HX_REPLAY_H
#define HX_REPLAY_H

#include "hx_profile.h"
#include "recording.h"

struct hx_replay_how {
    const struct hx_profile *profile;
    size_t batch; /* up to so many calls of a method that follow each other directly become one, >= 1 */
    int packets;  /* 1: calls are packets; those of services remain calls */
};

struct hx_replay_sum {
    uint64_t calls; /* or packets */
    uint64_t dispatch_ns, marshal_ns, queue_ns, exec_ns;
};

struct hx_replay_line {
    char method[HX_RECORDED_NAME]; /* "total" */
    struct hx_replay_sum before, after;
};

struct hx_replay { /* zeroed: empty */
    struct hx_replay_line *method; /* [n], in the order in which they were first called; owned */
    size_t n;
    struct hx_replay_line total;
    uint64_t wall_before_ns, wall_after_ns; /* from the first call's begin to the last one's end */
};

static inline uint64_t hx_replay_ns(const struct hx_replay_sum *s)
{
    return s->dispatch_ns + s->marshal_ns + s->queue_ns + s->exec_ns;
}

/* 0 or -ENOMEM; hx_replay_free() in any case. */
int hx_replay_price(struct hx_replay *out, const struct hx_recording *r, const struct hx_replay_how *how);
void hx_replay_free(struct hx_replay *p);

#endif
