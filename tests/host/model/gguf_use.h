/* What a model from a stranger must survive once it has opened: every tensor's ends widened, text encoded, a token run. */
#ifndef GGUF_USE_H
#define GGUF_USE_H

#include <errno.h>
#include <stdlib.h>

#include "engine/forward.h"
#include "model/model.h"

enum { GGUF_USE_FLOATS = 1 << 20 }; /* larger models are not run: it would only be slow */

static inline int gguf_use_run(const struct hx_model *m, uint32_t id)
{
    struct hx_kv *kv = NULL;
    struct hx_attn *attn = NULL;
    struct hx_forward *f = NULL;
    int rc = 0;

    if (!hx_kv_f32_open(&kv, m->n_layer, m->n_kv, m->dh, 4, NULL) &&
        !hx_attn_ref_open(&attn, 4, NULL) && !hx_forward_open(&f, m, kv, attn, 1, NULL))
        rc = hx_forward_run(f, &id, 1, 0, NULL);
    hx_forward_close(f);
    hx_attn_close(attn);
    hx_kv_close(kv);
    return rc == -EDOM ? 0 : rc; /* weights that are no numbers are a reported error */
}

/* 0, or what went wrong. */
static inline int gguf_use(const struct hx_model *m)
{
    const struct hx_gguf_facts f = hx_gguf_facts(m->file);
    uint32_t *ids = NULL;
    size_t n_ids;
    int rc = 0;

    for (size_t i = 0; i < f.n_tensors; i++) {
        const struct hx_gguf_tensor *t = &f.tensors[i];
        const struct hx_quant_info *info = hx_quant_info(t->type);
        float block[HX_QK_WEIGHTS];

        info->widen(block, t->data, info->weights);
        info->widen(block, (const uint8_t *)t->data + t->bytes - info->bytes, info->weights);
    }
    if (hx_tokenizer_encode(m->tok, "the h\xc3\xa9 12  \xff'll", 17, &ids, &n_ids))
        return 1;
    for (size_t i = 0; i < n_ids; i++)
        rc |= ids[i] >= m->vocab;
    if (!rc && n_ids && m->vocab * m->width < GGUF_USE_FLOATS && m->n_layer < 8 &&
        m->n_kv * m->dh < 4096 && m->ffn < 1 << 16)
        rc = gguf_use_run(m, ids[0]);
    free(ids);
    return rc;
}

#endif
