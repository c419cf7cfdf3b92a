/* Bases for projected K and V: for each layer, KV head, and K or V an orthonormal basis of the head's space, ordered so that its first r
 * directions are the best ones to keep.
 *
 *   weight  left singular vectors of the head's rows W [dh][width] of wk or wv, that is eigenvectors of G = W W^T, by falling singular
 *           value: what an input without any preferred direction is projected to.  Where heads of K have a norm with weights, G of K
 *           has these on both sides.  After RoPE G is the mean of R_p G R_p^T, R_p the rotation at position p, over 64 positions that
 *           are spread over the context that the model was trained with.
 *   calib   eigenvectors of the uncentred second moments of the K or V of a text, that of calibrations (methods/spinor/calibrate.h)
 *
 * K is taken before or after RoPE.  Vectors are rows.  Source: published KV projection by W_K, read per head (docs/kv-projection.md). */
#ifndef HX_KV_BASIS_H
#define HX_KV_BASIS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/model.h"

enum hx_kv_basis_from { HX_KV_BASIS_WEIGHT, HX_KV_BASIS_CALIB };

extern const char *const hx_kv_basis_names[]; /* "weight", "calib", NULL */

struct hx_kv_basis {
    size_t n_layer, n_kv, dh;
    enum hx_kv_basis_from from;
    int k_after_rope;
    uint64_t fingerprint; /* of the model */
    float *u;             /* [n_layer][2: K, V][n_kv][dh][dh] */
};

/* The basis [dh][dh] of one head. */
static inline float *hx_kv_basis_at(const struct hx_kv_basis *b, size_t layer, int is_v, size_t head)
{
    return b->u + ((layer * 2 + (size_t)is_v) * b->n_kv + head) * b->dh * b->dh;
}

/* From weights.  0, -ENOMEM; -ELIBACC, -EDOM: as hx_eigen_symmetric(). */
int hx_kv_basis_of_weights(struct hx_kv_basis **out, const struct hx_model *m, int k_after_rope, struct hx_error *err);

/* From a text file.  Errors as above and as hx_calibrate_text(). */
int hx_kv_basis_of_text(struct hx_kv_basis **out, const struct hx_model *m, int k_after_rope, const char *path, struct hx_error *err);

/* The unit vectors, for shapes without a model: a projection costs as much with these.  0 or -ENOMEM. */
int hx_kv_basis_units(struct hx_kv_basis **out, const struct hx_model *m, int k_after_rope, struct hx_error *err);

/* --- files, little-endian: 8 bytes "HXKVB\0\0\0"; u32 version (1), dh, n_layer, n_kv, flags (bit 0: K after RoPE, bit 1: calib), 0; u64
 * fingerprint; u in f32; u32 CRC-32 of all before it. */

/* 0, -errno of the file, -ENOMEM; -EINVAL: no such file, damaged, or of another model than m. */
int hx_kv_basis_read(struct hx_kv_basis **out, const char *path, const struct hx_model *m, struct hx_error *err);

/* Writes a new file, or replaces one of its kind when the new one is complete.  0, -errno. */
int hx_kv_basis_write(const struct hx_kv_basis *b, const char *path, struct hx_error *err);

/* Accepts NULL. */
void hx_kv_basis_free(struct hx_kv_basis *b);

#endif
