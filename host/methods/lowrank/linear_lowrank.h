/* Linear method `lowrank`: matrices as products of two thin ones (factors.h), y = up (down x).
 *
 * What matrices with one basis have in common, down x, is made once for all of them.  The factors, and matrices that stay as they are, are
 * applied by method cpu, by the reference, or, those that are `on_dsp`, by method dsp; so rounding, threads and batches are
 * theirs, and a result depends on nothing but its own row and vector, as theirs does; with ranks that follow the temperature, on that, too,
 * but for all of a pass alike. */
#ifndef HX_LINEAR_LOWRANK_H
#define HX_LINEAR_LOWRANK_H

#include "factorize.h"
#include "heat.h"
#include "wproj_cache.h"

struct hx_lowrank_cfg {
    struct hx_lowrank_shape shape;
    struct hx_lowrank_how how;
    int reference;      /* 1: by the reference in place of method cpu */
    const char *text;   /* file to take moments on; NULL: bases of the weights alone */
    const char *sink_text; /* file in which sinks are looked for, with shape.sink; NULL: nobody looks */
    const char *folder; /* of caches; NULL: none */
    const struct hx_thermal_rank_cfg *heat; /* ranks follow the temperature, shape.least is its least; NULL: they stay */
    uint32_t placement; /* of what is on the DSP: index of hx_placements */
    int packets;        /* likewise: 1: calls go as packets */
    int shapes_alone;   /* 1: there are no weights: factors are 0, and layers have those of one in common */
};

/* Takes over the matrices that cfg->shape names, and has the others applied as above.  o: its model, pool and watch are used.
 * 0; -EINVAL: as hx_lowrank_lay_out(), hx_moments_take(); -EDOM, -ELIBACC, -ENOMEM: as hx_lowrank_factorize(); what
 * hx_linear_dsp_open() returns. */
int hx_linear_lowrank_open(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                           const struct hx_lowrank_cfg *cfg, struct hx_error *err);

/* What an open method has made, borrowed until close. */
const struct hx_lowrank_factors *hx_linear_lowrank_factors(const struct hx_linear_method *method);

/* From now on bases may turn: factors are in memory of this method's own.  0; -EINVAL: one is on the DSP, of a text, or of its matrix'
 * smaller side; -ENOMEM. */
int hx_linear_lowrank_own(struct hx_linear_method *method, struct hx_error *err);

/* Then: what a basis is now, and another one in its place, as hx_lowrank_directions() and hx_lowrank_turn() have them; between passes.
 * Files of factors stay as they are. */
int hx_linear_lowrank_directions(const struct hx_linear_method *method, size_t basis, double *out, struct hx_error *err);
int hx_linear_lowrank_turn(struct hx_linear_method *method, size_t basis, const double *directions, struct hx_error *err);

/* NULL: ranks stay. */
const struct hx_lowrank_heat *hx_linear_lowrank_heat(const struct hx_linear_method *method);

struct hx_lowrank_told {
    enum hx_wproj_state state;
    const char *path;      /* of the cache; NULL: none */
    double seconds;        /* that making, or finding, the factors took */
    size_t vectors;        /* of the text; 0: none was taken, as bases are of weights or were found */
    size_t sink_tokens, sinks; /* that were looked at, that are ones; likewise */
    double sink_sigma;     /* of the longest state */
};
struct hx_lowrank_told hx_linear_lowrank_told(const struct hx_linear_method *method);

#endif
