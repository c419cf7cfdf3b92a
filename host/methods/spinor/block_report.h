/* What a block's format costs, on paper: sizes, and ratios three ways. */
#ifndef HX_BLOCK_REPORT_H
#define HX_BLOCK_REPORT_H

#include <jansson.h>

#include "hx_block_codec.h"

/* {"dh", "padded", "payload_bytes", "slot_bytes", "bits_per_value", "ratio_padded_f32", "ratio_f32", "ratio_f16"} */
json_t *hx_block_sizes(const struct hx_block_shape *s);

/* The same with {"basis", "code", "k"}. */
json_t *hx_block_report(const struct hx_codec_format *f, int k_after_rope);

#endif
