/* Linear method `gsi`: matrices read a small image in place of their weights, as long as what they are applied to lies in a small
 * subspace.
 *
 * Of a class of matrices (classes.h) with the basis V, z = V^T x.  If |x - V z| <= eps |x|, y = (W V) z, from the image (the fast path);
 * else y = W x, from the weights (the slow path), by method cpu or the reference as if there were no gate.  Nothing of the one is added to
 * the other.  So errors on the fast path have a bound (bound.h), on the slow one there are none.
 *
 * Vectors are judged one after the other in the order in which they come, and what a verdict changes (a direction more, a gate that is
 * switched off) counts from the next one on.  So results do not depend on how vectors are cut into batches; with growth or off_below
 * they do depend on what came before.  One thread at a time.
 *
 * Of matrices on the DSP (on_dsp.h) the gate is there, too, and all of it one call.
 * Source: the published Gated Subspace Inference. */
#ifndef HX_LINEAR_GSI_H
#define HX_LINEAR_GSI_H

#include "calibrate.h"

enum { HX_GSI_WINDOW = 256 }; /* verdicts of a gate after which it may be switched off */

struct hx_gsi_gate {
    double eps;
    int is_static;    /* 1: there is no gate, all take the images: the published negative control */
    int check;        /* 1: results of images are held against W x, which is not counted as read */
    double off_below; /* a gate that let less than this share of its last HX_GSI_WINDOW vectors pass is left open for none; 0: never */
};

struct hx_linear_gsi_cfg {
    struct hx_gsi_shape shape;
    struct hx_gsi_gate gate;
    struct hx_gsi_source from;
    int reference;      /* 1: whole matrices by the reference in place of method cpu */
    uint32_t placement; /* of what is on the DSP: index of hx_placements */
    int packets;        /* likewise: 1: calls go as packets */
};

/* Takes over the set's matrices of layers, and has the output matrix applied as whole ones are.  0; as hx_gsi_classes_open(),
 * hx_gsi_calibrate(), hx_gsi_dsp_open(). */
int hx_linear_gsi_open(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                       const struct hx_linear_gsi_cfg *cfg, struct hx_error *err);

/* Another gate over the first k directions, at most as many as were made of the text; counts begin anew.  Not with matrices on the DSP.
 * 0 or -ENOMEM. */
int hx_linear_gsi_set(struct hx_linear_method *method, size_t k, const struct hx_gsi_gate *gate, struct hx_error *err);

/* Of an open method, borrowed until close. */
const struct hx_gsi_classes *hx_linear_gsi_classes(const struct hx_linear_method *method);

/* What has its matrices on the DSP, for hx_linear_dsp_report(); NULL: nothing is there. */
const struct hx_linear_method *hx_linear_gsi_there(const struct hx_linear_method *method);

struct hx_linear_gsi_told {
    size_t vectors; /* of the text, per input */
    double seconds; /* that bases and images took */
};
struct hx_linear_gsi_told hx_linear_gsi_told(const struct hx_linear_method *method);

#endif
