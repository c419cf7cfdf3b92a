/* Attention over depth: the residual stream as sums of blocks of layers, which are weighed anew where a block ends.
 *
 * Layers 0..L-1 are blocks of `block` layers; the last one may be shorter.  Of each token b_0 is the embedding, b_n what the layers
 * of block n have added to the stream (n from 1), so that the plain stream is their sum.  Where block n ends there are N = n + 1:
 *     a_i = softmax_i(tau * <q/|q|, b_i/|b_i|>)     mix = N * sum of a_i b_i     x <- x + s (mix - x)
 * A query of 0 makes all a_i 1/N, and mix the stream: nothing changes.  After a mix the next block begins with what came out.
 *
 * HX_ATTNRES_STATES takes the streams themselves where blocks ended for b_n, and their mean for the mix, without N: as weights are said
 * to be learned for.  The newest is the stream, so that with a large tau nothing changes.
 *
 * `damp` instead weakens what a layer adds, by how deep it is, d = layer / (L - 1): attention by 1 - 0.12 s d, the feed-forward by
 * 1 - 0.18 s d.  `damp-stream` multiplies by that the stream that they are added to, and not what is added.
 *
 * Either is a tap (engine/tap.h): it works on the rows of a batch by themselves, whatever cache, attention and matrices there are.
 * With s = 0 nothing is written.  Memory for the summaries of a batch grows with the largest one that came.
 * Source: published block attention residuals; docs/attnres.md says what of them is read how. */
#ifndef HX_ATTNRES_H
#define HX_ATTNRES_H

#include <stddef.h>

#include "base/error.h"
#include "engine/tap.h"
#include "model/model.h"

enum hx_attnres_mode { HX_ATTNRES_BLEND, HX_ATTNRES_DAMP, HX_ATTNRES_DAMP_STREAM };
enum hx_attnres_summary { HX_ATTNRES_SUMS, HX_ATTNRES_STATES };
enum hx_attnres_query { HX_ATTNRES_STATE, HX_ATTNRES_ZERO, HX_ATTNRES_FILE };

extern const char *const hx_attnres_mode_names[];  /* "blend", "damp", "damp-stream", NULL */
extern const char *const hx_attnres_summary_names[]; /* "sums", "states", NULL */
extern const char *const hx_attnres_query_names[]; /* "state", "zero", "file", NULL */

struct hx_attnres_cfg {
    enum hx_attnres_mode mode;
    double strength;         /* s: 0..1 */
    /* of blend */
    size_t block;            /* layers; 0: a ceil(L / 8)-th of them, at least 2 */
    double tau;              /* 0..1e6 */
    enum hx_attnres_summary summary;
    enum hx_attnres_query query;
    const char *file;        /* of HX_ATTNRES_FILE: a capture (capture.h) of this model, whose mean row of point after_ffn at a block's
                              * last layer is that block's query */
};

/* 0, -ENOMEM; -EINVAL: a block longer than the model, a file that is no capture of this model or lacks a layer; negative errno of the
 * file. */
int hx_attnres_open(struct hx_tap **out, const struct hx_attnres_cfg *cfg, const struct hx_model *m, struct hx_error *err);

/* What it has seen.  Root mean squares are over all rows and values. */
struct hx_attnres_seen {
    size_t rows;             /* tokens that ran */
    size_t n_layer, block, blocks;
    const double *rms;       /* [n_layer] of the stream behind each layer */
    double exponent;         /* slope of ln rms over ln(layer + 1), by least squares; 0 of one layer */
    /* of blend, by block, from 0 */
    const double *newest;    /* [blocks] mean weight a of the block's own summary */
    const double *moved;     /* [blocks] |x' - x| / |x|, root mean square */
};
struct hx_attnres_seen hx_attnres_seen(const struct hx_tap *t);

#endif
