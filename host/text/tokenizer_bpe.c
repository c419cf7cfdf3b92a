/* Byte-level BPE (Radford et al. 2019, after Sennrich et al. 2016): words to bytes, bytes to merged tokens. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer_impl.h"
#include "base/unicode.h"

static size_t rule_place(const struct hx_tokenizer *t, uint32_t left, uint32_t right)
{
    uint64_t h = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(h ^ h >> 32) & t->rule_mask;

    while (t->rules[i].made != HX_NO_TOKEN &&
           (t->rules[i].left != left || t->rules[i].right != right))
        i = (i + 1) & t->rule_mask;
    return i;
}

static int find_rule(const struct hx_tokenizer *t, const char *word, const struct hx_symbol *l,
                     const struct hx_symbol *r, struct hx_candidate *c)
{
    const struct hx_bpe_rule *rule = &t->rules[rule_place(t, l->id, r->id)];

    (void)word;
    c->key = rule->rank;
    c->made = rule->made;
    return rule->made != HX_NO_TOKEN;
}

/* "left right" -> the three ids.  The space that parts them is never the first byte. */
static int parse_rule(const struct hx_tokenizer *t, struct hx_str s, struct hx_bpe_rule *rule,
                      char *joined)
{
    const char *gap = s.n > 1 ? memchr(s.p + 1, ' ', s.n - 1) : NULL;
    size_t left, right;

    if (!gap)
        return -EINVAL;
    left = hx_unspell_bytes(joined, (struct hx_str){s.p, (size_t)(gap - s.p)});
    right = hx_unspell_bytes(joined + left, (struct hx_str){gap + 1, s.n - (size_t)(gap - s.p) - 1});
    rule->left = hx_tokenizer_lookup(t, joined, left);
    rule->right = hx_tokenizer_lookup(t, joined + left, right);
    rule->made = hx_tokenizer_lookup(t, joined, left + right);
    return rule->left == HX_NO_TOKEN || rule->right == HX_NO_TOKEN || rule->made == HX_NO_TOKEN
               ? -EINVAL : 0;
}

static int read_rules(struct hx_tokenizer *t, const struct hx_gguf *g,
                      const struct hx_gguf_kv *kv, char *joined, struct hx_error *err)
{
    const uint8_t *cursor = kv->data;

    for (uint64_t i = 0; i < kv->n; i++) {
        struct hx_bpe_rule rule = {.rank = (uint32_t)i};
        struct hx_str s = hx_gguf_next_str(&cursor);
        size_t at;

        if (parse_rule(t, s, &rule, joined))
            return hx_error_set(err, -EINVAL, "%s: tokenizer.ggml.merges: merge %" PRIu64 ", '%s', "
                              "does not join two tokens into a third", hx_gguf_name(g), i, hx_str_shown(s).text);
        at = rule_place(t, rule.left, rule.right);
        if (t->rules[at].made == HX_NO_TOKEN) /* the first, lower rank stays */
            t->rules[at] = rule;
    }
    return 0;
}

static int load_rules(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    const struct hx_gguf_kv *kv;
    const uint8_t *cursor;
    size_t longest = 0, size;
    char *joined;
    int rc = hx_gguf_array(g, "tokenizer.ggml.merges", HX_GGUF_STRING, &kv, err);

    if (rc)
        return rc;
    if (kv->n >= UINT32_MAX)
        return hx_error_set(err, -EINVAL, "%s: tokenizer.ggml.merges has %" PRIu64 " merges; %u is "
                          "the limit", hx_gguf_name(g), kv->n, UINT32_MAX - 1);
    size = hx_table_size(kv->n);
    t->rule_mask = size - 1;
    t->rules = malloc(size * sizeof(*t->rules));
    cursor = kv->data;
    for (uint64_t i = 0; i < kv->n; i++) {
        size_t n = hx_gguf_next_str(&cursor).n;
        longest = n > longest ? n : longest;
    }
    joined = malloc(longest + 1);
    if (!t->rules || !joined) {
        free(joined);
        return hx_tokenizer_no_memory(err);
    }
    memset(t->rules, 0xff, size * sizeof(*t->rules));
    rc = read_rules(t, g, kv, joined, err);
    free(joined);
    return rc;
}

/* Whether a byte occurs in UTF-8 at all. */
static int in_utf8(uint32_t b)
{
    return b < 0xc0 || (b >= 0xc2 && b <= 0xf4);
}

static int check_bytes(const struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    for (uint32_t b = 0; b < 256; b++)
        if (t->byte_id[b] == HX_NO_TOKEN && t->unk == HX_NO_TOKEN && in_utf8(b))
            return hx_error_set(err, -EINVAL, "%s: tokenizer.ggml.tokens: no token for byte 0x%02x",
                                hx_gguf_name(g), b);
    return 0;
}

static int load_expression(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    static const char key[] = "tokenizer.ggml.pre";
    struct hx_str name = {"default", 7};
    char known[320];

    if (hx_gguf_find(g, key)) {
        int rc = hx_gguf_str(g, key, &name, err);

        if (rc)
            return rc;
    }
    t->pre = hx_pretok_find(name.p, name.n);
    hx_pretok_names(known, sizeof(known));
    return t->pre ? 0 : hx_error_set(err, -EINVAL, "%s: %s is '%s'; known: %s", hx_gguf_name(g), key,
                                   hx_str_shown(name).text, known);
}

static int load(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    int rc = load_expression(t, g, err);

    if (rc)
        return rc;
    t->adds_bos = t->pre->adds_bos;
    for (uint32_t b = 0; b < 256; b++) {
        const char c = (char)b;

        t->byte_id[b] = hx_tokenizer_lookup(t, &c, 1);
    }
    rc = check_bytes(t, g, err);
    return rc ? rc : load_rules(t, g, err);
}

/* A byte without token is the unknown token, or nothing in a vocabulary that has none. */
static void put(const struct hx_tokenizer *t, struct hx_ids *out, uint32_t id)
{
    if (id == HX_NO_TOKEN)
        id = t->unk;
    if (id != HX_NO_TOKEN)
        out->p[out->n++] = id;
}

static int encode_word(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s,
                       size_t n)
{
    struct hx_merge_work *m = &w->merge;
    uint32_t whole = t->pre->whole_words ? hx_tokenizer_lookup(t, s, n) : HX_NO_TOKEN;

    if (n > UINT32_MAX || hx_ids_reserve(&w->out, n) || hx_merge_room(m, n))
        return -ENOMEM;
    if (whole != HX_NO_TOKEN) {
        put(t, &w->out, whole);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        m->sym[i] = (struct hx_symbol){.id = t->byte_id[(unsigned char)s[i]], .at = (uint32_t)i,
                                       .n = 1};
    m->n_sym = n;
    hx_merge_run(m, t, s, find_rule);
    for (int i = 0; i != HX_SYMBOL_NONE; i = m->sym[i].next)
        put(t, &w->out, m->sym[i].id);
    return 0;
}

static int encode(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s, size_t n,
                  int fresh)
{
    struct hx_pretok_cursor c;
    size_t len;

    (void)fresh;
    hx_pretok_start(&c, t->pre, s, n);
    while ((len = hx_pretok_next(&c)) > 0) {
        int rc = encode_word(t, w, s + c.at - len, len);

        if (rc)
            return rc;
    }
    return 0;
}

static void close_bpe(struct hx_tokenizer *t)
{
    free(t->rules);
}

const struct hx_tokenizer_kind hx_tokenizer_bpe = {
    .model = "gpt2", .bos = HX_NO_TOKEN, .eos = HX_NO_TOKEN, .unk = HX_NO_TOKEN,
    .load = load, .encode = encode, .close = close_bpe,
};
