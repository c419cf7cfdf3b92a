/* Ids back to text, see decode.h. */
#include "decode.h"

#include <stdlib.h>
#include <string.h>

char *hxt_decode(const struct hx_tokenizer *t, const uint32_t *ids, size_t n)
{
    size_t total = 0, used = 0;
    char *text;

    for (size_t i = 0; i < n; i++)
        total += hx_tokenizer_piece(t, ids[i]).n;
    text = malloc(total + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        struct hx_str piece = hx_tokenizer_piece(t, ids[i]);

        memcpy(text + used, piece.p, piece.n);
        used += piece.n;
    }
    text[used] = '\0';
    return text;
}
