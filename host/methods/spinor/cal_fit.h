/* How a basis' tables are fitted to vectors: sums over them, then a solution, once or twice.  calibrate.c runs it. */
#ifndef HX_CAL_FIT_H
#define HX_CAL_FIT_H

#include "hx_block_codec.h"
#include "base/error.h"

enum { HX_FIT_PASSES = 2 };

/* What the vectors of one slot were like.  `retained`: of their variance about the mean, the share in lanes that a block holds;
 * `rank`: directions in which they vary, 0: not looked at. */
struct hx_fit_seen {
    double retained;
    size_t rank;
};

struct hx_fit {
    /* doubles of sums that one slot needs */
    size_t (*n_sums)(const struct hx_codec_format *f);

    /* Per pass over all vectors (NULL: there is no such pass): adds one vector to the sums, which start as zeros ... */
    void (*add[HX_FIT_PASSES])(const struct hx_codec_format *f, const void *table, double *sums,
                               const float *x);

    /* ... and makes the table, or what a next pass needs of it, from the sums of n vectors; the first pass fills `seen` in.
     * 0, -EDOM, -ELIBACC. */
    int (*finish[HX_FIT_PASSES])(const struct hx_codec_format *f, double *sums, double n,
                                 void *table, struct hx_fit_seen *seen, struct hx_error *err);
};

extern const struct hx_fit hx_fit_vht2; /* also vht2w */
extern const struct hx_fit hx_fit_klt;

#endif
