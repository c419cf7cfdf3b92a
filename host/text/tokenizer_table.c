/* From a text to the token that it is: an open-addressing table over the vocabulary. */
#include <string.h>

#include "tokenizer_impl.h"

size_t hx_table_size(size_t n)
{
    size_t size = 16;

    while (size < 2 * n)
        size *= 2;
    return size;
}

uint32_t hx_tokenizer_lookup_hashed(const struct hx_tokenizer *t, const char *s, size_t n,
                                    uint64_t hash)
{
    size_t i = hx_hash_end(hash) & t->by_text_mask;
    uint32_t id;

    while ((id = t->by_text[i]) != HX_NO_TOKEN) {
        struct hx_str piece = hx_token_bytes(t, id);

        if (piece.n == n && memcmp(piece.p, s, n) == 0)
            break;
        i = (i + 1) & t->by_text_mask;
    }
    return id;
}

static uint64_t hash_of(const char *s, size_t n)
{
    uint64_t h = HX_HASH_START;

    for (size_t i = 0; i < n; i++)
        h = hx_hash_add(h, s[i]);
    return h;
}

uint32_t hx_tokenizer_lookup(const struct hx_tokenizer *t, const char *s, size_t n)
{
    return n <= t->longest ? hx_tokenizer_lookup_hashed(t, s, n, hash_of(s, n)) : HX_NO_TOKEN;
}

void hx_tokenizer_add_text(struct hx_tokenizer *t, uint32_t id)
{
    struct hx_str piece = hx_token_bytes(t, id);
    size_t i = hx_hash_end(hash_of(piece.p, piece.n)) & t->by_text_mask;

    if (!piece.n || hx_tokenizer_lookup(t, piece.p, piece.n) != HX_NO_TOKEN)
        return;
    while (t->by_text[i] != HX_NO_TOKEN)
        i = (i + 1) & t->by_text_mask;
    t->by_text[i] = id;
}
