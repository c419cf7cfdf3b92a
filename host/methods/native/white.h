/* Coordinates of inputs in which a weighted loss is a plain one: with M = R R^T, tr(E M E^T) = |E R|^2, and W_n R = B_out C (R^T B_in)^T is
 * of the same form.  Steps are taken there, as M's eigenvalues differ by orders of magnitude, and a step that is long in one direction and
 * short in another goes nowhere. */
#ifndef HX_NATIVE_WHITE_H
#define HX_NATIVE_WHITE_H

#include "native.h"

struct hx_native_white {
    struct hx_native_target plain; /* W R, without moments */
    double *w;                     /* W R */
    double *to, *back;             /* R and its inverse, [cols][cols]; of directions in which M has nothing that is 0 */
};

/* t: with moments.  -EDOM, -ELIBACC, -ENOMEM; in any case to be closed. */
int hx_native_white_open(struct hx_native_white *w, const struct hx_native_target *t, struct hx_error *err);
void hx_native_white_close(struct hx_native_white *w);

/* From the model's coordinates to these, and back; bases become orthonormal there.  work: of n.  -EDOM, -ENOMEM. */
int hx_native_white_enter(const struct hx_native_white *w, struct hx_native *n, struct hx_native_work *work, struct hx_error *err);
int hx_native_white_leave(const struct hx_native_white *w, struct hx_native *n, struct hx_native_work *work, struct hx_error *err);

#endif
