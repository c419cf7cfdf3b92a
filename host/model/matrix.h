/* The matrices of a model by name: which there are in a layer, and a set of them that methods may take over.
 *
 * A model's own matrices compute by the reference and never change.  What an engine computes with is a copy of them, struct
 * hx_matrices, in which methods put their own operations; so a method and its reference can share one loaded model. */
#ifndef HX_MATRIX_H
#define HX_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"

enum hx_matrix {
    HX_WQ, HX_WK, HX_WV, HX_WO, HX_GATE, HX_UP, HX_DOWN,
    HX_PER_LAYER,       /* so many are of a layer */
    HX_OUT = HX_PER_LAYER, /* the output matrix, which is of none */
    HX_MATRICES
};

enum { HX_ALL_MATRICES = (1 << HX_MATRICES) - 1, HX_LAYER_MATRICES = (1 << HX_PER_LAYER) - 1 };

/* "wq", "wk", "wv", "wo", "gate", "up", "down", "out"; NULL-terminated. */
extern const char *const hx_matrix_names[];

/* Bits (1 << enum hx_matrix) of a word of n characters: a name above, the tensor's name in a GGUF file ("attn_q",
 * "ffn_down", "output"), or "attn", "ffn", "all" for several.  0: unknown. */
uint32_t hx_matrix_set(const char *word, size_t n);

/* which: of a layer.  An architecture without this matrix has one of 0 rows. */
struct hx_linear *hx_layer_matrix(struct hx_layer *l, enum hx_matrix which);

/* The model's matrices as an engine computes with them. */
struct hx_matrices {
    struct hx_layer *layers; /* [n_layer] norms are borrowed from the model */
    size_t n_layer;
    struct hx_linear out;
};

/* A copy of the model's, which must outlive it.  0 or -ENOMEM. */
int hx_matrices_copy(struct hx_matrices *to, const struct hx_model *m);

/* Accepts zeros. */
void hx_matrices_free(struct hx_matrices *m);

/* layer is ignored for HX_OUT. */
struct hx_linear *hx_matrices_at(struct hx_matrices *m, size_t layer, enum hx_matrix which);

/* The widest matrix's columns, over all layers; 1 at least. */
size_t hx_model_most_cols(const struct hx_model *m);

#endif
