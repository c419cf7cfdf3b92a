/* The published test vectors of the spinor block: tables and input vectors by formula (docs/block.md), so that a file of
 * results is all that another implementation needs. */
#ifndef HX_BLOCK_GOLDEN_H
#define HX_BLOCK_GOLDEN_H

#include "hx_block_codec.h"

enum { HX_GOLDEN_VECTORS = 4, HX_GOLDEN_VALUES = 16 };

/* "wave", "spike", "zero", "tiny", NULL */
extern const char *const hx_golden_names[HX_GOLDEN_VECTORS + 1];

/* x: [dh] */
void hx_golden_vector(size_t vector, size_t dh, float *x);

/* A table of hx_block_table_bytes(). */
void hx_golden_table(const struct hx_codec_format *f, void *table);

struct hx_golden {
    struct hx_codec_format f;
    size_t vector;
    uint8_t block[HX_BLOCK_MAX_SLOT];
    float decoded[HX_GOLDEN_VALUES]; /* element i * dh / 16 of the decoded vector */
};

/* Fills block and decoded from f and vector.  0, -ENOMEM. */
int hx_golden_make(struct hx_golden *g);

#endif
