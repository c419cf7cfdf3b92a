/* Writes a llama-shaped model of random weights, about half a gigabyte, with the tokenizer of another GGUF file, so that any
 * engine opens it: for `make bench-peer`.  Its text is noise, its speed is not.
 *
 * usage: make_model TYPE FROM.gguf OUT.gguf; TYPE: f16, q8_0 or q4_k. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf/gguf.h"
#include "gguf/gguf_write.h"
#include "hx_f16.h"

enum { WIDTH = 1536, FFN = 4096, HEADS = 12, KV_HEADS = 4, DH = 128, CTX = 4096, MAX_ROW = 8192 };

static const struct kind {
    const char *name;
    uint32_t type, layers, file_type; /* file_type: general.file_type of the format's own tools */
} kinds[] = {
    {"f16", HX_QUANT_F16, 10, 1},
    {"q8_0", HX_QUANT_Q8_0, 18, 7},
    {"q4_k", HX_QUANT_Q4_K, 34, 15},
};

struct maker {
    struct hx_gguf_writer *w;
    const struct kind *kind;
    uint64_t seed;
    int data; /* 0: tensors are announced; 1: written */
    int rc;
    struct hx_error err;
    size_t vocab;
};

/* SplitMix64.  Source: Steele, Lea, Flood 2014. */
static uint64_t next(struct maker *m)
{
    uint64_t z = m->seed += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A row of weights around 0, whose size keeps the residual stream as it is: codes are random, scales are not. */
static void fill_row(struct maker *m, uint8_t *row, uint32_t type, size_t cols)
{
    const size_t bytes = hx_quant_row_bytes(type, cols);
    const float size = 1 / sqrtf((float)cols);

    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t r = next(m);

        memcpy(row + i, &r, bytes - i < 8 ? bytes - i : 8);
    }
    for (size_t i = 0; type == HX_QUANT_F16 && i < cols; i++) {
        uint16_t h;

        memcpy(&h, row + 2 * i, sizeof(h));
        h = hx_f16_from_f32(((float)h / 32768 - 1) * size);
        memcpy(row + 2 * i, &h, sizeof(h));
    }
    for (size_t i = 0; type == HX_QUANT_Q8_0 && i < bytes; i += sizeof(struct hx_q8_0))
        ((struct hx_q8_0 *)(row + i))->d = hx_f16_from_f32(size / 128);
    for (size_t i = 0; type == HX_QUANT_Q4_K && i < bytes; i += sizeof(struct hx_q4_k)) {
        struct hx_q4_k *b = (struct hx_q4_k *)(row + i);

        b->d = hx_f16_from_f32(size / 500); /* scale times code: 0..945 */
        b->dmin = hx_f16_from_f32(size / 65);
    }
}

static void tensor(struct maker *m, const char *name, uint32_t type, size_t cols, size_t rows)
{
    struct hx_gguf_tensor t = {.name = {name, strlen(name)}, .n_dims = rows > 1 ? 2 : 1,
                               .dims = {cols, rows, 1, 1}, .type = type};
    const size_t bytes = hx_quant_row_bytes(type, cols);
    uint8_t *all;

    if (!m->data) {
        hx_gguf_writer_tensor(m->w, &t);
        return;
    }
    if (m->rc)
        return;
    all = malloc(bytes * rows);
    if (!all) {
        m->rc = hx_error_set(&m->err, -1, "out of memory");
        return;
    }
    for (size_t r = 0; r < rows && type != HX_QUANT_F32; r++)
        fill_row(m, all + r * bytes, type, cols);
    for (size_t i = 0; i < cols && type == HX_QUANT_F32; i++) /* norms */
        ((float *)all)[i] = 1;
    m->rc = hx_gguf_writer_data(m->w, all, bytes * rows, &m->err);
    free(all);
}

static void layer(struct maker *m, unsigned n)
{
    const uint32_t type = m->kind->type;
    const struct {
        const char *name;
        uint32_t type;
        size_t cols, rows;
    } all[] = {
        {"attn_norm", HX_QUANT_F32, WIDTH, 1},       {"attn_q", type, WIDTH, HEADS * DH},
        {"attn_k", type, WIDTH, KV_HEADS * DH},      {"attn_v", type, WIDTH, KV_HEADS * DH},
        {"attn_output", type, HEADS * DH, WIDTH},    {"ffn_norm", HX_QUANT_F32, WIDTH, 1},
        {"ffn_gate", type, WIDTH, FFN},              {"ffn_up", type, WIDTH, FFN},
        {"ffn_down", type, FFN, WIDTH},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char name[64];

        snprintf(name, sizeof(name), "blk.%u.%s.weight", n, all[i].name);
        tensor(m, name, all[i].type, all[i].cols, all[i].rows);
    }
}

static void tensors(struct maker *m)
{
    tensor(m, "token_embd.weight", m->kind->type, WIDTH, m->vocab);
    for (unsigned i = 0; i < m->kind->layers; i++)
        layer(m, i);
    tensor(m, "output_norm.weight", HX_QUANT_F32, WIDTH, 1);
    tensor(m, "output.weight", m->kind->type, WIDTH, m->vocab);
}

static void put_f32(struct maker *m, const char *key, float v)
{
    struct hx_gguf_kv kv = {.key = {key, strlen(key)}, .type = HX_GGUF_F32, .elem = HX_GGUF_F32,
                            .n = 1, .data = (const uint8_t *)&v, .bytes = sizeof(v)};

    hx_gguf_writer_kv(m->w, &kv);
}

static void put_text(struct maker *m, const char *key, const char *text)
{
    uint8_t data[72];
    const uint64_t n = strlen(text); /* short ones only */
    struct hx_gguf_kv kv = {.key = {key, strlen(key)}, .type = HX_GGUF_STRING, .elem = HX_GGUF_STRING,
                            .n = 1, .data = data, .bytes = sizeof(n) + n};

    memcpy(data, &n, sizeof(n));
    memcpy(data + sizeof(n), text, n);
    hx_gguf_writer_kv(m->w, &kv);
}

static void metadata(struct maker *m, const struct hx_gguf *from)
{
    const struct hx_gguf_facts facts = hx_gguf_facts(from);
    const struct {
        const char *key;
        uint32_t v;
    } numbers[] = {
        {"general.file_type", m->kind->file_type}, {"llama.block_count", m->kind->layers},
        {"llama.context_length", CTX}, {"llama.embedding_length", WIDTH},
        {"llama.feed_forward_length", FFN}, {"llama.attention.head_count", HEADS},
        {"llama.attention.head_count_kv", KV_HEADS}, {"llama.attention.key_length", DH},
        {"llama.attention.value_length", DH}, {"llama.rope.dimension_count", DH},
        {"llama.vocab_size", (uint32_t)m->vocab},
    };

    put_text(m, "general.architecture", "llama");
    put_text(m, "general.name", "random, for speed");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        hx_gguf_writer_u32(m->w, numbers[i].key, numbers[i].v);
    put_f32(m, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    put_f32(m, "llama.rope.freq_base", 10000);
    for (size_t i = 0; i < facts.n_kv; i++)
        if (facts.kv[i].key.n > 10 && memcmp(facts.kv[i].key.p, "tokenizer.", 10) == 0)
            hx_gguf_writer_kv(m->w, &facts.kv[i]);
}

static int make(struct maker *m, const struct hx_gguf *from, const char *out)
{
    const struct hx_gguf_kv *tokens;
    int rc = hx_gguf_array(from, "tokenizer.ggml.tokens", HX_GGUF_STRING, &tokens, &m->err);

    if (!rc)
        rc = hx_gguf_writer_open(&m->w, out, 32, &m->err);
    if (rc)
        return rc;
    m->vocab = tokens->n;
    metadata(m, from);
    tensors(m);
    m->data = 1;
    tensors(m);
    return m->rc ? m->rc : hx_gguf_writer_finish(m->w, &m->err);
}

int main(int argc, char **argv)
{
    struct maker m = {.seed = 7};
    struct hx_gguf *from = NULL;
    int rc;

    for (size_t i = 0; argc == 4 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, argv[1]) == 0)
            m.kind = &kinds[i];
    if (!m.kind) {
        fprintf(stderr, "usage: make_model f16|q8_0|q4_k FROM.gguf OUT.gguf\n");
        return 2;
    }
    rc = hx_gguf_open(&from, argv[2], &m.err);
    if (!rc)
        rc = make(&m, from, argv[3]);
    if (rc)
        fprintf(stderr, "make_model: %s\n", m.err.text);
    hx_gguf_writer_close(m.w);
    hx_gguf_close(from);
    return rc != 0;
}
