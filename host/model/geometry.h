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

/* 1: `name` is meant as a file, because there is a slash in it (and no digit at its beginning), or .json, .geometry or .gguf at its end. */
int hx_geometry_is_file(const char *name);

/* Reads a file: lines of `key = value` (docs/density.md, "A geometry of one's own"), or the config.json that comes with a published
 * model, of the architectures that hexrig runs; of one that nests the text model under "text_config", that; or the metadata of a GGUF
 * file (.gguf), of which nothing behind them has to be there.  g->name is `path`,
 * borrowed.  0; -ENOENT, or whatever else reading says; -EINVAL with file, line and the key that is unknown, missing or out of
 * range, and what is legal. */
int hx_geometry_read(struct hx_geometry *g, const char *path, struct hx_error *err);

/* By whatever a person calls it: the name of one of the above; a file; or its numbers,
 *     LAYERSxHEADS[/KV_HEADS]xHEAD_SIZE[xWIDTH[xFFN[xVOCABULARY]]]
 * where KV_HEADS is HEADS unless it is said, WIDTH is HEADS * HEAD_SIZE, and an FFN or vocabulary that is not said is 0: there are no
 * such matrices.  g->name is `name`, borrowed.  0; as hx_geometry_read(). */
int hx_geometry_find(struct hx_geometry *g, const char *name, struct hx_error *err);

#endif
