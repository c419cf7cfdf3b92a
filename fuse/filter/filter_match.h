/* Which calls a filter means: keys that `error`, `delay`, `log` and `trace` share.
 *
 *   ops=A+B     ioctls by name: INVOKE (default), CREATE, ATTACH, MAP, UNMAP, INFO, or ALL
 *   method=N    of INVOKE, only method N of a skel, as its interface counts them, beyond 30 too (calls on static handles then
 *               never match)
 *   nth=N       only the N-th call that matches so far, from 1
 *   rate=P%     each call that matches so far with this probability; the choice repeats from run to run */
#ifndef HX_FILTER_MATCH_H
#define HX_FILTER_MATCH_H

#include "core/call.h"

struct hx_filter_match {
    unsigned ops;      /* bits, as in filter_match.c */
    int64_t method;    /* -1 = any */
    unsigned long nth; /* 0 = every */
    unsigned long seen;
    double rate;   /* 0..1 */
    uint64_t draw; /* state of the choice */
};

void hx_filter_match_init(struct hx_filter_match *m);

/* 1 when the key is one of these and its value is good, 0 when the key is another one, -EINVAL. */
int hx_filter_match_key(struct hx_filter_match *m, const char *key, const char *value);

/* Whether this call is meant; counts, so ask once per call. */
int hx_filter_matches(struct hx_filter_match *m, const struct hx_call *call);

#define HX_FILTER_MATCH_HELP \
    "ops=INVOKE+CREATE+ATTACH+MAP+UNMAP+INFO|ALL method=0.. nth=1.. rate=0..100%"

/* "INVOKE", "CREATE", ...; "OTHER" for the rest. */
const char *hx_filter_op_name(uint32_t cmd);

#endif
