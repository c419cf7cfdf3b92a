/* How interface silicon runs a matmul of vrmpy_matmul.h: by the method of that name, and inside a forward pass.
 *
 * Both need a job that hx_job_begin() has begun: its contexts share the rows.  They add to *time and return an AEE code. */
#ifndef SILICON_MATMUL_H
#define SILICON_MATMUL_H

#include "silicon_job.h"
#include "vrmpy_matmul.h"

typedef int hx_matmul_kernel(const struct hx_matmul_half *half, const float *x, const int8_t *w, const int32_t *sum,
                             const float *w_scale, float *y, uint8_t *u);

struct hx_matmul {
    struct hx_vrmpy_matmul shape;
    hx_matmul_kernel *kernel;
    const float *x, *w_scale;
    const int8_t *w;
    float *y;
    const int32_t *sum;  /* of rows; NULL for a kernel that does not read them */
    uint8_t *scratch[2]; /* quantised activations, one row per context, 128-byte aligned */
};

/* With weights where they lie. */
int hx_matmul_rows(struct hx_silicon_job *job, const struct hx_matmul *m, struct hx_parallel_time *time);

/* With weights in tiles, as published: while one tile is worked on, user DMA fetches the next into the other of two slots
 * at `vtcm`.  A row may have HX_MATMUL_SLOT_BYTES / 4 bytes at most. */
enum { HX_MATMUL_SLOT_BYTES = 1 << 20 };
int hx_matmul_stream(const struct hx_silicon_job *job, const struct hx_matmul *m, uint8_t *vtcm,
                     struct hx_parallel_time *time);

#endif
