/* Filter `cost`: what the call would have cost on the phone, by the profile.
 *
 *   host_us=N   the client's own work before each call, on its virtual clock; default 0
 *   time=MODE   virtual (default): nobody waits.  real: the answer waits until the model's time has really passed.
 *               off: no model, all figures stay 0 and clocks stand still
 *
 *   dispatch  per call, and more the longer the host and the DSP have been idle (hx_overhead.h)
 *   marshal   per KiB copied in and out, plus cache maintenance per shared buffer
 *   queue     waiting for what calls of other threads and sessions hold at that virtual time: the channel to the DSP, hardware threads,
 *             HVX contexts; or what the DSP's reply says, if that is more
 *   exec      pcycles from the DSP's reply, divided by the clock that the call had (clock.h)
 *
 * Packets of a dspqueue cost packet_us each, answer and wake-up included, instead of dispatch; the rest as calls.  They are charged
 * when the driver collects them, at the core's clock of that moment, and nobody waits for them, not even with time=real.
 *
 * Model figures: but for time=real nothing here looks at a real clock.  The virtual clock of the client's thread that made the call
 * (core/callers.h) moves on by host_us and the sum of the four; execution heats the DSP (thermal.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/driver.h"
#include "filter_keys.h"
#include "filter_text.h"
#include "hx_overhead.h"

enum mode { VIRTUAL, REAL, OFF };
static const char *const modes[] = {"virtual", "real", "off"};

struct cost {
    const struct hx_profile *profile; /* lives as long as the driver */
    unsigned long host_us;
    enum mode mode;
};

static int set(void *state, const char *key, const char *value)
{
    struct cost *c = state;

    if (strcmp(key, "host_us") == 0)
        return hx_filter_number(value, 0, 1000000000, &c->host_us);
    for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]) && strcmp(key, "time") == 0; i++)
        if (strcmp(value, modes[i]) == 0) {
            c->mode = (enum mode)i;
            return 0;
        }
    return -EINVAL;
}

static int load(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes)
{
    struct cost *c = calloc(1, sizeof(*c));
    int rc = c ? 0 : -ENOMEM;

    if (!rc && *config)
        rc = hx_filter_set_keys(&hx_filter_cost, config, set, c, why, why_bytes);
    if (rc) {
        free(c);
        return rc;
    }
    c->profile = profile;
    *state = c;
    return 0;
}

/* What the DSP sent is not trusted: nothing takes longer than 30 years. */
static uint64_t ns(double us)
{
    return us < 1e15 ? (uint64_t)(us * 1000.0 + 0.5) : UINT64_C(1000000000000000000);
}

static uint64_t real_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* The way to the DSP of a call that begins at `at_ns` on the machine's clock: whatever is known of it before it has run. */
static uint64_t way_there(const struct cost *c, const struct hx_call *call, uint64_t at_ns, uint64_t marshal)
{
    const struct hx_profile *p = c->profile;
    const struct hx_session *s = call->session;
    const double base = p->dispatch_us - p->dispatch_contains_us;
    const uint64_t arrives = at_ns + ns(base) + marshal;
    const double worked = s->awake.until_ns ? (double)c->host_us : HX_OVERHEAD_NEVER;

    return ns(hx_overhead_way_there(p, worked, hx_awake_asleep_us(call->driver, s, arrives)));
}

/* The caller's clock stands at now_ns, and with it perhaps the session's. */
static void reach(struct hx_call *call, uint64_t now_ns)
{
    struct hx_session *s = call->session;

    hx_callers_reach(&s->callers, call->inv.caller, now_ns);
    s->stats.clock_ns = hx_callers_latest(&s->callers);
}

/* Waiting for what the driver and the channel to the DSP do for other calls; those of all sessions go through it. */
static uint64_t wait_for_channel(const struct cost *c, struct hx_call *call, uint64_t at_ns)
{
    const struct hx_profile *p = c->profile;
    const uint64_t serial = ns(p->serial_us);
    struct hx_holds *h = &call->driver->channel_holds;
    uint64_t start = hx_holds_fit(h, at_ns, serial, 1, 1);

    if (start > at_ns) /* it slept meanwhile */
        start = hx_holds_fit(h, start + ns(p->handover_us), serial, 1, 1);
    hx_holds_add(h, start, serial, 1);
    return start - at_ns;
}

static void charge_way_there(struct cost *c, struct hx_call *call)
{
    const struct hx_profile *p = c->profile;
    const uint64_t copied = call->inv.bytes_in + call->inv.bytes_out;
    struct hx_session *session = call->session;
    struct hx_invoke_view *v = &call->inv;
    uint64_t at;

    v->caller = hx_callers_begin(&session->callers, call->thread, &at);
    v->has_caller = true;
    at += ns((double)c->host_us);
    v->lock_ns = wait_for_channel(c, call, session->epoch_ns + at);
    v->marshal_ns = ns(hx_overhead_marshal(p, copied, v->n_shared));
    v->dispatch_ns = way_there(c, call, session->epoch_ns + at + v->lock_ns, v->marshal_ns);
    v->arrive_ns = at + v->lock_ns + v->dispatch_ns + v->marshal_ns;
    session->stats.queue_ns += v->lock_ns;
    session->stats.dispatch_ns += v->dispatch_ns;
    session->stats.marshal_ns += v->marshal_ns;
    reach(call, v->arrive_ns);
    hx_thermal_idle(&call->driver->thermal, p, session->epoch_ns + v->arrive_ns);
}

static void send(void *state, struct hx_call *call)
{
    struct cost *c = state;
    struct hx_driver *d = call->driver;

    call->inv.arrive_ns = call->session->stats.clock_ns;
    if (c->mode != OFF)
        charge_way_there(c, call);
    call->inv.clock_level = hx_clock_level(d);
    call->inv.clock_khz = hx_clock_khz(d);
    call->inv.sent_us = c->mode == REAL ? real_us() : 0;
}

/* time=real: the answer waits for what is left of the model's time. */
static void wait_for_model(struct hx_call *call, uint64_t model_ns)
{
    uint64_t elapsed_us = real_us() - call->inv.sent_us, model_us = model_ns / 1000;
    uint64_t left_us = model_us > elapsed_us ? model_us - elapsed_us : 0;

    if (left_us > call->delay_us)
        call->delay_us = left_us;
}

/* When a call that arrives at at_ns gets its hardware threads and HVX contexts from the calls that it meets on the virtual clock.
 * The DSP tells of waits between calls that really met there, which need not be the same ones: the longer wait counts. */
static uint64_t start_of(const struct hx_profile *p, struct hx_call *call, uint64_t at_ns)
{
    const struct hx_invoke_view *v = &call->inv;
    const unsigned contexts = v->hvx_contexts, threads = contexts ? contexts : 1;
    struct hx_holds *t = &call->driver->thread_holds, *x = &call->driver->hvx_holds;
    uint64_t start = at_ns, before;

    do {
        before = start;
        start = hx_holds_fit(t, start, v->exec_ns, threads, p->hw_threads);
        start = hx_holds_fit(x, start, v->exec_ns, contexts, p->hvx_contexts);
    } while (start != before);
    start = start - at_ns > v->queue_ns ? start : at_ns + v->queue_ns;
    hx_holds_add(t, start, v->exec_ns, threads);
    hx_holds_add(x, start, v->exec_ns, contexts);
    return start;
}

static void end(void *state, struct hx_call *call, int *result)
{
    struct cost *c = state;
    const struct hx_profile *p = c->profile;
    struct hx_session_stats *s = &call->session->stats;
    struct hx_invoke_view *v = &call->inv;
    uint64_t arrive_ns, start_ns, end_ns;

    (void)result;
    if (c->mode == OFF || !v->has_caller)
        return;
    arrive_ns = call->session->epoch_ns + v->arrive_ns;
    v->exec_ns = ns((double)v->exec_pcycles * 1000.0 / v->clock_khz);
    v->queue_ns = ns((double)v->queue_pcycles * 1000.0 / v->clock_khz);
    start_ns = start_of(p, call, arrive_ns);
    end_ns = start_ns + v->exec_ns;
    v->queue_ns = start_ns - arrive_ns;
    v->return_ns = ns(hx_overhead_way_back(p, (double)(v->queue_ns + v->exec_ns) / 1e3, (double)v->exec_ns / 1e3));
    s->exec_ns += v->exec_ns;
    s->queue_ns += v->queue_ns;
    s->dispatch_ns += v->return_ns;
    reach(call, end_ns - call->session->epoch_ns + v->return_ns);
    hx_awake_worked(call->session, p, start_ns, end_ns);
    hx_thermal_busy(&call->driver->thermal, p, start_ns, end_ns, v->clock_level, v->active);
    if (c->mode == REAL)
        wait_for_model(call, v->lock_ns + v->dispatch_ns + v->marshal_ns + v->queue_ns + v->exec_ns + v->return_ns);
}

/* However it ended: by an answer of the DSP's, or without it. */
static void done(void *state, const struct hx_call *call, int result)
{
    (void)state;
    (void)result;
    if (call->inv.has_caller)
        hx_callers_end(&call->session->callers, call->inv.caller);
}

/* What `news` of so much adds when it is `now` in all: sums do not depend on how often they are collected. */
static uint64_t grown_ns(uint64_t now, uint64_t news, double ns_each)
{
    return ns((double)now * ns_each / 1e3) - ns((double)(now - news) * ns_each / 1e3);
}

static void packets(void *state, struct hx_session *session, const struct hx_queue_stats *news)
{
    struct cost *c = state;
    const struct hx_profile *p = c->profile;
    struct hx_driver *d = session->driver;
    struct hx_session_stats *s = &session->stats;
    const uint64_t dispatch = ns((double)news->packets * p->packet_us);
    const uint64_t marshal = ns(hx_overhead_marshal(p, news->bytes_copied, news->buffers));
    const double ns_each = 1e6 / hx_clock_khz(d);
    const uint64_t exec = grown_ns(session->packets.exec_pcycles, news->exec_pcycles, ns_each);
    const uint64_t queue = grown_ns(session->packets.queue_pcycles, news->queue_pcycles, ns_each);
    uint64_t start_ns;

    if (c->mode == OFF)
        return;
    s->dispatch_ns += dispatch;
    s->marshal_ns += marshal;
    s->queue_ns += queue;
    s->exec_ns += exec;
    s->clock_ns += dispatch + marshal + queue;
    start_ns = session->epoch_ns + s->clock_ns;
    hx_thermal_idle(&d->thermal, p, start_ns);
    s->clock_ns += exec;
    hx_callers_reach_all(&session->callers, s->clock_ns);
    hx_awake_worked(session, p, start_ns, start_ns + exec);
    hx_thermal_busy(&d->thermal, p, start_ns, start_ns + exec, hx_clock_level(d), 1);
}

const char *hx_cost_time(const struct hx_filter_stack *s)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->at[i].filter == &hx_filter_cost)
            return modes[((const struct cost *)s->at[i].state)->mode];
    return modes[OFF];
}

const struct hx_filter hx_filter_cost = {
    .name = "cost",
    .help = "host_us=0..1000000000 time=virtual|real|off: modelled time of calls by the profile; "
            "always there, adding it sets its keys",
    .load = load,
    .unload = free,
    .send = send,
    .end = end,
    .done = done,
    .packets = packets,
};
