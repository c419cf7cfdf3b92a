/* Filter `cost`: what the call would have cost on the phone, by the profile.  No keys.
 *
 *   dispatch  per call, and more when the DSP naps because the last call kept it busy for a short time only
 *   marshal   per KiB copied in and out, plus cache maintenance per shared buffer
 *   queue, exec  pcycles from the DSP's reply, divided by its clock
 *
 * Model figures: nothing here looks at a real clock.  A client's virtual clock moves on by the sum of the four. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter.h"
#include "session.h"

struct cost {
    const struct hx_profile *profile; /* lives as long as the driver */
    bool awake;                       /* the last call was long enough to keep the DSP from napping */
};

static int load(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes)
{
    struct cost *c;

    if (*config) {
        snprintf(why, why_bytes, "filter cost takes no keys, got '%s'", config);
        return -EINVAL;
    }
    c = calloc(1, sizeof(*c));
    if (!c)
        return -ENOMEM;
    c->profile = profile;
    *state = c;
    return 0;
}

static uint64_t ns(double us)
{
    return (uint64_t)(us * 1000.0 + 0.5);
}

static void send(void *state, struct hx_call *call)
{
    struct cost *c = state;
    const struct hx_profile *p = c->profile;
    struct hx_session_stats *s = &call->session->stats;
    uint64_t copied = call->inv.bytes_in + call->inv.bytes_out;
    uint64_t dispatch = ns(p->dispatch_us + (c->awake ? 0 : p->wake_us));
    uint64_t marshal = ns((double)copied / 1024.0 * p->marshal_us_per_kib +
                          call->inv.n_shared * p->share_us_per_buffer);

    s->dispatch_ns += dispatch;
    s->marshal_ns += marshal;
    s->clock_ns += dispatch + marshal;
    call->inv.arrive_ns = s->clock_ns;
    call->inv.dispatch_ns = dispatch;
    call->inv.marshal_ns = marshal;
}

static void end(void *state, struct hx_call *call, int *result)
{
    struct cost *c = state;
    const struct hx_profile *p = c->profile;
    struct hx_session_stats *s = &call->session->stats;
    uint64_t exec = ns((double)call->inv.exec_pcycles / p->clock_mhz);
    uint64_t queue = ns((double)call->inv.queue_pcycles / p->clock_mhz);

    (void)result;
    c->awake = exec >= ns(p->nap_us);
    s->exec_ns += exec;
    s->queue_ns += queue;
    s->clock_ns += exec + queue;
    call->inv.exec_ns = exec;
    call->inv.queue_ns = queue;
}

const struct hx_filter hx_filter_cost = {
    .name = "cost",
    .help = "(no keys) modelled time of calls by the profile; always there",
    .load = load,
    .unload = free,
    .send = send,
    .end = end,
};
