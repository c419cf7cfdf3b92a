/* Between poly.c and poly_shard.c. */
#ifndef HX_HOST_POLY_IMPL_H
#define HX_HOST_POLY_IMPL_H

#include "poly.h"

struct hx_poly_ops {
    size_t coefficient_bytes;
    int transforms; /* 0: blocks are the coefficients themselves */
    void (*key)(const struct hx_poly *p, void *block, const int32_t *a);
    void (*query)(const struct hx_poly *p, void *block, const int32_t *a);
    int64_t (*score)(const struct hx_poly *p, const void *query, const void *key);
    void (*decode)(const struct hx_poly *p, int32_t *a, const void *block);
    const char *(*kernel)(void);
};

/* Of one prime: no score and no decode, which take both. */
extern const struct hx_poly_ops hx_poly_sharded;

#endif
