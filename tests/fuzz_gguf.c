/* Fuzz target: a GGUF file from a stranger.  What opens as a model must also encode text and run a token. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "forward.h"
#include "model.h"

enum { MAX_RUN_FLOATS = 1 << 20 }; /* larger models are not run: it would only be slow */

int hxt_fuzz_one(const uint8_t *data, size_t n);

static int use(const struct hx_model *m)
{
    struct hx_kv *kv = NULL;
    struct hx_attn *attn = NULL;
    struct hx_forward *f = NULL;
    uint32_t *ids = NULL;
    size_t n_ids;
    int rc = 0;

    if (hx_tokenizer_encode(m->tok, "the h\xc3\xa9 12  \xff'll", 17, &ids, &n_ids))
        return 1;
    for (size_t i = 0; i < n_ids; i++)
        rc |= ids[i] >= m->vocab;
    if (!rc && n_ids && m->vocab * m->width < MAX_RUN_FLOATS && m->n_layer < 8 &&
        m->n_kv * m->dh < 4096 && !hx_kv_f32_open(&kv, m->n_layer, m->n_kv, m->dh, 4, NULL) &&
        !hx_attn_ref_open(&attn, 4, NULL) && !hx_forward_open(&f, m, kv, attn, 1, NULL))
        rc = hx_forward_run(f, ids, 1, 0, NULL);
    if (rc == -EDOM) /* weights that are no numbers are a reported error */
        rc = 0;
    hx_forward_close(f);
    hx_attn_close(attn);
    hx_kv_close(kv);
    free(ids);
    return rc;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1); /* aligned, and of exactly this size for ASan */
    struct hx_model *m = NULL;
    struct hx_gguf *g;
    struct hx_why why;
    int rc = 0;

    if (!copy)
        return 0;
    memcpy(copy, data, n);
    if (!hx_gguf_open_bytes(&g, "fuzz.gguf", copy, n, &why) && !hx_model_from_gguf(&m, g, &why))
        rc = use(m);
    hx_model_close(m);
    free(copy);
    return rc;
}
