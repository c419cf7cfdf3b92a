/* A guard at work: a tap on what the output matrix reads. */
#ifndef HX_GUARD_TAP_H
#define HX_GUARD_TAP_H

#include "base/error.h"
#include "engine/linear.h"
#include "engine/tap.h"
#include "guard_file.h"

enum hx_guard_mode {
    HX_GUARD_PROJECT, /* every state */
    HX_GUARD_GATE,    /* states whose TEH is above the threshold; all others keep every bit */
    HX_GUARD_MONITOR, /* none: they are looked at */
};

extern const char *const hx_guard_mode_names[]; /* "project", "gate", "monitor", NULL */

struct hx_guard_seen {
    size_t tokens, told, projected; /* told: TEH above the threshold */
    size_t not_finite;              /* tokens whose state, and so TEH, is no number: left as they are, and in none of what follows */
    double teh_sum, teh_most;       /* before projection, 0..1 */
    double energy_sum;              /* squares of TEH */
    double left_most;               /* hx_guard_left() behind it; 0: nothing was projected, or on the DSP, which does not say */
    size_t in_vtcm;                 /* bytes of directions there */
    int on_dsp;
};

/* Takes over g's directions, also when it fails.  w: the output matrix that the engine applies.  Where that is on the DSP the guard is
 * there, too, within its calls, and sees only states whose logits are asked for; the matrix is then the tap's until it is closed.
 * NULL: on the host, as a tap.  0; -ENOMEM; -EBUSY: the matrix has a guard; -EIO. */
int hx_guard_tap_open(struct hx_tap **out, struct hx_guard *g, enum hx_guard_mode mode, double threshold, struct hx_linear *w,
                      struct hx_error *err);

struct hx_guard_seen hx_guard_tap_seen(const struct hx_tap *t);
/* The first guard of a NULL-terminated list; NULL: there is none. */
struct hx_tap *hx_guard_tap_find(struct hx_tap *const *taps);

/* The largest TEH, 0..1, since this was asked for last. */
double hx_guard_tap_most(struct hx_tap *t);

const struct hx_guard *hx_guard_tap_guard(const struct hx_tap *t);
double hx_guard_tap_threshold(const struct hx_tap *t);

#endif
