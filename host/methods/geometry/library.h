/* Trajectories that are served: whose start is near a question, and whether it is near enough.
 *
 * A look-up has two stages: the HX_LIBRARY_NEAR records whose starts are nearest in whitened coordinates (a tree, and a scan of those that
 * came since it was made), of these the one that is nearest by its own metric.  Any number of threads may ask, one at a time may add. */
#ifndef HX_LIBRARY_H
#define HX_LIBRARY_H

#include "store.h"

enum { HX_LIBRARY_NEAR = 8 };

enum hx_library_verdict {
    HX_LIBRARY_MISS,    /* nothing within eps */
    HX_LIBRARY_HIT,     /* within eps, but farther than the record's corrections are worth something */
    HX_LIBRARY_CORRECT, /* within rho */
};

struct hx_library;

struct hx_library_found {
    enum hx_library_verdict verdict;
    size_t which;      /* number of the record; of a miss the nearest one all the same, SIZE_MAX: there is none */
    double distance;   /* in whitened coordinates */
    double g_distance; /* by the record's metric */
};

struct hx_library_cfg {
    size_t n, width;   /* of the records */
    size_t capacity;   /* records; one more makes the one go that served longest ago */
    double eps;
    int by_metric;     /* 1: eps is held against g_distance; 0: against distance */
};

/* Empty.  0 or -ENOMEM. */
int hx_library_open(struct hx_library **out, const struct hx_library_cfg *cfg, struct hx_error *err);
void hx_library_close(struct hx_library *l);

/* A copy of the record.  *gone, if given, becomes the number of the record whose place it takes, SIZE_MAX: none.  Returns its number,
 * which is that one's, or negative errno. */
long hx_library_add(struct hx_library *l, const struct hx_store_record *r, size_t *gone, struct hx_error *err);

/* All records of a store instead of what is there.  0; -EINVAL: they do not fit; -ENOMEM. */
int hx_library_fill(struct hx_library *l, const struct hx_store *s, struct hx_error *err);

size_t hx_library_size(struct hx_library *l);

/* x [n].  A record that serves is not the one that goes next. */
struct hx_library_found hx_library_ask(struct hx_library *l, const double *x);

/* The same by looking at every record: what it is tested against.  least: not two stages, but the least distance by the records' own
 * metrics. */
struct hx_library_found hx_library_scan(struct hx_library *l, const double *x, int least);

/* Copies record `which`: where `to` has a state, [width] is filled. */
void hx_library_get(struct hx_library *l, size_t which, struct hx_store_record *to);

#endif
