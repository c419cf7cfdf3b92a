/* Which tensors a planted model has. */
#ifndef HX_PLANTED_TENSORS_H
#define HX_PLANTED_TENSORS_H

#include "planted.h"
#include "rows.h"

struct hx_planted_tensor {
    char name[64];
    enum hx_planted_kind kind;
    size_t layer; /* SIZE_MAX: of none */
    size_t cols, rows;
    uint32_t type;
};

/* Number of tensors, and of bytes that they take: a double, since somebody may ask for anything. */
size_t hx_planted_tensors(const struct hx_geometry *g);
double hx_planted_bytes(const struct hx_geometry *g, uint32_t type);

/* Tensor i, in the order of the file. */
struct hx_planted_tensor hx_planted_tensor(const struct hx_geometry *g, uint32_t type, size_t i);

#endif
