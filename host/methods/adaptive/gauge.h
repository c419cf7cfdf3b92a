/* Gains of the residual stream that make tails small: the published Axiom Gauge.
 *
 * As if the stream were G x, G = diag(g), matrices that read it become W G^-1 and those that write it G W.  The tail of a matrix of
 * rank r is what its r largest singular values leave: |W|^2 - sum of S_k^2, k <= r.  Per value i of the stream, A_i is the squared norm of
 * column i of all that reads leave, B_i that of row i of all that writes leave.  With l_i = log g_i
 *
 *     d tail / d l_i = 2 (B_i - A_i),   a step: l_i += step / 4 log(A_i / B_i)
 *
 * as long as the tail falls; then mean(l) = 0.  The factors are made as if there were these gains and are without them again
 * (hx_lowrank_how.gain), so at full rank the model is what it was; the stream itself is never multiplied, as norms stand in it.
 *
 * A smaller tail of gauged matrices is no smaller error of the matrices: that is least without gains (Eckart and Young).  So nothing but a
 * text can say whether gains help (docs/adaptive.md). */
#ifndef HX_GAUGE_H
#define HX_GAUGE_H

#include "base/pool.h"
#include "engine/linear.h"

struct hx_gauge_matrix {
    const struct hx_linear *w;
    size_t rank;
    int writes;        /* 1: its rows are the stream's values; 0: its columns */
};

struct hx_gauge {
    const struct hx_gauge_matrix *at;
    size_t n;
    size_t width;      /* of the stream */
    struct hx_pool *pool;
};

/* The tail with gains exp(log_gain [width]); reads, writes [width]: A and B, of which the gradient is 2 (B - A).
 * 0; -EDOM: weights are no numbers; -ELIBACC; -ENOMEM. */
int hx_gauge_tail(const struct hx_gauge *g, const double *log_gain, double *tail, double *reads, double *writes, struct hx_error *err);

struct hx_gauge_told {
    double before, after; /* tail */
    size_t steps;         /* that were taken */
};

/* log_gain [width] becomes the gains' logarithms, mean 0, of at most so many steps.  As above. */
int hx_gauge_find(const struct hx_gauge *g, size_t steps, double *log_gain, struct hx_gauge_told *told, struct hx_error *err);

#endif
