/* What was found out about a model's states, in a file, so that the next start has it at once: ott_geometry.bin, by the published name.
 *
 *   offset 0   "OTTGEO01", u64 key of text and options, u64 fingerprint of the model, u64 digest of the weights of the depth sink's layer,
 *              u64 digest of all behind this header, u32 layers, u32 layer of the depth sink, u32 intrinsic dimension, u32 statements,
 *              u64 bytes of the report
 *   64         f64 per layer: share of the variance that so many components hold as the dimension says
 *   then       56 bytes a statement: u32 type, accepted, survived, 0; u64 which[3]; f64 value, again (axioms.h)
 *   then       the report, JSON
 *
 * Little-endian.  The same model, text and options give the same bytes.  A file is there when it is complete.  What it was made of is asked
 * by the weights of one layer, the depth sink's, which takes as long as reading them. */
#ifndef HX_SUBSPACE_GEOMETRY_FILE_H
#define HX_SUBSPACE_GEOMETRY_FILE_H

#include <jansson.h>

#include "axioms.h"
#include "subject.h"

struct hx_ott_geometry {
    uint64_t key;
    size_t n_layer, sink, dim; /* dim: intrinsic dimension of a sample */
    double *held;              /* [n_layer] */
    struct hx_axiom *axioms;   /* [n_axioms] */
    size_t n_axioms;
    json_t *report;
};

/* 1: the file is there, whole, and of that key and model; g to be freed.  0: it is not, and *why says why, or is NULL: there is none. */
int hx_ott_geometry_read(struct hx_ott_geometry *g, const char *path, uint64_t key, const struct hx_subject *s, const char **why);

/* 0 or negative errno with a reason. */
int hx_ott_geometry_write(const struct hx_ott_geometry *g, const char *path, const struct hx_subject *s, struct hx_error *err);

/* Accepts zeros. */
void hx_ott_geometry_free(struct hx_ott_geometry *g);

#endif
