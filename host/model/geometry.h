/* Shapes of models that are not here: layers, heads, widths, vocabulary.  What a token costs on the DSP depends on these and not on
 * weights, so it can be told without them (hexrig density --geometry). */
#ifndef HX_GEOMETRY_H
#define HX_GEOMETRY_H

#include <stddef.h>

#include "base/error.h"

struct hx_geometry {
    const char *name;
    size_t n_layer, n_kv, dh; /* layers, KV heads, values of a head */
    float rope_base;
    size_t width;             /* of the residual stream; 0: the cache's shape is all that is known */
    size_t n_head, ffn, vocab;
    int gated;                /* 1: the feed-forward has a gate beside its up matrix */
};

/* Ends with a NULL name. */
extern const struct hx_geometry hx_geometries[];

/* Names of all, NULL-terminated. */
extern const char *const hx_geometry_names[];

/* 1: `name` is meant as a file, because there is a slash in it or .json at its end. */
int hx_geometry_is_file(const char *name);

/* Reads the config.json that comes with a published model, of the architectures that hexrig runs; of one that nests the text model
 * under "text_config", that.  g->name is `path`, borrowed.  0; -ENOENT, or whatever else reading says; -EINVAL with the key that is
 * missing or out of range. */
int hx_geometry_read(struct hx_geometry *g, const char *path, struct hx_error *err);

#endif
