/* Shapes of models out of the metadata of their GGUF files.  Nothing else of a file is read, so its first megabytes are enough. */
#include <errno.h>
#include <stdlib.h>

#include "engine/arch/arch.h"
#include "geometry_impl.h"
#include "key.h"
#include "model_keys.h"

/* How many tokens there are: the list's length, or what the file says where it has no list. */
static int read_vocab(const struct hx_model *m, size_t *vocab, struct hx_error *err)
{
    const struct hx_gguf_kv *tokens;
    int rc = 0;

    if (!hx_gguf_find(m->file, "tokenizer.ggml.tokens"))
        return hx_model_need_u32(m, "vocab_size", HX_GEOMETRY_MOST, vocab, err);
    rc = hx_gguf_array(m->file, "tokenizer.ggml.tokens", HX_GGUF_STRING, &tokens, err);
    if (!rc && (tokens->n < 1 || tokens->n > HX_GEOMETRY_MOST))
        rc = hx_error_set(err, -EINVAL, "%s: tokenizer.ggml.tokens has %llu tokens; 1 to %d are legal", hx_gguf_name(m->file),
                          (unsigned long long)tokens->n, HX_GEOMETRY_MOST);
    if (!rc)
        *vocab = tokens->n;
    return rc;
}

int hx_geometry_read_gguf(struct hx_geometry *g, struct hx_error *err)
{
    struct hx_model m = {.n_layer = 0};
    int rc = hx_gguf_open_keys(&m.file, g->name, err);

    if (!rc)
        rc = hx_model_read_keys(&m, hx_archs, err);
    if (!rc)
        rc = read_vocab(&m, &g->vocab, err);
    if (!rc) {
        g->n_layer = m.n_layer;
        g->n_kv = m.n_kv;
        g->n_head = m.n_head;
        g->dh = m.dh;
        g->width = m.width;
        g->ffn = m.ffn;
        g->gated = (m.arch->needs & HX_PART_GATE) != 0;
        g->rope_base = m.rope.global.base > 0 ? m.rope.global.base : 1e4f;
    }
    free(m.rope_factors);
    hx_gguf_close(m.file);
    return rc;
}
