/* Tiny random models, see gen_model.h. */
#include "gen_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf/gguf.h"
#include "hx_f16.h"

enum { ALIGN = 32 };

const char *const gen_archs[] = {"llama",  "qwen2", "qwen3", "gemma2",
                                 "gemma3", "gpt2",  "opt",   "gptj", NULL};

/* What an architecture's files hold. */
enum {
    LN = 1, FUSED = 2, QKV_BIAS = 4, HEAD_NORMS = 8, O_BIAS = 16, POST = 32, FFN_NORM = 64,
    GATE = 128, FFN_BIAS = 256, OUT_BIAS = 512, POSITIONS = 1024,
    GPT = LN | QKV_BIAS | O_BIAS | FFN_NORM | FFN_BIAS | POSITIONS,
};

struct shape {
    const char *arch;
    int parts;
    size_t n_layer, n_kv, dh, rot, window, period, skipped; /* rows of position_embd before position 0 */
    int own_output;
    float attn_cap, logit_cap;
};

static const struct shape shapes[] = {
    {"llama", FFN_NORM | GATE, 2, 2, 16, 16, 0, 0, 0, 0, 0, 0},
    {"qwen2", QKV_BIAS | FFN_NORM | GATE, 2, 2, 16, 16, 0, 0, 0, 0, 0, 0},
    {"qwen3", HEAD_NORMS | FFN_NORM | GATE, 2, 2, 24, 24, 0, 0, 0, 0, 0, 0},
    {"gemma2", POST | FFN_NORM | GATE, 4, 2, 24, 24, 5, 2, 0, 0, 2, 3},
    {"gemma3", HEAD_NORMS | POST | FFN_NORM | GATE, 7, 1, 24, 24, 5, 6, 0, 0, 0, 0},
    {"gpt2", GPT | FUSED, 2, 4, 16, 0, 0, 0, 0, 0, 0, 0},
    {"opt", GPT, 2, 4, 16, 0, 0, 0, 2, 0, 0, 0},
    {"gptj", LN | FFN_BIAS | OUT_BIAS, 2, 4, 16, 8, 0, 0, 0, 1, 0, 0},
};

static const struct shape *shape_of(const char *arch)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (strcmp(shapes[i].arch, arch) == 0)
            return &shapes[i];
    abort();
}

void gen_init(struct gen_model *g, const char *arch)
{
    const struct shape *s = shape_of(arch);

    *g = (struct gen_model){
        .arch = s->arch, .seed = 1, .n_layer = s->n_layer, .width = 64, .n_head = 4,
        .n_kv = s->n_kv, .dh = s->dh, .ffn = 96, .n_ctx = 32, .rot = s->rot,
        .window = s->window, .period = s->period, .eps = 1e-5f, .rope_base = 50000,
        .local_base = 10000, .own_output = s->own_output, .attn_cap = s->attn_cap,
        .logit_cap = s->logit_cap,
    };
    if (strcmp(arch, "gemma2") == 0)
        g->local_base = g->rope_base;
}

/* --- bytes */

struct bytes {
    uint8_t *p;
    size_t n, cap;
};

static void put(struct bytes *b, const void *p, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = 2 * (b->n + n);
        b->p = realloc(b->p, b->cap);
        if (!b->p)
            abort();
    }
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void put_u32(struct bytes *b, uint32_t v)
{
    put(b, &v, sizeof(v));
}

static void put_u64(struct bytes *b, uint64_t v)
{
    put(b, &v, sizeof(v));
}

static void put_str(struct bytes *b, const char *s)
{
    put_u64(b, strlen(s));
    put(b, s, strlen(s));
}

static void pad(struct bytes *b)
{
    while (b->n % ALIGN)
        put(b, "", 1);
}

/* --- keys */

struct keys {
    const struct gen_model *g;
    struct bytes b;
    uint64_t n;
};

/* 0: this key is to be left out. */
static int key(struct keys *k, const char *name, uint32_t type)
{
    if (k->g->drop_key && strcmp(k->g->drop_key, name) == 0)
        return 0;
    put_str(&k->b, name);
    put_u32(&k->b, type);
    k->n++;
    return 1;
}

static void key_str(struct keys *k, const char *name, const char *v)
{
    if (key(k, name, HX_GGUF_STRING))
        put_str(&k->b, v);
}

static void key_u32(struct keys *k, const char *name, uint32_t v)
{
    if (key(k, name, HX_GGUF_U32))
        put_u32(&k->b, v);
}

/* Under the architecture's prefix. */
static const char *own(const struct keys *k, const char *name)
{
    static char full[128];

    snprintf(full, sizeof(full), "%s.%s", k->g->arch, name);
    return full;
}

static void own_u32(struct keys *k, const char *name, size_t v)
{
    key_u32(k, own(k, name), (uint32_t)v);
}

static void own_f32(struct keys *k, const char *name, float v)
{
    if (key(k, own(k, name), HX_GGUF_F32))
        put(&k->b, &v, sizeof(v));
}

static void rope_keys(struct keys *k)
{
    const struct gen_model *g = k->g;

    if (!g->rot)
        return;
    own_u32(k, "rope.dimension_count", g->rot);
    own_f32(k, "rope.freq_base", g->rope_base);
    if (g->linear_factor > 0 && g->old_linear) {
        own_f32(k, "rope.scale_linear", g->linear_factor);
    } else if (g->linear_factor > 0) {
        key_str(k, own(k, "rope.scaling.type"), "linear");
        own_f32(k, "rope.scaling.factor", g->linear_factor);
    }
    if (g->llama3_keys) {
        key_str(k, own(k, "rope.scaling.type"), "llama3");
        own_f32(k, "rope.scaling.factor", 8);
        own_f32(k, "rope.scaling.low_freq_factor", 1);
        own_f32(k, "rope.scaling.high_freq_factor", 4);
        own_u32(k, "rope.scaling.original_context_length", g->n_ctx);
    }
}

static void geometry_keys(struct keys *k)
{
    const struct gen_model *g = k->g;
    const int ln = shape_of(g->arch)->parts & LN;

    own_u32(k, "block_count", g->n_layer);
    own_u32(k, "context_length", g->n_ctx);
    own_u32(k, "embedding_length", g->width);
    own_u32(k, "feed_forward_length", g->ffn);
    own_u32(k, "attention.head_count", g->n_head);
    own_u32(k, "attention.head_count_kv", g->n_kv);
    if (g->dh * g->n_head != g->width) {
        own_u32(k, "attention.key_length", g->dh);
        own_u32(k, "attention.value_length", g->dh);
    }
    own_f32(k, ln ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon", g->eps);
    if (g->window)
        own_u32(k, "attention.sliding_window", g->window);
    if (g->local_keys) {
        own_u32(k, "attention.sliding_window_pattern", g->period);
        own_f32(k, "rope.freq_base_swa", g->local_base);
    }
    if (g->attn_cap > 0)
        own_f32(k, "attn_logit_softcapping", g->attn_cap);
    if (g->logit_cap > 0)
        own_f32(k, "final_logit_softcapping", g->logit_cap);
}

static void tokenizer_keys(struct keys *k)
{
    uint32_t other = 256;

    key_str(k, "tokenizer.ggml.model", "gpt2");
    key_str(k, "tokenizer.ggml.pre", "gpt-2");
    key(k, "tokenizer.ggml.tokens", HX_GGUF_ARRAY);
    put_u32(&k->b, HX_GGUF_STRING);
    put_u64(&k->b, GEN_VOCAB);
    for (uint32_t b = 0; b < 256; b++) { /* GPT-2's printable stand-in for each byte */
        const int printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        const uint32_t c = printable ? b : other++;
        const char utf8[3] = {(char)(c < 0x80 ? c : 0xc0 | c >> 6),
                              (char)(c < 0x80 ? 0 : 0x80 | (c & 63)), 0};

        put_str(&k->b, utf8);
    }
    put_str(&k->b, "he");
    put_str(&k->b, "the");
    key(k, "tokenizer.ggml.merges", HX_GGUF_ARRAY);
    put_u32(&k->b, HX_GGUF_STRING);
    put_u64(&k->b, 2);
    put_str(&k->b, "h e");
    put_str(&k->b, "t he");
}

static void all_keys(struct keys *k)
{
    const struct gen_model *g = k->g;

    key_str(k, "general.architecture", g->arch);
    geometry_keys(k);
    rope_keys(k);
    for (size_t i = 0; i < GEN_MAX_EDITS && g->set[i].key; i++)
        if (g->set[i].text)
            key_str(k, g->set[i].key, g->set[i].text);
        else
            key_u32(k, g->set[i].key, g->set[i].number);
    tokenizer_keys(k);
}

/* --- weights */

/* SplitMix64.  Source: Steele, Lea, Flood 2014. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static float noise(uint64_t *state)
{
    return (float)(int32_t)(next(state) >> 40) * 0x1p-23f - 1;
}

static void round_to(uint32_t type, float *w, size_t n)
{
    for (size_t i = 0; type == HX_QUANT_F16 && i < n; i++)
        w[i] = hx_f32_from_f16(hx_f16_from_f32(w[i]));
    for (size_t b = 0; type == HX_QUANT_Q8_0 && b < n / HX_Q8_0_WEIGHTS; b++) {
        float *x = w + b * HX_Q8_0_WEIGHTS, top = 0, scale;

        for (size_t i = 0; i < HX_Q8_0_WEIGHTS; i++)
            top = fmaxf(top, fabsf(x[i]));
        scale = hx_f32_from_f16(hx_f16_from_f32(top / 127));
        for (size_t i = 0; i < HX_Q8_0_WEIGHTS; i++)
            x[i] = fminf(fmaxf(roundf(x[i] / scale), -127), 127) * scale;
    }
}

/* A tensor of values mean + spread * noise. */
static void tensor(struct gen_model *g, const char *name, size_t rows, size_t cols, uint32_t type,
                   float mean, float spread)
{
    uint64_t state = g->seed * 1000003 + g->n_tensors;
    struct gen_tensor *t;

    g->tensors = realloc(g->tensors, (g->n_tensors + 1) * sizeof(*g->tensors));
    if (!g->tensors)
        abort();
    t = &g->tensors[g->n_tensors++];
    *t = (struct gen_tensor){.rows = rows, .cols = cols, .type = type};
    snprintf(t->name, sizeof(t->name), "%s", name);
    t->w = malloc(rows * cols * sizeof(*t->w));
    if (!t->w)
        abort();
    for (size_t i = 0; i < rows * cols; i++)
        t->w[i] = mean + spread * noise(&state);
    round_to(type, t->w, rows * cols);
}

/* Rows whose products with noise of size 1 have size `gain`. */
static void matrix(struct gen_model *g, const char *base, size_t rows, size_t cols, float gain,
                   int bias)
{
    char name[48];

    snprintf(name, sizeof(name), "%s.weight", base);
    tensor(g, name, rows, cols, g->type, 0, gain * sqrtf(3 / (float)cols));
    snprintf(name, sizeof(name), "%s.bias", base);
    if (bias)
        tensor(g, name, 1, rows, HX_QUANT_F32, 0, 0.3f);
}

static void norm(struct gen_model *g, const char *base, size_t n)
{
    char name[48];

    snprintf(name, sizeof(name), "%s.weight", base);
    tensor(g, name, 1, n, HX_QUANT_F32, 1, 0.4f);
    snprintf(name, sizeof(name), "%s.bias", base);
    if (shape_of(g->arch)->parts & LN)
        tensor(g, name, 1, n, HX_QUANT_F32, 0, 0.2f);
}

static const char *in_layer(size_t i, const char *what)
{
    static char name[48];

    snprintf(name, sizeof(name), "blk.%zu.%s", i, what);
    return name;
}

static void attention_tensors(struct gen_model *g, size_t i, int parts)
{
    const size_t q = g->n_head * g->dh, kv = g->n_kv * g->dh, w = g->width;
    const int bias = (parts & QKV_BIAS) || g->biases;

    norm(g, in_layer(i, "attn_norm"), w);
    if (parts & FUSED) {
        matrix(g, in_layer(i, "attn_qkv"), q + 2 * kv, w, 1.3f, bias);
    } else {
        matrix(g, in_layer(i, "attn_q"), q, w, 1.3f, bias);
        matrix(g, in_layer(i, "attn_k"), kv, w, 1.3f, bias);
        matrix(g, in_layer(i, "attn_v"), kv, w, 1, bias);
    }
    if (parts & HEAD_NORMS) {
        norm(g, in_layer(i, "attn_q_norm"), g->dh);
        norm(g, in_layer(i, "attn_k_norm"), g->dh);
    }
    matrix(g, in_layer(i, "attn_output"), w, q, 1, (parts & O_BIAS) || g->biases);
    if (parts & POST)
        norm(g, in_layer(i, "post_attention_norm"), w);
}

static void ffn_tensors(struct gen_model *g, size_t i, int parts)
{
    if (parts & FFN_NORM)
        norm(g, in_layer(i, "ffn_norm"), g->width);
    if (parts & GATE)
        matrix(g, in_layer(i, "ffn_gate"), g->ffn, g->width, 1.5f, 0);
    matrix(g, in_layer(i, "ffn_up"), g->ffn, g->width, 1.5f, parts & FFN_BIAS);
    matrix(g, in_layer(i, "ffn_down"), g->width, g->ffn, 1, parts & FFN_BIAS);
    if (parts & POST)
        norm(g, in_layer(i, "post_ffw_norm"), g->width);
}

static void all_tensors(struct gen_model *g)
{
    const struct shape *s = shape_of(g->arch);

    matrix(g, "token_embd", GEN_VOCAB, g->width, 1, 0);
    if (s->parts & POSITIONS)
        tensor(g, "position_embd.weight", g->n_ctx + s->skipped, g->width, HX_QUANT_F32, 0, 0.1f);
    for (size_t i = 0; i < g->n_layer; i++) {
        attention_tensors(g, i, s->parts);
        ffn_tensors(g, i, s->parts);
    }
    norm(g, "output_norm", g->width);
    if (g->own_output)
        matrix(g, "output", GEN_VOCAB, g->width, 1, s->parts & OUT_BIAS);
    if (g->factors)
        tensor(g, "rope_freqs.weight", 1, g->rot / 2, HX_QUANT_F32, 3, 2);
    if (g->more_tensor)
        tensor(g, g->more_tensor, 1, g->width, HX_QUANT_F32, 0, 1);
}

const float *gen_find(const struct gen_model *g, const char *name)
{
    for (size_t i = 0; i < g->n_tensors; i++)
        if (strcmp(g->tensors[i].name, name) == 0)
            return g->tensors[i].w;
    return NULL;
}

const float *gen_weights(const struct gen_model *g, const char *name)
{
    const float *w = gen_find(g, name);

    if (!w) {
        fprintf(stderr, "gen_model: no tensor %s\n", name);
        abort();
    }
    return w;
}

/* --- the file */

static void put_q8_0(struct bytes *b, const float *x)
{
    float top = 0, scale;
    uint16_t half;

    for (size_t i = 0; i < HX_Q8_0_WEIGHTS; i++)
        top = fmaxf(top, fabsf(x[i]));
    scale = top / 127; /* exactly: x are multiples of an fp16 already, the largest 127 times it */
    half = hx_f16_from_f32(scale);
    put(b, &half, sizeof(half));
    for (size_t i = 0; i < HX_Q8_0_WEIGHTS; i++) {
        const int8_t q = (int8_t)roundf(x[i] / scale);

        put(b, &q, 1);
    }
}

static void put_data(struct bytes *b, const struct gen_tensor *t)
{
    const size_t n = t->rows * t->cols;

    pad(b);
    if (t->type == HX_QUANT_F32)
        put(b, t->w, n * sizeof(*t->w));
    for (size_t i = 0; t->type == HX_QUANT_F16 && i < n; i++) {
        const uint16_t half = hx_f16_from_f32(t->w[i]);

        put(b, &half, sizeof(half));
    }
    for (size_t i = 0; t->type == HX_QUANT_Q8_0 && i < n; i += HX_Q8_0_WEIGHTS)
        put_q8_0(b, t->w + i);
}

static int is(const char *edited, const struct gen_tensor *t)
{
    return edited && strcmp(edited, t->name) == 0;
}

static void put_info(struct bytes *b, const struct gen_model *g, const struct gen_tensor *t,
                     uint64_t offset)
{
    put_str(b, t->name);
    put_u32(b, t->rows > 1 ? 2 : 1);
    put_u64(b, is(g->narrow_tensor, t) ? t->cols - HX_Q8_0_WEIGHTS : t->cols);
    if (t->rows > 1)
        put_u64(b, t->rows);
    put_u32(b, is(g->type_tensor, t) ? HX_QUANT_F16 : t->type);
    put_u64(b, offset);
}

void gen_build(struct gen_model *g)
{
    struct bytes file = {0}, infos = {0}, data = {0};
    struct keys keys = {.g = g};
    uint64_t n = 0;

    all_keys(&keys);
    all_tensors(g);
    for (size_t i = 0; i < g->n_tensors; i++) {
        if (is(g->drop_tensor, &g->tensors[i]))
            continue;
        pad(&data);
        put_info(&infos, g, &g->tensors[i], data.n);
        put_data(&data, &g->tensors[i]);
        n++;
    }
    put(&file, "GGUF", 4);
    put_u32(&file, 3);
    put_u64(&file, n);
    put_u64(&file, keys.n);
    put(&file, keys.b.p, keys.b.n);
    put(&file, infos.p, infos.n);
    pad(&file);
    put(&file, data.p, data.n);
    pad(&file);
    free(keys.b.p);
    free(infos.p);
    free(data.p);
    g->file = file.p;
    g->n_file = file.n;
}

void gen_free(struct gen_model *g)
{
    for (size_t i = 0; i < g->n_tensors; i++)
        free(g->tensors[i].w);
    free(g->tensors);
    free(g->file);
    g->tensors = NULL;
    g->n_tensors = 0;
    g->file = NULL;
}
