/* What a token's time goes to, and what would have to change for it to take less.
 *
 * Nothing is priced here: times and counts are those of an answer (density/answer.h), ceilings those of `hexrig roofline`.  All figures
 * are modelled. */
#ifndef HX_PLAN_VERDICT_H
#define HX_PLAN_VERDICT_H

#include "roofline/roofline.h"

/* What most of the time is spent on.  ISSUE: execution of which no ceiling explains half, that is instructions one after the other,
 * and loads that wait. */
enum hx_bound {
    HX_BOUND_DDR,
    HX_BOUND_VTCM,
    HX_BOUND_HVX,
    HX_BOUND_ISSUE,
    HX_BOUND_DISPATCH,
    HX_BOUND_MARSHAL,
    HX_BOUND_QUEUE,
    HX_BOUNDS
};
extern const char *const hx_bound_names[HX_BOUNDS];

enum hx_need_what {
    HX_NEED_CALL_US,      /* what a call costs beside its execution */
    HX_NEED_CALLS,        /* of a token */
    HX_NEED_PACKET_US,
    HX_NEED_PACKETS,
    HX_NEED_EXEC_US,      /* of a token */
    HX_NEED_DDR_GB_S,
    HX_NEED_WEIGHT_BYTES, /* of matrices that a token fetches over DDR's bus */
    HX_NEED_VTCM_GB_S,
    HX_NEED_HVX_GOPS,     /* 10^9 HVX operations per second */
    HX_NEEDS
};

struct hx_need_name {
    const char *key;   /* in JSON */
    const char *text;
    int at_least;      /* 1: the more the better */
    int decimals;
};
extern const struct hx_need_name hx_need_names[HX_NEEDS];

struct hx_need {
    enum hx_need_what what;
    double now, wanted;
    int enough; /* 1: a token takes no longer than it may once this alone is so, all else staying as it is; 0: necessary, but perhaps
                 * not sufficient */
};

struct hx_verdict {
    double total_us;
    enum hx_bound bound;
    double share;                  /* of total_us, 0 to 1, that the bound explains */
    struct hx_need need[HX_NEEDS]; /* of a token that takes longer than it may */
    size_t n_needs;
};

/* sum: what one token counted.  budget_us: how long it may take, > 0. */
struct hx_verdict hx_verdict(const struct hx_session_stats *sum, const struct hx_ceilings *c, double budget_us);

/* Time that a token takes at least, whatever it does beside so many calls and packets, and bytes over DDR's bus.  *bound: which of them
 * asks for more. */
double hx_least_us(const struct hx_ceilings *c, double calls, double packets, double bytes, enum hx_bound *bound);

#endif
