/* What the model puts into its matrices while it runs a text: C = sum of x x^T for each basis, of HX_MOMENTS_WINDOWS windows of
 * HX_MOMENTS_CTX tokens at most, each in a fresh context, K and V in f32, by this CPU's kernels. */
#ifndef HX_LOWRANK_MOMENTS_H
#define HX_LOWRANK_MOMENTS_H

#include "factors.h"

enum { HX_MOMENTS_WINDOWS = 120, HX_MOMENTS_CTX = 128 };

struct hx_moments {
    double **of;     /* [n_bases] C [cols][cols]; bases with one input have the same */
    size_t n_bases;
    size_t vectors;  /* that were summed */
};

/* f: of o's model, which is run as its file has it.  0; -EINVAL: the text has fewer vectors than a basis' rank; -ENOMEM; others as
 * hx_forward_run().  In any case to be freed. */
int hx_moments_take(struct hx_moments *m, const struct hx_lowrank_factors *f, const struct hx_open *o, const uint32_t *ids, size_t n_ids,
                    struct hx_error *err);

/* Accepts zeros. */
void hx_moments_free(struct hx_moments *m);

#endif
