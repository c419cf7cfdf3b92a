/* Asks the cost model the same under a profile and under each of its variants, in which one parameter is moved. */
#ifndef HX_TIMING_VARY_H
#define HX_TIMING_VARY_H

#include "timing_params.h"

/* Asks the rig that this process is connected to: figures[n_figures].  moved: the parameter that is not as the profile says, and
 * base[n_figures] what was asked before, when all were; NULL, both, that time.  An enum hx_exit; it has said on stderr what
 * failed. */
typedef int hx_timing_measure(const void *arg, const struct hx_timing_param *moved, const double *base, double *figures);

struct hx_timing_vary {
    const char *cmd;       /* for messages */
    const char *front_end; /* of the rigs, or NULL */
    hx_timing_measure *measure;
    const void *arg;
    size_t n_figures;
};

/* Room that hx_timing_vary() wants, in numbers. */
size_t hx_timing_vary_room(const struct hx_timing_params *p, size_t n_figures);

/* figures[variant][n_figures]: 0: under the profile as it is; k + 1: with parameter k moved.  Every variant has a process and a
 * rig of its own, a few at a time; this process must not be connected to a rig.  Returns an enum hx_exit. */
int hx_timing_vary(const struct hx_timing_vary *v, const struct hx_timing_params *p, double *figures);

/* d ln(figure) / d ln(parameter): out[n_figures][n_varying]; 0 where a figure is not above 0. */
void hx_timing_slopes(const struct hx_timing_params *p, size_t n_figures, const double *figures, double *out);

#endif
