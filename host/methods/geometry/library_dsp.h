/* Trajectories in DSP memory: one call looks many questions up and corrects them (kernels/gtc). */
#ifndef HX_LIBRARY_DSP_H
#define HX_LIBRARY_DSP_H

#include <stdint.h>

#include "trajectory.h"

enum { HX_LIBRARY_DSP_AXES = 8 }; /* of a question: coordinates behind the trajectories' own are 0 */

struct hx_library_dsp;

/* Hands t [n] over.  most: questions of a call.  packets: calls are packets of a dspqueue.  0; -EINVAL: trajectories that are no numbers;
 * -ENOMEM; -EIO: what the DSP said; others of hx_skel_open(). */
int hx_library_dsp_open(struct hx_library_dsp **out, const struct hx_trajectory *t, size_t n, size_t most, int packets,
                        struct hx_error *err);
void hx_library_dsp_close(struct hx_library_dsp *l);

/* Bytes of the library, and how many of them are in VTCM. */
size_t hx_library_dsp_bytes(const struct hx_library_dsp *l);
size_t hx_library_dsp_in_vtcm(const struct hx_library_dsp *l);

/* One call: for each of x [n][axes] the nearest start, by distance in coordinates, in which [n], and what its trajectory makes of the
 * question, in y [n][axes]; in f32.  n <= most.  0 or -EIO. */
int hx_library_dsp_serve(struct hx_library_dsp *l, const double *x, size_t n, uint32_t *which, double *y, struct hx_error *err);

/* One call: the same in two stages, as hx_library_ask() has them: of the 8 nearest starts the one that is nearest by its own metric.
 * g2 [n], the squared distance by it, may be NULL. */
int hx_library_dsp_look_up(struct hx_library_dsp *l, const double *x, size_t n, uint32_t *which, double *g2, double *y,
                           struct hx_error *err);

/* One call: x [axes][n], a coordinate's values beside each other, corrected by trajectory `which`: y likewise.  n <= most. */
int hx_library_dsp_correct(struct hx_library_dsp *l, size_t which, const double *x, size_t n, double *y, struct hx_error *err);

#endif
