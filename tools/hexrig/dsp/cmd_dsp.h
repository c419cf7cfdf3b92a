/* The actions of `hexrig dsp`, and the steps that `hexrig dsp call` knows. */
#ifndef HX_CMD_DSP_H
#define HX_CMD_DSP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "remote.h"

/* argv[0] = "hexrig dsp call"; returns an enum hx_exit. */
int hx_dsp_call(int argc, char **argv);

/* What a command line said. */
struct hx_call_case {
    size_t n, dh;    /* floats of a vector */
    size_t vectors;  /* in one call */
    size_t order;    /* enum hx_mobius */
    int is_v;
    uint64_t seed;   /* of the values, uniform in [-1, 1) */
};

/* One step: makes its calls on an open sp_hex and tells what came back. */
struct hx_call_step {
    const char *name, *what;

    /* Why there is no such case, as -EINVAL and a reason; else 0.  Makes no call. */
    int (*check)(const struct hx_call_case *c, struct hx_error *err);

    /* Adds figures to `out` and sets *good to whether they are what the host says.  `counted` is called after the first call
     * on the DSP, whose cost is reported.  0; -ENOMEM; -EIO: a call failed, with a reason. */
    int (*run)(const struct hx_call_case *c, remote_handle64 dsp, void (*counted)(void *arg), void *arg, json_t *out,
               int *good, struct hx_error *err);
};

extern const struct hx_call_step hx_call_steps[]; /* ends with a NULL name */

#endif
