/* Writes small vocabularies as GGUF files in memory, piece by piece, so that a test can leave out or distort
 * what it wants.
 *
 * Three samples: byte-level BPE (256 bytes, a few merges, marks of chat formats), SentencePiece BPE and
 * unigram (letters, a few words, bytes where asked for). */
#ifndef VOCAB_GGUF_H
#define VOCAB_GGUF_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf/gguf.h"
#include "text/tokenizer.h"

struct vocab {
    uint8_t *p; /* the file: n bytes */
    size_t n, cap;
    uint64_t n_kvs;
};

struct vocab_token {
    const char *text;
    int type; /* enum hx_token_type */
    float score;
};

#define VOCAB_KEY(name) "tokenizer.ggml." name

static inline void vocab_put(struct vocab *v, const void *p, size_t n)
{
    if (v->n + n > v->cap) {
        v->cap = 2 * (v->n + n);
        v->p = realloc(v->p, v->cap);
        if (!v->p)
            abort();
    }
    memcpy(v->p + v->n, p, n);
    v->n += n;
}

static inline void vocab_number(struct vocab *v, uint64_t x, size_t bytes)
{
    vocab_put(v, &x, bytes); /* little-endian, as the machines this runs on */
}

static inline void vocab_text(struct vocab *v, const char *s)
{
    vocab_number(v, strlen(s), 8);
    vocab_put(v, s, strlen(s));
}

static inline void vocab_start(struct vocab *v)
{
    *v = (struct vocab){0};
    vocab_put(v, "GGUF", 4);
    vocab_number(v, 3, 4);
    vocab_number(v, 0, 8);
    vocab_number(v, 0, 8); /* the number of keys, see vocab_end() */
}

static inline void vocab_end(struct vocab *v)
{
    static const uint8_t padding[64];

    memcpy(v->p + 16, &v->n_kvs, 8);
    vocab_put(v, padding, sizeof(padding));
}

static inline void vocab_key(struct vocab *v, const char *key, uint32_t type)
{
    vocab_text(v, key);
    vocab_number(v, type, 4);
    v->n_kvs++;
}

static inline void vocab_str(struct vocab *v, const char *key, const char *value)
{
    vocab_key(v, key, HX_GGUF_STRING);
    vocab_text(v, value);
}

static inline void vocab_u32(struct vocab *v, const char *key, uint32_t value)
{
    vocab_key(v, key, HX_GGUF_U32);
    vocab_number(v, value, 4);
}

static inline void vocab_bool(struct vocab *v, const char *key, int value)
{
    vocab_key(v, key, HX_GGUF_BOOL);
    vocab_number(v, value != 0, 1);
}

static inline void vocab_array(struct vocab *v, const char *key, uint32_t elem, uint64_t n)
{
    vocab_key(v, key, HX_GGUF_ARRAY);
    vocab_number(v, elem, 4);
    vocab_number(v, n, 8);
}

/* Tokens, types and, if asked for, scores. */
static inline void vocab_tokens(struct vocab *v, const struct vocab_token *t, size_t n, int scores)
{
    vocab_array(v, VOCAB_KEY("tokens"), HX_GGUF_STRING, n);
    for (size_t i = 0; i < n; i++)
        vocab_text(v, t[i].text);
    vocab_array(v, VOCAB_KEY("token_type"), HX_GGUF_I32, n);
    for (size_t i = 0; i < n; i++)
        vocab_number(v, (uint64_t)t[i].type, 4);
    if (!scores)
        return;
    vocab_array(v, VOCAB_KEY("scores"), HX_GGUF_F32, n);
    for (size_t i = 0; i < n; i++)
        vocab_put(v, &t[i].score, 4);
}

enum { VOCAB_MAX = 512, VOCAB_NAME = 24 };

/* A list that owns its texts. */
struct vocab_list {
    struct vocab_token t[VOCAB_MAX];
    char names[VOCAB_MAX][VOCAB_NAME];
    size_t n;
};

static inline uint32_t vocab_add(struct vocab_list *l, const char *text, int type, float score)
{
    snprintf(l->names[l->n], VOCAB_NAME, "%s", text);
    l->t[l->n] = (struct vocab_token){l->names[l->n], type, score};
    return (uint32_t)l->n++;
}

static inline uint32_t vocab_find(const struct vocab_list *l, const char *text)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->t[i].text, text) == 0)
            return (uint32_t)i;
    return HX_NO_TOKEN;
}

/* The 256 byte tokens in GPT-2's spelling; id = byte. */
static inline void vocab_bytes(struct vocab_list *l)
{
    uint32_t other = 256;

    for (uint32_t b = 0; b < 256; b++) {
        int printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        uint32_t c = printable ? b : other++;
        char utf8[3] = {(char)c, 0, 0};

        if (c >= 0x80) {
            utf8[0] = (char)(0xc0 | c >> 6);
            utf8[1] = (char)(0x80 | (c & 0x3f));
        }
        vocab_add(l, utf8, HX_TOKEN_NORMAL, 0);
    }
}

/* "\xc4\xa0" is how GPT-2 spells a space, "\xc4\x8a" a line end. */
#define VOCAB_SP "\xc4\xa0"
#define VOCAB_NL "\xc4\x8a"

static const char *const vocab_merges[] = {
    "h e",        "t he",       "i n",  "in g", VOCAB_SP " the", "' s",   "1 2", "12 3",
    "l l",        "he ll",      "hell o", "3 4", VOCAB_SP " " VOCAB_SP, "u s", "us e",
    "use r",      VOCAB_NL " " VOCAB_NL, "\xc3\x83 \xc2\xa9", /* the two bytes of e-acute */
    "r e", "' re", VOCAB_SP " a", "a b",
};

/* id 256 + i is what merge i makes; then tokens without merges, then the special ones. */
static inline void vocab_bpe_list(struct vocab_list *l)
{
    static const char *const specials[] = {
        "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|start_header_id|>", "<|end_header_id|>",
        "<|eot_id|>", "<|begin_of_text|>", "<|im|>", "|><|",
    };

    l->n = 0;
    vocab_bytes(l);
    for (size_t i = 0; i < sizeof(vocab_merges) / sizeof(vocab_merges[0]); i++) {
        char made[VOCAB_NAME];
        const char *gap = strchr(vocab_merges[i] + 1, ' ');

        snprintf(made, sizeof(made), "%.*s%s", (int)(gap - vocab_merges[i]), vocab_merges[i], gap + 1);
        vocab_add(l, made, HX_TOKEN_NORMAL, 0);
    }
    vocab_add(l, "whole", HX_TOKEN_NORMAL, 0); /* no merges lead here */
    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
        vocab_add(l, specials[i], HX_TOKEN_CONTROL, 0);
    vocab_add(l, "<tool>", HX_TOKEN_USER_DEFINED, 0);
    vocab_add(l, "   ", HX_TOKEN_USER_DEFINED, 0);
    vocab_add(l, "<unused>", HX_TOKEN_UNUSED, 0);
}

static inline void vocab_bpe(struct vocab *v, const char *pre)
{
    static struct vocab_list l;

    vocab_bpe_list(&l);
    vocab_str(v, VOCAB_KEY("model"), "gpt2");
    if (pre)
        vocab_str(v, VOCAB_KEY("pre"), pre);
    vocab_tokens(v, l.t, l.n, 0);
    vocab_array(v, VOCAB_KEY("merges"), HX_GGUF_STRING,
                sizeof(vocab_merges) / sizeof(vocab_merges[0]));
    for (size_t i = 0; i < sizeof(vocab_merges) / sizeof(vocab_merges[0]); i++)
        vocab_text(v, vocab_merges[i]);
    vocab_u32(v, VOCAB_KEY("bos_token_id"), vocab_find(&l, "<|begin_of_text|>"));
    vocab_u32(v, VOCAB_KEY("eos_token_id"), vocab_find(&l, "<|endoftext|>"));
}

/* U+2581 */
#define VOCAB_ESC "\xe2\x96\x81"

/* ids 0 to 2 are <unk>, <s>, </s>; bytes: then <0x00> to <0xFF>. */
static inline void vocab_spm_list(struct vocab_list *l, int bytes)
{
    static const struct vocab_token words[] = {
        {VOCAB_ESC, 1, -9},       {"h", 1, -9},        {"e", 1, -9},       {"l", 1, -9},
        {"o", 1, -9},             {"t", 1, -9},        {"a", 1, -9},       {"b", 1, -9},
        {"\n", 1, -9},            {"he", 1, -2},       {"el", 1, -1},      {"ll", 1, -3},
        {"hel", 1, -2.5f},        {"lo", 1, -3},       {"hell", 1, -5},    {"hello", 1, -4},
        {VOCAB_ESC "h", 1, -3},   {VOCAB_ESC "the", 1, -2}, {"th", 1, -1.5f}, {"the", 1, -1},
        {VOCAB_ESC VOCAB_ESC, 1, -8}, {"aa", 1, -2},   {"aab", 1, -1},     {"ab", 1, -2},
        {VOCAB_ESC "hello", 1, -3.5f}, {"o" VOCAB_ESC, 1, -6.5f}, {"o" VOCAB_ESC "t", 1, -7},
        {"\xc3\xa9", 1, -6},
        {"<start_of_turn>", 3, 0}, {"<end_of_turn>", 3, 0}, {"<b>", 4, 0}, {"\n\n", 4, 0},
        {"[INST]", 3, 0},
    };
    char name[VOCAB_NAME];

    l->n = 0;
    vocab_add(l, "<unk>", HX_TOKEN_UNKNOWN, 0);
    vocab_add(l, "<s>", HX_TOKEN_CONTROL, 0);
    vocab_add(l, "</s>", HX_TOKEN_CONTROL, 0);
    for (unsigned b = 0; bytes && b < 256; b++) {
        snprintf(name, sizeof(name), "<0x%02X>", b);
        vocab_add(l, name, HX_TOKEN_BYTE, 0);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        vocab_add(l, words[i].text, words[i].type, words[i].score);
}

/* model: "llama" or "t5" */
static inline void vocab_spm(struct vocab *v, const char *model, int bytes)
{
    static struct vocab_list l;

    vocab_spm_list(&l, bytes);
    vocab_str(v, VOCAB_KEY("model"), model);
    vocab_tokens(v, l.t, l.n, 1);
    vocab_u32(v, VOCAB_KEY("bos_token_id"), 1);
    vocab_u32(v, VOCAB_KEY("eos_token_id"), 2);
    vocab_u32(v, VOCAB_KEY("unknown_token_id"), 0);
}

#endif
