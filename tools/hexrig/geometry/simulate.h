/* A library that keeps what it missed, on queries that are made up. */
#ifndef HX_GEOMETRY_SIMULATE_H
#define HX_GEOMETRY_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Where queries come from: a cluster of equal chance, whose middle is normal with deviation `far`, and around it `spread`. */
struct hx_mixture {
    size_t queries, clusters, axes;
    double spread, far;
};

#define HX_MIXTURE_INIT {.queries = 1024, .clusters = 64, .axes = 8, .spread = .5, .far = 4}

enum { HX_SIMULATED_PARTS = 4 };

struct hx_simulated {
    size_t hits, kept;
    size_t hits_of[HX_SIMULATED_PARTS], asked_of[HX_SIMULATED_PARTS]; /* by quarters of the queries */
};

/* clusters 0: queries of one normal cloud with the same variance.  0 or -ENOMEM. */
int hx_simulate(const struct hx_mixture *m, double eps, int clusters, uint64_t key, struct hx_simulated *out, struct hx_error *err);

#endif
