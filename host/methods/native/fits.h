/* A model's matrices in k dimensions: which there are, what each is fitted to, and their file.
 *
 * File, little-endian:
 *   offset 0   "HXNATIVE", u32 version 1, u32 parts, u64 fingerprint of the model, u32 flags (1: fitted to a text's outputs), u32 0
 *   32         a record of 40 bytes for each part: u32 layer, matrix (enum hx_matrix), rows, columns, k, 0; f64 loss, bound (-1: not known)
 *   then       of each part B_out^T [k][rows], C [k][k], B_in^T [k][cols], f32; last a CRC-32 of all before
 * The fingerprint is one of shapes and norms, so what was fitted to a file in F16 goes with the same model in Q8_0.
 *
 * Sources: native.h. */
#ifndef HX_NATIVE_FITS_H
#define HX_NATIVE_FITS_H

#include "engine/method.h"
#include "methods/moments/moments.h"
#include "model/matrix.h"
#include "native_fit.h"

struct hx_native_part {
    const struct hx_linear *w; /* borrowed */
    size_t layer;
    enum hx_matrix which;
    struct hx_native n;
    double loss, bound; /* as native.h has them; bound -1: not known */
    double plain;       /* loss without a text; the same where there is none */
};

struct hx_native_fits {
    struct hx_native_part *at; /* [n] in the set's order */
    size_t n;
    uint64_t fingerprint;
    int of_text; /* 1: losses are of outputs, over a text */
    struct hx_moments moments; /* of each part, while they are fitted; zeros: none */
};

/* Those of a set that `matrices` names (bits of enum hx_matrix; never the output matrix), of k dimensions or as many as its smaller side
 * has, with room for `room` likewise; nothing of them is there yet.  f:
 * zeroed.  -EINVAL: there is none; -ENOMEM; in any case to be freed. */
int hx_native_fits_take(struct hx_native_fits *f, const struct hx_linear_set *set, uint32_t matrices, size_t k, size_t room,
                        struct hx_error *err);

/* Moments of a text, by which losses are weighted from now on.  o: its model, pool and watch are used.  Errors: hx_moments_take(). */
int hx_native_fits_weigh(struct hx_native_fits *f, const struct hx_open *o, const uint32_t *ids, size_t n_ids, struct hx_error *err);

/* Fits one part to its target; f and arg are everybody's. */
typedef int hx_native_fits_fn(void *arg, struct hx_native_part *p, const struct hx_native_target *t, struct hx_error *err);

/* All parts, on the pool's threads, whose memory is got where it is missing, and sets their losses.  watch hears of it as `what`.
 * 0, or the first failure, which names its part. */
int hx_native_fits_each(struct hx_native_fits *f, struct hx_pool *pool, const struct hx_watch *watch, const char *what,
                        hx_native_fits_fn *fn, void *arg, struct hx_error *err);

/* A hx_native_fits_fn: the best of its k, and the bound.  arg: NULL. */
int hx_native_fits_best(void *arg, struct hx_native_part *p, const struct hx_native_target *t, struct hx_error *err);

/* The file, which replaces what is there if that is one, too, when it is complete.  0 or negative errno with a reason. */
int hx_native_fits_write(const struct hx_native_fits *f, const char *path, struct hx_error *err);

/* f: zeroed.  m: whose matrices they have to be.  Parts' w is NULL, and their room k or `room` at most, whichever is more.
 * -EINVAL: it is no such file, damaged, or of another model: one line says which; others as hx_text_read().  In any case to be freed. */
int hx_native_fits_read(struct hx_native_fits *f, const char *path, const struct hx_model *m, size_t room, struct hx_error *err);

/* NULL: it has none of this matrix. */
struct hx_native_part *hx_native_fits_find(const struct hx_native_fits *f, size_t layer, enum hx_matrix which);

void hx_native_fits_free(struct hx_native_fits *f); /* accepts zeros */

#endif
