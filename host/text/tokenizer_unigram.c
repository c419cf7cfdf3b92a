/* SentencePiece unigram (Kudo 2018), see tokenizer.h: normalise, then the best path by Viterbi.
 *
 * `tokenizer.ggml.precompiled_charsmap` is SentencePiece's normaliser: u32 bytes of a double array
 * (little-endian), the array of u32 nodes, then replacement strings with a 0 byte behind each.  A node holds,
 * from bit 0: 8 bits of label, the leaf flag (bit 8), the scale flag of the offset (bit 9: times 256), 21 bits
 * of offset; a leaf's value node has bit 31 set, its low 31 bits are a place in the strings.  Source:
 * darts-clone, Yata's DoubleArrayUnit. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer_impl.h"
#include "base/unicode.h"

#define CHARSMAP "tokenizer.ggml.precompiled_charsmap"

enum { STARTS = 1 << 22 };

enum { UNKNOWN_PENALTY = 10 }; /* below the lowest score of a normal token: SentencePiece's kUnkPenalty */

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static uint32_t node(const struct hx_tokenizer *t, size_t i)
{
    uint32_t v = 0x100; /* beyond the end: a label that no byte has */

    if (i < t->charsmap_nodes)
        memcpy(&v, t->charsmap + 4 * i, sizeof(v));
    return v;
}

static uint32_t offset_of(uint32_t v)
{
    return v >> 10 << ((v & 0x200) >> 6);
}

/* The strings behind the nodes: [charsmap_bytes], the last byte is 0. */
static const char *strings(const struct hx_tokenizer *t)
{
    return (const char *)t->charsmap + 4 * t->charsmap_nodes;
}

static int load_charsmap(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    const struct hx_gguf_kv *kv = hx_gguf_find(g, CHARSMAP);
    uint32_t array;

    if (!kv)
        return 0;
    if (kv->type != HX_GGUF_ARRAY || (kv->elem != HX_GGUF_U8 && kv->elem != HX_GGUF_I8))
        return hx_error_set(err, -EINVAL, "%s: " CHARSMAP " is no array of bytes", hx_gguf_name(g));
    if (kv->n == 0)
        return 0;
    if (kv->n > 4)
        memcpy(&array, kv->data, sizeof(array));
    if (kv->n <= 4 || array % 4 || array >= kv->n - 4 || kv->data[kv->n - 1] != 0)
        return hx_error_set(err, -EINVAL, "%s: " CHARSMAP " of %llu bytes is no double array with "
                          "strings behind it", hx_gguf_name(g), (unsigned long long)kv->n);
    t->charsmap = malloc(kv->n - 4);
    if (!t->charsmap)
        return hx_tokenizer_no_memory(err);
    memcpy(t->charsmap, kv->data + 4, kv->n - 4);
    t->charsmap_nodes = array / 4;
    t->charsmap_bytes = kv->n - 4 - array;
    return 0;
}

/* Hashes of what tokens start with, as a bit set: where a text's start is not in it, no longer one is a token. */
static size_t start_bit(uint64_t hash)
{
    return hx_hash_end(hash) % STARTS;
}

static int load_starts(struct hx_tokenizer *t)
{
    t->starts = calloc(STARTS / 64, sizeof(*t->starts));
    if (!t->starts)
        return -ENOMEM;
    for (size_t i = 0; i <= t->by_text_mask; i++) {
        const uint32_t id = t->by_text[i];
        struct hx_str s = {0};
        uint64_t h = HX_HASH_START;

        if (id != HX_NO_TOKEN)
            s = hx_token_bytes(t, id);
        for (size_t k = 0; k < s.n; k++) {
            h = hx_hash_add(h, s.p[k]);
            t->starts[start_bit(h) / 64] |= (uint64_t)1 << start_bit(h) % 64;
        }
    }
    return 0;
}

static int load(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    float lowest = FLT_MAX;

    if (t->unk == HX_NO_TOKEN)
        return hx_error_set(err, -EINVAL, "%s: tokenizer.ggml.unknown_token_id is missing and the "
                          "vocabulary has %zu tokens", hx_gguf_name(g), t->n_vocab);
    for (size_t i = 0; i < t->n_vocab; i++) {
        if (!isfinite(t->score[i]))
            return hx_error_set(err, -EINVAL, "%s: tokenizer.ggml.scores: the score of token %zu is "
                              "%g; unigram scores are finite", hx_gguf_name(g), i,
                              (double)t->score[i]);
        if (t->type[i] == HX_TOKEN_NORMAL && t->score[i] < lowest)
            lowest = t->score[i];
    }
    t->unknown_score = lowest - UNKNOWN_PENALTY;
    if (load_starts(t))
        return hx_tokenizer_no_memory(err);
    return load_charsmap(t, g, err);
}

/* The longest prefix of s that the map replaces: its length and, in *out, what replaces it; 0: none. */
static size_t mapped(const struct hx_tokenizer *t, const char *s, size_t n, struct hx_str *out)
{
    size_t i = offset_of(node(t, 0)), best = 0;

    for (size_t k = 0; k < n && s[k]; k++) {
        uint32_t v, at;

        i ^= (unsigned char)s[k];
        v = node(t, i);
        if ((v & 0x800000ffu) != (unsigned char)s[k] || i >= t->charsmap_nodes)
            break;
        i ^= offset_of(v);
        at = node(t, i) & 0x7fffffffu;
        if ((v & 0x100) && at < t->charsmap_bytes) {
            best = k + 1;
            out->p = strings(t) + at;
            out->n = strlen(out->p);
        }
    }
    return best;
}

/* Length of what the next step of the normaliser eats; *out: what it gives. */
static size_t normal_step(const struct hx_tokenizer *t, const char *s, size_t n,
                          struct hx_str *out)
{
    size_t len = t->charsmap ? mapped(t, s, n, out) : 0;
    uint32_t c;

    if (len)
        return len;
    len = hx_utf8_next(s, n, &c);
    *out = len == 1 && c == 0xfffd ? (struct hx_str){replacement, 3} : (struct hx_str){s, len};
    return len;
}

struct normal {
    char *out; /* NULL: only count */
    size_t n;
    int in_word, prefixed;
};

static void put(struct normal *o, char c)
{
    if (o->out)
        o->out[o->n] = c;
    o->n++;
}

/* Runs of spaces become one before each word, or one prefix goes before the first word. */
static void put_char(const struct hx_tokenizer *t, struct normal *o, char c, int parts_words)
{
    if (parts_words) {
        o->in_word = 0;
        if (!t->cuts_spaces)
            put(o, ' ');
        return;
    }
    if (!o->in_word && (t->cuts_spaces || (t->space_prefix && !o->prefixed))) {
        put(o, ' ');
        o->prefixed = 1;
    }
    o->in_word = 1;
    put(o, c);
}

/* A U+2581 of the text itself is a space in the vocabulary's terms, but none that parts words. */
static void put_text(const struct hx_tokenizer *t, struct normal *o, struct hx_str s)
{
    for (size_t i = 0; i < s.n;) {
        const int escape = s.n - i >= 3 && memcmp(s.p + i, "\xe2\x96\x81", 3) == 0;

        put_char(t, o, escape ? ' ' : s.p[i], s.p[i] == ' ');
        i += escape ? 3 : 1;
    }
}

static size_t normalise(const struct hx_tokenizer *t, const char *s, size_t n, char *out)
{
    struct normal o = {.out = out};

    for (size_t i = 0; i < n;) {
        struct hx_str text;

        i += normal_step(t, s + i, n - i, &text);
        put_text(t, &o, text);
    }
    return o.n;
}

/* The best way to a place in the text: its sum of scores, and the token that arrives there. */
struct best {
    double score;
    uint32_t id, bytes;
};

static void offer(struct best *b, double score, uint32_t id, size_t bytes)
{
    if (score > b->score)
        *b = (struct best){score, id, (uint32_t)bytes};
}

/* All tokens that start at s, and the unknown token when none of them is exactly the first character. */
static void extend(const struct hx_tokenizer *t, const char *s, size_t n, struct best *at)
{
    uint64_t h = HX_HASH_START;
    uint32_t c;
    const size_t one = hx_utf8_next(s, n, &c);
    int covered = 0;

    for (size_t len = 1; len <= n && len <= t->longest; len++) {
        uint32_t id;

        h = hx_hash_add(h, s[len - 1]);
        if (!(t->starts[start_bit(h) / 64] >> start_bit(h) % 64 & 1))
            break;
        id = hx_tokenizer_lookup_hashed(t, s, len, h);
        if (id == HX_NO_TOKEN)
            continue;
        covered |= len == one;
        offer(&at[len], at->score + (t->type[id] == HX_TOKEN_USER_DEFINED ? 0 : t->score[id]), id,
              len);
    }
    if (!covered)
        offer(&at[one], at->score + (double)t->unknown_score, t->unk, one);
}

/* Appends the path that ends at best[n], unknown tokens in a row as one. */
static int put_path(const struct hx_tokenizer *t, struct hx_ids *out, const struct best *best,
                    size_t n)
{
    size_t steps = 0;
    uint32_t last = HX_NO_TOKEN;

    for (size_t at = n; at; at -= best[at].bytes)
        steps++;
    if (hx_ids_reserve(out, steps))
        return -ENOMEM;
    for (size_t at = n, k = out->n + steps; at; at -= best[at].bytes)
        out->p[--k] = best[at].id;
    for (size_t i = 0, from = out->n; i < steps; i++) {
        uint32_t id = out->p[from + i];

        if (id != t->unk || last != t->unk)
            out->p[out->n++] = id;
        last = id;
    }
    return 0;
}

static int encode(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s, size_t n,
                  int fresh)
{
    const size_t len = normalise(t, s, n, NULL);
    struct best *best;
    uint32_t c;
    int rc;

    (void)fresh; /* the prefix goes before every stretch */
    if (len >= UINT32_MAX || hx_encode_text_room(w, len + 1))
        return -ENOMEM;
    normalise(t, s, n, w->text);
    best = malloc((len + 1) * sizeof(*best));
    if (!best)
        return -ENOMEM;
    for (size_t i = 0; i <= len; i++)
        best[i].score = i ? -DBL_MAX : 0;
    for (size_t i = 0; i < len; i += hx_utf8_next(w->text + i, len - i, &c))
        extend(t, w->text + i, len - i, &best[i]);
    rc = put_path(t, &w->out, best, len);
    free(best);
    return rc;
}

static void close_unigram(struct hx_tokenizer *t)
{
    free(t->charsmap);
    free(t->starts);
}

const struct hx_tokenizer_kind hx_tokenizer_unigram = {
    .model = "t5", .bos = HX_NO_TOKEN, .eos = 1, .unk = 2, .adds_eos = 1,
    .spaces_escaped = 1, .load = load, .encode = encode, .close = close_unigram,
};
