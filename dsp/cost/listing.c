/* Simulates the in-order issue of a loop's packets until the distance between trips repeats. */
#include "listing.h"

enum {
    WARM_UP = 4,  /* trips until the distances between trips repeat */
    MEASURED = 4, /* trips that count */
    HISTORY = 64, /* packets that a wait can reach back */
};

struct issue {
    const struct hx_cost *cost;
    double at[HISTORY]; /* when the last packets issued */
    unsigned packets;   /* how many have */
    double next;        /* when the next one may */
    double next_hvx;    /* and if it has vector instructions: the begin of a context cycle */
};

/* From the issue of a packet to that of one that takes its result as a late source. */
static double latency(const struct hx_cost *c, enum hx_code_unit unit)
{
    const double of[HX_CODE_UNITS] = {
        [HX_UNIT_ALU] = c->packet_pcycles,
        [HX_UNIT_MPY] = c->mpy_pcycles,
        [HX_UNIT_FLOAT] = c->mpy_pcycles + c->packet_pcycles,
        [HX_UNIT_LOAD] = c->load_pcycles,
        [HX_UNIT_HVX] = c->hvx_pcycles,
        [HX_UNIT_VLOAD] = c->vtcm_pcycles,
        [HX_UNIT_SPILL] = c->spill_pcycles,
    };

    return of[unit];
}

static int is_vector(enum hx_code_unit unit)
{
    return unit >= HX_UNIT_HVX;
}

/* An early source is needed one issue sooner: of the scalar pipeline, or of the vector context. */
static double early(const struct hx_cost *c, uint16_t wait)
{
    if (!HX_WAIT_EARLY(wait))
        return 0;
    return is_vector(HX_WAIT_UNIT(wait)) ? c->hvx_pcycles : c->packet_pcycles;
}

/* The packet issues; its operands are in, and its unit is free. */
static double issue(struct issue *s, const struct hx_vliw_packet *p)
{
    double t = p->hvx && s->next_hvx > s->next ? s->next_hvx : s->next;

    for (int i = 0; i < HX_PACKET_WAITS && p->wait[i]; i++) {
        const uint16_t w = p->wait[i];
        const unsigned back = HX_WAIT_PACKETS(w);
        double ready;

        if (back > s->packets || HX_WAIT_UNIT(w) >= HX_CODE_UNITS)
            continue;
        ready = s->at[(s->packets - back) % HISTORY] + latency(s->cost, HX_WAIT_UNIT(w)) + early(s->cost, w);
        if (ready > t)
            t = ready;
    }
    s->at[s->packets++ % HISTORY] = t;
    s->next = t + s->cost->packet_pcycles;
    if (p->hvx)
        s->next_hvx = t + p->hvx * s->cost->hvx_pcycles;
    return t;
}

/* How long before the last packet needed them its vector loads were issued; 0: it uses none. */
static double load_to_use(const struct issue *s, const struct hx_vliw_packet *p, double t)
{
    double least = 0;

    for (int i = 0; i < HX_PACKET_WAITS && p->wait[i]; i++) {
        const uint16_t w = p->wait[i];
        const unsigned back = HX_WAIT_PACKETS(w);
        double apart;

        if (HX_WAIT_UNIT(w) != HX_UNIT_VLOAD || back >= s->packets)
            continue;
        apart = t - s->at[(s->packets - 1 - back) % HISTORY] - early(s->cost, w);
        if (least == 0 || apart < least)
            least = apart;
    }
    return least;
}

struct hx_listing_time hx_listing_time(const struct hx_code_level *level, int is_loop,
                                       const struct hx_cost *c)
{
    struct hx_listing_time out = {0};
    struct issue s = {.cost = c};
    double began = 0;

    for (unsigned trip = 0; trip < (is_loop ? WARM_UP + MEASURED : 1); trip++) {
        if (trip == WARM_UP)
            began = s.next;
        for (unsigned i = 0; i < level->packets; i++) {
            const struct hx_vliw_packet *p = &level->packet[i];
            const double t = issue(&s, p), apart = load_to_use(&s, p, t);

            if (apart > 0 && (out.load_to_use == 0 || apart < out.load_to_use))
                out.load_to_use = apart;
            out.vector_loads += trip == 0 ? p->vector_loads : 0;
        }
    }
    if (is_loop)
        out.trip = (s.next - began) / MEASURED;
    else
        out.trip = s.next_hvx > s.next ? s.next_hvx : s.next;
    return out;
}
