/* Fuzz target: a GGUF file from a stranger.  What opens can be walked and its weights widened; what opens as a model must
 * also encode text and run a token. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arch/arch.h"
#include "gguf_use.h"

int hxt_fuzz_one(const uint8_t *data, size_t n);

/* All that the reader promises to have checked. */
static int walk(const struct hx_gguf *g)
{
    const struct hx_gguf_facts f = hx_gguf_facts(g);
    uint64_t sum = 0;

    for (size_t i = 0; i < f.n_kv; i++) {
        const struct hx_gguf_kv *kv = &f.kv[i];
        const uint8_t *p = kv->data;

        for (uint64_t k = 0; kv->elem == HX_GGUF_STRING && k < kv->n; k++)
            sum += hx_gguf_next_str(&p).n;
        for (size_t k = 0; k < kv->bytes; k++)
            sum += kv->data[k];
    }
    for (size_t i = 0; i < f.n_tensors; i++) {
        const struct hx_gguf_tensor *t = &f.tensors[i];
        const struct hx_quant_info *info = hx_quant_info(t->type);
        float block[HX_QK_WEIGHTS];

        info->widen(block, (const uint8_t *)t->data + t->bytes - info->bytes, info->weights);
        sum += block[0] > 0;
    }
    return sum == UINT64_MAX; /* so that nothing of it is optimised away */
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1); /* aligned, and of exactly this size for ASan */
    struct hx_model *m = NULL;
    struct hx_gguf *g;
    struct hx_error err;
    int rc = 0;

    if (!copy)
        return 0;
    memcpy(copy, data, n);
    if (!hx_gguf_open_bytes(&g, "fuzz.gguf", copy, n, &err)) {
        rc = walk(g);
        if (!hx_model_from_gguf(&m, g, hx_archs, &err))
            rc |= gguf_use(m);
    }
    hx_model_close(m);
    free(copy);
    return rc;
}
