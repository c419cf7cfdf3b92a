/* The arithmetic of a verdict. */
#include "verdict.h"

#include <math.h>

const char *const hx_bound_names[HX_BOUNDS] = {
    [HX_BOUND_DDR] = "ddr",           [HX_BOUND_VTCM] = "vtcm",       [HX_BOUND_HVX] = "hvx",     [HX_BOUND_ISSUE] = "issue",
    [HX_BOUND_DISPATCH] = "dispatch", [HX_BOUND_MARSHAL] = "marshal", [HX_BOUND_QUEUE] = "queue",
};

const struct hx_need_name hx_need_names[HX_NEEDS] = {
    [HX_NEED_CALL_US] = {"us_per_call", "a call beside its execution, us", 0, 3},
    [HX_NEED_CALLS] = {"calls_per_token", "calls per token", 0, 0},
    [HX_NEED_PACKET_US] = {"us_per_packet", "a packet beside its execution, us", 0, 3},
    [HX_NEED_PACKETS] = {"packets_per_token", "packets per token", 0, 0},
    [HX_NEED_EXEC_US] = {"exec_us_per_token", "execution per token, us", 0, 3},
    [HX_NEED_DDR_GB_S] = {"ddr_gb_per_s", "DDR, GB/s", 1, 3},
    [HX_NEED_WEIGHT_BYTES] = {"weight_bytes_per_token", "matrix bytes per token", 0, 0},
    [HX_NEED_VTCM_GB_S] = {"vtcm_gb_per_s", "VTCM, GB/s", 1, 3},
    [HX_NEED_HVX_GOPS] = {"hvx_gops", "HVX, 10^9 operations/s", 1, 3},
};

/* A token's parts, us. */
struct parts {
    double calls, packets; /* dispatch of each */
    double exec, other;    /* marshal and queue */
};

static struct parts parts_of(const struct hx_session_stats *s, const struct hx_ceilings *c)
{
    const double dispatch = (double)s->dispatch_ns / 1e3, packets = (double)s->packets * c->packet_pcycles / c->pcycles_per_us;

    return (struct parts){
        .calls = fmax(dispatch - packets, 0),
        .packets = fmin(packets, dispatch),
        .exec = (double)s->exec_ns / 1e3,
        .other = (double)(s->marshal_ns + s->queue_ns) / 1e3,
    };
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* --- what the time goes to */

static enum hx_bound bound_of_exec(const struct hx_roofline_point *p)
{
    static const enum hx_bound of[HX_ROOF_DISPATCH] = {
        [HX_ROOF_DDR] = HX_BOUND_DDR, [HX_ROOF_VTCM] = HX_BOUND_VTCM, [HX_ROOF_HVX] = HX_BOUND_HVX};

    return p->exec_roof < HX_ROOF_DISPATCH && p->exec_share >= 0.5 ? of[p->exec_roof] : HX_BOUND_ISSUE;
}

static void find_bound(struct hx_verdict *v, const struct hx_session_stats *s, const struct hx_roofline_point *p)
{
    const struct {
        enum hx_bound bound;
        double us;
    } parts[] = {
        {HX_BOUND_DISPATCH, (double)s->dispatch_ns / 1e3},
        {HX_BOUND_MARSHAL, (double)s->marshal_ns / 1e3},
        {HX_BOUND_QUEUE, (double)s->queue_ns / 1e3},
    };
    double most = (double)s->exec_ns / 1e3;

    v->bound = bound_of_exec(p);
    v->share = share(most * (v->bound == HX_BOUND_ISSUE ? 1 : p->exec_share), v->total_us);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].us > most) {
            most = parts[i].us;
            v->bound = parts[i].bound;
            v->share = share(most, v->total_us);
        }
}

/* --- what would have to change */

static void add(struct hx_verdict *v, enum hx_need_what what, double now, double wanted, int enough)
{
    if (wanted > 0 && (hx_need_names[what].at_least ? now < wanted : now > wanted))
        v->need[v->n_needs++] = (struct hx_need){what, now, wanted, enough};
}

/* n calls, or packets, that take `us` and have to make do with `room`.  Where that is nothing, the rest is too long as well: then with the
 * most that they can get, when nothing executes. */
static void need_fewer(struct hx_verdict *v, enum hx_need_what price, enum hx_need_what number, double n, double us, double room,
                       double most)
{
    const double get = room > 0 ? room : most;

    if (n <= 0 || us <= 0)
        return;
    add(v, price, us / n, get / n, room > 0);
    add(v, number, n, floor(get * n / us), room > 0);
}

/* How many GB/s, or 10^9 per second, there have to be: `amount` in so many us. */
static double per_second(double amount, double us)
{
    return us > 0 ? amount / us / 1e3 : 0;
}

static void need_ceilings(struct hx_verdict *v, const struct hx_session_stats *s, const struct hx_roofline_point *p,
                          const struct hx_ceilings *c, double room)
{
    const double mhz = c->pcycles_per_us, bus = p->n.ddr_bytes + p->n.dma_bytes;
    const uint64_t *of = s->traffic.bytes[HX_PURPOSE_WEIGHTS];
    const double weights = (double)(of[HX_PLACE_DDR] + of[HX_PLACE_DMA]);

    add(v, HX_NEED_DDR_GB_S, c->ddr_bytes * mhz / 1e3, per_second(bus, room), 0);
    if (weights > 0)
        add(v, HX_NEED_WEIGHT_BYTES, weights, floor(room * c->ddr_bytes * mhz - (bus - weights)), 0);
    add(v, HX_NEED_VTCM_GB_S, c->vtcm_bytes * mhz / 1e3, per_second(p->n.vtcm_bytes, room), 0);
    add(v, HX_NEED_HVX_GOPS, c->hvx_ops * mhz / 1e3, per_second(p->n.hvx_ops, room), 0);
}

static void find_needs(struct hx_verdict *v, const struct hx_session_stats *s, const struct hx_roofline_point *p,
                       const struct hx_ceilings *c, double budget)
{
    const struct parts t = parts_of(s, c);
    const double left = budget - t.other, exec = left - t.calls - t.packets, room = exec > 0 ? exec : left;

    need_fewer(v, HX_NEED_CALL_US, HX_NEED_CALLS, (double)s->invokes, t.calls, left - t.exec - t.packets, left - t.packets);
    need_fewer(v, HX_NEED_PACKET_US, HX_NEED_PACKETS, (double)s->packets, t.packets, left - t.exec - t.calls, left - t.calls);
    add(v, HX_NEED_EXEC_US, t.exec, room, exec > 0);
    need_ceilings(v, s, p, c, room);
}

struct hx_verdict hx_verdict(const struct hx_session_stats *sum, const struct hx_ceilings *c, double budget_us)
{
    const struct hx_roofline_counts n = hx_roofline_counts(sum, c);
    const struct hx_roofline_point p = hx_roofline_point(&n, c);
    struct hx_verdict v = {.total_us = n.all_pcycles / c->pcycles_per_us};

    find_bound(&v, sum, &p);
    if (v.total_us > budget_us)
        find_needs(&v, sum, &p, c, budget_us);
    return v;
}

double hx_least_us(const struct hx_ceilings *c, double calls, double packets, double bytes, enum hx_bound *bound)
{
    const struct hx_roofline_counts n = {.calls = calls, .packets = packets, .dma_bytes = bytes};
    const struct hx_roofline_point p = hx_roofline_point(&n, c);

    *bound = p.least[HX_ROOF_DDR] > p.least[HX_ROOF_DISPATCH] ? HX_BOUND_DDR : HX_BOUND_DISPATCH;
    return fmax(p.least[HX_ROOF_DDR], p.least[HX_ROOF_DISPATCH]) / c->pcycles_per_us;
}
