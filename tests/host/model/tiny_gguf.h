/* Builds a complete, tiny qwen3 GGUF file in memory, with one thing wrong if a test wants so.
 *
 * Geometry: 1 layer, width 32, 2 heads and 1 KV head of 4, ffn 32, vocabulary 256 bytes + "he" + "the"; tied embedding.
 * Weights are small numbers that depend on their index only. */
#ifndef TINY_GGUF_H
#define TINY_GGUF_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gguf/gguf.h"

enum { TINY_WIDTH = 32, TINY_DH = 4, TINY_VOCAB = 258, TINY_ALIGN = 32 };

struct tiny {
    /* what to distort; zero means: nothing */
    uint32_t version;         /* default 3 */
    uint64_t add_tensors;     /* added to the tensor count of the header */
    uint64_t add_kvs;         /* added to the metadata count of the header */
    const char *arch;         /* default "qwen3" */
    const char *drop_tensor;  /* name of a tensor to leave out */
    const char *type_tensor;  /* name of a tensor whose type becomes `type` */
    uint32_t type;
    const char *dim_tensor;   /* name of a tensor whose dims[0] becomes `dim` */
    uint64_t dim;
    uint32_t alignment;       /* written as general.alignment if not 0 */
    uint64_t shift_offset;    /* added to the last tensor's offset */
    const char *drop_merge;   /* "x y" instead of the second merge */
    uint32_t odd_elem;        /* adds "t.odd", an array of one element of this type, if not 0 */
    const char *again;        /* a metadata key that is written a second time, as u32 */
    const char *rename_tensor, *to; /* the second name instead of the first */
    uint64_t ffn;             /* default 32 */
    int header_only;          /* no data: it would be data_bytes long */

    uint8_t *p; /* the file: n bytes */
    size_t n, cap;
    uint64_t data_bytes; /* promised so far */
    uint64_t n_tensors, n_kvs;
};

static inline void tiny_put(struct tiny *t, const void *p, size_t n)
{
    if (t->n + n > t->cap) {
        t->cap = 2 * (t->n + n);
        t->p = realloc(t->p, t->cap);
        if (!t->p)
            abort();
    }
    memcpy(t->p + t->n, p, n);
    t->n += n;
}

static inline void tiny_u32(struct tiny *t, uint32_t v)
{
    tiny_put(t, &v, sizeof(v));
}

static inline void tiny_u64(struct tiny *t, uint64_t v)
{
    tiny_put(t, &v, sizeof(v));
}

static inline void tiny_str(struct tiny *t, const char *s)
{
    tiny_u64(t, strlen(s));
    tiny_put(t, s, strlen(s));
}

static inline void tiny_key(struct tiny *t, const char *key, uint32_t type)
{
    tiny_str(t, key);
    tiny_u32(t, type);
    t->n_kvs++;
}

static inline void tiny_kv_u32(struct tiny *t, const char *key, uint32_t v)
{
    tiny_key(t, key, HX_GGUF_U32);
    tiny_u32(t, v);
}

static inline void tiny_kv_f32(struct tiny *t, const char *key, float v)
{
    tiny_key(t, key, HX_GGUF_F32);
    tiny_put(t, &v, sizeof(v));
}

static inline void tiny_kv_str(struct tiny *t, const char *key, const char *v)
{
    tiny_key(t, key, HX_GGUF_STRING);
    tiny_str(t, v);
}

static inline void tiny_kv_array(struct tiny *t, const char *key, uint32_t elem, uint64_t n)
{
    tiny_key(t, key, HX_GGUF_ARRAY);
    tiny_u32(t, elem);
    tiny_u64(t, n);
}

/* One value of every type that the format has, and arrays of some. */
static inline void tiny_every_type(struct tiny *t)
{
    static const uint8_t bytes[8] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const struct {
        const char *key;
        uint32_t type;
        size_t n;
    } all[] = {
        {"t.u8", HX_GGUF_U8, 1},     {"t.i8", HX_GGUF_I8, 1},   {"t.u16", HX_GGUF_U16, 2},
        {"t.i16", HX_GGUF_I16, 2},   {"t.u32", HX_GGUF_U32, 4}, {"t.i32", HX_GGUF_I32, 4},
        {"t.bool", HX_GGUF_BOOL, 1}, {"t.u64", HX_GGUF_U64, 8}, {"t.i64", HX_GGUF_I64, 8},
        {"t.f64", HX_GGUF_F64, 8},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        tiny_key(t, all[i].key, all[i].type);
        tiny_put(t, bytes, all[i].n);
    }
    tiny_kv_array(t, "t.bytes", HX_GGUF_U8, 3);
    tiny_put(t, bytes, 3);
    tiny_kv_array(t, "t.doubles", HX_GGUF_F64, 1);
    tiny_put(t, bytes, 8);
    tiny_kv_array(t, "t.none", HX_GGUF_STRING, 0);
    if (t->odd_elem) {
        tiny_kv_array(t, "t.odd", t->odd_elem, 1);
        tiny_u32(t, HX_GGUF_U8);
        tiny_u64(t, 1);
        tiny_put(t, bytes, 1);
    }
    if (t->again)
        tiny_kv_u32(t, t->again, 1);
}

static inline void tiny_vocab(struct tiny *t)
{
    uint32_t other = 256;

    tiny_kv_str(t, "tokenizer.ggml.model", "gpt2");
    tiny_kv_str(t, "tokenizer.ggml.pre", "gpt-2");
    tiny_kv_array(t, "tokenizer.ggml.tokens", HX_GGUF_STRING, TINY_VOCAB);
    for (uint32_t b = 0; b < 256; b++) {
        int printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        uint32_t c = printable ? b : other++;
        char utf8[3] = {(char)c, 0, 0};

        if (c >= 0x80) {
            utf8[0] = (char)(0xc0 | c >> 6);
            utf8[1] = (char)(0x80 | (c & 0x3f));
        }
        tiny_str(t, utf8);
    }
    tiny_str(t, "he");
    tiny_str(t, "the");
    tiny_kv_array(t, "tokenizer.ggml.merges", HX_GGUF_STRING, 2);
    tiny_str(t, "h e");
    tiny_str(t, t->drop_merge ? t->drop_merge : "t he");
}

static inline void tiny_tensor(struct tiny *t, const char *name, uint64_t cols, uint64_t rows,
                               uint32_t type)
{
    if (t->type_tensor && strcmp(t->type_tensor, name) == 0 && hx_quant_info(t->type))
        type = t->type; /* its size follows */

    uint64_t bytes = hx_quant_row_bytes(type, cols) * rows;
    int last = strcmp(name, "output_norm.weight") == 0;

    if (t->drop_tensor && strcmp(t->drop_tensor, name) == 0)
        return;
    tiny_str(t, t->rename_tensor && strcmp(t->rename_tensor, name) == 0 ? t->to : name);
    tiny_u32(t, rows > 1 ? 2 : 1);
    tiny_u64(t, t->dim_tensor && strcmp(t->dim_tensor, name) == 0 ? t->dim : cols);
    if (rows > 1)
        tiny_u64(t, rows);
    tiny_u32(t, t->type_tensor && strcmp(t->type_tensor, name) == 0 ? t->type : type);
    tiny_u64(t, t->data_bytes + (last ? t->shift_offset : 0));
    t->data_bytes = (t->data_bytes + bytes + TINY_ALIGN - 1) / TINY_ALIGN * TINY_ALIGN;
    t->n_tensors++;
}

static inline void tiny_tensors(struct tiny *t)
{
    const uint32_t f32 = HX_QUANT_F32, f16 = HX_QUANT_F16, q8 = HX_QUANT_Q8_0;
    const uint64_t ffn = t->ffn ? t->ffn : 32;

    tiny_tensor(t, "token_embd.weight", TINY_WIDTH, TINY_VOCAB, q8);
    tiny_tensor(t, "blk.0.attn_norm.weight", TINY_WIDTH, 1, f32);
    tiny_tensor(t, "blk.0.attn_q.weight", TINY_WIDTH, 2 * TINY_DH, f16);
    tiny_tensor(t, "blk.0.attn_k.weight", TINY_WIDTH, TINY_DH, f16);
    tiny_tensor(t, "blk.0.attn_v.weight", TINY_WIDTH, TINY_DH, f32);
    tiny_tensor(t, "blk.0.attn_q_norm.weight", TINY_DH, 1, f32);
    tiny_tensor(t, "blk.0.attn_k_norm.weight", TINY_DH, 1, f32);
    tiny_tensor(t, "blk.0.attn_output.weight", 2 * TINY_DH, TINY_WIDTH, f16);
    tiny_tensor(t, "blk.0.ffn_norm.weight", TINY_WIDTH, 1, f32);
    tiny_tensor(t, "blk.0.ffn_gate.weight", TINY_WIDTH, ffn, q8);
    tiny_tensor(t, "blk.0.ffn_up.weight", TINY_WIDTH, ffn, q8);
    tiny_tensor(t, "blk.0.ffn_down.weight", ffn, TINY_WIDTH, q8);
    tiny_tensor(t, "output_norm.weight", TINY_WIDTH, 1, f32);
}

/* Fills t->p and t->n; free with free(t->p). */
static inline void tiny_build(struct tiny *t)
{
    size_t counts;

    tiny_put(t, "GGUF", 4);
    tiny_u32(t, t->version ? t->version : 3);
    counts = t->n;
    tiny_u64(t, 0);
    tiny_u64(t, 0);
    tiny_kv_str(t, "general.architecture", t->arch ? t->arch : "qwen3");
    if (t->alignment)
        tiny_kv_u32(t, "general.alignment", t->alignment);
    tiny_kv_u32(t, "qwen3.block_count", 1);
    tiny_kv_u32(t, "qwen3.context_length", 16);
    tiny_kv_u32(t, "qwen3.embedding_length", TINY_WIDTH);
    tiny_kv_u32(t, "qwen3.feed_forward_length", t->ffn ? (uint32_t)t->ffn : 32);
    tiny_kv_u32(t, "qwen3.attention.head_count", 2);
    tiny_kv_u32(t, "qwen3.attention.head_count_kv", 1);
    tiny_kv_u32(t, "qwen3.attention.key_length", TINY_DH);
    tiny_kv_u32(t, "qwen3.attention.value_length", TINY_DH);
    tiny_kv_f32(t, "qwen3.attention.layer_norm_rms_epsilon", 1e-6f);
    tiny_kv_f32(t, "qwen3.rope.freq_base", 10000);
    tiny_every_type(t);
    tiny_vocab(t);
    tiny_tensors(t);
    t->n_tensors += t->add_tensors;
    t->n_kvs += t->add_kvs;
    memcpy(t->p + counts, &t->n_tensors, 8);
    memcpy(t->p + counts + 8, &t->n_kvs, 8);
    while (t->n % TINY_ALIGN)
        tiny_put(t, "", 1);
    for (uint64_t i = 0; !t->header_only && i < t->data_bytes; i++) {
        uint8_t byte = (uint8_t)(i % 4 == 3 ? 0x3c : i % 61); /* no NaN in any of the three types */

        tiny_put(t, &byte, 1);
    }
}

#endif
