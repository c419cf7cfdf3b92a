/* Collects the bytes of tokens until they are whole characters. */
#include "detok.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/unicode.h"

int hx_detok_open(struct hx_detok *d, const struct hx_tokenizer *t, int whole_text)
{
    *d = (struct hx_detok){.tok = t,
                           .at_start = whole_text && hx_tokenizer_space_prefix(t)};
    d->buf = malloc(hx_tokenizer_longest(t) + 3);
    return d->buf ? 0 : -ENOMEM;
}

void hx_detok_close(struct hx_detok *d)
{
    free(d->buf);
    d->buf = NULL;
}

/* Drops what the last call handed out. */
static void drop_given(struct hx_detok *d)
{
    memmove(d->buf, d->buf + d->given, d->held);
    d->given = 0;
}

struct hx_str hx_detok_push(struct hx_detok *d, uint32_t id)
{
    struct hx_str piece = hx_tokenizer_piece(d->tok, id);
    size_t n;

    drop_given(d);
    if (piece.n && d->at_start) {
        d->at_start = 0;
        if (piece.p[0] == ' ') {
            piece.p++;
            piece.n--;
        }
    }
    memcpy(d->buf + d->held, piece.p, piece.n);
    n = d->held + piece.n;
    d->given = hx_utf8_whole(d->buf, n);
    d->held = n - d->given;
    return (struct hx_str){d->buf, d->given};
}

struct hx_str hx_detok_flush(struct hx_detok *d)
{
    drop_given(d);
    d->given = d->held;
    d->held = 0;
    d->at_start = 0;
    return (struct hx_str){d->buf, d->given};
}
