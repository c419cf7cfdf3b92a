/* A shimmed tensor as the kernels want it, and the kernels.
 *
 * Activations are plain integers (d = 0), so of the four sums of a product only  sum of a c  and  sum of b c  are left: two
 * dot products of integers.  Each lies in a plane of its own.  A plane holds int32, because vector units multiply 32 by 32
 * bits; coordinates of a tensor that do not all fit are cut into two planes, c = high * 2^32 + low with a signed low, and
 * the sum of the high plane is added 32 bits up.  Which it is, and whether there is a b at all, is found by looking at
 * every element.
 *
 * Sums are taken modulo 2^64, which no order of adding changes; hx_ok_headroom() says that the true value fits. */
#ifndef HX_OK_PLANES_H
#define HX_OK_PLANES_H

#include "ok.h"

enum {
    HX_OK_LANES = 16,   /* a plane's rows are padded with zeros to a multiple of it */
    HX_OK_AT_ONCE = 4,  /* vectors that a kernel takes together */
    HX_OK_MAX_PLANES = 4
};

struct hx_ok_planes {
    size_t rows, cols;
    size_t stride;          /* padded columns */
    unsigned per_coord;     /* planes of a coordinate: 1, or 2 when cut: low, high */
    unsigned n;             /* planes of a row: those of a, then those of b, if there is one */
    int32_t *w;             /* [rows][n][stride], 64-byte aligned */
    size_t block, blocks;   /* columns that share a scale: a multiple of HX_OK_LANES, or all of the stride; scales of a row */
    double *scale;          /* [rows][blocks] of the tensor */
    struct hx_ok_shim shim;
};

/* Padded columns. */
size_t hx_ok_stride(size_t cols);

/* Bytes of all planes. */
uint64_t hx_ok_planes_bytes(const struct hx_ok_planes *p);

/* Copies what it needs of t.  -EINVAL: a row's scales are of blocks that are no multiple of HX_OK_LANES; -ENOMEM. */
int hx_ok_planes_of_tensor(struct hx_ok_planes *out, const struct hx_ok_tensor *t,
                           struct hx_error *err);

/* Accepts zeros. */
void hx_ok_planes_free(struct hx_ok_planes *p);

/* sums: [n] of the planes of a row, or of a block of it, for one vector.  The element that its product is. */
struct hx_ok hx_ok_planes_sum(const struct hx_ok_planes *p, const int64_t *sums);

struct hx_ok_kernel {
    const char *name;
    int (*usable)(void); /* on this CPU */

    /* sum[t] = sum of w[j] * x[t * stride + j] over j < n, for one vector and for HX_OK_AT_ONCE; n is a multiple of
     * HX_OK_LANES.  Any alignment. */
    void (*dot1)(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride, size_t n);
    void (*dot4)(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride, size_t n);

    /* The general product, four sums: sum of w[j] * x[j], coordinates within int32; n is a multiple of 4. */
    struct hx_ok (*dot_ok)(const struct hx_ok *w, const struct hx_ok *x, size_t n);
};

/* The portable one first, the fastest last; NULL-terminated. */
extern const struct hx_ok_kernel *const hx_ok_kernels[];

/* By name, or NULL for the fastest.  -EINVAL: unknown or not on this CPU, with a reason. */
int hx_ok_kernel(const struct hx_ok_kernel **out, const char *name, struct hx_error *err);

#endif
