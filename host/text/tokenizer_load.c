/* From GGUF metadata to a tokenizer: vocabulary, types, scores, special ids. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer_impl.h"

#define KEY(name) "tokenizer.ggml." name
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static int choose_kind(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    static const struct hx_tokenizer_kind *const kinds[] = {
        &hx_tokenizer_bpe, &hx_tokenizer_spm, &hx_tokenizer_unigram,
    };
    struct hx_str model;
    int rc = hx_gguf_str(g, KEY("model"), &model, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < LEN(kinds); i++)
        if (hx_str_is(model, kinds[i]->model))
            t->kind = kinds[i];
    if (!t->kind)
        return hx_error_set(err, -EINVAL, "%s: " KEY("model") " is '%s'; known: gpt2, llama, t5",
                            hx_gguf_name(g), hx_str_shown(model).text);
    t->adds_bos = t->kind->adds_bos;
    t->adds_eos = t->kind->adds_eos;
    t->space_prefix = t->kind->space_prefix;
    return 0;
}

/* An array of one element per token. */
static int token_array(const struct hx_tokenizer *t, const struct hx_gguf *g, const char *key,
                       enum hx_gguf_type elem, const struct hx_gguf_kv **kv, struct hx_error *err)
{
    int rc = hx_gguf_array(g, key, elem, kv, err);

    if (!rc && (*kv)->n != t->n_vocab)
        rc = hx_error_set(err, -EINVAL, "%s: %s has %" PRIu64 " elements; the vocabulary has %zu "
                        "tokens", hx_gguf_name(g), key, (*kv)->n, t->n_vocab);
    return rc;
}

/* Without types all tokens are normal ones. */
static int load_types(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    const struct hx_gguf_kv *kv;
    int rc;

    memset(t->type, HX_TOKEN_NORMAL, t->n_vocab);
    if (!hx_gguf_find(g, KEY("token_type")))
        return 0;
    rc = token_array(t, g, KEY("token_type"), HX_GGUF_I32, &kv, err);
    for (size_t i = 0; !rc && i < t->n_vocab; i++) {
        int32_t type;

        memcpy(&type, kv->data + 4 * i, sizeof(type));
        if (type < HX_TOKEN_NORMAL || type > HX_TOKEN_BYTE)
            return hx_error_set(err, -EINVAL, "%s: " KEY("token_type") ": token %zu is of type %d; "
                              "1 to 6 are known", hx_gguf_name(g), i, type);
        t->type[i] = (uint8_t)type;
    }
    return rc;
}

static int load_scores(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    const struct hx_gguf_kv *kv;
    int rc = token_array(t, g, KEY("scores"), HX_GGUF_F32, &kv, err);

    if (rc)
        return rc;
    t->score = malloc(t->n_vocab * sizeof(*t->score));
    if (!t->score)
        return hx_tokenizer_no_memory(err);
    memcpy(t->score, kv->data, t->n_vocab * sizeof(*t->score));
    for (size_t i = 0; i < t->n_vocab; i++)
        if (isnan(t->score[i]))
            return hx_error_set(err, -EINVAL, "%s: " KEY("scores") ": the score of token %zu is not "
                              "a number", hx_gguf_name(g), i);
    return 0;
}

/* Texts that mark turns.  `sure`: so unlike other text that a user-defined token with it is a control token,
 * too; llama.cpp does the same, and also where HTML's </s> is an ordinary token.  Normal tokens stay what they
 * are: text makes them. */
static const struct {
    const char *text;
    int ends, sure;
} marks[] = {
    {"<|im_end|>", 1, 1},          {"<|eot_id|>", 1, 1},        {"<|eom_id|>", 1, 1},
    {"<end_of_turn>", 1, 1},       {"<|end|>", 1, 1},           {"<|endoftext|>", 1, 1},
    {"<|end_of_text|>", 1, 1},     {"<end_of_utterance>", 1, 1}, {"<EOT>", 1, 1},
    {"[EOT]", 1, 0},               {"[EOS]", 1, 0},             {"</s>", 1, 0},
    {"<eos>", 1, 0},               {"<|im_start|>", 0, 1},      {"<start_of_turn>", 0, 1},
    {"<|start_header_id|>", 0, 1}, {"<|end_header_id|>", 0, 1}, {"<|fim_prefix|>", 0, 1},
    {"<|fim_middle|>", 0, 1},      {"<|fim_suffix|>", 0, 1},    {"<|fim_pad|>", 1, 1},
    {"<|fim_repo|>", 1, 1},        {"<|repo_name|>", 1, 1},     {"<|file_sep|>", 1, 1},
};

static void mark(struct hx_tokenizer *t, size_t id, struct hx_str word, int typed)
{
    const uint8_t type = t->type[id];

    for (size_t i = 0; i < LEN(marks); i++) {
        if (!hx_str_is(word, marks[i].text))
            continue;
        if (!typed || (type == HX_TOKEN_USER_DEFINED && marks[i].sure))
            t->type[id] = HX_TOKEN_CONTROL;
        t->ends[id] = marks[i].ends && t->type[id] == HX_TOKEN_CONTROL;
    }
}

static int is_text(uint8_t type)
{
    return type == HX_TOKEN_NORMAL || type == HX_TOKEN_USER_DEFINED || type == HX_TOKEN_UNUSED;
}

/* Writes the bytes of a token; never more than the word has. */
static size_t unspell(const struct hx_tokenizer *t, uint8_t type, struct hx_str word, char *out)
{
    if (type == HX_TOKEN_BYTE)
        return (size_t)hx_unspell_hex(out, word);
    if (t->kind->spaces_escaped && is_text(type))
        return hx_unspell_spaces(out, word);
    if (!t->kind->spaces_escaped && is_text(type) && type != HX_TOKEN_USER_DEFINED)
        return hx_unspell_bytes(out, word);
    memcpy(out, word.p, word.n);
    return word.n;
}

static int load_pieces(struct hx_tokenizer *t, const struct hx_gguf *g, const struct hx_str *words,
                       struct hx_error *err)
{
    uint64_t total = 0;

    for (size_t i = 0; i < t->n_vocab; i++)
        total += words[i].n; /* cannot overflow: the words lie in the mapped file */
    if (total > UINT32_MAX)
        return hx_error_set(err, -EINVAL, "%s: " KEY("tokens") ": the vocabulary's text is %" PRIu64
                          " bytes; 4 GiB is the limit", hx_gguf_name(g), total);
    t->bytes = malloc(total + 1);
    if (!t->bytes)
        return hx_tokenizer_no_memory(err);
    for (size_t i = 0; i < t->n_vocab; i++) {
        size_t n = unspell(t, t->type[i], words[i], t->bytes + t->start[i]);

        if (t->type[i] == HX_TOKEN_BYTE && n != 1)
            return hx_error_set(err, -EINVAL, "%s: " KEY("tokens") ": token %zu, '%s', is of type "
                              "byte; <0x00> to <0xFF> are", hx_gguf_name(g), i, hx_str_shown(words[i]).text);
        t->start[i + 1] = t->start[i] + (uint32_t)n;
        t->longest = n > t->longest ? n : t->longest;
        if (t->type[i] == HX_TOKEN_BYTE)
            t->byte_id[(unsigned char)t->bytes[t->start[i]]] = (uint32_t)i;
    }
    return 0;
}

/* Normal tokens go first, so that a user-defined one of the same text does not hide them from the merges.
 * Where U+2581 is a space, a spelling with a plain space is none that text can become. */
static int load_texts(struct hx_tokenizer *t, const struct hx_str *words, struct hx_error *err)
{
    const size_t size = hx_table_size(t->n_vocab);

    t->by_text_mask = size - 1;
    t->by_text = malloc(size * sizeof(*t->by_text));
    if (!t->by_text)
        return hx_tokenizer_no_memory(err);
    memset(t->by_text, 0xff, size * sizeof(*t->by_text));
    for (int user = 0; user < 2; user++)
        for (size_t i = 0; i < t->n_vocab; i++)
            if (is_text(t->type[i]) && (t->type[i] == HX_TOKEN_USER_DEFINED) == user &&
                !(t->kind->spaces_escaped && memchr(words[i].p, ' ', words[i].n)))
                hx_tokenizer_add_text(t, (uint32_t)i);
    return 0;
}

static int token_id(const struct hx_tokenizer *t, const struct hx_gguf *g, const char *key,
                    uint32_t otherwise, uint32_t *id, struct hx_error *err)
{
    int rc = 0;

    *id = otherwise < t->n_vocab ? otherwise : HX_NO_TOKEN;
    if (!hx_gguf_find(g, key))
        return 0;
    rc = hx_gguf_u32(g, key, id, err);
    if (!rc && *id >= t->n_vocab)
        rc = hx_error_set(err, -EINVAL, "%s: %s is %u; the vocabulary has %zu tokens",
                          hx_gguf_name(g), key, *id, t->n_vocab);
    return rc;
}

static int load_ids(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    uint32_t eot, eom;
    const struct {
        const char *key;
        uint32_t otherwise, *out;
        int ends;
    } want[] = {
        {KEY("bos_token_id"), t->kind->bos, &t->bos, 0},
        {KEY("eos_token_id"), t->kind->eos, &t->eos, 1},
        {KEY("unknown_token_id"), t->kind->unk, &t->unk, 0},
        {KEY("eot_token_id"), HX_NO_TOKEN, &eot, 1},
        {KEY("eom_token_id"), HX_NO_TOKEN, &eom, 1},
    };

    for (size_t i = 0; i < LEN(want); i++) {
        int rc = token_id(t, g, want[i].key, want[i].otherwise, want[i].out, err);

        if (rc)
            return rc;
        if (want[i].ends && *want[i].out != HX_NO_TOKEN)
            t->ends[*want[i].out] = 1;
    }
    return 0;
}

static int load_switches(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    const struct {
        const char *key;
        int *out;
        uint32_t needs; /* a token that is needed when the switch is on */
        const char *needs_key;
    } want[] = {
        {KEY("add_bos_token"), &t->adds_bos, t->bos, KEY("bos_token_id")},
        {KEY("add_eos_token"), &t->adds_eos, t->eos, KEY("eos_token_id")},
        {KEY("add_space_prefix"), &t->space_prefix, 0, NULL},
        {KEY("remove_extra_whitespaces"), &t->cuts_spaces, 0, NULL},
    };

    for (size_t i = 0; i < LEN(want); i++) {
        const struct hx_gguf_kv *kv = hx_gguf_find(g, want[i].key);

        if (kv && kv->type != HX_GGUF_BOOL)
            return hx_error_set(err, -EINVAL, "%s: %s is of type %u; a bool is needed",
                                hx_gguf_name(g), want[i].key, kv->type);
        if (kv)
            *want[i].out = *kv->data != 0;
        if (*want[i].out && want[i].needs == HX_NO_TOKEN)
            return hx_error_set(err, -EINVAL, "%s: %s is %s, but there is no %s", hx_gguf_name(g),
                                want[i].key, kv ? "true" : "true by default", want[i].needs_key);
    }
    return 0;
}

static int load_vocab(struct hx_tokenizer *t, const struct hx_gguf *g, const struct hx_gguf_kv *kv,
                      struct hx_str *words, struct hx_error *err)
{
    const int typed = hx_gguf_find(g, KEY("token_type")) != NULL;
    const uint8_t *cursor = kv->data;
    int rc = load_types(t, g, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < t->n_vocab; i++) {
        words[i] = hx_gguf_next_str(&cursor);
        mark(t, i, words[i], typed);
    }
    rc = load_pieces(t, g, words, err);
    if (!rc)
        rc = load_texts(t, words, err);
    if (!rc && hx_special_load(t))
        rc = hx_tokenizer_no_memory(err);
    return rc;
}

int hx_tokenizer_load(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err)
{
    const struct hx_gguf_kv *kv;
    struct hx_str *words;
    int rc = choose_kind(t, g, err);

    if (!rc)
        rc = hx_gguf_array(g, KEY("tokens"), HX_GGUF_STRING, &kv, err);
    if (rc)
        return rc;
    if (kv->n == 0 || kv->n >= INT32_MAX)
        return hx_error_set(err, -EINVAL, "%s: " KEY("tokens") ": a vocabulary of %" PRIu64 " tokens; "
                          "1 to %d are legal", hx_gguf_name(g), kv->n, INT32_MAX - 1);
    t->n_vocab = kv->n;
    memset(t->byte_id, 0xff, sizeof(t->byte_id));
    t->start = calloc(t->n_vocab + 1, sizeof(*t->start));
    t->type = calloc(t->n_vocab, 1);
    t->ends = calloc(t->n_vocab, 1);
    words = calloc(t->n_vocab, sizeof(*words));
    rc = t->start && t->type && t->ends && words ? load_vocab(t, g, kv, words, err)
                                                 : hx_tokenizer_no_memory(err);
    free(words);
    if (!rc && t->kind->spaces_escaped)
        rc = load_scores(t, g, err);
    if (!rc)
        rc = load_ids(t, g, err);
    if (!rc)
        rc = t->kind->load(t, g, err);
    return rc ? rc : load_switches(t, g, err);
}
