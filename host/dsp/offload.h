/* What of a model's work goes to the DSP: an --offload list as a set of bits. */
#ifndef HX_OFFLOAD_H
#define HX_OFFLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum hx_offload {
    HX_OFFLOAD_WQ = 1 << 0,
    HX_OFFLOAD_WK = 1 << 1,
    HX_OFFLOAD_WV = 1 << 2,
    HX_OFFLOAD_WO = 1 << 3,
    HX_OFFLOAD_GATE = 1 << 4,
    HX_OFFLOAD_UP = 1 << 5,
    HX_OFFLOAD_DOWN = 1 << 6,
    HX_OFFLOAD_OUT = 1 << 7,    /* the output matrix: logits */
    HX_OFFLOAD_LINEAR = (1 << 8) - 1,
    HX_OFFLOAD_ARGMAX = 1 << 8, /* greedy choice where the logits are; implies HX_OFFLOAD_OUT */
    HX_OFFLOAD_KV = 1 << 9,     /* the cache */
    HX_OFFLOAD_ATTN = 1 << 10,  /* attention over the cache where it is; implies HX_OFFLOAD_KV */
    HX_OFFLOAD_LAYER = 1 << 11, /* layers as a whole, with their matrices, attention and cache */
};

enum { HX_OFFLOAD_TEXT = 96 }; /* bytes that hold any set's text */

/* Adds a list to *set: `linear` (all matrices), `linear=NAME,NAME...` (these), `argmax`, `kv`, `attn`, `layer`; several separated by
 * commas.
 * 0, or -EINVAL with a reason that lists what is legal. */
int hx_offload_parse(const char *list, uint32_t *set, struct hx_error *err);

/* The set as a list that hx_offload_parse() reads; "none" when it is empty. */
void hx_offload_text(uint32_t set, char text[HX_OFFLOAD_TEXT]);

#endif
