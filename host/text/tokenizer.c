/* Opening a tokenizer, encoding texts and parts of them, and what a caller may ask about it. */
#include "tokenizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer_impl.h"

int hx_tokenizer_open(struct hx_tokenizer **out, const struct hx_gguf *g, struct hx_error *err)
{
    struct hx_tokenizer *t = calloc(1, sizeof(*t));
    int rc;

    if (!t)
        return hx_tokenizer_no_memory(err);
    rc = hx_tokenizer_load(t, g, err);
    if (rc) {
        hx_tokenizer_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

void hx_tokenizer_close(struct hx_tokenizer *t)
{
    if (!t)
        return;
    if (t->kind)
        t->kind->close(t);
    free(t->bytes);
    free(t->start);
    free(t->type);
    free(t->ends);
    free(t->score);
    free(t->by_text);
    free(t->special);
    free(t->group);
    free(t);
}

size_t hx_tokenizer_vocab(const struct hx_tokenizer *t)
{
    return t->n_vocab;
}

enum hx_token_type hx_tokenizer_type(const struct hx_tokenizer *t, uint32_t id)
{
    return t->type[id];
}

uint32_t hx_tokenizer_bos(const struct hx_tokenizer *t)
{
    return t->bos;
}

uint32_t hx_tokenizer_eos(const struct hx_tokenizer *t)
{
    return t->eos;
}

int hx_tokenizer_adds_bos(const struct hx_tokenizer *t)
{
    return t->adds_bos;
}

int hx_tokenizer_ends(const struct hx_tokenizer *t, uint32_t id)
{
    return t->ends[id];
}

int hx_tokenizer_space_prefix(const struct hx_tokenizer *t)
{
    return t->space_prefix;
}

size_t hx_tokenizer_longest(const struct hx_tokenizer *t)
{
    return t->longest;
}

static int put_token(struct hx_encode_work *w, uint32_t id)
{
    if (hx_ids_reserve(&w->out, 1))
        return -ENOMEM;
    w->out.p[w->out.n++] = id;
    return 0;
}

/* Encodes the stretches parts[0..n) as one text. */
static int encode_stretches(const struct hx_tokenizer *t, struct hx_encode_work *w,
                            const struct hx_text_part *parts, size_t n, unsigned flags, int *fresh)
{
    size_t total = 0, used = 0;
    char *joined;
    int rc;

    if (n == 1)
        return hx_special_encode(t, w, parts[0].text.p, parts[0].text.n, flags, fresh);
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(total, parts[i].text.n, &total))
            return -ENOMEM;
    joined = malloc(total + !total);
    if (!joined)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        memcpy(joined + used, parts[i].text.p, parts[i].text.n);
        used += parts[i].text.n;
    }
    rc = hx_special_encode(t, w, joined, total, flags, fresh);
    free(joined);
    return rc;
}

static int encode_all(const struct hx_tokenizer *t, struct hx_encode_work *w,
                      const struct hx_text_part *parts, size_t n_parts, unsigned flags)
{
    int fresh = 1, rc = 0;

    if ((flags & HX_ENCODE_BOS) && t->adds_bos)
        rc = put_token(w, t->bos);
    for (size_t i = 0, next; !rc && i < n_parts; i = next) {
        for (next = i; next < n_parts && parts[next].token == HX_NO_TOKEN; next++)
            ;
        if (next > i) {
            rc = encode_stretches(t, w, parts + i, next - i, flags, &fresh);
        } else {
            rc = put_token(w, parts[next++].token);
            fresh = 1;
        }
    }
    if (!rc && (flags & HX_ENCODE_EOS) && t->adds_eos)
        rc = put_token(w, t->eos);
    return rc;
}

int hx_tokenizer_encode_parts(const struct hx_tokenizer *t, const struct hx_text_part *parts,
                              size_t n_parts, unsigned flags, uint32_t **ids, size_t *n_ids)
{
    struct hx_encode_work w = {0};
    int rc = encode_all(t, &w, parts, n_parts, flags);

    hx_merge_free(&w.merge);
    free(w.text);
    *ids = NULL;
    *n_ids = 0;
    if (rc || !w.out.n) {
        free(w.out.p);
        return rc;
    }
    *ids = w.out.p;
    *n_ids = w.out.n;
    return 0;
}

int hx_tokenizer_encode_with(const struct hx_tokenizer *t, const char *text, size_t n,
                             unsigned flags, uint32_t **ids, size_t *n_ids)
{
    const struct hx_text_part part = {{text, n}, HX_NO_TOKEN};

    return hx_tokenizer_encode_parts(t, &part, 1, flags, ids, n_ids);
}

int hx_tokenizer_encode(const struct hx_tokenizer *t, const char *text, size_t n, uint32_t **ids,
                        size_t *n_ids)
{
    return hx_tokenizer_encode_with(t, text, n, 0, ids, n_ids);
}

struct hx_str hx_tokenizer_piece(const struct hx_tokenizer *t, uint32_t id)
{
    const uint8_t type = t->type[id];

    if (type == HX_TOKEN_CONTROL || type == HX_TOKEN_UNKNOWN || type == HX_TOKEN_UNUSED)
        return (struct hx_str){"", 0};
    return hx_token_bytes(t, id);
}
