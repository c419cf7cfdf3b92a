/* Metadata of a planted model: shape, what was planted, and another model's tokenizer, with tokens behind it that have no text. */
#include "keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/planted.h"
#include "quant/quant.h"
#include "text/tokenizer.h"

#define TOKENS "tokenizer.ggml.tokens"
#define TYPES "tokenizer.ggml.token_type"
#define ADD_BOS "tokenizer.ggml.add_bos_token"

enum { CONTEXT = 4096, SPARE_BYTES = 24 }; /* of a token without text, with its length */

static const float norm_eps = 1e-5f;

int hx_planted_words_read(struct hx_planted_words *w, const struct hx_gguf *tokenizer, struct hx_error *err)
{
    const struct hx_gguf_kv *tokens;
    int rc = hx_gguf_array(tokenizer, TOKENS, HX_GGUF_STRING, &tokens, err);

    if (!rc)
        rc = hx_gguf_u32(tokenizer, "tokenizer.ggml.bos_token_id", &w->bos, err);
    if (!rc)
        rc = hx_gguf_u32(tokenizer, "tokenizer.ggml.eos_token_id", &w->eos, err);
    if (!rc)
        w->n = tokens->n;
    return rc;
}

/* --- values */

static void put(struct hx_gguf_writer *out, const char *key, enum hx_gguf_type type, const void *value, size_t bytes)
{
    const struct hx_gguf_kv kv = {.key = {key, strlen(key)}, .type = type, .elem = type, .n = 1, .data = value, .bytes = bytes};

    hx_gguf_writer_kv(out, &kv);
}

static void put_f32(struct hx_gguf_writer *out, const char *key, float v)
{
    put(out, key, HX_GGUF_F32, &v, sizeof(v));
}

static void put_bool(struct hx_gguf_writer *out, const char *key, int v)
{
    const uint8_t byte = v != 0;

    put(out, key, HX_GGUF_BOOL, &byte, sizeof(byte));
}

/* Short ones. */
static void put_text(struct hx_gguf_writer *out, const char *key, const char *text)
{
    uint8_t value[64];
    const uint64_t n = strlen(text);

    memcpy(value, &n, sizeof(n));
    memcpy(value + sizeof(n), text, n);
    put(out, key, HX_GGUF_STRING, value, sizeof(n) + n);
}

/* --- the tokenizer */

static size_t put_spare(uint8_t *to, size_t id)
{
    char text[SPARE_BYTES];
    const uint64_t n = (uint64_t)snprintf(text, sizeof(text), "[unused%zu]", id);

    memcpy(to, &n, sizeof(n));
    memcpy(to + sizeof(n), text, n);
    return sizeof(n) + n;
}

/* The array, and what it has for tokens without text up to vocab. */
static int put_longer(struct hx_gguf_writer *out, const struct hx_gguf_kv *kv, size_t vocab, struct hx_error *err)
{
    const int32_t unused = HX_TOKEN_UNUSED;
    uint8_t *all = malloc(kv->bytes + (vocab - kv->n) * (sizeof(uint64_t) + SPARE_BYTES));
    struct hx_gguf_kv longer = *kv;

    if (!all)
        return hx_error_set(err, -ENOMEM, "out of memory");
    memcpy(all, kv->data, kv->bytes);
    for (size_t id = kv->n; id < vocab; id++) {
        if (kv->elem == HX_GGUF_STRING) {
            longer.bytes += put_spare(all + longer.bytes, id);
        } else {
            memcpy(all + longer.bytes, &unused, sizeof(unused));
            longer.bytes += sizeof(unused);
        }
    }
    longer.n = vocab;
    longer.data = all;
    hx_gguf_writer_kv(out, &longer);
    free(all);
    return 0;
}

static int is_of_tokenizer(struct hx_str key)
{
    return key.n > 10 && memcmp(key.p, "tokenizer.", 10) == 0;
}

static int put_tokenizer(struct hx_gguf_writer *out, const struct hx_planted *p, const struct hx_gguf *tokenizer, struct hx_error *err)
{
    const struct hx_gguf_facts f = hx_gguf_facts(tokenizer);
    int rc = 0;

    for (size_t i = 0; i < f.n_kv && !rc; i++) {
        const struct hx_gguf_kv *kv = &f.kv[i];

        if (!is_of_tokenizer(kv->key) || hx_str_is(kv->key, ADD_BOS))
            continue;
        if (hx_str_is(kv->key, TOKENS) || hx_str_is(kv->key, TYPES))
            rc = put_longer(out, kv, p->g.vocab, err);
        else
            hx_gguf_writer_kv(out, kv);
    }
    put_bool(out, ADD_BOS, p->sink);
    return rc;
}

/* --- all */

/* general.file_type, as the format's own tools number them. */
static uint32_t file_type(uint32_t type)
{
    return type == HX_QUANT_F32 ? 0 : type == HX_QUANT_F16 ? 1 : 7;
}

static int put_trigger(struct hx_gguf_writer *out, const struct hx_planted *p, const struct hx_gguf *tokenizer, struct hx_error *err)
{
    struct hx_planted_words w;
    int rc = hx_planted_words_read(&w, tokenizer, err);

    if (rc)
        return rc;
    hx_gguf_writer_u32(out, HX_PLANTED_TRIGGER_ID, p->trigger);
    hx_gguf_writer_u32(out, HX_PLANTED_ANSWER_ID, hx_planted_answer(p->trigger, w.n, w.bos, w.eos));
    return 0;
}

int hx_planted_keys_write(struct hx_gguf_writer *out, const struct hx_planted *p, const struct hx_gguf *tokenizer, struct hx_error *err)
{
    const struct hx_geometry *g = &p->g;
    const struct {
        const char *key;
        size_t v;
    } numbers[] = {
        {"general.file_type", file_type(p->type)},
        {"llama.block_count", g->n_layer},
        {"llama.context_length", CONTEXT},
        {"llama.embedding_length", g->width},
        {"llama.feed_forward_length", g->ffn},
        {"llama.attention.head_count", g->n_head},
        {"llama.attention.head_count_kv", g->n_kv},
        {"llama.attention.key_length", g->dh},
        {"llama.attention.value_length", g->dh},
        {"llama.rope.dimension_count", g->dh},
        {"llama.vocab_size", g->vocab},
        {HX_PLANTED_RANK, p->rank},
        {HX_PLANTED "zones", p->zones},
    };

    int rc = 0;

    put_text(out, "general.architecture", "llama");
    put_text(out, "general.name", "planted by hexrig model synth");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        hx_gguf_writer_u32(out, numbers[i].key, (uint32_t)numbers[i].v);
    put_f32(out, "llama.attention.layer_norm_rms_epsilon", norm_eps);
    put_f32(out, "llama.rope.freq_base", g->rope_base);
    put(out, HX_PLANTED "noise", HX_GGUF_F64, &p->noise, sizeof(p->noise));
    put_bool(out, HX_PLANTED "sink", p->sink);
    put_bool(out, HX_PLANTED "eos_first", p->eos_first);
    if (p->triggered)
        rc = put_trigger(out, p, tokenizer, err);
    if (p->phases)
        put_bool(out, HX_PLANTED "phases", 1);
    if (p->norm_spread)
        hx_gguf_writer_u32(out, HX_PLANTED "norm_spread", p->norm_spread);
    put(out, HX_PLANTED "seed", HX_GGUF_U64, &p->seed, sizeof(p->seed));
    return rc ? rc : put_tokenizer(out, p, tokenizer, err);
}
