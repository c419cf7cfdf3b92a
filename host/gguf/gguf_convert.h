/* A GGUF file with its weights in another number format, as llama.cpp's quantize tool makes it for one type (--pure).
 *
 * Matrices get the wanted type.  Vectors (norms, biases) become F32.  What llama.cpp does not quantise (position and
 * token type tables, expert routers) keeps its type.  A matrix whose rows are no whole number of the type's blocks falls
 * back: Q4_K to Q5_0, Q6_K to Q8_0, and if that does not fit either, to F16.
 * Metadata is copied; general.file_type and general.quantization_version say what was done. */
#ifndef HX_GGUF_CONVERT_H
#define HX_GGUF_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "gguf.h"
#include "base/pool.h"

/* What one tensor becomes. */
struct hx_convert_step {
    const struct hx_gguf_tensor *from;
    uint32_t type;     /* enum hx_quant, of the new one */
    int fell_back;     /* the wanted type's blocks do not fit its rows */
    size_t index, n;   /* this tensor and all of the file */
    uint64_t in_bytes, out_bytes;
};

struct hx_convert {
    uint32_t type;        /* wanted: HX_QUANT_F16, Q4_0, Q8_0, Q4_K or Q6_K */
    struct hx_pool *pool; /* the file is the same whatever its size; NULL: the calling thread alone */

    /* Called before each tensor is converted; may be NULL.  Anything but 0 ends the conversion with -EINTR. */
    int (*tell)(void *arg, const struct hx_convert_step *step);
    void *arg;
};

/* 0 and the complete file at `path`, or negative errno with a reason and nothing there: -EINVAL: a tensor that is not F32,
 * F16 or BF16, a part of a model without the others, a weight that is no finite number or too large for the format. */
int hx_gguf_convert(const struct hx_gguf *in, const char *path, const struct hx_convert *how,
                    struct hx_error *err);

#endif
