/* Queries of blocks of layers from a capture. */
#ifndef HX_ATTNRES_QUERIES_H
#define HX_ATTNRES_QUERIES_H

#include <stddef.h>

#include "base/error.h"
#include "model/model.h"

/* *out: [blocks][width], malloc'ed: the mean of the file's rows of point after_ffn at the last layer of each block of `block` layers.
 * 0, -ENOMEM; -EINVAL: not a capture, of another model, or without one of these layers; negative errno of the file. */
int hx_attnres_queries(float **out, const char *path, const struct hx_model *m, size_t block, struct hx_error *err);

#endif
