/* Plain C. */
#include "isa_tables.h"
#include "v16_portable.h"

#include "ops.inc"
#include "flash.inc"
#include "matmul_float.inc"

V16_INLINE int32_t dot_n(const uint8_t *codes, const int8_t *x, size_t n)
{
    int32_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += codes[i] * x[i];
    return sum;
}

/* The offset is taken off apart: gcc 12.2 makes wrong code of the sum of (codes[i] - 128) * x[i] for CPUs with VNNI. */
V16_INLINE void dot_four(int32_t out[4], const uint8_t *codes, int wide, const int8_t *x,
                         size_t stride, size_t have)
{
    for (size_t b = 0; b < 4; b++) {
        out[b] = b < have ? dot_n(codes + 32 * b, x + stride * b, 32) : 0;
        if (wide && b < have)
            out[b] -= 128 * ops_sum_i8(x + stride * b, 32);
    }
}

V16_INLINE int32_t dot_groups(const uint8_t codes[256], const int8_t x[256], const int8_t scale[16])
{
    int32_t sum = 0;

    for (size_t g = 0; g < 16; g++)
        sum += scale[g] * dot_n(codes + 16 * g, x + 16 * g, 16);
    return sum;
}

#include "matmul_rows.inc"

const struct hx_cpu_kernels hx_isa_portable = HX_ISA_TABLE("portable", r_matmul, {{1, 1}, {.47f, .47f}, {.38f, .40f}});
