/* The models and variants whose forward passes can be asked for, see forward.h. */
#include "forward.h"

#define GEMMA3_1B "gemma3-1b"

/* host_ms_per_token: 3330 ms for 16 tokens, embedding row and f32 LM head of 262,144 x 1152 for each. */
const struct hx_forward_model hx_forward_models[] = {
    {GEMMA3_1B, {.width = 1152, .ffn = 6912, .heads = 4, .head_width = 256}, 26, 3330.0 / 16},
};
const char *const hx_forward_model_names[] = {GEMMA3_1B, NULL};

const struct hx_forward_variant hx_forward_variants[] = {
    {"hx3b", 1, SILICON_DDR, "one context, row sums beside the products, weights in DDR"},
    {"v3", 2, SILICON_DDR, "two contexts, row sums from tables"},
    {"v4", 2, SILICON_VTCM, "that, and attention weights copied into VTCM, layer by layer"},
    {"v5", 2, SILICON_DMA, "that, and FFN weights in tiles by DMA"},
};
const char *const hx_forward_variant_names[] = {"hx3b", "v3", "v4", "v5", NULL};
