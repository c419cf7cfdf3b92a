/* A vocabulary's pieces, sorted, so that what begins alike is looked at once. */
#include "vocab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b)
{
    const struct hx_vocab_piece *x = a, *y = b;
    const size_t n = x->text.n < y->text.n ? x->text.n : y->text.n;
    const int order = memcmp(x->text.p, y->text.p, n);

    if (order)
        return order;
    if (x->text.n != y->text.n)
        return x->text.n < y->text.n ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static uint32_t same_start(struct hx_str a, struct hx_str b)
{
    uint32_t n = 0;

    while (n < a.n && n < b.n && a.p[n] == b.p[n])
        n++;
    return n;
}

static void collect(struct hx_vocab *v)
{
    for (size_t i = 0; i < v->size; i++) {
        const uint32_t id = (uint32_t)i;
        const struct hx_str text = hx_tokenizer_piece(v->tok, id);

        if (text.n && hx_tokenizer_type(v->tok, id) != HX_TOKEN_UNKNOWN)
            v->pieces[v->n++] = (struct hx_vocab_piece){.text = text, .id = id};
    }
    qsort(v->pieces, v->n, sizeof(*v->pieces), by_bytes);
    memset(v->byte, 0xff, sizeof(v->byte));
    for (size_t i = 0; i < v->n; i++) {
        struct hx_vocab_piece *p = &v->pieces[i];

        p->same = i ? same_start(p[-1].text, p->text) : 0;
        if (p->text.n == 1 && v->byte[(uint8_t)p->text.p[0]] == HX_NO_TOKEN)
            v->byte[(uint8_t)p->text.p[0]] = p->id;
        v->longest = p->text.n > v->longest ? p->text.n : v->longest;
    }
}

/* Those of printable ASCII, and of UTF-8's longer characters. */
static int check_bytes(const struct hx_vocab *v, struct hx_error *err)
{
    for (unsigned byte = 0x20; byte <= 0xf4; byte++)
        if (byte != 0x7f && byte != 0xc0 && byte != 0xc1 && v->byte[byte] == HX_NO_TOKEN)
            return hx_error_set(err, -ENOTSUP, "the vocabulary has no token for the byte 0x%02x alone", byte);
    return 0;
}

int hx_vocab_open(struct hx_vocab **out, const struct hx_tokenizer *t, struct hx_error *err)
{
    struct hx_vocab *v = calloc(1, sizeof(*v));
    int rc;

    if (v) {
        v->tok = t;
        v->size = hx_tokenizer_vocab(t);
        v->pieces = calloc(v->size ? v->size : 1, sizeof(*v->pieces));
    }
    if (!v || !v->pieces) {
        hx_vocab_close(v);
        return hx_error_set(err, -ENOMEM, "out of memory");
    }
    collect(v);
    rc = check_bytes(v, err);
    if (rc)
        hx_vocab_close(v);
    else
        *out = v;
    return rc;
}

void hx_vocab_close(struct hx_vocab *v)
{
    if (!v)
        return;
    free(v->pieces);
    free(v);
}
