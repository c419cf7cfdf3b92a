/* Pricing recorded calls, thread by thread on clocks of their own. */
#include "replay.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hx_overhead.h"

#define LONGEST_NS 1e18 /* 30 years, as in the filter `cost` */

/* Calls of one method that become one. */
struct group {
    const struct hx_recorded_call *first; /* NULL: none */
    size_t n;
    uint64_t host_ns; /* the thread's own work before it */
    uint64_t copied_bytes, shared_buffers, queue_ns, exec_ns;
};

/* A thread of the recording. */
struct caller {
    unsigned session, thread;
    uint64_t recorded_end_ns, clock_ns;
    struct group group; /* that is not priced yet */
};

struct replay {
    const struct hx_replay_how *how;
    const struct hx_recording *recording;
    struct hx_replay *out;
    struct caller *caller; /* [n_callers] */
    size_t n_callers;
    struct hx_awake *awake; /* [n_sessions], by session[] */
    unsigned *session;
    size_t n_sessions;
};

static uint64_t ns(double us)
{
    return (uint64_t)(us * 1000.0 + 0.5);
}

/* --- who calls what */

/* Room for one more of `bytes`; NULL: out of memory, and what is there stays. */
static void *one_more(void *have, size_t n, size_t bytes)
{
    return n & (n - 1) ? have : realloc(have, (n ? 2 * n : 1) * bytes);
}

static struct caller *caller_of(struct replay *r, const struct hx_recorded_call *c)
{
    struct caller *more;

    for (size_t i = 0; i < r->n_callers; i++)
        if (r->caller[i].session == c->session && r->caller[i].thread == c->thread)
            return &r->caller[i];
    more = one_more(r->caller, r->n_callers, sizeof(*more));
    if (!more)
        return NULL;
    r->caller = more;
    more += r->n_callers++;
    *more = (struct caller){c->session, c->thread, c->at_ns, c->at_ns, {0}};
    return more;
}

static int add_session(struct replay *r, unsigned session)
{
    struct hx_awake *awake;
    unsigned *number;

    for (size_t i = 0; i < r->n_sessions; i++)
        if (r->session[i] == session)
            return 0;
    awake = one_more(r->awake, r->n_sessions, sizeof(*awake));
    r->awake = awake ? awake : r->awake;
    number = awake ? one_more(r->session, r->n_sessions, sizeof(*number)) : NULL;
    if (!number)
        return -ENOMEM;
    r->session = number;
    r->session[r->n_sessions] = session;
    r->awake[r->n_sessions++] = (struct hx_awake){0};
    return 0;
}

static struct hx_awake *awake_of(struct replay *r, unsigned session)
{
    size_t i = 0;

    while (r->session[i] != session)
        i++;
    return &r->awake[i];
}

static struct hx_replay_line *line_of(struct hx_replay *p, const char *method)
{
    struct hx_replay_line *more;

    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->method[i].method, method) == 0)
            return &p->method[i];
    more = one_more(p->method, p->n, sizeof(*more));
    if (!more)
        return NULL;
    p->method = more;
    more += p->n++;
    *more = (struct hx_replay_line){{0}, {0}, {0}};
    snprintf(more->method, sizeof(more->method), "%s", method);
    return more;
}

/* --- prices */

/* For how long the DSP has slept when a call arrives. */
static double asleep_us(const struct replay *r, uint64_t at_ns)
{
    uint64_t since = 0;

    for (size_t i = 0; i < r->n_sessions; i++) {
        const uint64_t until = hx_awake_until(&r->awake[i], at_ns);

        since = until > since ? until : since;
    }
    if (!since)
        return HX_OVERHEAD_NEVER;
    return at_ns > since ? (double)(at_ns - since) / 1e3 : 0;
}

/* At another clock the same pcycles take another time. */
static uint64_t exec_of(const struct replay *r, uint64_t exec_ns)
{
    const double was = r->recording->clock_mhz, is = r->how->profile->clock_mhz;

    return was > 0 && was != is ? (uint64_t)llround(fmin((double)exec_ns * was / is, LONGEST_NS)) : exec_ns;
}

static void price_packet(struct replay *r, struct caller *c, struct hx_replay_sum *s)
{
    const uint64_t start = c->clock_ns + c->group.host_ns + s->dispatch_ns + s->marshal_ns + s->queue_ns;

    hx_awake_extend(awake_of(r, c->session), r->how->profile, start, start + s->exec_ns);
    c->clock_ns = start + s->exec_ns;
}

static void price_call(struct replay *r, struct caller *c, struct hx_replay_sum *s)
{
    const struct hx_profile *p = r->how->profile;
    struct hx_awake *awake = awake_of(r, c->session);
    const uint64_t at = c->clock_ns + c->group.host_ns, arrives = at + ns(p->dispatch_us - p->dispatch_contains_us) + s->marshal_ns;
    const double worked = awake->until_ns ? (double)c->group.host_ns / 1e3 : HX_OVERHEAD_NEVER;
    uint64_t start, back;

    s->dispatch_ns = ns(hx_overhead_way_there(p, worked, asleep_us(r, arrives)));
    start = at + s->dispatch_ns + s->marshal_ns + s->queue_ns;
    back = ns(hx_overhead_way_back(p, (double)(s->queue_ns + s->exec_ns) / 1e3, (double)s->exec_ns / 1e3));
    hx_awake_extend(awake, p, start, start + s->exec_ns);
    s->dispatch_ns += back;
    c->clock_ns = start + s->exec_ns + back;
}

static void add_up(struct hx_replay_sum *to, const struct hx_replay_sum *s)
{
    to->calls += s->calls;
    to->dispatch_ns += s->dispatch_ns;
    to->marshal_ns += s->marshal_ns;
    to->queue_ns += s->queue_ns;
    to->exec_ns += s->exec_ns;
}

static int price_group(struct replay *r, struct caller *c)
{
    const struct hx_profile *p = r->how->profile;
    const struct group *g = &c->group;
    struct hx_replay_line *line = g->first ? line_of(r->out, g->first->method) : NULL;
    struct hx_replay_sum s = {.calls = 1};

    if (!g->first)
        return 0;
    if (!line)
        return -ENOMEM;
    s.marshal_ns = ns(hx_overhead_marshal(p, g->copied_bytes, g->shared_buffers));
    s.queue_ns = g->queue_ns;
    s.exec_ns = exec_of(r, g->exec_ns);
    if (r->how->packets && !g->first->service) {
        s.dispatch_ns = ns(p->packet_us);
        price_packet(r, c, &s);
    } else {
        price_call(r, c, &s);
    }
    add_up(&line->after, &s);
    add_up(&r->out->total.after, &s);
    c->group = (struct group){0};
    return 0;
}

/* --- groups */

static int joins(const struct replay *r, const struct group *g, const struct hx_recorded_call *c)
{
    return g->first && g->n < r->how->batch && !c->service && strcmp(g->first->method, c->method) == 0;
}

/* Rows of several calls share a call's buffers, and wait once. */
static void join(struct group *g, const struct hx_recorded_call *c)
{
    g->first = g->first ? g->first : c;
    g->n++;
    g->copied_bytes += c->copied_bytes;
    g->exec_ns += c->exec_ns;
    g->shared_buffers = c->shared_buffers > g->shared_buffers ? c->shared_buffers : g->shared_buffers;
    g->queue_ns = c->queue_ns > g->queue_ns ? c->queue_ns : g->queue_ns;
}

static int take(struct replay *r, const struct hx_recorded_call *c)
{
    const struct hx_replay_sum was = {1, c->dispatch_ns, c->marshal_ns, c->queue_ns, c->exec_ns};
    struct hx_replay_line *line = line_of(r->out, c->method);
    struct caller *from = caller_of(r, c);
    int rc = line && from ? add_session(r, c->session) : -ENOMEM;

    if (!rc && !joins(r, &from->group, c))
        rc = price_group(r, from);
    if (rc)
        return rc;
    add_up(&line->before, &was);
    add_up(&r->out->total.before, &was);
    from->group.host_ns += c->at_ns - from->recorded_end_ns;
    from->recorded_end_ns = c->at_ns + hx_recorded_ns(c);
    join(&from->group, c);
    return 0;
}

static void find_walls(struct replay *r)
{
    const uint64_t begin = r->recording->n ? r->recording->at[0].at_ns : 0;
    uint64_t before = begin, after = begin;

    for (size_t i = 0; i < r->n_callers; i++) {
        before = r->caller[i].recorded_end_ns > before ? r->caller[i].recorded_end_ns : before;
        after = r->caller[i].clock_ns > after ? r->caller[i].clock_ns : after;
    }
    r->out->wall_before_ns = before - begin;
    r->out->wall_after_ns = after - begin;
}

int hx_replay_price(struct hx_replay *out, const struct hx_recording *recording, const struct hx_replay_how *how)
{
    struct replay r = {.how = how, .recording = recording, .out = out};
    int rc = 0;

    *out = (struct hx_replay){.total = {.method = "total"}};
    for (size_t i = 0; !rc && i < recording->n; i++)
        rc = take(&r, &recording->at[i]);
    for (size_t i = 0; !rc && i < r.n_callers; i++)
        rc = price_group(&r, &r.caller[i]);
    find_walls(&r);
    free(r.caller);
    free(r.awake);
    free(r.session);
    return rc;
}

void hx_replay_free(struct hx_replay *p)
{
    free(p->method);
    *p = (struct hx_replay){0};
}
