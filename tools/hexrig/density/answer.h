/* Measuring dispatch density: one token at each of some positions, through a KV cache at one density.
 *
 * A row's figures are what the driver counted while the token went through the cache; what came before (opening, the tokens
 * at earlier positions) is not in it.  Times are modelled. */
#ifndef HX_DENSITY_ANSWER_H
#define HX_DENSITY_ANSWER_H

#include "geometry_run.h"
#include "options/engine_opts.h"
#include "hx_session_stats.h"

struct hx_density_row {
    const char *density;         /* the value of --density, or the cache's name where it has no such option */
    char basis[16];              /* of blocks; "none" */
    size_t n_layer;              /* of the model or geometry */
    size_t pos;                  /* of the token */
    struct hx_calls formula;     /* what the methods' formulas say */
    struct hx_session_stats sum; /* what the driver has counted for the token */
};

struct hx_density_job {
    const struct hx_engine_opts *o;
    const struct hx_plan *plan;         /* resolved, of this density */
    const char *density;
    const struct hx_geometry *geometry; /* NULL: the model of o */
    const size_t *pos;                  /* [n_pos], ascending */
    size_t n_pos;
};

/* Fills rows [n_pos].  The rig is prepared.  Returns an enum hx_exit; a message is printed when not 0. */
int hx_density_measure(const struct hx_density_job *job, struct hx_density_row *rows);

#endif
