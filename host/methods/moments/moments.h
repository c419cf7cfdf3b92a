/* What the model puts into its matrices while it runs a text: C = sum of x x^T for each input that is asked for, of HX_MOMENTS_WINDOWS
 * windows of HX_MOMENTS_CTX tokens at most, each in a fresh context, K and V in f32, by this CPU's kernels. */
#ifndef HX_MOMENTS_H
#define HX_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/method.h"
#include "engine/tap.h"

enum { HX_MOMENTS_WINDOWS = 120, HX_MOMENTS_CTX = 128 };

struct hx_moments_input {
    size_t layer;
    enum hx_tap_point point; /* one of HX_TAP_IN_QKV, IN_O, IN_FFN, IN_DOWN */
    size_t cols;             /* its width */
    size_t rank;             /* so many vectors it needs at least */
    float *keep;             /* [n_keep][cols] gets the first vectors as they are; NULL: nobody wants them */
    size_t n_keep;
};

struct hx_moments {
    double **of;     /* [n] C [cols][cols]; inputs that are the same one behind the other have the same */
    size_t n;
    size_t vectors;  /* that were summed */
};

/* in [n]: of o's model, which is run as its file has it; who: the method, for messages.  0; -EINVAL: the text has fewer vectors than an
 * input needs; -ENOMEM; -ELIBACC; others as hx_forward_run().  In any case to be freed. */
int hx_moments_take(struct hx_moments *m, const struct hx_moments_input *in, size_t n, const char *who, const struct hx_open *o,
                    const uint32_t *ids, size_t n_ids, struct hx_error *err);

/* Accepts zeros. */
void hx_moments_free(struct hx_moments *m);

#endif
