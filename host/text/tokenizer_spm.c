/* SentencePiece BPE (Kudo & Richardson 2018), see tokenizer.h.
 *
 * The vocabulary's U+2581 are spaces already (tokenizer_unspell.c), so that text needs no escaping; a U+2581
 * in the text is a space too.  SentencePiece merges over the whole text at once.  Here the text is cut first
 * between characters that lie beside each other in no token: no merge can reach across such a place, so the
 * ids are the same, and the heap stays small.  `inner` holds these pairs as a bit set of hashes; two pairs
 * that share a bit only make words longer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer_impl.h"
#include "base/unicode.h"

enum { INNER_BITS = 20 };

static size_t pair_bit(uint32_t a, uint32_t b)
{
    return (size_t)(((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u >> (64 - INNER_BITS));
}

static int is_inner(const struct hx_tokenizer *t, uint32_t a, uint32_t b)
{
    const size_t bit = pair_bit(a, b);

    return (int)(t->inner[bit / 64] >> bit % 64 & 1);
}

/* A byte that is no UTF-8 is a character of its own, apart from U+FFFD. */
static size_t next_char(const char *s, size_t n, uint32_t *c)
{
    size_t len = hx_utf8_next(s, n, c);

    if (len == 1 && *c == 0xfffd)
        *c = 0x110000u + (unsigned char)s[0];
    return len;
}

static void add_pairs(struct hx_tokenizer *t, struct hx_str s)
{
    uint32_t before = 0, c;

    for (size_t i = 0, len; i < s.n; i += len, before = c) {
        len = next_char(s.p + i, s.n - i, &c);
        if (i) {
            const size_t bit = pair_bit(before, c);
            t->inner[bit / 64] |= (uint64_t)1 << bit % 64;
        }
    }
}

static int check_bytes(const struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    for (uint32_t b = 0; b < 256; b++)
        if (t->byte_id[b] == HX_NO_TOKEN && t->unk == HX_NO_TOKEN)
            return hx_error_set(err, -EINVAL, "%s: tokenizer.ggml.tokens: neither a token for byte "
                              "0x%02x nor an unknown token", hx_gguf_name(g), b);
    return 0;
}

static int load(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    t->inner = calloc(((size_t)1 << INNER_BITS) / 64, sizeof(*t->inner));
    if (!t->inner)
        return hx_tokenizer_no_memory(err);
    for (size_t i = 0; i <= t->by_text_mask; i++)
        if (t->by_text[i] != HX_NO_TOKEN)
            add_pairs(t, hx_token_bytes(t, t->by_text[i]));
    return check_bytes(t, g, err);
}

/* Falls as the score rises: IEEE 754 floats order like sign-magnitude integers. */
static uint32_t key_of(float score)
{
    uint32_t bits;

    score += 0.0f; /* -0 is 0 */
    memcpy(&bits, &score, sizeof(bits));
    return bits & 0x80000000u ? bits : 0x7fffffffu - bits;
}

static int find_union(const struct hx_tokenizer *t, const char *word, const struct hx_symbol *l,
                      const struct hx_symbol *r, struct hx_candidate *c)
{
    (void)r;
    c->made = hx_tokenizer_lookup(t, word + l->at, c->bytes);
    if (c->made == HX_NO_TOKEN)
        return 0;
    c->key = key_of(t->score[c->made]);
    return 1;
}

/* A text that no token covers: its bytes' tokens, or the unknown token. */
static void put_bytes(const struct hx_tokenizer *t, struct hx_ids *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (t->byte_id[(unsigned char)s[i]] == HX_NO_TOKEN) {
            out->p[out->n++] = t->unk;
            return;
        }
    for (size_t i = 0; i < n; i++)
        out->p[out->n++] = t->byte_id[(unsigned char)s[i]];
}

static int encode_word(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s,
                       size_t n)
{
    struct hx_merge_work *m = &w->merge;

    if (hx_ids_reserve(&w->out, n))
        return -ENOMEM;
    hx_merge_run(m, t, s, find_union);
    for (int i = 0; i != HX_SYMBOL_NONE; i = m->sym[i].next) {
        const struct hx_symbol *sym = &m->sym[i];

        if (sym->id == HX_NO_TOKEN)
            put_bytes(t, &w->out, s + sym->at, sym->n);
        else
            w->out.p[w->out.n++] = sym->id;
    }
    return 0;
}

/* Fills w->merge with the characters of the word at the start of s.  Bytes, or -ENOMEM. */
static long next_word(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s,
                      size_t n)
{
    struct hx_merge_work *m = &w->merge;
    uint32_t before = 0, c;
    size_t at = 0, len;

    m->n_sym = 0;
    for (; at < n; at += len, before = c) {
        len = next_char(s + at, n - at, &c);
        if (at && !is_inner(t, before, c))
            break;
        if (hx_merge_room(m, m->n_sym + 1))
            return -ENOMEM;
        m->sym[m->n_sym++] = (struct hx_symbol){.id = hx_tokenizer_lookup(t, s + at, len),
                                                .at = (uint32_t)at, .n = (uint32_t)len};
    }
    return (long)at;
}

static int encode(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s, size_t n,
                  int fresh)
{
    const size_t prefix = fresh && t->space_prefix;
    long len;

    if (n >= UINT32_MAX || hx_encode_text_room(w, n + 1))
        return -ENOMEM;
    w->text[0] = ' ';
    n = prefix + hx_unspell_spaces(w->text + prefix, (struct hx_str){s, n});
    for (size_t i = 0; i < n; i += (size_t)len) {
        len = next_word(t, w, w->text + i, n - i);
        if (len < 0 || encode_word(t, w, w->text + i, (size_t)len))
            return -ENOMEM;
    }
    return 0;
}

static void close_spm(struct hx_tokenizer *t)
{
    free(t->inner);
}

const struct hx_tokenizer_kind hx_tokenizer_spm = {
    .model = "llama", .bos = 1, .eos = 2, .unk = 0, .adds_bos = 1, .space_prefix = 1,
    .spaces_escaped = 1, .load = load, .encode = encode, .close = close_spm,
};
