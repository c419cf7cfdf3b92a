/* Copies of a call's buffers that lie where the kernels of spinor.h and spinor_attn.h do not take them: the call works on aligned copies
 * then, with the same results, takes longer, and says so (hexrig_slow_path.h). */
#ifndef SP_HEX_COPY_H
#define SP_HEX_COPY_H

#include <stddef.h>
#include <stdint.h>

/* On HVX, divided among the contexts; any alignment.  What hx_parallel() returns. */
int hx_sp_copy(void *to, const void *from, size_t bytes);

static inline size_t hx_sp_whole_vectors(size_t bytes)
{
    enum { VECTOR = 128 };

    return (bytes + VECTOR - 1) / VECTOR * VECTOR;
}

#endif
