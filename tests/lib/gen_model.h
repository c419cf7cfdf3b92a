/* Makes tiny random GGUF models of every architecture, with one thing wrong if a test wants so.
 *
 * A model is a function of its settings and of `seed`.  Weights are drawn so that every part of the model matters to the
 * logits.  The tokenizer is byte-level BPE without a merge but two: 256 bytes, "he", "the". */
#ifndef GEN_MODEL_H
#define GEN_MODEL_H

#include <stddef.h>
#include <stdint.h>

enum { GEN_VOCAB = 258, GEN_MAX_EDITS = 4 };

struct gen_tensor {
    char name[48];
    size_t rows, cols; /* rows 1: a vector */
    uint32_t type;     /* enum hx_quant */
    float *w;          /* [rows][cols], the values as the file has them, after rounding to its type */
};

struct gen_model {
    /* settings: gen_init() fills them in for an architecture, a test may change them before gen_build() */
    const char *arch;
    uint64_t seed;
    uint32_t type;           /* of matrices: HX_QUANT_F32, _F16 or _Q8_0 */
    size_t n_layer, width, n_head, n_kv, dh, ffn, n_ctx;
    size_t rot;              /* values of a head that are turned; 0: no RoPE */
    size_t window, period;   /* 0: none; of `period` layers the last is global */
    float eps, rope_base, local_base;
    float linear_factor;     /* rope.scaling.factor of type linear; 0: no keys */
    int old_linear;          /* 1: as rope.scale_linear, without a type */
    int local_keys;          /* 1: keys for period and local_base, also where they are the default */
    int llama3_keys;         /* 1: rope.scaling.* of type llama3 */
    int factors;             /* 1: tensor rope_freqs.weight */
    int biases;              /* 1: llama with biases in its attention */
    int own_output;          /* 1: output.weight; 0: tied */
    float attn_cap, logit_cap; /* 0: none */
    const char *drop_key, *drop_tensor; /* left out of the file */
    const char *more_tensor; /* a vector of this name is added */
    const char *narrow_tensor; /* the file says that it has 32 columns less */
    const char *type_tensor; /* gets type F16 */
    struct {
        const char *key, *text; /* text NULL: a number */
        uint32_t number;
    } set[GEN_MAX_EDITS];       /* more keys, by their whole names */

    /* results of gen_build() */
    struct gen_tensor *tensors;
    size_t n_tensors;
    uint8_t *file;
    size_t n_file;
};

/* Names of the architectures, NULL-terminated. */
extern const char *const gen_archs[];

void gen_init(struct gen_model *g, const char *arch);
void gen_build(struct gen_model *g);
void gen_free(struct gen_model *g); /* what gen_build() made */

/* A tensor's values; ends the program when there is no such tensor.  gen_find: NULL instead. */
const float *gen_weights(const struct gen_model *g, const char *name);
const float *gen_find(const struct gen_model *g, const char *name);

#endif
