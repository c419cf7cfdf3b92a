/* Questions that the DSP looks up and corrects, by how many a call has. */
#ifndef HX_GEOMETRY_ON_DSP_H
#define HX_GEOMETRY_ON_DSP_H

#include "trajectories.h"

struct hx_dsp_sizes {
    const size_t *size; /* [n] questions of a call, rising */
    size_t n;
};

struct hx_dsp_how {
    const char *profile; /* of a rig of this process's own */
    int packets;
    size_t records;      /* trajectories, of the cloud's first points */
};

/* {"library_bytes", "in_vtcm", "host_us", "serve_B": {...}, "crossover"}: one call for each size, what the driver counted and modelled
 * for it, and beside it the host, which is measured.  The cloud's metric is there.  Returns an enum hx_exit after a message. */
int hx_dsp_resonance(struct hx_space *p, const struct hx_made *how, const struct hx_dsp_how *dsp, const struct hx_dsp_sizes *sizes,
                     json_t **out);

#endif
