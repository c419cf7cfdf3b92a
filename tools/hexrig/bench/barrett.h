/* What Barrett's method gains over a 128-bit division, in products modulo the 60-bit prime: the same loops with either, measured in
 * turns within one run.  For `hexrig bench exact` and `make bench`. */
#ifndef HX_BENCH_BARRETT_H
#define HX_BENCH_BARRETT_H

#include <stddef.h>

#include "base/error.h"
#include "compare_stats.h"

enum { HX_BARRETT_ROWS = 3 };

struct hx_barrett_row {
    const char *name;            /* "chain": each product needs the one before; "pointwise": none does; "transform": N = 256 */
    double percent_ns;           /* of a product (transform: of a butterfly) reduced by %, mean of the rounds */
    double barrett_ns;           /* by Barrett's method */
    double speedup;              /* mean of percent / barrett, round by round */
    struct hx_interval interval; /* of it: 95 %, bootstrap of the rounds */
};

/* rounds: 2 to HX_COMPARE_MAX; half a millisecond each.  -EBADMSG: the two ways differ in a result; -ENOMEM. */
int hx_barrett_measure(struct hx_barrett_row rows[HX_BARRETT_ROWS], size_t rounds, struct hx_error *err);

#endif
