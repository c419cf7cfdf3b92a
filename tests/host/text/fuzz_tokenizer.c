/* Fuzz target: tokenizers over damaged metadata, any text over whole ones.
 *
 * Input: byte 0 = which sample vocabulary, byte 1 = number of edits (mod 8), then three bytes per edit (u16
 * place in the file, scaled to its size; new byte), the rest is text.  A tokenizer that opens must encode,
 * decode and render it with ids of its vocabulary; byte-level BPE whose file was not edited must give the text
 * back, and a text in two parts must be the text. */
#include <stdlib.h>

#include "decode.h"
#include "text/chat.h"
#include "text/detok.h"
#include "vocab_gguf.h"

int hxt_fuzz_one(const uint8_t *data, size_t n);

static const char *const samples[] = {"gpt-2", "llama-bpe", "qwen2", "smollm", "default", "llama",
                                      "llama", "t5"};
enum { SAMPLES = sizeof(samples) / sizeof(samples[0]), BPE_SAMPLES = 5 };

static const struct vocab *sample(size_t i)
{
    static struct vocab all[SAMPLES];
    struct vocab *v = &all[i];

    if (v->p)
        return v;
    vocab_start(v);
    if (i < BPE_SAMPLES)
        vocab_bpe(v, samples[i]);
    else
        vocab_spm(v, samples[i], i == BPE_SAMPLES);
    vocab_str(v, "tokenizer.chat_template", i < BPE_SAMPLES ? "<|im_start|>" : "<start_of_turn>");
    vocab_end(v);
    return v;
}

static int check_ids(const struct hx_tokenizer *t, const uint32_t *ids, size_t n)
{
    struct hx_detok d;
    char *text;
    size_t total = 0;

    for (size_t i = 0; i < n; i++)
        if (ids[i] >= hx_tokenizer_vocab(t))
            return 2;
    text = hxt_decode(t, ids, n);
    if (!text || hx_detok_open(&d, t, 0))
        abort();
    for (size_t i = 0; i <= n; i++) {
        struct hx_str s = i < n ? hx_detok_push(&d, ids[i]) : hx_detok_flush(&d);

        if (memcmp(text + total, s.p, s.n))
            return 3;
        total += s.n;
    }
    hx_detok_close(&d);
    free(text);
    return 0;
}

static int check_text(const struct hx_tokenizer *t, const char *s, size_t n, unsigned flags,
                      int exact)
{
    const size_t half = n / 2;
    const struct hx_text_part parts[] = {{{s, half}, HX_NO_TOKEN}, {{s + half, n - half}, HX_NO_TOKEN}};
    uint32_t *ids, *again;
    size_t n_ids, n_again;
    char *back;
    int rc;

    if (hx_tokenizer_encode_with(t, s, n, flags, &ids, &n_ids) ||
        hx_tokenizer_encode_parts(t, parts, 2, flags, &again, &n_again))
        abort();
    rc = check_ids(t, ids, n_ids);
    if (n_ids != n_again || (n_ids && memcmp(ids, again, n_ids * sizeof(*ids))))
        rc = 4;
    back = hxt_decode(t, ids, n_ids);
    if (exact && !(flags & HX_ENCODE_SPECIAL) && memcmp(back, s, n))
        rc = 5;
    free(back);
    free(ids);
    free(again);
    return rc;
}

static int check_chat(const struct hx_tokenizer *t, const struct hx_gguf *g, const char *s, size_t n)
{
    const struct hx_chat_message m[] = {{"user", {s, n}}, {"assistant", {s, n / 2}}};
    struct hx_chat c;
    uint32_t *ids;
    size_t n_ids;
    int rc;

    if (hx_chat_init(&c, t, g, NULL, NULL) || hx_chat_render(&c, m, 2, 0, &ids, &n_ids, NULL))
        return 0;
    rc = check_ids(t, ids, n_ids);
    free(ids);
    return rc;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    const size_t which = n > 0 ? data[0] % SAMPLES : 0, edits = n > 1 ? data[1] % 8 : 0;
    const struct vocab *v = sample(which);
    uint8_t *copy = malloc(v->n);
    struct hx_tokenizer *t = NULL;
    struct hx_gguf *g;
    size_t at = n < 2 ? n : 2;
    int rc = 0;

    if (!copy)
        return 0;
    memcpy(copy, v->p, v->n);
    for (size_t i = 0; i < edits && at + 3 <= n; i++, at += 3)
        copy[(size_t)(data[at] | data[at + 1] << 8) * v->n / 65536] = data[at + 2];
    if (!hx_gguf_open_bytes(&g, "fuzz", copy, v->n, NULL)) {
        if (!hx_tokenizer_open(&t, g, NULL)) {
            const char *text = (const char *)data + at;

            for (unsigned flags = 0; !rc && flags < 8; flags++)
                rc = check_text(t, text, n - at, flags, !edits && which < BPE_SAMPLES);
            if (!rc)
                rc = check_chat(t, g, text, n - at);
        }
        hx_tokenizer_close(t);
        hx_gguf_close(g);
    }
    free(copy);
    return rc;
}
